"""Losses of predictions, summed so that the order of the rows does not matter.

A permutation often assigns the same losses to other rows. Then the risk must not change at all: in a signed-rank test,
a difference in the last bit would count as a difference. So sums are compensated.
"""

from collections.abc import Sequence
from math import log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float64s, kernel_part
from ppfs._engine.trees.rules import LossCode, TreeRules

_SMALLEST_SHARE = float(np.finfo(np.float64).eps)
_LARGEST_LOG_LOSS = -log(_SMALLEST_SHARE)
_SMALLEST_LOG_LOSS = -log(1.0 - _SMALLEST_SHARE)

# Multiplying by 2**27 + 1 and subtracting splits a float64 into two halves of at most 26 bits (Veltkamp).
_SPLITTER = 134217729.0


class Scoring(NamedTuple):
    """How the prediction for a test row is scored.

    Attributes
    ----------
    loss : int
        See `LossCode`.
    class_weights : array of shape (n_classes,), float64, or None
        Factors of the losses of rows by their class. None means equal weights, or regression; Numba has a separate type
        for it and does not compile the code for weights.
    row_weights : array of shape (n_rows,), float64, or None
        Factors of the losses by row. Trees on single columns may count rows by class, so they do not support them.
    """

    loss: int
    class_weights: Float64s | None
    row_weights: Float64s | None = None


def make_scoring(
    rules: TreeRules,
    n_classes: int,
    class_weights: npt.ArrayLike | None,
    row_weights: npt.ArrayLike | None = None,
) -> Scoring:
    """Check the weights and make the scoring; None means equal weights of all classes, or of all rows."""
    by_row = None if row_weights is None else np.array(row_weights, dtype=np.float64)
    if class_weights is None:
        return Scoring(rules.loss_code, None, by_row)
    if n_classes == 0:
        raise ValueError(
            f"class_weights={class_weights!r} was given, but the target is numeric and has no classes. "
            "Leave class_weights out."
        )
    weights = np.array(class_weights, dtype=np.float64)
    if weights.shape != (n_classes,) or not (np.isfinite(weights) & (weights > 0.0)).all():
        raise ValueError(
            f"class_weights={class_weights!r} must hold one positive number for each of the {n_classes} classes. "
            "Use a small weight for a class that should hardly count."
        )
    return Scoring(rules.loss_code, weights, by_row)


def total_weights(target: Target, scoring: Scoring, parts: Sequence[npt.NDArray[np.int64]]) -> Float64s:
    """Sum the weights of the rows of each part; sums of losses are divided by it.

    Without weights, every row has a weight of 1.
    """
    weights = scoring.class_weights
    if scoring.row_weights is None and weights is None:
        return np.array([float(rows.size) for rows in parts])
    by_row = np.ones(target.classes.size + target.values.size)
    if weights is not None:
        by_row = weights[target.classes]
    if scoring.row_weights is not None:
        by_row = by_row * scoring.row_weights
    return np.array([by_row[rows].sum() for rows in parts])


@kernel_part
def weighted_loss(row: int, loss: float, row_weights: Float64s | None) -> float:
    """Multiply the loss of a row by its weight, if rows have weights."""
    if row_weights is not None:
        loss = loss * row_weights[row]
    return loss


@kernel_part
def log_loss(share: float) -> float:
    """Log-loss of a predicted probability, clipped as in scikit-learn's ``log_loss``."""
    if share <= _SMALLEST_SHARE:
        return _LARGEST_LOG_LOSS
    if share >= 1.0 - _SMALLEST_SHARE:
        return _SMALLEST_LOG_LOSS
    return -log(share)


@kernel_part
def class_losses(
    counts: Float64s, weight: float, loss: int, class_weights: Float64s | None, out: Float64s
) -> None:
    """Fill ``out`` (n_classes,) with the weighted loss of a row of each class in a leaf with these counts."""
    n_classes = counts.size
    squares = 0.0
    likeliest = 0
    for label in range(n_classes):
        share = counts[label] / weight
        squares += share * share
        if counts[label] > counts[likeliest]:
            likeliest = label
    for label in range(n_classes):
        share = counts[label] / weight
        if loss == LossCode.LOG:
            out[label] = log_loss(share)
        elif loss == LossCode.BRIER:
            out[label] = squares - share * share + (share - 1.0) * (share - 1.0)
        else:
            out[label] = 0.0 if label == likeliest else 1.0
        if class_weights is not None:
            out[label] *= class_weights[label]


@kernel_part
def number_loss(error: float, loss: int) -> float:
    """Loss of a predicted number that is off by ``error``."""
    if loss == LossCode.SQUARED:
        return error * error
    return abs(error)


@kernel_part
def predict(
    stats: Float64s, place: int, weight: float, scoring: Scoring, target: Target, predicted: Float64s
) -> None:
    """Fill ``predicted[place]`` with the prediction of the leaf with the statistics ``stats[place]``.

    For classification, that is the loss of a row of each class; for regression, a number in the first column.
    """
    if target.classes.size:
        class_losses(stats[place], weight, scoring.loss, scoring.class_weights, predicted[place])
    else:
        predicted[place, 0] = stats[place, 0] / weight


@kernel_part
def row_loss(row: int, place: int, scoring: Scoring, target: Target, predicted: Float64s) -> float:
    """Loss of a row in the leaf whose prediction is ``predicted[place]``."""
    if target.classes.size:
        return weighted_loss(row, predicted[place, target.classes[row]], scoring.row_weights)
    loss = number_loss(target.values[row] - predicted[place, 0], scoring.loss)
    return weighted_loss(row, loss, scoring.row_weights)


@kernel_part
def add_loss(total: Float64s, loss: float) -> None:
    """Add to a compensated sum: ``total[0]`` is the sum so far, ``total[1]`` the rounding error so far (Neumaier)."""
    old = total[0]
    new = old + loss
    if abs(old) >= abs(loss):
        total[1] += (old - new) + loss
    else:
        total[1] += (loss - new) + old
    total[0] = new


@kernel_part
def plus_loss(total: float, lost: float, loss: float) -> tuple[float, float]:
    """`add_loss` for sums that are kept in variables, without a branch (Knuth): the same sum, to the last bit."""
    new = total + loss
    part = new - total
    return new, lost + ((total - (new - part)) + (loss - part))


@kernel_part
def add_repeated_loss(total: Float64s, loss: float, times: float) -> None:
    """Add a multiple of a loss, with the same result as adding it repeatedly without rounding."""
    shifted = loss * _SPLITTER
    high = shifted - (shifted - loss)
    add_loss(total, times * high)
    add_loss(total, times * (loss - high))
