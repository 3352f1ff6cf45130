"""Models that extend another one by a feature: the added directions, and logistic regression on them.

A block contains the regressors of one feature: one row for a numeric column, several for dummies. Blocks are stored one
after the other in one matrix; ``starts`` contains where each begins, and where the last one ends.
"""

from math import sqrt

import numpy as np

from ppfs._engine.jit.kernels import Float64s, Int64s, allocating_function, allocating_kernel
from ppfs._engine.linear.logistic import Likelihood, Memory, _maximize
from ppfs._engine.linear.sums import dot


@allocating_function
def _remove(left: Float64s, directions: Float64s, first: int, end: int) -> None:
    """Subtract the projection of a vector onto some orthonormal directions."""
    shares = np.empty(end - first)
    for d in range(first, end):
        shares[d - first] = dot(directions[d], left)
    for d in range(first, end):
        direction, share = directions[d], shares[d - first]
        for i in range(left.size):
            left[i] -= share * direction[i]


@allocating_kernel
def add_directions(
    regressors: Float64s, starts: Int64s, basis: Float64s, determined: float, added: Float64s, n_added: Int64s
) -> None:
    """Find the orthonormal directions that each block adds to a basis; none if it is redundant.

    Parameters
    ----------
    regressors : array of shape (n_regressors, n_rows), float64
        Of length 1, or 0.
    starts : array of shape (n_blocks + 1,), int64
    basis : array of shape (rank, n_rows), float64
        Orthonormal.
    determined : float
        A regressor is redundant if at most this share of its squared length is outside the span of the others.
    added : array of shape (n_regressors, n_rows), float64
        Filled, from ``starts[b]`` on, with the directions of block b.
    n_added : array of shape (n_blocks,), int64
        Filled with their numbers.
    """
    for b in range(n_added.size):
        first = starts[b]
        end = first
        for r in range(first, starts[b + 1]):
            left = added[end]
            for i in range(left.size):
                left[i] = regressors[r, i]
            # Twice is enough: the second projection removes the rounding errors of the first.
            for _ in range(2):
                _remove(left, basis, 0, basis.shape[0])
                _remove(left, added, first, end)
            share = dot(left, left)
            if share > determined:
                for i in range(left.size):
                    left[i] /= sqrt(share)
                end += 1
        n_added[b] = end - first


@allocating_kernel
def fit_extensions(
    basis: Float64s,
    added: Float64s,
    starts: Int64s,
    n_added: Int64s,
    classes: Int64s,
    start: Float64s,
    tolerance: float,
    log_likelihoods: Float64s,
) -> None:
    """Fit a logistic regression on a basis and the directions of one block, for each block that adds some.

    Parameters
    ----------
    basis, added, starts, n_added
        See `add_directions`. A block with ``n_added[b] == 0`` is skipped.
    classes : array of shape (n_rows,), int64
    start : array of shape (n_classes - 1, rank), float64
        The coefficients of the model with only the basis.
    tolerance : float
        See `ppfs._engine.linear.logistic`.
    log_likelihoods : array of shape (n_blocks,), float64
        Filled with the maxima.
    """
    n_scores, rank = start.shape
    n_rows = classes.size
    unweighted = np.empty(0)
    for b in range(n_added.size):
        if n_added[b] == 0:
            continue
        width = rank + n_added[b]
        design = np.empty((width, n_rows))
        theta = np.zeros((n_scores, width))
        for r in range(width):
            for i in range(n_rows):
                design[r, i] = basis[r, i] if r < rank else added[starts[b] + r - rank, i]
        for a in range(n_scores):
            for r in range(rank):
                theta[a, r] = start[a, r]
        problem = Likelihood(design, classes, unweighted, np.zeros(width), n_scores + 1, False)
        n_unknown = n_scores * width
        memory = Memory(
            np.empty((n_scores, n_rows)),
            np.empty(n_rows),
            np.empty(n_rows),
            np.empty(n_unknown),
            np.empty(n_unknown),
            np.empty((n_unknown, n_unknown)),
            np.empty((n_unknown, n_unknown)),
            np.empty((n_scores, width)),
        )
        log_likelihoods[b] = -_maximize(problem, theta, memory, tolerance)
