"""Forests on single columns: equal to scikit-learn's forests, and to the slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import forest as twin
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from engine.grown_trees import sklearn_risk
from engine.problems import COLUMN_KINDS, draw_folds, draw_splits, problems
from ppfs._engine import (
    SortedColumns,
    TreeRules,
    make_draws,
    prepare_forest,
    prepared_forest_risks,
    prepared_forest_row_losses,
    with_permutations,
)
from ppfs._fitting import drawn_counts, tree_seeds

N_TREES = 5


def _draw_counts(rng, splits, n_trees=N_TREES):
    return [
        np.array([np.bincount(rng.integers(0, n, n), minlength=n) for _ in range(n_trees)])
        for n in (train.size for train in splits.train)
    ]


def _keys(n_splits, n_trees=N_TREES):
    return np.arange(n_splits * n_trees, dtype=np.uint64).reshape(n_splits, n_trees) * np.uint64(977)


def _twin_risks(problem, counts, keys, column, is_random):
    """Base and permuted risks of the slow twin, one of each a split."""
    risks = []
    alone, splits = problem.X[:, [column]], problem.splits
    for split, (train, test, permutation) in enumerate(
        zip(splits.train, splits.test, splits.permutations, strict=True)
    ):
        trees = twin.grow_tree_per_split(
            alone,
            problem.y,
            problem.n_classes,
            train,
            problem.rules,
            counts[split],
            keys[split],
            1,
            is_random,
        )
        means = twin.predictions(trees, alone[test])
        truth = problem.y[test]
        shuffled = [means[place] for place in permutation]
        risks.append([np.mean(twin.losses(each, truth, problem.rules.loss)) for each in (means, shuffled)])
    return np.array(risks).T


@settings(derandomize=True, deadline=None, max_examples=25)
@given(problems(max_columns=2, exact=True), st.booleans(), st.integers(0, 2**32 - 1))
def test_risks_equal_the_slow_twin(problem, is_random, seed):
    counts = _draw_counts(np.random.default_rng(seed), problem.splits)
    keys = _keys(problem.splits.n_splits)
    prepared = prepare_forest(*problem.arguments, counts, keys if is_random else None)
    base, permuted = prepared_forest_risks(problem.columns, prepared)
    for column in range(problem.X.shape[1]):
        expected = _twin_risks(problem, counts, keys, column, is_random)
        np.testing.assert_allclose([base[column], permuted[column]], expected, rtol=1e-10, atol=1e-12)


def _models(problem, seed):
    rules = {
        name: getattr(problem.rules, name)
        for name in ("criterion", "max_depth", "min_samples_leaf", "min_samples_split")
    }
    if problem.n_classes:
        return [
            RandomForestClassifier(N_TREES, random_state=seed, max_samples=12, **rules),
            RandomForestClassifier(N_TREES, random_state=seed, **rules),
            RandomForestClassifier(3, bootstrap=False, random_state=seed, **rules),
            BaggingClassifier(DecisionTreeClassifier(**rules), N_TREES, random_state=seed),
        ]
    return [
        RandomForestRegressor(N_TREES, random_state=seed, **rules),
        BaggingRegressor(DecisionTreeRegressor(**rules), N_TREES, max_samples=20, random_state=seed),
        BaggingRegressor(
            DecisionTreeRegressor(**rules), 65, bootstrap=False, max_samples=9, random_state=seed
        ),
    ]


@settings(derandomize=True, deadline=None, max_examples=60)
@given(problems(max_columns=2, exact=True), st.integers(0, 1000), st.data())
def test_risks_equal_scikit_learns_forests(problem, seed, data):
    splits = problem.splits
    model = data.draw(st.sampled_from(_models(problem, seed)))
    if isinstance(model.max_samples, int):
        model.set_params(max_samples=min(model.max_samples, *(train.size for train in splits.train)))
    counts = [drawn_counts(model, train.size) for train in splits.train]
    prepared = prepare_forest(*problem.arguments, counts)
    base, permuted = prepared_forest_risks(problem.columns, prepared)
    for column in range(problem.X.shape[1]):
        alone = problem.X[:, [column]]
        for split, (train, test) in enumerate(zip(splits.train, splits.test, strict=True)):
            fitted = model.fit(alone[train], problem.y[train])
            for found, values in (
                (base, alone[test]),
                (permuted, alone[test[splits.permutations[split]]]),
            ):
                expected = sklearn_risk(problem, fitted, values, problem.y[test])
                if problem.rules.loss == "zero-one":
                    # Equal votes are decided by the last bit of a sum of fractions, whose order is another one.
                    np.testing.assert_allclose(found[column, split], expected, atol=2 / test.size)
                else:
                    np.testing.assert_allclose(found[column, split], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(5, random_state=3), BaggingClassifier(n_estimators=5)]
)
def test_counts_are_those_of_the_fitted_forest(model):
    model.set_params(random_state=3, max_samples=17)
    y = np.arange(30) % 2
    samples = model.fit(np.zeros((30, 1)), y).estimators_samples_
    expected = [np.bincount(rows, minlength=30) for rows in samples]
    np.testing.assert_array_equal(drawn_counts(model, 30), expected)


def test_seeds_do_not_touch_a_generator_that_the_caller_shares():
    generator = np.random.RandomState(0)
    forest = RandomForestClassifier(4, random_state=generator)
    first = tree_seeds(forest)
    np.testing.assert_array_equal(tree_seeds(forest), first)
    assert generator.randint(1000) == np.random.RandomState(0).randint(1000)


@pytest.mark.parametrize(
    "build", [SortedColumns.from_dense, SortedColumns.from_sparse], ids=["dense", "sparse"]
)
@pytest.mark.parametrize("max_depth", [None, 2])
@pytest.mark.parametrize("is_random", [False, True])
@pytest.mark.parametrize(("n_classes", "loss"), [(3, "log-loss"), (2, "brier"), (0, "absolute")])
def test_rows_equal_the_slow_twin_alone_and_beside_others(build, max_depth, is_random, n_classes, loss):
    rng = np.random.default_rng(5)
    X = np.column_stack([kind(rng, 20) for kind in COLUMN_KINDS])
    y = rng.integers(0, n_classes, 20) if n_classes else rng.integers(-8, 9, 20) / 8
    splits = draw_folds(rng, 20, 3)
    rules = TreeRules("gini" if n_classes else "squared_error", max_depth=max_depth, loss=loss)
    counts, keys = _draw_counts(rng, splits), _keys(3)
    orders = [np.array([rng.permutation(test.size) for _ in range(4)]) for test in splits.test]
    prepared = prepare_forest(y, n_classes, splits, rules, counts, keys if is_random else None)
    drawn = make_draws(splits, orders)
    found = prepared_forest_row_losses(build(X), prepared, drawn)
    for column in range(X.shape[1]):
        alone = X[:, [column]]
        for split, test in enumerate(splits.test):
            trees = twin.grow_tree_per_split(
                alone, y, n_classes, splits.train[split], rules, counts[split], keys[split], 1, is_random
            )
            means = twin.predictions(trees, alone[test])
            expected = twin.losses(means, y[test], loss)
            np.testing.assert_allclose(found[0][column, test], expected, rtol=1e-10, atol=1e-12)
            copies = [
                twin.losses([means[place] for place in order], y[test], loss) for order in orders[split]
            ]
            np.testing.assert_allclose(
                found[1][column, test], np.mean(copies, axis=0), rtol=1e-10, atol=1e-12
            )
    alone = prepared_forest_row_losses(build(X[:, [2]]), prepared, drawn)
    for mine, theirs in zip(alone, found, strict=True):
        np.testing.assert_array_equal(mine[0], theirs[2])


def test_other_permutations_of_the_same_test_parts():
    rng = np.random.default_rng(6)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    splits = draw_splits(rng, 40, 2)
    other = type(splits)(splits.train, splits.test, tuple(rng.permutation(test.size) for test in splits.test))
    counts = _draw_counts(rng, splits)
    columns = SortedColumns.from_dense(X)
    first = prepare_forest(y, 2, splits, TreeRules(), counts)
    expected = prepared_forest_risks(columns, prepare_forest(y, 2, other, TreeRules(), counts))
    found = prepared_forest_risks(columns, with_permutations(first, other))
    np.testing.assert_array_equal(found, expected)


def test_a_row_that_is_drawn_too_often_is_refused():
    splits = draw_splits(np.random.default_rng(0), 10, 1)
    counts = [np.full((1, splits.train[0].size), 256)]
    with pytest.raises(ValueError, match="draws a row 256 times"):
        prepare_forest(np.arange(10.0), 0, splits, TreeRules("squared_error", loss="squared"), counts)
