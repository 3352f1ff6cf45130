"""What all searches share: reading the data, folds, the fitted attributes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from numbers import Integral, Real
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ppfs._conventions import (
    N_JOBS_RULE,
    Interval,
    Options,
    Progress,
    RandomStateLike,
    StrOptions,
    root_entropy,
)
from ppfs._data import (
    BY_TASK,
    CATEGORICAL_FEATURES_CONSTRAINT,
    COLUMNS_RULE,
    TASKS,
    CallersColumns,
    CategoricalFeatures,
    ColumnsLike,
    FitData,
    SaidTask,
    Table,
    agreed_task,
    check_columns,
    summary,
)
from ppfs._estimator import Selector
from ppfs._parallel import small_fits
from ppfs._trace import Trace, summary_of
from ppfs._verdicts import Role, roles_of
from ppfs.blanket._run.answers_between_fits import Memory
from ppfs.blanket._run.checkpoint import opened
from ppfs.blanket._run.circumstances import Circumstances
from ppfs.blanket._run.conclusion import conclude
from ppfs.blanket._run.folds import Fold
from ppfs.blanket._run.results import results_frame
from ppfs.blanket._run.reused_answers import ReusedAnswers
from ppfs.blanket._run.search_in_parts import Found, Searched, search_in_parts
from ppfs.blanket._run.special_columns import SpecialColumns, read_special_columns
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.role_questions import ask_about_roles
from ppfs.exceptions import InvalidInputError
from ppfs.independence import Automatic, IndependenceTest, OnError, PredictiveTest

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
    "task": [StrOptions({"auto", *TASKS})],
}


class BaseBlanketSelector(Selector):
    """A selector that finds a Markov blanket with an independence test.

    A subclass has the parameters `n_folds`, `alpha`, `random_state`, `n_jobs` and `progress`, may have
    `always_keep`, `condition_on`, `feature_groups` and `categorical_features`, and implements `_independence_test` and
    `_search`.

    Searches and the trace use numbers of features; the fitted attributes use numbers of the caller's columns.
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
    task: SaidTask = "auto"

    pvalues_: NDArray[np.float64]
    importances_: NDArray[np.float64]
    scores_: NDArray[np.float64]
    folds_: tuple[Fold, ...]
    n_fits_: int
    n_tests_: int
    independence_: IndependenceTest

    _memory: Memory | None = None

    @abstractmethod
    def _independence_test(self) -> IndependenceTest:
        """Return the test, with its parameters checked."""

    @abstractmethod
    def _search(self, inquiry: Inquiry) -> list[int]:
        """Return the blanket of the inquiry's target."""

    def _find(self, inquiry: Inquiry) -> Found:
        """Return the blanket, and the other results of this search."""
        return Found(self._search(inquiry))

    def _set_findings(self, found: Found, callers: CallersColumns) -> None:
        """Set the fitted attributes that only this search has, from what `_find` returned in the chosen fold."""

    def _fit(self, data: FitData) -> None:
        test = self._independence_test()
        table = self._read_table(
            data,
            task=agreed_task(test.declared_task(), self.task, type(self).__name__),
            decided_by=BY_TASK if test.reads_task else None,
        )
        _require_predictive_test(test, self.on_error, is_file=not table.is_in_memory)
        with small_fits(table.n_rows):
            self._fit_table(table, test)
            self.trace_.name_target(data.y)
            self._say_roles()
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
        in_time = None if table.time is None else table.time.described
        trace.notes.extend(filter(None, [in_time, table.kinds.described(table.column_names)]))
        self._conclude(searched, special, trace, table)
        trace.data = summary_of(table)
        self.independence_ = test
        self.trace_ = trace

    def _search_parts(
        self,
        table: Table,
        test: IndependenceTest,
        special: SpecialColumns,
        trace: Trace,
        shared: ReusedAnswers | None,
    ) -> Searched:
        """Search in every fold, or once in all rows."""
        entropy = root_entropy(self.random_state)
        circumstances = Circumstances.of(test, entropy, self.n_folds, table)
        with opened(self.checkpoint, self.random_state, circumstances, table) as written:
            # Held from the start: a search that fails leaves its answers here.
            self._memory = Memory(circumstances, self._memory)
            answers = ReusedAnswers([self._memory, *written], self.n_jobs) if shared is None else shared
            searched = search_in_parts(self, table, test, special, trace, entropy, answers)
            self._memory.forget_the_last()
        return searched

    def _conclude(self, searched: Searched, special: SpecialColumns, trace: Trace, table: Table) -> None:
        """Choose among the folds' blankets and set the fitted attributes from the chosen fold's answers."""
        concluded = conclude(searched, special, trace, table, self.n_folds, self.min_features, self.n_jobs)
        callers = CallersColumns.of(table)
        self.folds_ = tuple(
            replace(fold, blanket=tuple(callers.numbers(fold.blanket))) for fold in concluded.folds
        )
        self.blanket_ = np.array(callers.numbers(concluded.selected), dtype=np.intp)
        self._set_findings(concluded.found, callers)
        self._set_columns(self.blanket_, table)
        self.pvalues_ = callers.spread(concluded.pvalues, concluded.selected)
        self.importances_ = callers.spread(concluded.effects, concluded.selected)
        with np.errstate(divide="ignore"):
            # Not log(1/p), which overflows for the smallest p-values; 0 - and not -, or p = 1 gives -0.
            self.scores_ = 0.0 - np.log(self.pvalues_)
        self.n_fits_ = searched.n_fits
        self.n_tests_ = searched.n_tests

    @property
    def stability_(self) -> NDArray[np.float64]:
        """Share of the folds that selected each column, shape (n_columns,); NaN without folds.

        `StabilitySelection` has shares of halves instead of folds, and selects by them.
        """
        check_is_fitted(self)
        if not self.folds_:
            return np.full(self.support_.size, np.nan)
        counts = np.zeros(self.support_.size)
        for fold in self.folds_:
            counts[list(fold.blanket)] += 1
        return counts / len(self.folds_)

    @property
    def roles_(self) -> tuple[Role, ...]:
        """Parent, child or spouse: what the questions say about each selected column, most important first.

        Searches over subsets, such as `MMMB` and `HITONMB`, decide most; others leave most roles undecided, until
        `find_roles` asks further questions. An arrow has its questions, and holds if their answers are right and no
        hidden variable acts on two of the columns.
        """
        check_is_fitted(self)
        return roles_of(self.trace_)

    def find_roles(
        self,
        X: Any = None,
        y: Any = None,
        *,
        max_k: int | None = 3,
        max_columns: int = 10,
        groups: Any = None,
        time: Any = None,
        sample_weight: Any = None,
    ) -> tuple[Role, ...]:
        """Ask further questions among the selected columns, and return their roles; `roles_` has them afterwards.

        The search asks what it needs to select, which leaves most roles undecided. These questions are about the
        selected columns only: which of them others separate from the target, which ones undo that, and which are
        separated from each other. The trace records them, in the phase "roles"; the selection does not change.

        Parameters
        ----------
        X, y : array or data frame, array-like, default=None
            The data that the selector was fitted on; None for those that it holds.

        max_k : int, default=3
            The most columns that a question is given; None for all. "Parent or child" then means that no set of this
            many selected columns separates the column from the target.

        max_columns : int, default=10
            The most important columns that are asked about; the number of questions doubles with each. The roles of the
            others stay undecided, and columns that were not asked about are not given.

        groups, time, sample_weight : array-likes of shape (n_rows,), default=None
            As in `fit`.

        Returns
        -------
        tuple of Role
        """
        check_is_fitted(self)
        self._require_blanket()
        data = FitData(X, y, groups, time, sample_weight)
        if X is None:
            try:
                data = self._data_of_fit("roles", "Call find_roles(X, y)")
            except AttributeError as error:
                raise InvalidInputError(str(error)) from None
        trace, outcome = self.trace_, self.trace_.outcome
        assert outcome is not None
        table = self._read_again(self._with_copies(data))
        entropy = root_entropy(self.random_state)
        special = read_special_columns(self.always_keep, self.condition_on, table)
        with small_fits(table.n_rows):
            bound = self.independence_.bind(table, fold=0, random_state=entropy, n_jobs=self.n_jobs)
            inquiry = Inquiry(
                bound, table.target, self.alpha, trace, outcome.fold, condition_on=special.condition_on
            )
            ask_about_roles(inquiry, outcome.blanket[:max_columns], max_k)
        return self._say_roles()

    def _require_blanket(self) -> None:
        """Raise if the selection is not meant to hold all spouses: what they separate could not be seen."""

    def _say_roles(self) -> tuple[Role, ...]:
        """Put the roles into the explanations."""
        roles = self.roles_
        decided = [role for role in roles if role.role != "undecided"]
        # There may be a million names.
        by_name = {name: feature for feature, name in enumerate(self.trace_.names)} if decided else {}
        self.trace_.say("roles", {by_name[role.feature]: role.in_a_sentence for role in decided})
        return roles

    @property
    def results_(self) -> Any:
        """The result for every column: a data frame of the caller's library, one row per column of X.

        Columns: `column`, `selected`, `importance` and its interval from `importance_low` to `importance_high` (its
        lower end is above 0 if the p-value is below `alpha`; NaN for tests without a direction), `pvalue`,
        `adjusted_pvalue`, `stability` (share of the folds that selected it), `phase`, `reason`, `redundant_with` (a
        list with the selected column that made a dropped one redundant, or that it is closest to; empty if none stands
        out), `detectable` (for columns that were not selected, the smallest importance that would have been found with
        probability 0.8; NaN where the power of the test is not known), `at_least` (with `confirm`: how many of this
        column and the more important ones are related to the target, at least).
        """
        check_is_fitted(self)
        return self._results_of(self.trace_, self.support_)

    def _results_of(self, trace: Trace, support: NDArray[np.bool_]) -> Any:
        return results_frame(
            trace,
            support=support,
            pvalues=self.pvalues_,
            importances=self.importances_,
            level=self.alpha if isinstance(self.independence_, PredictiveTest) else None,
            backend=self._backend,
            further=self._further_results(),
        )

    def _further_results(self) -> dict[str, list[Any]]:
        """Return columns of the results that only this search has."""
        return {}

    def _keep_from_failure(self, draft: Self, error: BaseException) -> None:
        """Keep the answers that a search had before it failed, so that fitting again continues from them."""
        memory = draft._memory
        if memory is None or memory is self._memory or not memory.n_answers:
            return
        self._memory = memory
        if memory.circumstances.is_repeatable(self.random_state):
            error.add_note(
                f"The {memory.n_answers} answers that the search had so far are kept: fit again with the same data and "
                "parameters to continue from them."
            )

    def __getstate__(self) -> dict[str, Any]:
        # The answers may be large, and are useful only together with the data.
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_memory"}

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        # A missing value in a text column is a category like any other, so `transform` must accept it.
        tags.input_tags.allow_nan = self._has_missing_labels
        return tags


def _require_predictive_test(test: IndependenceTest, on_error: OnError, *, is_file: bool) -> None:
    """Raise if only a predictive test can be used, and this one is not."""
    if isinstance(test, PredictiveTest):
        return
    if is_file:
        raise InvalidInputError(
            f"X is a path, and {type(test).__name__} looks at all columns at once. Use a predictive test, such as "
            "PPI or CrossFitPPI, or read the columns into memory."
        )
    if on_error == "drop":
        raise InvalidInputError(
            f"on_error='drop' would have no effect: {type(test).__name__} fits no estimator that could fail on a "
            "column. Leave it out."
        )
