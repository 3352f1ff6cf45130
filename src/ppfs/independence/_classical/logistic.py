"""Maximum likelihood of binary and multinomial logistic regression, by Newton's method.

Written by hand because a likelihood ratio needs the unpenalised optimum to many digits, thousands of times,
each time starting from the optimum of a model with one column less.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from ppfs._types import Floats

# The likelihood is at its limit when a Newton step promises to raise it by less than this. A
# separated target has its limit at infinite coefficients; each step then gains a third of the last.
_TOLERANCE = 1e-9
_MAX_STEPS = 60
_MAX_HALVINGS = 30


@dataclass(frozen=True)
class LogisticFit:
    """A fitted model.

    Attributes
    ----------
    coefficients : ndarray of shape (n_regressors, n_classes - 1)
        Log-odds against class 0.

    log_likelihood : float
        Its maximum, or its limit where the regressors separate the classes.
    """

    coefficients: Floats
    log_likelihood: float


def fit_logistic(design: Floats, labels: NDArray[np.intp], start: Floats | None = None) -> LogisticFit:
    """Maximise the likelihood.

    Parameters
    ----------
    design : ndarray of shape (n_rows, n_regressors)
        Orthonormal columns, the intercept's direction among them.

    labels : ndarray of shape (n_rows,)
        Classes 0 to n_classes - 1, each present.

    start : ndarray of shape (n_known, n_classes - 1), default=None
        Coefficients of the first regressors in a smaller model; the others start at 0.
    """
    n_classes = int(labels.max()) + 1
    coefficients = np.zeros((design.shape[1], n_classes - 1))
    if start is not None:
        coefficients[: len(start)] = start
    is_class = labels[:, None] == np.arange(1, n_classes)
    likelihood, shares = _evaluate(design, labels, coefficients)
    for _ in range(_MAX_STEPS):
        gradient = design.T @ (is_class - shares)
        step = _newton_step(design, shares, gradient)
        if float(np.sum(gradient * step)) < _TOLERANCE:
            break
        better = _climb(design, labels, coefficients, step, likelihood)
        if better is None:
            break
        coefficients, likelihood, shares = better
    return LogisticFit(coefficients, likelihood)


def _evaluate(design: Floats, labels: NDArray[np.intp], coefficients: Floats) -> tuple[float, Floats]:
    """Return the log-likelihood, and each row's probability of classes 1, 2, ..., shape (n_rows, n_classes - 1)."""
    scores = np.hstack([np.zeros((len(design), 1)), design @ coefficients])
    scores -= scores.max(axis=1, keepdims=True)
    weights = np.exp(scores)
    totals = weights.sum(axis=1)
    chosen = scores[np.arange(len(labels)), labels]
    return float(np.sum(chosen - np.log(totals))), weights[:, 1:] / totals[:, None]


def _newton_step(design: Floats, shares: Floats, gradient: Floats) -> Floats:
    """Solve information x step = gradient."""
    n_regressors, n_scores = gradient.shape
    information = np.empty((n_scores, n_regressors, n_scores, n_regressors))
    for a in range(n_scores):
        for b in range(a + 1):
            weights = shares[:, a] * ((a == b) - shares[:, b])
            information[a, :, b, :] = information[b, :, a, :] = design.T @ (weights[:, None] * design)
    matrix = information.reshape(n_scores * n_regressors, -1)
    # As probabilities reach 0 and 1 the information vanishes in some directions; a trace of the
    # identity keeps the step finite there, where hardly any likelihood is left to gain.
    ridge = 1e-12 * max(float(np.trace(matrix)), 1e-300)
    while True:
        try:
            factor = cho_factor(matrix + ridge * np.eye(len(matrix)))
        except LinAlgError:
            ridge *= 100.0
            continue
        step: Floats = cho_solve(factor, gradient.T.ravel())
        return step.reshape(n_scores, n_regressors).T


def _climb(
    design: Floats, labels: NDArray[np.intp], coefficients: Floats, step: Floats, likelihood: float
) -> tuple[Floats, float, Floats] | None:
    """Take the step, or the largest half, quarter, ... of it that raises the likelihood; None if none does."""
    for _ in range(_MAX_HALVINGS):
        reached = coefficients + step
        new_likelihood, shares = _evaluate(design, labels, reached)
        if new_likelihood > likelihood:
            return reached, new_likelihood, shares
        step = step / 2.0
    return None
