"""The base class of independence tests: parameters only, joined with data by `bind`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar

from sklearn.base import BaseEstimator

from ppfs._conventions import RandomStateLike
from ppfs._data import (
    BY_TASK,
    CategoricalFeatures,
    ColumnsLike,
    SaidTask,
    Table,
    agreed_task,
    read_table,
    warn_if_ambiguous,
)
from ppfs.exceptions import InvalidInputError
from ppfs.independence._answers import IndependenceResult
from ppfs.independence._bound import Binding, BoundTest, Listener, OnError
from ppfs.independence._known_answers import KnownAnswers


class IndependenceTest(ABC, BaseEstimator):
    """A test's parameters: clonable, comparable, usable in a grid search.

    `bind` joins them with data.

    Attributes
    ----------
    is_random : bool
        Whether answers depend on `random_state`.

    reads_task : bool
        Whether answers depend on the task: labels or numbers.

    reads_response : bool
        Whether ordered classes are read as numbers.
    """

    is_random: bool = True
    reads_task: bool = True
    reads_response: bool = False

    @property
    def is_of_package(self) -> bool:
        """Whether the package itself models the target, and not an estimator of the caller's."""
        return True

    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    def bind(
        self,
        table: Table,
        *,
        fold: int = 0,
        random_state: RandomStateLike = None,
        n_jobs: int | None = None,
        on_error: OnError = "raise",
        known: KnownAnswers | None = None,
        listener: Listener | None = None,
    ) -> BoundTest:
        """Return the test of these data.

        Parameters
        ----------
        table : Table
            Columns and target.

        fold, random_state, n_jobs, on_error, known, listener
            See `Binding`.
        """
        if self.is_of_package and (self.reads_response or table.task == "regression"):
            table = table.with_response()
        return self._joined(table, Binding(fold, random_state, n_jobs, on_error, known, listener))

    def bind_beside(self, bound: BoundTest, table: Table) -> BoundTest:
        """Return the test of a table with the rows of another bound test; their answers are kept together.

        See `BoundTest.binding_for`.
        """
        return self._joined(table, bound.binding_for(table))

    def _joined(self, table: Table, binding: Binding) -> BoundTest:
        bound = self._bind(table, binding)
        if table.features.overlap:
            bound.bind_beside = partial(self.bind_beside, bound)
        return bound

    @abstractmethod
    def _bind(self, table: Table, binding: Binding) -> BoundTest:
        """Return the test of these data."""

    def declared_task(self) -> SaidTask | None:
        """Return the task that the parameters imply, or None when the target decides."""
        return None

    def evaluate(
        self,
        X: Any,
        y: Any,
        x: int | str,
        given: ColumnsLike = (),
        *,
        feature_groups: Mapping[str, ColumnsLike] | None = None,
        categorical_features: CategoricalFeatures = "auto",
        sample_weight: Any = None,
        groups: Any = None,
        time: Any = None,
        task: SaidTask = "auto",
    ) -> IndependenceResult:
        """Answer one question about arrays or data frames.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The columns.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The target.

        x : int or str
            The column in question, by number or name.

        given : int, str or collection of them, default=()
            The columns to condition on.

        feature_groups : mapping of str to collection of int or str, default=None
            Columns that form one feature; `x` and `given` then name groups, or members of them.

        categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
            Which columns are categorical. "auto": text, categories, and integers with at most 20 distinct values,
            which models still see as numbers. "from_dtype": text and categories only. A list of names or
            numbers, or a mask, names all of them, and models then see categories. None: no column.

        sample_weight : array-like of shape (n_rows,), default=None
            The weight of each row. A row of weight 0 is left out.

        groups : array-like of shape (n_rows,), default=None
            The group of each row, for example the patient: rows of one group stay together in every split.

        time : array-like of shape (n_rows,), str or RowsInTime, default=None
            The order of the rows in time: values that sort them, the name of a column of X, or "index".

        task : {"auto", "classification", "regression", "count", "positive", "ordinal", "survival"}, default="auto"
            Whether y holds labels or numbers. "auto" follows the test's estimator, or else the target: text,
            booleans and at most 20 distinct integers are labels.

        Returns
        -------
        IndependenceResult
        """
        self._validate_params()
        table = read_table(
            X,
            y,
            task=agreed_task(self.declared_task(), task, "evaluate"),
            owner=self,
            feature_groups=feature_groups,
            categorical_features=categorical_features,
            sample_weight=sample_weight,
            groups=groups,
            time=time,
        )
        if self.reads_task:
            warn_if_ambiguous(table, BY_TASK)
        candidate = table.features.index(x)
        conditioning = table.features.numbers(given, "given")
        if candidate in conditioning:
            raise InvalidInputError(
                f"Column {table.names[candidate]!r} is both x and in given: it would be tested given itself. "
                "Leave it out of given."
            )
        return self.bind(table).query(candidate, table.target, conditioning)
