"""Columns with one value in nearly all rows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from ppfs._data.column_checks.blocks import some_rows
from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.table import Table

_SHARE = 0.99
# With fewer rows, one row is more than a hundredth.
_FEWEST_ROWS = 100
# Rows that are checked first: a column that varies nearly always varies within them.
_HEAD = 25
# Of these at most this share may differ from the others.
_DIFFERING = 0.2


def near_constant(table: Table) -> Iterator[ColumnWarning]:
    """Yield columns with one value, or with one value in at least 99 of 100 rows.

    In sparse tables most columns are zero in most rows, so that only constant ones are reported.
    """
    is_constant = table.facts.is_constant
    for column in np.flatnonzero(is_constant).tolist():
        # Missing values of categories have codes of their own.
        is_missing = not table.is_sparse and bool(np.isnan(table.X[0, column]))
        found = "is missing in all rows" if is_missing else "holds one value in all rows"
        yield _warning(table, column, f"{found}, so that it cannot predict the target.")
    if table.is_sparse or table.n_rows < _FEWEST_ROWS:
        return
    rows = some_rows(table.n_rows, _HEAD)
    # A row that differs from most others breaks two pairs of neighbors. Two rows at a time: a copy of all takes longer.
    n_pairs = np.zeros(table.X.shape[1], dtype=np.int8)
    for one, other in pairwise(rows.tolist()):
        n_pairs += table.X[one] == table.X[other]
    suspects = np.flatnonzero((n_pairs >= len(rows) - 1 - 2 * _DIFFERING * len(rows)) & ~is_constant)
    head = table.X[np.ix_(rows, suspects)]
    # If more than half of the rows are equal, their value is the median.
    common = np.median(head, axis=0)
    is_suspect = (head != common).mean(axis=0) <= _DIFFERING
    for column, value in zip(suspects[is_suspect].tolist(), common[is_suspect].tolist(), strict=True):
        n_alike = int((table.X[:, column] == value).sum())
        if n_alike >= _SHARE * table.n_rows:
            yield _warning(
                table,
                column,
                f"holds one value in {n_alike} of {table.n_rows} rows: only the others can predict anything.",
            )


def _warning(table: Table, column: int, finding: str) -> ColumnWarning:
    name = table.column_names[column]
    return ColumnWarning(
        name,
        "near-constant",
        f"{name!r} {finding}",
        f"Leave it out: X.drop(columns={name!r}).",
        f"Leave it out with --drop {name!r}.",
    )
