"""Boosting on several columns: scikit-learn's own models, the slow twin's, and what removing columns does."""

import platform

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from reference.boosting import TwinBoosting

from engine.boosting_problems import BoostedProblem, boosted_problems, make_problem, row_losses
from ppfs._engine import bin_columns, grow_models

slow_data = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def with_categories(problem, columns, seed=0):
    """Replace columns by categories of unequal size on which the target depends."""
    rng = np.random.default_rng(seed)
    # Stable, because NumPy's default puts equal labels in an order that depends on the CPU.
    signal = np.argsort(np.argsort(problem.y, kind="stable")) / problem.y.size
    for column in columns:
        is_missing = np.isnan(problem.X[:, column])
        codes = (6 * (signal + rng.normal(size=signal.size) / 3)).round() % 7
        problem.X[:, column] = np.where(is_missing, np.nan, codes)
    return np.isin(np.arange(problem.X.shape[1]), columns)


def via_scikit_learn(problem, train, is_category):
    model = problem.model.set_params(categorical_features=is_category)
    model.fit(problem.X[train], problem.y[train], sample_weight=problem.weights_of(train))
    return model.predict_proba if problem.n_classes else model.predict


def via_twin(problem, train, is_category):
    categorical = tuple(np.flatnonzero(is_category).tolist()) if is_category is not None else ()
    model = TwinBoosting(
        classes=problem.n_classes, reduces=problem.reduces, categorical=categorical, **problem.parameters
    )
    return model.fit(problem.X[train], problem.y[train], weights=problem.weights_of(train)).predict


def assert_like(problem, fit, tolerance, is_category=None):
    """Compare the losses of rows as they are, and with the first column, and the first two, permuted."""
    loss = problem.losses[0]
    prepared = problem.prepared(loss, is_by_row=True)
    models = grow_models(bin_columns(problem.X, prepared, is_category), prepared)
    for columns in ([0], [0, 1]):
        expected = []
        for train, test, draws in zip(problem.train, problem.test, problem.draws, strict=True):
            predict = fit(problem, train, is_category)
            losses = [row_losses(loss, problem.y[test], predict(problem.X[test]))]
            for places in draws:
                replaced = problem.X[test]
                replaced[:, columns] = replaced[np.ix_(places, columns)]
                losses.append(row_losses(loss, problem.y[test], predict(replaced)))
            expected.append(losses)
        expected = np.concatenate(expected, axis=1)
        outcome = models.replaced(columns, drawn_values(problem, columns))
        np.testing.assert_allclose(models.base().base[0], expected[0], atol=tolerance)
        np.testing.assert_allclose(outcome.base[0], expected[0], atol=tolerance)
        np.testing.assert_allclose(outcome.replaced[0], expected[1:].mean(axis=0), atol=tolerance)
        np.testing.assert_allclose(outcome.by_draw[0], expected[1:].mean(axis=1), atol=tolerance)
        by_draw = models.replaced_by_draw(columns, drawn_values(problem, columns))
        np.testing.assert_allclose(by_draw, expected[1:], atol=tolerance)


def drawn_values(problem, columns):
    return [
        np.moveaxis(problem.X[test][draws][:, :, columns], 2, 0)
        for test, draws in zip(problem.test, problem.draws, strict=True)
    ]


@slow_data
@given(boosted_problems(max_columns=4, min_columns=2))
def test_several_columns_lose_what_scikit_learn_loses(problem):
    assert_like(problem, via_scikit_learn, 1e-6)


@pytest.mark.parametrize("reduces", ["poisson", "gamma"])
def test_counts_and_amounts_agree_with_the_slow_twin_and_with_scikit_learn(reduces):
    rules = {"max_iter": 3, "min_samples_leaf": 3, "max_leaf_nodes": 4, "l2_regularization": 0.5}
    problem = make_problem(
        20, 60, 0, n_columns=3, missing=0.15, n_folds=2, is_weighted=True, reduces=reduces, **rules
    )
    assert_like(problem, via_twin, 1e-7)
    is_category = with_categories(problem, [1])
    assert_like(problem, via_scikit_learn, 1e-6, is_category)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(("missing", "is_weighted"), [(0.0, False), (0.1, False), (0.1, True)])
def test_categories_lose_what_scikit_learn_loses(n_classes, missing, is_weighted):
    rules = {"max_iter": 6, "min_samples_leaf": 5}
    problem = make_problem(10, 300, n_classes, n_columns=4, missing=missing, is_weighted=is_weighted, **rules)
    is_category = with_categories(problem, [0, 1])
    assert_like(problem, via_scikit_learn, 1e-6, is_category)


@pytest.mark.skipif(
    platform.libc_ver()[0] != "glibc", reason="scikit-learn's order of equals is that of qsort"
)
@pytest.mark.parametrize(("n_classes", "seed"), [(2, 10), (3, 46)])
def test_categories_that_tie_stand_in_the_order_of_scikit_learn(n_classes, seed):
    """In both problems two categories of a node have the same sums, and the best cut lies between the two."""
    rules = {"max_iter": 6, "min_samples_leaf": 5}
    problem = make_problem(seed, 300, n_classes, n_columns=4, **rules)
    is_category = with_categories(problem, [0, 1], seed)
    assert_like(problem, via_scikit_learn, 1e-6, is_category)


def test_of_categories_that_tie_the_last_comes_first():
    """Categories 0 and 1 tie, and one of them must share a leaf with category 2, which is too small to stand alone."""
    codes = np.concatenate([np.repeat([0.0, 1.0, 2.0], [16, 16, 10]), [0.0, 1.0, 2.0]])
    y = np.where(np.arange(45) < 42, codes == 2.0, 0.0)
    rules = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 12, "max_leaf_nodes": 2}
    train, test = [np.arange(42)], [np.arange(42, 45)]
    problem = BoostedProblem(codes[:, np.newaxis], y, 0, train, test, [np.empty((0, 3))], rules)
    prepared = problem.prepared("squared", is_by_row=True)
    models = grow_models(bin_columns(problem.X, prepared, np.array([True])), prepared)
    predicted = np.array([0.0, 10 / 26, 10 / 26])
    np.testing.assert_allclose(models.base().base[0], predicted**2, atol=1e-12)


def test_a_category_that_the_train_part_lacks_is_a_missing_value():
    problem = make_problem(11, 200, 2, n_columns=2, missing=0.1, max_iter=4, min_samples_leaf=5)
    is_category = with_categories(problem, [0])
    problem.X[problem.test[0][:5], 0] = 9.0
    problem.train[1] = np.setdiff1d(problem.train[1], problem.test[0][:5])
    assert_like(problem, via_scikit_learn, 1e-6, is_category)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_several_columns_agree_with_the_slow_twin(n_classes, is_weighted):
    parameters = {"max_iter": 2, "min_samples_leaf": 3, "max_leaf_nodes": 4, "l2_regularization": 0.5}
    problem = make_problem(
        12, 45, n_classes, n_columns=3, missing=0.15, n_folds=2, is_weighted=is_weighted, **parameters
    )
    assert_like(problem, via_twin, 1e-7)


def test_categories_agree_with_the_slow_twin():
    parameters = {"max_iter": 2, "min_samples_leaf": 2, "max_leaf_nodes": 4}
    problem = make_problem(13, 90, 0, n_columns=2, missing=0.1, n_folds=2, **parameters)
    is_category = with_categories(problem, [0])
    assert_like(problem, via_twin, 1e-7, is_category)


@pytest.mark.parametrize(("n_classes", "is_weighted"), [(0, False), (2, False), (3, False), (2, True)])
def test_models_without_columns_are_those_of_the_other_columns(n_classes, is_weighted):
    rules = {"max_iter": 6, "max_leaf_nodes": 3}
    problem = make_problem(14, 150, n_classes, n_columns=8, missing=0.1, is_weighted=is_weighted, **rules)
    with_categories(problem, [2, 5])
    is_category = np.isin(np.arange(8), [2, 5])
    prepared = problem.prepared(problem.losses[0], is_by_row=True)
    models = grow_models(bin_columns(problem.X, prepared, is_category), prepared)
    left = list(range(8))
    for removed in ([6], [0, 2], [7]):
        models, _ = models.without(removed)
        left = [column for column in left if column not in removed]
        alone = grow_models(bin_columns(problem.X[:, left], prepared, is_category[left]), prepared)
        np.testing.assert_array_equal(models.raw, alone.raw)
        np.testing.assert_array_equal(models.used[:, left], alone.used)
        for x in left:
            ours = models.replaced([x], drawn_values(problem, [x]))
            theirs = alone.replaced([left.index(x)], drawn_values(problem, [x]))
            np.testing.assert_array_equal(ours.replaced, theirs.replaced)


def test_removing_what_no_model_uses_grows_nothing():
    problem = make_problem(15, 120, 2, n_columns=4, max_iter=3, max_leaf_nodes=2)
    problem.X[:, 3] = 1.0
    prepared = problem.prepared("brier")
    models = grow_models(bin_columns(problem.X, prepared), prepared)
    others, n_grown = models.without([3])
    assert n_grown == 0
    assert all(ours is theirs for ours, theirs in zip(others.models, models.models, strict=True))


def test_what_no_tree_meets_changes_nothing_to_the_last_bit():
    problem = make_problem(16, 120, 2, n_columns=3, max_iter=5)
    problem.X[:, 1] = 0.0
    prepared = problem.prepared("log-loss", is_by_row=True)
    models = grow_models(bin_columns(problem.X, prepared), prepared)
    outcome = models.replaced([1], [np.full((1, 4, test.size), 7.0) for test in problem.test])
    np.testing.assert_array_equal(outcome.replaced, models.base().base)
    np.testing.assert_allclose(outcome.by_draw, models.base().base.mean(), rtol=1e-12)


@pytest.mark.parametrize("is_by_row", [False, True])
def test_draws_at_once_are_draws_one_by_one_to_the_last_bit(is_by_row):
    problem = make_problem(19, 200, 3, n_columns=4, missing=0.1, max_iter=10)
    prepared = problem.prepared("brier", is_by_row=is_by_row)
    models = grow_models(bin_columns(problem.X, prepared), prepared)
    values = drawn_values(problem, [0, 2])
    n_draws = values[0].shape[1]
    assert n_draws > 1
    one_by_one = [
        models.replaced([0, 2], [some[:, draw : draw + 1] for some in values]).replaced[0]
        for draw in range(n_draws)
    ]
    np.testing.assert_array_equal(models.replaced_by_draw([0, 2], values), one_by_one)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_threads_change_nothing(is_weighted):
    problem = make_problem(17, 200, 3, n_columns=6, missing=0.1, is_weighted=is_weighted, max_iter=10)
    prepared = problem.prepared("brier", is_by_row=True)
    answers = []
    for n_threads in (1, 2):
        models = grow_models(bin_columns(problem.X, prepared, n_threads=n_threads), prepared, n_threads)
        answers.append(
            [models.raw, models.without([1])[0].replaced([0], drawn_values(problem, [0])).replaced]
        )
    for one, two in zip(*answers, strict=True):
        np.testing.assert_array_equal(one, two)


def test_one_column_agrees_with_the_kernel_of_single_columns():
    from ppfs._engine import boosted_column_losses

    problem = make_problem(18, 300, 2, n_columns=3, missing=0.1, max_iter=20)
    prepared = problem.prepared("log-loss", is_by_row=True)
    single = boosted_column_losses(problem.X, prepared)
    for column in range(3):
        models = grow_models(bin_columns(problem.X[:, [column]], prepared), prepared)
        outcome = models.replaced([0], drawn_values(problem, [column]))
        np.testing.assert_allclose(outcome.base[0], single.base[column], atol=1e-9)
        np.testing.assert_allclose(outcome.replaced[0], single.replaced[column], atol=1e-9)


def test_a_column_is_used_where_the_trees_of_one_class_cut_it():
    """What removing it says too: some models must be grown again."""
    problem = make_problem(15, 80, 3, n_columns=4, max_iter=1, max_leaf_nodes=2)
    prepared = problem.prepared("brier")
    models = grow_models(bin_columns(problem.X, prepared), prepared)
    n_grown = [models.without([column])[1] for column in range(4)]
    assert models.used.sum(axis=0).tolist() == n_grown
    assert 0 < models.used.sum()
    assert any(
        0 < model.uses[:, column].sum() < len(model.uses) for model in models.models for column in range(4)
    )


def test_categories_part_where_both_sides_just_reach_the_least_sum_of_hessians():
    """The hessian of squared errors is 1 per row, so that their sums are integers."""
    codes = np.arange(36) % 2
    train, test = [np.arange(32)], [np.arange(32, 36)]
    losses = []
    for least in (16.0, 16.5):
        rules = {"max_iter": 1, "learning_rate": 1.0, "min_samples_leaf": 1, "min_hessian": least}
        problem = BoostedProblem(
            codes[:, np.newaxis] * 1.0, codes * 1.0, 0, train, test, [np.empty((0, 4))], rules
        )
        prepared = problem.prepared("squared", is_by_row=True)
        models = grow_models(bin_columns(problem.X, prepared, np.array([True])), prepared)
        losses.append(models.base().base[0])
    np.testing.assert_allclose(losses, [[0.0] * 4, [0.25] * 4], atol=1e-12)
