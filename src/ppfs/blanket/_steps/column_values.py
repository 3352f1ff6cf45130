"""The values of columns as screens read them: dense numbers, some columns at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import scipy.sparse as sp

from ppfs._conventions import Floats, as_many_as_fit
from ppfs._data import Table

# Larger and smaller numbers are scaled, so that their squares neither overflow nor underflow.
_FAR = 2.0**300

# Entries that are read at once: two megabytes of them, so that every thread has several blocks.
_ENTRIES_AT_ONCE = 2**18


def numeric_columns(table: Table, features: Sequence[int]) -> tuple[list[int], Floats]:
    """Return the features that are one column of numbers, and their values, shape (n_rows, n_features)."""
    single = [feature for feature in features if table.is_single(feature)]
    levels = table.n_levels_of(single) if single else np.empty(0, dtype=np.intp)
    numeric = [feature for feature, n_levels in zip(single, levels.tolist(), strict=True) if not n_levels]
    parts = [values for _, values in dense_blocks(table, numeric)]
    return numeric, np.column_stack(parts) if parts else np.empty((table.n_rows, 0))


def dense_blocks(table: Table, features: Sequence[int]) -> Iterator[tuple[list[int], Floats]]:
    """Yield some features at a time with the values of their columns, which take two megabytes."""
    for some in feature_blocks(table, features):
        yield some, dense_values(table, some)


def feature_blocks(table: Table, features: Sequence[int]) -> list[list[int]]:
    """Cut features into lists whose columns take two megabytes each."""
    n_at_once = as_many_as_fit(_ENTRIES_AT_ONCE, table.n_rows)
    return [list(features[start : start + n_at_once]) for start in range(0, len(features), n_at_once)]


def dense_values(table: Table, features: Sequence[int]) -> Floats:
    """Return the values of some columns; a column whose squares would overflow or underflow is scaled."""
    X = table.block(features).read().X
    return in_reach(np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64))


def in_reach(columns: Floats) -> Floats:
    """Return columns whose numbers can be squared: those of far values are divided by a power of two each."""
    largest = np.fmax.reduce(np.abs(columns))
    is_far = (largest > _FAR) | (largest < 1.0 / _FAR)
    if not is_far.any():
        return columns
    scaled: Floats = np.ldexp(columns, np.where(is_far, -np.frexp(largest)[1], 0))
    return scaled
