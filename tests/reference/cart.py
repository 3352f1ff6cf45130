"""A decision tree by the book, in plain loops: what the engine's CART kernels must agree with.

The rules are scikit-learn's. Splits that are equally good are decided by the first column, then by the lowest
threshold, and missing values on the right. Sums run over the rows in sorted order, ties in the order of the rows. The
weight of a row is 1 if no weights are given.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log
from numbers import Integral

import numpy as np

EPSILON = np.finfo(np.float64).eps
TIE = np.float32(1e-7)


@dataclass(frozen=True)
class Node:
    """A node; a leaf has no feature. ``value`` holds the class fractions, or the mean."""

    rows: list
    value: object
    feature: int | None = None
    threshold: float = 0.0
    missing_left: bool = False
    left: "Node | None" = None
    right: "Node | None" = None


def grow(X, y, n_classes, train, rules, weights=None):
    """Grow a tree on the train rows of X, an array of shape (n_rows, n_columns) in which NaN is a missing value."""
    train = sorted(int(row) for row in train)
    # Python's own numbers: loops over NumPy's are slower.
    y = np.asarray(y).tolist()
    min_leaf, min_split = _counts(rules, len(train))
    limits = (rules.max_depth or 2**31, min_split, min_leaf)
    weights = _weights(y, weights)
    whole = _weight(train, weights)
    X = np.asarray(X, dtype=np.float32)
    return _grow(X, y, n_classes, train, rules.criterion, limits, 0, whole, weights)


def predict(node, row_values):
    """Return the leaf of a row with the given values, one for each column."""
    while node.feature is not None:
        # Beside a Python float, NumPy would compare in float32.
        value = float(np.float32(row_values[node.feature]))
        node = node.left if _is_left(value, node.threshold, node.missing_left) else node.right
    return node


def _is_left(value, threshold, missing_left):
    return missing_left if value != value else value <= threshold


def _counts(rules, n_train):
    leaf, split = rules.min_samples_leaf, rules.min_samples_split
    min_leaf = leaf if isinstance(leaf, Integral) else ceil(leaf * n_train)
    min_split = split if isinstance(split, Integral) else max(2, ceil(split * n_train))
    return min_leaf, max(min_split, 2 * min_leaf)


def _grow(X, y, n_classes, rows, criterion, limits, depth, whole, weights):
    max_depth, min_split, min_leaf = limits
    leaf = Node(rows, _value(y, rows, n_classes, weights))
    node_impurity = impurity(y, rows, criterion, weights)
    if depth >= max_depth or len(rows) < min_split or node_impurity <= EPSILON:
        return leaf
    best = best_split(X, y, rows, criterion, min_leaf, weights)
    if best is None:
        return leaf
    feature, threshold, missing_left, left, right = best
    weight = _weight(rows, weights)
    loss_right = _weight(right, weights) / weight * impurity(y, right, criterion, weights)
    loss_left = _weight(left, weights) / weight * impurity(y, left, criterion, weights)
    if weight / whole * (node_impurity - loss_right - loss_left) + EPSILON < 0:
        return leaf
    children = [
        _grow(X, y, n_classes, side, criterion, limits, depth + 1, whole, weights) for side in (left, right)
    ]
    return Node(rows, leaf.value, feature, threshold, missing_left, *children)


def best_split(X, y, rows, criterion, min_leaf, weights=None):
    """Return (feature, threshold, whether missing values go left, left rows, right rows) of the best split, or None."""
    best, best_gain = None, -np.inf
    for feature in range(X.shape[1]):
        column = X[:, feature].tolist()
        # Missing values that go left are added up first.
        order = sorted(rows, key=lambda row: (column[row] == column[row], column[row], row))
        for threshold, missing_left in _cuts(X[rows, feature]):
            left = [
                row
                for row in order
                if column[row] <= threshold or (missing_left and column[row] != column[row])
            ]
            rest = {*left}
            right = [row for row in order if row not in rest]
            if min(len(left), len(right)) < min_leaf:
                continue
            gain = split_gain(y, left, right, criterion, weights)
            if gain > best_gain:
                has_missing = column[order[0]] != column[order[0]]
                best_gain = gain
                best = (
                    feature,
                    threshold,
                    missing_left if has_missing else len(left) > len(right),
                    sorted(left),
                    sorted(right),
                )
    return best


def _cuts(values):
    """Yield the thresholds to try and where missing values go, in order."""
    known = np.sort(values[~np.isnan(values)])
    has_missing = known.size < values.size
    between = [float(low) / 2.0 + float(high) / 2.0 for low, high in pairwise(known) if not high <= low + TIE]
    for threshold in between:
        yield threshold, False
    if has_missing and known.size:
        yield np.inf, False
        for threshold in between:
            yield threshold, True


def split_gain(y, left, right, criterion, weights=None):
    """Return how good a split is, up to a constant of the node."""
    weights = _weights(y, weights)
    left_weight, right_weight = _weight(left, weights), _weight(right, weights)
    if criterion == "squared_error":
        left_sum = _sum(y, left, weights)
        right_sum = _sum(y, sorted(left + right), weights) - left_sum
        return left_sum * left_sum / left_weight + right_sum * right_sum / right_weight
    return -right_weight * impurity(y, right, criterion, weights) - left_weight * impurity(
        y, left, criterion, weights
    )


def impurity(y, rows, criterion, weights=None):
    """Return the impurity of a set of rows."""
    weights = _weights(y, weights)
    weight = _weight(rows, weights)
    if criterion == "squared_error":
        squares = 0.0
        for row in rows:
            squares += weights[row] * float(y[row]) * float(y[row])
        return squares / weight - (_sum(y, rows, weights) / weight) ** 2
    by_label = {}
    for row in rows:
        by_label[y[row]] = by_label.get(y[row], 0.0) + weights[row]
    counts = [by_label[label] for label in sorted(by_label)]
    if criterion == "gini":
        return 1.0 - sum(count * count for count in counts) / (weight * weight)
    entropy = 0.0
    for count in counts:
        entropy -= count / weight * (log(count / weight) / log(2.0))
    return entropy


def _weights(y, weights):
    if weights is None:
        return [1.0] * len(y)
    return weights if isinstance(weights, list) else [float(weight) for weight in weights]


def _weight(rows, weights):
    total = 0.0
    for row in rows:
        total += weights[row]
    return total


def _sum(y, rows, weights):
    total = 0.0
    for row in rows:
        total += weights[row] * float(y[row])
    return total


def _value(y, rows, n_classes, weights):
    weight = _weight(rows, weights)
    if n_classes == 0:
        return _sum(y, rows, weights) / weight
    return [_weight([row for row in rows if y[row] == label], weights) / weight for label in range(n_classes)]
