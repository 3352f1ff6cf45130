"""Checks of all columns of a table."""

from __future__ import annotations

import numpy as np

from ppfs._data.column_checks.copies import copies
from ppfs._data.column_checks.identifiers import identifiers
from ppfs._data.column_checks.leakage import leaks
from ppfs._data.column_checks.near_constant import near_constant
from ppfs._data.column_checks.repeated_units import repeated_units
from ppfs._data.column_checks.text import odd_texts
from ppfs._data.column_checks.warning import ColumnWarning
from ppfs._data.table import Table


def check_columns(table: Table) -> tuple[ColumnWarning, ...]:
    """Return warnings about suspicious columns of a table, at most one per column.

    For files that are read a few columns at a time, only the columns that the search loaded are checked: a leak or an
    identifier that matters is among them, and checking the others would read the file twice.
    """
    loaded = table.storage.loaded
    if not loaded:
        return ()
    if not table.is_in_memory:
        names = [table.names[column] for column in loaded]
        table = Table.of(
            np.column_stack([table.values(column) for column in loaded]), table.y, names, table.task
        )
    found: dict[str, ColumnWarning] = {}
    for look in (near_constant, odd_texts, leaks, identifiers, repeated_units, copies):
        for warning in look(table):
            found.setdefault(warning.column, warning)
    if not found:
        return ()
    place = {name: number for number, name in enumerate(table.column_names)}
    return tuple(sorted(found.values(), key=lambda warning: place[warning.column]))
