"""Boosting on single columns: scikit-learn's own models, and the slow twin's."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from reference.boosting import TwinBoosting

from engine.boosting_problems import boosted_problems, make_problem, row_losses
from ppfs._conventions.sklearn_compat import method_of_bins
from ppfs._engine import boosted_column_losses

slow_data = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def via_scikit_learn(problem, train, column):
    model = problem.model
    model.fit(problem.X[train][:, [column]], problem.y[train], sample_weight=problem.weights_of(train))
    predict = model.predict_proba if problem.n_classes else model.predict
    return lambda rows: predict(problem.X[rows][:, [column]])


def via_twin(problem, train, column):
    model = TwinBoosting(
        problem.n_classes, reduces=problem.reduces, quantiles=method_of_bins(), **problem.parameters
    )
    model.fit(problem.X[train][:, [column]], problem.y[train], weights=problem.weights_of(train))
    return lambda rows: model.predict(problem.X[rows][:, [column]])


def predictions(problem, fit):
    """Return what a model of each column predicts of each test part; all losses have the same models."""
    return [
        [fit(problem, train, column)(test) for train, test in zip(problem.train, problem.test, strict=True)]
        for column in range(problem.X.shape[1])
    ]


def expected_losses(problem, loss, predicted_by_column):
    """Return losses row by row of each column, as it is and under each draw, in the order of the test parts."""
    by_column = []
    for of_column in predicted_by_column:
        parts = []
        for test, draws, predicted in zip(problem.test, problem.draws, of_column, strict=True):
            truth = problem.y[test]
            parts.append([row_losses(loss, truth, predicted[places]) for places in (slice(None), *draws)])
        by_column.append(np.concatenate(parts, axis=1))
    return np.array(by_column)


def assert_like(problem, fit, tolerance):
    predicted = predictions(problem, fit)
    for loss in problem.losses:
        expected = expected_losses(problem, loss, predicted)
        by_row = boosted_column_losses(problem.X, problem.prepared(loss, is_by_row=True))
        np.testing.assert_allclose(by_row.base, expected[:, 0], atol=tolerance)
        np.testing.assert_allclose(by_row.replaced, expected[:, 1:].mean(axis=1), atol=tolerance)
        np.testing.assert_allclose(by_row.by_draw, expected[:, 1:].mean(axis=2), atol=tolerance)
        by_split = boosted_column_losses(problem.X, problem.prepared(loss))
        ends = np.cumsum([test.size for test in problem.test])[:-1]
        means = [part.mean(axis=2) for part in np.split(expected, ends, axis=2)]
        np.testing.assert_allclose(by_split.base, np.transpose([m[:, 0] for m in means]), atol=tolerance)
        replaced = np.transpose([mean[:, 1:].mean(axis=1) for mean in means])
        np.testing.assert_allclose(by_split.replaced, replaced, atol=tolerance)


@slow_data
@given(boosted_problems())
def test_single_columns_lose_what_scikit_learn_loses(problem):
    assert_like(problem, via_scikit_learn, 1e-6)


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize(("missing", "is_weighted"), [(0.0, False), (0.2, False), (0.2, True)])
def test_single_columns_agree_with_the_slow_twin(n_classes, missing, is_weighted):
    problem = make_problem(
        1,
        40,
        n_classes,
        missing=missing,
        n_folds=2,
        is_weighted=is_weighted,
        max_iter=3,
        min_samples_leaf=3,
        max_leaf_nodes=4,
        l2_regularization=0.5,
    )
    assert_like(problem, via_twin, 1e-7)


@pytest.mark.parametrize("reduces", ["poisson", "gamma"])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_counts_and_amounts_agree_with_the_slow_twin(reduces, is_weighted):
    rules = {"max_iter": 3, "min_samples_leaf": 3, "max_leaf_nodes": 4, "l2_regularization": 0.5}
    problem = make_problem(
        8, 40, 0, missing=0.2, n_folds=2, is_weighted=is_weighted, reduces=reduces, **rules
    )
    assert_like(problem, via_twin, 1e-7)


@pytest.mark.parametrize("reduces", ["poisson", "gamma"])
def test_many_rounds_of_counts_and_amounts_lose_what_scikit_learn_loses(reduces):
    """Powers of e are updated from round to round on single columns."""
    problem = make_problem(9, 300, 0, missing=0.1, reduces=reduces, max_iter=80, learning_rate=0.3)
    assert_like(problem, via_scikit_learn, 1e-6)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_more_values_than_bins_agree_with_the_slow_twin(is_weighted):
    rules = {"max_iter": 2, "min_samples_leaf": 2, "max_bins": 7, "max_depth": 2}
    problem = make_problem(2, 60, 0, missing=0.1, is_weighted=is_weighted, **rules)
    assert_like(problem, via_twin, 1e-7)


def test_bins_of_equal_weights_lie_where_the_slow_twin_has_them():
    """An edge falls exactly between two values: the ranks of quantiles are reached by whole rows."""
    problem = make_problem(5, 48, 2, n_folds=2, max_iter=2, min_samples_leaf=1, max_bins=6)
    halves = replace(problem, weights=np.random.default_rng(0).choice([0.5, 1.0], size=48))
    assert_like(halves, via_twin, 1e-7)


def test_heavily_repeated_values_leave_empty_bins():
    """Quantiles of such a column make bins that no train row falls into, and test rows do."""
    problem = make_problem(3, 300, 2, n_columns=1, max_iter=5, min_samples_leaf=1, max_bins=8)
    rng = np.random.default_rng(0)
    problem.X[:, 0] = np.where(rng.random(300) < 0.7, 2.0, rng.normal(size=300))
    problem.X[rng.random(300) < 0.1, 0] = np.nan
    assert_like(problem, via_scikit_learn, 1e-6)


def test_huge_steps_neither_overflow_nor_differ():
    """A leaf of tiny hessians makes a raw prediction of hundreds, whose power no float holds."""
    problem = make_problem(4, 120, 2, n_columns=1, max_iter=30, min_samples_leaf=1, learning_rate=30.0)
    assert_like(problem, via_scikit_learn, 1e-6)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_class_missing_from_a_train_part_has_probability_zero(n_classes):
    problem = make_problem(5, 80, n_classes, n_columns=1, max_iter=3, min_samples_leaf=5)
    problem.train[0] = problem.train[0][problem.y[problem.train[0]] != 0]
    losses = boosted_column_losses(problem.X, problem.prepared("brier", is_by_row=True))
    is_lost = problem.y[problem.test[0]] == 0
    # The likeliest other class has a positive share, so a row of the lost class loses more than 1.
    assert (losses.base[0, : problem.test[0].size][is_lost] > 1.0).all()
    if n_classes == 2:
        assert set(losses.base[0, : problem.test[0].size].tolist()) == {0.0, 2.0}


def test_weights_multiply_the_losses_of_rows():
    problem = make_problem(6, 60, 2, max_iter=3, min_samples_leaf=5)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=60)
    plain = boosted_column_losses(problem.X, problem.prepared("brier", is_by_row=True))
    weighted = boosted_column_losses(problem.X, problem.prepared("brier", is_by_row=True, weights=weights))
    tested = np.concatenate(problem.test)
    np.testing.assert_allclose(weighted.base, plain.base * weights[tested])
    means = boosted_column_losses(problem.X, problem.prepared("brier", weights=weights))
    first = problem.test[0]
    expected = (plain.base[:, : first.size] * weights[first]).sum(axis=1) / weights[first].sum()
    np.testing.assert_allclose(means.base[:, 0], expected)


def test_the_columns_beside_it_do_not_change_a_column(monkeypatch):
    problem = make_problem(7, 120, 2, n_columns=40, missing=0.1, max_iter=60)
    prepared = problem.prepared("log-loss", is_by_row=True)
    alone = [boosted_column_losses(problem.X[:, [column]], prepared) for column in range(40)]
    for n_steps in (1, 300_000, 10**9):
        monkeypatch.setattr("ppfs._engine.boosting.column_models._STEPS_AT_ONCE", n_steps)
        together = boosted_column_losses(problem.X, prepared)
        for part in ("base", "replaced", "by_draw"):
            np.testing.assert_array_equal(
                getattr(together, part), np.concatenate([getattr(one, part) for one in alone])
            )


def test_lines_are_what_the_first_round_starts_from():
    """Boosting the residuals of a line is boosting from that line."""
    problem = make_problem(8, 90, 0, n_columns=1, missing=0.1, max_iter=4, min_samples_leaf=5)
    line = np.array([0.3, -0.7, 0.1])
    start = line[0] + line[1] * np.where(np.isnan(problem.X), line[2], problem.X)
    expected = []
    for train, test in zip(problem.train, problem.test, strict=True):
        model = TwinBoosting(**problem.parameters).fit(problem.X[train], problem.y[train], start[train])
        predicted = model.raw(problem.X[test], start[test])[:, 0]
        expected.append((problem.y[test] - predicted) ** 2)
    lines = np.tile(line, (1, 3, 1, 1))
    losses = boosted_column_losses(problem.X, problem.prepared("squared", is_by_row=True), lines)
    np.testing.assert_allclose(losses.base[0], np.concatenate(expected), atol=1e-6)


def test_a_constant_prediction_loses_the_same_under_every_draw():
    """Too few rows for a cut: not even the last bit may differ."""
    problem = make_problem(9, 50, 2, n_draws=5, max_iter=4, min_samples_leaf=40)
    for is_by_row in (True, False):
        losses = boosted_column_losses(problem.X, problem.prepared("log-loss", is_by_row=is_by_row))
        np.testing.assert_array_equal(losses.base, losses.replaced)
