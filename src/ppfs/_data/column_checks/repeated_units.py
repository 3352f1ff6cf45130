"""Columns that say which unit, such as a patient, a row belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data.block import dense_column
from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.facts import holds_in_first, is_whole_number
from ppfs._data.table import Table

# Words that name a unit with several rows, alone or beside "id", "number" and the like.
_UNITS = "patient|subject|person|customer|client|user|participant|household|student|animal|device|family"
_NAMED = re.compile(
    rf"(?:(?:{_UNITS})s?[ _.-]?(?:id|no|nr|num|number|code|key)?|\w+[ _.-](?:id|ID)|\w+[a-z]I[Dd])\Z"
)
_WORDS_ALONE = re.compile(rf"(?:{_UNITS})s?\Z")
# Fewer units than this may be the levels of a factor; a unit has at least two rows on average.
_FEWEST_UNITS = 10
# Units with neighboring rows, and equally many rows each: no numeric column looks like this by chance.
_FEWEST_EQUAL_UNITS = 20
# Rows that are checked first.
_HEAD = 64


def _runs_alike(head: NDArray[Any], columns: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which of some columns may consist of equally long runs of equal values, by their first rows."""
    if not columns.size or len(head) < 2:
        return np.ones(columns.size, dtype=bool)
    changes = head[1:, columns] != head[:-1, columns]
    n_changes = changes.sum(axis=0)
    length = np.argmax(changes, axis=0) + 1
    alike: NDArray[np.bool_] = (n_changes == 0) | (n_changes == (len(head) - 1) // length)
    return alike


def repeated_units(table: Table) -> Iterator[ColumnWarning]:
    """Yield columns that look like identifiers of units with several rows each, where no groups were passed."""
    n = table.n_rows
    if table.groups is not None or table.is_sparse:
        return
    facts = table.facts
    is_suspect = holds_in_first(table.X, _HEAD, is_whole_number)
    is_suspect &= ~(facts.has_missing | facts.has_infinite | facts.is_constant)
    suspects = np.flatnonzero(is_suspect)
    may_be_sorted = _runs_alike(table.X[: min(n, _HEAD)], suspects)
    for column, may_be_runs in zip(suspects.tolist(), may_be_sorted.tolist(), strict=True):
        name = str(table.column_names[column])
        is_named = _NAMED.match(name.lower() if _WORDS_ALONE.match(name.lower()) else name) is not None
        if not (is_named or may_be_runs):
            continue
        values = dense_column(table.X, column)
        n_changes = int(np.count_nonzero(values[1:] != values[:-1]))
        if not is_named and n_changes > n // 2:
            continue
        units, counts = np.unique(values, return_counts=True)
        if not _FEWEST_UNITS <= units.size <= n // 2:
            continue
        is_sorted = units.size > _FEWEST_EQUAL_UNITS and n_changes == units.size - 1
        if is_named or (is_sorted and counts.min() == counts.max()):
            yield ColumnWarning(
                name,
                "repeated-unit",
                f"{name!r} looks like the identifier of {units.size} units with {n / units.size:.1f} rows each: rows "
                "of one unit are not independent.",
                f"If they belong together, pass groups=X[{name!r}] to fit, and leave the column out.",
                f"If they belong together, add --groups {name!r}.",
            )
