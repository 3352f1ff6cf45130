"""Logistic regression with penalised sizes against its slow twin."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import sparse_logistic as twin

from ppfs._engine import sparse_logistic_columns


def data(seed, n_rows, n_regressors):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_regressors))
    labels = (X[:, 0] + rng.logistic(size=n_rows) > 0).astype(float)
    labels[:2] = 0.0, 1.0
    return X, labels, rng.uniform(0.2, 2.0, n_rows)


@settings(max_examples=10, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(15, 40),
    n_regressors=st.integers(1, 3),
    sizes=st.sampled_from([0.3, 1.0, 3.0, 100.0]),
    squares=st.sampled_from([0.0, 1.0]),
    has_intercept=st.booleans(),
)
def test_optimum_equals_that_of_the_slow_twin(seed, n_rows, n_regressors, sizes, squares, has_intercept):
    X, labels, weights = data(seed, n_rows, n_regressors)
    block = np.ascontiguousarray(X.T[:, :, np.newaxis])
    slopes, intercepts = sparse_logistic_columns(
        block, labels, weights, sizes, squares, has_intercept, 1e-14 * n_rows
    )
    slow_slopes, slow_intercept = twin.fit(X, labels, weights, sizes, squares, has_intercept)
    np.testing.assert_allclose(slopes[0], slow_slopes, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(intercepts[0], slow_intercept, rtol=1e-5, atol=1e-6)
    # Zero is zero: what the penalty leaves out is left out to the last bit.
    np.testing.assert_array_equal(slopes[0] == 0.0, np.abs(slow_slopes) < 1e-9)


@pytest.mark.parametrize("has_intercept", [True, False])
def test_a_column_is_fitted_the_same_beside_others_and_far_from_zero(has_intercept):
    X, labels, weights = data(1, 40, 4)
    whole, _ = sparse_logistic_columns(X[np.newaxis], labels, weights, 0.5, 0.5, has_intercept, 1e-12)
    for column in range(4):
        own = np.ascontiguousarray(X[np.newaxis, :, [column]])
        alone, _ = sparse_logistic_columns(own, labels, weights, 0.5, 0.5, has_intercept, 1e-12)
        np.testing.assert_array_equal(alone[0], whole[column])
    if has_intercept:
        moved, _ = sparse_logistic_columns(
            X[np.newaxis] + 1e4, labels, weights, 0.5, 0.5, has_intercept, 1e-12
        )
        np.testing.assert_allclose(moved, whole, rtol=1e-7)


def test_a_step_is_that_of_newton():
    """One step from 0, where every share is a half: the gradient over the curvature."""
    column = np.array([1.0, 2.0, -1.0, 3.0])
    labels = np.array([0.0, 1.0, 0.0, 1.0])
    block = column[np.newaxis, :, np.newaxis]
    slopes, _ = sparse_logistic_columns(block, labels, np.ones(4), 0.0, 0.0, False, 1e9)
    np.testing.assert_allclose(
        slopes[0, 0], (column * (labels - 0.5)).sum() / (column**2 / 4).sum(), rtol=1e-12
    )
