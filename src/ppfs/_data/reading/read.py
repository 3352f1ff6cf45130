"""Reading of a table: columns, features, rows and target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import wraps
from typing import Any, ParamSpec

import numpy as np
from sklearn.utils import check_consistent_length

from ppfs._conventions import n_rows_of
from ppfs._data.naming import ColumnsLike
from ppfs._data.reading.columns import read_columns
from ppfs._data.reading.device_arrays import matrix_on_device, to_host
from ppfs._data.reading.features import read_features
from ppfs._data.reading.files import read_file_table
from ppfs._data.reading.kinds import CategoricalFeatures, with_kinds
from ppfs._data.reading.masked import unmasked
from ppfs._data.reading.readable import readable
from ppfs._data.reading.rows import exposed, only_rows, read_groups, read_weights
from ppfs._data.reading.target import in_order, read_typed
from ppfs._data.reading.time import as_rows_in_time, time_order, time_values, with_numbers_for_times
from ppfs._data.sources import is_path
from ppfs._data.table import CallersRows, Table
from ppfs._data.target_task import SaidTask
from ppfs.exceptions import InvalidInputError

P = ParamSpec("P")


def _with_own_errors(read: Callable[P, Table]) -> Callable[P, Table]:
    """Raise scikit-learn's errors about X and y as errors of this package, with the same words."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> Table:
        try:
            return read(*args, **kwargs)
        except InvalidInputError:
            raise
        except ValueError as error:
            raise InvalidInputError(str(error)) from error

    return reading


@_with_own_errors
def read_table(
    X: Any,
    y: Any,
    *,
    task: SaidTask,
    owner: object,
    feature_groups: Mapping[str, ColumnsLike] | None = None,
    categorical_features: CategoricalFeatures = "auto",
    sample_weight: Any = None,
    groups: Any = None,
    time: Any = None,
    memory_limit: int | None = None,
) -> Table:
    """Read the arguments of ``fit`` into a `Table`, or raise if they are invalid.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_columns), or path
        The columns: numbers, booleans (0 and 1), text and categories. A missing number is NaN; missing
        values in a column of categories are a category of their own. Missing and infinite numbers pass;
        the test decides whether it accepts them. Arrays may be in the memory of a GPU.

    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        The target. Several numeric columns are a regression with several outputs. A structured
        array, such as scikit-survival's events and times, is not changed.

    task : {"auto", "classification", "regression"}
        "auto" infers it from the target: see `ppfs._data.target_task`.

    owner : object
        The estimator, or its name, for error messages.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that are one feature together, by position or name. Each other column is a feature.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical: see `ppfs._data.kinds` for "auto". "from_dtype" uses the types alone.
        Names, positions or a mask list all of them; None lists none.

    sample_weight : array-like of shape (n_rows,), default=None
        The weight of each row. Rows of weight 0 are left out; equal weights are the same as none.

    groups : array-like of shape (n_rows,), default=None
        Labels of rows that belong together, such as those of one patient.

    time : array-like of shape (n_rows,), str or RowsInTime, default=None
        The order of the rows in time; see `RowsInTime`.

    memory_limit : int, default=None
        If X is a path, the most bytes that its columns may take in memory. None: a quarter of the machine's.
    """
    y, sample_weight, groups = (unmasked(to_host(part)) for part in (y, sample_weight, groups))
    # A column of times becomes numbers: the table is then not the array that the caller passed.
    on_device = matrix_on_device(X) if time is None else None
    X = to_host(X)
    in_time = None if time is None else as_rows_in_time(time)
    if in_time is not None and len(in_time.lags):
        raise InvalidInputError(
            f"RowsInTime(lags={list(in_time.lags)}) has an effect in fit only. Pass X with lagged copies instead, as "
            "ppfs.lagged(X, lags) makes them, without the rows in which they are missing."
        )
    if is_path(X):
        if feature_groups:
            raise InvalidInputError(
                "feature_groups needs X in memory, but X is a path. Read the columns into a data frame, or leave "
                "feature_groups out."
            )
        return read_file_table(
            X,
            y,
            task=task,
            owner=owner,
            sample_weight=sample_weight,
            groups=groups,
            in_time=in_time,
            memory_limit=memory_limit,
        )
    X = readable(X)
    if task == "ordinal":
        y = in_order(y)
    weights, kept_rows = read_weights(sample_weight, X, y)
    times = None if in_time is None else time_values(in_time, X, n_rows_of(X))
    if in_time is not None and times is not None:
        X = with_numbers_for_times(X, in_time, times)
    if kept_rows is not None:
        check_consistent_length(X, groups)
        X, y, groups, times = (only_rows(part, kept_rows) for part in (X, y, groups, times))
        on_device = None if on_device is None else on_device[kept_rows]
    columns = with_kinds(read_columns(X, owner=owner, on_device=on_device), categorical_features)
    n_rows = columns.storage.shape[0]

    def require_rows(n_given: int) -> None:
        check_consistent_length(np.empty(n_rows), np.empty(n_given))

    target, exposure = read_typed(y, task, owner=owner, require_rows=require_rows)
    n_callers = n_rows if kept_rows is None else len(sample_weight)
    rows = exposed(CallersRows(n_callers, kept_rows, weights, read_groups(groups, n_rows)), exposure)
    if in_time is not None and times is not None:
        order = time_order(in_time, times, target, columns, groups)
        rows = replace(rows, groups=order.blocks, time=order)
    return Table(columns, target, read_features(feature_groups, columns), rows)
