"""Masked arrays: an entry under the mask is a missing value."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data.reading.large_integers import exact_columns


def unmasked(values: Any) -> Any:
    """Return a masked array as a plain array with missing values under the mask, and anything else unchanged.

    A missing value is NaN among numbers, which become floats, and None among text and objects. Rows that are masked
    arrays, in a list, become one masked array first.

    Examples
    --------
    >>> import numpy as np
    >>> unmasked(np.ma.array([1, 2, 3], mask=[False, True, False]))
    array([ 1., nan,  3.])
    """
    if isinstance(values, list | tuple) and any(
        isinstance(row, np.ma.MaskedArray) and row.ndim for row in values
    ):
        values = np.ma.array(values)
    if not isinstance(values, np.ma.MaskedArray):
        return values
    data, mask = np.ma.getdata(values), np.ma.getmaskarray(values)
    if data.dtype.names is not None:
        return _record({name: unmasked(values[name]) for name in data.dtype.names}, data.shape)
    if not mask.any():
        return data
    if data.dtype.kind in "biu":
        lowest = np.ma.filled(values.min(axis=0), 0)
        filled = _floats(np.where(mask, lowest, data))
    else:
        filled = data.astype(object) if data.dtype.kind in "US" else data.copy()
    filled[mask] = {"O": None, "m": "NaT", "M": "NaT"}.get(filled.dtype.kind, np.nan)
    return filled


def _floats(whole: NDArray[Any]) -> NDArray[np.float64]:
    """Return columns of integers or booleans as floats that stay distinct."""
    columns = whole.reshape(len(whole), -1)
    return exact_columns(columns).astype(np.float64).reshape(whole.shape)


def _record(fields: dict[str, NDArray[Any]], shape: tuple[int, ...]) -> NDArray[Any]:
    record = np.empty(shape, dtype=[(name, field.dtype) for name, field in fields.items()])
    for name, field in fields.items():
        record[name] = field
    return record
