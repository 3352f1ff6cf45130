"""The slow, obvious twin of the test by products of residuals: hat matrices, refits, sums over rows."""

from __future__ import annotations

import numpy as np
from reference.paper import column_order
from scipy import stats
from sklearn.base import clone

PENALTIES = np.logspace(-3, 4, 15)


def hat(design, penalty):
    """Return the matrix that makes fitted values of responses with mean zero."""
    centered = design - design.mean(axis=0)
    inverse = np.linalg.inv(centered.T @ centered + penalty * np.eye(design.shape[1]))
    return centered @ inverse @ centered.T


def left_out_error(design, response, penalty, folds=None):
    """Return the sum of squared errors of each row, or fold of rows, predicted by a ridge regression of all others."""
    errors = []
    folds = np.arange(len(design)) if folds is None else folds
    for fold in np.unique(folds):
        row, others = folds == fold, folds != fold
        Z, r = design[others], response[others]
        centered = Z - Z.mean(axis=0)
        slopes = np.linalg.solve(
            centered.T @ centered + penalty * np.eye(Z.shape[1]), centered.T @ (r - r.mean())
        )
        errors.append(response[row] - r.mean() - (design[row] - Z.mean(axis=0)) @ slopes)
    return float(np.square(np.concatenate(errors)).sum())


def penalty_of(design, response):
    """Return the penalty of a response: one step below that of the smallest left-out error, as for few rows."""
    errors = [left_out_error(design, response, penalty) for penalty in PENALTIES]
    return PENALTIES[max(int(np.argmin(errors)) - 1, 0)]


def group_inflation(design, penalty, function, groups):
    """Return the variance of a sum of products over the expected sum of its squares by group, for noise by group."""
    n = len(design)
    M = np.eye(n) - np.ones((n, n)) / n - hat(design, penalty)
    G = (groups[:, np.newaxis] == np.unique(groups)).astype(float)
    return ((G.T @ M @ function) ** 2).sum() / ((G.T @ np.diag(function) @ M @ G) ** 2).sum()


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


def model_pvalue(design, y, classes, X, column, model, splits):
    """Return the p-value of what a model predicts from a column, beside what it predicts with the column shuffled."""
    n = len(y)
    # Models see columns in the order of their content, which decides ties.
    order = column_order(X, range(X.shape[1]))
    X, column = X[:, order], order.index(column)
    labels = np.unique(y)[1:] if classes else [None]
    own, without = np.zeros((n, len(labels))), np.zeros((n, len(labels)))
    for split in splits:
        fitted = clone(model).fit(X[split.train], y[split.train])

        def predicted(rows, fitted=fitted):
            return fitted.predict_proba(rows)[:, 1:] if classes else fitted.predict(rows)[:, np.newaxis]

        own[split.test] = predicted(X[split.test])
        for shuffle in split.permutations:
            other = X[split.test].copy()
            other[:, column] = other[shuffle, column]
            without[split.test] += predicted(other) / len(split.permutations)
    scaled = (without - without.mean(axis=0)) / without.std(axis=0)
    design = np.column_stack([design, 4.0 * scaled])
    output = (y == labels[0]).astype(float) if classes else y
    h = own[:, 0] - without[:, 0]
    center = np.eye(n) - np.ones((n, n)) / n
    output, h = output - output.mean(), h - h.mean()
    mine, theirs = penalty_of(design, output), penalty_of(design, h)
    M, N = center - hat(design, mine), center - hat(design, theirs)
    products = (M @ output) * (N @ h)
    inflation = np.trace(M @ M @ N @ N) / (np.diag(M @ M) * np.diag(N @ N)).sum()
    t = products.sum() / np.sqrt(1.5 * inflation * (products**2).sum())
    return float(stats.t.sf(t, n - 1 - np.trace(hat(design, mine))))
