"""Copies of other columns, found by hashes in one pass."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import dense_column
from ppfs._data.column_checks.blocks import column_blocks, some_rows
from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.table import Table

Bits = NDArray[np.uint64]

# Rows that are compared first, then more of them: different columns of numbers nearly always differ there.
_HEADS = (4, 32)


def copies(table: Table) -> Iterator[ColumnWarning]:
    """Yield columns that are copies of an earlier one."""
    varies = np.flatnonzero(~table.facts.is_constant)
    if not table.is_sparse:
        for n_rows in _HEADS:
            head = table.X[some_rows(table.n_rows, n_rows)]
            varies = varies[_occurs_twice(_keys(head if varies.size == head.shape[1] else head[:, varies]))]
    if not varies.size:
        return
    keys = _keys(table.X[:, varies])
    order = np.argsort(keys, kind="stable")
    same_as_last = np.flatnonzero(keys[order][1:] == keys[order][:-1]) + 1
    first_of: dict[int, int] = {}
    for place in same_as_last.tolist():
        earlier, later = int(varies[order[place - 1]]), int(varies[order[place]])
        first = first_of.get(earlier, earlier)
        if table.n_levels[first] == table.n_levels[later] and _are_equal(table.X, first, later):
            first_of[later] = first
            yield _warning(table.column_names[later], table.column_names[first])


def _are_equal(X: Any, one: int, other: int) -> bool:
    """Return whether two columns are equal."""
    if not sp.issparse(X):
        return np.array_equal(dense_column(X, one), dense_column(X, other), equal_nan=True)
    # Stored bytes are compared, because a wide sparse table may have tens of thousands of copies.
    mine, theirs = (slice(X.indptr[column], X.indptr[column + 1]) for column in (one, other))
    return all(stored[mine].tobytes() == stored[theirs].tobytes() for stored in (X.indices, X.data))


def _warning(name: str, first: str) -> ColumnWarning:
    return ColumnWarning(
        name,
        "copy",
        f"{name!r} is a copy of {first!r}: at most one of them is selected.",
        f"Leave one of them out: X.drop(columns={name!r}).",
        f"Leave one of them out with --drop {name!r}.",
    )


def _occurs_twice(keys: Bits) -> NDArray[np.bool_]:
    """Return which keys occur more than once."""
    ordered = np.sort(keys)
    repeated = ordered[1:][ordered[1:] == ordered[:-1]]
    return np.isin(keys, repeated) if repeated.size else np.zeros(keys.size, dtype=bool)


def _keys(X: Any) -> Bits:
    """Return a hash of each column."""
    if sp.issparse(X):
        mixed = _mixed(_bits(X.data) + _mixed(X.indices.astype(np.uint64) + np.uint64(1)))
        sums = np.zeros(X.shape[1], dtype=np.uint64)
        filled = np.flatnonzero(np.diff(X.indptr))
        if filled.size:
            sums[filled] = np.add.reduceat(mixed, X.indptr[filled])
        return sums
    rows = _mixed(np.arange(1, X.shape[0] + 1, dtype=np.uint64))[:, None]
    if not X.shape[1]:
        return np.empty(0, dtype=np.uint64)
    return np.concatenate(
        [_mixed(_bits(block) + rows).sum(axis=0, dtype=np.uint64) for _, block in column_blocks(X)]
    )


def _bits(values: NDArray[Any]) -> Bits:
    # + 0.0 turns minus zero into zero.
    bits: Bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    return bits


def _mixed(bits: Bits) -> Bits:
    """Return mixed bits after two rounds of a multiplicative hash; sums of them wrap around."""
    mixed = bits * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(32)
    mixed *= np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return mixed
