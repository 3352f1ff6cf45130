"""Trees on many columns: equal to scikit-learn's and to the slow twin.

scikit-learn's trees may differ from the engine's for these reasons only:

- two columns with equally good splits: the engine takes the first column, scikit-learn one at random. In a node
  with two rows every column that separates them is as good as any other, so this happens in every deep tree.
- numbers (regression) whose sums are rounded: scikit-learn adds them in another order, so that two splits that
  are equally good on paper may differ in the last bit, in favour of the one or of the other.
- a node whose numbers differ by no more than rounding, which one splits and the other does not.

The comparison accepts a different split only if both are equally good, and then leaves out what lies below;
below such a split the slow twin, which breaks ties as the engine does, takes over.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from reference.cart import grow
from reference.single_column_tree import tree_risk

from engine.grown_trees import NodeComparison, assert_twin, fit_sklearn, sklearn_risk, tree_of
from engine.problems import COLUMN_KINDS, Problem, draw_splits, problems
from ppfs._engine import SortedColumns, Splits, TreeRules, grow_tree_per_split
from ppfs._engine.many_columns import cart


def _compare_with_sklearn(problem):
    forest = grow_tree_per_split(problem.columns, *problem.arguments)
    comparisons = []
    for split in range(problem.splits.n_splits):
        model = fit_sklearn(problem, split, range(problem.X.shape[1]))
        comparison = NodeComparison(problem, split, tree_of(forest, split), model)
        if comparison.n_ties == 0:
            test = problem.splits.test[split]
            expected = sklearn_risk(problem, model, problem.X[test], problem.y[test])
            np.testing.assert_allclose(forest.base_risk[split], expected, rtol=1e-10, atol=1e-12)
        comparisons.append(comparison)
    return comparisons


@settings(derandomize=True, deadline=None, max_examples=100)
@given(problems(max_columns=1, is_classification=True))
def test_class_trees_on_one_column_equal_scikit_learn(problem):
    assert all(comparison.n_ties == 0 for comparison in _compare_with_sklearn(problem))


@settings(derandomize=True, deadline=None, max_examples=60)
@given(problems(max_columns=1, is_classification=False, exact=True))
def test_number_trees_on_one_column_equal_scikit_learn(problem):
    assert all(comparison.n_ties == 0 for comparison in _compare_with_sklearn(problem))


@settings(derandomize=True, deadline=None, max_examples=120)
@given(problems())
def test_trees_equal_scikit_learn_up_to_ties(problem):
    _compare_with_sklearn(problem)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
def test_trees_of_large_nodes_equal_scikit_learn_without_ties(criterion):
    """In nodes of a hundred rows, no two columns cut off the same class counts."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 12))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=2000)
    n_classes, loss = (0, "squared") if criterion == "squared_error" else (5, "log-loss")
    y = np.digitize(score, [-1.5, -0.5, 0.5, 1.5]) if n_classes else score
    rules = TreeRules(criterion=criterion, loss=loss, max_depth=3)
    order = rng.permutation(2000)
    splits = Splits.from_sequences(
        [order[500:], order[:1500]], [order[:500], order[1500:]], [np.arange(500)] * 2
    )
    problem = Problem(X, y, n_classes, splits, rules, is_sparse=False)
    for comparison in _compare_with_sklearn(problem):
        assert comparison.n_ties == 0
        assert comparison.n_same > 10


@settings(derandomize=True, deadline=None, max_examples=60)
@given(problems(kinds=COLUMN_KINDS, max_columns=4, exact=True))
def test_trees_with_ties_equal_the_slow_twin(problem):
    forest = grow_tree_per_split(problem.columns, *problem.arguments)
    every_column = np.arange(problem.X.shape[1])
    permuted = forest.permuted_risk(every_column)
    for split in range(problem.splits.n_splits):
        train, test = problem.splits.train[split], problem.splits.test[split]
        twin = grow(problem.X, problem.y, problem.n_classes, train, problem.rules)
        assert_twin(tree_of(forest, split), 0, twin)
        expected = tree_risk(twin, problem.X, problem.y, test, problem.rules.loss)
        assert forest.base_risk[split] == pytest.approx(expected, rel=1e-10, abs=1e-12)
        for column in every_column:
            expected = tree_risk(
                twin,
                problem.X,
                problem.y,
                test,
                problem.rules.loss,
                column,
                problem.splits.permutations[split],
            )
            assert permuted[column, split] == pytest.approx(expected, rel=1e-10, abs=1e-12)


def test_deep_trees_get_room_for_their_pending_nodes():
    """Alternating classes along one column make a tree as deep as scikit-learn's, whatever was allocated."""
    n_rows = 400
    X = np.column_stack([np.arange(n_rows) ** 2.0, np.zeros(n_rows)])
    y = (np.arange(n_rows) % 2).astype(int)
    splits = draw_splits(np.random.default_rng(0), n_rows, 2)
    problem = Problem(X, y, 2, splits, TreeRules(), is_sparse=False)
    for comparison in _compare_with_sklearn(problem):
        assert comparison.n_ties == 0


def test_a_second_attempt_with_more_room_starts_from_the_root(monkeypatch):
    """Little room at first: the tree that is grown at last is the one that was grown at once."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 30)), rng.normal(size=120)
    splits = draw_splits(rng, 120, 3)
    rules = TreeRules(criterion="squared_error", loss="squared")

    def forests():
        whole = grow_tree_per_split(SortedColumns.from_dense(X), y, 0, splits, rules)
        return whole, whole.without(int(tree_of(whole, 0).feature[0]))[0]

    at_once = forests()
    monkeypatch.setattr(cart, "_USUAL_DEPTH", 0)
    attempts = forests()
    for one, other in zip(at_once, attempts, strict=True):
        for split in range(3):
            assert_same_tree(tree_of(one, split), tree_of(other, split))


def assert_same_tree(one, other):
    for name in ("feature", "threshold", "left", "right", "n_samples", "value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
