"""A linear fit, then boosted trees on what it leaves: a scikit-learn estimator in its own right."""

import pickle

import numpy as np
import pytest
from reference.boosting import TwinBoosting
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from ppfs.models import BoostedLinearClassifier, BoostedLinearRegressor, default_panel

TREES = {"learning_rate": 0.3, "max_depth": 2, "l2_regularization": 2.0, "max_bins": 16}


@pytest.fixture
def columns():
    return np.random.default_rng(0).normal(size=(90, 3)) * [1.0, 5.0, 0.1] + [0.0, 9.0, 2.0]


def signal_of(X, seed=1):
    noise = np.random.default_rng(seed).normal(size=len(X)) / 2
    return X[:, 0] + np.sin(X[:, 1]) + 10 * X[:, 0] * (X[:, 2] - 2) + noise


@parametrize_with_checks(
    [BoostedLinearRegressor(), BoostedLinearClassifier(), BoostedLinearClassifier(max_depth=1, n_rounds=3)]
)
def test_scikit_learn_contract(estimator, check):
    check(estimator)


def test_without_rounds_it_is_ridge_on_standardised_columns(columns):
    y = signal_of(columns)
    ours = BoostedLinearRegressor(alpha=3.0, n_rounds=0).fit(columns, y)
    scaler = StandardScaler().fit(columns)
    theirs = Ridge(alpha=3.0).fit(scaler.transform(columns), y)
    np.testing.assert_allclose(ours.predict(columns), theirs.predict(scaler.transform(columns)), atol=1e-10)
    np.testing.assert_allclose(ours.coef_, theirs.coef_ / scaler.scale_, atol=1e-10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_without_rounds_it_is_logistic_regression_on_standardised_columns(columns, n_classes):
    y = np.digitize(signal_of(columns), [0.0, 1.0][: n_classes - 1])
    ours = BoostedLinearClassifier(alpha=0.5, n_rounds=0).fit(columns, y)
    Z = StandardScaler().fit_transform(columns)
    theirs = LogisticRegression(C=2.0, tol=1e-10, max_iter=10_000).fit(Z, y)
    np.testing.assert_allclose(ours.predict_proba(columns), theirs.predict_proba(Z), atol=1e-6)


@pytest.mark.parametrize("task", ["numbers", "classes"])
def test_more_columns_than_rows_are_fitted_in_the_space_of_the_rows(task):
    X = np.random.default_rng(2).normal(size=(20, 50))
    Z = StandardScaler().fit_transform(X)
    if task == "numbers":
        ours = BoostedLinearRegressor(n_rounds=0).fit(X, X[:, 0]).predict(X)
        theirs = Ridge().fit(Z, X[:, 0]).predict(Z)
    else:
        ours = BoostedLinearClassifier(n_rounds=0).fit(X, X[:, 0] > 0).decision_function(X)
        theirs = LogisticRegression(tol=1e-10).fit(Z, X[:, 0] > 0).decision_function(Z)
    np.testing.assert_allclose(ours, theirs, atol=1e-6)


def test_trees_are_the_slow_twins_from_where_the_line_ends(columns):
    y = signal_of(columns)
    line = BoostedLinearRegressor(n_rounds=0).fit(columns, y).predict(columns)[:, np.newaxis]
    ours = BoostedLinearRegressor(n_rounds=4, min_leaf_weight=7, **TREES).fit(columns, y)
    twin = TwinBoosting(max_iter=4, min_samples_leaf=7, max_leaf_nodes=None, **TREES).fit(columns, y, line)
    np.testing.assert_allclose(ours.predict(columns), twin.raw(columns, line)[:, 0], atol=1e-6)


def test_trees_of_a_classifier_are_the_slow_twins_too(columns):
    y = np.digitize(signal_of(columns), [0.0, 1.0])
    line = BoostedLinearClassifier(n_rounds=0).fit(columns, y).decision_function(columns)
    # The least hessian of the twin, in weights: a row has a quarter of its weight at most.
    ours = BoostedLinearClassifier(n_rounds=4, min_leaf_weight=4e-3, **TREES).fit(columns, y)
    parameters = {**TREES, "l2_regularization": TREES["l2_regularization"] / 4}
    twin = TwinBoosting(classes=3, max_iter=4, min_samples_leaf=1, max_leaf_nodes=None, **parameters).fit(
        columns, y, line
    )
    np.testing.assert_allclose(ours.decision_function(columns), twin.raw(columns, line), atol=1e-5)


@pytest.mark.parametrize("kind", [BoostedLinearRegressor, BoostedLinearClassifier])
def test_missing_values_are_taken(kind, columns):
    y = signal_of(columns)
    y = y if kind is BoostedLinearRegressor else y > 0
    is_missing = np.random.default_rng(3).random(columns.shape) < 0.2
    X = np.where(is_missing, np.nan, columns)
    model = kind().fit(X, y)
    # The linear part receives the column's mean for a missing value, and the trees the missing value.
    assert np.isfinite(model.predict(X)).all()
    assert model.score(X, y) > 0.3


def test_it_sees_what_a_line_does_not_see(columns):
    y = signal_of(columns)
    line = Ridge().fit(columns, y).score(columns, y)
    assert BoostedLinearRegressor().fit(columns, y).score(columns, y) > line + 0.1


def test_a_pickled_model_predicts_the_same(columns):
    model = BoostedLinearClassifier().fit(columns, signal_of(columns) > 0)
    again = pickle.loads(pickle.dumps(model))  # noqa: S301
    np.testing.assert_array_equal(model.predict_proba(columns), again.predict_proba(columns))


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_the_default_panel_has_a_line_curves_products_and_trees(task):
    line = Ridge if task == "regression" else LogisticRegression
    boosted = BoostedLinearRegressor if task == "regression" else BoostedLinearClassifier
    first, curves, products, trees = default_panel(task)
    names = [[type(step).__name__ for _, step in model.steps] for model in (first, curves, products)]
    assert names == [
        ["StandardScaler", line.__name__],
        ["StandardScaler", "SplineTransformer", line.__name__],
        ["StandardScaler", "PolynomialFeatures", line.__name__],
    ]
    assert all(model[0].with_mean for model in (first, curves, products))
    assert (products[1].include_bias, products[1].degree) == (False, 2)
    assert type(trees) is boosted
    (only,) = default_panel(task, sparse=True)
    assert ([type(step).__name__ for _, step in only.steps], only[0].with_mean) == (
        ["StandardScaler", line.__name__],
        False,
    )


def test_classes_that_weights_leave_out_have_no_probability(columns):
    """Rows of weight 0 have a class that is known and never predicted."""
    labels = np.array(["a", "b", "c"])[np.arange(90) % 3]
    without = np.where(labels == "b", 0.0, 1.0)
    found = BoostedLinearClassifier(n_rounds=1).fit(columns, labels, sample_weight=without)
    shares = found.predict_proba(columns)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert found.classes_.tolist() == ["a", "b", "c"]
    two = BoostedLinearClassifier(n_rounds=1).fit(columns, labels == "a")
    np.testing.assert_allclose(
        two.predict_proba(columns)[:, 1], 1 / (1 + np.exp(-two.decision_function(columns)))
    )
    assert two.decision_function(columns).shape == (90,)
    three = BoostedLinearClassifier(n_rounds=1).fit(columns, labels)
    raw = three.decision_function(columns)
    expected = np.exp(raw) / np.exp(raw).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(three.predict_proba(columns), expected)
    assert three.predict(columns).tolist() == three.classes_[raw.argmax(axis=1)].tolist()
    assert (two.coef_.shape, three.coef_.shape, three.intercept_.shape) == ((1, 3), (3, 3), (3,))
