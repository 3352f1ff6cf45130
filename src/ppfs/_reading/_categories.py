"""Text and categories as codes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs._table import MISSING_LABEL

_MISSING_TYPES = frozenset({"NAType", "NaTType"})


@dataclass(frozen=True)
class Coded:
    """A column of categories.

    Attributes
    ----------
    codes : ndarray of float, shape (n_rows,)
        The number of each row's category.

    labels : tuple of str
        What the categories are called; a gap is the last one, if there are gaps.
    """

    codes: NDArray[np.float64]
    labels: tuple[str, ...]


def coded(values: Iterable[Any], declared: Sequence[Any] | None = None) -> Coded:
    """Give every category of a column a number.

    Categories are numbered in the order of their texts, so that pandas and polars, which keep them in
    different orders, give the same numbers. Where the caller declared an order, that one counts.
    Categories that no row holds get no number; gaps are the last category.

    Parameters
    ----------
    values : iterable
        One value a row.

    declared : sequence or None
        The categories from low to high, if they have an order.
    """
    present = [None if is_missing(value) else value for value in values]
    if declared is None:
        present = [None if value is None else str(value) for value in present]
        order: list[Any] = sorted(value for value in set(present) if value is not None)
    else:
        held = set(present)
        order = [value for value in declared if value in held]
    labels = [str(value) for value in order]
    number: dict[Any, int] = {value: code for code, value in enumerate(order)}
    if None in present:
        number[None] = len(labels)
        labels.append(MISSING_LABEL)
    codes = np.fromiter((number[value] for value in present), dtype=np.float64, count=len(present))
    return Coded(codes, tuple(labels))


def is_missing(value: Any) -> bool:
    """Tell whether a value stands for a gap: None, NaN, or what pandas uses for them."""
    if value is None or type(value).__name__ in _MISSING_TYPES:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))


def kind_of(values: NDArray[Any]) -> Literal["numbers", "text", "other"]:
    """Tell what a column of Python objects holds, gaps aside.

    Text that can be read as numbers counts as numbers if all of it can.
    """
    if converts(values):
        return "numbers"
    filled = [value for value in values if not is_missing(value)]
    if not all(isinstance(value, str | Real | Decimal | np.bool_) for value in filled):
        return "other"
    text = [value for value in filled if isinstance(value, str)]
    return "numbers" if converts(np.array(text, dtype=object)) else "text"


def converts(values: NDArray[Any]) -> bool:
    """Tell whether NumPy can read every value as a number."""
    try:
        values.astype(np.float64)
    except (TypeError, ValueError):
        return False
    return True


def as_numbers(values: NDArray[Any]) -> NDArray[np.float64]:
    """Return a column of numbers as floats, gaps as NaN."""
    if values.dtype.kind != "O":
        return values.astype(np.float64)
    return np.array([np.nan if is_missing(value) else float(value) for value in values], dtype=np.float64)
