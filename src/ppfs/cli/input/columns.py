"""Columns as they are named on the command line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from difflib import get_close_matches

from ppfs.cli._failures import InputFailure


def listed(names: Sequence[object], limit: int = 5) -> str:
    """Write names for a message, the first few of a long list."""
    shown = ", ".join(repr(str(name)) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def require_column(name: str, names: Sequence[str], owner: str) -> str:
    """Return the name if there is such a column, or raise an error with the closest name.

    Parameters
    ----------
    owner : str
        What lacks it, for the message: a file or a flag.
    """
    if name in names:
        return name
    alike = {known.strip().casefold(): known for known in names}
    close = alike.get(name.strip().casefold()) or next(iter(get_close_matches(name, names, n=1)), None)
    hint = f" Did you mean {close!r}?" if close else ""
    raise InputFailure(f"{owner} has no column {name!r}.{hint} The columns are {listed(names)}.")


def resolve(values: Sequence[str], names: Sequence[str], owner: str) -> list[str]:
    """Return the columns that a flag lists: one name, or several separated by commas.

    Examples
    --------
    >>> resolve(["a,b", "a, or b"], ["a", "b", "a, or b"], "--drop")
    ['a', 'b', 'a, or b']
    """
    known = set(names)
    found: list[str] = []
    for value in values:
        parts = [value] if value in known else next(csv.reader([value], skipinitialspace=True), [])
        found += [require_column(part, names, owner) for part in parts]
    return list(dict.fromkeys(found))
