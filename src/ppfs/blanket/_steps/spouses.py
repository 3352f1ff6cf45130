"""From neighbors to a blanket: confirm them from the other side, and find the spouses."""

from __future__ import annotations

from ppfs.blanket._steps.neighbors import FindNeighbors, Neighbors
from ppfs.blanket._steps.questions import Inquiry


class Neighborhoods:
    """The neighbors of several variables, each searched once.

    Parameters
    ----------
    inquiry : Inquiry
        About the search's target.

    find : callable (inquiry, max_k) -> Neighbors
        How neighbors are found.
    """

    def __init__(self, inquiry: Inquiry, find: FindNeighbors, max_k: int | None) -> None:
        self._inquiry = inquiry
        self._find = find
        self._max_k = max_k
        self._found: dict[int, Neighbors] = {}

    def around(self, variable: int) -> Neighbors:
        """Return the neighbors of one variable."""
        if variable not in self._found:
            is_target = variable == self._inquiry.target
            inquiry = self._inquiry if is_target else self._inquiry.about(variable)
            self._found[variable] = self._find(inquiry, self._max_k)
        return self._found[variable]

    def confirmed(self, variable: int) -> list[int]:
        """Return the neighbors of `variable` that have it among theirs.

        A descendant can be mistaken for a child as long as its own parents are not conditioned on; the search around
        the descendant does that.
        """
        taken = self._inquiry.always_keep if variable == self._inquiry.target else ()
        return [x for x in self.around(variable).members if x in taken or variable in self.around(x).members]

    def separator(self, variable: int) -> tuple[int, ...] | None:
        """Return a set that separates `variable` from the target, or None if none was found."""
        target = self._inquiry.target
        ours = self.around(target).separators.get(variable)
        return self.around(variable).separators.get(target) if ours is None else ours


def neighbors_and_spouses(inquiry: Inquiry, find: FindNeighbors, max_k: int | None) -> list[int]:
    """Return the target's parents, children and spouses."""
    hoods = Neighborhoods(inquiry, find, max_k)
    neighbors = hoods.confirmed(inquiry.target)
    spouses: list[int] = []
    for child in neighbors:
        strangers = [y for y in hoods.confirmed(child) if y != inquiry.target and y not in neighbors]
        # Every child is tested, also for a spouse found before, so that the trace is complete.
        spouses += [
            y for y in strangers if _is_spouse(inquiry, y, child, hoods.separator(y)) and y not in spouses
        ]
    return [*neighbors, *spouses]


def _is_spouse(inquiry: Inquiry, y: int, child: int, separator: tuple[int, ...] | None) -> bool:
    """Return whether `y`, separated from the target, depends on it once the common child is known."""
    if separator is None or child in separator:
        return False
    given = inquiry.given((*separator, child))
    result = inquiry.test.query(y, inquiry.target, given)
    is_dependent = result.is_dependent(inquiry.alpha)
    inquiry.record("spouses", y, given, result, "added" if is_dependent else "rejected")
    return is_dependent
