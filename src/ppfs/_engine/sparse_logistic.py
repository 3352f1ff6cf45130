"""Logistic regression of two classes with a penalty on the sizes of the coefficients, by proximal Newton steps.

Around the present coefficients the likelihood is replaced by its second-order expansion. That and the penalty are
minimised coordinate by coordinate, and a step is made towards the minimum, as glmnet does (Friedman, Hastie and
Tibshirani, 2010) but with a line search, so that every step lowers what is minimised.
"""

from math import exp, log

import numpy as np

from ppfs._engine._jit import Float64s, allocating_function, allocating_kernel, kernel_function
from ppfs._engine.sums import dot, is_constant

_MAX_STEPS = 200
_MAX_HALVINGS = 40
_MAX_ROUNDS = 20_000

# Coordinates are visited until none moves by more than this share of the largest.
_SMALLEST_MOVE = 1e-13

# The share of a promised descent that a step must keep.
_KEPT = 1e-4
_ROUNDING = 1e-13


@kernel_function
def _objective(
    design: Float64s,
    labels: Float64s,
    weights: Float64s,
    sizes: Float64s,
    squares: Float64s,
    slopes: Float64s,
    shares: Float64s,
) -> float:
    """Return what is minimised, and fill ``shares`` with the probabilities of label 1."""
    n_regressors, n_rows = design.shape
    for i in range(n_rows):
        shares[i] = 0.0
    for r in range(n_regressors):
        slope, regressor = slopes[r], design[r]
        if slope != 0.0:
            for i in range(n_rows):
                shares[i] += slope * regressor[i]
    value = 0.0
    for i in range(n_rows):
        score = shares[i]
        small = exp(-abs(score))
        total = 1.0 + small
        shares[i] = 1.0 / total if score >= 0.0 else small / total
        behind = 0.0 if (score >= 0.0) == (labels[i] > 0.5) else abs(score)
        value += weights[i] * (behind + log(total))
    for r in range(n_regressors):
        value += sizes[r] * abs(slopes[r]) + 0.5 * squares[r] * slopes[r] * slopes[r]
    return value


@kernel_function
def _towards_zero(value: float, by: float) -> float:
    if value > by:
        return value - by
    return value + by if value < -by else 0.0


@kernel_function
def _find_step(
    gradient: Float64s, curvature: Float64s, sizes: Float64s, slopes: Float64s, step: Float64s, rest: Float64s
) -> None:
    """Fill ``step`` with what minimises the expansion and the penalty; ``rest`` is memory."""
    n_regressors = gradient.size
    for r in range(n_regressors):
        step[r] = 0.0
        rest[r] = gradient[r]
    for _ in range(_MAX_ROUNDS):
        largest, moved = 0.0, 0.0
        for r in range(n_regressors):
            bend = curvature[r, r]
            if bend > 0.0:
                old = slopes[r] + step[r]
                new = _towards_zero(bend * old - rest[r], sizes[r]) / bend
                move = new - old
                if move != 0.0:
                    step[r] += move
                    for s in range(n_regressors):
                        rest[s] += move * curvature[r, s]
                largest, moved = max(largest, abs(new)), max(moved, abs(move))
        if not moved > _SMALLEST_MOVE * largest:
            break


@allocating_function
def _minimise(
    design: Float64s,
    labels: Float64s,
    weights: Float64s,
    sizes: Float64s,
    squares: Float64s,
    tolerance: float,
    slopes: Float64s,
) -> None:
    """Move ``slopes`` to the minimum; it ends when a step promises less than ``tolerance``."""
    n_regressors, n_rows = design.shape
    gradient, step, rest = np.empty(n_regressors), np.empty(n_regressors), np.empty(n_regressors)
    trial, curvature = np.empty(n_regressors), np.empty((n_regressors, n_regressors))
    shares, row_values, weighted = np.empty(n_rows), np.empty(n_rows), np.empty(n_rows)
    value = _objective(design, labels, weights, sizes, squares, slopes, shares)
    for _ in range(_MAX_STEPS):
        for i in range(n_rows):
            row_values[i] = weights[i] * (shares[i] - labels[i])
        for r in range(n_regressors):
            gradient[r] = dot(design[r], row_values) + squares[r] * slopes[r]
        for i in range(n_rows):
            row_values[i] = weights[i] * shares[i] * (1.0 - shares[i])
        for r in range(n_regressors):
            regressor = design[r]
            for i in range(n_rows):
                weighted[i] = regressor[i] * row_values[i]
            for s in range(r + 1):
                curvature[r, s] = curvature[s, r] = dot(weighted, design[s])
            curvature[r, r] += squares[r]
        _find_step(gradient, curvature, sizes, slopes, step, rest)
        promised = dot(gradient, step)
        for r in range(n_regressors):
            promised += sizes[r] * (abs(slopes[r] + step[r]) - abs(slopes[r]))
        is_last = not -promised > tolerance
        share, is_better, reached = 1.0, False, value
        for _ in range(_MAX_HALVINGS):
            for r in range(n_regressors):
                trial[r] = slopes[r] + share * step[r]
            reached = _objective(design, labels, weights, sizes, squares, trial, shares)
            is_better = reached <= value + share * _KEPT * promised + _ROUNDING * abs(value)
            if is_better or is_last:
                break
            share /= 2.0
        if is_better:
            for r in range(n_regressors):
                slopes[r] = trial[r]
            value = reached
        if is_last or not is_better:
            break


@allocating_kernel
def sparse_logistic_columns(
    regressors: Float64s,
    labels: Float64s,
    weights: Float64s,
    sizes: float,
    squares: float,
    has_intercept: bool,
    tolerance: float,
) -> tuple[Float64s, Float64s]:
    """Fit one model a column of a block.

    Parameters
    ----------
    regressors : array of shape (n_regressors, n_rows, n_columns), float64
        What the model of a column sees of it.
    labels, weights : arrays of shape (n_rows,), float64
        0 or 1, and how much each row counts.
    sizes, squares : float
        The first times the sizes, and half of the second times the squares of the coefficients, are added to the
        negative log-likelihood; the intercept is free.

    Returns
    -------
    slopes : array of shape (n_columns, n_regressors), float64
    intercepts : array of shape (n_columns,), float64
    """
    n_regressors, n_rows, n_columns = regressors.shape
    n_unknown = n_regressors + (1 if has_intercept else 0)
    slopes, intercepts = np.zeros((n_columns, n_regressors)), np.zeros(n_columns)
    design = np.ones((n_unknown, n_rows))
    centres, scales = np.zeros(n_regressors), np.ones(n_regressors)
    own_sizes, own_squares = np.zeros(n_unknown), np.zeros(n_unknown)
    found = np.empty(n_unknown)
    for column in range(n_columns):
        for r in range(n_regressors):
            row = design[r]
            for i in range(n_rows):
                row[i] = regressors[r, i, column]
            centres[r], scales[r] = 0.0, 1.0
            if has_intercept:
                # Moving regressors moves nothing but the intercept; one that is constant says nothing beside it.
                is_idle = is_constant(row)
                for i in range(n_rows):
                    centres[r] += row[i] / n_rows
                for i in range(n_rows):
                    row[i] = 0.0 if is_idle else row[i] - centres[r]
            scale = np.sqrt(dot(row, row) / n_rows)
            if scale > 0.0:
                scales[r] = scale
                for i in range(n_rows):
                    row[i] /= scale
            own_sizes[r], own_squares[r] = sizes / scales[r], squares / (scales[r] * scales[r])
        for r in range(n_unknown):
            found[r] = 0.0
        _minimise(design, labels, weights, own_sizes, own_squares, tolerance, found)
        if has_intercept:
            intercepts[column] = found[n_regressors]
        for r in range(n_regressors):
            slopes[column, r] = found[r] / scales[r]
            intercepts[column] -= slopes[column, r] * centres[r]
    return slopes, intercepts
