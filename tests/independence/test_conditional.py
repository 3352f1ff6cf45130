"""Draws of a column given others have the right law."""

import copy

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeRegressor

from ppfs._data.table import Table
from ppfs._fitting.design import Design
from ppfs._rows.splits import draw_folds
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.knockoffs import SharedKnockoff, choose_knockoff, smooth_models
from ppfs.independence._predictive.knockoffs.conditional import ConditionalLaw
from ppfs.independence._predictive.knockoffs.draws import (
    ConditionalKnockoff,
    ConditionalValues,
    PermutedValues,
    StratifiedValues,
)
from ppfs.independence._predictive.knockoffs.smooth_models import (
    RememberedCurves,
    _column_basis,
    fit_smooth_regression,
    scale_of,
)

N_ROWS, N_DRAWS = 2000, 4


@pytest.fixture
def splits():
    return draw_folds(N_ROWS, None, n_folds=2, entropy=0, fold=0, n_draws=N_DRAWS)


def quantities(n_columns):
    return np.zeros(n_columns, dtype=np.intp)


def all_draws(law, splits):
    """Every row's first draw."""
    drawn = np.empty(N_ROWS)
    for split in splits:
        drawn[split.test] = law.draws(split, 0, N_DRAWS)[0]
    return drawn


@pytest.mark.parametrize("shape", ["line", "curve"])
def test_a_quantity_keeps_its_link_and_its_spread(splits, shape):
    rng = np.random.default_rng(0)
    z = rng.normal(size=N_ROWS)
    expected = z if shape == "line" else np.sin(2 * z)
    x = expected + 0.5 * rng.normal(size=N_ROWS)
    drawn = all_draws(ConditionalLaw(x, False, z[:, None], quantities(1)), splits)
    noise, new_noise = x - expected, drawn - expected
    assert new_noise.std() == pytest.approx(0.5, rel=0.05)
    # Given z, the draw knows nothing of x: 4 standard errors.
    assert abs(np.corrcoef(noise, new_noise)[0, 1]) < 4 / np.sqrt(N_ROWS)
    assert abs(np.corrcoef(z, new_noise)[0, 1]) < 4 / np.sqrt(N_ROWS)


def test_draws_of_a_skewed_quantity_spread_more_where_it_is_large(splits):
    rng = np.random.default_rng(6)
    z = rng.normal(size=N_ROWS)
    x = np.exp(0.5 * z + 0.8 * rng.normal(size=N_ROWS))
    drawn = all_draws(ConditionalLaw(x, False, np.exp(z)[:, None], quantities(1)), splits)
    for part in (z < -0.7, z > 0.7):
        own, new = (np.log(values[part]).std() for values in (x, drawn))
        assert new == pytest.approx(own, rel=0.12)
    assert drawn.min() > 0


def test_a_sum_of_skewed_quantities_is_drawn_as_it_is(splits):
    """On any other scale a sum is no sum, and much would be left that the parts do not explain."""
    rng = np.random.default_rng(7)
    Z = np.exp(1.5 * rng.normal(size=(N_ROWS, 3)))
    x = Z.sum(axis=1) + 0.1 * rng.normal(size=N_ROWS)
    drawn = all_draws(ConditionalLaw(x, False, Z, quantities(3)), splits)
    assert (drawn - Z.sum(axis=1)).std() == pytest.approx(0.1, rel=0.1)


def test_where_values_are_equal_draws_are_values_that_occur(splits):
    rng = np.random.default_rng(8)
    z = rng.normal(size=N_ROWS)
    x = rng.poisson(np.exp(1 + 0.5 * z)).astype(float)
    drawn = all_draws(ConditionalLaw(x, False, z[:, None], quantities(1)), splits)
    assert set(drawn) <= set(x)
    assert np.corrcoef(drawn, np.exp(0.5 * z))[0, 1] == pytest.approx(
        np.corrcoef(x, np.exp(0.5 * z))[0, 1], abs=0.07
    )


def test_residuals_keep_no_trace_of_what_is_given(splits):
    """Fitted on all rows, residuals are uncorrelated with the conditioning column in all rows."""
    rng = np.random.default_rng(1)
    z = rng.normal(size=N_ROWS)
    x = np.sin(2 * z) + z**2 + rng.normal(size=N_ROWS)
    residual = x - fit_smooth_regression(z[:, None], quantities(1), x)(z[:, None])
    for known in (z, z**2, np.sin(2 * z)):
        assert abs(np.corrcoef(residual, known)[0, 1]) < 0.03


def test_categories_are_drawn_with_their_probabilities(splits):
    rng = np.random.default_rng(2)
    z = rng.integers(0, 2, size=N_ROWS).astype(float)
    x = np.where(rng.random(N_ROWS) < np.where(z == 1, 0.8, 0.1), 7.0, 3.0)
    drawn = all_draws(ConditionalLaw(x, True, z[:, None], quantities(1)), splits)
    assert set(drawn) == {3.0, 7.0}
    assert (drawn[z == 1] == 7).mean() == pytest.approx(0.8, abs=0.05)
    assert (drawn[z == 0] == 7).mean() == pytest.approx(0.1, abs=0.05)


def test_a_group_is_drawn_together(splits):
    rng = np.random.default_rng(3)
    z = rng.normal(size=N_ROWS)
    first = z + rng.normal(size=N_ROWS)
    second = first - z + 0.3 * rng.normal(size=N_ROWS)
    table = Table.of(
        np.column_stack([z, first, second]),
        np.zeros(z.size),
        ["z", "g"],
        "regression",
        columns=((0,), (1, 2)),
    )
    design = Design.of(table, (0, 1))
    draws = ConditionalValues(design, 1)
    values = np.concatenate([draws.values(split, 0, 1)[0] for split in splits])
    given = np.concatenate([z[split.test] for split in splits])
    # Given z and the first, the second follows: its own noise remains.
    assert np.std(values[:, 1] - values[:, 0] + given) == pytest.approx(0.3, rel=0.1)


def test_categories_of_a_group_are_drawn_given_each_other(splits):
    """The second category is always the opposite of the first; drawn given z alone, it would often be the same."""
    rng = np.random.default_rng(13)
    z = rng.normal(size=N_ROWS)
    first = (z + rng.normal(size=N_ROWS) > 0).astype(float)
    X = np.column_stack([z, first, 1.0 - first])
    table = Table.of(
        X,
        np.zeros(N_ROWS),
        ["z", "g"],
        "regression",
        columns=((0,), (1, 2)),
        n_levels=np.array([0, 2, 2]),
    )
    draws = ConditionalValues(Design.of(table, (0, 1)), 1)
    values = np.concatenate([draws.values(split, 0, 1)[0] for split in splits])
    assert 0.4 < values[:, 0].mean() < 0.6
    assert (values.sum(axis=1) == 1.0).mean() > 0.95


def test_draws_are_shared_between_designs_of_the_same_content_only(splits):
    """The models of a panel may see a column in other units: its draws are then in these units."""
    made = []

    class Counting:
        is_permutation = False

        def __call__(self, design, feature):
            made.append(design)
            return PermutedValues(design, feature)

    def design_of(X):
        return Design.of(Table.of(X, np.zeros(N_ROWS), ["a", "b"], "regression"), (0, 1))

    shared = SharedKnockoff(Counting())
    X = np.random.default_rng(0).normal(size=(N_ROWS, 2))
    first = shared(design_of(X), 0).values(splits[0], 0, 1)
    np.testing.assert_array_equal(shared(design_of(X.copy()), 0).values(splits[0], 0, 1), first)
    assert len(made) == 1
    np.testing.assert_array_equal(shared(design_of(2.0 * X), 0).values(splits[0], 0, 1), 2.0 * first)
    shared(design_of(X), 1)
    assert len(made) == 3


def test_gaps_stay_gaps(splits):
    rng = np.random.default_rng(4)
    z = rng.normal(size=N_ROWS)
    x = z + rng.normal(size=N_ROWS)
    x[:300] = np.nan
    z[250:400] = np.nan
    drawn = np.concatenate(
        [ConditionalLaw(x, False, z[:, None], quantities(1)).draws(split, 0, 1)[0] for split in splits]
    )
    assert np.isnan(drawn).sum() == 300


def test_a_callers_model_is_fitted_without_the_test_part():
    splits = draw_folds(200, None, n_folds=2, entropy=0, fold=0, n_draws=1)
    rng = np.random.default_rng(5)
    z = rng.normal(size=200)
    x = z + rng.normal(size=200)
    # A full tree knows its own rows by heart: fitted on all of them, the residuals would be zero.
    law = ConditionalLaw(x, False, z[:, None], quantities(1), DecisionTreeRegressor())
    for split in splits:
        drawn = law.draws(split, 0, 1)[0]
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
    law = ConditionalLaw(x, 3 if is_classifier else 0, numbers[:, None], quantities(1), model)
    for split in splits:
        law.draws(split, 0, 1)
        law.draws(split, 0, 1)
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
    assert isinstance(choose_knockoff("conditional", None, n_test=5)(design, 0), PermutedValues)


def test_given_few_values_a_feature_is_shuffled_among_the_rows_that_share_them():
    rng = np.random.default_rng(7)
    z = rng.integers(0, 3, size=60).astype(float)
    x = rng.normal(size=60)
    design = Design.of(Table.of(np.column_stack([x, z]), np.zeros(60), ["x", "z"], "regression"), (0, 1))
    splits = draw_folds(60, None, n_folds=2, entropy=0, fold=0, n_draws=3)
    draws = choose_knockoff("conditional", None, n_test=30)(design, 0)
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
    assert isinstance(choose_knockoff("conditional", None, n_test=11)(design, 0), ConditionalValues)


def test_rows_share_a_stratum_only_if_they_agree_in_every_column():
    rng = np.random.default_rng(8)
    first, second = rng.integers(0, 2, size=(2, 80)).astype(float)
    x = rng.normal(size=80)
    table = Table.of(np.column_stack([first, x, second]), np.zeros(80), ["a", "x", "b"], "regression")
    design = Design.of(table, (0, 1, 2))
    draws = choose_knockoff("conditional", None, n_test=40)(design, 1)
    assert isinstance(draws, StratifiedValues)
    for split in draw_folds(80, None, n_folds=2, entropy=0, fold=0, n_draws=2):
        for drawn in draws.values(split, 0, 2)[:, :, 0]:
            for a in (0, 1):
                for b in (0, 1):
                    inside = (first[split.test] == a) & (second[split.test] == b)
                    assert sorted(drawn[inside]) == sorted(x[split.test][inside])


def test_constant_categories_leave_nothing_to_condition_on():
    rng = np.random.default_rng(0)
    x = rng.normal(size=12)
    predict = fit_smooth_regression(np.zeros((12, 1)), np.array([1]), x)
    np.testing.assert_allclose(predict(np.zeros((12, 1))), x.mean())


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


def test_what_is_remembered_of_columns_changes_no_bit():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(120, 4))
    Z[:, 3] = np.round(Z[:, 3])
    Z[::9, 2] = np.nan
    n_levels = np.array([0, 0, 0, 5])
    remembered = RememberedCurves()
    for asked in range(3):
        x = Z[:, 0] ** 2 + rng.normal(size=120)
        known = [c for c in range(4) if c != asked]
        fresh = fit_smooth_regression(Z[:, known], n_levels[known], x)
        again = fit_smooth_regression(Z[:, known], n_levels[known], x, remembered)
        for new in (Z[:, known], Z[:7, known] + 0.1):
            np.testing.assert_array_equal(again(new), fresh(new))
    for z in Z.T:
        for scale in (remembered.scale(z), remembered.scale(z)):
            fresh = scale_of(z)
            assert (scale is None) == (fresh is None) == (np.unique(z).size <= 10)
            if scale is not None:
                np.testing.assert_array_equal(scale.of_values(z), fresh.of_values(z))
    travelled = copy.deepcopy(remembered)
    assert travelled._regressors == travelled._scales == {}


def test_lines_of_all_columns_are_those_of_single_columns_to_the_last_bit():
    Z = np.random.default_rng(0).normal(size=(57, 5)) * [1, 1e6, 1e-3, 1, 0] + 7.0
    n_levels = np.zeros(5, dtype=np.intp)
    np.testing.assert_array_equal(smooth_models._Lines(Z)(Z), smooth_models._Basis.of_lines(Z, n_levels)(Z))


def test_no_more_curves_are_made_than_there_are_rows_for(monkeypatch):
    made = []
    spline = smooth_models._spline
    monkeypatch.setattr(smooth_models, "_spline", lambda *column: made.append(1) or spline(*column))
    Z = np.random.default_rng(0).normal(size=(60, 200))
    fit_smooth_regression(Z, np.zeros(200, dtype=np.intp), Z.sum(axis=1))
    assert len(made) <= 3


def test_a_table_of_32_bits_is_answered_as_one_of_64():
    """Products of curves need more bits, and what is far from 1 is not a number of 32 bits at all."""
    generator = np.random.default_rng(0)
    X = generator.normal(size=(120, 3)).astype(np.float32)
    X[:, 1] += X[:, 0] ** 2
    y = X[:, 0] + generator.normal(size=120)
    test = CrossFitPPI(LinearRegression(), random_state=0)
    narrow, wide = (test.evaluate(values, y, 1, given=[0, 2]) for values in (X, X.astype(np.float64)))
    assert narrow.pvalue == pytest.approx(wide.pvalue, rel=1e-3)


def test_categories_are_indicators_of_all_values_but_the_first():
    basis = _column_basis(np.repeat([0.0, 1.0, 2.0], 10), is_categorical=True, most_knots=0)
    np.testing.assert_array_equal(basis(np.array([0.0, 1.0, 2.0])), [[0, 0], [1, 0], [0, 1]])


def test_gaps_that_a_callers_model_cannot_take_are_refused_with_a_way_out():
    X = np.random.default_rng(0).normal(size=(40, 3))
    X[0, 1] = np.nan
    test = CrossFitPPI(DecisionTreeRegressor(), conditional=Ridge(), random_state=0)
    with pytest.raises(InvalidInputError, match=r'conditional=Ridge.*Pass impute="median".*conditional=None'):
        test.evaluate(X, X[:, 0], 0, given=[1])


def test_sparse_columns_in_far_units_are_modelled_as_dense_ones():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(30, 2)) * (rng.random((30, 2)) < 0.5) * [1e200, 1.0]
    x = Z[:, 0] / 1e200 + Z[:, 1]
    predict = fit_smooth_regression(sp.csc_array(Z), quantities(2), x)
    np.testing.assert_allclose(predict(sp.csc_array(Z)), x, atol=0.1)


def test_sparse_columns_in_any_units_have_the_lines_of_dense_ones(monkeypatch):
    """Counts up to a thousand made the solver give up, with a warning about a model that the caller never named."""
    monkeypatch.setattr(smooth_models._Basis, "of_curves", lambda *_: None)
    rng = np.random.default_rng(0)
    Z = rng.poisson(0.3, size=(60, 40)) * rng.integers(1, 1000, size=(60, 40)) * 1.0
    labels = (Z[:, 0] + rng.normal(size=60) > 0).astype(np.intp)
    sparse, kinds = sp.csr_array(Z), quantities(40)
    expected = smooth_models.fit_smooth_classifier(Z, kinds, labels)(Z)
    np.testing.assert_allclose(
        smooth_models.fit_smooth_classifier(sparse, kinds, labels)(sparse), expected, atol=0.01
    )
    expected = fit_smooth_regression(Z, kinds, Z[:, 1] + Z[:, 2])(Z)
    # Values up to two thousand: what is left of them where the line is near 0 depends on how the solver rounds.
    np.testing.assert_allclose(
        fit_smooth_regression(sparse, kinds, Z[:, 1] + Z[:, 2])(sparse), expected, rtol=1e-6, atol=1e-6
    )


def test_lines_among_all_columns_serve_plain_numbers_only():
    """Not the codes of categories, which are no quantities, and not numbers whose squares are beyond 64 bits."""
    X = np.random.default_rng(0).normal(size=(20, 6))
    levels = np.array([0, 0, 0, 0, 0, 3])

    def serves(X, n_levels):
        table = Table.of(X, np.zeros(20), list("abcdef"), "regression", n_levels=n_levels)
        return (
            ConditionalKnockoff(None, n_test=10)._rest_of(Design.of(table, range(6)), slice(0, 1)) is not None
        )

    assert serves(X, 0 * levels)
    assert not serves(np.column_stack([X[:, :5], np.arange(20) % 3]), levels)
    assert not serves(1e101 * X, 0 * levels)


def test_the_largest_floats_have_a_unit():
    x = np.random.default_rng(0).normal(size=60)
    x[3] = 1.7e308
    expected = fit_smooth_regression(x[:, np.newaxis], np.array([0]), x)(x[:, np.newaxis])
    assert np.isfinite(expected).all()


def test_a_category_with_few_rows_per_level_gives_no_warning_about_classes():
    rng = np.random.default_rng(0)
    labels = np.arange(40) % 25
    shares = smooth_models.fit_smooth_classifier(rng.normal(size=(40, 2)), np.zeros(2, dtype=np.intp), labels)
    assert shares(rng.normal(size=(3, 2))).shape == (3, 25)
