"""Logistic regression with penalised sizes against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import sparse_logistic as twin

from ppfs._engine import sparse_logistic_columns


def data(seed, n_rows, n_regressors, n_classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_regressors))
    noisy = X[:, 0] + rng.logistic(size=n_rows)
    classes = np.digitize(noisy, np.linspace(-1, 1, n_classes + 1)[1:-1])
    classes[:n_classes] = np.arange(n_classes)
    return X, classes.astype(np.int64), rng.uniform(0.2, 2.0, n_rows)


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(15, 40),
    n_regressors=st.integers(1, 3),
    n_classes=st.integers(2, 4),
    sizes=st.sampled_from([0.3, 1.0, 3.0, 100.0]),
    squares=st.sampled_from([0.0, 1.0]),
    has_intercept=st.booleans(),
)
def test_optimum_equals_that_of_the_slow_twin(
    seed, n_rows, n_regressors, n_classes, sizes, squares, has_intercept
):
    X, classes, weights = data(seed, n_rows, n_regressors, n_classes)
    block = np.ascontiguousarray(X.T[:, :, np.newaxis])
    slopes, intercepts = sparse_logistic_columns(
        block, classes, weights, n_classes, sizes, squares, has_intercept, 1e-14 * n_rows
    )
    slow_slopes, slow_intercepts = twin.fit(X, classes, weights, sizes, squares, has_intercept)
    np.testing.assert_allclose(slopes[0], slow_slopes, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(intercepts[0], slow_intercepts, rtol=1e-5, atol=1e-6)
    # Zero is zero: what the penalty leaves out is left out to the last bit.
    np.testing.assert_array_equal(slopes[0] == 0.0, np.abs(slow_slopes) < 1e-9)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("has_intercept", [True, False])
def test_a_column_is_fitted_the_same_beside_others_and_far_from_zero(has_intercept, n_classes):
    X, classes, weights = data(1, 40, 4, n_classes)

    def fit(block):
        return sparse_logistic_columns(block, classes, weights, n_classes, 0.5, 0.5, has_intercept, 1e-12)[0]

    whole = fit(X[np.newaxis])
    for column in range(4):
        np.testing.assert_array_equal(fit(np.ascontiguousarray(X[np.newaxis, :, [column]]))[0], whole[column])
    if has_intercept:
        np.testing.assert_allclose(fit(X[np.newaxis] + 1e4), whole, rtol=1e-7)


def test_a_step_is_that_of_newton():
    """One step from 0, where every share is a half: the gradient over the curvature."""
    column = np.array([1.0, 2.0, -1.0, 3.0])
    classes = np.array([0, 1, 0, 1])
    block = column[np.newaxis, :, np.newaxis]
    slopes, _ = sparse_logistic_columns(block, classes, np.ones(4), 2, 0.0, 0.0, False, 1e9)
    np.testing.assert_allclose(
        slopes[0, 0, 0], (column * (classes - 0.5)).sum() / (column**2 / 4).sum(), rtol=1e-12
    )
