"""scikit-learn's trees, and a comparison of trees node by node."""

from types import SimpleNamespace

import numpy as np
from reference.cart import impurity, split_gain
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._engine.trees.nodes import LEAF


def tree_of(forest, split):
    """Return the tree of a split of a `TreePerSplit`: an array per property of its nodes, of which 0 is the root."""
    nodes, stats = forest._trees[split].tree
    is_class = forest._data.target.classes.size > 0
    return SimpleNamespace(
        **{name: nodes[name].copy() for name in ("feature", "threshold", "left", "missing_left")},
        right=np.where(nodes["feature"] == LEAF, 0, nodes["left"] + 1).astype(np.int32),
        n_samples=nodes["stop"] - nodes["start"],
        value=stats / nodes["weight"][:, np.newaxis] if is_class else stats[:, 0] / nodes["weight"],
    )


def fit_sklearn(problem, split, columns):
    """Fit scikit-learn's tree on the train part of a split."""
    rules = problem.rules
    parameters = {
        "criterion": rules.criterion,
        "max_depth": rules.max_depth,
        "min_samples_leaf": rules.min_samples_leaf,
        "min_samples_split": rules.min_samples_split,
        "random_state": 0,
    }
    make = DecisionTreeClassifier if problem.n_classes else DecisionTreeRegressor
    train = np.sort(problem.splits.train[split])
    weights = None if problem.weights is None else problem.weights[train]
    return make(**parameters).fit(problem.X[np.ix_(train, columns)], problem.y[train], sample_weight=weights)


def sklearn_values(problem, model, values):
    """Predict class fractions over all classes of the table, or numbers."""
    if not problem.n_classes:
        return model.predict(values)
    fractions = np.zeros((len(values), problem.n_classes))
    fractions[:, model.classes_.astype(int)] = model.predict_proba(values)
    return fractions


def sklearn_risk(problem, model, values, truth, loss_weights=None):
    """Mean loss of scikit-learn's predictions."""
    predicted = sklearn_values(problem, model, values)
    if problem.rules.loss == "squared":
        losses = (truth - predicted) ** 2
    elif problem.rules.loss == "absolute":
        losses = np.abs(truth - predicted)
    elif problem.rules.loss == "zero-one":
        losses = predicted.argmax(axis=1) != truth
    elif problem.rules.loss == "brier":
        losses = ((predicted - np.eye(problem.n_classes)[truth]) ** 2).sum(axis=1)
    else:
        epsilon = np.finfo(np.float64).eps
        losses = -np.log(np.clip(predicted[np.arange(len(truth)), truth], epsilon, 1 - epsilon))
    return np.average(losses, weights=loss_weights)


class NodeComparison:
    """Walk an engine tree and scikit-learn's tree together.

    ``n_same`` counts the nodes that agree. Where both split differently, the two splits must be equally good
    (`is_tie`), and what lies below is not compared.
    """

    def __init__(self, problem, split, engine_tree, model):
        self.problem = problem
        self.engine = engine_tree
        self.model = model
        self.other = model.tree_
        self.n_same = 0
        self.n_ties = 0
        self._compare(0, 0, np.sort(problem.splits.train[split]))

    def _compare(self, node, twin, rows):
        assert self.engine.n_samples[node] == self.other.n_node_samples[twin] == len(rows)
        engine_splits, twin_splits = self.engine.feature[node] >= 0, self.other.children_left[twin] >= 0
        if engine_splits != twin_splits:
            self._assert_negligible(rows)
            return
        if not engine_splits:
            self._assert_same_value(node, twin)
            self.n_same += 1
            return
        mine = self.engine.feature[node], self.engine.threshold[node], self.engine.missing_left[node]
        theirs = (
            self.other.feature[twin],
            self.other.threshold[twin],
            bool(self.other.missing_go_to_left[twin]) and self.problem.is_weighted,
        )
        if mine != theirs:
            self._assert_tied(rows, mine, theirs)
            self.n_ties += 1
            return
        self.n_same += 1
        left, right = self._sides(rows, *mine)
        self._compare(self.engine.left[node], self.other.children_left[twin], left)
        self._compare(self.engine.right[node], self.other.children_right[twin], right)

    def _sides(self, rows, feature, threshold, missing_left):
        values = self.problem.X[rows, feature].astype(np.float32)
        goes_left = np.where(np.isnan(values), missing_left, values <= threshold)
        return rows[goes_left], rows[~goes_left]

    def _assert_same_value(self, node, twin):
        theirs = self.other.value[twin, 0]
        if self.problem.n_classes:
            fractions = np.zeros(self.problem.n_classes)
            fractions[self.model.classes_.astype(int)] = theirs
            tolerance = 1e-12 if self.problem.is_weighted else 0.0
            np.testing.assert_allclose(self.engine.value[node], fractions, rtol=tolerance, atol=tolerance)
        else:
            np.testing.assert_allclose(self.engine.value[node], theirs[0], rtol=1e-12, atol=1e-12)

    def _assert_tied(self, rows, mine, theirs):
        gains = [self._gain(rows, *split) for split in (mine, theirs)]
        np.testing.assert_allclose(gains[0], gains[1], rtol=1e-12, atol=1e-12)
        # Within one column only rounded sums of numbers leave a choice, and then not to the engine alone.
        assert mine[0] != theirs[0] or not self.problem.n_classes or self.problem.is_weighted

    def _gain(self, rows, feature, threshold, missing_left):
        sides = [side.tolist() for side in self._sides(rows, feature, threshold, missing_left)]
        return split_gain(self.problem.y, *sides, self.problem.rules.criterion, self.problem.weights)

    def _assert_negligible(self, rows):
        """Only a node whose impurity is nothing but rounding may be split by one and not by the other."""
        assert not self.problem.n_classes or self.problem.is_weighted
        criterion = self.problem.rules.criterion
        assert impurity(self.problem.y, rows.tolist(), criterion, self.problem.weights) < 1e-12


def assert_twin(tree, node, twin, *, has_missing=False):
    """Compare what lies below a node of an engine tree with the slow twin; with missing values, their side too."""
    assert tree.n_samples[node] == len(twin.rows)
    np.testing.assert_allclose(tree.value[node], twin.value, rtol=1e-12, atol=1e-12)
    if twin.feature is None:
        assert tree.feature[node] == -1
        return
    assert (tree.feature[node], tree.threshold[node]) == (twin.feature, twin.threshold)
    if has_missing:
        assert tree.missing_left[node] == twin.missing_left
    assert_twin(tree, tree.left[node], twin.left, has_missing=has_missing)
    assert_twin(tree, tree.right[node], twin.right, has_missing=has_missing)
