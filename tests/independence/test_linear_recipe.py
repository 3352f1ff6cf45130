"""Which penalty the engine's linear models have, and when there is an optimum."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ppfs.independence._predictive.risks.linear.least_squares import ElasticNet, Ridge
from ppfs.independence._predictive.risks.linear.logistic import Labels, Logistic
from ppfs.independence._predictive.risks.linear.penalized_intercept import PenalizedIntercept
from ppfs.independence._predictive.risks.linear.recipe import _l1_ratio
from ppfs.independence._predictive.risks.linear.sparse_logistic import SparseLogistic
from ppfs.independence._predictive.risks.linear.target import TrainTarget


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 0.0),
        ({"l1_ratio": None}, 0.0),
        ({"l1_ratio": 0.3}, 0.3),
        ({"penalty": "deprecated", "l1_ratio": 1.0}, 1.0),
        ({"penalty": "elasticnet", "l1_ratio": 0.25}, 0.25),
        ({"penalty": "elasticnet", "l1_ratio": None}, 0.0),
        ({"penalty": "l1", "l1_ratio": None}, 1.0),
        ({"penalty": "l1", "l1_ratio": 1.0}, 1.0),
        ({"penalty": "l1", "l1_ratio": 0.5}, None),
        ({"penalty": "l2", "l1_ratio": 0.0}, 0.0),
        ({"penalty": "l2", "l1_ratio": 0.5}, None),
        ({"penalty": None}, 0.0),
    ],
)
def test_the_share_of_the_l1_penalty(parameters, expected):
    assert _l1_ratio(parameters) == expected


def test_without_a_penalty_rows_have_to_outnumber_the_coefficients():
    free, penalized = (Logistic(penalty, True, None) for penalty in (0.0, 1.0))
    assert [free.can_fit(n, 10) for n in (8, 9, 10)] == [True, False, False]
    assert penalized.can_fit(1000, 10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_regressors_than_rows_of_several_classes(n_classes):
    """The coefficients are found from the rows; columns away from zero move the intercepts, each by its own class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 30)) + np.arange(30)
    codes = np.arange(12) % n_classes
    target = TrainTarget(codes, np.arange(n_classes), None)
    slopes, intercepts = Logistic(2.0, True, None).data(np.ascontiguousarray(X.T), target).fit()
    twin = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(X, codes)
    scores, expected = X @ slopes.T + intercepts, twin.decision_function(X).reshape(12, -1)
    if n_classes > 2:
        scores, expected = (part - part.mean(axis=1, keepdims=True) for part in (scores, expected))
    np.testing.assert_allclose(scores, expected, atol=1e-4)


@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("is_positive", [True, False])
def test_the_elastic_net_of_single_columns_is_its_formula(has_intercept, is_positive):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1, 20, 5)), rng.normal(size=20) + 1.0
    X[0, :, 2], X[0, :, 3] = 0.1, 0.0
    X[0, :, 4] = -y
    model = ElasticNet(0.05, 0.3, has_intercept, is_positive)
    slopes, intercepts = model.fit_columns(X, TrainTarget(y, np.empty(0), None))
    assert (slopes.shape, intercepts.shape) == ((5, 1, 1), (5, 1))
    for column in range(5):
        x = X[0, :, column]
        x_mean, y_mean = (x.mean(), y.mean()) if has_intercept else (0.0, 0.0)
        pull = (x - x_mean) @ (y - y_mean)
        left = np.sign(pull) * max(abs(pull) - 20 * 0.05, 0.0)
        left = max(left, 0.0) if is_positive else left
        is_flat = column == 3 or (column == 2 and has_intercept)
        expected = 0.0 if is_flat else left / (((x - x_mean) ** 2).sum() + 20 * 0.3)
        assert slopes[column, 0, 0] == pytest.approx(expected, rel=1e-10, abs=1e-15)
        assert intercepts[column, 0] == pytest.approx(y_mean - expected * x_mean, rel=1e-10)
    # Several regressors, and weights, have the same optimum.
    weighted = model.fit_columns(X[:, :, :2], TrainTarget(y, np.empty(0), np.full(20, 3.0)))
    np.testing.assert_allclose(weighted[0], slopes[:2], atol=1e-7)


@pytest.mark.parametrize("n_regressors", [3, 9, 10, 11, 15])
@pytest.mark.parametrize("penalty", [0.0, 2.0])
@pytest.mark.parametrize("has_intercept", [True, False])
def test_ridge_regression_of_more_or_fewer_regressors_than_rows(n_regressors, penalty, has_intercept):
    rng = np.random.default_rng(n_regressors)
    design, y, weights = (
        rng.normal(size=(n_regressors, 10)) + 1.0,
        rng.normal(size=10),
        rng.uniform(0.5, 2.0, 10),
    )
    design[1] = 4.0
    model = Ridge(penalty, has_intercept)
    data = model.data(design, TrainTarget(y, np.empty(0), weights))
    own = weights / weights.sum() if has_intercept else np.zeros(10)
    Z = (design - (design @ own)[:, np.newaxis]) * np.sqrt(weights)
    Z[1] *= not has_intercept
    r = (y - y @ own) * np.sqrt(weights)
    expected = np.linalg.pinv(Z @ Z.T + penalty * np.eye(n_regressors), rcond=1e-11, hermitian=True) @ Z @ r
    for one in (data, data.with_products()):
        slopes, intercepts = one.fit()
        np.testing.assert_allclose(slopes[0], expected, atol=1e-6)
        np.testing.assert_allclose(intercepts, y @ own - slopes[0] @ (design @ own), atol=1e-10)
    np.testing.assert_allclose(data.by_singular_values()[0][0], expected, atol=1e-6)
    some = data.with_products().kept(np.array([2, 0]))
    np.testing.assert_array_equal(some.design, data.design[[2, 0]])
    assert model.can_fit(10**6, 2)


def test_models_with_a_penalty_on_sizes_have_a_thousand_coefficients_at_most():
    net = ElasticNet(1.0, 0.0, True, False)
    assert [net.can_fit(n, 5) for n in (1000, 1001)] == [True, False]
    for n_scores, most in ((1, 1000), (3, 333)):
        sparse = SparseLogistic(1.0, 0.0, True, None, n_scores)
        assert [sparse.can_fit(n, 5) for n in (most, most + 1)] == [True, False]
        behind = PenalizedIntercept(sparse, 1.0)
        assert [behind.can_fit(n, 5) for n in (most - 1, most)] == [True, False]


@pytest.mark.parametrize(("value", "weights"), [(1.0, None), (2.5, np.linspace(0.5, 2.0, 30))])
def test_a_penalized_intercept_is_the_coefficient_of_a_constant(value, weights):
    rng = np.random.default_rng(0)
    X, codes = rng.normal(size=(30, 2)), np.arange(30) % 2
    target = TrainTarget(codes, np.arange(2), weights)
    model = PenalizedIntercept(Logistic(0.5, False, None), value)
    assert model.has_intercept
    constant = np.column_stack([X, np.full(30, value)])
    twin = LogisticRegression(C=2.0, fit_intercept=False, tol=1e-10, solver="newton-cholesky")
    (own,) = twin.fit(constant, codes, weights).coef_
    data = model.data(np.ascontiguousarray(X.T), target)
    np.testing.assert_array_equal(data.design, X.T)
    for one in (data, data.with_products(), data.kept(np.array([0, 1]))):
        slopes, intercepts = one.fit()
        np.testing.assert_allclose(slopes[0], own[:2], atol=1e-6)
        np.testing.assert_allclose(intercepts, [value * own[2]], atol=1e-6)
    columns = np.ascontiguousarray(X.T[:1, :, np.newaxis])
    slopes, intercepts = model.fit_columns(columns, target)
    (own,) = twin.fit(constant[:, [0, 2]], codes, weights).coef_
    np.testing.assert_allclose([slopes[0, 0, 0], intercepts[0, 0]], [own[0], value * own[1]], atol=1e-6)


def test_classes_that_a_train_part_lacks_have_no_chance():
    slopes, intercepts = np.array([[[1.0, 2.0]], [[3.0, 4.0]]]), np.array([[5.0], [6.0]])

    def aligned(values, n_classes):
        labels = Labels.of(TrainTarget(np.array(values), np.arange(n_classes), None), None)
        n = labels.n_seen - 1
        return labels.aligned(slopes[:, :n], intercepts[:, :n])

    same = aligned([0, 1, 0], 2)
    assert (same[0].tolist(), same[1].tolist()) == (slopes.tolist(), intercepts.tolist())
    for only, certain in ((0, -np.inf), (1, np.inf)):
        none, always = aligned([only, only], 2)
        assert none.tolist() == [[[0.0, 0.0]]] * 2
        assert always.tolist() == [[certain]] * 2
    lacking, levels = aligned([0, 2, 2], 4)
    assert lacking.tolist() == [[[0.0, 0.0], [0.0, 0.0], one[0], [0.0, 0.0]] for one in slopes.tolist()]
    assert levels.tolist() == [[0.0, -np.inf, one[0], -np.inf] for one in intercepts.tolist()]


def test_labels_are_weighted_by_row_and_by_class():
    values, classes = np.array([2, 0, 2, 2]), np.array(["a", "b", "c"])
    plain = Labels.of(TrainTarget(values, classes, None), None)
    assert (plain.codes.tolist(), plain.seen.tolist(), plain.n_classes, plain.n_seen) == (
        [1, 0, 1, 1],
        [0, 2],
        3,
        2,
    )
    assert (plain.weights.size, plain.total) == (0, 4.0)
    rows = np.array([1.0, 2.0, 3.0, 4.0])
    assert Labels.of(TrainTarget(values, classes, rows), None).total == 10.0
    by_class = {"a": 5.0, "c": 0.5}
    assert Labels.of(TrainTarget(values, classes, None), by_class).weights.tolist() == [0.5, 5.0, 0.5, 0.5]
    assert Labels.of(TrainTarget(values, classes, rows), by_class).weights.tolist() == [0.5, 10.0, 1.5, 2.0]
    balanced = Labels.of(TrainTarget(values, classes, None), "balanced").weights
    np.testing.assert_allclose(balanced, [4 / 6, 2.0, 4 / 6, 4 / 6])
