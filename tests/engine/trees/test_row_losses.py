"""Losses row by row, for many draws: equal to the slow twin, and the same bits however they are asked for."""

from dataclasses import replace
from math import fsum

import numpy as np
import pytest
from hypothesis import given, settings
from reference import cart, row_losses

from engine.problems import (
    COLUMN_KINDS,
    draw_folds,
    draw_splits,
    problems,
    single_column_risks,
    single_column_row_losses,
)
from ppfs._engine import (
    SortedColumns,
    Splits,
    TreeRules,
    grow_tree_per_split,
)

CASES = [
    (2, "log-loss"),
    (3, "log-loss"),
    (2, "brier"),
    (3, "zero-one"),
    (0, "squared"),
    (0, "absolute"),
]
BUILDERS = [SortedColumns.from_dense, SortedColumns.from_sparse]


def _table(n_classes, n_rows=60):
    """Columns of all kinds, two of which decide about y.

    Numbers are multiples of 1/8, whose sums are never rounded: so no tie between splits is decided by rounding.
    """
    rng = np.random.default_rng(n_classes)
    X = np.column_stack([kind(rng, n_rows) for kind in COLUMN_KINDS])
    score = X[:, 1] + X[:, 2] + 0.5 * rng.normal(size=n_rows)
    if n_classes:
        return X, np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes))
    return X, np.round(8 * score) / 8


def _rules(n_classes, loss, max_depth=None):
    return TreeRules("gini" if n_classes else "squared_error", max_depth=max_depth, loss=loss)


def _draw_orders(rng, splits, n_draws):
    return [np.array([rng.permutation(test.size) for _ in range(n_draws)]) for test in splits.test]


@pytest.mark.parametrize("build", BUILDERS, ids=["dense", "sparse"])
@pytest.mark.parametrize("max_depth", [None, 2])
@pytest.mark.parametrize(("n_classes", "loss"), CASES)
def test_single_columns_equal_the_slow_twin(n_classes, loss, max_depth, build):
    X, y = _table(n_classes, 40)
    rng = np.random.default_rng(1)
    splits, rules = draw_folds(rng, 40, 3), _rules(n_classes, loss, max_depth)
    draws = _draw_orders(rng, splits, 3)
    found = single_column_row_losses(build(X), y, n_classes, splits, rules, draws)
    expected = row_losses.single_column_row_losses(X, y, n_classes, splits, rules, draws)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)
    assert (np.abs(found[0] - found[1]) > 1e-3).any()


@settings(derandomize=True, deadline=None, max_examples=15)
@given(problems(max_columns=2))
def test_any_single_column_equals_the_slow_twin(problem):
    """One split only, which leaves rows out."""
    first = [parts[:1] for parts in (problem.splits.train, problem.splits.test, problem.splits.permutations)]
    problem = replace(problem, splits=Splits(*first))
    draws = _draw_orders(np.random.default_rng(0), problem.splits, 2)
    found = single_column_row_losses(problem.columns, *problem.arguments, draws)
    expected = row_losses.single_column_row_losses(problem.X, *problem.arguments, draws)
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-10, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(problems(max_columns=4))
def test_means_over_rows_are_the_risks_of_single_columns(problem):
    """Each split alone, its own permutation the only draw."""
    base, permuted = single_column_risks(problem.columns, *problem.arguments)
    for split in range(problem.splits.n_splits):
        parts = problem.splits.train, problem.splits.test, problem.splits.permutations
        alone = replace(problem, splits=Splits(*(part[split : split + 1] for part in parts)))
        draws = [alone.splits.permutations[0][np.newaxis]]
        of_rows, replaced, by_draw = single_column_row_losses(alone.columns, *alone.arguments, draws)
        n_test = alone.splits.test[0].size
        np.testing.assert_allclose(of_rows.sum(axis=1) / n_test, base[:, split], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(replaced.sum(axis=1) / n_test, permuted[:, split], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(by_draw[:, 0] / n_test, permuted[:, split], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("build", BUILDERS, ids=["dense", "sparse"])
@pytest.mark.parametrize(("n_classes", "loss"), CASES[::3])
def test_single_columns_alone_and_beside_others(n_classes, loss, build):
    X, y = _table(n_classes)
    X = np.tile(X, 3)
    rng = np.random.default_rng(2)
    splits, rules = draw_folds(rng, 60, 4), _rules(n_classes, loss)
    arguments = y, n_classes, splits, rules, _draw_orders(rng, splits, 5)
    expected = single_column_row_losses(build(X), *arguments)
    for column in range(X.shape[1]):
        for mine, theirs in zip(
            single_column_row_losses(build(X[:, [column]]), *arguments), expected, strict=True
        ):
            np.testing.assert_array_equal(mine[0], theirs[column])


@pytest.mark.parametrize(("n_classes", "loss"), CASES)
def test_a_column_that_says_nothing_has_exactly_equal_losses(n_classes, loss):
    """Ten equal losses do not always add up to ten times the loss; the mean must be the loss all the same."""
    _, y = _table(n_classes)
    rng = np.random.default_rng(3)
    splits = draw_folds(rng, 60, 5)
    draws = _draw_orders(rng, splits, 10)
    columns = SortedColumns.from_dense(np.ones((60, 1)))
    base, replaced, by_draw = single_column_row_losses(
        columns, y, n_classes, splits, _rules(n_classes, loss), draws
    )
    np.testing.assert_array_equal(base, replaced)
    np.testing.assert_array_equal(by_draw, fsum(base[0]))
    assert base.any()


def test_rows_that_are_never_tested_have_no_loss():
    splits = Splits.from_sequences([[0, 1]], [[2, 4]], [[0, 1]])
    columns = SortedColumns.from_dense(np.arange(5.0)[:, np.newaxis])
    rules = TreeRules("squared_error", loss="absolute")
    base, replaced, by_draw = single_column_row_losses(
        columns, [1.0, 2.0, 3.0, 4.0, 7.0], 0, splits, rules, [np.array([[1, 0]])]
    )
    assert base.tolist() == replaced.tolist() == [[0.0, 0.0, 1.0, 0.0, 5.0]]
    assert by_draw.tolist() == [[6.0]]


def test_overlapping_test_parts_are_refused():
    splits = Splits.from_sequences([[0], [0]], [[1, 2], [3, 2]], [[0, 1], [0, 1]])
    columns = SortedColumns.from_dense(np.ones((4, 1)))
    with pytest.raises(ValueError, match="Row 2 is in several test parts"):
        single_column_row_losses(columns, [0, 1, 0, 1], 2, splits, TreeRules(), [np.array([[0, 1]])] * 2)


@pytest.mark.parametrize("second", [np.zeros((2, 2)), np.zeros((1, 3)), np.zeros(2)])
def test_draws_of_the_wrong_shape_are_refused(second):
    splits = Splits.from_sequences([[0], [0]], [[1, 2], [3, 4]], [[0, 1], [0, 1]])
    columns = SortedColumns.from_dense(np.ones((5, 1)))
    draws = [np.array([[0, 1]]), second.astype(np.int64)]
    with pytest.raises(ValueError, match=r"draws\[1\] has the shape"):
        single_column_row_losses(columns, [0, 1, 0, 1, 0], 2, splits, TreeRules(), draws)


def _draw_values(rng, X, columns, splits, n_draws):
    """Values from anywhere in the columns, and beyond: (n_columns, n_draws, n_test) for each split."""
    return [
        np.array(
            [
                rng.choice(np.append(X[:, column], [-9.0, 9.0]), size=(n_draws, test.size))
                for column in columns
            ],
            dtype=np.float32,
        )
        for test in splits.test
    ]


@pytest.mark.parametrize("build", BUILDERS, ids=["dense", "sparse"])
@pytest.mark.parametrize("max_depth", [None, 3])
@pytest.mark.parametrize(("n_classes", "loss"), CASES)
def test_forests_equal_the_slow_twin(n_classes, loss, max_depth, build):
    X, y = _table(n_classes, 40)
    rng = np.random.default_rng(4)
    splits, rules = draw_folds(rng, 40, 3), _rules(n_classes, loss, max_depth)
    forest = grow_tree_per_split(build(X), y, n_classes, splits, rules)
    trees = [cart.grow(X, y, n_classes, train, rules) for train in splits.train]
    for tree, test, found in zip(trees, splits.test, forest.row_losses(), strict=True):
        expected = row_losses.losses_of_rows(tree, X, y, test, loss)
        np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
    for columns in ([2], [1, 2], [4], [0, 4, 1]):
        values = _draw_values(rng, X, columns, splits, 3)
        found = forest.replaced_row_losses(columns, values)
        for split, (tree, test) in enumerate(zip(trees, splits.test, strict=True)):
            assert found[split].shape == (3, test.size)
            for draw in range(3):
                replaced = dict(zip(columns, values[split][:, draw], strict=True))
                expected = row_losses.losses_of_rows(tree, X, y, test, loss, replaced)
                np.testing.assert_allclose(found[split][draw], expected, rtol=1e-10, atol=1e-12)
        together = forest.jointly_permuted_risk(columns)
        expected = row_losses.joint_risks(X, y, n_classes, splits, rules, columns)
        np.testing.assert_allclose(together, expected, rtol=1e-10, atol=1e-12)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(problems(max_columns=4))
def test_forests_agree_with_their_own_risks(problem):
    forest = grow_tree_per_split(problem.columns, *problem.arguments)
    splits = problem.splits
    for losses, risk in zip(forest.row_losses(), forest.base_risk, strict=True):
        np.testing.assert_allclose(losses.mean(), risk, rtol=1e-12, atol=1e-15)
    values = problem.X.astype(np.float32)
    for column in range(problem.X.shape[1]):
        copies = [
            values[test[permutation], column][np.newaxis, np.newaxis]
            for test, permutation in zip(splits.test, splits.permutations, strict=True)
        ]
        risks = forest.permuted_risk([column])[0]
        for losses, risk in zip(forest.replaced_row_losses([column], copies), risks, strict=True):
            np.testing.assert_allclose(losses.mean(), risk, rtol=1e-12, atol=1e-15)
        np.testing.assert_array_equal(forest.jointly_permuted_risk([column]), risks)


@pytest.fixture
def forest():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 8))
    y = (X[:, 2] + X[:, 5] + 0.3 * rng.normal(size=60) > 0).astype(int)
    return grow_tree_per_split(
        SortedColumns.from_dense(X), y, 2, draw_splits(rng, 60, 4), TreeRules(max_depth=2)
    )


def test_unused_columns_leave_exactly_the_base_losses(forest):
    unused = np.flatnonzero(~forest.used.any(axis=0))[:2].tolist()
    base = forest.row_losses()
    values = [np.full((2, 3, losses.size), 99.0, dtype=np.float32) for losses in base]
    for before, after in zip(base, forest.replaced_row_losses(unused, values), strict=True):
        np.testing.assert_array_equal(after, np.tile(before, (3, 1)))
    np.testing.assert_array_equal(forest.jointly_permuted_risk(unused), forest.base_risk)


def test_joint_risks_do_not_depend_on_order_or_unused_company(forest):
    unused = int(np.flatnonzero(~forest.used.any(axis=0))[0])
    together = forest.jointly_permuted_risk([2, 5])
    np.testing.assert_array_equal(forest.jointly_permuted_risk([5, unused, 2]), together)
    assert (together != forest.permuted_risk([2])[0]).any()


def test_base_losses_are_computed_once_and_cannot_be_written_to(forest):
    first, second = forest.row_losses(), forest.row_losses()
    assert all(one is other for one, other in zip(first, second, strict=True))
    with pytest.raises(ValueError, match="read-only"):
        first[0][0] = 1.0


def test_values_of_the_wrong_shape_are_refused(forest):
    values = [np.zeros((1, 2, losses.size), dtype=np.float32) for losses in forest.row_losses()]
    values[3] = values[3][:, :, :-1]
    with pytest.raises(ValueError, match=r"values\[3\] has the shape"):
        forest.replaced_row_losses([2], values)
