"""Some columns of a table, as a task of the growth phase reads them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.facts import ColumnFacts, facts_of

# A float ndarray, or a csc_array or csr_array: SciPy has no types.
Matrix: TypeAlias = Any


@dataclass(frozen=True)
class Block:
    """Some columns that are features of their own: what a task of the growth phase reads.

    Attributes
    ----------
    X : ndarray or csc_array of shape (n_rows, n_columns)

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for a quantity.

    names : tuple of str
    """

    X: Matrix
    n_levels: NDArray[np.intp]
    names: tuple[str, ...]

    def read(self) -> Block:
        """Return the block itself: its columns are in memory."""
        return self

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    @property
    def nbytes(self) -> int:
        """How much there is to send."""
        return int(self.X.data.nbytes if sp.issparse(self.X) else self.X.nbytes)

    @cached_property
    def facts(self) -> ColumnFacts:
        """What one look at every column tells."""
        return facts_of(self.X)

    def take(self, columns: NDArray[np.intp]) -> Block:
        """Return some of the columns."""
        if columns.size == self.n_columns:
            return self
        return Block(
            self.X[:, columns], self.n_levels[columns], tuple(self.names[column] for column in columns)
        )
