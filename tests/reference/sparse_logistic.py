"""Logistic regression with the elastic net's penalty by proximal gradient steps: slow, and nothing can go wrong."""

import numpy as np


def fit(X, classes, weights, sizes, squares, has_intercept, n_steps=20_000):
    """Return slopes and intercepts of the classes' scores less that of class 0; X has shape (n_rows, n_regressors).

    Two classes have one score, three and more have one each, as scikit-learn has it.
    """
    n_rows, n_regressors = X.shape
    n_classes = classes.max() + 1
    is_pair = n_classes == 2
    design = np.column_stack([X, np.ones(n_rows)]) if has_intercept else X
    free = np.append(np.ones(n_regressors), np.zeros(int(has_intercept)))
    own = np.eye(n_classes)[classes][:, int(is_pair) :]
    bend = (0.25 if is_pair else 0.5) * np.linalg.norm(design * np.sqrt(weights)[:, np.newaxis], 2) ** 2
    step = 1.0 / (bend + squares)
    theta = np.zeros((design.shape[1], own.shape[1]))
    for _ in range(n_steps):
        scores = design @ theta
        all_scores = np.column_stack([np.zeros(n_rows), scores]) if is_pair else scores
        powers = np.exp(all_scores - all_scores.max(axis=1, keepdims=True))
        shares = (powers / powers.sum(axis=1, keepdims=True))[:, int(is_pair) :]
        gradient = (
            design.T @ (weights[:, np.newaxis] * (shares - own)) + squares * free[:, np.newaxis] * theta
        )
        moved = theta - step * gradient
        new = np.sign(moved) * np.maximum(np.abs(moved) - step * sizes * free[:, np.newaxis], 0.0)
        if np.abs(new - theta).max() < 1e-13:
            break
        theta = new
    differences = theta.T if is_pair else (theta[:, 1:] - theta[:, :1]).T
    return differences[:, :n_regressors], differences[:, n_regressors:].sum(axis=1)
