"""Gradients and hessians of the losses that boosting minimizes, and the predicted probabilities.

scikit-learn keeps gradients and hessians as float32 and adds them up as float64. Such sums are exact unless the
numbers differ by many orders of magnitude, so their order does not matter; but the rounding does, and is done here too.
"""

from math import exp

import numpy as np

from ppfs._engine.boosting.rules import Kind
from ppfs._engine.jit.kernels import Float64s, kernel_function, kernel_part
from ppfs._engine.trees.criterion import weight_of

# While raw predictions stay within this bound, powers of e can be updated by multiplication.
BOUND_OF_POWERS = 300.0


@kernel_part
def _fill_two_classes(
    labels: Float64s, weights: Float64s | None, powers: Float64s, gradient: Float64s, hessian: Float64s
) -> None:
    """Fill gradients and hessians for two classes, without branches so that the loop is vectorized."""
    for row in range(labels.size):
        power, label, weight = powers[row], labels[row], weight_of(row, weights)
        gradient[row] = np.float32(weight * (((1.0 - label) - label * power) / (1.0 + power)))
        hessian[row] = np.float32(weight * (power / ((1.0 + power) * (1.0 + power))))


@kernel_part
def _fill_counts(
    labels: Float64s, weights: Float64s | None, powers: Float64s, gradient: Float64s, hessian: Float64s
) -> None:
    """Fill gradients and hessians of half the Poisson deviance."""
    for row in range(labels.size):
        weight = weight_of(row, weights)
        gradient[row] = np.float32(weight * (powers[row] - labels[row]))
        hessian[row] = np.float32(weight * powers[row])


@kernel_part
def _fill_amounts(
    labels: Float64s, weights: Float64s | None, powers: Float64s, gradient: Float64s, hessian: Float64s
) -> None:
    """Fill gradients and hessians of half the Gamma deviance."""
    for row in range(labels.size):
        ratio, weight = labels[row] * powers[row], weight_of(row, weights)
        gradient[row] = np.float32(weight * (1.0 - ratio))
        hessian[row] = np.float32(weight * ratio)


@kernel_part
def _fill_more_classes(
    n_trees: int,
    labels: Float64s,
    weights: Float64s | None,
    powers: Float64s,
    gradient: Float64s,
    hessian: Float64s,
) -> None:
    for row in range(labels.size):
        weight = weight_of(row, weights)
        total = 0.0
        for tree in range(n_trees):
            total += powers[tree, row]
        for tree in range(n_trees):
            share = powers[tree, row] / total
            gradient[tree, row] = np.float32(weight * (share - (1.0 if labels[row] == tree else 0.0)))
            hessian[tree, row] = np.float32(weight * (share * (1.0 - share)))


@kernel_function
def start_powers(kind: int, n_trees: int, n_rows: int, raw: Float64s, powers: Float64s) -> float:
    """Fill ``powers`` (n_trees, n_rows) from raw predictions; return the largest absolute raw prediction.

    Powers are exp(-raw) for two classes and amounts, and exp(raw) for counts and more classes, of which the largest of
    a row is shifted to 1: none overflows in a way that would matter.
    """
    size = 0.0
    for row in range(n_rows):
        largest = 0.0
        if kind == Kind.MORE_CLASSES:
            largest = raw[0, row]
            for tree in range(1, n_trees):
                largest = max(largest, raw[tree, row])
        for tree in range(n_trees):
            size = max(size, abs(raw[tree, row]))
            is_rising = kind == Kind.MORE_CLASSES or kind == Kind.COUNTS
            power = raw[tree, row] - largest if is_rising else -raw[tree, row]
            powers[tree, row] = exp(min(power, 2.0 * BOUND_OF_POWERS))
    return size


@kernel_function
def fill_gradients(
    kind: int,
    n_rows: int,
    n_trees: int,
    labels: Float64s,
    weights: Float64s | None,
    raw: Float64s,
    powers: Float64s,
    gradient: Float64s,
    hessian: Float64s,
) -> None:
    """Fill ``gradient`` and ``hessian`` from raw predictions or their powers, all of shape (n_trees, n_rows).

    Both are multiplied by the weights of the rows, if they have weights.
    """
    if kind == Kind.NUMBERS:
        for row in range(n_rows):
            weight = weight_of(row, weights)
            gradient[0, row] = np.float32(weight * (raw[0, row] - labels[row]))
            hessian[0, row] = np.float32(weight)
    elif kind == Kind.TWO_CLASSES:
        _fill_two_classes(
            labels[:n_rows], weights, powers[0, :n_rows], gradient[0, :n_rows], hessian[0, :n_rows]
        )
    elif kind == Kind.COUNTS:
        _fill_counts(labels[:n_rows], weights, powers[0, :n_rows], gradient[0, :n_rows], hessian[0, :n_rows])
    elif kind == Kind.AMOUNTS:
        _fill_amounts(labels[:n_rows], weights, powers[0, :n_rows], gradient[0, :n_rows], hessian[0, :n_rows])
    else:
        _fill_more_classes(n_trees, labels[:n_rows], weights, powers, gradient, hessian)


@kernel_function
def fill_shares(kind: int, raw: Float64s, shares: Float64s) -> int:
    """Fill ``shares`` with the probability of each class of the train part; return the most probable class."""
    likeliest = 0
    if kind == Kind.ONE_CLASS:
        shares[0] = 1.0
    elif kind == Kind.TWO_CLASSES:
        shares[1] = 1.0 / (1.0 + exp(-raw[0]))
        shares[0] = 1.0 - shares[1]
        likeliest = 1 if raw[0] > 0.0 else 0
    else:
        for place in range(1, shares.size):
            if raw[place] > raw[likeliest]:
                likeliest = place
        total = 0.0
        for place in range(shares.size):
            shares[place] = exp(raw[place] - raw[likeliest])
            total += shares[place]
        for place in range(shares.size):
            shares[place] /= total
    return likeliest
