"""Regressions of every column on all others at once are those that scikit-learn fits one by one."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from ppfs.blanket._steps.alike import _PENALTIES, _explained, _standardized


def correlated(rng, n_rows, n_columns):
    return rng.normal(size=(n_rows, 1)) + rng.normal(size=(n_rows, n_columns)) * rng.gamma(
        1.0, size=n_columns
    )


@pytest.mark.parametrize(("n_rows", "n_columns"), [(60, 20), (40, 40), (30, 70)])
def test_every_column_is_explained_as_ridge_with_cross_validation_does(n_rows, n_columns):
    X = correlated(np.random.default_rng(0), n_rows, n_columns) * 7.0 + 3.0
    explained = _explained(_standardized(X))
    for column in range(0, n_columns, 7):
        others = StandardScaler().fit_transform(np.delete(X, column, axis=1))
        own = StandardScaler().fit_transform(X[:, [column]]).ravel()
        assert explained[column] == pytest.approx(1.0 + RidgeCV(_PENALTIES).fit(others, own).best_score_)


def test_what_others_explain_is_measured_on_left_out_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 50))
    X[:, 0] = X[:, 1] + 0.1 * rng.normal(size=60)
    X[:, 4] = 2.0
    explained = _explained(_standardized(X))
    assert explained[0] > 0.9
    assert explained[5:].max() < 0.2
    # Nothing of a constant column is left to explain.
    assert explained[4] == pytest.approx(1.0)
