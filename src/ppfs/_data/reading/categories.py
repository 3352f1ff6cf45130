"""Text and categories as codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Integral, Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._data.columns import MISSING_LABEL
from ppfs._data.reading.large_integers import as_floats
from ppfs._data.reading.library_codes import held_codes

_MISSING_TYPES = frozenset({"NAType", "NaTType"})
# Types of values in columns of Python objects. A union would be created again for every value.
_FLOATS = (float, np.floating)
_NUMBERS_AND_TEXT = (str, Real, Decimal, np.bool_)


@dataclass(frozen=True)
class Coded:
    """A column of categories.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows,)
        The code of each row's category, in as few bytes as possible.

    labels : tuple of str
        The labels of the categories; missing values, if there are any, are the last one.
    """

    codes: NDArray[np.signedinteger[Any]]
    labels: tuple[str, ...]


def coded(values: Iterable[Any], declared: Sequence[Any] | None = None) -> Coded:
    """Return the codes of a column of categories.

    Categories are numbered in the order of their texts, because pandas and polars have different orders. If
    the caller declared an order, it is used. Categories that occur in no row get no code; missing values
    are the last category.

    Parameters
    ----------
    values : iterable
        One value per row.

    declared : sequence or None
        The categories from low to high, if they have an order.
    """
    present = [None if is_missing(value) else value for value in values]
    if declared is None:
        # As text, because 1 and True are the same key of a dictionary.
        present = [None if value is None else str(value) for value in present]
    number: dict[Any, int] = {}
    codes = np.fromiter((number.setdefault(value, len(number)) for value in present), dtype=np.intp)
    return recoded(codes, list(number), declared)


def recoded(codes: NDArray[Any], values: Sequence[Any], declared: Sequence[Any] | None = None) -> Coded:
    """Convert other codes of a column of categories to those of `coded`.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Positions in `values`; -1 for a missing value.

    values : sequence
        The categories, in any order; one of them may itself be a missing value.

    declared : sequence or None
        The categories from low to high, if they have an order.
    """
    *is_there, has_missing = held_codes(codes, len(values))
    keys = [None if is_missing(value) else value if declared is not None else str(value) for value in values]
    held = {key for key, is_it in zip(keys, is_there, strict=True) if is_it and key is not None}
    order = sorted(held) if declared is None else [value for value in declared if value in held]
    labels = [str(key) for key in order]
    if has_missing or any(is_it for key, is_it in zip(keys, is_there, strict=True) if key is None):
        labels.append(MISSING_LABEL)
    smallest = np.min_scalar_type(-len(labels))
    if not has_missing and order == keys:
        return Coded(codes.astype(smallest, copy=False), tuple(labels))
    number: dict[Any, int] = {key: code for code, key in enumerate(order)}
    # Categories that occur in no row have no code.
    numbers = np.array([number.get(key, len(order)) for key in [*keys, None]], dtype=smallest)
    return Coded(numbers[codes], tuple(labels))


def coded_numbers(values: NDArray[Any]) -> Coded:
    """Return the codes of a column of numbers that the caller declares categorical, in the order of the numbers."""
    distinct, codes = np.unique(values, return_inverse=True)
    # NaN is sorted last, and counts as one value.
    labels = [MISSING_LABEL if np.isnan(value) else f"{value:.15g}" for value in distinct.tolist()]
    return Coded(codes.ravel(), tuple(labels))


def is_missing(value: Any) -> bool:
    """Return whether a value is missing: None, NaN, NA or NaT."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    return isinstance(value, _FLOATS) and bool(np.isnan(value))


def kind_of(values: NDArray[Any]) -> Literal["numbers", "text", "other"]:
    """Return what a column of Python objects holds, apart from missing values.

    Text counts as numbers if all of it can be read as numbers.
    """
    if converts(values):
        return "numbers"
    filled = [value for value in values if not is_missing(value)]
    if not all(isinstance(value, _NUMBERS_AND_TEXT) for value in filled):
        return "other"
    text = [value for value in filled if isinstance(value, str)]
    return "numbers" if converts(np.array(text, dtype=object)) else "text"


def converts(values: NDArray[Any]) -> bool:
    """Return whether NumPy can read every value as a number."""
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of numbers as floats, missing values as NaN; distinct integers stay distinct."""
    if values.dtype.kind in "iu":
        return as_floats(values)
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    is_known = np.array([not is_missing(value) for value in values], dtype=bool)
    known = values[is_known].tolist()
    floats = np.full(values.size, np.nan)
    is_whole = all(isinstance(value, Integral) for value in known)
    floats[is_known] = as_floats(np.array(known)) if is_whole else [float(value) for value in known]
    return floats
