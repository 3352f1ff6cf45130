"""Ridge regression in parts is scikit-learn's RidgeCV, whatever the parts."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV

from ppfs.independence._predictive.knockoffs import ridge_in_parts, smooth_models
from ppfs.independence._predictive.knockoffs.ridge_in_parts import fit_ridge

PENALTIES = np.logspace(-3, 4, 15)


@pytest.mark.parametrize("at_once", [1, 40, 2**21])
@pytest.mark.parametrize(("noise", "centre"), [(0.1, 5.0), (30.0, 1e6)])
def test_it_is_the_model_that_scikit_learn_finds(at_once, noise, centre, monkeypatch):
    monkeypatch.setattr(ridge_in_parts, "_AT_ONCE", at_once)
    generator = np.random.default_rng(0)
    Z = generator.normal(centre, size=(90, 4))
    Z[:, 3] = Z[:, 0] - Z[:, 1]  # Products of these have no inverse.
    x = Z @ [1.0, 2.0, 0.0, 1.0] + noise * generator.normal(size=90)
    expected = RidgeCV(PENALTIES).fit(Z, x)
    found = fit_ridge(lambda rows: rows, 4, Z, x, PENALTIES)
    assert found.error == pytest.approx(-expected.best_score_, rel=1e-8)
    new = generator.normal(centre, size=(30, 4))
    np.testing.assert_allclose(found.predict(new), expected.predict(new), rtol=1e-7)
    np.testing.assert_allclose(found.fitted, expected.predict(Z), rtol=1e-7)


@pytest.mark.parametrize("is_curved", [False, True])
def test_the_law_of_a_column_is_that_of_scikit_learns_models(is_curved, monkeypatch):
    generator = np.random.default_rng(1)
    Z = generator.normal(size=(200, 3))
    Z[:, 2] = generator.integers(0, 3, size=200)
    x = (Z[:, 0] ** 2 if is_curved else Z[:, 0]) + Z[:, 1] + generator.normal(size=200)
    n_levels = np.array([0, 0, 3])
    bases = smooth_models._candidate_bases(Z, n_levels, None)
    models = [RidgeCV(PENALTIES).fit(basis(Z), x) for basis in bases]
    best = int(np.argmax([model.best_score_ for model in models]))
    expected = lambda rows: models[best].predict(bases[best](rows))  # noqa: E731
    assert best or not is_curved
    monkeypatch.setattr(ridge_in_parts, "_AT_ONCE", 500)
    found = smooth_models.fit_smooth_regression(Z, n_levels, x)
    np.testing.assert_allclose(found(Z), expected(Z), rtol=1e-7)
    np.testing.assert_allclose(found(Z[:50]), expected(Z[:50]), rtol=1e-7)
