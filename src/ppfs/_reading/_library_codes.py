"""Codes that a data frame library has already, or finds in compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class LibraryCodes:
    """A column as its library numbers it.

    Attributes
    ----------
    codes : ndarray of int, shape (n_rows,)
        Positions in `values`, in any order; -1 for a gap.

    values : sequence
        What the numbers stand for. Some may occur in no row.

    declared : sequence or None
        The values from low to high, if they have an order that the caller declared.
    """

    codes: NDArray[Any]
    values: Sequence[Any]
    declared: Sequence[Any] | None = None


def pandas_categories(X: Any) -> list[LibraryCodes] | None:
    """Return the columns of a pandas frame that holds nothing but categories; None for everything else.

    Asking narwhals about each column takes longer than a search among some dozens of them.
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


def library_codes(series: nw.Series[Any]) -> LibraryCodes | None:
    """Return the codes of a column of text or categories; None for libraries that are not known here."""
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
    # Not the numbers that polars keeps: those of a Categorical are shared by all columns of a program.
    values = series.drop_nulls().unique().cast(polars.String).sort().to_list()
    numbers = series.cast(polars.String).cast(polars.Enum(values)).to_physical().cast(polars.Int64)
    return LibraryCodes(numbers.fill_null(-1).to_numpy(), values)


def _arrow_codes(column: Any) -> LibraryCodes:
    encoded = column.dictionary_encode().unify_dictionaries().combine_chunks()
    # One chunk, or none where there are no rows.
    chunk = encoded.chunk(0) if hasattr(encoded, "num_chunks") else encoded
    return LibraryCodes(
        np.asarray(chunk.indices.fill_null(-1).to_numpy(zero_copy_only=False)), chunk.dictionary.to_pylist()
    )
