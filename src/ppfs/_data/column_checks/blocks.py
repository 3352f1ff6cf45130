"""Blocks of a few columns, so that intermediate results stay small."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import as_many_as_fit

_VALUES = 1 << 20


def some_rows(n_rows: int, wanted: int) -> NDArray[np.intp]:
    """Return rows that are spread over a table."""
    return np.linspace(0, n_rows - 1, min(wanted, n_rows)).astype(np.intp)


def column_blocks(X: Any) -> Iterator[tuple[int, Any]]:
    """Yield the number of the first column and the dense values of some columns."""
    n_rows, n_columns = X.shape
    width = as_many_as_fit(_VALUES, n_rows)
    for start in range(0, n_columns, width):
        block = X[:, start : start + width]
        yield start, block.toarray() if sp.issparse(block) else block
