"""Draws of a column given others have the right law."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from ppfs._data.table import Table
from ppfs._fitting.design import Design
from ppfs._rows.splits import draw_folds
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.conditional_draws import (
    ConditionalKnockoff,
    ConditionalValues,
    StratifiedValues,
    _Number,
    unevenness_of,
)
from ppfs.independence._predictive.draws import PermutedValues

N_ROWS, N_DRAWS = 2000, 4


@pytest.fixture
def splits():
    return draw_folds(N_ROWS, None, n_folds=2, entropy=0, fold=0, n_draws=N_DRAWS)


def draws_given(x, Z, *, categories=(), model=None):
    """The draws of a feature x, of one or several columns, given the columns of Z; x comes last."""
    own = np.reshape(x, (len(x), -1))
    X = np.column_stack([Z, own])
    n_given = X.shape[1] - own.shape[1]
    n_levels = np.zeros(X.shape[1], dtype=np.intp)
    n_levels[list(categories)] = [int(X[:, column].max()) + 1 for column in categories]
    columns = (*((column,) for column in range(n_given)), tuple(range(n_given, X.shape[1])))
    names = [f"z{number}" for number in range(n_given)] + ["x"]
    table = Table.of(X, np.zeros(len(X)), names, "regression", columns=columns, n_levels=n_levels)
    return ConditionalValues(Design.of(table, range(n_given + 1)), n_given, model)


def all_draws(draws, splits):
    """Every row's first draw."""
    drawn = np.empty(N_ROWS)
    for split in splits:
        drawn[split.test] = draws.values(split, 0, N_DRAWS)[0, :, 0]
    return drawn


@pytest.mark.parametrize("shape", ["line", "curve"])
def test_a_quantity_keeps_its_link_and_its_spread(splits, shape):
    rng = np.random.default_rng(0)
    z = rng.normal(size=N_ROWS)
    expected = z if shape == "line" else np.sin(2 * z)
    x = expected + 0.5 * rng.normal(size=N_ROWS)
    drawn = all_draws(draws_given(x, z), splits)
    noise, new_noise = x - expected, drawn - expected
    assert new_noise.std() == pytest.approx(0.5, rel=0.05)
    # Given z, the draw knows nothing of x: 4 standard errors.
    assert abs(np.corrcoef(noise, new_noise)[0, 1]) < 4 / np.sqrt(N_ROWS)
    assert abs(np.corrcoef(z, new_noise)[0, 1]) < 4 / np.sqrt(N_ROWS)


def test_draws_of_a_skewed_quantity_spread_more_where_it_is_large(splits):
    rng = np.random.default_rng(6)
    z = rng.normal(size=N_ROWS)
    x = np.exp(0.5 * z + 0.8 * rng.normal(size=N_ROWS))
    drawn = all_draws(draws_given(x, np.exp(z)), splits)
    for part in (z < -0.7, z > 0.7):
        own, new = (np.log(values[part]).std() for values in (x, drawn))
        assert new == pytest.approx(own, rel=0.12)
    assert drawn.min() > 0


def test_a_sum_of_skewed_quantities_is_drawn_as_it_is(splits):
    """On any other scale a sum is no sum, and much would be left that the parts do not explain."""
    rng = np.random.default_rng(7)
    Z = np.exp(1.5 * rng.normal(size=(N_ROWS, 3)))
    x = Z.sum(axis=1) + 0.1 * rng.normal(size=N_ROWS)
    drawn = all_draws(draws_given(x, Z), splits)
    assert (drawn - Z.sum(axis=1)).std() == pytest.approx(0.1, rel=0.1)


def test_where_values_are_equal_draws_are_values_that_occur(splits):
    rng = np.random.default_rng(8)
    z = rng.normal(size=N_ROWS)
    x = rng.poisson(np.exp(1 + 0.5 * z)).astype(float)
    drawn = all_draws(draws_given(x, z), splits)
    assert set(drawn) <= set(x)
    assert np.corrcoef(drawn, np.exp(0.5 * z))[0, 1] == pytest.approx(
        np.corrcoef(x, np.exp(0.5 * z))[0, 1], abs=0.07
    )


def test_categories_are_drawn_with_their_probabilities(splits):
    rng = np.random.default_rng(2)
    z = rng.integers(0, 2, size=N_ROWS).astype(float)
    x = np.where(rng.random(N_ROWS) < np.where(z == 1, 0.8, 0.1), 7.0, 3.0)
    drawn = all_draws(draws_given(x, z), splits)
    assert set(drawn) == {3.0, 7.0}
    assert (drawn[z == 1] == 7).mean() == pytest.approx(0.8, abs=0.05)
    assert (drawn[z == 0] == 7).mean() == pytest.approx(0.1, abs=0.05)


def test_gaps_stay_gaps(splits):
    rng = np.random.default_rng(4)
    z = rng.normal(size=N_ROWS)
    x = z + rng.normal(size=N_ROWS)
    x[:300] = np.nan
    z[250:400] = np.nan
    drawn = all_draws(draws_given(x, z), splits)
    assert np.isnan(drawn).sum() == 300
    known = ~(np.isnan(z) | np.isnan(drawn))
    # Where x is missing, it is filled by its regression: the slope of the draws stays 1.
    assert np.polyfit(z[known], drawn[known], 1)[0] == pytest.approx(1.0, abs=0.1)


def test_a_callers_model_is_fitted_without_the_test_part():
    splits = draw_folds(200, None, n_folds=2, entropy=0, fold=0, n_draws=1)
    rng = np.random.default_rng(5)
    z = rng.normal(size=200)
    x = z + rng.normal(size=200)
    # A full tree knows its own rows by heart: fitted on all of them, the residuals would be zero.
    law = draws_given(x, z, model=DecisionTreeRegressor())
    for split in splits:
        drawn = law.values(split, 0, 1)[0, :, 0]
        assert np.abs(drawn - x[split.test]).mean() > 0.5


class RememberingRegressor(RegressorMixin, BaseEstimator):
    """Expects 0, and keeps what it was fitted on where copies of it can be asked."""

    seen = []

    def fit(self, X, y):
        self.seen.append((X[:, 0].tolist(), y.tolist()))
        self.fitted_ = True
        return self

    def predict(self, X):
        return np.zeros(len(X))


class RememberingClassifier(ClassifierMixin, RememberingRegressor):
    seen = []

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return super().fit(X, y)

    def predict_proba(self, X):
        return np.full((len(X), self.classes_.size), 1 / self.classes_.size)


@pytest.mark.parametrize("model", [RememberingRegressor(), RememberingClassifier()])
def test_a_callers_model_is_fitted_on_the_train_part_of_each_split_and_nothing_else(model):
    model.seen.clear()
    splits = draw_folds(30, None, n_folds=3, entropy=0, fold=0, n_draws=1)
    numbers = np.arange(30.0)
    is_classifier = isinstance(model, RememberingClassifier)
    x = numbers % 3 if is_classifier else numbers / 7
    draws = draws_given(x, numbers, model=model)
    for split in splits:
        draws.values(split, 0, 1)
        draws.values(split, 0, 1)
    assert [seen[0] for seen in model.seen] == [split.train.tolist() for split in splits]
    assert [seen[1] for seen in model.seen] == [x[split.train].tolist() for split in splits]


@pytest.mark.parametrize("make", [CrossFitPPI, PPI])
@pytest.mark.parametrize("model", [RememberingRegressor(), RememberingClassifier()])
def test_a_callers_model_serves_its_own_kind_only(make, model):
    rng = np.random.default_rng(6)
    X = rng.normal(size=(60, 3))
    X[:, 1] = rng.integers(0, 3, size=60)
    y = X[:, 0] + rng.normal(size=60)
    parameters = {"knockoff": "conditional", "random_state": 0}
    # Without a caller's model of the columns, CrossFitPPI makes no draws, but for randomization.
    if make is CrossFitPPI:
        parameters |= {"significance": "randomisation", "n_draws": 99}
    without = make(Ridge(), **parameters)
    with_model = make(Ridge(), conditional=model, **parameters)
    # The regressor draws the numeric column, the classifier the column of integers.
    own, foreign = (1, 0) if isinstance(model, RememberingClassifier) else (0, 1)
    model.seen.clear()
    assert with_model.evaluate(X, y, foreign, [2]) == without.evaluate(X, y, foreign, [2])
    assert not model.seen
    assert with_model.evaluate(X, y, own, [2]) != without.evaluate(X, y, own, [2])
    assert model.seen


def test_given_nothing_a_feature_is_shuffled():
    design = Design.of(Table.of(np.arange(10.0)[:, None], np.zeros(10), ["x"], "regression"), (0,))
    assert isinstance(ConditionalKnockoff(None, n_test=5)(design, 0), PermutedValues)


def test_given_few_values_a_feature_is_shuffled_among_the_rows_that_share_them():
    rng = np.random.default_rng(7)
    z = rng.integers(0, 3, size=60).astype(float)
    x = rng.normal(size=60)
    design = Design.of(Table.of(np.column_stack([x, z]), np.zeros(60), ["x", "z"], "regression"), (0, 1))
    splits = draw_folds(60, None, n_folds=2, entropy=0, fold=0, n_draws=3)
    draws = ConditionalKnockoff(None, n_test=30)(design, 0)
    assert isinstance(draws, StratifiedValues)
    for split in splits:
        values = draws.values(split, 0, 3)[:, :, 0]
        for stratum in range(3):
            inside = z[split.test] == stratum
            for drawn in values:
                assert sorted(drawn[inside]) == sorted(x[split.test][inside])
        assert (values != x[split.test]).mean() > 0.5
        np.testing.assert_array_equal(draws.values(split, 1, 3)[:, :, 0], values[1:])
    # With too few rows a stratum most would keep their value: a model is used.
    assert isinstance(ConditionalKnockoff(None, n_test=11)(design, 0), ConditionalValues)


def test_rows_share_a_stratum_only_if_they_agree_in_every_column():
    rng = np.random.default_rng(8)
    first, second = rng.integers(0, 2, size=(2, 80)).astype(float)
    x = rng.normal(size=80)
    table = Table.of(np.column_stack([first, x, second]), np.zeros(80), ["a", "x", "b"], "regression")
    design = Design.of(table, (0, 1, 2))
    draws = ConditionalKnockoff(None, n_test=40)(design, 1)
    assert isinstance(draws, StratifiedValues)
    for split in draw_folds(80, None, n_folds=2, entropy=0, fold=0, n_draws=2):
        for drawn in draws.values(split, 0, 2)[:, :, 0]:
            for a in (0, 1):
                for b in (0, 1):
                    inside = (first[split.test] == a) & (second[split.test] == b)
                    assert sorted(drawn[inside]) == sorted(x[split.test][inside])


class BadModel(Ridge):
    def fit(self, X, y):
        raise RuntimeError("no luck")


@pytest.mark.parametrize(
    ("model", "error", "message"),
    [
        (LinearSVC(), InvalidInputError, "LinearSVC has no predict_proba"),
        (KMeans(2), InvalidInputError, "KMeans is neither a regressor nor a classifier"),
        (Ridge, InvalidInputError, r"Ridge is a class.*Ridge\(\)"),
        (BadModel(), EstimatorFailedError, r"conditional=BadModel\(\) failed on 1 columns.*no luck"),
    ],
)
def test_a_conditional_model_that_cannot_draw_is_refused(model, error, message):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(error, match=message):
        CrossFitPPI(conditional=model, random_state=0).evaluate(X, X[:, 0], 0, given=[1])


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_a_conditional_model_beside_shuffled_columns_is_refused(make):
    X = np.random.default_rng(0).normal(size=(40, 2))
    with pytest.raises(
        InvalidInputError, match=r"conditional=Ridge would not be used.*knockoff='conditional'"
    ):
        make(conditional=Ridge(), knockoff="permutation").evaluate(X, X[:, 0], 0, given=[1])


def test_a_table_of_32_bits_is_answered_as_one_of_64():
    """Products of curves need more bits, and what is far from 1 is not a number of 32 bits at all."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 3)).astype(np.float32)
    X[:, 1] += X[:, 0] ** 2
    y = X[:, 0] + generator.normal(size=120)
    test = CrossFitPPI(LinearRegression(), random_state=0)
    narrow, wide = (test.evaluate(values, y, 1, given=[0, 2]) for values in (X, X.astype(np.float64)))
    assert narrow.pvalue == pytest.approx(wide.pvalue, rel=1e-3)


def test_gaps_that_a_callers_model_cannot_take_are_refused_with_a_way_out():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[0, 1] = np.nan
    test = CrossFitPPI(DecisionTreeRegressor(), conditional=Ridge(), random_state=0)
    with pytest.raises(InvalidInputError, match=r'conditional=Ridge.*Pass impute="median".*conditional=None'):
        test.evaluate(X, X[:, 0], 0, given=[1])


def test_residuals_keep_no_trace_of_what_is_given(splits):
    """Fitted on all rows, residuals are uncorrelated with functions of the conditioning column in all rows."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=N_ROWS)
    x = np.sin(2 * z) + z**2 + rng.normal(size=N_ROWS)
    drawn = all_draws(draws_given(x, z), splits)
    for known in (z, z**2, np.sin(2 * z)):
        own, new = (np.corrcoef(values, known)[0, 1] for values in (x, drawn))
        assert new == pytest.approx(own, abs=0.06)


def test_a_dependence_on_two_columns_together_is_drawn_too(splits):
    Z = np.random.default_rng(11).normal(size=(N_ROWS, 2))
    x = Z[:, 0] * Z[:, 1] + 0.5 * np.random.default_rng(12).normal(size=N_ROWS)
    drawn = all_draws(draws_given(x, Z), splits)
    assert (drawn - Z[:, 0] * Z[:, 1]).std() == pytest.approx(0.5, rel=0.1)


def test_a_group_is_drawn_together(splits):
    rng = np.random.default_rng(3)
    z = rng.normal(size=N_ROWS)
    first = z + rng.normal(size=N_ROWS)
    second = first - z + 0.3 * rng.normal(size=N_ROWS)
    draws = draws_given(np.column_stack([first, second]), z)
    values = np.concatenate([draws.values(split, 0, 1)[0] for split in splits])
    given = np.concatenate([z[split.test] for split in splits])
    # Given z and the first, the second follows: its own noise remains.
    assert np.std(values[:, 1] - values[:, 0] + given) == pytest.approx(0.3, rel=0.1)


def test_categories_of_a_group_are_drawn_as_combinations_that_occur(splits):
    """The second category is always the opposite of the first; drawn given z alone, it would often be the same."""
    rng = np.random.default_rng(13)
    z = rng.normal(size=N_ROWS)
    first = (z + rng.normal(size=N_ROWS) > 0).astype(float)
    draws = draws_given(np.column_stack([first, 1.0 - first]), z, categories=(1, 2))
    values = np.concatenate([draws.values(split, 0, 1)[0] for split in splits])
    assert 0.4 < values[:, 0].mean() < 0.6
    assert (values.sum(axis=1) == 1.0).all()


def test_numbers_and_categories_of_a_group_keep_part_of_their_link(splits):
    rng = np.random.default_rng(14)
    z, noise = rng.normal(size=(2, N_ROWS))
    own = np.column_stack([(z + noise > 0).astype(float), noise])
    draws = draws_given(own, z, categories=(1,))
    drawn = np.concatenate([draws.values(split, 0, 1)[0] for split in splits])
    gap, new_gap = (
        pair[pair[:, 0] == 1, 1].mean() - pair[pair[:, 0] == 0, 1].mean() for pair in (own, drawn)
    )
    # Each category has a random place among its row's probabilities, which keeps about half of the link.
    assert 0.4 * gap < new_gap < gap


def test_the_identity_draws_the_feature_itself(splits):
    rng = np.random.default_rng(15)
    z = rng.normal(size=N_ROWS)
    x = np.column_stack([rng.integers(0, 3, size=N_ROWS), z + rng.normal(size=N_ROWS)])
    split = splits[0]
    same = type(split)(split.train, split.test, np.arange(split.test.size)[None], split.seed)
    np.testing.assert_allclose(draws_given(x, z, categories=(1,)).values(same, 0, 1)[0], x[split.test])


def test_constant_categories_leave_nothing_to_condition_on(splits):
    x = np.random.default_rng(0).normal(size=N_ROWS)
    drawn = draws_given(x, np.zeros(N_ROWS), categories=(0,)).values(splits[0], 0, 1)[0, :, 0]
    np.testing.assert_allclose(np.sort(drawn), np.sort(x[splits[0].test]))


def test_a_constant_category_may_be_given():
    rng = np.random.default_rng(0)
    X, y = pd.DataFrame({"x": rng.normal(size=60), "c": pd.Categorical(["u"] * 60)}), rng.normal(size=60)
    for test in (CrossFitPPI("panel", random_state=0), CrossFitPPI(Ridge(), random_state=0)):
        assert 0.0 < test.evaluate(X, y, "x", given=["c"]).pvalue <= 1.0


def test_sparse_columns_are_drawn_as_dense_ones(splits):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3)) * (rng.random((N_ROWS, 3)) < 0.5) * [1e200, 1.0, 1.0]

    def drawn(values):
        table = Table.of(values, np.zeros(N_ROWS), list("abc"), "regression")
        return ConditionalValues(Design.of(table, range(3)), 2).values(splits[0], 0, 2)

    np.testing.assert_array_equal(drawn(sp.csc_array(X)), drawn(X))
    assert np.isfinite(drawn(X)).all()


def test_the_largest_floats_have_a_unit(splits):
    x, z = np.random.default_rng(0).normal(size=(2, N_ROWS))
    x[3] = 1.7e308
    assert np.isfinite(draws_given(x, z).values(splits[0], 0, 2)).all()


def test_residuals_are_uneven_where_they_grow_with_the_prediction():
    expected, noise = np.random.default_rng(0).uniform(1, 3, size=(2, 400)) - [[0.0], [2.0]]
    assert unevenness_of(expected + noise, expected) < 5.99
    assert unevenness_of(expected + noise * expected, expected) > 20
    assert unevenness_of(noise, np.zeros(400)) < 1e-9


@pytest.mark.parametrize(("n_values", "is_changed"), [(10, False), (11, True)])
def test_columns_of_few_values_are_drawn_on_their_own_scale(n_values, is_changed):
    rng = np.random.default_rng(0)
    z = rng.normal(size=(400, 1))
    # The residuals grow with the prediction.
    level = np.digitize(z[:, 0] + 0.3 * rng.normal(size=400), np.linspace(-1.5, 1.5, n_values - 1))
    x = np.exp(0.6 * level)
    assert np.unique(x).size == n_values
    design = np.column_stack([np.ones(400), z])
    given = SimpleNamespace(expected=lambda Y: design @ np.linalg.lstsq(design, Y, rcond=None)[0])
    assert (_Number(x, given, None)._level is not x) == is_changed


@pytest.mark.parametrize("given", [(), (1, 2)])
def test_trees_see_conditional_draws_as_any_model_does(given):
    rng = np.random.default_rng(0)
    X = np.round(rng.normal(size=(80, 3)), 3)
    X[:, 0] += X[:, 1]
    y = X[:, 0] + 0.5 * rng.normal(size=80)
    answers = [
        PPI(model, knockoff="conditional", n_splits=8, random_state=0).evaluate(X, y, 0, given=given)
        for model in (DecisionTreeRegressor(max_depth=3), make_pipeline(DecisionTreeRegressor(max_depth=3)))
    ]
    assert answers[0].pvalue == answers[1].pvalue
    assert answers[0].effect == pytest.approx(answers[1].effect)
