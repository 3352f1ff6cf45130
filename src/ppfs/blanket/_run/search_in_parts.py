"""A search in every fold, or once in all rows."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from ppfs._conventions import warn_caller
from ppfs._data import Table
from ppfs._printable import listed
from ppfs._trace import Trace
from ppfs.blanket._run.folds import training_parts
from ppfs.blanket._run.reused_answers import ReusedAnswers
from ppfs.blanket._run.special_columns import SpecialColumns
from ppfs.blanket._steps.questions import Inquiry
from ppfs.exceptions import EstimatorFailedError, UnreachableAlphaWarning
from ppfs.independence import BoundTest, IndependenceTest

if TYPE_CHECKING:
    from ppfs.blanket._run.base import BaseBlanketSelector


@dataclass(frozen=True)
class Found:
    """A blanket. A search with more results returns a subclass.

    Attributes
    ----------
    blanket : sequence of int
        The features of the blanket, in any order.
    """

    blanket: Sequence[int]


@dataclass(frozen=True)
class Searched:
    """What was found in every fold, or once in all rows.

    Attributes
    ----------
    found : list of Found
        One per fold.

    blankets : list of tuple of int
        Their blankets, most important features first.

    left_out : list of dict of int to str
        The features that were left out in each, and why.
    """

    found: list[Found]
    blankets: list[tuple[int, ...]]
    left_out: list[dict[int, str]]
    n_fits: int
    n_tests: int


def search_in_parts(
    selector: BaseBlanketSelector,
    table: Table,
    test: IndependenceTest,
    special: SpecialColumns,
    trace: Trace,
    entropy: int,
    answers: ReusedAnswers,
) -> Searched:
    """Let a selector search in the training part of each of its folds, and write into the trace how."""
    found: list[Found] = []
    blankets: list[tuple[int, ...]] = []
    left_out: list[dict[int, str]] = []
    n_fits = n_tests = 0
    bind = partial(test.bind, random_state=entropy, n_jobs=selector.n_jobs)
    for fold, part in training_parts(table, selector.n_folds, entropy):
        bound = answers.bound(part, fold, selector.on_error, bind)
        n_fits, n_tests = n_fits - bound.n_fits, n_tests - bound.n_answers
        if fold <= 1:
            _warn_if_unreachable(bound, selector.alpha)
            trace.models = bound.models
            trace.notes.extend(
                [*bound.notes(), f"task: {table.task_name}, because {table.task_choice.reason}"]
            )
            trace.notes.extend(filter(None, [table.task_choice.hint]))
        inquiry = Inquiry(
            bound,
            part.target,
            selector.alpha,
            trace,
            fold,
            selector.progress,
            always_keep=special.always_keep,
            condition_on=special.condition_on,
            entropy=entropy,
        )
        try:
            found.append(selector._find(inquiry))
        finally:
            # Failures are not answers: a later fit has to raise again.
            bound.known.forget(bound.failures)
        left_out.append(bound.failures)
        trace.notes.extend(_about_failures(inquiry))
        blankets.append(_most_important_first(found[-1].blanket, trace, fold))
        n_fits += inquiry.n_fits
        n_tests += inquiry.n_answers
    return Searched(found, blankets, left_out, n_fits, n_tests)


def _warn_if_unreachable(bound: BoundTest, alpha: float) -> None:
    if bound.smallest_pvalue > alpha:
        warn_caller(
            f"alpha={alpha} cannot be reached: the smallest p-value this test can return is "
            f"{bound.smallest_pvalue:.3g}, so nothing will be selected. Raise n_splits, or alpha.",
            UnreachableAlphaWarning,
        )


def _about_failures(inquiry: Inquiry) -> Iterator[str]:
    """Yield a note about the columns that were left out, or raise if all of them were."""
    failures, names = inquiry.test.failures, inquiry.test.table.names
    if not failures:
        return
    first = next(iter(failures.values()))
    if len(failures) == len(inquiry.candidates):
        raise EstimatorFailedError(f"No column could be tested, so on_error='drop' leaves none. {first}")
    where = f" in fold {inquiry.fold}" if inquiry.fold else ""
    told = [names[x] for x in failures]
    yield f"left out{where} by on_error='drop': {listed(told, limit=len(told))}. The first, because of {first}"


def _most_important_first(blanket: Collection[int], trace: Trace, fold: int) -> tuple[int, ...]:
    """Sort a blanket by the deciding answers; a member without one counts as having no effect."""
    decided_by = trace.decided(fold, blanket)

    def rank(x: int) -> tuple[float, float, int]:
        step = decided_by.get(x)
        return (-step.effect, step.pvalue, x) if step is not None else (0.0, 1.0, x)

    return tuple(sorted(blanket, key=rank))
