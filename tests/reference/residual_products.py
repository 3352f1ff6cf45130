"""The slow, obvious twin of the test by products of residuals: hat matrices, refits, sums over rows."""

from __future__ import annotations

import numpy as np
from scipy import stats

PENALTIES = np.logspace(-3, 4, 15)


def hat(design, penalty):
    """Return the matrix that makes fitted values of responses with mean zero."""
    centered = design - design.mean(axis=0)
    inverse = np.linalg.inv(centered.T @ centered + penalty * np.eye(design.shape[1]))
    return centered @ inverse @ centered.T


def left_out_error(design, response, penalty):
    """Return the sum of squared errors of each row, predicted by a ridge regression of all others."""
    errors = []
    for row in range(len(design)):
        others = np.arange(len(design)) != row
        Z, r = design[others], response[others]
        centered = Z - Z.mean(axis=0)
        slopes = np.linalg.solve(
            centered.T @ centered + penalty * np.eye(Z.shape[1]), centered.T @ (r - r.mean())
        )
        errors.append(response[row] - r.mean() - (design[row] - Z.mean(axis=0)) @ slopes)
    return float(np.square(errors).sum())


def penalty_of(design, response):
    """Return the penalty of a response: one step below that of the smallest left-out error, as for few rows."""
    errors = [left_out_error(design, response, penalty) for penalty in PENALTIES]
    return PENALTIES[max(int(np.argmin(errors)) - 1, 0)]


def pvalue_of(design, output, functions):
    """Return the p-value of products of residuals of one output and some functions of x."""
    n = len(design)
    center = np.eye(n) - np.ones((n, n)) / n
    own = penalty_of(design, output)
    M = center - hat(design, own)
    residual = M @ output
    freedom = n - 1 - np.trace(hat(design, own))
    t, scaled = [], []
    for function in functions.T:
        N = center - hat(design, penalty_of(design, function))
        products = residual * (N @ function)
        # The variance of the sum of products of M e and N u for independent rows e and u, over the expected sum of
        # the squared products.
        inflation = np.trace(M @ M @ N @ N) / (np.diag(M @ M) * np.diag(N @ N)).sum()
        scaled.append(products / np.sqrt((products**2).sum()))
        t.append(scaled[-1].sum() / np.sqrt(inflation))
    if len(t) == 1:
        return float(2 * stats.t.sf(abs(t[0]), freedom))
    second = np.array(scaled) @ np.array(scaled).T
    squared = np.array(t) @ np.linalg.solve(second, t)
    k = len(t)
    return float(stats.f.sf(squared / k * (freedom - k + 1) / freedom, k, freedom - k + 1))
