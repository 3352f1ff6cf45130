"""Some columns of a table, for a task of the growth phase."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.facts import ColumnFacts, facts_of, in_floats

# A float ndarray, a csc_array or a csr_array; SciPy has no type hints.
Matrix: TypeAlias = Any


def dense_column(X: Matrix, position: int) -> NDArray[Any]:
    """Return one column of a matrix, sparse or not, as a dense vector."""
    if not (sp.issparse(X) and X.format == "csc"):
        chosen = X[:, [position]]
        return np.asarray(chosen.toarray() if sp.issparse(X) else in_floats(chosen)).ravel()
    # Slicing a sparse matrix would take longer than the work on the column.
    stored = slice(X.indptr[position], X.indptr[position + 1])
    values = np.zeros(X.shape[0], dtype=X.dtype)
    values[X.indices[stored]] = X.data[stored]
    return values


class AnyBlock(Protocol):
    """Some columns for a task of the growth phase, in memory or in a file: `Block` or `FileBlock`."""

    @property
    def names(self) -> tuple[str, ...]: ...

    @property
    def n_columns(self) -> int:
        """Number of columns."""

    def read(self) -> Block:
        """Return the columns in memory."""

    def take(self, columns: NDArray[np.intp]) -> AnyBlock:
        """Return some of the columns."""


@dataclass(frozen=True)
class Block:
    """Some columns for a task of the growth phase, each of them a feature.

    Attributes
    ----------
    X : ndarray or csc_array of shape (n_rows, n_columns)
        Rearranged columns that a GPU made are there only: then this is `on_device`.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers.

    on_device : array, default=None
        The same columns in the memory of a GPU, if they are there.

    known_facts : ColumnFacts, default=None
        Properties of the columns, if they were found before.
    """

    X: Matrix
    n_levels: NDArray[np.intp]
    names: tuple[str, ...]
    on_device: Any = None
    known_facts: ColumnFacts | None = None

    def read(self) -> Block:
        """Return the block itself: its columns are in memory."""
        return self

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def nbytes(self) -> int:
        """The size of the values, in bytes."""
        return int(self.X.data.nbytes if sp.issparse(self.X) else self.X.nbytes)

    @cached_property
    def facts(self) -> ColumnFacts:
        """Properties of every column, found in one pass."""
        return facts_of(self.X) if self.known_facts is None else self.known_facts

    def take(self, columns: NDArray[np.intp]) -> Block:
        """Return some of the columns."""
        if columns.size == self.n_columns:
            return self
        return Block(
            self.X[:, columns],
            self.n_levels[columns],
            tuple(self.names[column] for column in columns),
            None if self.on_device is None else self.on_device[:, columns],
        )
