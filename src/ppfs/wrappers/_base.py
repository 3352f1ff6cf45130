"""The base class of wrappers: reading the data, the model, and scikit-learn's contract."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ppfs._conventions import N_JOBS_RULE, Interval, IsModel, RandomStateLike, StrOptions, root_entropy
from ppfs._data import (
    BY_ESTIMATOR,
    CATEGORICAL_FEATURES_CONSTRAINT,
    COLUMNS_RULE,
    CallersColumns,
    CategoricalFeatures,
    ColumnsLike,
    FitData,
    Table,
    check_columns,
    require_two_classes,
)
from ppfs._estimator import Selector
from ppfs._fitting import (
    CrossValidated,
    Impute,
    estimator_for,
    for_labels,
    input_tags,
    is_equivariant,
    require_suits,
    table_for_float32,
    target_for_float32,
    task_of_estimator,
)
from ppfs._printable import listed
from ppfs._trace import Outcome, Trace, feature_results, results_table, summary_of
from ppfs.exceptions import InvalidInputError

_NEEDED, _NOT_NEEDED = "the model predicted better with it", "the model predicted no better with it"

WRAPPER_CONSTRAINTS: dict[str, Any] = {
    "estimator": [IsModel(), None],
    "cv": [Interval(Integral, 2, None, closed="left")],
    "scoring": [StrOptions(set(get_scorer_names())), callable, None],
    "impute": [StrOptions({"median"}), None],
    "always_keep": COLUMNS_RULE,
    "min_features": [Interval(Integral, 0, None, closed="left")],
    "feature_groups": [Mapping, None],
    "categorical_features": CATEGORICAL_FEATURES_CONSTRAINT,
    "random_state": ["random_state", np.random.Generator],
    "n_jobs": N_JOBS_RULE,
}


@dataclass(kw_only=True, eq=False, repr=False)
class BaseWrapper(Selector):
    """A selector that selects by how well a model predicts.

    A subclass has the parameters of `WRAPPER_CONSTRAINTS`, and implements `_select`.
    """

    estimator: Any = field(default=None, kw_only=False)
    cv: int = 5
    scoring: str | Callable[..., float] | None = None
    impute: Impute = None
    always_keep: ColumnsLike = ()
    min_features: int = 0
    feature_groups: Mapping[str, ColumnsLike] | None = None
    categorical_features: CategoricalFeatures = "auto"
    random_state: RandomStateLike = None
    n_jobs: int | None = None

    @abstractmethod
    def _select(
        self, table: Table, estimator: Any, entropy: int, callers: CallersColumns, kept: list[int]
    ) -> list[int]:
        """Return at least `min_features` features to keep, including those of `kept`.

        Fitted attributes use numbers of the caller's columns.
        """

    def _fit(self, data: FitData) -> None:
        task = task_of_estimator(self.estimator) or "auto"
        table = self._read_table(data, task=task, decided_by=BY_ESTIMATOR)
        if table.y.dtype.names is not None:
            raise InvalidInputError(
                f"y is a structured array with the fields {listed(table.y.dtype.names)}, and {type(self).__name__} has "
                "no score for it. Pass one field of it, or use PPFS with a function as loss."
            )
        require_two_classes(table)
        estimator = estimator_for(for_labels(self.estimator, table), table.task)
        require_suits(estimator, table, self.impute)
        summary = summary_of(table)
        table = self._in_reach(table, estimator)
        callers = CallersColumns.of(table)
        kept = sorted(set(table.features.numbers(self.always_keep, "always_keep")))
        if self.min_features > table.n_features:
            raise InvalidInputError(
                f"min_features={self.min_features}, but there are only {table.n_features} columns or groups. "
                "Lower min_features."
            )
        selected = self._select(table, estimator, root_entropy(self.random_state), callers, kept)
        self.blanket_ = np.array(callers.numbers(selected), dtype=np.intp)
        self._set_columns(self.blanket_, table)
        self.trace_ = self._trace(table, selected, kept, type(estimator).__name__)
        self.trace_.data = summary
        self.trace_.name_target(data.y)
        self.warnings_ = check_columns(table)

    def _cross_validated(self, table: Table, estimator: Any, entropy: int) -> CrossValidated:
        """Return the cross-validated scores of sets of columns, as the parameters `cv` and `scoring` define them."""
        return CrossValidated(
            table,
            estimator,
            cv=self.cv,
            scoring=self.scoring,
            entropy=entropy,
            impute=self.impute,
            n_jobs=self.n_jobs,
        )

    def _trace(self, table: Table, selected: list[int], kept: list[int], model: str) -> Trace:
        """Return a trace without questions, because wrappers ask none."""
        trace = Trace(table.names, table.column_names, table.columns if table.has_feature_groups else None)
        trace.method = f"{type(self).__name__} selected columns by how well {model} predicts with them."
        asked = [x for x in range(table.n_features) if x not in kept]
        reasons = {x: _NEEDED if x in selected else _NOT_NEEDED for x in asked}
        trace.conclude(Outcome(tuple(selected), always_keep=tuple(kept), reasons=reasons))
        return trace

    @property
    def results_(self) -> Any:
        """The result for every column: a data frame of the caller's library, one row per column of X.

        The columns are those of every selector's `results_`; `column`, `selected` and `reason` are filled, and for some
        wrappers `importance` and `pvalue`.
        """
        check_is_fitted(self)
        reasons = feature_results(self.trace_).reasons
        values: dict[str, list[Any]] = {
            "column": list(self._column_names),
            "selected": self.support_.tolist(),
            "reason": [reasons[feature] for feature in self.trace_.features_of_columns()],
        }
        for name, attribute in (("importance", "importances_"), ("pvalue", "pvalues_")):
            if hasattr(self, attribute):
                values[name] = list(map(float, getattr(self, attribute)))
        return results_table(values, self._backend)

    def _in_reach(self, table: Table, estimator: Any) -> Table:
        """Return the table in the form that the model reads; its own score does not depend on the target's unit."""
        has_own_score = self.scoring is None
        if table.task == "regression" and table.y.ndim == 1 and has_own_score and is_equivariant(estimator):
            table = table.with_target(target_for_float32(table.y)[0])
        return table_for_float32(table, estimator)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        model = estimator_for(None, "classification") if self.estimator is None else self.estimator
        accepts = input_tags(model)
        tags.target_tags.required = True
        tags.input_tags.sparse = accepts.sparse
        tags.input_tags.allow_nan = accepts.allow_nan or self.impute is not None or self._has_missing_labels
        return tags
