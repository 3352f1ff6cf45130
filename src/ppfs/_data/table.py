"""What is in the data: features, a target and the task."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from copy import copy
from dataclasses import replace
from functools import cached_property
from hashlib import blake2b
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import Block, Matrix
from ppfs._data.facts import ColumnFacts, facts_of, in_floats, is_compact
from ppfs._data.frames import CallersFrame
from ppfs._data.kinds import ColumnKinds
from ppfs._data.labels import coded_labels
from ppfs._data.naming import ColumnsLike, column_index, listed, one_or_more
from ppfs._data.sources import FileBlock, LazyColumns, LazyKinds
from ppfs._data.target_task import Task as Task
from ppfs._data.target_task import TaskChoice
from ppfs.exceptions import InvalidInputError

# What a gap in a column of categories is called.
MISSING_LABEL = "(missing)"


# Makes other numbers of a matrix, given the number of categories of each column, 0 for a quantity.
Lens: TypeAlias = Callable[[Matrix, NDArray[np.intp]], Matrix]


class Table:
    """Features and a target, addressed by number.

    Features are 0 to ``n_features - 1`` and the target is number ``n_features``, so that a question may
    be asked about any variable, the target included. A feature is a column, or a group of columns that
    are kept or dropped together.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n_rows, n_columns)
        The columns, as floats or as whole numbers of fewer bytes, which become floats when they are read; categories
        as codes.

    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The target: labels of any kind, or numbers; or a structured array of numbers.

    names : sequence of str
        One name a feature.

    task : {"classification", "regression"}
        How the target is to be predicted.

    columns : sequence of tuple of int, default=None
        The columns of each feature. None: every column is a feature.

    column_names : sequence of str, default=None
        One name a column. None: the names of the features, or numbered ones where features are groups of columns.

    n_levels : ndarray of shape (n_columns,), default=None
        The number of categories of each column, 0 for a quantity. None: all are quantities.

    categories : mapping of int to tuple of str, default=None
        What the categories of a column are called, in the order of their codes.

    kinds : ColumnKinds, default=None
        Which columns are categorical. None: those with `n_levels`, and those whose values look like it.

    weights : ndarray of shape (n_rows,), default=None
        How much each row counts. None: all alike.

    groups : ndarray of shape (n_rows,), default=None
        The number of the group that each row belongs to.

    kept_rows : ndarray of shape (n_rows,), default=None
        Which of the caller's rows these are. None: all of them.

    n_callers_rows : int, default=None
        How many rows the caller passed. None: as many as there are here.

    known_labels : ndarray, default=None
        The labels that the target may have. None: those it has.

    frame : CallersFrame, default=None
        Where the columns came from, if it was a data frame.

    task_choice : TaskChoice, default=None
        Why the target is read as it is. None: because `task` says so.
    """

    def __init__(
        self,
        X: Matrix,
        y: NDArray[Any],
        names: Sequence[str],
        task: Task,
        *,
        columns: Sequence[tuple[int, ...]] | None = None,
        column_names: Sequence[str] | None = None,
        n_levels: NDArray[np.intp] | None = None,
        categories: Mapping[int, tuple[str, ...]] | None = None,
        kinds: ColumnKinds | None = None,
        weights: NDArray[np.float64] | None = None,
        groups: NDArray[np.intp] | None = None,
        kept_rows: NDArray[np.intp] | None = None,
        n_callers_rows: int | None = None,
        known_labels: NDArray[Any] | None = None,
        frame: CallersFrame | None = None,
        task_choice: TaskChoice | None = None,
    ) -> None:
        self.X = X
        self.y = y
        self.names = tuple(names)
        self.task = task
        self.n_levels = np.zeros(X.shape[1], dtype=np.intp) if n_levels is None else n_levels
        self.categories = dict(categories or {})
        self.kinds = ColumnKinds(X, self.n_levels, from_values=True) if kinds is None else kinds
        self.weights = weights
        self.groups = groups
        self.kept_rows = kept_rows
        self.n_callers_rows = int(X.shape[0]) if n_callers_rows is None else n_callers_rows
        self._known_labels = known_labels
        self.frame = frame
        self.task_choice = TaskChoice(task, "the parameters say so") if task_choice is None else task_choice
        # None when feature j is column j, for all j.
        has_groups = columns is not None and any(len(group) > 1 for group in columns)
        self._feature_groups = tuple(columns) if columns is not None and has_groups else None
        if column_names is None:
            column_names = [f"x{i}" for i in range(X.shape[1])] if has_groups else self.names
        self.column_names = tuple(column_names)
        self._lens: Lens | None = None
        self._keys: dict[int, bytes] = {}
        self._alike: dict[bytes, list[int]] = {}
        self._compared: set[int] = set()
        self._last_order: dict[int, None] = {}

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features, the target not counted."""
        return int(self.X.shape[1]) if self._feature_groups is None else len(self._feature_groups)

    @property
    def target(self) -> int:
        """The number under which the target is addressed."""
        return self.n_features

    @property
    def is_sparse(self) -> bool:
        """Whether the columns are stored sparsely."""
        return self.X.is_sparse if isinstance(self.X, LazyColumns) else bool(sp.issparse(self.X))

    @property
    def bytes_per_column(self) -> int:
        """How much a column takes in memory when it is read, on average."""
        if isinstance(self.X, LazyColumns):
            return self.X.bytes_per_column
        if not self.is_sparse and is_compact(self.X.dtype):
            return 8 * self.n_rows
        parts = (self.X.data, self.X.indices) if self.is_sparse else (self.X,)
        return 1 + sum(int(part.nbytes) for part in parts) // int(self.X.shape[1])

    @property
    def has_feature_groups(self) -> bool:
        """Whether some feature has more than one column."""
        return self._feature_groups is not None

    @cached_property
    def is_mixed(self) -> bool:
        """Whether some column holds categories."""
        return bool(self.n_levels.any())

    @cached_property
    def facts(self) -> ColumnFacts:
        """What one look at every column tells."""
        return self.X.facts if isinstance(self.X, LazyColumns) else facts_of(self.X)

    @property
    def has_missing(self) -> bool:
        """Whether some number is missing."""
        return bool(self.facts.has_missing.any())

    @property
    def has_gaps_in_text(self) -> bool:
        """Whether some column of categories has gaps, which are a category of their own."""
        return any(labels[-1] == MISSING_LABEL for labels in self.categories.values())

    @cached_property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each feature."""
        if self._feature_groups is not None:
            return self._feature_groups
        return tuple((column,) for column in range(self.n_features))

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The target's distinct values, sorted."""
        if self.task == "classification" and self.y.dtype.kind in "US":
            return self._coded_text[0]
        return np.unique(self.y if self.task == "classification" else self.codes)

    @property
    def known_labels(self) -> NDArray[Any]:
        """The labels of this table and of the one that it is a part of; empty for a quantity."""
        if self.task == "regression":
            return np.empty(0)
        return self.classes if self._known_labels is None else self._known_labels

    @cached_property
    def codes(self) -> NDArray[np.float64]:
        """The target as numbers: itself, or the position of each label among the classes.

        Shape (n_rows,); or (n_rows, k) for a target of k columns, or of k fields.
        """
        if self.y.dtype.names is not None:
            return np.column_stack([self.y[name].astype(np.float64) for name in self.y.dtype.names])
        if self.task == "regression":
            return np.asarray(self.y, dtype=np.float64)
        if self.y.dtype.kind in "US":
            return self._coded_text[1]
        return np.searchsorted(self.classes, self.y).astype(np.float64)

    @cached_property
    def _coded_text(self) -> tuple[NDArray[Any], NDArray[np.float64]]:
        return coded_labels(self.y)

    @cached_property
    def constant_mask(self) -> NDArray[np.bool_]:
        """Which features hold one value only, shape (n_features,)."""
        mask = self.facts.is_constant
        if self._feature_groups is None:
            return mask
        return np.array([mask[list(group)].all() for group in self._feature_groups])

    def values(self, variable: int) -> NDArray[Any]:
        """Return one variable densely; `variable` may be the target.

        Shape (n_rows,), or (n_rows, width) for a feature of several columns.
        """
        if variable == self.target:
            return self.y
        group = (variable,) if self._feature_groups is None else self._feature_groups[variable]
        return dense_column(self.X, group[0]) if len(group) == 1 else _dense(self.X[:, list(group)])

    def task_of(self, variable: int) -> Task:
        """Tell how `variable` would be predicted if it were the target."""
        if variable == self.target:
            return self.task
        group = (variable,) if self._feature_groups is None else self._feature_groups[variable]
        if len(group) > 1:
            raise InvalidInputError(
                f"The group {self.names[variable]!r} has {len(group)} columns, so it cannot be a target or be called "
                "categorical or continuous. Use a search and a test that ask about the target only, such as PPFS, "
                "or leave the group out of feature_groups."
            )
        return "classification" if self.kinds.categorical_mask[group[0]] else "regression"

    @property
    def has_single_columns_only(self) -> bool:
        """Whether every variable is one column."""
        return self._feature_groups is None and self.codes.ndim == 1

    def is_single(self, variable: int) -> bool:
        """Tell whether a variable is one column."""
        return self._width(variable) == 1

    def feature_index(self, column: int | str) -> int:
        """Return the number of a feature, called by its name, or by the name or number of one of its columns."""
        if self._feature_groups is None:
            return column_index(column, self.names)
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        if isinstance(column, str) and column not in self.column_names:
            raise InvalidInputError(
                f"There is no column or group {column!r}. The features are {listed(self.names)}."
            )
        number = column_index(column, self.column_names)
        return next(feature for feature, group in enumerate(self._feature_groups) if number in group)

    def feature_numbers(self, columns: ColumnsLike, parameter: str) -> list[int]:
        """Return the numbers of the features that the caller listed under some parameter's name."""
        wanted = one_or_more(columns, parameter)
        try:
            return [self.feature_index(column) for column in wanted]
        except InvalidInputError as error:
            raise InvalidInputError(f"{parameter}: {error}") from error

    def take(self, variables: Sequence[int]) -> Matrix:
        """Return some variables as one matrix, rows first, as models like to read them.

        The target may be among them, as numbers. A feature of several columns brings all of them;
        `places` tells where each variable stands.
        """
        if self.target in variables:
            parts = [self.codes if v == self.target else self.values(v) for v in variables]
            taken: Matrix = np.column_stack(parts)
        else:
            chosen = in_floats(self.X[:, self._columns_of(variables)])
            taken = chosen.tocsr() if sp.issparse(chosen) else np.ascontiguousarray(chosen)
        return taken if self._lens is None else self._lens(taken, self.n_levels_of(variables))

    def block(self, variables: Sequence[int]) -> Block | FileBlock:
        """Return some variables of one column each, for a task of the growth phase; the target may be among them."""
        has_target = self.target in variables
        names = self.names_of(variables)
        if isinstance(self.X, LazyColumns) and not has_target:
            return self.X.block(variables, names)
        matrix = self.take(variables) if has_target else in_floats(self.X[:, self._columns_of(variables)])
        return Block(matrix, self.n_levels_of(variables), names)

    def places(self, variables: Sequence[int]) -> list[slice]:
        """Tell where the columns of each variable stand in ``take(variables)``."""
        if self._feature_groups is None and self.codes.ndim == 1:
            return [slice(start, start + 1) for start in range(len(variables))]
        stops = np.cumsum([self._width(variable) for variable in variables]).tolist()
        return [slice(start, stop) for start, stop in zip([0, *stops], stops, strict=False)]

    def n_levels_of(self, variables: Sequence[int]) -> NDArray[np.intp]:
        """Return the number of categories of each column of ``take(variables)``, 0 for a quantity."""
        if self.target not in variables:
            return np.asarray(self.n_levels[self._columns_of(variables)])
        n_classes = self.classes.size if self.task == "classification" else 0
        parts = [
            np.full(self._width(v), n_classes, dtype=np.intp) if v == self.target else self.n_levels_of([v])
            for v in variables
        ]
        return np.concatenate(parts)

    def categorical_mask(self, variables: Sequence[int]) -> NDArray[np.bool_]:
        """Tell for each column of ``take(variables)`` whether it is categorical, by its type or by its values."""
        mask = self.kinds.categorical_mask
        target = self.target
        if target not in variables:
            return np.asarray(mask[self._columns_of(variables)])
        parts = [
            np.full(self._width(v), self.task == "classification")
            if v == target
            else mask[self._columns_of([v])]
            for v in variables
        ]
        return np.concatenate(parts)

    def names_of(self, variables: Sequence[int]) -> tuple[str, ...]:
        """Return the names of some variables; the target's is "the target"."""
        target = self.target
        return tuple("the target" if v == target else self.names[v] for v in variables)

    def column_names_of(self, variables: Sequence[int]) -> tuple[str, ...]:
        """Return the name of each column of ``take(variables)``; those of the target are numbered."""
        names: list[str] = []
        target = self.target
        for variable in variables:
            if variable == target:
                names += [f"(target {i})" for i in range(self._width(variable))]
            else:
                names += [self.column_names[column] for column in self.columns[variable]]
        return tuple(names)

    def rows(self, index: NDArray[np.intp]) -> Table:
        """Return the table of some of the rows.

        Features, codes and numbers of categories are those of the whole table.
        """
        kinds = self.kinds
        if isinstance(self.X, LazyColumns):
            X: Matrix = self.X.of_rows(index)
            kinds = LazyKinds(X)
        else:
            X = self.X.tocsr()[index].tocsc() if self.is_sparse else self.X[index]
        return Table(
            X,
            self.y[index],
            self.names,
            self.task,
            columns=self._feature_groups,
            column_names=self.column_names,
            n_levels=self.n_levels,
            categories=self.categories,
            # Not found anew: a column is of the same kind in every fold.
            kinds=kinds,
            weights=None if self.weights is None else self.weights[index],
            groups=None if self.groups is None else self.groups[index],
            kept_rows=index if self.kept_rows is None else self.kept_rows[index],
            n_callers_rows=self.n_callers_rows,
            known_labels=self.known_labels,
            frame=self.frame,
        )

    def seen_through(self, lens: Lens) -> Table:
        """Return the table as models that look through a lens see it: `take` returns what the lens makes of columns."""
        other = copy(self)
        other._lens = lens
        # Whoever uses a lens sees all numbers in 32 bits.
        other.__dict__["facts"] = replace(self.facts, is_too_large=np.zeros_like(self.facts.is_too_large))
        return other

    def with_target(self, y: NDArray[Any]) -> Table:
        """Return the table with another target of the same task."""
        other = copy(self)
        other.y = y
        for cached in ("codes", "classes"):
            other.__dict__.pop(cached, None)
        other._keys = {variable: key for variable, key in self._keys.items() if variable != self.target}
        other._last_order = {}
        return other

    def key(self, variable: int) -> bytes:
        """Return a digest of a variable's values: equal features have equal keys."""
        if variable not in self._keys:
            key = self._digest(variable)
            self._keys[variable] = key
            self._alike.setdefault(key, []).append(variable)
        return self._keys[variable]

    def has_twin(self, variable: int, others: Set[int]) -> bool:
        """Tell whether one of `others` is a copy of `variable`, itself not counted."""
        if not others <= self._compared:
            self._compared |= others
            for other in others:
                self.key(other)
        return any(twin != variable and twin in others for twin in self._alike[self.key(variable)])

    def canonical(self, variables: Iterable[int]) -> tuple[int, ...]:
        """Order variables by their content, so that no model sees how the caller ordered them.

        Trees break ties by position and forests draw positions, so a model fitted on
        the same columns in another order is another model. Sorted by content it is the
        same one; equal columns follow each other by number.
        """
        listed = tuple(variables)
        if len(listed) < 2:
            return listed
        # A search that removes one variable after the other asks for ever shorter parts of the same order.
        wanted, last = frozenset(listed), self._last_order
        if len(wanted) == len(listed) and wanted.issubset(last):
            return tuple(variable for variable in last if variable in wanted)
        ordered = tuple(sorted(listed, key=self.by_content))
        self._last_order = dict.fromkeys(ordered)
        return ordered

    def by_content(self, variable: int) -> ByContent:
        """Return something that sorts variables by their keys, and by their numbers where the keys are equal."""
        return ByContent(self, variable)

    def _columns_of(self, variables: Sequence[int]) -> list[int]:
        if self._feature_groups is None:
            return list(variables)
        return [column for variable in variables for column in self._feature_groups[variable]]

    def _width(self, variable: int) -> int:
        """Return how many columns of a matrix a variable takes."""
        if variable == self.target:
            return 1 if self.codes.ndim == 1 else int(self.codes.shape[1])
        return 1 if self._feature_groups is None else len(self._feature_groups[variable])

    def _digest(self, variable: int) -> bytes:
        if variable == self.target:
            return _vector_digest(self.codes.ravel(), 0)
        group = (variable,) if self._feature_groups is None else self._feature_groups[variable]
        digests = [column_digest(self.X, column, int(self.n_levels[column])) for column in group]
        # Sorted, because the same columns in another order are the same group.
        return (
            digests[0] if len(digests) == 1 else blake2b(b"".join(sorted(digests)), digest_size=16).digest()
        )


class ByContent:
    """A variable's place in the order of contents. Keys are found when two variables are compared, not before."""

    __slots__ = ("_table", "_variable")

    def __init__(self, table: Table, variable: int) -> None:
        self._table = table
        self._variable = variable

    def __lt__(self, other: ByContent) -> bool:
        return self._place() < other._place()

    def _place(self) -> tuple[bytes, int]:
        return self._table.key(self._variable), self._variable


def column_digest(X: Matrix, column: int, n_levels: int) -> bytes:
    """Return a digest of a column's values and whether they are codes of so many categories."""
    if not sp.issparse(X):
        return _vector_digest(dense_column(X, column), n_levels)
    stored = slice(X.indptr[column], X.indptr[column + 1])
    return _sparse_digest(X.indices[stored], X.data[stored], n_levels)


def _vector_digest(values: NDArray[Any], n_levels: int) -> bytes:
    rows = np.flatnonzero(values)
    return _sparse_digest(rows, values[rows], n_levels)


def _sparse_digest(rows: NDArray[Any], values: NDArray[Any], n_levels: int) -> bytes:
    """Hash the non-zero entries: a sparse column and its dense copy have the same key."""
    digest = blake2b(rows.astype(np.int64).tobytes(), digest_size=16)
    digest.update(values.astype(np.float64).tobytes())
    if n_levels:
        # The same numbers as quantities are another column.
        digest.update(n_levels.to_bytes(8, "little"))
    return digest.digest()


def _dense(columns: Matrix) -> NDArray[Any]:
    return np.asarray(columns.toarray() if sp.issparse(columns) else in_floats(columns))


def dense_column(X: Matrix, position: int) -> NDArray[Any]:
    """Return one column of a matrix, sparse or not, as a dense vector."""
    if not (sp.issparse(X) and X.format == "csc"):
        return _dense(X[:, [position]]).ravel()
    # A slice of a sparse matrix takes longer than what is done with it.
    stored = slice(X.indptr[position], X.indptr[position + 1])
    values = np.zeros(X.shape[0], dtype=X.dtype)
    values[X.indices[stored]] = X.data[stored]
    return values
