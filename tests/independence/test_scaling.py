"""Standardised columns are scikit-learn's, bit for bit."""

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler

from ppfs.independence._predictive.risks.linear.scaling import fitted_scaler


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(
    ("with_mean", "with_std"), [(True, True), (False, True), (True, False), (False, False)]
)
def test_scaled_columns_are_those_of_scikit_learn(dtype, with_mean, with_std):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 6)) * [1, 1e-3, 1e9, 1, 0, 1] + [0, 5, 1e9, 1e6, 0.1, 0]
    X[:30, 3] = 1 / 3  # Constant where the scaler is fitted.
    X[0, 5] = 1e140 if dtype is np.float64 else 1e18
    X = X.astype(dtype)
    step = StandardScaler(with_mean=with_mean, with_std=with_std)
    made = fitted_scaler(step, X[:30]).transform(X)
    assert made.dtype == dtype
    np.testing.assert_array_equal(made, step.fit(X[:30]).transform(X))


def test_columns_with_gaps_are_left_to_scikit_learn():
    X = np.array([[1.0, np.nan], [2.0, 3.0], [4.0, 5.0]])
    np.testing.assert_array_equal(
        fitted_scaler(StandardScaler(), X).transform(X), StandardScaler().fit_transform(X)
    )
