"""The columns of X as one matrix of numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import date, time, timedelta
from functools import partial
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array

from ppfs._data.columns import Columns
from ppfs._data.facts import is_compact
from ppfs._data.frames import CallersFrame
from ppfs._data.kinds import ColumnKinds
from ppfs._data.naming import as_names
from ppfs._data.reading.categories import Coded, as_numbers, coded, is_missing, kind_of, recoded
from ppfs._data.reading.large_integers import beyond_floats, exact_columns
from ppfs._data.reading.library_codes import library_codes, pandas_categories
from ppfs._data.storage import storage_of
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError


def read_columns(X: Any, *, owner: object, min_rows: int = 2, on_device: Any = None) -> Columns:
    """Read X: plain numbers as they are, everything else column by column.

    `on_device` is the same matrix in the memory of a GPU, if it is there.
    """
    names = column_names(X)
    check = partial(
        check_array,
        accept_sparse="csc",
        ensure_all_finite=False,
        ensure_min_samples=min_rows,
        estimator=owner,
        input_name="X",
    )
    parts = _parts_of(X)
    if parts is None:
        whole = exact_columns(X) if isinstance(X, np.ndarray) and X.ndim == 2 else X
        matrix = check(whole, dtype=None if _has_compact_numbers(X) else [np.float64, np.float32])
        coded_parts: dict[int, Coded] = {}
    else:
        # Codes beside numbers are floats; a matrix of codes only keeps their small type.
        matrix = check(np.column_stack([_numbers_in(part) for part in parts]), dtype=None)
        coded_parts = {i: part for i, part in enumerate(parts) if isinstance(part, Coded)}
    if sp.issparse(matrix):
        matrix = _tidy_sparse(matrix)
    n_columns = matrix.shape[1]
    n_levels = np.zeros(n_columns, dtype=np.intp)
    for column, part in coded_parts.items():
        n_levels[column] = len(part.labels)
    return Columns(
        storage_of(matrix, on_device),
        tuple(names or [f"x{i}" for i in range(n_columns)]),
        n_levels,
        ColumnKinds(matrix, n_levels, from_values=True),
        {column: part.labels for column, part in coded_parts.items()},
        CallersFrame.of(X, names, matrix, n_levels),
        has_names=names is not None,
    )


def _has_compact_numbers(X: Any) -> bool:
    """Return whether X is an array, or a pandas frame, of one type of numbers that take fewer bytes than floats."""
    if isinstance(X, np.ndarray):
        return is_compact(X.dtype)
    types = list(X.dtypes) if nw.dependencies.is_pandas_dataframe(X) else []
    # NumPy's types first, because comparing categorical types of pandas is slow.
    return all(isinstance(dtype, np.dtype) and is_compact(dtype) for dtype in types) and len(set(types)) == 1


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None if there are none.

    Raises
    ------
    InvalidInputError
        If two columns have the same name.
    """
    # The columns of a table of PyArrow are its values.
    columns = X.column_names if nw.dependencies.is_pyarrow_table(X) else getattr(X, "columns", None)
    if columns is None:
        return None
    names = as_names(columns)
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InvalidInputError(
            f"Column names must be unique, but X has more than one column named {listed(repeated)}. "
            "Rename the columns, or drop the copies."
        )
    return names


def _numbers_in(part: Coded | NDArray[np.float64]) -> NDArray[Any]:
    return part.codes if isinstance(part, Coded) else part


def _parts_of(X: Any) -> list[Coded | NDArray[np.float64]] | None:
    """Return the columns one by one, or None if scikit-learn reads X, or reports its error."""
    if not isinstance(X, np.ndarray):
        known = pandas_categories(X)
        if known is not None:
            return [recoded(one.codes, one.values, one.declared) for one in known]
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return _frame_parts(frame)
    array = _text_array(X)
    return None if array is None else _array_parts(array)


def _frame_parts(frame: nw.DataFrame[Any]) -> list[Coded | NDArray[np.float64]] | None:
    if not frame.columns:
        raise InvalidInputError(
            f"X has 0 feature(s) (shape={frame.shape}) while a minimum of 1 is required: there is nothing to select "
            "from."
        )
    schema = frame.schema
    if all(map(_is_number, schema.values())):
        return _integer_parts(frame, schema)
    # By position: names in pandas may be integers, which narwhals treats as rows.
    columns = [
        _FrameColumn(str(name), values, dtype)
        for (name, dtype), values in zip(schema.items(), frame.iter_columns(), strict=True)
    ]
    _refuse_dates([column.name for column in columns if column.dtype.is_temporal()])
    if all(map(_is_plain, columns)):
        return None
    _refuse_others(_unusable(columns))
    return [_frame_part(column) for column in columns]


def _integer_parts(frame: nw.DataFrame[Any], schema: nw.Schema) -> list[Coded | NDArray[np.float64]] | None:
    """Return the columns of a numeric frame if some of them hold integers that floats cannot represent, else None."""
    series = list(frame.iter_columns())
    is_wide = [dtype in (nw.Int64, nw.UInt64) for dtype in schema.values()]
    wide = [values.to_numpy() for values, wanted in zip(series, is_wide, strict=True) if wanted]
    if not any(bool(beyond_floats(values)) for values in wide):
        return None
    return [as_numbers(values.to_numpy()) for values in series]


class _FrameColumn(NamedTuple):
    """A column of a data frame with its type, which is slow to get from narwhals."""

    name: str
    values: nw.Series[Any]
    dtype: nw.dtypes.DType


def _is_plain(column: _FrameColumn) -> bool:
    """Return whether scikit-learn can read the column; narwhals does not know pandas' sparse columns."""
    if column.dtype == nw.Unknown:
        return column.values.to_numpy().dtype.kind in "biuf" and not column.values.is_null().all()
    return _is_number(column.dtype)


def _is_number(dtype: nw.dtypes.DType) -> bool:
    """Return whether NumPy has this type of numbers; it has no decimals."""
    return dtype == nw.Boolean or (dtype.is_numeric() and dtype != nw.Decimal)


def _is_categorical(column: _FrameColumn) -> bool:
    return column.dtype in (nw.String, nw.Categorical, nw.Enum)


def _unusable(columns: Sequence[_FrameColumn]) -> Iterator[tuple[str, Any]]:
    """Yield the columns that hold neither numbers nor categories, each with one of its values."""
    for column in columns:
        if _is_categorical(column) or column.dtype == nw.Decimal or _is_plain(column):
            continue
        objects = _objects(column.values)
        if kind_of(objects) == "other":
            yield column.name, next(value for value in objects if not _is_simple(value))


def _is_simple(value: Any) -> bool:
    return kind_of(_vector([value])) != "other"


def _vector(values: Sequence[Any]) -> NDArray[Any]:
    """Return a vector of objects; NumPy would turn a list of lists into a matrix."""
    vector = np.empty(len(values), dtype=object)
    vector[:] = values
    return vector


def _objects(values: nw.Series[Any]) -> NDArray[Any]:
    return _vector(values.to_list())


def _frame_part(column: _FrameColumn) -> Coded | NDArray[np.float64]:
    _, values, dtype = column
    if _is_categorical(column):
        declared = dtype.categories if isinstance(dtype, nw.Enum) else None
        known = library_codes(values)
        if known is None:
            return coded(values.to_list(), declared)
        return recoded(known.codes, known.values, declared)
    if dtype.is_numeric() or dtype == nw.Boolean:
        return as_numbers(values.to_numpy())
    objects = _objects(values)
    # A column of missing values has no type: it is read as text, as pandas and polars may declare it.
    is_text = kind_of(objects) == "text" or all(map(is_missing, objects))
    return coded(objects) if is_text else as_numbers(objects)


def _text_array(X: Any) -> NDArray[Any] | None:
    """Return X if it is an array that may hold text, lists as an array of objects; else None."""
    if isinstance(X, list | tuple):
        try:
            is_text = np.asarray(X).dtype.kind in "OUS"
            X = np.array(X, dtype=object) if is_text else X
        except ValueError:  # Rows of different lengths: scikit-learn raises.
            return None
    if not isinstance(X, np.ndarray) or X.ndim != 2:
        return None
    if X.dtype.kind in "mM":
        _refuse_dates([f"column {i}" for i in range(X.shape[1])])
    return X if X.dtype.kind in "OUS" else None


def _array_parts(array: NDArray[Any]) -> list[Coded | NDArray[np.float64]] | None:
    columns = [_decoded(array[:, i], f"column {i}") for i in range(array.shape[1])]
    kinds = [kind_of(column) for column in columns]
    # Without text, scikit-learn converts the array, and its error for other objects is well known.
    if "text" not in kinds:
        return None
    _refuse_others(
        (f"column {i}", next(value for value in columns[i] if not _is_simple(value)))
        for i, kind in enumerate(kinds)
        if kind == "other"
    )
    return [
        coded(column) if kind == "text" else as_numbers(column)
        for column, kind in zip(columns, kinds, strict=True)
    ]


def _decoded(column: NDArray[Any], name: str) -> NDArray[Any]:
    """Return a column of bytes as text, any other as it is."""
    if column.dtype.kind != "S":
        return column
    try:
        return column.astype(str)
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"X must hold numbers or text, but {name} holds bytes that are not ASCII text, such as "
            f"{error.object[:20]!r}. Decode the column first: np.char.decode(X, 'latin-1')."
        ) from error


def _refuse_dates(names: Sequence[str]) -> None:
    if names:
        raise InvalidInputError(
            f"X must hold numbers or categories, but {listed(names)} {_verb(names)} dates or times. Convert "
            "them to numbers or categories: days since a date, the month, the weekday, seconds of a duration."
        )


def _refuse_others(columns: Iterator[tuple[str, Any]]) -> None:
    found = list(columns)
    _refuse_dates([name for name, value in found if isinstance(value, date | time | timedelta)])
    if found:
        names = [name for name, _ in found]
        raise InvalidInputError(
            f"X must hold numbers or categories, but {listed(names)} {_verb(names)} values of type "
            f"{type(found[0][1]).__name__}. Convert them to numbers or text first, or drop the columns."
        )


def _verb(names: Sequence[str]) -> str:
    return "holds" if len(names) == 1 else "hold"


def _tidy_sparse(matrix: Any) -> Any:
    """Return a csc_array without duplicates and stored zeros, with 32-bit indices if possible."""
    tidy = sp.csc_array(matrix)
    if not (tidy.has_canonical_format and np.all(tidy.data)):
        tidy = tidy.copy()
        tidy.sum_duplicates()
        tidy.eliminate_zeros()
    # scikit-learn's trees take 32-bit indices only.
    if max(tidy.nnz, *tidy.shape) <= np.iinfo(np.int32).max:
        short = (part.astype(np.int32, copy=False) for part in (tidy.indices, tidy.indptr))
        tidy = sp.csc_array((tidy.data, *short), shape=tidy.shape)
    return tidy
