"""Growth and shrinkage in turns, and guards against endless loops."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Protocol

from ppfs.blanket._steps.growth import Entrants, grow_once, only_the_strongest
from ppfs.blanket._steps.questions import Inquiry

Backward = Callable[[Inquiry, Sequence[int]], list[int]]

_MAX_REMOVALS = 10


class Guard(Protocol):
    """Excludes columns from entering again."""

    banned: set[int]

    def watch(self, grown: Sequence[int], blanket: Sequence[int], added: Sequence[int]) -> None:
        """Update the excluded columns after a round: `added` entered, `grown` was shrunk to `blanket`."""


class RevisitGuard:
    """Excludes a column that led back to an earlier blanket.

    The exclusion ends when a new blanket is reached: a spouse that entered and left before the common child was a
    member must be able to enter afterwards. There are finitely many blankets, so the search ends.
    """

    def __init__(self, start: Sequence[int]) -> None:
        self._seen = {frozenset(start)}
        self.banned: set[int] = set()

    def watch(self, grown: Sequence[int], blanket: Sequence[int], added: Sequence[int]) -> None:
        """Update the excluded columns after a round."""
        reached = frozenset(blanket)
        if reached in self._seen:
            self.banned.update(added)
        else:
            self._seen.add(reached)
            self.banned.clear()


class RemovalGuard:
    """Excludes a column that was removed more than 10 times."""

    def __init__(self) -> None:
        self._removals: Counter[int] = Counter()
        self.banned: set[int] = set()

    def watch(self, grown: Sequence[int], blanket: Sequence[int], added: Sequence[int]) -> None:
        """Update the excluded columns after a round."""
        for removed in set(grown) - set(blanket):
            self._removals[removed] += 1
            if self._removals[removed] > _MAX_REMOVALS:
                self.banned.add(removed)


def interleave(
    inquiry: Inquiry, backward: Backward, guard: Guard, entrants: Entrants = only_the_strongest
) -> list[int]:
    """Add columns and shrink the blanket in turns, until no column that may enter depends on the target.

    Parameters
    ----------
    backward : callable (inquiry, blanket) -> blanket
        How the blanket is shrunk after each addition.

    guard : Guard
        Prevents endless loops.

    entrants : callable (inquiry, blanket, dependent) -> columns
        Which of the dependent columns, strongest first, enter in one round.
    """
    blanket = list(inquiry.always_keep)
    while True:
        open_columns = [x for x in inquiry.candidates if x not in blanket and x not in guard.banned]
        found = grow_once(inquiry, blanket, open_columns, entrants)
        if not found.added:
            return blanket
        grown = [*blanket, *found.added]
        blanket = backward(inquiry, grown)
        guard.watch(grown, blanket, found.added)
