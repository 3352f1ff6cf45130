"""The whole reading: columns, features, rows and target."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import wraps
from typing import Any, Literal, ParamSpec

import numpy as np
from sklearn.utils import check_consistent_length

from ppfs._data.naming import ColumnsLike
from ppfs._data.reading.columns import read_columns
from ppfs._data.reading.features import read_features
from ppfs._data.reading.files import read_file_table
from ppfs._data.reading.kinds import CategoricalFeatures, with_kinds
from ppfs._data.reading.masked import unmasked
from ppfs._data.reading.readable import readable
from ppfs._data.reading.rows import only_rows, read_groups, read_weights
from ppfs._data.reading.target import is_categorical, read_target, typed_target
from ppfs._data.sources import is_path
from ppfs._data.table import CallersRows, Table
from ppfs._data.target_task import Task
from ppfs.exceptions import InvalidInputError

P = ParamSpec("P")


def _with_own_errors(read: Callable[P, Table]) -> Callable[P, Table]:
    """Turn scikit-learn's complaints about X and y into errors of this package, word for word."""

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
    task: Task | Literal["auto"],
    owner: object,
    feature_groups: Mapping[str, ColumnsLike] | None = None,
    categorical_features: CategoricalFeatures = "auto",
    sample_weight: Any = None,
    groups: Any = None,
    memory_limit: int | None = None,
) -> Table:
    """Read what the caller passed to ``fit`` into a `Table`, or say what is wrong with it.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_columns), or path
        The columns: numbers, truth values (0 and 1), text and categories. A gap in a column of numbers
        is NaN; a gap in a column of categories is a category of its own. Missing and infinite
        numbers pass: whether they can be used is for the test to say.

    y : array-like of shape (n_rows,) or (n_rows, n_outputs)
        The target. Several columns of numbers are a regression with several outputs. A structured
        array, such as scikit-survival's events and times, passes as it is.

    task : {"auto", "classification", "regression"}
        "auto" reads the target: see `ppfs._data.target_task`.

    owner : object
        Who asks, for error messages.

    feature_groups : mapping of str to collection of int or str, default=None
        Columns that are one feature together, by number or name. The others are features of their own.

    categorical_features : {"auto", "from_dtype"}, array-like or None, default="auto"
        Which columns are categorical: see `ppfs._data.kinds` for "auto". "from_dtype" goes by the columns' types alone.
        Names, numbers or a mask list them all; None lists none.

    sample_weight : array-like of shape (n_rows,), default=None
        How much each row counts. Rows of weight 0 are left out here, so no one can look at them; equal
        weights are no weights.

    groups : array-like of shape (n_rows,), default=None
        Labels of rows that belong together: a patient, a household.

    memory_limit : int, default=None
        Where X is a path: bytes that its columns may take in memory. None: a quarter of the machine's.

    Returns
    -------
    Table
    """
    y, sample_weight, groups = map(unmasked, (y, sample_weight, groups))
    if is_path(X):
        if feature_groups:
            raise InvalidInputError(
                "feature_groups needs X in memory, but X is a path. Read them into a data frame, or leave it out."
            )
        return read_file_table(
            X,
            y,
            task=task,
            owner=owner,
            sample_weight=sample_weight,
            groups=groups,
            memory_limit=memory_limit,
        )
    X = readable(X)
    weights, kept_rows = read_weights(sample_weight, X, y)
    if kept_rows is not None:
        check_consistent_length(X, groups)
        X, y, groups = (only_rows(part, kept_rows) for part in (X, y, groups))
    columns = with_kinds(read_columns(X, owner=owner), categorical_features)
    values = read_target(y, owner=owner)
    n_rows = columns.storage.shape[0]
    check_consistent_length(np.empty(n_rows), values)
    n_callers = n_rows if kept_rows is None else len(sample_weight)
    return Table(
        columns,
        typed_target(values, task, is_categorical=is_categorical(y)),
        read_features(feature_groups, columns),
        CallersRows(n_callers, kept_rows, weights, read_groups(groups, n_rows)),
    )
