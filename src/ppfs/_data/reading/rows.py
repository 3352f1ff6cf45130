"""Rows: their weights and groups."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils import check_consistent_length

from ppfs._conventions import n_rows_of
from ppfs._data.reading.categories import is_missing
from ppfs._data.reading.masked import unmasked
from ppfs._data.table import CallersRows
from ppfs.exceptions import InvalidInputError

# 2**500 is 3e150, about the square root of the largest 64-bit float.
_MAX_WEIGHT_EXPONENT = 500


def weights_among(params: dict[str, Any], owner: object) -> Any:
    """Return the sample_weight among the further arguments of ``fit``, or None; raise for all others.

    The ``fit`` of selectors takes weights in ``**params``, as scikit-learn's selectors with folds do. For an estimator
    with a `sample_weight` argument, a weight of 2 must be the same as a repeated row, which does not hold with random
    splits.
    """
    unknown = sorted(params.keys() - {"sample_weight"})
    if unknown:
        raise TypeError(
            f"{type(owner).__name__}.fit() got an unexpected argument {unknown[0]!r}. Beside X and y it takes "
            "sample_weight, groups, time and sufficiency."
        )
    return params.get("sample_weight")


def read_weights(
    sample_weight: Any, X: Any, y: Any
) -> tuple[NDArray[np.float64] | None, NDArray[np.intp] | None]:
    """Return the weights of the rows with positive weight, and which rows these are.

    Returns
    -------
    weights : ndarray of shape (n_kept,) or None
        None if all of them are equal.

    kept_rows : ndarray of shape (n_kept,) or None
        None if no row is left out.
    """
    if sample_weight is None:
        return None, None
    weights = _numeric(sample_weight)
    n_rows = int(n_rows_of(X))
    if weights.shape != (n_rows,):
        raise InvalidInputError(
            f"sample_weight must hold one number per row, shape ({n_rows},), but its shape is {weights.shape}."
        )
    if y is not None:
        check_consistent_length(X, y)
    wrong = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if wrong.size:
        raise InvalidInputError(
            f"Weights must be finite and not negative, but sample_weight[{wrong[0]}] is {weights[wrong[0]]}. "
            "Use 0 for a row that should not count."
        )
    kept = np.flatnonzero(weights)
    if not kept.size:
        raise InvalidInputError(
            "sample_weight is zero in every row, so none is left. Some rows must have weight."
        )
    weights = _rescaled(weights[kept])
    return (None if (weights == weights[0]).all() else weights, None if kept.size == n_rows else kept)


def _rescaled(weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return weights that can be added and multiplied by losses; very large and very small ones are divided by 2**k.

    Only ratios matter, and dividing by a power of two does not change them.
    """
    smallest, largest = weights.min(), weights.max()
    exponent = int(np.frexp(largest)[1])
    if exponent - int(np.frexp(smallest)[1]) > _MAX_WEIGHT_EXPONENT:
        raise InvalidInputError(
            f"The weights range from {smallest:.3g} to {largest:.3g}, which floats cannot add: rows with small weights "
            "would not count at all. Use weights whose ratio is below 1e150, and 0 for rows that should not count."
        )
    return np.ldexp(weights, -exponent) if abs(exponent) > _MAX_WEIGHT_EXPONENT else weights


def exposed(rows: CallersRows, exposure: NDArray[np.float64] | None) -> CallersRows:
    """Return rows whose weights are multiplied by the exposures of their counts."""
    if exposure is None:
        return rows
    return replace(rows, weights=exposure if rows.weights is None else rows.weights * exposure)


def read_groups(groups: Any, n_rows: int) -> NDArray[np.intp] | None:
    """Return the number of each row's group, or None without groups."""
    if groups is None:
        return None
    labels = _plain(groups)
    if labels.shape != (n_rows,):
        raise InvalidInputError(
            f"groups must hold one label per row, shape ({n_rows},), but its shape is {labels.shape}."
        )
    missing = [i for i, label in enumerate(labels.tolist()) if is_missing(label)]
    if missing:
        raise InvalidInputError(
            f"groups is missing in {len(missing)} of {n_rows} rows, the first in row {missing[0]}. Every row must "
            "belong to a group: give such rows a label of their own."
        )
    if labels.dtype.kind != "O":
        return np.unique(labels, return_inverse=True)[1].ravel()
    order = sorted(set(labels), key=lambda label: (type(label).__name__, str(label)))
    number = {label: code for code, label in enumerate(order)}
    return np.array([number[label] for label in labels], dtype=np.intp)


def only_rows(part: Any, rows: NDArray[np.intp]) -> Any:
    """Return some rows of an array, data frame or list of the caller; None stays None."""
    if part is None:
        return None
    native = nw.from_native(part, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame | nw.Series):
        return native[rows.tolist()].to_native()
    if sp.issparse(part):
        return part.tocsr()[rows]
    if hasattr(part, "__array__"):
        return np.asarray(unmasked(part))[rows]
    return [part[row] for row in rows]


def _plain(values: Any) -> NDArray[Any]:
    series = nw.from_native(values, series_only=True, allow_series=True, pass_through=True)
    if isinstance(series, nw.Series):
        return np.asarray(series.to_numpy())
    if isinstance(values, np.ndarray):
        return values
    array = np.asarray(values)
    # NumPy converts a list of numbers and text to text, so that 1 and "1" would be the same label.
    return np.asarray(values, dtype=object) if array.dtype.kind in "US" else array


def _numeric(sample_weight: Any) -> NDArray[np.float64]:
    try:
        return _plain(sample_weight).astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"sample_weight must hold numbers: {error}") from error
