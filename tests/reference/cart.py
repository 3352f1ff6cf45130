"""A decision tree by the book, in plain loops: what the engine's CART kernels must agree with.

The rules are scikit-learn's. Splits that are equally good are decided by the first column, then by the lowest
threshold. Sums run over the rows in sorted order, ties in the order of the rows.
"""

from dataclasses import dataclass
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
    left: "Node | None" = None
    right: "Node | None" = None


def grow(X, y, n_classes, train, rules):
    """Grow a tree on the train rows of X, an array of shape (n_rows, n_columns)."""
    train = sorted(int(row) for row in train)
    min_leaf, min_split = _counts(rules, len(train))
    limits = (rules.max_depth or 2**31, min_split, min_leaf)
    return _grow(np.asarray(X, dtype=np.float32), y, n_classes, train, rules.criterion, limits, 0, len(train))


def predict(node, row_values):
    """Return the leaf of a row with the given values, one for each column."""
    while node.feature is not None:
        # Beside a Python float, NumPy would compare in float32.
        value = float(np.float32(row_values[node.feature]))
        node = node.left if value <= node.threshold else node.right
    return node


def _counts(rules, n_train):
    leaf, split = rules.min_samples_leaf, rules.min_samples_split
    min_leaf = leaf if isinstance(leaf, Integral) else ceil(leaf * n_train)
    min_split = split if isinstance(split, Integral) else max(2, ceil(split * n_train))
    return min_leaf, max(min_split, 2 * min_leaf)


def _grow(X, y, n_classes, rows, criterion, limits, depth, n_train):
    max_depth, min_split, min_leaf = limits
    leaf = Node(rows, _value(y, rows, n_classes))
    node_impurity = impurity(y, rows, criterion)
    if depth >= max_depth or len(rows) < min_split or node_impurity <= EPSILON:
        return leaf
    best = best_split(X, y, rows, criterion, min_leaf)
    if best is None:
        return leaf
    feature, threshold, left, right = best
    share = len(rows) / n_train
    loss_right = len(right) / len(rows) * impurity(y, right, criterion)
    loss_left = len(left) / len(rows) * impurity(y, left, criterion)
    if share * (node_impurity - loss_right - loss_left) + EPSILON < 0:
        return leaf
    children = [_grow(X, y, n_classes, side, criterion, limits, depth + 1, n_train) for side in (left, right)]
    return Node(rows, leaf.value, feature, threshold, *children)


def best_split(X, y, rows, criterion, min_leaf):
    """Return (feature, threshold, left rows, right rows) of the best split, or None."""
    best, best_gain = None, -np.inf
    for feature in range(X.shape[1]):
        order = sorted(rows, key=lambda row: (X[row, feature], row))
        for cut in range(1, len(order)):
            low, high = X[order[cut - 1], feature], X[order[cut], feature]
            if high <= low + TIE or min(cut, len(order) - cut) < min_leaf:
                continue
            gain = split_gain(y, order[:cut], order[cut:], criterion)
            if gain > best_gain:
                threshold = float(low) / 2.0 + float(high) / 2.0
                best_gain = gain
                best = feature, threshold, sorted(order[:cut]), sorted(order[cut:])
    return best


def split_gain(y, left, right, criterion):
    """Return how good a split is, up to a constant of the node."""
    if criterion == "squared_error":
        left_sum = _sum(y, left)
        right_sum = _sum(y, sorted(left + right)) - left_sum
        return left_sum * left_sum / len(left) + right_sum * right_sum / len(right)
    return -len(right) * impurity(y, right, criterion) - len(left) * impurity(y, left, criterion)


def impurity(y, rows, criterion):
    """Return the impurity of a set of rows."""
    if criterion == "squared_error":
        squares = 0.0
        for row in rows:
            squares += float(y[row]) * float(y[row])
        return squares / len(rows) - (_sum(y, rows) / len(rows)) ** 2
    counts = [sum(1 for row in rows if y[row] == label) for label in sorted({int(y[row]) for row in rows})]
    if criterion == "gini":
        return 1.0 - sum(count * count for count in counts) / (len(rows) * len(rows))
    entropy = 0.0
    for count in counts:
        entropy -= count / len(rows) * (log(count / len(rows)) / log(2.0))
    return entropy


def _sum(y, rows):
    total = 0.0
    for row in rows:
        total += float(y[row])
    return total


def _value(y, rows, n_classes):
    if n_classes == 0:
        return _sum(y, rows) / len(rows)
    return [sum(1 for row in rows if y[row] == label) / len(rows) for label in range(n_classes)]
