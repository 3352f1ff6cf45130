"""Histogram gradient boosting, plainly: one histogram a node and column, nothing shared, nothing clever."""

from dataclasses import dataclass, field

import numpy as np

MIN_HESSIAN = 1e-3
MIN_SUPPORT = 10.0


def bin_edges(values, max_bins, method, weights=None):
    """Return the upper edges of all bins but the last: midpoints, or quantiles where there are too many values."""
    is_known = ~np.isnan(values)
    known = np.sort(values[is_known])
    distinct = np.unique(known)
    if distinct.size <= max_bins:
        return np.unique((distinct[1:] + distinct[:-1]) / 2)
    shares = np.linspace(0, 100, max_bins + 1)[1:-1]
    if weights is not None:
        running = np.cumsum(weights[is_known][np.argsort(values[is_known], kind="stable")])
        return np.unique([weighted_quantile(share / 100 * running[-1], known, running) for share in shares])
    return np.unique(np.percentile(known, shares, method=method))


def weighted_quantile(rank, known, running):
    """Return the first value up to which rows weigh as much as the rank, or the middle of the next if just as much."""
    place = next((i for i, weight in enumerate(running) if weight >= rank), len(known) - 1)
    if running[place] - rank > np.finfo(float).eps:
        return known[place]
    return (known[place] + known[min(place + 1, len(known) - 1)]) / 2


@dataclass(eq=False)
class Node:
    """A node of a tree on binned columns; bin -1 is that of missing values."""

    rows: np.ndarray
    value: float
    depth: int
    gradient: float
    hessian: float
    column: int = -1
    left_bins: frozenset = frozenset()
    gain: float = 0.0
    left: "Node | None" = None
    right: "Node | None" = None
    sums: tuple = ()
    missing_left: bool = False


@dataclass
class TwinBoosting:
    """Boosting of one output: numbers, two classes, or more.

    `classes` is 0 for numbers, else the number of classes, coded from 0. `reduces` is the loss of numbers.
    """

    classes: int = 0
    reduces: str = "squared_error"
    learning_rate: float = 0.1
    max_iter: int = 100
    max_leaf_nodes: int | None = 31
    max_depth: int | None = None
    min_samples_leaf: int = 20
    l2_regularization: float = 0.0
    max_bins: int = 255
    categorical: tuple = ()
    quantiles: str = "averaged_inverted_cdf"
    trees: list = field(default_factory=list)

    def fit(self, X, y, start=None, weights=None):
        self.edges = [bin_edges(column, self.max_bins, self.quantiles, weights) for column in X.T]
        bins = self.binned(X)
        self.has_missing = (bins == -1).any(axis=0)
        n_trees = self.classes if self.classes > 2 else 1
        self.baseline = self._baseline(y, n_trees, weights)
        raw = np.tile(self.baseline, (len(y), 1)) if start is None else start.copy()
        self.trees = []
        for _ in range(self.max_iter):
            own = 1.0 if weights is None else weights[:, None]
            gradients, hessians = (
                (own * part).astype(np.float32).astype(float) for part in self._gradients(y, raw)
            )
            steps = []
            for tree in range(n_trees):
                root = self._grow(bins, gradients[:, tree], hessians[:, tree])
                steps.append(root)
                raw[:, tree] += self.learning_rate * self._values(root, bins)
            self.trees.append(steps)
        return self

    def raw(self, X, start=None):
        """Return raw predictions, shape (n_rows, n_trees)."""
        bins = self.binned(X)
        raw = np.tile(self.baseline, (len(X), 1)) if start is None else start.copy()
        for steps in self.trees:
            for tree, root in enumerate(steps):
                raw[:, tree] += self.learning_rate * self._values(root, bins)
        return raw

    def predict(self, X):
        """Return numbers, or one probability a class."""
        raw = self.raw(X)
        if not self.classes:
            return raw[:, 0] if self.reduces == "squared_error" else np.exp(raw[:, 0])
        if self.classes == 2:
            share = 1 / (1 + np.exp(-raw[:, 0]))
            return np.column_stack([1 - share, share])
        powers = np.exp(raw - raw.max(axis=1, keepdims=True))
        return powers / powers.sum(axis=1, keepdims=True)

    def binned(self, X):
        """Return the bin of each value; categories are their own bins."""
        bins = np.empty(X.shape, dtype=int)
        for column, values in enumerate(X.T):
            found = np.searchsorted(self.edges[column], values, side="left")
            if column in self.categorical:
                found = np.where(np.isnan(values), 0, values).astype(int)
            bins[:, column] = np.where(np.isnan(values), -1, found)
        return bins

    def _baseline(self, y, n_trees, weights):
        if not self.classes:
            mean = np.average(y, weights=weights)
            return np.array([mean if self.reduces == "squared_error" else np.log(mean)])
        shares = np.array([np.average(y == label, weights=weights) for label in range(self.classes)])
        if n_trees == 1:
            return np.array([np.log(shares[1] / shares[0])])
        return np.log(shares) - np.log(shares).mean()

    def _gradients(self, y, raw):
        if self.reduces == "poisson":
            return np.exp(raw) - y[:, None], np.exp(raw)
        if self.reduces == "gamma":
            return 1 - y[:, None] * np.exp(-raw), y[:, None] * np.exp(-raw)
        if not self.classes:
            return raw - y[:, None], np.ones_like(raw)
        if self.classes == 2:
            share = 1 / (1 + np.exp(-raw))
            truth = y[:, None]
        else:
            powers = np.exp(raw - raw.max(axis=1, keepdims=True))
            share = powers / powers.sum(axis=1, keepdims=True)
            truth = np.eye(self.classes)[y]
        return share - truth, share * (1 - share)

    def _grow(self, bins, gradients, hessians):
        rows = np.arange(len(gradients))
        root = Node(rows, 0.0, 0, gradients.sum(), hessians.sum())
        leaves, pending = 1, []
        if root.hessian >= MIN_HESSIAN:
            self._consider(root, bins, gradients, hessians, pending)
        while pending and leaves < (self.max_leaf_nodes or np.inf):
            node = max(pending, key=lambda one: one.gain)
            pending.remove(node)
            leaves += 1
            is_left = np.isin(bins[node.rows, node.column], list(node.left_bins))
            for side, (gradient, hessian) in zip(("left", "right"), node.sums, strict=True):
                part = node.rows[is_left if side == "left" else ~is_left]
                child = Node(part, self._value(gradient, hessian), node.depth + 1, gradient, hessian)
                setattr(node, side, child)
                self._consider(child, bins, gradients, hessians, pending)
            if not self.has_missing[node.column]:
                node.missing_left = node.left.rows.size > node.right.rows.size
            else:
                node.missing_left = -1 in node.left_bins
        return root

    def _consider(self, node, bins, gradients, hessians, pending):
        """Find the best cut of a node, and add it to those that can be split."""
        if node.rows.size < 2 * self.min_samples_leaf or node.depth == self.max_depth:
            return
        for column in range(bins.shape[1]):
            of_node = bins[node.rows, column]
            for left_bins in self._candidates(
                column, of_node, gradients[node.rows], hessians[node.rows], node
            ):
                is_left = np.isin(of_node, list(left_bins))
                if min(is_left.sum(), (~is_left).sum()) < self.min_samples_leaf:
                    continue
                left = gradients[node.rows][is_left].sum(), hessians[node.rows][is_left].sum()
                right = node.gradient - left[0], node.hessian - left[1]
                if min(left[1], right[1]) < MIN_HESSIAN:
                    continue
                gain = (
                    node.value * node.gradient - left[0] * self._value(*left) - right[0] * self._value(*right)
                )
                if gain > node.gain:
                    node.gain, node.column, node.left_bins, node.sums = gain, column, left_bins, (left, right)
        if node.column >= 0:
            pending.append(node)

    def _candidates(self, column, of_node, gradients, hessians, node):
        """Yield sets of bins that may go left, in the order in which they are tried."""
        if column in self.categorical:
            yield from self._categories(of_node, gradients, hessians, node)
            return
        n_bins = self.edges[column].size + 1
        for last in range(n_bins - (not self.has_missing[column])):
            yield frozenset(range(last + 1))
        if self.has_missing[column]:
            for last in range(n_bins - 2, -1, -1):
                yield frozenset([-1, *range(last + 1)])

    @staticmethod
    def _categories(of_node, gradients, hessians, node):
        """Sort categories by their gradients, and try the first ones, then the last ones; small ones go right."""
        factor = node.rows.size / node.hessian
        known = []
        # Missing values are a category like others, the last.
        for category in [
            *np.unique(of_node[of_node >= 0]).tolist(),
            *([-1] if (of_node == -1).any() else []),
        ]:
            hessian = hessians[of_node == category].sum()
            if hessian * factor >= MIN_SUPPORT:
                known.append((gradients[of_node == category].sum() / (hessian + MIN_SUPPORT), category))
        if len(known) < 2:
            return
        # Of equals the last category comes first.
        known.reverse()
        ordered = [category for _, category in sorted(known, key=lambda one: one[0])]
        middle = (len(ordered) + 1) // 2
        for size in range(1, middle + 1):
            yield frozenset(ordered[:size])
        for size in range(1, middle):
            yield frozenset(ordered[len(ordered) - size :])

    def _value(self, gradient, hessian):
        return -gradient / (hessian + self.l2_regularization + 1e-15)

    def _values(self, root, bins):
        """Return what a tree adds to each row."""
        values = np.empty(len(bins))
        for row, of_row in enumerate(bins):
            node = root
            while node.column >= 0 and node.left is not None:
                found = of_row[node.column]
                is_left = node.missing_left if found == -1 else found in node.left_bins
                node = node.left if is_left else node.right
            values[row] = node.value
        return values
