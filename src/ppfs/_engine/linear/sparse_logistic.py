"""Logistic regression with a penalty on the absolute values of the coefficients, by proximal Newton steps.

With two classes there is one score, that of class 1; with three and more there is one per class, as in scikit-learn.
The likelihood is replaced by its second-order expansion at the current coefficients. Coordinate descent minimizes the
expansion plus the penalty, and a step is made towards the minimum, as in glmnet (Friedman, Hastie and Tibshirani, 2010)
but with a line search, so that every step decreases the objective.
"""

from math import exp, log

import numpy as np

from ppfs._engine.jit.kernels import Float64s, Int64s, allocating_function, allocating_kernel, kernel_function
from ppfs._engine.linear.sums import dot, is_constant

_MAX_STEPS = 200
_MAX_HALVINGS = 40
_MAX_ROUNDS = 20_000

# Coordinate descent stops when no coordinate changes by more than this share of the largest.
_SMALLEST_MOVE = 1e-13

# A step must achieve this share of the expected decrease.
_KEPT = 1e-4
_ROUNDING = 1e-13


@kernel_function
def _shares_of_two(classes: Int64s, weights: Float64s, shares: Float64s) -> float:
    """Convert the scores of class 1 to probabilities, and return the negative log-likelihood."""
    value = 0.0
    for i in range(classes.size):
        score = shares[i]
        small = exp(-abs(score))
        total = 1.0 + small
        shares[i] = 1.0 / total if score >= 0.0 else small / total
        behind = 0.0 if (score >= 0.0) == (classes[i] == 1) else abs(score)
        value += weights[i] * (behind + log(total))
    return value


@kernel_function
def _shares_of_more(classes: Int64s, weights: Float64s, shares: Float64s) -> float:
    """Convert the scores of the classes to probabilities, and return the negative log-likelihood."""
    n_scores, n_rows = shares.shape
    value = 0.0
    for i in range(n_rows):
        top = shares[0, i]
        for score in range(1, n_scores):
            top = max(top, shares[score, i])
        behind, total = top - shares[classes[i], i], 0.0
        for score in range(n_scores):
            shares[score, i] = exp(shares[score, i] - top)
            total += shares[score, i]
        for score in range(n_scores):
            shares[score, i] /= total
        value += weights[i] * (behind + log(total))
    return value


@kernel_function
def _objective(
    design: Float64s,
    classes: Int64s,
    weights: Float64s,
    sizes: Float64s,
    squares: Float64s,
    slopes: Float64s,
    shares: Float64s,
) -> float:
    """Return the objective, and fill ``shares`` with the probabilities of the classes that have a score."""
    n_scores, n_rows = shares.shape
    n_regressors = len(design)
    for score in range(n_scores):
        own = shares[score]
        for i in range(n_rows):
            own[i] = 0.0
        for r in range(n_regressors):
            slope, regressor = slopes[score * n_regressors + r], design[r]
            if slope != 0.0:
                for i in range(n_rows):
                    own[i] += slope * regressor[i]
    value = (
        _shares_of_two(classes, weights, shares[0])
        if n_scores == 1
        else _shares_of_more(classes, weights, shares)
    )
    for u in range(slopes.size):
        value += sizes[u] * abs(slopes[u]) + 0.5 * squares[u] * slopes[u] * slopes[u]
    return value


@kernel_function
def _expand(
    design: Float64s,
    classes: Int64s,
    weights: Float64s,
    squares: Float64s,
    slopes: Float64s,
    shares: Float64s,
    gradient: Float64s,
    curvature: Float64s,
    row_values: Float64s,
    weighted: Float64s,
) -> None:
    """Fill gradient and curvature of the likelihood and the squares; the last two arguments are scratch memory."""
    n_scores, n_rows = shares.shape
    n_regressors = len(design)
    first = 1 if n_scores == 1 else 0
    for a in range(n_scores):
        for i in range(n_rows):
            row_values[i] = weights[i] * (shares[a, i] - (1.0 if classes[i] == a + first else 0.0))
        for r in range(n_regressors):
            u = a * n_regressors + r
            gradient[u] = dot(design[r], row_values) + squares[u] * slopes[u]
        for b in range(a + 1):
            for i in range(n_rows):
                row_values[i] = weights[i] * shares[a, i] * ((1.0 if a == b else 0.0) - shares[b, i])
            for r in range(n_regressors):
                regressor = design[r]
                for i in range(n_rows):
                    weighted[i] = regressor[i] * row_values[i]
                for s in range(r + 1):
                    bend = dot(weighted, design[s])
                    for u, v in ((r, s), (s, r)):
                        curvature[a * n_regressors + u, b * n_regressors + v] = bend
                        curvature[b * n_regressors + v, a * n_regressors + u] = bend
    for u in range(slopes.size):
        curvature[u, u] += squares[u]


@kernel_function
def _towards_zero(value: float, by: float) -> float:
    if value > by:
        return value - by
    return value + by if value < -by else 0.0


@kernel_function
def _find_step(
    gradient: Float64s, curvature: Float64s, sizes: Float64s, slopes: Float64s, step: Float64s, rest: Float64s
) -> None:
    """Fill ``step`` with the minimizer of the expansion plus the penalty; ``rest`` is scratch memory."""
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
def _minimize(
    design: Float64s,
    classes: Int64s,
    weights: Float64s,
    sizes: Float64s,
    squares: Float64s,
    tolerance: float,
    slopes: Float64s,
) -> None:
    """Move ``slopes`` to the minimum, until the expected decrease by a step is below ``tolerance``."""
    n_regressors, n_rows = design.shape
    n_unknown = slopes.size
    gradient, step, rest = np.empty(n_unknown), np.empty(n_unknown), np.empty(n_unknown)
    trial, curvature = np.empty(n_unknown), np.empty((n_unknown, n_unknown))
    shares, row_values, weighted = (
        np.empty((n_unknown // n_regressors, n_rows)),
        np.empty(n_rows),
        np.empty(n_rows),
    )
    value = _objective(design, classes, weights, sizes, squares, slopes, shares)
    for _ in range(_MAX_STEPS):
        _expand(design, classes, weights, squares, slopes, shares, gradient, curvature, row_values, weighted)
        _find_step(gradient, curvature, sizes, slopes, step, rest)
        promised = dot(gradient, step)
        for u in range(n_unknown):
            promised += sizes[u] * (abs(slopes[u] + step[u]) - abs(slopes[u]))
        is_last = not -promised > tolerance
        share, is_better, reached = 1.0, False, value
        for _ in range(_MAX_HALVINGS):
            for u in range(n_unknown):
                trial[u] = slopes[u] + share * step[u]
            reached = _objective(design, classes, weights, sizes, squares, trial, shares)
            is_better = reached <= value + share * _KEPT * promised + _ROUNDING * abs(value)
            if is_better or is_last:
                break
            share /= 2.0
        if is_better:
            for u in range(n_unknown):
                slopes[u] = trial[u]
            value = reached
        if is_last or not is_better:
            break


def sparse_logistic_columns(
    regressors: Float64s,
    classes: Int64s,
    weights: Float64s,
    n_classes: int,
    sizes: float,
    squares: float,
    has_intercept: bool,
    tolerance: float,
) -> tuple[Float64s, Float64s]:
    """Fit one model per column of a block.

    Parameters
    ----------
    regressors : array of shape (n_regressors, n_rows, n_columns), float64
        The regressors that are made of each column.
    classes : array of shape (n_rows,), int64
        Class codes.
    weights : array of shape (n_rows,), float64
        How much each row counts.
    sizes, squares : float
        The penalty is the first times the absolute values, plus half of the second times the squares, of the
        coefficients; the intercepts are not penalized.

    Returns
    -------
    slopes : array of shape (n_columns, n_classes - 1, n_regressors), float64
    intercepts : array of shape (n_columns, n_classes - 1), float64
        Of the scores of the classes minus that of class 0.
    """
    n_regressors, _, n_columns = regressors.shape
    slopes, intercepts = (
        np.zeros((n_columns, n_classes - 1, n_regressors)),
        np.zeros((n_columns, n_classes - 1)),
    )
    _fill_sparse_logistic(
        regressors, classes, weights, n_classes, sizes, squares, has_intercept, tolerance, slopes, intercepts
    )
    return slopes, intercepts


@allocating_kernel
def _fill_sparse_logistic(
    regressors: Float64s,
    classes: Int64s,
    weights: Float64s,
    n_classes: int,
    sizes: float,
    squares: float,
    has_intercept: bool,
    tolerance: float,
    slopes: Float64s,
    intercepts: Float64s,
) -> None:
    """Fill what `sparse_logistic_columns` returns, where there are zeros."""
    n_regressors, n_rows, n_columns = regressors.shape
    n_used = n_regressors + (1 if has_intercept else 0)
    n_scores = 1 if n_classes == 2 else n_classes
    design = np.ones((n_used, n_rows))
    centers, scales = np.zeros(n_regressors), np.ones(n_regressors)
    own_sizes, own_squares = np.zeros(n_scores * n_used), np.zeros(n_scores * n_used)
    found = np.empty(n_scores * n_used)
    for column in range(n_columns):
        for r in range(n_regressors):
            row = design[r]
            for i in range(n_rows):
                row[i] = regressors[r, i, column]
            centers[r], scales[r] = 0.0, 1.0
            if has_intercept:
                # Shifting regressors changes only the intercept; a constant one is redundant with it.
                is_idle = is_constant(row)
                for i in range(n_rows):
                    centers[r] += row[i] / n_rows
                for i in range(n_rows):
                    row[i] = 0.0 if is_idle else row[i] - centers[r]
            scale = np.sqrt(dot(row, row) / n_rows)
            if scale > 0.0:
                scales[r] = scale
                for i in range(n_rows):
                    row[i] /= scale
            for score in range(n_scores):
                own_sizes[score * n_used + r] = sizes / scales[r]
                own_squares[score * n_used + r] = squares / (scales[r] * scales[r])
        for u in range(found.size):
            found[u] = 0.0
        _minimize(design, classes, weights, own_sizes, own_squares, tolerance, found)
        for score in range(n_classes - 1):
            first = (score if n_scores == 1 else score + 1) * n_used
            for r in range(n_used):
                value = found[first + r] - (0.0 if n_scores == 1 else found[r])
                if r == n_regressors:
                    intercepts[column, score] += value
                else:
                    slopes[column, score, r] = value / scales[r]
                    intercepts[column, score] -= slopes[column, score, r] * centers[r]
