"""Columns that predict the target suspiciously well."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import gammaln

from ppfs._data.block import dense_column
from ppfs._data.column_checks.blocks import some_rows
from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.table import Table

_MOST_CLASSES = 20
# Rows of each class that are checked first.
_FIRST_HEAD, _HEAD = 3, 16
_FEWEST_ROWS = 10
# Rows that are checked first for a category in two classes.
_FIRST_ROWS = 64
_CORRELATION = 0.9999
# A linear function of the target correlates with it at least this much in a few rows.
_SUSPECT_CORRELATION = 0.9
# The probability, over all columns, that one separates the classes by chance.
_CHANCE = 0.01


def leaks(table: Table) -> Iterator[ColumnWarning]:
    """Yield columns that predict the target perfectly."""
    if table.y.ndim > 1 or table.y.dtype.names is not None or table.n_rows < _FEWEST_ROWS:
        return
    if table.task == "classification":
        columns = _separating(table)
        what = "separates the classes without an error"
    else:
        columns = _mirroring(table)
        what = "orders the rows exactly as the target does"
    for column in columns:
        name = table.column_names[column]
        yield ColumnWarning(
            name,
            "leakage",
            f"{name!r} alone {what}. Is it known when predictions are made, or a result of the target?",
            f"If it is not known then, leave it out: X.drop(columns={name!r}).",
            f"If it is not known then, leave it out with --drop {name!r}.",
        )


def _separating(table: Table) -> list[int]:
    """Return the columns in which each value, or each interval of values, belongs to one class."""
    codes = table.codes.astype(np.intp)
    counts = np.bincount(codes)
    if not 2 <= counts.size <= _MOST_CLASSES:
        return []
    n_columns = int(table.X.shape[1])
    # The share of the orders of the rows in which the classes are separated.
    log_chance = float(gammaln(counts.size + 1) + gammaln(counts + 1).sum() - gammaln(table.n_rows + 1))
    found = [column for column in table.categories if _is_pure(table, column, codes, n_columns)]
    if log_chance + log(n_columns) > log(_CHANCE):
        return found
    wanted = (table.n_levels == 0) & ~table.facts.is_constant
    if sp.issparse(table.X):
        # Zeros may occur in one class only, so that the rows of all other classes must be stored.
        wanted &= np.diff(table.X.indptr) >= table.n_rows - counts.max()
    else:
        # The last few rows of each class, in the order of the classes; very few of them decide about most columns.
        for n_rows in (_FIRST_HEAD, _HEAD):
            few = np.concatenate([np.flatnonzero(codes == code)[-n_rows:] for code in range(counts.size)])
            left = np.flatnonzero(wanted)
            rows = table.X[few]
            wanted[left] = _are_separated(rows if left.size == wanted.size else rows[:, left], codes[few])
    suspects = np.flatnonzero(wanted).tolist()
    if not suspects:
        return found
    order = np.argsort(codes, kind="stable")
    return found + [
        column
        for column in suspects
        if _are_separated(dense_column(table.X, column)[order, None], codes[order])[0]
    ]


def _are_separated(X: NDArray[np.float64], codes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return for each column whether the values of the classes are separated; the rows are sorted by class."""
    # One class after the other: `reduceat` takes several times as long.
    parts = np.split(X, np.flatnonzero(np.diff(codes)) + 1)
    low, high = (np.stack([of.reduce(part, axis=0) for part in parts]) for of in (np.fmin, np.fmax))
    return _are_apart(low, high)


def _are_apart(low: NDArray[np.float64], high: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return for each column whether the intervals of the classes, shape (n_classes, n_columns), are disjoint."""
    if len(low) == 2:
        return np.asarray((high[0] < low[1]) | (high[1] < low[0]))
    order = np.argsort(low, axis=0)
    low, high = (np.take_along_axis(ends, order, axis=0) for ends in (low, high))
    return np.asarray((high[:-1] < low[1:]).all(axis=0))


def _is_pure(table: Table, column: int, codes: NDArray[np.intp], n_columns: int) -> bool:
    """Return whether every category occurs in one class only, and this is unlikely by chance."""
    n_levels = int(table.n_levels[column])
    # A few rows nearly always have a category in two classes. Categories are never sparse.
    head = table.X[:_FIRST_ROWS, column].astype(np.intp)
    if not _is_unmixed(head, codes[:_FIRST_ROWS], n_levels):
        return False
    values = dense_column(table.X, column).astype(np.intp)
    if not _is_unmixed(values, codes, n_levels):
        return False
    pairs = np.unique(values).size
    largest = np.bincount(codes).max() / codes.size
    return bool((codes.size - pairs) * log(largest) + log(n_columns) <= log(_CHANCE))


def _is_unmixed(values: NDArray[np.intp], codes: NDArray[np.intp], n_levels: int) -> bool:
    """Return whether every category occurs in one class only."""
    class_of = np.empty(n_levels, dtype=np.intp)
    class_of[values] = codes
    return bool((class_of[values] == codes).all())


def _mirroring(table: Table) -> list[int]:
    """Return the columns that are a linear or monotone function of the target."""
    if table.is_sparse:
        return []
    facts = table.facts
    usable = ~(facts.has_missing | facts.has_infinite | facts.is_constant) & (table.n_levels == 0)
    few = some_rows(table.n_rows, 2 * _HEAD)
    few = few[np.argsort(table.codes[few], kind="stable")]
    with np.errstate(all="ignore"):
        rises = np.diff(table.X[few], axis=0)
        is_monotone = (rises >= 0).all(axis=0) | (rises <= 0).all(axis=0)
        is_linear = _correlations(table.X[few], table.codes[few]) >= _SUSPECT_CORRELATION
        suspects = np.flatnonzero(usable & (is_monotone | is_linear))
        return [
            column
            for column in suspects.tolist()
            if _correlations(table.X[:, [column]], table.codes)[0] >= _CORRELATION
            or _is_monotone(table.X[:, column], table.codes)
        ]


def _correlations(X: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the absolute correlation of each column with y; NaN if one of them is constant."""
    centered, y = X - X.mean(axis=0), y - y.mean()
    return np.asarray(np.abs(y @ centered) / np.sqrt((y @ y) * (centered * centered).sum(axis=0)))


def _is_monotone(x: NDArray[np.float64], y: NDArray[np.float64]) -> bool:
    """Return whether y is a monotone function of x, with almost no ties."""
    if min(np.unique(x).size, np.unique(y).size) < max(_FEWEST_ROWS, 0.9 * x.size):
        return False
    rises = np.diff(y[np.argsort(x, kind="stable")])
    return bool((rises >= 0).all() or (rises <= 0).all())
