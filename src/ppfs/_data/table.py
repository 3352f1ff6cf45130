"""The data of a search: features, a target and the task."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import AnyBlock, Block, Matrix
from ppfs._data.columns import Columns
from ppfs._data.facts import ColumnFacts
from ppfs._data.features import Features
from ppfs._data.kinds import ColumnKinds
from ppfs._data.ordering import ContentOrder
from ppfs._data.storage import DenseColumns, storage_of
from ppfs._data.target import Target
from ppfs._data.target_kinds import TargetKind
from ppfs._data.target_task import Task, TaskChoice
from ppfs._data.time_order import TimeOrder
from ppfs.exceptions import InvalidInputError

# Changes the numbers of a matrix, given the number of categories of each column, 0 for numbers.
Lens: TypeAlias = Callable[[Matrix, NDArray[np.intp]], Matrix]


@dataclass(frozen=True)
class CallersRows:
    """The caller's rows that are in a table, their weights and their groups.

    Attributes
    ----------
    n_callers : int
        The number of rows that the caller passed.

    kept : ndarray of shape (n_rows,), default=None
        The positions of the rows among the caller's. None: all of them.

    weights : ndarray of shape (n_rows,), default=None
        The weight of each row. None: all are equal.

    groups : ndarray of shape (n_rows,), default=None
        The number of the group that each row belongs to; with `time`, of its block of neighboring rows.

    time : TimeOrder, default=None
        The order of the rows in time.
    """

    n_callers: int
    kept: NDArray[np.intp] | None = None
    weights: NDArray[np.float64] | None = None
    groups: NDArray[np.intp] | None = None
    time: TimeOrder | None = None

    def of_rows(self, index: NDArray[np.intp]) -> CallersRows:
        """Return some of the rows."""
        return CallersRows(
            self.n_callers,
            index if self.kept is None else self.kept[index],
            None if self.weights is None else self.weights[index],
            None if self.groups is None else self.groups[index],
            None if self.time is None else self.time.of_rows(index),
        )


class Table:
    """Features and a target, addressed by number.

    Features are 0 to ``n_features - 1`` and the target is number ``n_features``, so that a question may
    be asked about any variable, the target included. A feature is a column, or a group of columns that
    are kept or dropped together.

    Parameters
    ----------
    features : Features, default=None
        None: every column is a feature.

    rows : CallersRows, default=None
        None: all of the caller's rows, without weights and groups.

    lens : callable, default=None
        Applied to every matrix that `take` returns, so that models get other numbers than the caller passed.

    order : ContentOrder, default=None
        The order of the variables by content, if it is known in part.
    """

    def __init__(
        self,
        columns: Columns,
        target: Target,
        features: Features | None = None,
        rows: CallersRows | None = None,
        *,
        lens: Lens | None = None,
        order: ContentOrder | None = None,
    ) -> None:
        self._columns = columns
        self._target = target
        self.features = Features(columns.names, columns.names) if features is None else features
        self._lens = lens
        self.order = ContentOrder(columns, self.features, target) if order is None else order
        self.storage = columns.storage
        self.X = columns.storage.matrix
        self.n_rows, self.is_sparse = int(self.storage.shape[0]), self.storage.is_sparse
        self.n_levels, self.categories, self.kinds = columns.n_levels, columns.categories, columns.kinds
        self.column_names, self.has_names, self.frame = columns.names, columns.has_names, columns.frame
        self.y, self.task, self.task_choice = target.values, target.task, target.choice
        self.target_kind, self.labels = target.kind, target.labels
        self.names, self.target = self.features.names, self.features.target
        self.n_features = self.target
        self._rows = CallersRows(self.n_rows) if rows is None else rows
        self.weights, self.groups, self.time = self._rows.weights, self._rows.groups, self._rows.time
        self.kept_rows, self.n_callers_rows = self._rows.kept, self._rows.n_callers

    @classmethod
    def of(
        cls,
        X: Matrix,
        y: NDArray[Any],
        names: Sequence[str],
        task: Task,
        *,
        column_names: Sequence[str] | None = None,
        columns: Sequence[tuple[int, ...]] | None = None,
        n_levels: NDArray[np.intp] | None = None,
        categories: Mapping[int, tuple[str, ...]] | None = None,
        rows: CallersRows | None = None,
    ) -> Table:
        """Return the table of a matrix in memory.

        Parameters
        ----------
        X : ndarray or csc_array of shape (n_rows, n_columns)

        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)

        names : sequence of str
            One name per feature.

        task : {"classification", "regression"}

        column_names : sequence of str, default=None
            None: the names of the features, or numbered ones if features are groups of columns.

        columns : sequence of tuple of int, default=None
            The columns of each feature. None: every column is a feature.

        n_levels : ndarray of shape (n_columns,), default=None
            The number of categories of each column, 0 for numbers. None: all are numbers.

        categories : mapping of int to tuple of str, default=None
            The labels of the categories.
        """
        if column_names is None:
            column_names = names if len(names) == X.shape[1] else [f"x{i}" for i in range(X.shape[1])]
        n_levels = np.zeros(X.shape[1], dtype=np.intp) if n_levels is None else n_levels
        described = Columns(
            storage_of(X),
            tuple(column_names),
            n_levels,
            ColumnKinds(X, n_levels, from_values=True),
            dict(categories or {}),
        )
        features = Features.of(names, described.names, columns)
        return cls(described, Target(y, TaskChoice(task, "the parameters say so")), features, rows)

    @property
    def is_in_memory(self) -> bool:
        """Whether all columns are in memory, as `X`."""
        return self.storage.is_in_memory

    @property
    def has_feature_groups(self) -> bool:
        """Whether some feature has more than one column."""
        return self.features.groups is not None

    @cached_property
    def is_mixed(self) -> bool:
        """Whether some column holds categories."""
        return bool(self.n_levels.any())

    @cached_property
    def facts(self) -> ColumnFacts:
        """Properties of every column, found in one pass."""
        facts = self.storage.facts
        # A lens brings all numbers into the range of 32 bits.
        return facts if self._lens is None else replace(facts, is_too_large=np.zeros_like(facts.is_too_large))

    @property
    def has_missing(self) -> bool:
        """Whether some number is missing."""
        return bool(self.facts.has_missing.any())

    @property
    def has_missing_labels(self) -> bool:
        """Whether some column of categories has missing values, which are a category of their own."""
        return self._columns.have_missing_labels

    @property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each feature."""
        return self.features.columns

    @property
    def classes(self) -> NDArray[Any]:
        """The target's distinct values, sorted."""
        return self._target.classes

    @property
    def known_labels(self) -> NDArray[Any]:
        """The labels of this table and of the one that it is a part of; empty for regression."""
        return self._target.known_labels

    @property
    def codes(self) -> NDArray[np.float64]:
        """The target as numbers: itself, or the position of each label among the classes.

        Shape (n_rows,); or (n_rows, k) for a target of k columns, or of k fields.
        """
        return self._target.codes

    @cached_property
    def constant_mask(self) -> NDArray[np.bool_]:
        """Which features hold one value only, shape (n_features,)."""
        mask = self.facts.is_constant
        if not self.has_feature_groups:
            return mask
        return np.array([mask[list(group)].all() for group in self.columns])

    def values(self, variable: int) -> NDArray[Any]:
        """Return one variable densely; `variable` may be the target.

        Shape (n_rows,), or (n_rows, width) for a feature of several columns.
        """
        if variable == self.target:
            return self.y
        columns = self.features.columns_of([variable])
        if len(columns) == 1:
            return self.storage.column(columns[0])
        taken = self.storage.take(columns)
        return np.asarray(taken.toarray() if sp.issparse(taken) else taken)

    def task_of(self, variable: int) -> Task:
        """Return how `variable` would be predicted if it were the target."""
        if variable == self.target:
            return self.task
        columns = self.features.columns_of([variable])
        if len(columns) > 1:
            raise InvalidInputError(
                f"The group {self.names[variable]!r} has {len(columns)} columns, so it cannot be a target or be called "
                "categorical or continuous. Use a search and a test that ask about the target only, such as PPFS, "
                "or leave the group out of feature_groups."
            )
        return "classification" if self.kinds.categorical_mask[columns[0]] else "regression"

    @property
    def has_single_columns_only(self) -> bool:
        """Whether every variable is one column."""
        return not self.has_feature_groups and self.codes.ndim == 1

    def is_single(self, variable: int) -> bool:
        """Return whether a variable is one column."""
        return self._width(variable) == 1

    def take(self, variables: Sequence[int]) -> Matrix:
        """Return some variables as one matrix, row by row, as models read them.

        The target may be among them, as numbers. A feature of several columns brings all of them;
        `places` says where each variable is.
        """
        if self.target in variables:
            parts = [self.codes if v == self.target else self.values(v) for v in variables]
            taken: Matrix = np.column_stack(parts)
        else:
            chosen = self.storage.take(self.features.columns_of(variables))
            taken = chosen.tocsr() if sp.issparse(chosen) else np.ascontiguousarray(chosen)
        return taken if self._lens is None else self._lens(taken, self.n_levels_of(variables))

    def block(self, variables: Sequence[int], *, as_view: bool = False) -> AnyBlock:
        """Return some variables of one column each, for a task of the growth phase; the target may be among them.

        With `as_view`, neighboring columns of an array are a view of it, whose memory layout is the caller's.
        """
        n_levels, names = self.n_levels_of(variables), self.names_of(variables)
        if self.target in variables:
            return Block(self.take(variables), n_levels, names)
        columns = self.features.columns_of(variables)
        if as_view and isinstance(self.storage, DenseColumns):
            return self.storage.view(columns, n_levels, names)
        return self.storage.block(columns, n_levels, names)

    def places(self, variables: Sequence[int]) -> list[slice]:
        """Return where the columns of each variable are in ``take(variables)``."""
        if self.has_single_columns_only:
            return [slice(start, start + 1) for start in range(len(variables))]
        stops = np.cumsum([self._width(variable) for variable in variables]).tolist()
        return [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    def n_levels_of(self, variables: Sequence[int]) -> NDArray[np.intp]:
        """Return the number of categories of each column of ``take(variables)``, 0 for numbers."""
        n_classes = self.classes.size if self.target in variables and self.task == "classification" else 0
        return self._by_column(self.n_levels, n_classes, variables)

    def categorical_mask(self, variables: Sequence[int]) -> NDArray[np.bool_]:
        """Return which columns of ``take(variables)`` are categorical, by their type or by their values."""
        return self._by_column(self.kinds.categorical_mask, self.task == "classification", variables)

    def names_of(self, variables: Sequence[int]) -> tuple[str, ...]:
        """Return the names of some variables; the target's is "the target"."""
        if self.target not in variables:
            return tuple(map(self.names.__getitem__, variables))
        return tuple("the target" if v == self.target else self.names[v] for v in variables)

    def column_names_of(self, variables: Sequence[int]) -> tuple[str, ...]:
        """Return the name of each column of ``take(variables)``; those of the target are numbered."""
        names: list[str] = []
        for variable in variables:
            if variable == self.target:
                names += [f"(target {i})" for i in range(self._target.width)]
            else:
                names += [self.column_names[column] for column in self.columns[variable]]
        return tuple(names)

    def rows(self, index: NDArray[np.intp]) -> Table:
        """Return the table of some of the rows.

        Features, kinds, codes and numbers of categories are those of the whole table.
        """
        return Table(
            self._columns.of_rows(index),
            self._target.of_rows(index),
            self.features,
            self._rows.of_rows(index),
        )

    def seen_through(self, lens: Lens) -> Table:
        """Return a table whose `take` applies a lens to the matrices that models see."""
        return Table(self._columns, self._target, self.features, self._rows, lens=lens, order=self.order)

    def with_target(self, y: NDArray[Any]) -> Table:
        """Return the table with another target of the same task."""
        target = replace(self._target, values=y)
        order = self.order.for_target(target)
        return Table(self._columns, target, self.features, self._rows, lens=self._lens, order=order)

    def with_response(self) -> Table:
        """Return the table with the target that models of this package predict."""
        if self.target_kind is None:
            return self
        target = self._target.response
        order = self.order.for_target(target)
        return Table(self._columns, target, self.features, self._rows, lens=self._lens, order=order)

    @property
    def origin(self) -> tuple[TargetKind, NDArray[Any]] | None:
        """The kind and the values of the target that a response was made from; None where it was not."""
        origin = self._target.origin
        return None if origin is None or origin.kind is None else (origin.kind, origin.values)

    @property
    def response_given(self) -> Callable[[NDArray[np.float64]], NDArray[np.float64]] | None:
        """What computes the target's response beside what a model of some columns expects; None for most targets."""
        return self._target.response_given(self.weights)

    @property
    def task_name(self) -> str:
        """The task in the caller's words."""
        if self.labels is not None:
            return "classification"
        return self.task if self.target_kind is None else self.target_kind.name

    def regrouped(self, groups: Sequence[Sequence[int]]) -> Table:
        """Return the table with features that are several of these together; every feature is in one group."""
        names = [self.names[group[0]] for group in groups]
        columns = [tuple(self.features.columns_of(list(group))) for group in groups]
        return self.with_features(Features.of(names, self.column_names, columns))

    def with_features(self, features: Features) -> Table:
        """Return the table with other features of the same columns."""
        return Table(self._columns, self._target, features, self._rows, lens=self._lens)

    def _width(self, variable: int) -> int:
        """Return the number of columns that a variable has in a matrix."""
        return self._target.width if variable == self.target else self.features.width(variable)

    def _by_column(self, of_columns: NDArray[Any], of_target: Any, variables: Sequence[int]) -> NDArray[Any]:
        """Return a property of each column of ``take(variables)``."""
        if self.target not in variables:
            return np.asarray(of_columns[self.features.columns_of(variables)])
        parts = [
            np.full(self._target.width, of_target, dtype=of_columns.dtype)
            if variable == self.target
            else of_columns[self.features.columns_of([variable])]
            for variable in variables
        ]
        return np.concatenate(parts)
