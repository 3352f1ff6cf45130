"""Data frames in the caller's library: of results, and of a matrix of numbers and codes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ppfs._libraries import first_installed

_BACKENDS = ("pandas", "polars", "pyarrow")


def new_frame(values: Mapping[str, Sequence[Any]], types: Mapping[str, Any], backend: Any = None) -> Any:
    """Return a data frame of columns.

    Parameters
    ----------
    values : mapping of str to sequence
        The columns.

    types : mapping of str to narwhals type
        The type of each column.

    backend : {"pandas", "polars", "pyarrow"}, default=None
        The library of the frame; None uses pandas, or polars if pandas is not installed.
    """
    if backend is None:
        backend = first_installed(_BACKENDS, "A data frame")
    maker: Any = nw.Implementation.from_backend(backend)
    # pandas has no lists of text without pyarrow; the others need the types of empty lists.
    known = None if maker.is_pandas_like() else types
    return nw.from_dict(values, known, backend=maker).to_native()


def backend_of(X: Any) -> Any:
    """Return the library of a data frame, or None for anything else."""
    if isinstance(X, np.ndarray):
        return None
    if nw.dependencies.is_pandas_dataframe(X):
        # Without narwhals, which is slow to wrap a frame.
        return nw.Implementation.PANDAS.value
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame.implementation.value if isinstance(frame, nw.DataFrame) else None


@dataclass(frozen=True)
class FrameColumns:
    """How to create a data frame from a matrix.

    Attributes
    ----------
    backend : narwhals.Implementation
        The library of the caller's frame.

    own_names : dict of str to object
        The name of each column in the caller's frame, in order; pandas allows names that are not text.

    examples : mapping of str to series
        One value for each code of a column of categories, in the caller's type.
    """

    backend: Any
    own_names: dict[str, Any]
    examples: Mapping[str, Any]

    def frame(self, X: NDArray[np.float64], names: Sequence[str]) -> Any:
        """Return a data frame of some columns: numbers as floats, categories in the caller's type.

        Parameters
        ----------
        names : sequence of str
            One name per column of X. A column that the caller's frame does not have holds numbers.
        """
        # Native series: narwhals 1.38 passes its own to polars, which cannot read categories from them.
        series = {name: self._series(X[:, column], name).to_native() for column, name in enumerate(names)}
        native = nw.from_dict(series, backend=self.backend).to_native()
        own_names = [self.own_names.get(name, name) for name in names]
        if own_names != list(names):
            native.columns = own_names  # Only pandas allows names that are not text.
        return native

    def _series(self, values: NDArray[np.float64], name: str) -> nw.Series[Any]:
        if name not in self.examples:
            return nw.new_series(name, values, nw.Float64, backend=self.backend)
        examples = nw.from_native(self.examples[name], series_only=True)
        return nw.maybe_reset_index(examples[values.astype(np.intp).tolist()])


class CallersFrame:
    """The data frame that a table was read from, kept to create frames like it.

    Parameters
    ----------
    X : data frame
        The caller's frame.

    names : sequence of str
        The names of the columns in the table.

    matrix : ndarray of shape (n_rows, n_columns)
        Numbers and codes.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers.
    """

    def __init__(self, X: Any, names: Sequence[str], matrix: Any, n_levels: NDArray[np.intp]) -> None:
        self._X = X
        self._names = names
        self._matrix = matrix
        self._n_levels = n_levels

    @classmethod
    def of(
        cls, X: Any, names: Sequence[str] | None, matrix: Any, n_levels: NDArray[np.intp]
    ) -> CallersFrame | None:
        """Return the caller's frame, or None if X is not a data frame."""
        return None if names is None or backend_of(X) is None else cls(X, names, matrix, n_levels)

    def with_codes(self, matrix: Any, n_levels: NDArray[np.intp]) -> CallersFrame:
        """Return the same frame with other columns of categories."""
        return CallersFrame(self._X, self._names, matrix, n_levels)

    @property
    def description(self) -> str:
        """What frames made from this one have beside numbers: its library, and names and types of its columns."""
        frame = nw.from_native(self._X, eager_only=True)
        types = [str(frame[:, column].dtype) for column in np.flatnonzero(self._n_levels).tolist()]
        return repr((str(frame.implementation), list(frame.columns), types))

    @cached_property
    def columns(self) -> FrameColumns:
        """How to create frames like this one."""
        frame = nw.from_native(self._X, eager_only=True)
        examples = {}
        for column, series in enumerate(frame.iter_columns()):
            if self._n_levels[column]:
                first_rows = np.unique(self._matrix[:, column], return_index=True)[1]
                examples[self._names[column]] = series[first_rows.tolist()].to_native()
        own_names = dict(zip(self._names, frame.columns, strict=True))
        return FrameColumns(frame.implementation, own_names, examples)
