"""Test risks of trees, row by row: what the engine's risks must agree with."""

from math import log

import numpy as np
from reference.cart import grow, predict

EPSILON = np.finfo(np.float64).eps


def row_loss(value, truth, loss):
    """Loss of one prediction: class fractions for a class code, a number for a number."""
    if loss == "log-loss":
        return -log(min(max(value[truth], EPSILON), 1.0 - EPSILON))
    if loss == "brier":
        return sum((share - (label == truth)) ** 2 for label, share in enumerate(value))
    if loss == "zero-one":
        return float(value.index(max(value)) != truth)
    if loss == "squared":
        return (truth - value) ** 2
    return abs(truth - value)


def tree_risk(tree, X, y, test, loss, permuted_column=None, permutation=None):
    """Mean loss over the test rows, one column permuted if asked."""
    total = 0.0
    for position, row in enumerate(test):
        values = np.array(X[row], dtype=np.float32)
        if permuted_column is not None:
            values[permuted_column] = X[test[permutation[position]], permuted_column]
        total += row_loss(predict(tree, values).value, y[row], loss)
    return total / len(test)


def single_column_risks(X, y, n_classes, splits, rules):
    """Risks of the tree on each column alone, before and after the permutation: (n_columns, n_splits) each."""
    n_columns = X.shape[1]
    base = np.empty((n_columns, splits.n_splits))
    permuted = np.empty_like(base)
    for column in range(n_columns):
        alone = X[:, [column]]
        for b, (train, test, permutation) in enumerate(
            zip(splits.train, splits.test, splits.permutations, strict=True)
        ):
            tree = grow(alone, y, n_classes, train, rules)
            base[column, b] = tree_risk(tree, alone, y, test, rules.loss)
            permuted[column, b] = tree_risk(tree, alone, y, test, rules.loss, 0, permutation)
    return base, permuted
