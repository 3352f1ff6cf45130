"""Checks of X and y before they are read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp

from ppfs._data.reading.masked import unmasked
from ppfs._data.sparse import require_sound
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError

_KINDS = {
    "X": "an array, a sparse matrix, a data frame, a list of rows or a path",
    "y": "an array, a series or a list with one value per row",
}


def readable(X: Any) -> Any:
    """Return X, with missing values in place of masked entries, or raise if its columns cannot be read.

    Raises
    ------
    InvalidInputError
        If X is a dict or a list of dicts, an iterator, a LazyFrame, a structured array, a matrix or a malformed sparse
        matrix.
    """
    if nw.dependencies.is_polars_lazyframe(X):
        raise InvalidInputError("X is a LazyFrame, whose values are not computed yet. Pass X.collect().")
    if isinstance(X, np.ndarray) and X.dtype.names is not None:
        raise InvalidInputError(
            f"X is a structured array with the fields {listed(X.dtype.names)}. Pass a data frame: pandas.DataFrame(X)."
        )
    if isinstance(X, np.matrix):
        raise InvalidInputError(
            "X is a numpy.matrix, which scikit-learn does not support. Pass np.asarray(X)."
        )
    require_values(X, "X")
    require_sound(X)
    return unmasked(X)


def require_one_type_of_names(X: Any) -> None:
    """Raise if some columns of a data frame are named by text and others by something else, as scikit-learn does."""
    if not nw.dependencies.is_pandas_dataframe(X):
        return
    kinds = sorted({type(name).__name__ for name in X.columns})
    if "str" in kinds and len(kinds) > 1:
        other = next(name for name in X.columns if not isinstance(name, str))
        raise InvalidInputError(
            f"Column names must be all text or all numbers, but X has names of the types {listed(kinds)}, such as "
            f"{other!r}. Pass X.set_axis(X.columns.astype(str), axis=1)."
        )


def require_values(values: Any, name: str) -> None:
    """Raise if `values`, the caller's X or y, is neither array-like nor a data frame."""
    if sp.issparse(values):  # A DOK matrix is a dict.
        return
    kind = type(values).__name__
    if isinstance(values, Mapping):
        way_out = f"Pass pandas.DataFrame({name})." if name == "X" else "Pass list(y.values())."
    elif isinstance(values, list | tuple) and any(isinstance(row, Mapping) for row in values):
        kind = f"{kind} and holds dicts"
        way_out = "Pass pandas.DataFrame(X)." if name == "X" else "Pass one value per row."
    elif isinstance(values, Iterator | Set):
        way_out = f"Pass list({name})."
    elif any(hasattr(values, method) for method in ("__array__", "__getitem__")) and not isinstance(
        values, type | bytes | bytearray
    ):
        return
    else:
        way_out = "Pass one of these."
    raise InvalidInputError(f"{name} must be {_KINDS[name]}, but is of type {kind}. {way_out}")
