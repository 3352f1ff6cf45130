"""The target: labels, numbers, several columns of numbers, or a structured array."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date, time, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import check_array, column_or_1d

from ppfs._conventions import Floats, warn_caller
from ppfs._data.kinds import MAX_WHOLE_CATEGORIES
from ppfs._data.labels import SeveralLabels
from ppfs._data.reading.categories import converts, is_missing
from ppfs._data.reading.large_integers import LARGEST_EXACT, as_floats
from ppfs._data.reading.library_codes import pandas_labels
from ppfs._data.reading.readable import require_values
from ppfs._data.table import Table
from ppfs._data.target import Target
from ppfs._data.target_kinds import KINDS, RATES, is_survival, split_exposure
from ppfs._data.target_task import SaidTask, TaskChoice, choose_task, said_regression
from ppfs._data.written_numbers import is_number
from ppfs.exceptions import InvalidInputError


def read_target(y: Any, *, owner: object) -> NDArray[Any]:
    """Return the target, or raise if values are missing: one vector, or one column per output."""
    if y is None:
        name = owner if isinstance(owner, str) else type(owner).__name__
        raise InvalidInputError(
            f"{name} requires y to be passed, but the target y is None. "
            "Feature selection needs the values that the columns should predict."
        )
    labels = pandas_labels(y)
    if labels is not None:
        return labels
    require_values(y, "y")
    if sp.issparse(y):
        raise InvalidInputError("y is a sparse matrix. Pass y.toarray().ravel() for one target.")
    plain = _plain(y)
    if _is_structured(plain):
        return _complete_record(plain)
    array = np.asarray(plain)
    _refuse_dates(array)
    _refuse_bytes(array)
    if isinstance(y, str):
        raise InvalidInputError(
            f"y is the text {y!r}, but the target's values are needed, one per row. If it is a column name, pass "
            f"X.drop(columns={y!r}) and X[{y!r}]."
        )
    has_outputs = array.ndim == 2 and array.shape[1] > 1
    if array.ndim == 2 and not has_outputs:
        # scikit-learn's message, at the caller's line.
        warn_caller(
            "A column-vector y was passed when a 1d array was expected. Please change the shape of y to "
            "(n_samples,), for example using ravel().",
            DataConversionWarning,
        )
    target = _outputs(array) if has_outputs else column_or_1d(plain)
    if target.dtype.kind == "O":
        target = _plain_objects(target)
    if target.dtype.kind == "f" and np.isnan(target).any():
        missing = np.isnan(target if target.ndim == 1 else target.sum(axis=1))
        raise _missing(np.flatnonzero(missing).tolist(), len(target))
    if target.dtype.kind in "fc":
        check_array(target, ensure_2d=False, ensure_min_samples=0, input_name="y")
    return target


def read_typed(
    y: Any, task: SaidTask, *, owner: object, require_rows: Callable[[int], None] | None = None
) -> tuple[Target, Floats | None]:
    """Return the target in the type that its task needs, and the exposures of counts; None without exposures.

    Parameters
    ----------
    require_rows : callable, default=None
        Raises if the target has another number of rows than the columns.
    """
    y = in_order(y) if task == "ordinal" else y
    values = read_target(y, owner=owner)
    if require_rows is not None:
        require_rows(len(values))
    values, exposure = split_exposure(values) if task == "count" else (values, None)
    target = typed_target(values, task, is_categorical=is_categorical(y), is_rate=exposure is not None)
    return target, exposure


def require_two_classes(table: Table) -> None:
    """Raise if all labels are the same, so that there is nothing to predict."""
    if table.task == "classification" and table.classes.size < 2:
        where = ", in the rows whose sample_weight is not 0" if table.n_rows < table.n_callers_rows else ""
        raise InvalidInputError(
            f"y has one class only, {table.classes[0].item()!r}{where}: there is nothing to predict. Pass rows of at "
            "least two classes."
        )


def typed_target(
    target: NDArray[Any], task: SaidTask, *, is_categorical: bool, is_rate: bool = False
) -> Target:
    """Return the target in the type that its task needs.

    Parameters
    ----------
    target : ndarray
        The result of `read_target`.

    task : str
        "auto" infers it from the target.

    is_categorical : bool
        Whether the caller's target has a categorical type, so that its values are labels.

    is_rate : bool, default=False
        Whether counts were divided by their exposures.
    """
    if task in KINDS or (task == "auto" and is_survival(target)):
        kind = RATES if is_rate else KINDS["survival" if task == "auto" else task]
        reason = "y has an event and a time" if task == "auto" else "the task was given"
        choice = TaskChoice(kind.task, f"{reason}; this package's own models predict {kind.model}")
        return Target(kind.read(target), choice, kind=kind)
    if task == "auto" and is_categorical:
        fractions = target.dtype.kind == "f" and np.any(target % 1)
        labels = target.astype(str) if fractions else target
        require_repeated_labels(labels)
        return Target(labels, TaskChoice("classification", "y has a categorical type"))
    is_one = target.ndim == 1 and not _is_structured(target)
    if target.ndim == 2 and (task == "classification" or (task == "auto" and _are_labels(target))):
        return _several_labels(target, "the task or the estimator was given" if task != "auto" else "")
    if task == "classification" and not is_one:
        raise InvalidInputError(
            "Classification needs labels, but y is a structured array. Select for one field of it at a time."
        )
    if task != "auto":
        said = "the task or the estimator was given"
        choice = (
            TaskChoice("classification", said) if task == "classification" else said_regression(target, said)
        )
    elif _is_structured(target):
        choice = TaskChoice("regression", "y is a structured array")
    else:
        # Large integers would have fewer distinct values as floats.
        choice = choose_task(as_floats(target) if target.dtype.kind in "iu" else target)
        _refuse_numbers_as_text(target)
    if not is_one and target.dtype.kind in "US":
        raise InvalidInputError(
            f"Regression needs numeric targets, but y contains {str(target.ravel()[0])!r}. Pass numbers, or "
            'task="classification" if y holds labels.'
        )
    if not is_one:
        return Target(target, choice)
    values = _as_quantities(target) if choice.task == "regression" else _as_labels(target)
    return Target(values, choice)


def _are_labels(target: NDArray[Any]) -> bool:
    """Return whether several columns hold labels beyond doubt: text, or 0 and 1 only."""
    return target.dtype.kind in "US" or bool(np.isin(target, (0, 1)).all())


def _several_labels(target: NDArray[Any], reason: str) -> Target:
    """Return the target of several columns of labels: their indicators are predicted as numbers."""
    for column in target.T:
        _as_labels(column)
    whole = target.astype(np.int64) if target.dtype.kind == "f" else target
    labels = SeveralLabels.of(whole)
    if max(labels.n_classes) < 2:
        raise InvalidInputError("Each column of y has one class only: there is nothing to predict.")
    kind = reason or f"y has {target.shape[1]} columns of labels"
    choice = TaskChoice("regression", f"{kind}; probabilities of {target.shape[1]} labels are predicted")
    return Target(labels.indicators, choice, labels=labels)


def is_categorical(y: Any) -> bool:
    """Return whether the caller's target is a series with a categorical type."""
    if isinstance(y, np.ndarray):
        return False
    if nw.dependencies.is_pandas_series(y):
        return hasattr(y.dtype, "categories")
    column = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    return isinstance(column, nw.Series) and column.dtype in (nw.Categorical, nw.Enum)


def in_order(y: Any) -> Any:
    """Return the numbers of the categories of an ordered series or categorical, anything else as it is."""
    if getattr(getattr(y, "dtype", None), "ordered", False):
        # pandas: a series, or a categorical by itself.
        codes = np.asarray(getattr(y, "cat", y).codes, dtype=np.float64)
        return np.where(codes < 0, np.nan, codes)
    if nw.dependencies.is_polars_series(y) and nw.from_native(y, series_only=True).dtype == nw.Enum:
        return y.to_physical().to_numpy()
    return y


def _plain(y: Any) -> Any:
    """Return a series or frame as an array, anything else as it is."""
    if isinstance(y, np.ndarray):
        return y
    column = nw.from_native(y, eager_only=True, allow_series=True, pass_through=True)
    return column.to_numpy() if isinstance(column, nw.Series | nw.DataFrame) else y


def _is_structured(target: Any) -> bool:
    return isinstance(target, np.ndarray) and target.dtype.names is not None


def _complete_record(target: NDArray[Any]) -> NDArray[Any]:
    """Raise if a field of a structured array is not numeric or not finite."""
    if target.ndim != 1:
        raise InvalidInputError(
            f"A structured y must have one record per row, but its shape is {target.shape}. Pass y.ravel()."
        )
    for name in target.dtype.names or ():
        if target[name].dtype.kind not in "biuf" or target[name].ndim > 1:
            raise InvalidInputError(
                f"A structured y must hold numbers and booleans, but its field {name!r} is of type "
                f"{target.dtype[name]}. Leave that field out."
            )
        wrong = np.flatnonzero(~np.isfinite(target[name]))
        if wrong.size:
            raise InvalidInputError(
                f"y[{name!r}] is NaN or infinite in {wrong.size} of {target.size} rows, the first in row {wrong[0]}. "
                "Drop those rows: nothing can be learned from a row without a target."
            )
    return target


def _outputs(target: NDArray[Any]) -> NDArray[Any]:
    """Return several columns of numbers as floats, other ones as text."""
    missing = (
        [i for i, row in enumerate(target) if any(map(is_missing, row))] if target.dtype.kind == "O" else []
    )
    if missing:
        raise _missing(missing, len(target))
    if not converts(target):
        return target.astype(str)
    return target.astype(np.float64)


def _missing(rows: list[int], n_rows: int) -> InvalidInputError:
    return InvalidInputError(
        f"Input y contains NaN or other missing values in {len(rows)} of {n_rows} rows, the first in row {rows[0]}. "
        "Drop those rows: nothing can be learned from a row without a target."
    )


def _plain_objects(target: NDArray[Any]) -> NDArray[Any]:
    """Return an object vector in the type of its values, or raise if labels are missing."""
    if set(map(type, target.tolist())) == {str}:
        return target.astype(str)
    missing = [i for i, value in enumerate(target) if is_missing(value)]
    if missing:
        raise _missing(missing, len(target))
    other = next((value for value in target if not isinstance(value, str | Real | Decimal | np.bool_)), None)
    if other is not None:
        raise InvalidInputError(
            f"y must hold numbers or labels, one per row, but contains {other!r} of type {type(other).__name__}. "
            "Convert the values to numbers, or to text if they are labels."
        )
    if any(isinstance(value, str) for value in target):
        return target.astype(str)
    numbers = np.array(target.tolist())
    # Decimals, and integers of more than 64 bits.
    return _floats(numbers) if numbers.dtype.kind == "O" else numbers


def _floats(numbers: NDArray[Any]) -> NDArray[np.float64]:
    try:
        return numbers.astype(np.float64)
    except OverflowError as error:
        raise InvalidInputError(
            "y holds an integer that is too large for a float. Divide y by a constant, or pass labels as text."
        ) from error


def _refuse_bytes(target: NDArray[Any]) -> None:
    if target.dtype.kind == "S":
        raise InvalidInputError(
            f"y holds bytes, such as {target.ravel()[0].item()!r}. Decode them to text: np.char.decode(y)."
        )


def _refuse_dates(target: NDArray[Any]) -> None:
    first = target.ravel()[0] if target.dtype.kind == "O" and target.size else None
    if target.dtype.kind in "mM" or isinstance(first, date | time | timedelta):
        raise InvalidInputError(
            "y holds dates or times, which are neither labels nor numbers. Convert them to what should be predicted: "
            "days since a date, seconds of a duration, or the month as text."
        )


def _as_quantities(target: NDArray[Any]) -> NDArray[np.float64]:
    if target.dtype.kind in "iu":
        return as_floats(target)
    try:
        return target.astype(np.float64)
    except ValueError as error:
        example = next(value for value in target if not converts(np.array([value])))
        raise InvalidInputError(
            f"Regression needs a numeric target, but y contains {str(example)!r}. "
            'Pass numbers, or task="classification" if y holds labels.'
        ) from error


def _as_labels(target: NDArray[Any]) -> NDArray[Any]:
    if target.dtype.kind == "f" and not np.array_equal(target, np.floor(target)):
        raise InvalidInputError(
            "Classification needs labels, but y is continuous: it holds numbers with a fraction, such as "
            f"{target[target % 1 != 0][0]}. "
            'Use a regressor and task="regression", or convert y to classes first.'
        )
    if target.dtype.kind == "f" and np.abs(target).max() > LARGEST_EXACT:
        raise InvalidInputError(
            f"Classification needs labels, but y holds {target[np.abs(target).argmax()]:.3g}: floats beyond 2**53 "
            'do not represent all integers, so this is numeric. Use a regressor and task="regression", or pass labels '
            "as text or integers."
        )
    require_repeated_labels(target)
    return target


def _refuse_numbers_as_text(target: NDArray[Any]) -> None:
    """Raise if text holds many different numbers: as classes they would have no order."""
    if target.dtype.kind != "U":
        return
    labels = np.unique(target)
    if labels.size > MAX_WHOLE_CATEGORIES and all(map(is_number, labels.tolist())):
        raise InvalidInputError(
            f"y holds text that looks like numbers, such as {str(labels[0])!r}. Convert it to numbers, without "
            'thousands separators, percent or currency signs, or pass task="classification" if these are labels.'
        )


def require_repeated_labels(labels: NDArray[Any], written: Sequence[str] | None = None) -> None:
    """Raise if most rows have a class of their own: no model can learn a class from one row.

    Parameters
    ----------
    written : sequence of str, default=None
        The labels as the caller's file has them, for the message.
    """
    classes, first = np.unique(labels, return_index=True)
    if classes.size > max(MAX_WHOLE_CATEGORIES, labels.size / 2):
        example = classes[0].item() if written is None else written[first[0]]
        raise InvalidInputError(
            f"y holds {classes.size} classes in {labels.size} rows, such as {example!r}: most classes have "
            'one row only, from which nothing can be learned. If y is numeric, pass numbers and task="regression"; '
            "otherwise merge classes, or predict another column."
        )
