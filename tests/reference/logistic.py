"""Penalised logistic regression of several classes, written down and handed to a general optimiser."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp


def fit(X, codes, n_classes, penalties, weights=None, is_symmetric=False):
    """Return one row of coefficients a class above 0, and the penalised negative log-likelihood.

    A symmetric penalty is that of one coefficient per class, where a number may be added to all of them.
    """
    weights = np.ones(len(X)) if weights is None else weights
    shape = (n_classes - 1, X.shape[1])

    def objective(flat):
        theta = flat.reshape(shape)
        scores = np.column_stack([np.zeros(len(X)), X @ theta.T])
        probabilities = np.exp(scores - logsumexp(scores, axis=1, keepdims=True))
        likelihood = np.sum(weights * np.log(probabilities[np.arange(len(X)), codes]))
        one_a_class = np.vstack([np.zeros(shape[1]), theta])
        if is_symmetric:
            one_a_class = one_a_class - one_a_class.mean(axis=0)
        residuals = weights[:, None] * ((codes[:, None] == np.arange(1, n_classes)) - probabilities[:, 1:])
        slope = -residuals.T @ X + penalties * one_a_class[1:]
        return -likelihood + 0.5 * np.sum(penalties * one_a_class**2), slope.ravel()

    found = minimize(
        objective, np.zeros(shape).ravel(), jac=True, method="BFGS", options={"gtol": 1e-9, "maxiter": 5000}
    )
    return found.x.reshape(shape), found.fun
