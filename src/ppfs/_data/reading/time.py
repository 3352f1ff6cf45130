"""The order of the rows in time, and residuals that show how long neighbors stay correlated."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import warn_caller
from ppfs._data.columns import Columns
from ppfs._data.reading.categories import is_missing
from ppfs._data.table import Table
from ppfs._data.target import Target
from ppfs._data.time_order import RowsInTime, TimeOrder, are_neighbors_alike, chosen_block_length
from ppfs.exceptions import DependentRowsWarning, InvalidInputError

# The target's residuals come from a linear model: its maximum number of columns, and the rows that each needs.
_MOST_REGRESSORS, _ROWS_PER_REGRESSOR = 50, 5
_PENALTY = 1e-3
# Enough to measure how similar neighbors are, however large the table is.
_MOST_ROWS, _MOST_COLUMNS = 20_000, 200


def as_rows_in_time(time: Any) -> RowsInTime:
    """Return what the caller passed as `time` in its long form, or raise if its numbers are wrong."""
    given = time if isinstance(time, RowsInTime) else RowsInTime(time)
    gap: Any = given.gap
    length: Any = given.block_length
    if not isinstance(gap, Integral) or gap < 0:
        raise InvalidInputError(f"RowsInTime(gap={given.gap!r}) must be a number of rows, 0 for no gap.")
    if length is not None and (not isinstance(length, Integral) or length < 1):
        raise InvalidInputError(
            f"RowsInTime(block_length={length!r}) must be a number of rows, or None to have it chosen."
        )
    return given


def time_values(given: RowsInTime, X: Any, n_rows: int) -> NDArray[Any]:
    """Return the numbers or dates that sort the rows."""
    order = given.order
    if isinstance(order, str) and order != "index":
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame) or order not in frame.columns:
            what = f"no column {order!r}" if isinstance(frame, nw.DataFrame) else "no column names"
            raise InvalidInputError(
                f"time={order!r} must name a column of X, which has {what}. Pass the times themselves as an array, or "
                'time="index" if the rows are already in order.'
            )
        return _sortable(frame[order].to_numpy(), n_rows)
    if isinstance(order, str):
        index = X.index.to_numpy() if nw.dependencies.is_pandas_dataframe(X) else None
        # A filtered or shuffled frame keeps its numbers; an index of text has no order.
        return np.arange(n_rows) if index is None or index.dtype.kind not in "iufM" else index
    series = nw.from_native(order, series_only=True, allow_series=True, pass_through=True)
    return _sortable(series.to_numpy() if isinstance(series, nw.Series) else np.asarray(order), n_rows)


def _sortable(values: NDArray[Any], n_rows: int) -> NDArray[Any]:
    if values.shape != (n_rows,):
        raise InvalidInputError(
            f"time must hold one value per row, shape ({n_rows},), but its shape is {values.shape}."
        )
    missing = [row for row, value in enumerate(values.tolist()) if is_missing(value)]
    if missing:
        raise InvalidInputError(
            f"time is missing in {len(missing)} of {n_rows} rows, the first in row {missing[0]}. Drop those rows: they "
            "have no place in the order."
        )
    if values.dtype.kind in "OUS":
        try:
            return values.astype("datetime64[us]")
        except (TypeError, ValueError) as error:
            raise InvalidInputError(
                f"time must hold numbers or dates, but contains {values[0]!r}, which is neither: text is read as a "
                "date in the form 2024-01-31. Convert the column, for example with pandas.to_datetime."
            ) from error
    return values


def time_order(
    given: RowsInTime, values: NDArray[Any], target: Target, columns: Columns | None, groups: Any
) -> TimeOrder:
    """Return the order of the rows, in blocks that are long enough for the target's autocorrelation.

    Parameters
    ----------
    values : ndarray of shape (n_rows,)
        The result of `time_values`.

    columns : Columns or None
        Where they are in memory.
    """
    if groups is not None:
        raise InvalidInputError(
            "Both groups and time were passed. Rows of a group stay together whatever their order, so groups alone "
            "allow for time within a group: leave time out. If the groups do not matter, leave groups out."
        )
    by_time = np.argsort(values, kind="stable")
    ordered = values[by_time]
    # Rows of the same time have the place of the first of them.
    places = np.maximum.accumulate(
        np.where(np.r_[True, ordered[1:] != ordered[:-1]], np.arange(ordered.size), 0)
    )
    positions = np.empty(ordered.size, dtype=np.intp)
    positions[by_time] = places
    if given.block_length is not None:
        return TimeOrder(positions, int(given.gap), int(given.block_length))
    length, autocorrelation_time = chosen_block_length(target_series(target, columns, by_time), values.size)
    return TimeOrder(positions, int(given.gap), length, autocorrelation_time)


def target_series(
    target: Target, columns: Columns | None, by_time: NDArray[np.intp] | None = None
) -> list[NDArray[np.float64]]:
    """Return the target as numbers, class by class and output by output, and its residuals given the columns.

    Parameters
    ----------
    by_time : ndarray of int, default=None
        The rows in the order of time; None: as they are. The first 20,000 of them are enough.
    """
    codes = target.codes
    rows = slice(_MOST_ROWS) if by_time is None else by_time[:_MOST_ROWS]
    if codes.ndim == 1 and target.task == "classification":
        labels = np.unique(codes).tolist()
        outputs = [codes[rows] == label for label in (labels[1:] if len(labels) == 2 else labels)]
    else:
        outputs = [codes[rows]] if codes.ndim == 1 else list(codes[rows].T)
    series = [output.astype(np.float64) for output in outputs]
    if columns is None or columns.storage.is_sparse or not columns.storage.is_in_memory:
        return series
    n_columns = columns.storage.shape[1]
    X = columns.storage.matrix[rows]
    if n_columns > _MOST_COLUMNS:
        X = X[:, np.linspace(0, n_columns - 1, _MOST_COLUMNS).astype(np.intp)]
    return series + _residuals(series, np.asarray(X, dtype=np.float64))


def _residuals(series: list[NDArray[np.float64]], X: NDArray[np.float64]) -> list[NDArray[np.float64]]:
    """Return the residuals of each series given the columns, scaled to variance 1, that are most correlated with it."""
    n_rows = len(X)
    with np.errstate(all="ignore"):
        centered = X - np.full(n_rows, 1.0 / n_rows) @ X
        products = centered.T @ centered / n_rows
        scales = 1.0 / np.sqrt(products.diagonal())
    is_usable = np.isfinite(scales) & (scales > 0.0)
    if not is_usable.all():
        centered, scales = centered[:, is_usable], scales[is_usable]
        products = products[np.ix_(is_usable, is_usable)]
    n_used = min(scales.size, _MOST_REGRESSORS, n_rows // _ROWS_PER_REGRESSOR)
    # Scaled numbers are not stored: sums over the rows are scaled instead.
    correlations = products * scales * scales[:, np.newaxis]
    residuals = []
    for one in series:
        deviations = one - one.mean()
        links = deviations @ centered * scales / n_rows
        weights = np.zeros(scales.size)
        used = np.argsort(-np.abs(links), kind="stable")[:n_used] if n_used < scales.size else slice(None)
        gram = correlations[used][:, used] + _PENALTY * np.eye(n_used)
        weights[used] = np.linalg.solve(gram, links[used]) * scales[used]
        residuals.append(deviations - centered @ weights)
    return residuals


def with_numbers_for_times(X: Any, given: RowsInTime, times: NDArray[Any]) -> Any:
    """Return X with days since the first one in place of a column of dates that gives the order."""
    if not isinstance(given.order, str) or given.order == "index" or times.dtype.kind != "M":
        return X
    frame = nw.from_native(X, eager_only=True)
    days = (times - times.min()) / np.timedelta64(1, "D")
    return frame.with_columns(
        nw.new_series(given.order, days, backend=frame.implementation).alias(given.order)
    ).to_native()


def warn_if_neighbors_are_alike(table: Table) -> None:
    """Warn if neighboring rows are correlated although neither `time` nor `groups` says how rows belong together."""
    if table.groups is not None or not table.is_in_memory or _is_sorted(table.codes):
        return
    series = target_series(table._target, table._columns)
    if table.task == "classification" and table.y.ndim == 1 and not table.is_sparse:
        # Equal labels are neighbors in files that were made class by class; the residuals given the columns are not.
        series = series[len(series) // 2 :]
    if any(map(are_neighbors_alike, series)):
        warn_caller(
            "Neighboring rows have similar targets, more than independent rows would, so that p-values may be too "
            'small. If the rows are in time, pass time="index", or the name of a column with their times; if several '
            "rows belong to one unit, such as a patient, pass groups. If the order of the rows means nothing, shuffle "
            "them.",
            DependentRowsWarning,
        )


def _is_sorted(codes: NDArray[np.float64]) -> bool:
    """Return whether the rows are sorted by the target, or by labels in any order."""
    if codes.ndim > 1:
        return False
    steps = np.diff(codes)
    if (steps >= 0).all() or (steps <= 0).all():
        return True
    runs = codes[np.concatenate(([True], steps != 0))]
    return runs.size <= codes.size // 2 and np.unique(runs).size == runs.size
