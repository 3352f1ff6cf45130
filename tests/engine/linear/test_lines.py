"""Lines through single columns, and products of rows."""

import numpy as np
import pytest

from ppfs._engine import line_columns, row_products


@pytest.mark.parametrize("has_intercept", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_a_line_minimizes_the_weighted_squares(has_intercept, penalty):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(20, 4)) + 2.0
    X[:, 2] = 0.1  # A constant, whose mean is rounded.
    X[:, 3] = 0.0
    weights, y = rng.integers(0, 3, size=20).astype(float), rng.normal(size=20)
    slopes, means = line_columns(X, weights, y, penalty, has_intercept)
    expected = (weights[:, np.newaxis] * X).sum(axis=0) / weights.sum() if has_intercept else np.zeros(4)
    np.testing.assert_allclose(means, expected, atol=1e-12)
    centered = X - expected
    squares = (weights[:, np.newaxis] * centered**2).sum(axis=0) + penalty
    pulls = (weights * y) @ centered
    for column in range(4):
        is_flat = has_intercept and column >= 2
        own = 0.0 if is_flat or squares[column] == 0.0 else pulls[column] / squares[column]
        np.testing.assert_allclose(slopes[column], own, atol=1e-12)


@pytest.mark.parametrize("n_regressors", [0, 1, 3, 4, 5, 8, 11])
def test_products_of_rows_for_any_number_of_regressors(n_regressors):
    design = np.random.default_rng(0).normal(size=(n_regressors, 6))
    np.testing.assert_allclose(row_products(design), design.T @ design, atol=1e-12)
