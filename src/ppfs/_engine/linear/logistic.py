"""Logistic regression of two or more classes, by Newton's method: for many single columns, or for one matrix.

A model has one score per class; that of class 0 is zero, and the probabilities are the softmax of the scores. Designs
are stored regressor by regressor, so that sums run over contiguous memory. Every model is fitted separately from the
same start, so it does not depend on the other models.
"""

from math import exp, log
from typing import NamedTuple

import numpy as np

from ppfs._engine.jit.kernels import Float64s, Int64s, kernel, kernel_function
from ppfs._engine.linear.cholesky import solve_positive
from ppfs._engine.linear.sums import dot, is_constant

#: Newton steps of a fit, and how often one is halved until it is an improvement.
MAX_STEPS, MAX_HALVINGS = 100, 40

# Factors are multiplied before the logarithm is taken, until their product comes near the largest float.
_LARGE = 1e250

#: A step may increase the objective by this much because of rounding.
ROUNDING = 1e-12


class Likelihood(NamedTuple):
    """The objective: the weighted log-likelihood minus a penalty on the squares of the coefficients.

    Attributes
    ----------
    design : array of shape (n_regressors, n_rows), float64
        The intercept is a row of ones.
    classes : array of shape (n_rows,), int64
        Class codes.
    weights : array of shape (n_rows,), float64
        Weights of the rows; empty if all are equal.
    penalties : array of shape (n_regressors,), float64
        Half of this times the square of a coefficient is subtracted.
    n_classes : int
        At least 2.
    is_symmetric : bool
        Whether the penalty applies to one coefficient per class, with sum zero, as in scikit-learn for three and more
        classes, or to the differences from class 0.
    """

    design: Float64s
    classes: Int64s
    weights: Float64s
    penalties: Float64s
    n_classes: int
    is_symmetric: bool


class Memory(NamedTuple):
    """What a fit needs beside its results. ``n_unknown`` is the number of coefficients of all scores.

    A kernel that allocates arrays takes longer to compile.
    """

    shares: Float64s  # (n_scores, n_rows)
    row_values: Float64s  # (n_rows,)
    weighted: Float64s  # (n_rows,)
    gradient: Float64s  # (n_unknown,)
    step: Float64s  # (n_unknown,)
    information: Float64s  # (n_unknown, n_unknown)
    factor: Float64s  # (n_unknown, n_unknown) of the information
    trial: Float64s  # (n_scores, n_regressors)


def _memory(n_scores: int, n_regressors: int, n_rows: int) -> Memory:
    n_unknown = n_scores * n_regressors
    return Memory(
        shares=np.empty((n_scores, n_rows)),
        row_values=np.empty(n_rows),
        weighted=np.empty(n_rows),
        gradient=np.empty(n_unknown),
        step=np.empty(n_unknown),
        information=np.empty((n_unknown, n_unknown)),
        factor=np.empty((n_unknown, n_unknown)),
        trial=np.empty((n_scores, n_regressors)),
    )


@kernel_function
def _penalty(problem: Likelihood, theta: Float64s) -> float:
    n_scores, n_regressors = theta.shape
    total = 0.0
    for r in range(n_regressors):
        if problem.penalties[r] > 0.0:
            squares, summed = 0.0, 0.0
            for a in range(n_scores):
                squares += theta[a, r] * theta[a, r]
                summed += theta[a, r]
            if problem.is_symmetric:
                squares -= summed * summed / problem.n_classes
            total += 0.5 * problem.penalties[r] * squares
    return total


@kernel_function
def _evaluate(problem: Likelihood, theta: Float64s, shares: Float64s) -> float:
    """Return the penalized negative log-likelihood, and fill ``shares[a]`` with the probabilities of class a + 1."""
    n_scores, n_regressors = theta.shape
    n_rows = problem.classes.size
    for a in range(n_scores):
        own = shares[a]
        for i in range(n_rows):
            own[i] = 0.0
        for r in range(n_regressors):
            regressor = problem.design[r]
            coefficient = theta[a, r]
            for i in range(n_rows):
                own[i] += coefficient * regressor[i]
    is_weighted = problem.weights.size > 0
    value = 0.0
    factors = 1.0
    for i in range(n_rows):
        if n_scores == 1:
            score = shares[0, i]
            small = exp(-abs(score))
            total = 1.0 + small
            shares[0, i] = 1.0 / total if score >= 0.0 else small / total
            is_right = (score >= 0.0) == (problem.classes[i] == 1)
            behind = 0.0 if is_right else abs(score)
        else:
            top = 0.0
            for a in range(n_scores):
                top = max(top, shares[a, i])
            chosen = 0.0 if problem.classes[i] == 0 else shares[problem.classes[i] - 1, i]
            behind = top - chosen
            total = exp(-top)
            for a in range(n_scores):
                shares[a, i] = exp(shares[a, i] - top)
                total += shares[a, i]
            for a in range(n_scores):
                shares[a, i] /= total
        if is_weighted:
            value += problem.weights[i] * (behind + log(total))
        else:
            value += behind
            factors *= total
            if factors > _LARGE:
                value += log(factors)
                factors = 1.0
    return value + log(factors) + _penalty(problem, theta)


@kernel_function
def _derivatives(problem: Likelihood, theta: Float64s, memory: Memory) -> None:
    """Fill the gradient of the log-likelihood and the negative of its second derivatives (lower triangle).

    Unknown number ``a * n_regressors + r`` is the coefficient of regressor r in the score of class a + 1.
    """
    n_scores, n_regressors = theta.shape
    n_rows = problem.classes.size
    is_weighted = problem.weights.size > 0
    shares, row_values, weighted = memory.shares, memory.row_values, memory.weighted
    gradient, information = memory.gradient, memory.information
    for a in range(n_scores):
        for i in range(n_rows):
            residual = (1.0 if problem.classes[i] == a + 1 else 0.0) - shares[a, i]
            row_values[i] = problem.weights[i] * residual if is_weighted else residual
        for r in range(n_regressors):
            gradient[a * n_regressors + r] = dot(problem.design[r], row_values)
        for b in range(a + 1):
            for i in range(n_rows):
                joint = shares[a, i] * ((1.0 if a == b else 0.0) - shares[b, i])
                row_values[i] = problem.weights[i] * joint if is_weighted else joint
            for r in range(n_regressors):
                regressor = problem.design[r]
                for i in range(n_rows):
                    weighted[i] = regressor[i] * row_values[i]
                for s in range(r + 1):
                    entry = dot(weighted, problem.design[s])
                    information[a * n_regressors + r, b * n_regressors + s] = entry
                    information[a * n_regressors + s, b * n_regressors + r] = entry
    for r in range(n_regressors):
        penalty = problem.penalties[r]
        if penalty > 0.0:
            shared = 0.0
            if problem.is_symmetric:
                for a in range(n_scores):
                    shared += theta[a, r] / problem.n_classes
            for a in range(n_scores):
                gradient[a * n_regressors + r] -= penalty * (theta[a, r] - shared)
                for b in range(a + 1):
                    part = 1.0 if a == b else 0.0
                    if problem.is_symmetric:
                        part -= 1.0 / problem.n_classes
                    information[a * n_regressors + r, b * n_regressors + r] += penalty * part


@kernel_function
def _copy(source: Float64s, target: Float64s) -> None:
    # Loops, because array assignments make Numba compile error messages about shapes, which takes most of the time.
    for a in range(source.shape[0]):
        for r in range(source.shape[1]):
            target[a, r] = source[a, r]


@kernel_function
def _maximize(problem: Likelihood, theta: Float64s, memory: Memory, tolerance: float) -> float:
    """Move ``theta`` to the maximum, and return the penalized negative log-likelihood there.

    It stops when the expected improvement by a Newton step is below ``tolerance``. That step is still taken: Newton's
    method squares the error, so the remaining error is rounding.
    """
    n_scores, n_regressors = theta.shape
    gradient, step, trial = memory.gradient, memory.step, memory.trial
    value = _evaluate(problem, theta, memory.shares)
    for _ in range(MAX_STEPS):
        _derivatives(problem, theta, memory)
        solve_positive(memory.information, gradient, memory.factor, step)
        promised = dot(gradient, step)
        is_last = not promised > tolerance
        size = 1.0
        is_better = False
        for _ in range(MAX_HALVINGS):
            for a in range(n_scores):
                for r in range(n_regressors):
                    trial[a, r] = theta[a, r] + size * step[a * n_regressors + r]
            reached = _evaluate(problem, trial, memory.shares)
            is_better = reached <= value + ROUNDING * abs(value)
            if is_better or is_last:
                break
            size /= 2.0
        if is_better:
            _copy(trial, theta)
            value = min(value, reached) if is_last else reached
        if is_last or not is_better:
            break
    return value


def fit_scores(problem: Likelihood, start: Float64s, tolerance: float) -> tuple[Float64s, float]:
    """Fit one model, and return its coefficients, shape (n_classes - 1, n_regressors), and the objective.

    Parameters
    ----------
    start : array of shape (n_classes - 1, n_regressors), float64
    tolerance : float
        See `_maximize`.
    """
    theta = np.array(start, dtype=np.float64, order="C")
    value = _improve_scores(
        problem, theta, _memory(theta.shape[0], theta.shape[1], problem.classes.size), tolerance
    )
    return theta, value


@kernel
def _improve_scores(problem: Likelihood, theta: Float64s, memory: Memory, tolerance: float) -> float:
    """Change coefficients to those of the fitted model; return the objective."""
    return _maximize(problem, theta, memory, tolerance)


def logistic_columns(
    regressors: Float64s,
    classes: Int64s,
    weights: Float64s,
    n_classes: int,
    penalty: float,
    has_intercept: bool,
    is_symmetric: bool,
    tolerance: float,
) -> tuple[Float64s, Float64s]:
    """Fit one model per column of a block.

    Parameters
    ----------
    regressors : array of shape (n_regressors, n_rows, n_columns), float64
        The regressors that are made of each column.
    classes, weights, n_classes, is_symmetric
        See `Likelihood`.
    penalty : float
        Penalty of all coefficients except the intercept.

    Returns
    -------
    coefficients : array of shape (n_columns, n_classes - 1, n_regressors), float64
    intercepts : array of shape (n_columns, n_classes - 1), float64
    """
    n_regressors, n_rows, n_columns = regressors.shape
    coefficients = np.empty((n_columns, n_classes - 1, n_regressors))
    intercepts = np.zeros((n_columns, n_classes - 1))
    n_in_design = n_regressors + int(has_intercept)
    scaling = Scaling(
        design=np.empty((n_in_design, n_rows)),
        centers=np.empty(n_regressors),
        scales=np.empty(n_regressors),
        penalties=np.empty(n_in_design),
        theta=np.empty((n_classes - 1, n_in_design)),
        totals=np.empty(n_classes),
    )
    _fill_logistic(
        regressors,
        classes,
        weights,
        n_classes,
        penalty,
        has_intercept,
        is_symmetric,
        tolerance,
        scaling,
        _memory(n_classes - 1, n_in_design, n_rows),
        coefficients,
        intercepts,
    )
    return coefficients, intercepts


class Scaling(NamedTuple):
    """What the fit of a column needs for standardized regressors. A row of the design may be the intercept."""

    design: Float64s  # (n_in_design, n_rows)
    centers: Float64s  # (n_regressors,)
    scales: Float64s  # (n_regressors,)
    penalties: Float64s  # (n_in_design,)
    theta: Float64s  # (n_scores, n_in_design)
    totals: Float64s  # (n_classes,)


@kernel
def _fill_logistic(
    regressors: Float64s,
    classes: Int64s,
    weights: Float64s,
    n_classes: int,
    penalty: float,
    has_intercept: bool,
    is_symmetric: bool,
    tolerance: float,
    scaling: Scaling,
    memory: Memory,
    coefficients: Float64s,
    intercepts: Float64s,
) -> None:
    """Fill what `logistic_columns` returns."""
    n_regressors, n_rows, n_columns = regressors.shape
    for column in range(n_columns):
        for r in range(n_regressors):
            for i in range(n_rows):
                scaling.design[r, i] = regressors[r, i, column]
        _fit_standardized(
            classes,
            weights,
            n_classes,
            penalty,
            has_intercept,
            is_symmetric,
            tolerance,
            scaling,
            memory,
            coefficients[column],
            intercepts[column],
        )


@kernel_function
def _fit_standardized(
    classes: Int64s,
    weights: Float64s,
    n_classes: int,
    penalty: float,
    has_intercept: bool,
    is_symmetric: bool,
    tolerance: float,
    scaling: Scaling,
    memory: Memory,
    coefficients: Float64s,
    intercepts: Float64s,
) -> None:
    """Standardize the regressors, fit one model, and fill its coefficients in the original units.

    Standardization changes only the scale of the numbers: the penalty is rescaled with them. A row for the intercept
    follows the regressors in the design, which is overwritten.
    """
    n_scores, n_regressors = coefficients.shape
    n_rows = classes.size
    design, centers, scales, penalties = scaling.design, scaling.centers, scaling.scales, scaling.penalties
    theta = scaling.theta
    for r in range(design.shape[0]):
        penalties[r] = 0.0
        for a in range(n_scores):
            theta[a, r] = 0.0
    for r in range(n_regressors):
        row = design[r]
        centers[r], scales[r] = 0.0, 1.0
        if has_intercept and is_constant(row):
            # A constant regressor is redundant with the intercept; after centering it would consist of rounding errors.
            centers[r] = row[0]
            penalties[r] = 1.0
            for i in range(n_rows):
                row[i] = 0.0
            continue
        if has_intercept:
            center = 0.0
            for i in range(n_rows):
                center += row[i]
            center /= n_rows
            centers[r] = center
            for i in range(n_rows):
                row[i] -= center
        scale = np.sqrt(dot(row, row) / n_rows)
        if scale > 0.0:
            scales[r] = scale
            for i in range(n_rows):
                row[i] /= scale
        penalties[r] = penalty / (scales[r] * scales[r])
    if has_intercept:
        for i in range(n_rows):
            design[n_regressors, i] = 1.0
        _start_at_shares(classes, weights, scaling.totals, theta[:, n_regressors])
    problem = Likelihood(design, classes, weights, penalties, n_classes, is_symmetric)
    _maximize(problem, theta, memory, tolerance)
    for a in range(n_scores):
        if has_intercept:
            intercepts[a] = theta[a, n_regressors]
        for r in range(n_regressors):
            coefficients[a, r] = theta[a, r] / scales[r]
            intercepts[a] -= coefficients[a, r] * centers[r]


@kernel_function
def _start_at_shares(classes: Int64s, weights: Float64s, totals: Float64s, intercepts: Float64s) -> None:
    """Fill the intercepts of the model without regressors, which predicts the class frequencies."""
    for a in range(totals.size):
        totals[a] = 0.0
    for i in range(classes.size):
        totals[classes[i]] += weights[i] if weights.size else 1.0
    for a in range(intercepts.size):
        if totals[0] > 0.0 and totals[a + 1] > 0.0:
            intercepts[a] = log(totals[a + 1] / totals[0])
