"""Least squares with penalties on the squares or the absolute values of the coefficients.

Designs are stored regressor by regressor. Every entry of a Gram matrix depends only on its two regressors, so the Gram
matrix of a subset of regressors is a submatrix.
"""

import numpy as np

from ppfs._engine.jit.kernels import Bools, Float64s, Int64s, allocating_function, allocating_kernel
from ppfs._engine.linear.cholesky import factorize, solve_factorized
from ppfs._engine.linear.sums import dot, is_constant

# If the others explain a regressor up to this share of its variance, the Gram matrix has too few correct digits, and
# the caller must use another method.
_SMALLEST_SHARE = 1e-7
_SMALLEST_PIVOT = 1e-13

# Coordinate descent stops when no step changes the prediction by more than this share of the target's deviation.
_SMALLEST_MOVE = 1e-11
_MAX_ROUNDS = 100_000


@allocating_kernel
def products(design: Float64s) -> Float64s:
    """Return the inner products of all pairs of regressors, shape (n_regressors, n_regressors)."""
    n_regressors = design.shape[0]
    answer = np.empty((n_regressors, n_regressors))
    for r in range(n_regressors):
        for s in range(r + 1):
            answer[r, s] = answer[s, r] = dot(design[r], design[s])
    return answer


@allocating_kernel
def row_products(design: Float64s) -> Float64s:
    """Return the inner products of all pairs of rows, shape (n_rows, n_rows).

    Regressors are added four at a time, one by one, so that each entry is read and written once per four.
    """
    n_regressors, n_rows = design.shape
    answer = np.zeros((n_rows, n_rows))
    in_fours = n_regressors - n_regressors % 4
    for r in range(0, in_fours, 4):
        first, second, third, fourth = design[r], design[r + 1], design[r + 2], design[r + 3]
        for i in range(n_rows):
            a, b, c, d = first[i], second[i], third[i], fourth[i]
            own = answer[i]
            for k in range(i + 1):
                own[k] = own[k] + a * first[k] + b * second[k] + c * third[k] + d * fourth[k]
    for r in range(in_fours, n_regressors):
        regressor = design[r]
        for i in range(n_rows):
            value = regressor[i]
            own = answer[i]
            for k in range(i + 1):
                own[k] += value * regressor[k]
    for i in range(n_rows):
        for k in range(i):
            answer[k, i] = answer[i, k]
    return answer


@allocating_kernel
def solve_ridge(
    design: Float64s, gram: Float64s, values: Float64s, penalty: float, solution: Float64s
) -> bool:
    """Fill the coefficients that minimize the squared error plus ``penalty`` times their squares.

    One step of iterative refinement recovers the digits that the Gram matrix loses. Returns False if it loses too many.

    Parameters
    ----------
    design : array of shape (n_regressors, n_rows), float64
    gram : array of shape (n_regressors, n_regressors), float64
        Its `products`.
    values : array of shape (n_rows,), float64
    solution : array of shape (n_regressors,), float64
    """
    return _solve_ridge(design, gram, values, penalty, solution)


@allocating_function
def _solve_ridge(
    design: Float64s, gram: Float64s, values: Float64s, penalty: float, solution: Float64s
) -> bool:
    n_regressors, n_rows = design.shape
    factor = np.empty((n_regressors, n_regressors))
    if not factorize(gram, factor, penalty, _SMALLEST_SHARE):
        return False
    right = np.empty(n_regressors)
    correction = np.empty(n_regressors)
    residuals = np.empty(n_rows)
    for r in range(n_regressors):
        solution[r] = 0.0
    for _ in range(2):
        for i in range(n_rows):
            residuals[i] = values[i]
        for r in range(n_regressors):
            regressor = design[r]
            coefficient = solution[r]
            for i in range(n_rows):
                residuals[i] -= coefficient * regressor[i]
        for r in range(n_regressors):
            right[r] = dot(design[r], residuals) - penalty * solution[r]
        solve_factorized(factor, right, correction)
        for r in range(n_regressors):
            solution[r] += correction[r]
    return True


@allocating_kernel
def solve_symmetric(matrix: Float64s, right: Float64s, ridge: float, solution: Float64s) -> bool:
    """Fill the solution of ``(matrix + ridge) @ solution = right``; return False if the matrix is nearly singular."""
    n = right.size
    factor = np.empty((n, n))
    if not factorize(matrix, factor, ridge, _SMALLEST_PIVOT):
        return False
    solve_factorized(factor, right, solution)
    return True


def ridge_columns(
    regressors: Float64s, weights: Float64s, values: Float64s, penalty: float, has_intercept: bool
) -> tuple[Float64s, Float64s, Bools]:
    """Fit one model per column of a block.

    Parameters
    ----------
    regressors : array of shape (n_regressors, n_rows, n_columns), float64
        The regressors that are made of each column.
    weights : array of shape (n_rows,), float64
        How much each row counts.
    values : array of shape (n_rows,), float64
        What is to be predicted.

    Returns
    -------
    slopes : array of shape (n_columns, n_regressors), float64
    intercepts : array of shape (n_columns,), float64
    is_solved : array of shape (n_columns,), bool
        False where the regressors are nearly linearly dependent.
    """
    n_regressors, _, n_columns = regressors.shape
    slopes, intercepts = np.zeros((n_columns, n_regressors)), np.zeros(n_columns)
    is_solved = np.zeros(n_columns, dtype=np.bool_)
    _fill_ridges(regressors, weights, values, penalty, has_intercept, slopes, intercepts, is_solved)
    return slopes, intercepts, is_solved


@allocating_kernel
def _fill_ridges(
    regressors: Float64s,
    weights: Float64s,
    values: Float64s,
    penalty: float,
    has_intercept: bool,
    slopes: Float64s,
    intercepts: Float64s,
    is_solved: Bools,
) -> None:
    """Fill what `ridge_columns` returns."""
    n_regressors, n_rows, n_columns = regressors.shape
    design = np.empty((n_regressors, n_rows))
    gram = np.empty((n_regressors, n_regressors))
    centered = np.empty(n_rows)
    centers = np.zeros(n_regressors)
    total = 0.0
    center = 0.0
    for i in range(n_rows):
        total += weights[i]
        center += weights[i] * values[i]
    center = center / total if has_intercept else 0.0
    for i in range(n_rows):
        centered[i] = np.sqrt(weights[i]) * (values[i] - center)
    for column in range(n_columns):
        for r in range(n_regressors):
            if has_intercept:
                mean = 0.0
                for i in range(n_rows):
                    mean += weights[i] * regressors[r, i, column]
                centers[r] = mean / total
            for i in range(n_rows):
                design[r, i] = regressors[r, i, column]
            is_nothing = has_intercept and is_constant(design[r])
            for i in range(n_rows):
                # What is left of a constant after centering would be rounding.
                design[r, i] = 0.0 if is_nothing else np.sqrt(weights[i]) * (design[r, i] - centers[r])
            for s in range(r + 1):
                gram[r, s] = dot(design[r], design[s])
            if is_nothing:
                gram[r, r] = 1.0
        is_solved[column] = _solve_ridge(design, gram, centered, penalty, slopes[column])
        intercepts[column] = center
        for r in range(n_regressors):
            intercepts[column] -= slopes[column, r] * centers[r]


def line_columns(
    columns: Float64s, weights: Float64s, values: Float64s, penalty: float, has_intercept: bool
) -> tuple[Float64s, Float64s]:
    """Fit a line per column of a block.

    Rows are added one after the other, so the line of a column does not depend on the columns beside it.

    Parameters
    ----------
    columns : array of shape (n_rows, n_columns), float64
    weights : array of shape (n_rows,), float64
        How much each row counts.
    values : array of shape (n_rows,), float64
        What is to be predicted, less its mean where there is an intercept.

    Returns
    -------
    slopes, means : array of shape (n_columns,), float64
        The means are zeros where there is no intercept.
    """
    slopes, means = np.zeros(columns.shape[1]), np.zeros(columns.shape[1])
    _fill_lines(columns, weights, values, penalty, has_intercept, slopes, means)
    return slopes, means


@allocating_kernel
def _fill_lines(
    columns: Float64s,
    weights: Float64s,
    values: Float64s,
    penalty: float,
    has_intercept: bool,
    slopes: Float64s,
    means: Float64s,
) -> None:
    """Fill what `line_columns` returns, where there are zeros."""
    n_rows, n_columns = columns.shape
    pulls = np.zeros(n_columns)
    squares = np.zeros(n_columns)
    is_varied = np.zeros(n_columns, dtype=np.bool_)
    total = 0.0
    for i in range(n_rows):
        weight = weights[i]
        total += weight
        for c in range(n_columns):
            means[c] += weight * columns[i, c]
            is_varied[c] |= columns[i, c] != columns[0, c]
    for c in range(n_columns):
        means[c] = means[c] / total if has_intercept else 0.0
    for i in range(n_rows):
        weight = weights[i]
        value = values[i]
        for c in range(n_columns):
            centered = columns[i, c] - means[c]
            weighted = weight * centered
            pulls[c] += value * weighted
            squares[c] += weighted * centered
    for c in range(n_columns):
        # What is left of a constant after centering would be rounding.
        if is_varied[c] or not has_intercept:
            own = squares[c] + penalty
            slopes[c] = pulls[c] / own if own > 0.0 else 0.0


@allocating_kernel
def solve_elastic_net(
    gram: Float64s, right: Float64s, squares: float, sizes: float, is_positive: bool, solution: Float64s
) -> bool:
    """Fill the coefficients that minimize half the squared error plus penalties, by coordinate descent.

    Parameters
    ----------
    gram : array of shape (n_regressors, n_regressors), float64
        Products of the regressors.
    right : array of shape (n_regressors,), float64
        Products of the regressors with the target.
    squares, sizes : float
        The penalty is half of the first times the squares, plus the second times the absolute values, of the
        coefficients.
    is_positive : bool
        Whether coefficients must not be negative.

    Returns
    -------
    bool
        Whether it converged.
    """
    n_regressors = right.size
    rest = np.empty(n_regressors)
    largest = 0.0
    for r in range(n_regressors):
        solution[r] = 0.0
        rest[r] = right[r]
        if gram[r, r] > 0.0:
            largest = max(largest, abs(right[r]) / np.sqrt(gram[r, r]))
    only_active = False
    for _ in range(_MAX_ROUNDS):
        moved = 0.0
        for r in range(n_regressors):
            own = gram[r, r]
            if not own > 0.0 or (only_active and solution[r] == 0.0):
                continue
            old = solution[r]
            pull = rest[r] + own * old
            new = 0.0
            if pull > sizes:
                new = (pull - sizes) / (own + squares)
            elif pull < -sizes and not is_positive:
                new = (pull + sizes) / (own + squares)
            if new != old:
                step = new - old
                solution[r] = new
                products_of = gram[r]
                for s in range(n_regressors):
                    rest[s] -= step * products_of[s]
                moved = max(moved, abs(step) * np.sqrt(own))
        if moved <= _SMALLEST_MOVE * largest:
            if not only_active:
                return True
            only_active = False
        else:
            only_active = True
    return False


def independent_rows(gram: Float64s, smallest: float) -> tuple[Float64s, Int64s]:
    """Return the pivoted Cholesky factor of a matrix of products, and the pivots.

    Parameters
    ----------
    gram : array of shape (n, n), float64
    smallest : float
        The factorization stops when no remaining diagonal entry exceeds this share of the largest diagonal entry.

    Returns
    -------
    factor : array of shape (rank, n), float64
        ``factor.T @ factor`` is ``gram``. Column ``pivots[k]`` is zero below row k.
    pivots : array of shape (rank,), int64
    """
    factor, pivots = np.zeros(gram.shape), np.zeros(len(gram), dtype=np.int64)
    rank = _factorize_by_pivots(gram, smallest, factor, pivots)
    return factor[:rank], pivots[:rank]


@allocating_kernel
def _factorize_by_pivots(gram: Float64s, smallest: float, factor: Float64s, pivots: Int64s) -> int:
    """Fill what `independent_rows` returns, where there are zeros; return the rank."""
    n = gram.shape[0]
    left = np.empty(n)
    is_free = np.ones(n, dtype=np.bool_)
    largest = 0.0
    for i in range(n):
        left[i] = gram[i, i]
        largest = max(largest, left[i])
    rank = 0
    for k in range(n):
        best = -1
        for i in range(n):
            if is_free[i] and (best < 0 or left[i] > left[best]):
                best = i
        if not left[best] > smallest * largest:
            break
        root = np.sqrt(left[best])
        row = factor[k]
        for i in range(n):
            if is_free[i]:
                row[i] = gram[best, i]
        for m in range(k):
            known = factor[m]
            share = known[best]
            for i in range(n):
                if is_free[i]:
                    row[i] -= share * known[i]
        for i in range(n):
            if is_free[i]:
                row[i] /= root
                left[i] -= row[i] * row[i]
        row[best] = root
        is_free[best] = False
        pivots[k] = best
        rank = k + 1
    return rank
