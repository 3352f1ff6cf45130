"""Penalised least squares as one solves it on paper."""

import numpy as np


def ridge(X, y, penalty):
    """Return the coefficients that minimise the squared error plus `penalty` times their squares."""
    return np.linalg.solve(X.T @ X + penalty * np.eye(X.shape[1]), X.T @ y)


def violation(X, y, coefficients, squares, sizes):
    """Return by how much an elastic net's conditions for its optimum fail, at most.

    The slope of half the squared error balances the penalties where a coefficient is not 0, and is smaller than the
    penalty on the size where it is.
    """
    slope = X.T @ (y - X @ coefficients) - squares * coefficients
    is_zero = coefficients == 0
    off = np.where(is_zero, np.maximum(np.abs(slope) - sizes, 0.0), slope - sizes * np.sign(coefficients))
    return float(np.abs(off).max())
