"""Stand-ins for a column: what the model sees instead of it in the test part."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._table import Matrix, dense_column
from ppfs.independence._splits import Split

# Given the design matrix of a question, the position of x in it and a split, a knockoff is a new
# column for the test part, shape (n_test,).
Knockoff = Callable[[Matrix, int, Split], NDArray[Any]]


def permuted(design: Matrix, position: int, split: Split) -> NDArray[Any]:
    """Shuffle the column within the test part, as in the paper."""
    return dense_column(design, position)[split.test[split.permutation]]


KNOCKOFFS: dict[str, Knockoff] = {"permutation": permuted}


def with_replaced(X: Matrix, position: int, values: NDArray[Any]) -> Matrix:
    """Return a copy of X in which one column holds other values."""
    if sp.issparse(X):
        columns = X.tocsc()
        parts = [columns[:, :position], sp.csc_array(values[:, np.newaxis]), columns[:, position + 1 :]]
        return sp.hstack([part for part in parts if part.shape[1]], format="csr")
    replaced = np.array(X)
    replaced[:, position] = values
    return replaced


def stacked(copies: list[Matrix]) -> Matrix:
    """Put copies below each other, so that a model predicts all of them in one call."""
    if len(copies) == 1:
        return copies[0]
    return sp.vstack(copies, format="csr") if sp.issparse(copies[0]) else np.concatenate(copies)
