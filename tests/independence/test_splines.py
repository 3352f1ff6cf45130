"""Splines of many columns at once are scikit-learn's."""

import numpy as np
import pytest
from sklearn.preprocessing import SplineTransformer

from ppfs.independence._predictive.risks.linear.splines import fitted_splines


@pytest.mark.parametrize("knots", ["uniform", "quantile"])
@pytest.mark.parametrize(
    ("n_knots", "degree", "include_bias"), [(5, 3, True), (3, 2, False), (2, 1, True), (9, 3, False)]
)
def test_splines_of_many_columns_are_those_of_scikit_learn(knots, n_knots, degree, include_bias):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    X[:, 1] = np.exp(3 * X[:, 1])
    X[:, 2] = rng.integers(0, 4, size=60)
    X[:, 3] = rng.poisson(0.1, size=60)  # Quantiles coincide.
    X[:30, 4] = 1.0  # A constant train part.
    step = SplineTransformer(n_knots, degree=degree, knots=knots, include_bias=include_bias)
    expected = step.fit(X[:30]).transform(X)
    made = fitted_splines(step, X[:30]).transform(X)
    np.testing.assert_allclose(made, expected, rtol=1e-9, atol=1e-12)
    alone = [fitted_splines(step, X[:30, [j]]).transform(X[:, [j]]) for j in range(5)]
    np.testing.assert_array_equal(made, np.hstack(alone))


@pytest.mark.parametrize("extrapolation", ["linear", "continue", "periodic"])
def test_other_ends_are_left_to_scikit_learn(extrapolation):
    X = np.random.default_rng(1).normal(size=(40, 2))
    step = SplineTransformer(extrapolation=extrapolation)
    made = fitted_splines(step, X[:20]).transform(X)
    np.testing.assert_array_equal(made, step.fit(X[:20]).transform(X))
