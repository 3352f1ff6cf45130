"""From what the caller passed to ``fit`` to a `Table`, or to an error that helps."""

from __future__ import annotations

from collections import Counter
from typing import Any, Literal

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_array, check_consistent_length, column_or_1d

from ppfs._table import Table, Task, infer_task, listed
from ppfs.exceptions import InvalidInputError


def read_table(X: Any, y: Any, *, task: Task | Literal["auto"], owner: object) -> Table:
    """Read what the caller passed to ``fit`` into a `Table`, or say what is wrong with it.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_rows, n_features)
        The columns. Missing and infinite values pass: whether they can be used is for
        the test to say.

    y : array-like of shape (n_rows,)
        The target.

    task : {"auto", "classification", "regression"}
        "auto" reads the target with `infer_task`.

    owner : object
        Who asks, for error messages.

    Returns
    -------
    Table
    """
    names = column_names(X)
    _refuse_text(X)
    matrix = check_array(
        X,
        accept_sparse="csc",
        dtype=[np.float64, np.float32],
        ensure_all_finite=False,
        ensure_min_samples=2,
        estimator=owner,
        input_name="X",
    )
    target = read_target(y, owner=owner)
    check_consistent_length(matrix, target)
    if sp.issparse(matrix):
        matrix = _tidy_sparse(matrix)
    resolved = infer_task(target) if task == "auto" else task
    target = _as_quantities(target) if resolved == "regression" else _as_labels(target)
    return Table(matrix, target, names or [f"x{i}" for i in range(matrix.shape[1])], resolved)


def read_target(y: Any, *, owner: object) -> NDArray[Any]:
    """Return the target as one vector without missing values."""
    if y is None:
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidInputError(
            f"{name} requires y to be passed, but the target y is None. "
            "Feature selection needs the values that the columns should predict."
        )
    target: NDArray[Any] = column_or_1d(_plain_series(y), warn=True)
    if target.dtype.kind == "O":
        target = _plain_objects(target)
    if target.dtype.kind in "fc":
        check_array(target, ensure_2d=False, ensure_min_samples=0, input_name="y", estimator=owner)
    return target


def column_names(X: Any) -> list[str] | None:
    """Return the column names of a data frame, or None when there are none.

    Raises
    ------
    InvalidInputError
        When a name stands for more than one column.
    """
    columns = getattr(X, "columns", None)
    if columns is None:
        return None
    names = [str(name) for name in columns]
    repeated = sorted(name for name, count in Counter(names).items() if count > 1)
    if repeated:
        raise InvalidInputError(
            f"Column names must be unique, but X has more than one column named {listed(repeated)}. "
            "Rename the columns, or drop the copies."
        )
    return names


def require_finite(table: Table, *, allow_missing: bool, user: str) -> None:
    """Refuse infinite values, and missing ones unless `user` can take them."""
    entries = table.X.data if table.is_sparse else table.X
    if np.isfinite(entries).all():
        return
    infinite = _columns_with(table, np.isinf)
    if infinite:
        raise InvalidInputError(
            f"X contains inf in {listed(infinite)}. Every value must be finite: replace infinite values, "
            "for example by the largest finite value of the column."
        )
    if not allow_missing:
        raise InvalidInputError(
            f"X contains NaN in {listed(_columns_with(table, np.isnan))}, and {user} does not accept missing values. "
            "Impute them first (sklearn.impute.SimpleImputer), or use an estimator that takes NaN, "
            "such as DecisionTreeClassifier or HistGradientBoostingClassifier."
        )


def _columns_with(table: Table, wrong: Any) -> list[str]:
    if table.is_sparse:
        entries = np.flatnonzero(wrong(table.X.data))
        columns = np.unique(np.searchsorted(table.X.indptr, entries, side="right") - 1)
    else:
        columns = np.flatnonzero(wrong(table.X).any(axis=0))
    return [table.names[column] for column in columns]


def _tidy_sparse(matrix: Any) -> Any:
    """Return a csc_array without duplicates and stored zeros, its indices as short as they can be."""
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


def _refuse_text(X: Any) -> None:
    """Name the columns that hold no numbers, before a conversion fails on the first value."""
    text = _text_columns(X)
    if text:
        raise InvalidInputError(
            f"X must hold numbers, but {listed(text)} {'holds' if len(text) == 1 else 'hold'} text, categories "
            "or dates. Encode such columns first, for example with sklearn.preprocessing.OrdinalEncoder "
            "for trees or OneHotEncoder for linear models."
        )


def _text_columns(X: Any) -> list[str]:
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return [
            name
            for name, dtype in frame.schema.items()
            if not (dtype.is_numeric() or dtype == nw.Boolean)
            and not (dtype == nw.Object and _is_numeric_text(frame[name].to_numpy()))
        ]
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS":
        return [f"column {i}" for i in range(X.shape[1]) if not _is_numeric_text(X[:, i])]
    return []


def _is_numeric_text(values: NDArray[Any]) -> bool:
    """Tell whether every value converts to a number; other failures are scikit-learn's to report."""
    try:
        values.astype(np.float64)
    except ValueError:
        return False
    except TypeError:
        return True
    return True


def _plain_series(y: Any) -> Any:
    series = nw.from_native(y, series_only=True, allow_series=True, pass_through=True)
    return series.to_numpy() if isinstance(series, nw.Series) else y


def _plain_objects(target: NDArray[Any]) -> NDArray[Any]:
    """Give an object vector the type of its values, and refuse missing labels."""
    missing = [i for i, value in enumerate(target) if value is None or value != value]
    if missing:
        raise InvalidInputError(
            f"Input y contains NaN or None in {len(missing)} of {len(target)} rows, the first in row {missing[0]}. "
            "Drop those rows: a row without a target teaches nothing."
        )
    if all(isinstance(value, str) for value in target):
        return target.astype(str)
    try:
        return np.array(target.tolist())
    except ValueError as error:
        raise InvalidInputError(f"y must be one value a row: {error}") from error


def _as_quantities(target: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return target.astype(np.float64)
    except ValueError as error:
        example = next(value for value in target if not _is_numeric_text(np.array([value])))
        raise InvalidInputError(
            f"Regression needs a numeric target, but y contains {str(example)!r}. "
            'Pass numbers, or task="classification" if y holds labels.'
        ) from error


def _as_labels(target: NDArray[Any]) -> NDArray[Any]:
    if target.dtype.kind == "f" and not np.array_equal(target, np.floor(target)):
        raise InvalidInputError(
            f"Classification needs labels, but y holds numbers with a fraction, such as {target[target % 1 != 0][0]}. "
            'Use a regressor and task="regression", or turn y into classes first.'
        )
    return target
