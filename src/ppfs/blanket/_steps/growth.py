"""Growth: which columns enter the blanket, tested alone (the paper) or given the blanket so far (GS, IAMB, FBED)."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from ppfs._trace import Decision
from ppfs.blanket._steps.correction import adjust
from ppfs.blanket._steps.exact_growth import count_small_pvalues
from ppfs.blanket._steps.order import strongest_first
from ppfs.blanket._steps.questions import Answered, Inquiry
from ppfs.independence import Answers, ExactTail

# Which of the dependent columns, strongest first, enter the blanket together.
Entrants = Callable[[Inquiry, Sequence[int], Sequence[int]], Sequence[int]]


def grow_marginally(inquiry: Inquiry, columns: Sequence[int], correction: str | None) -> list[Answered]:
    """Return the columns that depend on the target given nothing but `condition_on`, with their answers.

    Parameters
    ----------
    columns : sequence of int
        The columns to test.

    correction : {"bh", "by", "bonferroni"} or None
        How p-values are adjusted for the number of columns before they are compared with alpha.
    """
    given = inquiry.given(())
    answers = inquiry.gather(columns, given, "growth")
    if inquiry.test.failures:
        is_told = np.array([x not in inquiry.test.failures for x in columns])
        columns = [x for x, is_kept in zip(columns, is_told, strict=True) if is_kept]
        answers = answers.take(np.flatnonzero(is_told))
    adjusted = adjust(answers.pvalues, correction)
    is_candidate = adjusted <= inquiry.alpha
    tail = None if given else inquiry.test.exact_tail(inquiry.target)
    if tail is None:
        inquiry.record_all("growth", columns, given, answers, is_candidate, adjusted)
    else:
        answers, is_candidate = _count(inquiry, tail, columns, answers, is_candidate, correction)
    return [(columns[i], answers[i]) for i in np.flatnonzero(is_candidate).tolist()]


def _count(
    inquiry: Inquiry,
    tail: ExactTail,
    columns: Sequence[int],
    answers: Answers,
    is_candidate: NDArray[np.bool_],
    correction: str | None,
) -> tuple[Answers, NDArray[np.bool_]]:
    """Compute exact p-values of the columns with small approximate ones, and decide by them.

    Returns
    -------
    answers : Answers
        With exact p-values where these were computed.

    is_candidate : ndarray of bool, shape (n_columns,)
    """
    with inquiry.bar("exact growth", int(is_candidate.sum())) as bar:
        counted = count_small_pvalues(
            tail, columns, answers.pvalues, correction, inquiry.alpha, on_progress=bar.advance_to_remaining
        )
    goes_on = is_candidate.copy()
    goes_on[counted.places] = True
    inquiry.record_all("growth", columns, (), answers, goes_on, adjust(answers.pvalues, correction))
    if not counted.places.size:
        return answers, is_candidate
    inquiry.trace.notes.append(counted.note)
    pvalues = answers.pvalues.copy()
    pvalues[counted.places] = counted.pvalues
    exact = replace(answers, pvalues=pvalues)
    adjusted = adjust(pvalues, correction)
    is_called = (adjusted <= inquiry.alpha) & goes_on
    again = exact.take(counted.places)
    again = replace(again, statistics=counted.n_as_extreme.astype(np.float64))
    inquiry.record_all(
        "exact growth",
        [columns[place] for place in counted.places.tolist()],
        (),
        again,
        is_called[counted.places],
        adjusted[counted.places],
    )
    return exact, is_called


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
    """Return one column per round, as IAMB does."""
    return dependent[:1]


def grow_once(
    inquiry: Inquiry,
    blanket: Sequence[int],
    candidates: Sequence[int],
    entrants: Entrants = only_the_strongest,
) -> Round:
    """Test all candidates given the blanket, and choose which enter it."""
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
    """Add the strongest dependent column repeatedly, until no column depends on the target.

    Parameters
    ----------
    blanket : sequence of int
        Where to start.

    early_dropping : bool, default=False
        Do not test a column again once it was independent. This needs far fewer tests, but misses columns that depend
        on the target only given a later member.
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
    """Add the first dependent column of `order` and start over, until no column is dependent."""
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
