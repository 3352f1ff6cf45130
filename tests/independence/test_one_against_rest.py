"""Regressions of every column on all others at once are those that scikit-learn fits one by one."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from ppfs._data.reading import read_table
from ppfs._rows import draw_splits
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.knockoffs import draws
from ppfs.independence._predictive.knockoffs.conditional import ConditionalLaw, SharedColumn
from ppfs.independence._predictive.knockoffs.normal_scores import NormalScores
from ppfs.independence._predictive.knockoffs.one_against_rest import OneAgainstRest
from ppfs.independence._predictive.knockoffs.smooth_models import PENALTIES, curves_of, fit_smooth_regression


def correlated(rng, n_rows, n_columns):
    return rng.normal(size=(n_rows, 1)) + rng.normal(size=(n_rows, n_columns)) * rng.gamma(
        1.0, size=n_columns
    )


@pytest.mark.parametrize(("n_rows", "n_columns"), [(60, 20), (40, 40), (30, 70)])
def test_every_column_is_expected_as_ridge_with_cross_validation_does(n_rows, n_columns):
    X = correlated(np.random.default_rng(0), n_rows, n_columns) * 7.0 + 3.0
    expected = OneAgainstRest(X).expected
    for column in range(0, n_columns, 7):
        others = StandardScaler().fit_transform(np.delete(X, column, axis=1))
        slow = RidgeCV(PENALTIES).fit(others, X[:, column]).predict(others)
        np.testing.assert_allclose(expected[:, column], slow, rtol=1e-6, atol=1e-6 * X.std())


def test_a_constant_column_is_expected_to_be_constant():
    X = correlated(np.random.default_rng(0), 30, 10)
    X[:, 4] = 2.0
    np.testing.assert_allclose(OneAgainstRest(X).expected[:, 4], 2.0)


def test_on_normal_scores_columns_of_few_values_stay():
    rng = np.random.default_rng(0)
    X = np.exp(correlated(rng, 50, 5))
    X[:, 2] = rng.integers(0, 3, size=50)
    scored = OneAgainstRest(X).on_normal_scores.X
    np.testing.assert_array_equal(scored[:, 2], X[:, 2])
    np.testing.assert_array_equal(scored[:, 0], NormalScores.of(X[:, 0]).of_values(X[:, 0]))


def test_wide_questions_are_answered_as_one_by_one(monkeypatch):
    rng = np.random.default_rng(1)
    X = correlated(rng, 90, 25)
    X[:, 3] = np.exp(X[:, 3])
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    table = read_table(X, y, task="classification", owner=CrossFitPPI())
    members = tuple(range(25))

    def answers():
        bound = CrossFitPPI(HistGradientBoostingClassifier(max_iter=10)).bind(table, random_state=0)
        return [result.pvalue for result in bound.answers([0, 1, 3, 7], table.target, members)]

    together = answers()
    monkeypatch.setattr(draws, "ROWS_PER_COEFFICIENT", 0)
    monkeypatch.setattr(draws, "_MANY_COLUMNS", 100)
    np.testing.assert_allclose(together, answers(), rtol=1e-6)


def test_several_columns_are_expected_from_those_outside_alone():
    X = correlated(np.random.default_rng(2), 50, 20)
    group = np.array([2, 5, 9])
    expected = OneAgainstRest(X).expected_of(group)
    others = StandardScaler().fit_transform(np.delete(X, group, axis=1))
    target = StandardScaler().fit_transform(X[:, group])
    fitted = RidgeCV(PENALTIES).fit(others, target).predict(others)
    slow = fitted * X[:, group].std(axis=0) + X[:, group].mean(axis=0)
    np.testing.assert_allclose(expected, slow, rtol=1e-6, atol=1e-6)


def test_what_others_explain_is_measured_on_left_out_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 50))
    X[:, 0] = X[:, 1] + 0.1 * rng.normal(size=60)
    explained = OneAgainstRest(X).explained
    assert explained[0] > 0.9
    assert explained[5:].max() < 0.2


def test_columns_of_few_values_are_drawn_among_their_values():
    rng = np.random.default_rng(4)
    X = correlated(rng, 200, 60)
    X[:, 0] = rng.integers(0, 4, size=200) + (X[:, 1] > 0)
    law = ConditionalLaw(
        X[:, 0],
        True,
        np.delete(X, 0, axis=1),
        np.zeros(59, dtype=int),
        shared=SharedColumn(OneAgainstRest(X), 0),
    )
    split = draw_splits(200, None, n_splits=1, test_size=0.5, entropy=0, fold=0, n_draws=20)[0]
    drawn = law.draws(split, 0, 20)
    assert set(np.unique(drawn)) <= set(np.unique(X[:, 0]))
    # Each value about as often as in the column: 20 draws of 100 rows each.
    for value in np.unique(X[:, 0]):
        assert abs((drawn == value).mean() - (X[split.test, 0] == value).mean()) < 0.12


def curved(n_rows, n_columns):
    """Columns that depend on the first by a line, a square or not at all; the second has five values."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 1] = rng.integers(0, 5, size=n_rows)
    X[:, 2] = X[:, 0] ** 2 + 0.2 * X[:, 2]
    X[:, 3] += X[:, 0] + (X[:, 1] == 2)
    return X


def test_with_rows_enough_columns_are_expected_by_lines_or_curves_as_one_by_one():
    X = curved(900, 6)
    rest = OneAgainstRest(X)
    for column in range(6):
        others = np.delete(X, column, axis=1)
        # The curves of all six columns have as many knots as those of five.
        slow = fit_smooth_regression(others, np.zeros(5, dtype=int), X[:, column])(others)
        np.testing.assert_allclose(rest.expected[:, column], slow, rtol=1e-5, atol=1e-5)
    assert np.corrcoef(rest.expected[:, 2], X[:, 0] ** 2)[0, 1] > 0.99


def test_several_columns_are_expected_by_curves_of_those_outside():
    X = curved(900, 6)
    expected = OneAgainstRest(X).expected_of(np.array([2, 3]))
    assert np.corrcoef(expected[:, 0], X[:, 0] ** 2)[0, 1] > 0.99
    assert np.corrcoef(expected[:, 1], X[:, 0] + (X[:, 1] == 2))[0, 1] > 0.99


def test_draws_given_many_columns_are_those_of_single_regressions(monkeypatch):
    X = curved(800, 21)
    y = (X[:, 0] * X[:, 3] > 0).astype(int)
    table = read_table(X, y, task="classification", owner=CrossFitPPI())

    def answers():
        bound = CrossFitPPI(HistGradientBoostingClassifier(max_iter=10)).bind(table, random_state=0)
        return [result.pvalue for result in bound.answers([0, 2, 3, 7], table.target, tuple(range(21)))]

    together = answers()
    monkeypatch.setattr(draws, "_MANY_COLUMNS", 100)
    np.testing.assert_allclose(together, answers(), rtol=1e-4)


def test_given_many_columns_curves_have_fewer_knots():
    X = np.random.default_rng(7).normal(size=(4000, 80))
    widths = [part.shape[1] for part in curves_of(X)]
    assert 80 * 4 < sum(widths) < 500
    assert curves_of(X[:900]) is None
