"""What is in the data: columns, a target and the task."""

from __future__ import annotations

from collections.abc import Iterable, Sequence, Set
from functools import cached_property
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs.exceptions import InvalidInputError

Task = Literal["classification", "regression"]
# A float ndarray, or a csc_array or csr_array: SciPy has no types.
Matrix: TypeAlias = Any

# A whole-numbered target with more values than this is read as a quantity, not as
# labels. The paper's largest classification problem has 8 classes, its smallest
# regression problem 55 distinct efforts.
MAX_INTEGER_CLASSES = 20


class Table:
    """Columns and a target, addressed by number.

    Columns are 0 to ``n_features - 1`` and the target is number ``n_features``, so
    that a question may be asked about any variable, the target included.

    Parameters
    ----------
    X : ndarray or csc_array of shape (n_rows, n_features)
        The columns, as floats.

    y : ndarray of shape (n_rows,)
        The target: labels of any kind, or numbers.

    names : sequence of str
        One name a column.

    task : {"classification", "regression"}
        How the target is to be predicted.
    """

    def __init__(self, X: Matrix, y: NDArray[Any], names: Sequence[str], task: Task) -> None:
        self.X = X
        self.y = y
        self.names = tuple(names)
        self.task = task
        self._keys: dict[int, bytes] = {}
        self._alike: dict[bytes, list[int]] = {}
        self._compared: set[int] = set()

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of columns, the target not counted."""
        return int(self.X.shape[1])

    @property
    def target(self) -> int:
        """The number under which the target is addressed."""
        return self.n_features

    @property
    def is_sparse(self) -> bool:
        """Whether the columns are stored sparsely."""
        return bool(sp.issparse(self.X))

    @cached_property
    def classes(self) -> NDArray[Any]:
        """The target's distinct values, sorted."""
        return np.unique(self.y)

    @cached_property
    def codes(self) -> NDArray[np.float64]:
        """The target as numbers: itself, or the position of each label among the classes."""
        if self.task == "regression":
            return np.asarray(self.y, dtype=np.float64)
        return np.searchsorted(self.classes, self.y).astype(np.float64)

    @cached_property
    def constant_mask(self) -> NDArray[np.bool_]:
        """Which columns hold one value only, shape (n_features,)."""
        if not self.is_sparse:
            mask: NDArray[np.bool_] = (self.X == self.X[0]).all(axis=0)
            return mask
        lowest, highest = (extreme(axis=0).toarray().ravel() for extreme in (self.X.min, self.X.max))
        return np.asarray(lowest == highest)

    def values(self, variable: int) -> NDArray[Any]:
        """Return one variable as a dense vector; `variable` may be the target."""
        return self.y if variable == self.target else dense_column(self.X, variable)

    def task_of(self, variable: int) -> Task:
        """Tell how `variable` would be predicted if it were the target."""
        return self.task if variable == self.target else infer_task(self.values(variable))

    def take(self, variables: Sequence[int]) -> Matrix:
        """Return some variables as one matrix, rows first, as models like to read them.

        The target may be among them, as numbers.
        """
        if self.target in variables:
            columns = [self.codes if v == self.target else self.values(v) for v in variables]
            return np.column_stack(columns)
        chosen = self.X[:, list(variables)]
        return chosen.tocsr() if sp.issparse(chosen) else np.ascontiguousarray(chosen)

    def rows(self, index: NDArray[np.intp]) -> Table:
        """Return the table of some of the rows, with the same columns and task."""
        X = self.X.tocsr()[index].tocsc() if self.is_sparse else self.X[index]
        return Table(X, self.y[index], self.names, self.task)

    def key(self, variable: int) -> bytes:
        """Return a digest of a variable's values: equal columns have equal keys."""
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
        return tuple(sorted(variables, key=lambda variable: (self.key(variable), variable)))

    def _digest(self, variable: int) -> bytes:
        """Hash the non-zero entries: a sparse column and its dense copy have the same key."""
        if self.is_sparse and variable != self.target:
            stored = slice(self.X.indptr[variable], self.X.indptr[variable + 1])
            rows, values = self.X.indices[stored], self.X.data[stored]
        else:
            column = self.take([variable]).ravel()
            rows = np.flatnonzero(column)
            values = column[rows]
        digest = blake2b(rows.astype(np.int64).tobytes(), digest_size=16)
        digest.update(values.astype(np.float64).tobytes())
        return digest.digest()


def dense_column(X: Matrix, position: int) -> NDArray[Any]:
    """Return one column of a matrix, sparse or not, as a dense vector."""
    column = X[:, [position]]
    return np.asarray(column.toarray() if sp.issparse(column) else column).ravel()


def infer_task(target: NDArray[Any]) -> Task:
    """Read the task off the target.

    Text and truth values are labels; numbers with a fraction are quantities; whole
    numbers are labels when there are at most 20 different ones.
    """
    if target.dtype.kind not in "iuf":
        return "classification"
    if target.dtype.kind == "f" and not np.array_equal(target, np.floor(target)):
        return "regression"
    few = np.unique(target).size <= MAX_INTEGER_CLASSES
    return "classification" if few else "regression"


def column_index(column: int | str, names: Sequence[str]) -> int:
    """Turn a column's number or name into its number."""
    if isinstance(column, str):
        if column not in names:
            raise InvalidInputError(f"There is no column {column!r}. The columns are {listed(names)}.")
        return names.index(column)
    number = int(column)
    if not -len(names) <= number < len(names):
        raise InvalidInputError(f"There is no column {number}: columns are numbered 0 to {len(names) - 1}.")
    return number % len(names)


def listed(names: Sequence[object], limit: int = 5) -> str:
    """Write names for a message, the first few of a long list."""
    shown = ", ".join(repr(str(name)) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"
