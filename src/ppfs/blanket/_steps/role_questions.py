"""Further questions among the selected columns, until it is clear which are parents, children and spouses."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from ppfs._trace import ROLES, Decision, Step
from ppfs._verdicts import CLEARLY
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.separation import subsets


def ask_about_roles(inquiry: Inquiry, members: Sequence[int], max_k: int | None) -> None:
    """Ask what decides about roles, and record it in the trace.

    Three kinds of questions, all among the members of a Markov blanket of the target T:

    - Is x separated from T by some of the other members? If it is, x is a spouse. If no set of them separates it, x is
      a neighbor: where x and T are not linked, the neighbors of T in the moral graph of the ancestors of both separate
      them, and are in the blanket.
    - Does a spouse depend on T again if a neighbor c joins the set that separates them? Then c is a child. If c were a
      parent, the path that it opens would have reached T through c before.
    - Are two neighbors separated by a set without T, and dependent if T joins it? Then both are parents. One of them
      has to be a single column.

    Parameters
    ----------
    members : sequence of int
        The blanket, most important first.

    max_k : int or None
        The most columns that are given; None for all. With fewer than all others, "neighbor" means that no set of this
        size separates.
    """
    neighbors: list[int] = []
    separating: dict[int, tuple[int, ...]] = {}
    for x in members:
        found = _separating(inquiry, x, inquiry.target, [z for z in members if z != x], max_k)
        if found is None:
            neighbors.append(x)
        else:
            separating[x] = found
    for spouse, given in separating.items():
        for child in neighbors:
            if child not in given:
                _ask(inquiry, spouse, inquiry.target, (*given, child))
    is_single = inquiry.test.table.is_single
    for pair in combinations(neighbors, 2):
        one, other = sorted(pair, key=is_single)
        if is_single(other):
            rest = [z for z in members if z not in pair]
            apart = _separating(inquiry, one, other, rest, max_k)
            if apart is not None:
                _ask(inquiry, one, other, (*apart, inquiry.target))


def _separating(
    inquiry: Inquiry, x: int, y: int, others: Sequence[int], max_k: int | None
) -> tuple[int, ...] | None:
    """Return the first set that clearly separates two variables, small ones first; None if there is none."""
    return next((given for given in subsets(others, max_k) if _ask(inquiry, x, y, given) == "dropped"), None)


def _ask(inquiry: Inquiry, x: int, y: int, given: tuple[int, ...]) -> Decision:
    """Ask, record and return "kept" for a dependence, "dropped" for a clear separation, and "rejected" for neither."""
    (result,) = inquiry.test.answers([x], y, inquiry.given(given))
    decision: Decision = "rejected"
    if result.is_reliable and result.pvalue <= inquiry.alpha:
        decision = "kept"
    elif result.is_reliable and result.pvalue >= CLEARLY:
        decision = "dropped"
    inquiry.trace.record(
        Step(
            inquiry.fold,
            ROLES,
            x,
            given,
            result.pvalue,
            result.statistic,
            result.effect,
            result.pvalue,
            decision,
            result.is_reliable,
            # Also of the search's own target, so that these answers do not decide about the selection.
            y,
            model_pvalues=result.model_pvalues,
        )
    )
    return decision
