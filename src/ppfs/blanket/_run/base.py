"""What all searches share: reading the data, folds, the fitted attributes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral, Real
from os import PathLike
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._conventions import (
    N_JOBS_RULE,
    Interval,
    Options,
    Progress,
    RandomStateLike,
    StrOptions,
    integer_seed,
    root_entropy,
    stream,
    warn_caller,
)
from ppfs._data import (
    BY_TASK,
    CATEGORICAL_FEATURES_CONSTRAINT,
    COLUMNS_RULE,
    CallersColumns,
    CategoricalFeatures,
    ColumnsLike,
    ColumnWarning,
    LazyColumns,
    Table,
    Task,
    agreed_task,
    backend_of,
    check_columns,
    listed,
    read_table,
    summary,
    warn_if_ambiguous,
    weights_among,
)
from ppfs._estimator import FrameSelector, in_one_step
from ppfs._parallel import small_fits
from ppfs._rows import divide_into_folds, every_class_has
from ppfs._trace import DecidingSteps, Outcome, Trace, summary_of, target_name
from ppfs.blanket._run.answers_between_fits import Memory
from ppfs.blanket._run.checkpoint import opened
from ppfs.blanket._run.circumstances import Circumstances
from ppfs.blanket._run.fill_up import fill_up
from ppfs.blanket._run.folds import Fold, aggregate
from ppfs.blanket._run.results import results_frame
from ppfs.blanket._run.reused_answers import AnswerSource, ReusedAnswers
from ppfs.blanket._run.search_result import Found
from ppfs.blanket._run.special_columns import SpecialColumns, read_special_columns
from ppfs.blanket._steps.questions import Inquiry
from ppfs.exceptions import (
    CheckpointError,
    EstimatorFailedError,
    InvalidInputError,
    UnreachableAlphaWarning,
)
from ppfs.independence import Automatic, BoundTest, IndependenceTest, OnError, PredictiveTest

if TYPE_CHECKING:
    from ppfs.report import Report

SEARCH_CONSTRAINTS: dict[str, Any] = {
    "n_folds": [Options(Integral, {0}), Interval(Integral, 2, None, closed="left")],
    "alpha": [Interval(Real, 0, 1, closed="neither")],
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": N_JOBS_RULE,
    "progress": ["boolean", StrOptions({"log"})],
    "always_keep": COLUMNS_RULE,
    "condition_on": COLUMNS_RULE,
    "feature_groups": [Mapping, None],
    "categorical_features": CATEGORICAL_FEATURES_CONSTRAINT,
    "min_features": [Interval(Integral, 0, None, closed="left")],
    "checkpoint": [str, PathLike, None],
    "memory_limit": [Interval(Integral, 1, None, closed="left"), None],
    "on_error": [StrOptions({"raise", "drop"})],
    "task": [StrOptions({"auto", "classification", "regression"})],
}


@dataclass(frozen=True)
class _Searched:
    """What was found in every fold, or once in all rows.

    Attributes
    ----------
    found : list of Found
        One a fold.

    blankets : list of tuple of int
        Their blankets, most important features first.

    left_out : list of dict of int to str
        The features that each had to go without, and why.
    """

    found: list[Found]
    blankets: list[tuple[int, ...]]
    left_out: list[dict[int, str]]
    n_fits: int
    n_tests: int


class BaseBlanketSelector(FrameSelector, BaseEstimator, ABC):
    """A selector that finds a Markov blanket by asking an independence test.

    A subclass has the parameters `n_folds`, `alpha`, `random_state`, `n_jobs` and `progress`, may have
    `always_keep`, `condition_on`, `feature_groups` and `categorical_features`, and implements `_independence_test` and
    `_search`.

    Searches speak of features; what `fit` leaves behind, the trace aside, speaks of the caller's columns.
    """

    n_folds: int
    alpha: float
    random_state: RandomStateLike
    n_jobs: int | None
    progress: Progress
    always_keep: ColumnsLike = ()
    condition_on: ColumnsLike = ()
    feature_groups: Mapping[str, ColumnsLike] | None = None
    categorical_features: CategoricalFeatures = "auto"
    min_features: int = 0
    memory_limit: int | None = None
    checkpoint: str | PathLike[str] | None = None
    on_error: OnError = "raise"
    task: Task | Literal["auto"] = "auto"

    blanket_: NDArray[np.intp]
    pvalues_: NDArray[np.float64]
    importances_: NDArray[np.float64]
    scores_: NDArray[np.float64]
    trace_: Trace
    folds_: tuple[Fold, ...]
    n_fits_: int
    n_tests_: int
    independence_: IndependenceTest
    task_: Task
    warnings_: tuple[ColumnWarning, ...]

    _memory: Memory | None = None
    # The library of the caller's data frame.
    _backend: str | None = None

    @abstractmethod
    def _independence_test(self) -> IndependenceTest:
        """Return the test to ask, with its parameters checked."""

    @abstractmethod
    def _search(self, inquiry: Inquiry) -> list[int]:
        """Return the blanket of the inquiry's target, asking and recording as needed."""

    def _find(self, inquiry: Inquiry) -> Found:
        """Return the blanket, with whatever else this search finds."""
        return Found(self._search(inquiry))

    def _set_findings(self, found: Found, callers: CallersColumns) -> None:
        """Set the fitted attributes that only this search has, from what `_find` returned in the chosen fold."""

    def fit(self, X: Any, y: Any, *, groups: Any = None, **params: Any) -> Self:
        """Find the columns that the target depends on.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features), or path
            The columns: numbers, and in data frames text and categories too. A path of a Parquet file, of a folder
            of Parquet files that hold different columns of the same rows, or of a .npy, zarr, HDF5 or h5ad file:
            columns are then read a few at a time, and only candidates are kept in memory.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs), or str
            The target. Where X is a path, the name of one of its columns.

        groups : array-like of shape (n_rows,), default=None
            Labels of rows that belong together, such as those of one patient: no split and no fold separates them.

        **params
            `sample_weight`, array-like of shape (n_rows,): how much each row counts, in the fits and in the losses. A
            row of weight 0 is left out.

        Returns
        -------
        self
        """
        self._validate_params()
        with in_one_step(self) as draft:
            try:
                draft._fit(X, y, groups=groups, sample_weight=weights_among(params, self))
            except BaseException as error:
                self._keep_answers(draft._memory, error)
                raise
        return self

    def _fit(self, X: Any, y: Any, *, groups: Any, sample_weight: Any) -> None:
        test = self._independence_test()
        table = read_table(
            X,
            y,
            task=agreed_task(test.declared_task(), self.task, type(self).__name__),
            owner=self,
            feature_groups=self.feature_groups,
            categorical_features=self.categorical_features,
            sample_weight=sample_weight,
            groups=groups,
            memory_limit=self.memory_limit,
        )
        if isinstance(table.X, LazyColumns) and not isinstance(test, PredictiveTest):
            raise InvalidInputError(
                f"X is a path, and {type(test).__name__} looks at all columns at once. Use a predictive test, such as "
                "PPI or CrossFitPPI, or read the columns into memory."
            )
        if self.on_error == "drop" and not isinstance(test, PredictiveTest):
            raise InvalidInputError(
                f"on_error='drop' would have no effect: {type(test).__name__} fits no estimator that could fail on a "
                "column. Leave it out."
            )
        if test.reads_task:
            warn_if_ambiguous(table, BY_TASK)
        self._see_columns(X, table)
        self._fit_table(table, test)
        if self.trace_.data is not None:
            self.trace_.data = replace(self.trace_.data, target=target_name(y))
        self.warnings_ = check_columns(table)
        if self.warnings_:
            self.trace_.notes.append(summary(self.warnings_))

    def _fit_table(self, table: Table, test: IndependenceTest, shared: ReusedAnswers | None = None) -> None:
        """Search in a table that was read before, and set the fitted attributes that do not depend on X itself.

        Parameters
        ----------
        shared : ReusedAnswers or None
            The bound tests of searches under the same circumstances; None makes new ones.
        """
        special = read_special_columns(self.always_keep, self.condition_on, table)

        trace = Trace(table.names, table.column_names, table.columns if table.has_feature_groups else None)
        if isinstance(test, Automatic):
            choice = test.choose(table)
            test = choice.test
            trace.notes.append(f"independence test: {choice.reason}")
        with small_fits(table.n_rows):
            searched = self._search_parts(table, test, special, trace, shared)
        trace.notes.extend(filter(None, [table.kinds.described(table.column_names)]))
        self._conclude(searched, special, trace, table)
        trace.data = summary_of(table)
        self._has_gaps_in_text = table.has_gaps_in_text
        self._column_names = table.column_names
        self.task_ = table.task
        self.independence_ = test
        self.trace_ = trace

    @property
    def stability_(self) -> NDArray[np.float64]:
        """Share of the folds that selected each column, shape (n_columns,); NaN without folds.

        `StabilitySelection` counts halves of the rows in place of folds, and selects by that.
        """
        check_is_fitted(self)
        if not self.folds_:
            return np.full(self.support_.size, np.nan)
        counts = np.zeros(self.support_.size)
        for fold in self.folds_:
            counts[list(fold.blanket)] += 1
        return counts / len(self.folds_)

    @property
    def results_(self) -> Any:
        """What became of every column: a data frame of the caller's kind, one row a column of X.

        Columns: `column`, `selected`, `importance` and its interval from `importance_low` to `importance_high` (its
        lower end is above 0 where the p-value is below `alpha`; NaN for tests that tell no direction), `pvalue`,
        `adjusted_pvalue`, `stability` (share of the folds that selected it), `phase`, `reason`, `redundant_with` (a
        list of what made it redundant).
        """
        check_is_fitted(self)
        return results_frame(
            self.trace_,
            support=self.support_,
            pvalues=self.pvalues_,
            importances=self.importances_,
            level=self.alpha if isinstance(self.independence_, PredictiveTest) else None,
            backend=self._backend,
        )

    def _see_columns(self, X: Any, table: Table) -> None:
        """Remember number and names of the columns, as scikit-learn does."""
        self._backend = backend_of(X)
        if not isinstance(table.X, LazyColumns):
            validate_data(self, X, skip_check_array=True)
            return
        self.n_features_in_ = table.n_features
        if table.X.source.has_names:
            self.feature_names_in_ = np.array(table.names, dtype=object)

    def _keep_answers(self, memory: Memory | None, error: BaseException) -> None:
        """Keep what a search was told before it failed, so that fitting again continues from there."""
        if memory is None or memory is self._memory or not memory.n_answers:
            return
        self._memory = memory
        if memory.circumstances.is_repeatable(self.random_state):
            error.add_note(
                f"The {memory.n_answers} answers that the search had so far are kept: fit again with the same data and "
                "parameters to continue from them."
            )

    def _search_parts(
        self,
        table: Table,
        test: IndependenceTest,
        special: SpecialColumns,
        trace: Trace,
        shared: ReusedAnswers | None,
    ) -> _Searched:
        """Search in every fold, or once in all rows."""
        entropy = root_entropy(self.random_state)
        circumstances = Circumstances.of(test, entropy, self.n_folds)
        with self._checkpoint(circumstances, table) as written:
            # Held from the start: a search that fails leaves its answers here.
            self._memory = Memory(circumstances, self._memory)
            answers = ReusedAnswers([self._memory, *written]) if shared is None else shared
            searched = self._search_with(table, test, special, trace, entropy, answers)
            self._memory.forget_the_last()
        return searched

    @contextmanager
    def _checkpoint(self, circumstances: Circumstances, table: Table) -> Iterator[Sequence[AnswerSource]]:
        """Hold the folder that answers are written to, where the caller wants that."""
        if self.checkpoint is None:
            yield ()
            return
        if not circumstances.is_repeatable(self.random_state) and not circumstances.not_comparable:
            raise CheckpointError(
                f"checkpoint={str(self.checkpoint)!r} needs an integer as random_state, so that a later run draws the "
                f"same numbers, but it is {self.random_state!r}. Pass random_state=0."
            )
        with opened(self.checkpoint, circumstances, table) as checkpoint:
            yield (checkpoint,)

    def _search_with(
        self,
        table: Table,
        test: IndependenceTest,
        special: SpecialColumns,
        trace: Trace,
        entropy: int,
        answers: ReusedAnswers,
    ) -> _Searched:
        found: list[Found] = []
        blankets: list[tuple[int, ...]] = []
        left_out: list[dict[int, str]] = []
        n_fits = n_tests = 0
        bind = partial(test.bind, random_state=entropy, n_jobs=self.n_jobs)
        for fold, part in self._parts(table, entropy):
            bound = answers.bound(part, fold, self.on_error, bind)
            n_fits, n_tests = n_fits - bound.n_fits, n_tests - bound.n_answers
            if fold <= 1:
                self._warn_if_unreachable(bound)
                trace.models = bound.models
                trace.notes.extend(
                    [*bound.notes(), f"task: {table.task}, because {table.task_choice.reason}"]
                )
            inquiry = Inquiry(
                bound,
                part.target,
                self.alpha,
                trace,
                fold,
                self.progress,
                always_keep=special.always_keep,
                condition_on=special.condition_on,
                entropy=entropy,
            )
            try:
                found.append(self._find(inquiry))
            finally:
                # No answers: a later fit that asks again is told what is wrong.
                bound.known.forget(bound.failures)
            left_out.append(bound.failures)
            trace.notes.extend(_about_failures(inquiry))
            blankets.append(_most_important_first(found[-1].blanket, trace, fold))
            n_fits += bound.n_fits
            n_tests += bound.n_answers
        return _Searched(found, blankets, left_out, n_fits, n_tests)

    def _parts(self, table: Table, entropy: int) -> Iterator[tuple[int, Table]]:
        """Yield each fold's number and training part, or the whole table as fold 0."""
        if not self.n_folds:
            yield 0, table
            return
        for number, rows in enumerate(_training_rows(table, self.n_folds, entropy), start=1):
            yield number, table.rows(rows)

    def _warn_if_unreachable(self, bound: BoundTest) -> None:
        if bound.smallest_pvalue > self.alpha:
            warn_caller(
                f"alpha={self.alpha} cannot be reached: the smallest p-value this test can return is "
                f"{bound.smallest_pvalue:.3g}, so nothing will be selected. Raise n_splits, or alpha.",
                UnreachableAlphaWarning,
            )

    def _conclude(self, searched: _Searched, special: SpecialColumns, trace: Trace, table: Table) -> None:
        """Choose among the folds' blankets and set the fitted attributes from the chosen fold's answers."""
        folds = aggregate(searched.blankets) if self.n_folds else ()
        chosen = next((fold.number for fold in folds if fold.is_chosen), 0)
        blanket = searched.blankets[max(chosen - 1, 0)]
        left_out = searched.left_out[max(chosen - 1, 0)]
        decided_by = trace.decided(chosen, blanket)
        filled_up = fill_up(
            blanket,
            self.min_features,
            table=table,
            decided_by=decided_by,
            barred=(*special.condition_on, *left_out),
        )
        trace.conclude(
            Outcome(
                blanket,
                fold=chosen,
                blankets=tuple(fold.blanket for fold in folds),
                always_keep=special.always_keep,
                condition_on=special.condition_on,
                filled_up=tuple(filled_up),
                left_out=left_out,
            )
        )
        callers = CallersColumns.of(table)
        self.folds_ = tuple(replace(fold, blanket=tuple(callers.numbers(fold.blanket))) for fold in folds)
        self.blanket_ = np.array(callers.numbers([*blanket, *filled_up]), dtype=np.intp)
        self._set_findings(searched.found[max(chosen - 1, 0)], callers)
        self.support_ = np.zeros(callers.n_columns, dtype=bool)
        self.support_[self.blanket_] = True
        pvalues, effects = _answers(decided_by, unasked=(*special.all, *left_out))
        self.pvalues_, self.importances_ = callers.spread(pvalues), callers.spread(effects)
        with np.errstate(divide="ignore"):
            # Not log(1/p), which overflows for the smallest p-values; 0 - and not -, or p = 1 gives -0.
            self.scores_ = 0.0 - np.log(self.pvalues_)
        self.n_fits_ = searched.n_fits
        self.n_tests_ = searched.n_tests

    def report(self, X: Any = None, y: Any = None, **rows: Any) -> Report:
        """Return a report to pass on: ``selector.report().save("report.html")``.

        Parameters
        ----------
        X, y : array or data frame, array-like, default=None
            The data that the search was fitted on. The report then has the cross-validated scores of the selection and
            of all columns, and how often each column is selected again: the search is repeated five times, each time
            inside a training part.

        rows : array-likes
            `sample_weight` and `groups`, where the search was fitted with them.

        Returns
        -------
        Report
            With `html`, `json`, `markdown` and `save`; a notebook shows it.
        """
        from ppfs.report import Report

        return Report(self) if X is None else Report.with_scores(self, X, y, **rows)

    def __getstate__(self) -> dict[str, Any]:
        # What was asked is only of use where the data are, and may be large.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_memory"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        # A gap in a column of text is a category like others, so `transform` must not stumble over it.
        tags.input_tags.allow_nan = self._has_gaps_in_text
        return tags


def _about_failures(inquiry: Inquiry) -> Iterator[str]:
    """Say which columns were left out, or raise if it was all of them: then it is not the columns' doing."""
    failures, names = inquiry.test.failures, inquiry.test.table.names
    if not failures:
        return
    first = next(iter(failures.values()))
    if len(failures) == len(inquiry.candidates):
        raise EstimatorFailedError(f"No column could be asked about, so on_error='drop' leaves none. {first}")
    where = f" in fold {inquiry.fold}" if inquiry.fold else ""
    told = [names[x] for x in failures]
    yield f"left out{where} by on_error='drop': {listed(told, limit=len(told))}. The first, because of {first}"


def _training_rows(table: Table, n_folds: int, entropy: int) -> list[NDArray[np.intp]]:
    """Divide the rows into folds and return the rows outside each of them."""
    if n_folds > table.n_rows:
        raise InvalidInputError(
            f"n_folds={n_folds} is more than the {table.n_rows} rows. Use fewer folds, or n_folds=0 for none."
        )
    is_labelled = table.task == "classification"
    labels = table.y if is_labelled and every_class_has(table.y, n_folds) else None
    seed = integer_seed(stream(entropy))
    training = [rows for rows, _ in divide_into_folds(table.n_rows, labels, table.groups, n_folds, seed=seed)]
    if is_labelled and any((table.y[rows] == table.y[rows[0]]).all() for rows in training):
        raise InvalidInputError(
            f"With n_folds={n_folds} some fold's training part has one class only. Use fewer folds, or n_folds=0."
        )
    return training


def _most_important_first(blanket: Collection[int], trace: Trace, fold: int) -> tuple[int, ...]:
    """Sort a blanket by the answers that decided; one that nothing is known of counts as without effect."""
    decided_by = trace.decided(fold, blanket)

    def rank(x: int) -> tuple[float, float, int]:
        step = decided_by.get(x)
        return (-step.effect, step.pvalue, x) if step is not None else (0.0, 1.0, x)

    return tuple(sorted(blanket, key=rank))


def _answers(
    decided_by: DecidingSteps, unasked: Collection[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return p-value and effect of the question that decided about each feature.

    NaN for features that the caller decided about, of which nothing is known.
    """
    pvalues, effects = decided_by.pvalues.copy(), decided_by.effects.copy()
    pvalues[list(unasked)] = effects[list(unasked)] = np.nan
    return pvalues, effects
