"""Looking at all columns of a table."""

from __future__ import annotations

from ppfs._odd_columns.copies import copies
from ppfs._odd_columns.identifiers import identifiers
from ppfs._odd_columns.leakage import leaks
from ppfs._odd_columns.near_constant import near_constant
from ppfs._odd_columns.text import odd_texts
from ppfs._odd_columns.warning import ColumnWarning
from ppfs._sources import LazyColumns
from ppfs._table import Table


def look_at(table: Table) -> tuple[ColumnWarning, ...]:
    """Return what is odd about the columns of a table, at most one warning a column.

    Nothing for files that are read a few columns at a time: a second look would read them twice.
    """
    if isinstance(table.X, LazyColumns):
        return ()
    found: dict[str, ColumnWarning] = {}
    for look in (near_constant, leaks, odd_texts, identifiers, copies):
        for warning in look(table):
            found.setdefault(warning.column, warning)
    place = {name: number for number, name in enumerate(table.column_names)}
    return tuple(sorted(found.values(), key=lambda warning: place[warning.column]))
