"""Losses of predictions, summed so that the order of the rows does not matter.

A permutation often deals the same losses to other rows. The risk must then not change at all: a difference
in the last bit would count as a difference in a signed-rank test. So sums are compensated.
"""

from math import log

import numpy as np

from ppfs._engine._jit import Float64s, kernel_part
from ppfs._engine.rules import Loss

_SMALLEST_SHARE = float(np.finfo(np.float64).eps)
_LARGEST_LOG_LOSS = -log(_SMALLEST_SHARE)
_SMALLEST_LOG_LOSS = -log(1.0 - _SMALLEST_SHARE)

# Multiplying by 2**27 + 1 and subtracting splits a float64 into two halves of at most 26 bits (Veltkamp).
_SPLITTER = 134217729.0


@kernel_part
def log_loss(share: float) -> float:
    """Log-loss of a predicted share, clipped as scikit-learn's ``log_loss`` clips."""
    if share <= _SMALLEST_SHARE:
        return _LARGEST_LOG_LOSS
    if share >= 1.0 - _SMALLEST_SHARE:
        return _SMALLEST_LOG_LOSS
    return -log(share)


@kernel_part
def class_losses(counts: Float64s, weight: float, loss: int, out: Float64s) -> None:
    """Fill ``out`` (n_classes,) with the loss of a row of each class in a leaf with these counts."""
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
        if loss == Loss.LOG:
            out[label] = log_loss(share)
        elif loss == Loss.BRIER:
            out[label] = squares - share * share + (share - 1.0) * (share - 1.0)
        else:
            out[label] = 0.0 if label == likeliest else 1.0


@kernel_part
def number_loss(error: float, loss: int) -> float:
    """Loss of a predicted number that is off by ``error``."""
    if loss == Loss.SQUARED:
        return error * error
    return abs(error)


@kernel_part
def add_loss(total: Float64s, loss: float) -> None:
    """Add to a compensated sum: ``total[0]`` is the sum so far, ``total[1]`` what rounding lost (Neumaier)."""
    old = total[0]
    new = old + loss
    if abs(old) >= abs(loss):
        total[1] += (old - new) + loss
    else:
        total[1] += (loss - new) + old
    total[0] = new


@kernel_part
def add_repeated_loss(total: Float64s, loss: float, times: float) -> None:
    """Add the same loss many times, with the result of adding it one by one without rounding."""
    shifted = loss * _SPLITTER
    high = shifted - (shifted - loss)
    add_loss(total, times * high)
    add_loss(total, times * (loss - high))
