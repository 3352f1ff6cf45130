"""Draws from models of the caller at the edges: nothing to learn from, one class, what an error says."""

import numpy as np
import pytest
from reference.made_columns import codes, numbers
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import LogisticRegression, Ridge

from ppfs._fitting import Design
from ppfs._rows import Split
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence._predictive.conditional_draws import (
    ConditionalKnockoff,
    ConditionalValues,
    StratifiedValues,
    _filled,
    _Given,
    _nearest,
)
from ppfs.independence._predictive.draws import PermutedValues

N = 24
TRAIN, TEST = np.arange(16), np.arange(16, 24)
ORDERS = np.array([[7, 6, 5, 4, 3, 2, 1, 0], [1, 0, 3, 2, 5, 4, 7, 6]])
SPLIT = Split(TRAIN, TEST, ORDERS, 11)


def design(X, levels=None):
    levels = np.zeros(X.shape[1], dtype=np.intp) if levels is None else np.array(levels)
    names = tuple(f"x{j}" for j in range(X.shape[1]))
    return Design(X, {j: slice(j, j + 1) for j in range(X.shape[1])}, levels, levels > 0, names, names)


def test_values_are_shuffled_where_nothing_is_given():
    X = numbers(N)[:, np.newaxis]
    draws = ConditionalKnockoff(None, 8)(design(X), 0)
    assert type(draws) is PermutedValues
    assert draws.is_permutation
    np.testing.assert_array_equal(draws.values(SPLIT, 0, 2)[:, :, 0], X[TEST, 0][ORDERS])
    assert ConditionalKnockoff.is_permutation is StratifiedValues.is_permutation is False
    assert ConditionalValues.is_permutation is False


@pytest.mark.parametrize(
    ("n_levels", "n_test", "is_stratified"), [(2, 8, True), (2, 7, False), (3, 12, True), (3, 11, False)]
)
def test_strata_have_four_test_rows_on_average(n_levels, n_test, is_stratified):
    X = np.column_stack([numbers(N), np.arange(N) % n_levels])
    draws = ConditionalKnockoff(None, n_test)(design(X, [0, n_levels]), 0)
    assert type(draws) is (StratifiedValues if is_stratified else ConditionalValues)
    by_model = ConditionalKnockoff(Ridge(), n_test)(design(X, [0, n_levels]), 0)
    assert type(by_model) is ConditionalValues


def test_values_are_shuffled_among_rows_with_the_same_categories():
    X = np.column_stack([numbers(N), np.arange(N) % 2])
    drawn = ConditionalKnockoff(None, 8)(design(X, [0, 2]), 0).values(SPLIT, 0, 2)[:, :, 0]
    for draw, order in zip(drawn, ORDERS, strict=True):
        for label in (0, 1):
            rows = np.flatnonzero(X[TEST, 1] == label)
            # In the order of the permutation.
            sources = [place for place in order if X[TEST[place], 1] == label]
            assert draw[rows].tolist() == X[TEST[sources], 0].tolist()


def test_a_column_without_known_train_rows_keeps_its_values_and_trades_their_places():
    X = np.column_stack([numbers(N), numbers(N, seed=1)])
    X[TRAIN, 0] = np.nan
    drawn = ConditionalKnockoff(Ridge(), 8)(design(X), 0).values(SPLIT, 0, 2)[:, :, 0]
    np.testing.assert_allclose(drawn, X[TEST, 0][ORDERS], rtol=1e-12)


def test_a_callers_regressor_adds_the_residuals_of_other_rows():
    X = np.column_stack([numbers(N), numbers(N, seed=1)])
    X[[2, 18], 0] = np.nan
    draws = ConditionalKnockoff(Ridge(0.5), 8)(design(X), 0)
    known = TRAIN[~np.isnan(X[TRAIN, 0])]
    model = Ridge(0.5).fit(X[known, 1:], X[known, 0])
    expected = model.predict(X[TEST, 1:])
    residuals = X[TEST, 0] - expected
    np.testing.assert_allclose(
        draws.values(SPLIT, 1, 2)[0, :, 0], expected + residuals[ORDERS[1]], rtol=1e-12
    )
    # The other draw uses the same fit.
    np.testing.assert_allclose(
        draws.values(SPLIT, 0, 1)[0, :, 0], expected + residuals[ORDERS[0]], rtol=1e-12
    )


def test_a_class_that_is_alone_in_the_train_part_is_certain():
    """So the other class is the only surprise, which a draw takes from the row that had it."""
    X = np.column_stack([np.where(np.arange(N) < 16, 1.0, np.arange(N) % 2), numbers(N)])
    drawn = ConditionalKnockoff(LogisticRegression(), 8)(design(X, [2, 0]), 0).values(SPLIT, 0, 2)
    np.testing.assert_array_equal(drawn[:, :, 0], X[TEST, 0][ORDERS])


def test_categories_are_drawn_by_their_probabilities():
    X = np.column_stack([codes(N, 3), numbers(N)])
    model = LogisticRegression(solver="newton-cholesky", tol=1e-10)
    drawn = ConditionalKnockoff(model, 8)(design(X, [3, 0]), 0).values(SPLIT, 0, 2)[:, :, 0]
    shares = (
        LogisticRegression(solver="newton-cholesky", tol=1e-10)
        .fit(X[TRAIN, 1:], X[TRAIN, 0])
        .predict_proba(X[TEST, 1:])
    )
    below = np.cumsum(shares, axis=1)
    labels = X[TEST, 0].astype(int)
    start = np.where(labels > 0, below[np.arange(8), labels - 1], 0.0)
    places = start + np.random.default_rng(11).random(8) * shares[np.arange(8), labels]
    expected = [
        [int((place > below[row, :2]).sum()) for row, place in enumerate(places[order])] for order in ORDERS
    ]
    assert drawn.tolist() == expected


class Failing(DummyRegressor):
    """Fails always."""

    def fit(self, X, y):
        raise ValueError("no")


def test_an_error_says_which_model_failed_on_what():
    X = np.column_stack([numbers(N), numbers(N, seed=1), numbers(N, seed=2)])
    said = r"^conditional=Failing\(.*\) failed on 2 columns with 16 training rows: ValueError: no$"
    with pytest.raises(EstimatorFailedError, match=said):
        ConditionalKnockoff(Failing(), 8)(design(X), 0).values(SPLIT, 0, 1)


def test_scores_become_the_values_with_the_nearest_score():
    back = _nearest(np.array([10.0, 20.0, 40.0]), np.array([-1.0, 0.0, 2.0]))
    found = back(np.array([-9.0, -0.51, -0.49, 0.99, 1.01, np.nan, 9.0]))
    np.testing.assert_array_equal(found, [10.0, 10.0, 20.0, 20.0, 40.0, np.nan, 40.0])


def test_missing_values_are_filled_by_five_regressions():
    X = np.column_stack([numbers(N), numbers(N, seed=1)])
    given = _Given(design(X), np.array([1]), None)
    x = X[:, 0].copy()
    assert _filled(x, given) is x
    x[3:6] = np.nan
    expected = np.where(np.isnan(x), np.nanmean(x), x)
    for _ in range(5):
        expected = np.where(np.isnan(x), given.expected(expected[:, np.newaxis])[:, 0], x)
    np.testing.assert_array_equal(_filled(x, given), expected)
    np.testing.assert_allclose(_filled(np.full(N, np.nan), given), 0.0, atol=1e-12)
