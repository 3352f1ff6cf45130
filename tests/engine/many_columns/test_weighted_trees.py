"""Trees on many columns with row weights and missing values: scikit-learn's, and the slow twin's.

Sums of real weights are rounded, in another order than scikit-learn's: beside the reasons in `test_cart`, two cuts of
one column that are equally good on paper may be decided differently.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from reference import cart
from reference.single_column_tree import row_loss

from engine.grown_trees import NodeComparison, assert_twin, fit_sklearn, sklearn_risk, tree_of
from engine.many_columns.test_cart import assert_same_tree
from engine.problems import (
    SHARES_LIKE_SKLEARN,
    Problem,
    draw_splits,
    skip_unless_like_sklearn,
    weighted_problems,
)
from ppfs._engine import SortedColumns, Splits, TreeRules, grow_tree_per_split

REAL_NUMBERS = {"criterion": "squared_error", "loss": "squared"}


def _forest(problem, columns=None, n_threads=1):
    return grow_tree_per_split(
        problem.columns if columns is None else columns,
        *problem.arguments,
        n_threads,
        fit_weights=problem.weights,
        loss_weights=problem.weights,
    )


def _weights_of(problem, rows):
    return None if problem.weights is None else problem.weights[rows]


def _compare_with_sklearn(problem):
    forest = _forest(problem)
    comparisons = []
    for split, test in enumerate(problem.splits.test):
        model = fit_sklearn(problem, split, range(problem.X.shape[1]))
        comparison = NodeComparison(problem, split, tree_of(forest, split), model)
        if comparison.n_ties == 0:
            expected = sklearn_risk(
                problem, model, problem.X[test], problem.y[test], _weights_of(problem, test)
            )
            np.testing.assert_allclose(forest.base_risk[split], expected, rtol=1e-10, atol=1e-12)
        comparisons.append(comparison)
    return comparisons


@settings(derandomize=True, deadline=None, max_examples=120)
@given(weighted_problems(shares=SHARES_LIKE_SKLEARN))
def test_trees_equal_scikit_learn_up_to_ties(problem):
    _compare_with_sklearn(problem)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize(("share", "is_weighted"), [(0.0, True), (0.1, False), (0.1, True)])
def test_trees_of_large_nodes_equal_scikit_learn_without_ties(criterion, share, is_weighted):
    skip_unless_like_sklearn(share)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 8))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=1500)
    X[rng.random(X.shape) < share] = np.nan
    n_classes, loss = (0, "squared") if criterion == "squared_error" else (4, "log-loss")
    y = np.digitize(score, [-1.0, 0.0, 1.0]) if n_classes else score
    rules = TreeRules(criterion=criterion, loss=loss, min_samples_leaf=30)
    order = rng.permutation(1500)
    splits = Splits.from_sequences([order[400:]], [order[:400]], [np.arange(400)])
    weights = rng.uniform(0.2, 3.0, size=1500) if is_weighted else None
    problem = Problem(X, y, n_classes, splits, rules, False, weights, share > 0.0)
    (comparison,) = _compare_with_sklearn(problem)
    assert comparison.n_ties == 0
    assert comparison.n_same > 20


def _twin_risk(twin, problem, split, permuted=None):
    test = problem.splits.test[split]
    losses = []
    for row, source in zip(test, test[problem.splits.permutations[split]], strict=True):
        values = problem.X[row].copy()
        if permuted is not None:
            values[permuted] = problem.X[source, permuted]
        losses.append(row_loss(cart.predict(twin, values).value, problem.y[row], problem.rules.loss))
    return np.average(losses, weights=_weights_of(problem, test))


@settings(derandomize=True, deadline=None, max_examples=80)
@given(weighted_problems(exact=True))
def test_trees_with_ties_equal_the_slow_twin(problem):
    forest = _forest(problem)
    permuted = forest.permuted_risk(range(problem.X.shape[1]))
    for split, train in enumerate(problem.splits.train):
        twin = cart.grow(problem.X, problem.y, problem.n_classes, train, problem.rules, problem.weights)
        assert_twin(tree_of(forest, split), 0, twin, has_missing=True)
        assert forest.base_risk[split] == pytest.approx(
            _twin_risk(twin, problem, split), rel=1e-10, abs=1e-12
        )
        for column in range(problem.X.shape[1]):
            expected = _twin_risk(twin, problem, split, column)
            assert permuted[column, split] == pytest.approx(expected, rel=1e-10, abs=1e-12)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(weighted_problems())
def test_removing_columns_equals_growing_without_them(problem):
    forest = _forest(problem)
    remaining = list(range(problem.X.shape[1]))
    for column in np.random.default_rng(0).permutation(len(remaining))[:-1].tolist():
        forest, _ = forest.without(column)
        remaining.remove(column)
        fresh = _forest(problem, problem.columns.take(remaining))
        np.testing.assert_array_equal(forest.base_risk, fresh.base_risk)
        np.testing.assert_array_equal(
            forest.permuted_risk(remaining), fresh.permuted_risk(range(len(remaining)))
        )


def test_trees_do_not_depend_on_the_number_of_threads(monkeypatch):
    monkeypatch.setattr("ppfs._engine.many_columns.tree_per_split._ENTRIES_FOR_THREADS", 0)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6))
    X[rng.random(X.shape) < 0.1] = np.nan
    splits, weights = draw_splits(rng, 80, 4), rng.uniform(0.2, 3.0, size=80)
    problem = Problem(X, rng.normal(size=80), 0, splits, TreeRules(**REAL_NUMBERS), False, weights, True)
    one, two = (_forest(problem, n_threads=n_threads) for n_threads in (1, 2))
    for split in range(4):
        assert_same_tree(tree_of(one, split), tree_of(two, split))


def test_gaps_of_either_sign_sort_behind_every_number():
    """A division of zero by zero gives a NaN with the sign bit set on some machines."""
    X = np.array([[np.nan], [-np.nan], [1.0], [-2.0]])
    X[:2] = np.copysign(X[:2], [[1.0], [-1.0]])
    arrays = SortedColumns.from_dense(X, has_missing=True).arrays
    assert arrays.rows.tolist() == [3, 2, 0, 1]
