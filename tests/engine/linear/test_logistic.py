"""Newton's logistic regression against a general optimiser and scikit-learn."""

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import logistic as twin
from sklearn.linear_model import LogisticRegression

from ppfs._engine import Likelihood, fit_scores, logistic_columns, small_logistic_columns
from ppfs._engine.linear.cholesky import factorize

NO_WEIGHTS = np.empty(0)

of_both = pytest.mark.parametrize(
    "fit_columns", [logistic_columns, small_logistic_columns], ids=["kernel", "numpy"]
)


def data(seed, n_rows, n_regressors, n_classes):
    rng = np.random.default_rng(seed)
    codes = np.concatenate([np.arange(n_classes), rng.integers(0, n_classes, n_rows - n_classes)])
    X = rng.normal(size=(n_rows, n_regressors)) + rng.normal(size=(n_classes, n_regressors))[codes]
    return X, codes.astype(np.int64)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(12, 40),
    n_regressors=st.integers(1, 3),
    n_classes=st.integers(2, 4),
    is_weighted=st.booleans(),
    strength=st.sampled_from([0.05, 1.0, 20.0]),
)
def test_optimum_equals_that_of_the_slow_twin(seed, n_rows, n_regressors, n_classes, is_weighted, strength):
    X, codes = data(seed, n_rows, n_regressors, n_classes)
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, n_rows) if is_weighted else NO_WEIGHTS
    design = np.column_stack([X, np.ones(n_rows)])
    penalties = np.append(np.full(n_regressors, strength), 0.0)
    is_symmetric = n_classes > 2
    theta, value = fit_scores(
        Likelihood(np.ascontiguousarray(design.T), codes, weights, penalties, n_classes, is_symmetric),
        np.zeros((n_classes - 1, n_regressors + 1)),
        1e-13,
    )
    slow_theta, slow_value = twin.fit(
        design, codes, n_classes, penalties, weights if is_weighted else None, is_symmetric
    )
    np.testing.assert_allclose(theta, slow_theta, rtol=1e-4, atol=1e-5)
    assert value <= slow_value + 1e-9 * abs(slow_value)


@of_both
@pytest.mark.parametrize("n_classes", [2, 3, 5])
@pytest.mark.parametrize("has_intercept", [True, False])
@pytest.mark.parametrize("n_regressors", [1, 3])
def test_columns_equal_scikit_learns_models(n_classes, has_intercept, n_regressors, fit_columns):
    X, codes = data(0, 60, 4 * n_regressors, n_classes)
    X = X * 10.0 + 30.0
    block = np.ascontiguousarray(X.reshape(60, 4, n_regressors).transpose(2, 0, 1))
    coefficients, intercepts = fit_columns(
        block, codes, NO_WEIGHTS, n_classes, 1.0, has_intercept, n_classes > 2, 1e-13
    )
    for column in range(4):
        mine = X[:, column * n_regressors : (column + 1) * n_regressors]
        scores = np.column_stack([np.zeros(60), mine @ coefficients[column].T + intercepts[column]])
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        model = LogisticRegression(
            solver="newton-cholesky", tol=1e-12, max_iter=1000, fit_intercept=has_intercept
        ).fit(mine, codes)
        np.testing.assert_allclose(
            shares / shares.sum(axis=1, keepdims=True), model.predict_proba(mine), rtol=1e-7, atol=1e-9
        )


@of_both
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_column_does_not_depend_on_its_neighbors(n_classes, fit_columns):
    X, codes = data(1, 50, 7, n_classes)
    weights = np.random.default_rng(0).uniform(0.5, 2.0, 50)
    block = X[np.newaxis]
    whole, _ = fit_columns(block, codes, weights, n_classes, 1.0, True, n_classes > 2, 1e-13)
    for column in range(7):
        alone, _ = fit_columns(
            np.ascontiguousarray(block[:, :, [column]]),
            codes,
            weights,
            n_classes,
            1.0,
            True,
            n_classes > 2,
            1e-13,
        )
        np.testing.assert_array_equal(alone[0], whole[column])


@of_both
def test_whole_weights_are_repeated_rows_to_the_kernel(fit_columns):
    X, codes = data(2, 30, 2, 3)
    times = np.arange(30) % 3 + 1
    repeated = np.repeat(np.arange(30), times)
    weighted = fit_columns(X[np.newaxis], codes, times.astype(np.float64), 3, 1.0, True, True, 1e-13)
    plain = fit_columns(X[np.newaxis, repeated], codes[repeated], NO_WEIGHTS, 3, 1.0, True, True, 1e-13)
    for ours, theirs in zip(weighted, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_separated_classes_reach_the_limit_of_the_likelihood(n_classes):
    codes = np.repeat(np.arange(n_classes), 10)
    design = np.vstack([codes.astype(float), codes**2.0, np.ones(codes.size)])
    _, value = fit_scores(
        Likelihood(design, codes, NO_WEIGHTS, np.zeros(3), n_classes, False),
        np.zeros((n_classes - 1, 3)),
        1e-9,
    )
    assert value == pytest.approx(0.0, abs=1e-6)


@of_both
def test_constant_column_gets_no_slope(fit_columns):
    codes = np.array([0, 1, 1, 0, 1, 1], dtype=np.int64)
    coefficients, intercepts = fit_columns(
        np.full((1, 6, 1), 7.0), codes, NO_WEIGHTS, 2, 1.0, True, False, 1e-13
    )
    assert coefficients[0, 0, 0] == pytest.approx(0.0, abs=1e-12)
    assert intercepts[0, 0] == pytest.approx(np.log(2.0))


def test_the_likelihood_of_many_rows_is_that_of_plain_logarithms():
    """The product of all these factors overflows before the last one."""
    X, codes = data(3, 2000, 1, 2)
    design = np.vstack([X[:, 0], np.ones(len(X))])
    theta, value = fit_scores(
        Likelihood(design, codes, NO_WEIGHTS, np.zeros(2), 2, False), np.zeros((1, 2)), 1e-9
    )
    scores = theta[0] @ design
    assert value == pytest.approx(np.logaddexp(0.0, np.where(codes == 1, -scores, scores)).sum(), rel=1e-12)


@of_both
@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_class_without_rows_leaves_the_others_alone(missing, fit_columns):
    """A train part may lack a class; its share has no logarithm to start from."""
    X, codes = data(5, 40, 1, 2)
    there = np.array([label for label in range(3) if label != missing])
    both = fit_columns(X[np.newaxis], codes, NO_WEIGHTS, 2, 1.0, True, False, 1e-13)
    coefficients, intercepts = fit_columns(X[np.newaxis], there[codes], NO_WEIGHTS, 3, 1.0, True, True, 1e-13)
    assert np.isfinite(both[0]).all()
    assert np.isfinite(coefficients).all()
    assert np.isfinite(intercepts).all()


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(12, 120),
    n_regressors=st.integers(1, 5),
    n_classes=st.integers(2, 4),
    is_weighted=st.booleans(),
    has_intercept=st.booleans(),
    penalty=st.sampled_from([0.01, 1.0, 10.0]),
    kind=st.sampled_from(["plain", "constant", "separating", "far"]),
)
def test_numpy_agrees_with_the_kernel(
    seed, n_rows, n_regressors, n_classes, is_weighted, has_intercept, penalty, kind
):
    X, codes = data(seed, n_rows, 3 * n_regressors, n_classes)
    if kind == "constant":
        X[:, 0] = 3.0
    elif kind == "separating":
        X[:, 0] = codes
    elif kind == "far":
        X = 50.0 + X / 1000.0
    block = np.ascontiguousarray(X.reshape(n_rows, 3, n_regressors).transpose(2, 0, 1))
    weights = np.random.default_rng(seed).uniform(0.1, 3.0, n_rows) if is_weighted else NO_WEIGHTS
    arguments = (block, codes, weights, n_classes, penalty, has_intercept, n_classes > 2, 1e-14 * n_rows)
    for ours, theirs in zip(small_logistic_columns(*arguments), logistic_columns(*arguments), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-8, atol=1e-9 * np.abs(theirs).max())


def test_a_step_is_found_where_probabilities_are_all_certain():
    """Without a penalty, separated classes have an information matrix that vanishes."""
    codes = np.repeat([0, 1], 10)
    block = np.where(codes == 1, 1.0, -1.0)[np.newaxis, :, np.newaxis]
    (((slope,),),), _ = small_logistic_columns(block, codes, NO_WEIGHTS, 2, 0.0, False, False, 1e-300)
    assert 20.0 < slope < np.inf


@numba.njit
def is_factorized(matrix, factor):
    """Call what only kernels can call."""
    return factorize(matrix, factor, 0.0, 1e-13)


@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e9])
def test_a_matrix_without_an_inverse_is_told_at_any_scale(scale):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(3, 5))
    rows[2] = rows[0] + rows[1]
    whole, factor = rows[:2] @ rows[:2].T * scale, np.zeros((3, 3))
    assert is_factorized(whole, factor[:2, :2].copy())
    assert not is_factorized(rows @ rows.T * scale, factor)


def test_a_step_that_promises_no_more_than_the_tolerance_is_the_last():
    """Twelve of 16 rows are of the second class: the first step, from 0 to 1, promises 4."""
    codes = (np.arange(16) < 12).astype(np.int64)
    problem = Likelihood(np.ones((1, 16)), codes, NO_WEIGHTS, np.zeros(1), 2, False)
    for tolerance, expected in ((4.0, 1.0), (1e-13, np.log(3.0))):
        theta, _ = fit_scores(problem, np.zeros((1, 1)), tolerance)
        np.testing.assert_allclose(theta, [[expected]], rtol=1e-12)
