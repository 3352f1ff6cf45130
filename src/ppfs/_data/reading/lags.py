"""Lagged copies of columns: the values of earlier rows beside those of each row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import n_rows_of
from ppfs._data.frames import new_frame
from ppfs._data.naming import ColumnsLike, column_index, one_or_more
from ppfs._data.reading.device_arrays import to_host
from ppfs._data.reading.fit_data import FitData
from ppfs._data.reading.readable import readable
from ppfs._data.reading.rows import only_rows
from ppfs._data.reading.time import as_rows_in_time, time_values
from ppfs._data.sources import is_path
from ppfs._data.time_order import RowsInTime
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Lags:
    """Which lagged copies a table has.

    Attributes
    ----------
    lags : tuple of int
        By how many rows, ascending.

    together : bool
        Whether a column and its copies are one feature.

    order : str
        The column that sorts the rows, or "index".

    names : tuple of str
        The columns that were passed.
    """

    lags: tuple[int, ...]
    together: bool
    order: str
    names: tuple[str, ...]

    def groups(self, given: Mapping[str, ColumnsLike] | None) -> dict[str, list[str]] | None:
        """Return the feature groups of the table with the copies, from those of the columns without them."""
        own = {
            str(group): [
                self.names[column_index(column, self.names)] for column in one_or_more(columns, group)
            ]
            for group, columns in (given or {}).items()
        }
        if not self.together:
            copies = {
                name_of_copy(group, lag): [name_of_copy(name, lag) for name in columns if name != self.order]
                for group, columns in own.items()
                for lag in self.lags
            }
            return {**own, **{group: columns for group, columns in copies.items() if columns}} or None
        grouped = {name for columns in own.values() for name in columns}
        single = {name: [name] for name in self.names if name not in grouped and name != self.order}
        return {
            group: [
                *columns,
                *(name_of_copy(name, lag) for lag in self.lags for name in columns if name != self.order),
            ]
            for group, columns in (own | single).items()
        }

    def added(self, X: Any) -> Any:
        """Return rows to transform with their copies, which are missing in the first rows."""
        return lagged(X, self.lags, self.order)


def name_of_copy(name: str, lag: int) -> str:
    """Return the name of a lagged copy, such as temperature_lag7."""
    return f"{name}_lag{lag}"


def lagged(X: Any, lags: Sequence[int], order: Any = "index") -> Any:
    """Return a table with lagged copies of its columns.

    The copy of a column by a lag of 7 has, in each row, the value of the row that is the seventh before it in time. In
    the first rows there is none, and the value is missing. ``fit(X, y, time=..., lags=...)`` makes the same copies and
    leaves these rows out.

    Parameters
    ----------
    X : array or data frame of shape (n_rows, n_columns)
        An array becomes a data frame with the columns x0, x1 and so on.

    lags : sequence of int
        By how many rows.

    order : array-like of shape (n_rows,) or str, default="index"
        What sorts the rows: numbers or dates, the name of a column of X, which then has no copies, or "index" for the
        order of the rows.

    Returns
    -------
    data frame
        The columns of X, followed by the copies by the first lag, by the second, and so on.

    Examples
    --------
    >>> import pandas as pd
    >>> import ppfs
    >>> ppfs.lagged(pd.DataFrame({"rain": [3.0, 0.0, 5.0]}), [1])
       rain  rain_lag1
    0   3.0        NaN
    1   0.0        3.0
    2   5.0        0.0
    """
    frame = _as_frame(X)
    return _with_copies(frame, _read_lags(lags), order, *_earlier(frame, order)).to_native()


def with_lags(data: FitData, lags: Sequence[int] | None) -> tuple[Lags | None, FitData]:
    """Return the data of a fit with lagged copies of the columns, without the first rows, which have no past.

    Parameters
    ----------
    lags : sequence of int or None
        None: those of `time`.

    Returns
    -------
    lags : Lags or None
        None without lags, and the data are the caller's.

    data : FitData
    """
    time = data.time
    in_time = None if time is None and lags is None else as_rows_in_time("index" if time is None else time)
    wanted = () if in_time is None else _read_lags(in_time.lags if lags is None else lags)
    if in_time is None or not wanted:
        return None, data
    frame = _as_frame(data.X)
    by_time, places = _earlier(frame, in_time.order)
    n_rows, most = by_time.size, wanted[-1]
    if n_rows <= 2 * most:
        raise InvalidInputError(
            f"lags={list(wanted)} leave {max(n_rows - most, 0)} of {n_rows} rows, because the first {most} have no "
            "value that many rows earlier. Use smaller lags, or more rows."
        )
    kept = np.sort(by_time[most:])
    copied = _with_copies(frame, wanted, in_time.order, by_time, places, kept)
    named = isinstance(in_time.order, str) and in_time.order != "index"
    made = Lags(
        wanted, bool(in_time.lags_together), in_time.order if named else "index", tuple(frame.columns)
    )
    in_time = replace(in_time, order=in_time.order if named else places[kept], lags=())
    y, groups, sample_weight = (only_rows(part, kept) for part in (data.y, data.groups, data.sample_weight))
    return made, FitData(copied.to_native(), y, groups, in_time, sample_weight)


def _read_lags(lags: Any) -> tuple[int, ...]:
    given = list(lags) if isinstance(lags, Sequence | np.ndarray) and not isinstance(lags, str) else [lags]
    wrong = [lag for lag in given if not isinstance(lag, Integral) or int(lag) < 1]
    if wrong:
        raise InvalidInputError(
            f"lags must list numbers of rows from 1 on, such as [1, 2, 7], but has {wrong[0]!r}. The columns "
            "themselves are always there."
        )
    return tuple(sorted({int(lag) for lag in given}))


def _as_frame(X: Any) -> nw.DataFrame[Any]:
    if is_path(X):
        raise InvalidInputError("lags need X in memory, but X is a path. Read the columns into a data frame.")
    X = readable(to_host(X))
    if sp.issparse(X):
        raise InvalidInputError("lags need dense columns, but X is sparse. Pass X.toarray().")
    if not nw.dependencies.is_into_dataframe(X):
        columns = np.asarray(X).T
        names = [f"x{column}" for column in range(len(columns))]
        types = dict.fromkeys(names, nw.Float64)
        X = new_frame(dict(zip(names, columns, strict=True)), types)
    frame: nw.DataFrame[Any] = nw.from_native(X, eager_only=True)
    if not all(isinstance(name, str) for name in frame.columns):
        raise InvalidInputError(
            "lags need columns that are named by text: X.columns = X.columns.astype(str)."
        )
    return frame


def _earlier(frame: nw.DataFrame[Any], order: Any) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows in the order of time, and the place of each row in it."""
    native = frame.to_native()
    n_rows = int(n_rows_of(native))
    values = time_values(RowsInTime(order), native, n_rows)
    by_time = np.argsort(values, kind="stable")
    ordered = values[by_time]
    same = np.flatnonzero(ordered[1:] == ordered[:-1])
    if same.size:
        raise InvalidInputError(
            f"lags need one row per time, but {same.size + 1} rows or more share one, such as {ordered[same[0]]}. If "
            "there are several series, make the copies of each with ppfs.lagged, and pass groups."
        )
    places = np.empty(n_rows, dtype=np.intp)
    places[by_time] = np.arange(n_rows)
    return by_time, places


def _with_copies(
    frame: nw.DataFrame[Any],
    lags: tuple[int, ...],
    order: Any,
    by_time: NDArray[np.intp],
    places: NDArray[np.intp],
    rows: NDArray[np.intp] | None = None,
) -> nw.DataFrame[Any]:
    """Return some rows with copies of all columns but the one that sorts them."""
    named = isinstance(order, str) and order != "index"
    columns = [name for name in frame.columns if not (named and name == order)]
    shown = np.arange(by_time.size) if rows is None else rows
    parts = [frame if rows is None else frame[rows.tolist()]]
    taken = set(frame.columns)
    for lag in lags:
        clash = [name_of_copy(name, lag) for name in columns if name_of_copy(name, lag) in taken]
        if clash:
            raise InvalidInputError(
                f"X already has a column {clash[0]!r}, which is the name of a lagged copy. Rename it, or leave "
                "out lags."
            )
        past = places[shown] - lag
        earlier = frame.select(columns)[by_time[np.maximum(past, 0)].tolist()]
        if (past < 0).any():
            known = nw.new_series("known", past >= 0, backend=frame.implementation)
            if nw.dependencies.is_pandas_dataframe(earlier.to_native()):
                known = nw.from_native(
                    known.to_native().set_axis(earlier.to_native().index), series_only=True
                )
            # As a column: narwhals before 2.0 takes no series as a condition. No column has a longer name.
            mark = max(columns, key=len, default="") + "_known"
            kept = (nw.when(nw.col(mark)).then(nw.col(name)).alias(name) for name in columns)
            earlier = earlier.with_columns(known.alias(mark)).with_columns(kept).drop(mark)
        renamed = earlier.rename({name: name_of_copy(name, lag) for name in columns})
        if nw.dependencies.is_pandas_dataframe(renamed.to_native()):
            renamed = nw.from_native(
                renamed.to_native().set_axis(parts[0].to_native().index), eager_only=True
            )
        parts.append(renamed)
    return nw.concat(parts, how="horizontal")
