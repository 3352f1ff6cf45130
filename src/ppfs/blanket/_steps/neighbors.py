"""Parents and children of one variable: MMPC and HITON-PC."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ppfs.blanket._steps.order import ask_marginally, strongest_first
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.separation import first_separator, subsets, subsets_with
from ppfs.independence import IndependenceResult

_PHASE = "parents and children"


@dataclass(frozen=True)
class Neighbors:
    """What was found around one variable.

    Attributes
    ----------
    members : list of int
        Variables that were not separated: parents and children, and possibly some descendants.

    separators : dict
        For each variable that was separated, the separating set.
    """

    members: list[int]
    separators: dict[int, tuple[int, ...]]


FindNeighbors = Callable[[Inquiry, int | None], Neighbors]


def max_min_neighbors(inquiry: Inquiry, max_k: int | None) -> Neighbors:
    """MMPC: add the variable whose minimum association, over all subsets of the members, is the largest.

    Parameters
    ----------
    max_k : int or None
        Largest subset to condition on.
    """
    members = list(inquiry.always_keep)
    separators: dict[int, tuple[int, ...]] = {}
    weakest: dict[int, IndependenceResult] = {}
    waiting = inquiry.candidates
    sets = subsets(members, max_k)
    while waiting:
        for given in sets:
            if not waiting:
                break
            waiting = _separate(inquiry, waiting, given, weakest, separators)
        # A variable without any reliable test does not enter.
        linked = strongest_first([(x, weakest[x]) for x in waiting if x in weakest], inquiry.test.table)
        if not linked:
            break
        chosen = linked[0][0]
        # All sets without the new member were tried before.
        sets = subsets_with(chosen, members, max_k)
        members.append(chosen)
        waiting = [x for x in waiting if x != chosen]
    _drop_separated(inquiry, members, max_k, separators)
    return Neighbors(members, separators)


def _separate(
    inquiry: Inquiry,
    waiting: list[int],
    members: tuple[int, ...],
    weakest: dict[int, IndependenceResult],
    separators: dict[int, tuple[int, ...]],
) -> list[int]:
    """Test all waiting variables given one set; return those that it does not separate."""
    given = inquiry.given(members)
    for x, result in inquiry.ask(waiting, given, _PHASE):
        is_independent = result.is_independent(inquiry.alpha)
        inquiry.record(_PHASE, x, given, result, "rejected" if is_independent else "candidate")
        if is_independent:
            separators[x] = members
        elif result.is_reliable and (x not in weakest or _weakness(result) > _weakness(weakest[x])):
            weakest[x] = result
    return [x for x in waiting if x not in separators]


def _weakness(result: IndependenceResult) -> tuple[float, float]:
    return result.pvalue, -result.effect


def _drop_separated(
    inquiry: Inquiry, members: list[int], max_k: int | None, separators: dict[int, tuple[int, ...]]
) -> None:
    """Drop members that a subset of the other members separates, the last to enter first."""
    for x in reversed([x for x in members if x not in inquiry.always_keep]):
        others = [other for other in members if other != x]
        separator = first_separator(inquiry, x, subsets(others, max_k), _PHASE)
        if separator is not None:
            members.remove(x)
            separators[x] = separator


def hiton_neighbors(inquiry: Inquiry, max_k: int | None) -> Neighbors:
    """HITON-PC: add variables in the order of their marginal association, and drop members that are separated.

    Parameters
    ----------
    max_k : int or None
        Largest subset to condition on.
    """
    members = list(inquiry.always_keep)
    separators: dict[int, tuple[int, ...]] = {}
    for x, marginal in ask_marginally(inquiry):
        if marginal.is_independent(inquiry.alpha):
            separators[x] = ()
        elif marginal.is_reliable:
            _enter(inquiry, x, members, max_k, separators)
    return Neighbors(members, separators)


def _enter(
    inquiry: Inquiry,
    newcomer: int,
    members: list[int],
    max_k: int | None,
    separators: dict[int, tuple[int, ...]],
) -> None:
    """Add a variable unless the members separate it, and drop members that it helps to separate."""
    separator = first_separator(inquiry, newcomer, subsets(members, max_k), _PHASE)
    if separator is not None:
        separators[newcomer] = separator
        return
    for x in [x for x in members if x not in inquiry.always_keep]:
        others = [other for other in members if other != x]
        separator = first_separator(inquiry, x, subsets_with(newcomer, others, max_k), _PHASE)
        if separator is not None:
            members.remove(x)
            separators[x] = separator
    members.append(newcomer)
