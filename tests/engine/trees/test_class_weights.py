"""Losses weighted by class: equal to the slow twin; weights of one change nothing."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import cart, row_losses
from scipy import sparse

from engine.grown_trees import tree_of
from engine.problems import CLASS_LOSSES, draw_folds, problems, single_column_risks, single_column_row_losses
from ppfs._engine import (
    SortedColumns,
    Splits,
    TreeRules,
    grow_tree_per_split,
)


def _draw_weights(data, n_classes):
    return np.array(
        data.draw(st.lists(st.sampled_from([0.1, 1.0, 3.0]), min_size=n_classes, max_size=n_classes))
    )


@settings(derandomize=True, deadline=None, max_examples=25)
@given(problems(max_columns=2, is_classification=True), st.data())
def test_weighted_risks_of_single_columns_equal_the_slow_twin(problem, data):
    weights = _draw_weights(data, problem.n_classes)
    base, permuted = single_column_risks(problem.columns, *problem.arguments, class_weights=weights)
    splits, loss = problem.splits, problem.rules.loss
    for column in range(problem.X.shape[1]):
        alone = problem.X[:, [column]]
        arguments = problem.y, problem.n_classes, splits, problem.rules
        expected = row_losses.joint_risks(alone, *arguments, [0], weights)
        np.testing.assert_allclose(permuted[column], expected, rtol=1e-10, atol=1e-12)
        for split, (train, test) in enumerate(zip(splits.train, splits.test, strict=True)):
            tree = cart.grow(alone, problem.y, problem.n_classes, train, problem.rules)
            losses = row_losses.losses_of_rows(tree, alone, problem.y, test, loss, None, weights)
            expected = row_losses.weighted_mean(losses, problem.y, test, weights)
            np.testing.assert_allclose(base[column, split], expected, rtol=1e-10, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(problems(max_columns=3, is_classification=True, exact=True), st.data())
def test_weighted_risks_of_forests_equal_the_slow_twin(problem, data):
    weights = _draw_weights(data, problem.n_classes)
    forest = grow_tree_per_split(problem.columns, *problem.arguments, class_weights=weights)
    plain = grow_tree_per_split(problem.columns, *problem.arguments)
    splits, loss = problem.splits, problem.rules.loss
    for split, (train, test) in enumerate(zip(splits.train, splits.test, strict=True)):
        np.testing.assert_array_equal(tree_of(forest, split).feature, tree_of(plain, split).feature)
        tree = cart.grow(problem.X, problem.y, problem.n_classes, train, problem.rules)
        losses = row_losses.losses_of_rows(tree, problem.X, problem.y, test, loss, None, weights)
        np.testing.assert_allclose(forest.row_losses()[split], losses, rtol=1e-10, atol=1e-12)
        expected = row_losses.weighted_mean(losses, problem.y, test, weights)
        np.testing.assert_allclose(forest.base_risk[split], expected, rtol=1e-10, atol=1e-12)
    for columns in ([0], list(range(problem.X.shape[1]))):
        expected = row_losses.joint_risks(problem.X, *problem.arguments, columns, weights)
        found = forest.jointly_permuted_risk(columns)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        if len(columns) == 1:
            np.testing.assert_array_equal(forest.permuted_risk(columns)[0], found)


@pytest.mark.parametrize("loss", CLASS_LOSSES)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_weighted_row_losses_equal_the_slow_twin(n_classes, loss):
    rng = np.random.default_rng(n_classes)
    X = np.where(rng.random((40, 3)) < 0.5, 0.0, rng.normal(size=(40, 3)))
    y = rng.choice(n_classes, size=40)
    splits = draw_folds(rng, 40, 3)
    draws = [np.array([rng.permutation(test.size) for _ in range(2)]) for test in splits.test]
    weights = [0.5, 4.0, 7.0][:n_classes]
    arguments = y, n_classes, splits, TreeRules(loss=loss), draws
    expected = row_losses.single_column_row_losses(X, *arguments, weights)
    for columns in (SortedColumns.from_dense(X), SortedColumns.from_sparse(sparse.csc_array(X))):
        found = single_column_row_losses(columns, *arguments, class_weights=weights)
        for mine, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(problems(max_columns=3, is_classification=True))
def test_weights_of_one_change_no_bit(problem):
    ones = np.ones(problem.n_classes)
    columns, arguments = problem.columns, problem.arguments
    np.testing.assert_array_equal(
        single_column_risks(columns, *arguments, class_weights=ones), single_column_risks(columns, *arguments)
    )
    plain, weighted = (grow_tree_per_split(columns, *arguments, class_weights=each) for each in (None, ones))
    every_column = np.arange(problem.X.shape[1])
    np.testing.assert_array_equal(plain.base_risk, weighted.base_risk)
    np.testing.assert_array_equal(plain.permuted_risk(every_column), weighted.permuted_risk(every_column))


def test_a_risk_is_the_weighted_mean_of_the_rows():
    """Zero-one loss: the only row of class 1 is wrong and weighs 3, the two of class 0 are right and weigh 1."""
    columns = SortedColumns.from_dense(np.ones((6, 1)))
    splits = Splits.from_sequences([[0, 1, 2]], [[3, 4, 5]], [[0, 1, 2]])
    base, _ = single_column_risks(
        columns, [0, 0, 0, 0, 1, 0], 2, splits, TreeRules(loss="zero-one"), class_weights=[1.0, 3.0]
    )
    assert base[0, 0] == 3.0 / 5.0


@pytest.mark.parametrize("build", [SortedColumns.from_dense, SortedColumns.from_sparse])
def test_leaves_with_equal_fractions_have_exactly_equal_weighted_risks(build):
    """Both values of the column have one third of class 1, stored or not; the weights are not exact in binary."""
    y = np.array([0, 0, 1] * 12)
    X = np.repeat([0.0, 1.0, 0.0, 1.0], 9)[:, np.newaxis]
    splits = Splits.from_sequences(
        [np.arange(18)], [np.arange(18, 36)], [np.random.default_rng(3).permutation(18)]
    )
    base, permuted = single_column_risks(build(X), y, 2, splits, TreeRules(), class_weights=[0.1, 0.7])
    assert base[0, 0] == permuted[0, 0]


@pytest.mark.parametrize(
    "weights", [[1.0], [1.0, 0.0], [1.0, -2.0], [1.0, np.inf], [1.0, np.nan], [[1.0, 2.0]]]
)
def test_bad_weights_are_refused(weights):
    columns = SortedColumns.from_dense(np.ones((4, 1)))
    splits = Splits.from_sequences([[0, 1]], [[2, 3]], [[0, 1]])
    with pytest.raises(ValueError, match="one positive number for each of the 2 classes"):
        grow_tree_per_split(columns, [0, 1, 0, 1], 2, splits, TreeRules(), class_weights=weights)


def test_weights_are_refused_for_numbers():
    columns = SortedColumns.from_dense(np.ones((4, 1)))
    splits = Splits.from_sequences([[0, 1]], [[2, 3]], [[0, 1]])
    rules = TreeRules("squared_error", loss="squared")
    with pytest.raises(ValueError, match="has no classes"):
        single_column_risks(columns, np.arange(4.0), 0, splits, rules, class_weights=[1.0, 1.0])
