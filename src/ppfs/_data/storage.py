"""Where the columns of a table are: in an array, in a sparse matrix, or in a file."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from hashlib import blake2b
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import AnyBlock, Block, Matrix, dense_column
from ppfs._data.facts import ColumnFacts, facts_of, in_floats, is_compact


class Storage(Protocol):
    """The columns of a table: `DenseColumns`, `SparseColumns` or `FileColumns`.

    Attributes
    ----------
    is_sparse : bool
        Whether columns are stored sparsely.

    is_in_memory : bool
        Whether all columns are in memory, as `matrix`.

    matrix : ndarray, csc_array or None
        The columns, shape (n_rows, n_columns); None if they are in a file.
    """

    is_in_memory: bool

    @property
    def matrix(self) -> Matrix: ...

    @property
    def is_sparse(self) -> bool: ...

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""

    @property
    def bytes_per_column(self) -> int:
        """Average size of a column when it is read, in bytes."""

    @property
    def facts(self) -> ColumnFacts:
        """Properties of every column, found in one pass."""

    @property
    def loaded(self) -> Sequence[int]:
        """The columns that are in memory."""

    @property
    def n_more(self) -> int | None:
        """How many more columns may be loaded; None for any number."""

    @property
    def content(self) -> tuple[bytes | NDArray[Any], ...]:
        """What is hashed to identify these columns."""

    def take(self, columns: Sequence[int]) -> Matrix:
        """Return some columns as floats, as an array or a csc_array."""

    def column(self, column: int) -> NDArray[Any]:
        """Return one column as a dense vector."""

    def digest(self, column: int, n_levels: int) -> bytes:
        """Return a digest of a column's values, and of the number of categories if they are codes."""

    def block(self, columns: Sequence[int], n_levels: NDArray[np.intp], names: tuple[str, ...]) -> AnyBlock:
        """Return some columns for a task of the growth phase."""

    def of_rows(self, index: NDArray[np.intp]) -> Storage:
        """Return the same columns with some of the rows."""


class _MemoryColumns:
    """Columns in an array or in a sparse matrix."""

    is_in_memory = True
    n_more: int | None = None

    def __init__(self, matrix: Matrix) -> None:
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape

    @cached_property
    def facts(self) -> ColumnFacts:
        """Properties of every column, found in one pass."""
        return facts_of(self.matrix)

    @property
    def loaded(self) -> Sequence[int]:
        """The columns that are in memory: all of them."""
        return range(self.shape[1])

    def take(self, columns: Sequence[int]) -> Matrix:
        """Return some columns as floats."""
        return in_floats(self.matrix[:, columns])

    def column(self, column: int) -> NDArray[Any]:
        """Return one column as a dense vector."""
        return dense_column(self.matrix, column)

    def block(self, columns: Sequence[int], n_levels: NDArray[np.intp], names: tuple[str, ...]) -> Block:
        """Return some columns for a task of the growth phase."""
        return Block(self.take(columns), n_levels, names)


class DenseColumns(_MemoryColumns):
    """Columns in an array of numbers, which may have fewer than 64 bits each.

    Parameters
    ----------
    matrix : ndarray of shape (n_rows, n_columns)

    on_device : array, default=None
        The same matrix in the memory of a GPU, if the caller passed it there.
    """

    is_sparse = False

    def __init__(self, matrix: Matrix, on_device: Any = None) -> None:
        super().__init__(matrix)
        self.on_device = on_device

    def view(self, columns: Sequence[int], n_levels: NDArray[np.intp], names: tuple[str, ...]) -> Block:
        """Return some columns as `block` does: neighboring ones as a view, in a GPU's memory too if they are there."""
        first, end = columns[0], columns[-1] + 1
        if is_compact(self.matrix.dtype) or end - first != len(columns) or not _ascend(columns):
            return self.block(columns, n_levels, names)
        some = slice(first, end)
        on_device = None if self.on_device is None else self.on_device[:, some]
        known = self.facts.of(some) if "facts" in self.__dict__ else None
        return Block(self.matrix[:, some], n_levels, names, on_device, known)

    @property
    def bytes_per_column(self) -> int:
        """Average size of a column when it is read, in bytes."""
        if is_compact(self.matrix.dtype):
            return 8 * self.shape[0]
        return 1 + int(self.matrix.nbytes) // self.shape[1]

    @property
    def content(self) -> tuple[bytes | NDArray[Any], ...]:
        """What is hashed to identify these columns."""
        return (self.matrix,)

    def digest(self, column: int, n_levels: int) -> bytes:
        """Return a digest of a column's values, and of the number of categories if they are codes."""
        return vector_digest(self.column(column), n_levels)

    def of_rows(self, index: NDArray[np.intp]) -> DenseColumns:
        """Return the same columns with some of the rows."""
        return DenseColumns(self.matrix[index], None if self.on_device is None else self.on_device[index])


class SparseColumns(_MemoryColumns):
    """Columns in a sparse matrix.

    Parameters
    ----------
    matrix : csc_array of shape (n_rows, n_columns)
    """

    is_sparse = True

    @property
    def bytes_per_column(self) -> int:
        """Average size of a column when it is read, in bytes."""
        return 1 + int(self.matrix.data.nbytes + self.matrix.indices.nbytes) // self.shape[1]

    @property
    def content(self) -> tuple[bytes | NDArray[Any], ...]:
        """What is hashed to identify these columns."""
        return self.matrix.indptr, self.matrix.indices, self.matrix.data

    def digest(self, column: int, n_levels: int) -> bytes:
        """Return the same digest as for a dense copy of the column."""
        stored = slice(self.matrix.indptr[column], self.matrix.indptr[column + 1])
        return _digest(self.matrix.indices[stored], self.matrix.data[stored], n_levels)

    def of_rows(self, index: NDArray[np.intp]) -> SparseColumns:
        """Return the same columns with some of the rows."""
        return SparseColumns(self.matrix.tocsr()[index].tocsc())


def storage_of(X: Matrix, on_device: Any = None) -> Storage:
    """Return the columns of a matrix in memory, which may be in a GPU's memory too."""
    return SparseColumns(X) if sp.issparse(X) else DenseColumns(X, on_device)


def _ascend(columns: Sequence[int]) -> bool:
    return bool((np.diff(columns) == 1).all())


def vector_digest(values: NDArray[Any], n_levels: int) -> bytes:
    """Return a digest of a vector, and of the number of categories if its values are codes."""
    rows = np.flatnonzero(values)
    return _digest(rows, values[rows], n_levels)


def _digest(rows: NDArray[Any], values: NDArray[Any], n_levels: int) -> bytes:
    """Hash the entries that are not zero: a sparse column and its dense copy have the same digest."""
    digest = blake2b(rows.astype(np.int64).tobytes(), digest_size=16)
    digest.update(values.astype(np.float64).tobytes())
    if n_levels:
        # The same values as numbers are another column.
        digest.update(n_levels.to_bytes(8, "little"))
    return digest.digest()
