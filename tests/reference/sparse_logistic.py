"""Logistic regression with the elastic net's penalty by proximal gradient steps: slow, and nothing can go wrong."""

import numpy as np


def fit(X, labels, weights, sizes, squares, has_intercept, n_steps=20_000):
    """Return slopes and intercept of two classes, labels 0 and 1; X has shape (n_rows, n_regressors)."""
    design = np.column_stack([X, np.ones(len(X))]) if has_intercept else X
    free = np.append(np.ones(X.shape[1]), np.zeros(int(has_intercept)))
    step = 1.0 / (0.25 * np.linalg.norm(design * np.sqrt(weights)[:, np.newaxis], 2) ** 2 + squares)
    theta = np.zeros(design.shape[1])
    for _ in range(n_steps):
        shares = 1.0 / (1.0 + np.exp(-(design @ theta)))
        moved = theta - step * (design.T @ (weights * (shares - labels)) + squares * free * theta)
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * sizes * free, 0.0)
        if np.abs(new - theta).max() < 1e-13:
            return new[: X.shape[1]], new[X.shape[1] :].sum()
        theta = new
    return theta[: X.shape[1]], theta[X.shape[1] :].sum()
