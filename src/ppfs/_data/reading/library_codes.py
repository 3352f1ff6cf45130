"""Codes of categories from a data frame library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LibraryCodes:
    """A column of categories with the codes of its library.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows,)
        Positions in `values`, in any order; -1 for a missing value.

    values : sequence
        The categories. Some may occur in no row.

    declared : sequence or None
        The values from low to high, if the caller declared an order.
    """

    codes: NDArray[Any]
    values: Sequence[Any]
    declared: Sequence[Any] | None = None


def pandas_categories(X: Any) -> list[LibraryCodes] | None:
    """Return the columns of a pandas frame that holds categories only; None for everything else.

    Reading each column through narwhals takes longer than a search among some dozens of them.
    """
    if not nw.dependencies.is_pandas_dataframe(X) or not X.shape[1]:
        return None
    if not all(hasattr(dtype, "categories") for dtype in X.dtypes):
        return None
    arrays = [series.array for _, series in X.items()]
    columns = []
    for array in arrays:
        values = array.categories.tolist()
        columns.append(LibraryCodes(array.codes, values, values if array.ordered else None))
    return columns


def pandas_labels(y: Any) -> NDArray[np.str_] | None:
    """Return the texts in a pandas series of text categories without missing values; None for everything else."""
    if not nw.dependencies.is_pandas_series(y) or not hasattr(y.dtype, "categories"):
        return None
    codes, values = y.array.codes, y.array.categories.tolist()
    *is_held, has_missing = held_codes(codes, len(values))
    # Categories that occur in no row take no memory.
    held = [value if is_it else "" for value, is_it in zip(values, is_held, strict=True)]
    if has_missing or not held or not all(type(value) is str for value in held):
        return None
    labels: NDArray[np.str_] = np.array(held, dtype=np.str_)[codes]
    return labels


def held_codes(codes: NDArray[Any], n_values: int) -> list[bool]:
    """Return whether each of the codes 0 to `n_values` - 1 occurs, and last whether -1 occurs."""
    if codes.dtype == np.int8:
        # Searching for a byte takes a tenth of the time of counting.
        held = codes.tobytes()
        return [code in held for code in [*range(n_values), 255]]
    is_held = np.zeros(n_values + 1, dtype=bool)
    is_held[codes] = True
    return is_held.tolist()


def library_codes(series: nw.Series[Any]) -> LibraryCodes | None:
    """Return the codes of a column of text or categories; None for other libraries."""
    native: Any = series.to_native()
    if nw.dependencies.is_pandas_series(native):
        return _pandas_codes(native)
    if nw.dependencies.is_polars_series(native):
        return _polars_codes(native)
    if nw.dependencies.is_pyarrow_chunked_array(native):
        return _arrow_codes(native)
    return None


def _pandas_codes(series: Any) -> LibraryCodes:
    array = series.array
    if hasattr(array, "categories"):
        return LibraryCodes(array.codes, array.categories.tolist())
    codes, values = series.factorize()
    return LibraryCodes(codes, values.tolist())


def _polars_codes(series: Any) -> LibraryCodes:
    polars = nw.get_native_namespace(series)
    # Not the codes of polars: those of a Categorical are shared by all columns of a program.
    values = series.drop_nulls().unique().cast(polars.String).sort().to_list()
    numbers = series.cast(polars.String).cast(polars.Enum(values)).to_physical().cast(polars.Int64)
    return LibraryCodes(numbers.fill_null(-1).to_numpy(), values)


def _arrow_codes(column: Any) -> LibraryCodes:
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    # One chunk, or none without rows.
    chunk = encoded.chunk(0) if hasattr(encoded, "num_chunks") else encoded
    return LibraryCodes(
        np.asarray(chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)), chunk.dictionary.to_pylist()
    )
