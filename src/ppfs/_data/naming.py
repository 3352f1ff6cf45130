"""Columns as callers name them: by name, by position, one or several."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, TypeAlias

import numpy as np

from ppfs._printable import did_you_mean, listed
from ppfs.exceptions import InvalidInputError

# A single name or number is one column, not a list of letters.
ColumnsLike: TypeAlias = Collection[int | str] | int | str
# The same rule as a parameter constraint of scikit-learn.
COLUMNS_RULE: list[Any] = ["array-like", set, frozenset, str, Integral]


class IntegerName(str):
    """The name of a column that is an integer in the caller's frame, and not the column's position."""

    __slots__ = ()


def as_names(columns: Iterable[Any]) -> list[str]:
    """Return the caller's column names as text.

    Examples
    --------
    >>> as_names(["age", 20])
    ['age', '20']
    """
    return [
        IntegerName(name) if isinstance(name, Integral) and name != position else str(name)
        for position, name in enumerate(columns)
    ]


def column_index(column: int | str, names: Sequence[str]) -> int:
    """Return the position of a column, given its position or its name.

    Parameters
    ----------
    column : int or str
        An integer is a position, or the name of a column that the caller's frame names by an integer.

    names : sequence of str
        One name per column; see `as_names`.

    Raises
    ------
    InvalidInputError
        If there is no such column, or more than one may be meant.
    """
    if isinstance(column, str):
        if column not in names:
            hint = did_you_mean(column, names)
            raise InvalidInputError(f"There is no column {column!r}.{hint} The columns are {listed(names)}.")
        return names.index(column)
    # A mask would otherwise be read as columns 0 and 1.
    if isinstance(column, bool | np.bool_) or not isinstance(column, int | np.integer):
        raise InvalidInputError(
            f"{column!r} is neither the name nor the number of a column. Use a name or an integer; "
            "np.flatnonzero(mask) turns a mask into numbers."
        )
    number = int(column)
    is_position = -len(names) <= number < len(names)
    named = [place for place, name in enumerate(names) if type(name) is IntegerName and name == str(number)]
    if named and is_position:
        raise InvalidInputError(
            f"{number} is the name of one column and the position of another, {str(names[number])!r}. Write the name "
            f"as text: {str(number)!r}."
        )
    if not (named or is_position):
        has_integer_names = any(type(name) is IntegerName for name in names)
        called = f" None is named {number}; the names are {listed(names)}." if has_integer_names else ""
        raise InvalidInputError(
            f"There is no column {number}: columns are numbered 0 to {len(names) - 1}.{called}"
        )
    return named[0] if named else number % len(names)


def one_or_more(columns: ColumnsLike, parameter: str) -> list[int | str]:
    """Return columns as a list: a single name or number is a list of one."""
    if isinstance(columns, np.ndarray) and columns.ndim == 0:
        columns = columns.item()
    if isinstance(columns, str | Integral):
        return [columns]
    if columns is None or isinstance(columns, Mapping) or not isinstance(columns, Iterable):
        raise InvalidInputError(
            f"{parameter} must name columns, but is {columns!r}. Write a name, a number, or a list of them."
        )
    return list(columns)
