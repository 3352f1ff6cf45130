"""Growth and shrinkage given the blanket so far: what GS, the IAMB family and FBED are made of."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass

from ppfs._table import Table
from ppfs._trace import Decision
from ppfs.blanket._inquiry import Answered, Inquiry
from ppfs.blanket._phases import shrink

# Which of the dependent columns, strongest first, enter the blanket together.
Entrants = Callable[[Inquiry, Sequence[int], Sequence[int]], Sequence[int]]


def strongest_first(answered: Iterable[Answered], table: Table) -> list[Answered]:
    """Sort answers: smaller p-value first, then larger effect, then the column's content.

    P-values underflow to 0 on strong columns, where the effect still tells them apart. Content before
    number, so that the result does not depend on the order of the columns.
    """
    return sorted(answered, key=lambda one: (one[1].pvalue, -one[1].effect, table.key(one[0]), one[0]))


def marginal_order(inquiry: Inquiry) -> list[int]:
    """Return all candidates, those with the strongest link to the target alone first."""
    return [x for x, _ in ask_marginally(inquiry)]


def ask_marginally(inquiry: Inquiry) -> list[Answered]:
    """Ask about all candidates given nothing but `condition_on`; strongest first."""
    given = inquiry.given(())
    answered = inquiry.ask(inquiry.candidates, given, "order")
    for x, result in answered:
        is_dependent = result.is_dependent(inquiry.alpha)
        inquiry.record("order", x, given, result, "candidate" if is_dependent else "rejected")
    return strongest_first(answered, inquiry.test.table)


@dataclass(frozen=True)
class Round:
    """What one round of growth led to.

    Attributes
    ----------
    added : list of int
        Columns that enter the blanket, strongest first.

    dependent : list of int
        The other columns that depend on the target, strongest first.
    """

    added: list[int]
    dependent: list[int]


def only_the_strongest(inquiry: Inquiry, blanket: Sequence[int], dependent: Sequence[int]) -> Sequence[int]:
    """Let one column enter a round, as IAMB does."""
    return dependent[:1]


def grow_once(
    inquiry: Inquiry,
    blanket: Sequence[int],
    candidates: Sequence[int],
    entrants: Entrants = only_the_strongest,
) -> Round:
    """Ask about all candidates given the blanket, and choose who enters it."""
    given = inquiry.given(blanket)
    answered = inquiry.ask(candidates, given, "growth")
    dependent = [one for one in answered if one[1].is_dependent(inquiry.alpha)]
    ordered = [x for x, _ in strongest_first(dependent, inquiry.test.table)]
    added = list(entrants(inquiry, blanket, ordered))
    decisions: dict[int, Decision] = {**dict.fromkeys(ordered, "candidate"), **dict.fromkeys(added, "added")}
    for x, result in answered:
        inquiry.record("growth", x, given, result, decisions.get(x, "rejected"))
    return Round(added, [x for x in ordered if x not in added])


def grow(inquiry: Inquiry, blanket: Sequence[int], *, early_dropping: bool = False) -> list[int]:
    """Add the strongest dependent column, again and again, until no column depends on the target.

    Parameters
    ----------
    blanket : sequence of int
        Where to start.

    early_dropping : bool, default=False
        Do not ask again about a column that was once independent. Far fewer questions; a column
        that depends on the target only given a later member is missed.
    """
    grown = list(blanket)
    waiting = [x for x in inquiry.candidates if x not in grown]
    while waiting:
        found = grow_once(inquiry, grown, waiting)
        grown += found.added
        if not found.added:
            break
        waiting = found.dependent if early_dropping else [x for x in waiting if x not in found.added]
    return grown


def grow_in_order(inquiry: Inquiry, blanket: Sequence[int], order: Sequence[int]) -> list[int]:
    """Add the first dependent column of `order`, begin the scan again, until a full scan adds none."""
    grown = list(blanket)
    while (added := _first_dependent(inquiry, grown, [x for x in order if x not in grown])) is not None:
        grown.append(added)
    return grown


def _first_dependent(inquiry: Inquiry, blanket: Sequence[int], waiting: Sequence[int]) -> int | None:
    given = inquiry.given(blanket)
    with inquiry.bar("growth", len(waiting)) as bar:
        for x, result in inquiry.answers(waiting, given, bar):
            is_dependent = result.is_dependent(inquiry.alpha)
            inquiry.record("growth", x, given, result, "added" if is_dependent else "rejected")
            if is_dependent:
                return x
    return None


def shrink_weakest_first(inquiry: Inquiry, blanket: Collection[int]) -> list[int]:
    """Drop members that are independent of the target given the others, in one pass, weakest first.

    Members that there are too few rows to judge come last: when others have gone there may be enough.
    """
    members = [x for x in blanket if x not in inquiry.always_keep]
    answered = inquiry.ask(members, inquiry.given(blanket), "shrink")
    strongest = strongest_first(answered, inquiry.test.table)
    judged = [x for x, result in reversed(strongest) if result.is_reliable]
    unjudged = [x for x, result in reversed(strongest) if not result.is_reliable]
    return shrink(inquiry, [*judged, *unjudged, *inquiry.always_keep])
