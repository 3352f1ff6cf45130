"""Forests on several columns: equal to the slow twin, to scikit-learn's where nothing is drawn, and to themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import forest as twin
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

from engine.grown_trees import sklearn_risk
from engine.problems import draw_splits, problems, skip_unless_like_sklearn, weighted_problems
from ppfs._engine import (
    ForestRules,
    SortedColumns,
    TreeRules,
    grow_forest_per_split,
    prepare_forest,
    prepared_forest_risks,
)
from ppfs._engine.many_columns.forest_nodes import MOST_TREES, make_units
from ppfs._fitting import drawn_counts

N_TREES = 4


def _n_tried(max_features):
    """Return how many columns are tried, as scikit-learn counts them."""
    if max_features == "sqrt":
        return lambda n_columns: max(1, int(np.sqrt(n_columns)))
    return lambda n_columns: n_columns if max_features is None else min(max_features, n_columns)


def _counts(rng, splits, n_trees=N_TREES):
    sizes = [train.size for train in splits.train]
    return [
        np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(n_trees)]) for n in sizes
    ]


def _keys(n_splits, n_trees=N_TREES):
    return np.arange(n_splits * n_trees, dtype=np.uint64).reshape(n_splits, n_trees) * np.uint64(977)


def _grown(problem, columns, counts, max_features, is_random=False, n_threads=1):
    fit_weights = np.ones(len(problem.y)) if problem.weights is None else problem.weights
    prepared = prepare_forest(
        *problem.arguments, counts, fit_weights=fit_weights if problem.is_weighted else None
    )
    n_splits, n_trees = len(counts), len(counts[0])
    rules = ForestRules(_n_tried(max_features), _keys(n_splits, n_trees), is_random)
    return grow_forest_per_split(columns, prepared, rules, n_threads)


def _twin_losses(problem, split, trees, replaced=None):
    test = problem.splits.test[split]
    values = problem.X[test].copy()
    for column, instead in (replaced or {}).items():
        values[:, column] = instead
    return twin.losses(twin.predictions(trees, values), problem.y[test], problem.rules.loss)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(
    problems(max_columns=4, exact=True),
    st.sampled_from(["sqrt", None, 2]),
    st.booleans(),
    st.integers(0, 999),
)
def test_forests_equal_the_slow_twin(problem, max_features, is_random, seed):
    _assert_like_twin(problem, max_features, is_random, seed)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(weighted_problems(exact=True), st.sampled_from(["sqrt", None, 2]), st.integers(0, 999))
def test_forests_with_weights_and_gaps_equal_the_slow_twin(problem, max_features, seed):
    _assert_like_twin(problem, max_features, False, seed)


def _assert_like_twin(problem, max_features, is_random, seed):
    rng = np.random.default_rng(seed)
    counts = _counts(rng, problem.splits)
    forest = _grown(problem, problem.columns, counts, max_features, is_random)
    splits, n_columns = problem.splits, problem.X.shape[1]
    keys = _keys(splits.n_splits)
    for split, test in enumerate(splits.test):
        trees = twin.grow_tree_per_split(
            problem.X,
            problem.y,
            problem.n_classes,
            splits.train[split],
            problem.rules,
            counts[split],
            keys[split],
            _n_tried(max_features)(n_columns),
            is_random,
            problem.weights,
        )
        expected = _twin_losses(problem, split, trees)
        np.testing.assert_allclose(forest.row_losses()[split], expected, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(forest.base_risk[split], np.mean(expected), rtol=1e-10, atol=1e-12)
        for column in range(n_columns):
            shuffled = problem.X[test[splits.permutations[split]], column]
            expected = np.mean(_twin_losses(problem, split, trees, {column: shuffled}))
            found = forest.permuted_risk([column])[0, split]
            np.testing.assert_allclose(found, expected, rtol=1e-10, atol=1e-12)


def _assert_same(forest, other, columns):
    np.testing.assert_array_equal(forest.base_risk, other.base_risk)
    np.testing.assert_array_equal(forest.used[:, columns], other.used)
    np.testing.assert_array_equal(forest.permuted_risk(columns), other.permuted_risk(np.arange(len(columns))))
    for mine, theirs in zip(forest.row_losses(), other.row_losses(), strict=True):
        np.testing.assert_array_equal(mine, theirs)


@settings(derandomize=True, deadline=None, max_examples=40)
@given(
    problems(max_columns=9), st.sampled_from(["sqrt", None, 3]), st.booleans(), st.integers(0, 999), st.data()
)
def test_removing_columns_gives_the_forest_without_them(problem, max_features, is_random, seed, data):
    """Numbers are rounded too: sums must not depend on how a node came about."""
    rng = np.random.default_rng(seed)
    # Copies of other columns have equal keys.
    X = np.column_stack([problem.X, problem.X[:, :1], rng.normal(size=(problem.y.size, 2))])
    build = SortedColumns.from_sparse if problem.is_sparse else SortedColumns.from_dense
    counts = _counts(rng, problem.splits)
    forest = _grown(problem, build(X), counts, max_features, is_random)
    left = list(range(X.shape[1]))
    while len(left) > 1:
        gone = data.draw(st.sampled_from(left))
        left.remove(gone)
        forest, _ = forest.without(gone)
        fresh = _grown(problem, build(X[:, left]), counts, max_features, is_random)
        _assert_same(forest, fresh, left)


@settings(derandomize=True, deadline=None, max_examples=25)
@given(weighted_problems(), st.sampled_from(["sqrt", None, 3]), st.integers(0, 999), st.data())
def test_removing_columns_with_gaps_gives_the_forest_without_them(problem, max_features, seed, data):
    rng = np.random.default_rng(seed)
    X = np.column_stack([problem.X, problem.X[:, :1], rng.normal(size=(problem.y.size, 2))])
    columns = SortedColumns.from_dense(X, has_missing=problem.has_missing)
    counts = _counts(rng, problem.splits)
    forest = _grown(problem, columns, counts, max_features)
    left = list(range(X.shape[1]))
    while len(left) > 1:
        gone = data.draw(st.sampled_from(left))
        left.remove(gone)
        forest, _ = forest.without(gone)
        fresh = _grown(problem, columns.take(left), counts, max_features, n_threads=2)
        _assert_same(forest, fresh, left)


def _planted(n_rows, n_columns, n_classes, n_splits=2):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, 0] + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) if n_classes else score
    return X, y, draw_splits(rng, n_rows, n_splits)


def test_many_columns_are_removed_one_by_one():
    """Wide enough that turns are drawn by a limit, and that the number of tried columns falls on the way."""
    X, y, splits = _planted(60, 70, 2)
    counts = _counts(np.random.default_rng(1), splits, 12)
    prepared = prepare_forest(y, 2, splits, TreeRules(loss="brier"), counts)
    rules = ForestRules(_n_tried("sqrt"), _keys(2, 12))
    forest = grow_forest_per_split(SortedColumns.from_dense(X), prepared, rules)
    left = list(range(70))
    for gone in np.random.default_rng(2).permutation(70)[:66].tolist():
        left.remove(gone)
        forest, n_refits = forest.without(gone)
        assert n_refits <= 2
        if len(left) % 8 == 0:
            fresh = grow_forest_per_split(SortedColumns.from_dense(X[:, left]), prepared, rules)
            _assert_same(forest, fresh, left)


@pytest.mark.parametrize("n_threads", [2, 9])
@pytest.mark.parametrize("max_features", ["sqrt", None, 5])
def test_a_sequence_of_removals_equals_one_removal_at_a_time(max_features, n_threads):
    """With 5 columns tried, the last few removals leave no others: columns can be idle only then.

    Nine threads for three splits divide the trees of a split among three tasks.
    """
    X, y, splits = _planted(60, 20, 2, n_splits=3)
    counts = _counts(np.random.default_rng(1), splits, 6)
    prepared = prepare_forest(y, 2, splits, TreeRules(max_depth=3), counts)
    rules = ForestRules(_n_tried(max_features), _keys(3, 6))
    step_by_step, forest = (
        grow_forest_per_split(SortedColumns.from_dense(X), prepared, rules, n) for n in (1, n_threads)
    )
    assert len(forest._forests[0].parts) == max(1, n_threads // 3)
    order, every = np.random.default_rng(2).permutation(20)[:18].tolist(), list(range(20))
    for column, (ahead, n_ahead) in zip(order, forest.without_each(order), strict=True):
        step_by_step, n_refits = step_by_step.without(column)
        assert n_ahead == n_refits
        assert ahead.n_fits == step_by_step.n_fits
        np.testing.assert_array_equal(ahead.active, step_by_step.active)
        _assert_same(ahead, step_by_step, every)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("has_missing", [False, True])
def test_trees_that_try_all_columns_are_scikit_learns(n_classes, has_missing):
    """Integers to predict and distinct values: hardly a tie, and the same samples."""
    X, y, splits = _planted(80, 4, n_classes)
    if has_missing:
        skip_unless_like_sklearn(0.1)
        X[np.random.default_rng(1).random(X.shape) < 0.1] = np.nan
    kind = RandomForestClassifier if n_classes else RandomForestRegressor
    rules = TreeRules("gini" if n_classes else "squared_error", loss="brier" if n_classes else "squared")
    model = kind(50, max_features=None, random_state=5)
    counts = [drawn_counts(model, train.size) for train in splits.train]
    prepared = prepare_forest(
        y, n_classes, splits, rules, counts, fit_weights=np.ones(80) if has_missing else None
    )
    columns = SortedColumns.from_dense(X, has_missing=has_missing)
    forest = grow_forest_per_split(columns, prepared, ForestRules(_n_tried(None), _keys(2, 50)))

    class Problem:
        pass

    problem = Problem()
    problem.n_classes, problem.rules = n_classes, rules
    for split, (train, test) in enumerate(zip(splits.train, splits.test, strict=True)):
        fitted = model.fit(X[train], y[train])
        expected = sklearn_risk(problem, fitted, X[test], y[test])
        # A node of few rows can be cut equally well by several columns: then a tree differs.
        np.testing.assert_allclose(forest.base_risk[split], expected, rtol=0.1)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_one_column_is_what_growth_answers(n_classes, is_weighted):
    X, y, splits = _planted(60, 3, n_classes)
    rules = TreeRules("gini" if n_classes else "squared_error", loss="brier" if n_classes else "squared")
    counts = _counts(np.random.default_rng(3), splits, 9)
    weights = np.linspace(0.5, 2.0, 60) if is_weighted else None
    prepared = prepare_forest(y, n_classes, splits, rules, counts, row_weights=weights)
    columns = SortedColumns.from_dense(X)
    base, permuted = prepared_forest_risks(columns, prepared)
    for column in range(3):
        forest = grow_forest_per_split(
            columns.take([column]), prepared, ForestRules(_n_tried("sqrt"), _keys(2, 9))
        )
        np.testing.assert_allclose(forest.base_risk, base[column], rtol=1e-12)
        np.testing.assert_allclose(forest.permuted_risk([0])[0], permuted[column], rtol=1e-12)


def test_threads_and_order_of_the_columns_do_not_matter():
    X, y, splits = _planted(60, 12, 2)
    counts = _counts(np.random.default_rng(4), splits, 9)
    prepared = prepare_forest(y, 2, splits, TreeRules(), counts)
    rules = ForestRules(_n_tried("sqrt"), _keys(2, 9))
    order = np.random.default_rng(5).permutation(12)
    forest = grow_forest_per_split(SortedColumns.from_dense(X), prepared, rules)
    for build in (SortedColumns.from_dense, SortedColumns.from_sparse):
        other = grow_forest_per_split(build(X[:, order]), prepared, rules, n_threads=2)
        np.testing.assert_array_equal(other.base_risk, forest.base_risk)
        np.testing.assert_array_equal(other.permuted_risk(np.arange(12)), forest.permuted_risk(order))


def test_replaced_columns_and_unused_ones():
    X, y, splits = _planted(60, 5, 2)
    X[:, 4] = 1.0
    counts = _counts(np.random.default_rng(4), splits)
    problem_rules = TreeRules(loss="brier", max_depth=2)
    prepared = prepare_forest(y, 2, splits, problem_rules, counts)
    rules = ForestRules(_n_tried(None), _keys(2))
    forest = grow_forest_per_split(SortedColumns.from_dense(X), prepared, rules)
    rng = np.random.default_rng(6)
    values = [rng.normal(size=(2, 3, test.size)).astype(np.float32) for test in splits.test]
    found = forest.replaced_row_losses([0, 2], values)
    for split, test in enumerate(splits.test):
        trees = twin.grow_tree_per_split(
            X, y, 2, splits.train[split], problem_rules, counts[split], _keys(2)[split], 5
        )
        for draw in range(3):
            copy = X[test].copy()
            copy[:, [0, 2]] = values[split][:, draw].T
            expected = twin.losses(twin.predictions(trees, copy), y[test], "brier")
            np.testing.assert_allclose(found[split][draw], expected, rtol=1e-10, atol=1e-12)
    unused = np.flatnonzero(forest.are_idle(slice(None)))
    assert unused.size
    np.testing.assert_array_equal(forest.permuted_risk(unused[:1])[0], forest.base_risk)
    same, n_refits = forest.without(int(unused[0]))
    assert n_refits == 0
    np.testing.assert_array_equal(same.base_risk, forest.base_risk)
    with pytest.raises(ValueError, match=r"values\[0\] has the shape"):
        forest.replaced_row_losses([0], values)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_small_sparse_forest_is_the_dense_one(n_classes):
    """Zeros lie between the stored values, so both sides of a cut are counted again after them."""
    rng = np.random.default_rng(5)
    X = np.round(rng.normal(size=(40, 2)), 1) * (rng.random((40, 2)) < 0.6)
    y, splits = rng.integers(0, n_classes, 40), draw_splits(rng, 40, 2)
    y[X[:, 0] > 0] = 0
    counts = _counts(rng, splits, 3)
    prepared = prepare_forest(y, n_classes, splits, TreeRules(loss="brier"), counts)
    rules = ForestRules(_n_tried(None), _keys(2, 3))
    dense, sparse = (
        grow_forest_per_split(build(X), prepared, rules)
        for build in (SortedColumns.from_dense, SortedColumns.from_sparse)
    )
    _assert_same(sparse, dense, [0, 1])


def test_more_trees_than_their_sums_have_bits_for_are_refused():
    assert make_units(np.empty(0), MOST_TREES).n_trees == MOST_TREES
    with pytest.raises(ValueError, match=f"forest of {MOST_TREES + 1} trees.*more than {MOST_TREES} "):
        make_units(np.empty(0), MOST_TREES + 1)
