"""Poisson, Gamma and Tweedie regression on single columns: the answers are those of scikit-learn's own fits."""

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from ppfs import PPFS
from ppfs._data import read_table
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.log_linear import log_lines, means

EXACT = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}


class OwnPoisson(PoissonRegressor):
    """A caller's class, of which nothing is known: it is fitted through scikit-learn's interface."""


class OwnGamma(GammaRegressor):
    """As above."""


class OwnTweedie(TweedieRegressor):
    """As above."""


MODELS = [
    (PoissonRegressor, OwnPoisson, {"alpha": 1.0}),
    (PoissonRegressor, OwnPoisson, {"alpha": 0.01, "fit_intercept": False}),
    (GammaRegressor, OwnGamma, {"alpha": 0.1}),
    (TweedieRegressor, OwnTweedie, {"power": 1.5, "alpha": 0.1}),
]


def table(n_rows=120):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4)) * [1.0, 100.0, 0.01, 1.0] + [0.0, 50.0, 1.0, 0.0]
    return X, rng.poisson(np.exp(0.5 + 0.4 * X[:, 0] + 0.003 * X[:, 1])) + 1.0


# Where a Newton step fails, scikit-learn 1.6 warns and goes on with lbfgs.
@pytest.mark.filterwarnings("ignore:Line search of Newton solver:sklearn.exceptions.ConvergenceWarning")
@settings(max_examples=25)
@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([1.0, 1.3, 2.0]),
    st.sampled_from([1e-3, 0.1, 1.0]),
    st.booleans(),
    st.booleans(),
)
def test_coefficients_are_those_of_scikit_learn(seed, power, alpha, has_intercept, is_weighted):
    rng = np.random.default_rng(seed)
    # Without scaling, scikit-learn's own solvers do not converge on large numbers.
    columns = rng.normal(size=(3, 40)) * 10.0 ** rng.integers(-2, 1) + rng.integers(-1, 2)
    y = rng.gamma(2.0, np.exp(0.3 * columns[0] / columns[0].std()))
    weights = rng.integers(1, 4, size=40).astype(float) if is_weighted else None
    slopes, intercepts = log_lines(columns, y, weights, power, alpha, has_intercept)
    for column, slope, intercept in zip(columns, slopes, intercepts, strict=True):
        model = TweedieRegressor(power=power, alpha=alpha, link="log", fit_intercept=has_intercept, **EXACT)
        try:
            model.fit(column[:, np.newaxis], y, sample_weight=weights)
        except ConvergenceWarning:
            # With SciPy 1.12 that may fail too; then there is nothing to compare with.
            reject()
        ours = means(slope * column + intercept)
        np.testing.assert_allclose(ours, model.predict(column[:, np.newaxis]), rtol=1e-6)


@pytest.mark.parametrize(("known", "own", "parameters"), MODELS)
@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
@pytest.mark.parametrize("weights", [None, np.arange(120) % 3 + 1.0], ids=["plain", "weighted"])
def test_growth_is_that_of_fits_one_by_one(known, own, parameters, make, weights):
    X, y = table()
    settings = {"n_splits": 6} if make is PPI else {"n_folds": 3}
    kind = "count" if known is PoissonRegressor else "positive"
    found = [
        [
            make(model(**parameters, **EXACT), random_state=0, **settings).evaluate(
                X, y, x, task=kind, sample_weight=weights
            )
            for x in range(4)
        ]
        for model in (known, own)
    ]
    bound = make(known(**parameters)).bind(read_table(X, y, task=kind, owner="test", sample_weight=weights))
    assert "solved for all columns at once" in bound.notes()[0]
    for ours, theirs in zip(*found, strict=True):
        # The law of the p-value of CrossFitPPI depends on the number of coefficients, which a caller's class hides.
        np.testing.assert_allclose(
            [ours.statistic, ours.effect], [theirs.statistic, theirs.effect], rtol=1e-6
        )
        if make is PPI:
            np.testing.assert_allclose(ours.pvalue, theirs.pvalue, rtol=1e-6)


def test_a_column_has_the_same_answer_in_any_block():
    X, y = table()
    together = log_lines(np.ascontiguousarray(X.T), y, None, 1.0, 1.0, True)
    for column in range(4):
        alone = log_lines(np.ascontiguousarray(X.T[[column]]), y, None, 1.0, 1.0, True)
        assert [one[column] for one in together] == [one[0] for one in alone]


def test_a_search_says_how_it_was_answered():
    X, y = table()
    selector = PPFS(PoissonRegressor(alpha=1e-3), task="count", n_splits=10, random_state=0).fit(X, y)
    assert 0 in selector.blanket_
    assert "PoissonRegressor is solved for all columns at once" in selector.trace_.notes[0]
    other = PPFS(TweedieRegressor(power=0), n_splits=10, random_state=0).fit(X, y)
    assert "the engine does not support power=0" in other.trace_.notes[0]
