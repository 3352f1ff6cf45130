"""Forests by the book, in plain loops: what the engine's forests must agree with.

The rules are scikit-learn's. A tree has a weight for each row, how often it was drawn times what it weighs, and NaN is
a missing value. Random choices are made by keys: the node's place in the tree, and the content of the column.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import ceil, log
from numbers import Integral

import numpy as np

EPSILON = float(np.finfo(np.float64).eps)
TIE = np.float32(1e-7)
MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15
LEFT, RIGHT, ORDER = 1, 2, 3


def combine(key, other):
    """Mix two keys, as SplitMix64 does."""
    mixed = ((key ^ ((other + GOLDEN) & MASK)) + GOLDEN) & MASK
    mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & MASK
    return mixed ^ (mixed >> 31)


def column_key(values):
    """Key of the content of a column: a sum over its rows that are not zero."""
    total = 0
    for row, value in enumerate(np.asarray(values, dtype=np.float32) + np.float32(0.0)):
        if value != 0:
            total += combine(int(value.view(np.uint32)), row)
    return total & MASK


@dataclass(frozen=True)
class Tree:
    """How one tree is grown.

    ``weights`` maps rows to how often they are drawn; ``n_tried`` columns are tried in a node; ``is_random`` trees cut
    anywhere.
    """

    X: np.ndarray
    y: np.ndarray
    n_classes: int
    weights: dict
    rules: object
    n_train: int
    n_tried: int
    key: int
    column_keys: list
    is_random: bool = False

    def grow(self):
        """Grow the tree; return its root."""
        rows = sorted(row for row, weight in self.weights.items() if weight > 0)
        return self._node(rows, self.key, 0)

    def _node(self, rows, key, depth):
        node = {"value": self.value(rows), "rows": rows}
        leaf, split = self._counts()
        too_deep = self.rules.max_depth is not None and depth >= self.rules.max_depth
        if too_deep or len(rows) < max(split, 2 * leaf) or self.impurity(rows) <= EPSILON:
            return node
        best = self._best(rows, key, leaf)
        if best is None:
            return node
        column, threshold, missing_left = best
        left, right = self._sides(rows, column, threshold, missing_left)
        if self._improvement(rows, left, right) + EPSILON < 0:
            return node
        children = (
            self._node(left, combine(key, LEFT), depth + 1),
            self._node(right, combine(key, RIGHT), depth + 1),
        )
        split = {"column": column, "threshold": threshold, "missing_left": missing_left}
        return {**node, **split, "left": children[0], "right": children[1]}

    def _counts(self):
        leaf, split = self.rules.min_samples_leaf, self.rules.min_samples_split
        leaf = leaf if isinstance(leaf, Integral) else ceil(leaf * self.n_train)
        return leaf, split if isinstance(split, Integral) else max(2, ceil(split * self.n_train))

    def _best(self, rows, key, min_leaf):
        """Try columns in the order of their keys, at least one that varies; the first of equal gains wins."""
        order = sorted(
            range(self.X.shape[1]), key=lambda column: combine(combine(key, self.column_keys[column]), ORDER)
        )
        best, best_gain, n_constant = None, -np.inf, 0
        for n_seen, column in enumerate(order):
            if n_seen >= self.n_tried and n_constant < n_seen:
                break
            values = sorted(np.float32(self.X[row, column]) for row in rows if not self._is_gap(row, column))
            has_missing = len(values) < len(rows)
            if not values or (values[-1] <= values[0] + TIE and not has_missing):
                n_constant += 1
                continue
            for threshold, missing_left in self._cuts(values, has_missing, key, column):
                left, right = self._sides(rows, column, threshold, missing_left)
                if min(len(left), len(right)) < min_leaf:
                    continue
                gain = self._gain(left, right)
                if gain > best_gain:
                    best_gain = gain
                    best = column, threshold, missing_left if has_missing else len(left) > len(right)
        return best

    def _is_gap(self, row, column):
        return np.isnan(self.X[row, column])

    def _cuts(self, values, has_missing, key, column):
        """Yield thresholds, and whether missing values go left: first cuts with them on the right, perhaps alone."""
        thresholds = self._thresholds(values, key, column)
        for threshold in thresholds:
            yield threshold, False
        if has_missing:
            yield np.inf, False
            for threshold in thresholds:
                yield threshold, True

    def _thresholds(self, values, key, column):
        if self.is_random:
            low, high = float(values[0]), float(values[-1])
            share = (combine(key, self.column_keys[column]) >> 11) * 2.0**-53
            threshold = low + (high - low) * share
            return [low if threshold >= high else threshold]
        return [float(low) / 2.0 + float(high) / 2.0 for low, high in pairwise(values) if high > low + TIE]

    def _sides(self, rows, column, threshold, missing_left):
        left = [row for row in rows if goes_left(self.X[row, column], threshold, missing_left)]
        return left, [row for row in rows if row not in set(left)]

    def _weight(self, rows):
        return float(sum(self.weights[row] for row in rows))

    def _gain(self, left, right):
        if self.n_classes:
            return -self._weight(right) * self.impurity(right) - self._weight(left) * self.impurity(left)
        return sum(self._sum(side) ** 2 / self._weight(side) for side in (left, right))

    def _improvement(self, rows, left, right):
        whole = self._weight(rows)
        share = whole / sum(self.weights.values())
        parts = sum(self._weight(side) / whole * self.impurity(side) for side in (left, right))
        return share * (self.impurity(rows) - parts)

    def _sum(self, rows):
        return sum(self.weights[row] * float(self.y[row]) for row in rows)

    def value(self, rows):
        """Class fractions, or the mean."""
        weight = self._weight(rows)
        if not self.n_classes:
            return [self._sum(rows) / weight]
        return [count / weight for count in self.counts(rows)]

    def counts(self, rows):
        """Rows of each class."""
        return [
            sum(self.weights[row] for row in rows if self.y[row] == label) for label in range(self.n_classes)
        ]

    def impurity(self, rows):
        """Impurity of a set of rows."""
        if not self.n_classes:
            mean = self._sum(rows) / self._weight(rows)
            squares = sum(self.weights[row] * float(self.y[row]) ** 2 for row in rows)
            return squares / self._weight(rows) - mean**2
        if self.rules.criterion == "gini":
            # Integers as long as possible: equally good cuts must have equal gains.
            return 1.0 - sum(count * count for count in self.counts(rows)) / self._weight(rows) ** 2
        shares = [share for share in self.value(rows) if share > 0]
        return -sum(share * log(share) / log(2.0) for share in shares)


def goes_left(value, threshold, missing_left):
    """Return where a value goes; NaN is a missing value."""
    return missing_left if np.isnan(value) else float(np.float32(value)) <= threshold


def predict(node, values):
    """What a tree predicts for a row with these values."""
    while "column" in node:
        is_left = goes_left(values[node["column"]], node["threshold"], node["missing_left"])
        node = node["left"] if is_left else node["right"]
    return node["value"]


def grow_tree_per_split(X, y, n_classes, train, rules, counts, keys, n_tried, is_random=False, weights=None):
    """Grow one tree for each row of ``counts`` (n_trees, n_train)."""
    own = np.ones(len(y)) if weights is None else weights
    column_keys = [column_key(X[:, column]) for column in range(X.shape[1])]
    return [
        Tree(
            X,
            y,
            n_classes,
            {int(row): int(count) * float(own[row]) for row, count in zip(train, drawn, strict=True)},
            rules,
            len(train),
            n_tried,
            int(key),
            column_keys,
            is_random,
        ).grow()
        for drawn, key in zip(counts, keys, strict=True)
    ]


def predictions(trees, rows_of_values):
    """Mean over the trees of what they predict, one list a row."""
    means = []
    for values in rows_of_values:
        answers = [predict(tree, values) for tree in trees]
        means.append([sum(column) / len(trees) for column in zip(*answers, strict=True)])
    return means


def losses(means, truths, loss):
    """Loss of each prediction."""
    answer = []
    for mean, truth in zip(means, truths, strict=True):
        if loss == "log-loss":
            answer.append(-log(min(max(mean[truth], EPSILON), 1.0 - EPSILON)))
        elif loss == "brier":
            answer.append(sum((share - (label == truth)) ** 2 for label, share in enumerate(mean)))
        elif loss == "zero-one":
            answer.append(float(mean.index(max(mean)) != truth))
        elif loss == "squared":
            answer.append((truth - mean[0]) ** 2)
        else:
            answer.append(abs(truth - mean[0]))
    return answer
