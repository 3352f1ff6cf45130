"""Further questions among the selected columns, until it is clear which are parents, children and spouses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ppfs._trace import ROLES, Step
from ppfs.blanket._steps.questions import Inquiry
from ppfs.independence import IndependenceResult

# No evidence is not independence: only a p-value that shows no sign of dependence counts as a separation.
_CLEARLY = 0.2


def ask_about_roles(inquiry: Inquiry, members: Sequence[int], max_k: int | None) -> None:
    """Ask what decides about roles, and record it in the trace.

    Three kinds of questions, all among the members of a Markov blanket of the target T:

    - Is x separated from T by some of the other members? If it is, x is a spouse. If no set of them separates it, x is
      a neighbor: where x and T are not linked, the neighbors of T in the moral graph of the ancestors of both separate
      them, and are in the blanket.
    - Does a spouse depend on T again if a neighbor c joins the set that separates them? Then c is a child. If c were a
      parent, the path that it opens would have reached T through c before.
    - Are two neighbors separated by a set without T, and dependent if T joins it? Then both are parents.

    Parameters
    ----------
    members : sequence of int
        The blanket, most important first.

    max_k : int or None
        The most columns that are given; None for all. With fewer than all others, "neighbor" means that no set of this
        size separates.
    """
    asker = _Asker(inquiry)
    neighbors: list[int] = []
    separating: dict[int, tuple[int, ...]] = {}
    for x in members:
        found = _separating(asker, x, inquiry.target, [z for z in members if z != x], max_k)
        if found is None:
            neighbors.append(x)
        else:
            separating[x] = found
    for spouse, given in separating.items():
        for child in neighbors:
            if child not in given:
                asker.ask(spouse, inquiry.target, (*given, child))
    for one, other in combinations(neighbors, 2):
        rest = [z for z in members if z not in (one, other)]
        apart = _separating(asker, one, other, rest, max_k)
        if apart is not None:
            asker.ask(one, other, (*apart, inquiry.target))


def _separating(
    asker: _Asker, x: int, y: int, others: Sequence[int], max_k: int | None
) -> tuple[int, ...] | None:
    """Return the first set that clearly separates two variables, small ones first; None if there is none."""
    for given in _subsets(others, max_k):
        if asker.ask(x, y, given) == "dropped":
            return given
    return None


def _subsets(others: Sequence[int], max_k: int | None) -> Iterator[tuple[int, ...]]:
    largest = len(others) if max_k is None else min(max_k, len(others))
    for size in range(largest + 1):
        yield from combinations(others, size)


class _Asker:
    """Asks about pairs of variables, and records the answers beside those of the search."""

    def __init__(self, inquiry: Inquiry) -> None:
        self._inquiry = inquiry

    def ask(self, x: int, y: int, given: tuple[int, ...]) -> str:
        """Return "kept" for a dependence, "dropped" for a clear separation, and "rejected" for neither."""
        inquiry = self._inquiry
        (result,) = inquiry.test.answers([x], y, inquiry.given(given))
        if result.is_reliable and result.pvalue <= inquiry.alpha:
            decision = "kept"
        elif result.is_reliable and result.pvalue >= _CLEARLY:
            decision = "dropped"
        else:
            decision = "rejected"
        self._record(x, y, given, result, decision)
        return decision

    def _record(
        self, x: int, y: int, given: tuple[int, ...], result: IndependenceResult, decision: str
    ) -> None:
        # Also of the search's own target, so that these answers do not decide about the selection.
        step = Step(
            self._inquiry.fold,
            ROLES,
            x,
            given,
            result.pvalue,
            result.statistic,
            result.effect,
            result.pvalue,
            decision,  # type: ignore[arg-type]
            result.is_reliable,
            y,
            model_pvalues=result.model_pvalues,
        )
        self._inquiry.trace.record(step)
