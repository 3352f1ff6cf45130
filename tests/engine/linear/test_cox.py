"""Cox's regression: equal to scikit-survival's, and its residuals to their definition."""

from __future__ import annotations

import numpy as np
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.util import Surv

from ppfs import _engine


def problem(
    n_rows: int, n_columns: int, ticks: float, seed: int = 0
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return columns, times and events; times are rounded up to this many ticks per unit, 0 for no ties."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    time, censored = rng.exponential(size=(2, n_rows))
    time, censored = time * np.exp(-X[:, 0]), 1.5 * censored
    event, time = time <= censored, np.minimum(time, censored)
    return X, np.ceil(ticks * time) if ticks else time, event


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "ticks"), [(200, 3, 0), (200, 3, 10), (300, 10, 4), (60, 2, 1)]
)
@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_coefficients_are_those_of_scikit_survival(
    n_rows: int, n_columns: int, ticks: float, penalty: float
) -> None:
    X, time, event = problem(n_rows, n_columns, ticks)
    model = CoxPHSurvivalAnalysis(alpha=penalty, ties="efron", tol=1e-12).fit(
        X, Surv.from_arrays(event, time)
    )
    # scikit-survival divides the likelihood by the number of rows, and the penalty is as it is.
    fit = _engine.fit_cox(X, _engine.RiskSets(time, event), penalty)
    np.testing.assert_allclose(fit.coefficients, model.coef_, atol=1e-6)


@pytest.mark.parametrize("ticks", [0, 3])
def test_residuals_follow_their_definition(ticks: float) -> None:
    """The events of a row minus its hazard times the baseline's cumulative hazard, in plain loops."""
    X, time, event = problem(80, 2, ticks)
    fit = _engine.fit_cox(X, _engine.RiskSets(time, event))
    hazard = np.exp(X @ fit.coefficients)
    expected = np.zeros(80)
    for moment in np.unique(time[event]):
        tied = event & (time == moment)
        at_risk = time >= moment
        for number in range(tied.sum()):
            share = number / tied.sum()
            total = hazard[at_risk].sum() - share * hazard[tied].sum()
            expected[at_risk] += hazard[at_risk] / total
            expected[tied] -= share * hazard[tied] / total
    np.testing.assert_allclose(fit.residuals, event - expected, atol=1e-9)
    np.testing.assert_allclose(X.T @ fit.residuals, 0.0, atol=1e-6)


def test_a_weight_of_two_is_a_repeated_row_without_ties_among_events() -> None:
    X, time, event = problem(60, 2, 0)
    weights = np.where(event, 1.0, np.random.default_rng(0).integers(1, 3, size=60))
    twice = np.repeat(np.arange(60), weights.astype(int))
    weighted = _engine.fit_cox(X, _engine.RiskSets(time, event, weights))
    repeated = _engine.fit_cox(X[twice], _engine.RiskSets(time[twice], event[twice]))
    np.testing.assert_allclose(weighted.coefficients, repeated.coefficients, atol=1e-8)


def test_a_column_that_separates_the_events_stays_finite() -> None:
    time, event = np.arange(1.0, 31.0), np.ones(30, dtype=bool)
    fit = _engine.fit_cox(-time[:, np.newaxis], _engine.RiskSets(time, event), 0.1)
    assert np.isfinite(fit.coefficients).all()
    assert np.isfinite(fit.residuals).all()


def test_no_columns_leave_the_log_rank_scores() -> None:
    from ppfs._data.target_kinds import SURVIVAL_TYPE, log_rank_scores

    _, time, event = problem(50, 1, 0)
    y = np.zeros(50, dtype=SURVIVAL_TYPE)
    y["event"], y["time"] = event, time
    fit = _engine.fit_cox(np.empty((50, 0)), _engine.RiskSets(time, event))
    np.testing.assert_allclose(fit.residuals, log_rank_scores(y), atol=1e-12)
