"""Running numbers, and integers that never repeat."""

from __future__ import annotations

from collections.abc import Iterator
from math import log

import numpy as np

from ppfs._data.block import dense_column
from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.table import Table

_HEAD = 16
# The probability, over all columns, that a numeric column looks like this by chance.
_CHANCE = 0.01


def identifiers(table: Table) -> Iterator[ColumnWarning]:
    """Yield columns of integers that differ in every row although some would be equal by chance.

    Among n numbers drawn from R, about n^2 / 2R pairs are equal; none is with probability exp(-n^2 / 2R).
    """
    n = table.n_rows
    facts = table.facts
    with np.errstate(over="ignore", invalid="ignore"):
        spread = facts.high - facts.low + 1
        alike_by_chance = n * n / (2 * spread)
        is_suspect = (spread >= n) & (alike_by_chance >= log(table.X.shape[1] / _CHANCE))
    is_suspect &= (table.n_levels == 0) & ~facts.has_missing
    suspects = np.flatnonzero(is_suspect)
    if table.is_sparse or not suspects.size:
        return
    head = table.X[:_HEAD, suspects]
    for column in suspects[(head % 1 == 0).all(axis=0)].tolist():
        values = dense_column(table.X, column)
        if (values % 1).any() or np.unique(values).size < n:
            continue
        name = table.column_names[column]
        is_running = spread[column] == n
        what = "is a running number" if is_running else "holds a different integer in every row"
        yield ColumnWarning(
            name,
            "identifier",
            f"{name!r} {what}, like an index or an identifier: it can predict only how the rows were sorted.",
            f"Leave it out: X.drop(columns={name!r}).",
            f"If it names the rows, add --id {name!r}.",
        )
