"""Columns as they are named on the command line."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from typing import Any

from ppfs._printable import did_you_mean, listed
from ppfs.cli._failures import InputFailure


def require_column(name: str, names: Sequence[str], owner: str) -> str:
    """Return the name if there is such a column, or raise an error with the closest name.

    Parameters
    ----------
    owner : str
        What lacks it, for the message: a file or a flag.
    """
    if name in names:
        return name
    has_header = not all(map(is_number, names))
    doubt = "" if has_header else " The first row holds numbers only: does the file have a header?"
    raise InputFailure(
        f"{owner} has no column {name!r}.{did_you_mean(name, names)} The columns are {listed(names)}.{doubt}"
    )


def with_text_columns(frame: Any, columns: Sequence[str]) -> list[str]:
    """Return the columns that hold categories by their type, and further ones."""
    from pandas.api.types import is_bool_dtype, is_numeric_dtype

    kinds = getattr(frame, "dtypes", {}).items()
    return [
        *(str(name) for name, kind in kinds if not (is_numeric_dtype(kind) or is_bool_dtype(kind))),
        *columns,
    ]


def is_number(name: str) -> bool:
    """Return whether a heading is a number, as where the header is missing."""
    try:
        float(name.replace(",", "."))
    except ValueError:
        return False
    return True


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
