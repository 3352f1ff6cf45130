"""Risks of Poisson, Gamma and Tweedie regression: on one column two coefficients, solved for all columns at once."""

from __future__ import annotations

import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import KnownParameters
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ColumnGrower, GrowthRisks
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.source import OTHER_KIND

# The minimum is found to the last digits, where scikit-learn stops at `tol`: how it searches has no effect here.
_KNOWN = KnownParameters(
    read=("alpha", "fit_intercept", "power"),
    only={"link": ("auto", "log")},
    without_effect=("solver", "max_iter", "tol", "warm_start", "verbose"),
)

# The power of the mean that the variance is proportional to.
_POWERS = {PoissonRegressor: 1.0, GammaRegressor: 2.0}

# The most steps of Newton's method, and halvings of a step; the slope per row at which it ends.
_MOST_STEPS, _MOST_HALVINGS, _FLAT = 100, 30, 1e-12

# Logarithms of means are cut here, so that powers of them stay finite.
_MOST_LOG = 200.0


class LogLinearRisks(GrowthRisks):
    """`ModelRisks` of regressions with a log link, solved for all columns of a block at once in growth."""

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the models cannot be solved at once, or None if they can."""
        estimator = problem.estimator
        if type(estimator) not in (*_POWERS, TweedieRegressor):
            return OTHER_KIND
        unknown = _KNOWN.first_unknown(estimator)
        if unknown is not None:
            return f"the engine does not support {unknown}"
        power = power_of(estimator)
        if not 1.0 <= power <= 2.0:
            # Beyond these powers the deviance is not convex in the logarithm of the mean, or not defined for it.
            return f"the engine does not support power={power}"
        if problem.impute is not None or problem.frame is not None or table.is_sparse:
            return "the engine reads dense columns of numbers as they are"
        wrong = problem.y < 0 if power < 2.0 else problem.y <= 0
        if problem.y.ndim > 1 or wrong.any():
            # scikit-learn's own error says what is wrong.
            return "the target has values that this model does not take"
        if problem.loss.output != "values":
            return f"the engine does not predict {problem.loss.output}"
        return None

    def grower(self) -> Grower:
        """Return what solves models of single columns."""
        return LogLinearGrower(self.problem)


def power_of(estimator: PoissonRegressor | GammaRegressor | TweedieRegressor) -> float:
    """Return the power of the mean that the variance of a regression is proportional to."""
    return float(_POWERS.get(type(estimator)) or estimator.power)


class LogLinearGrower(ColumnGrower):
    """Solves the models of single columns, a block at a time."""

    def _predicted(self, columns: Floats, split: Split) -> Floats:
        problem = self.problem
        estimator, weights = problem.estimator, problem.weights.fit
        slopes, intercepts = log_lines(
            columns[:, split.train],
            np.asarray(problem.y[split.train], dtype=np.float64),
            None if weights is None else weights[split.train],
            power_of(estimator),
            float(estimator.alpha),
            bool(estimator.fit_intercept),
        )
        return means(slopes[:, np.newaxis] * columns[:, split.test] + intercepts[:, np.newaxis])[
            :, :, np.newaxis
        ]


def means(logs: Floats) -> Floats:
    """Return the powers of e."""
    return np.asarray(np.exp(np.clip(logs, -_MOST_LOG, _MOST_LOG)))


def log_lines(
    columns: Floats, y: Floats, weights: Floats | None, power: float, alpha: float, has_intercept: bool
) -> tuple[Floats, Floats]:
    """Return the slope and the intercept of a regression of y with a log link on each single column.

    They minimize the weighted mean of half the Tweedie deviance plus ``alpha / 2`` times the squared slope, by Newton's
    method. Sums run along rows of the arrays and columns stop on their own, so that a column's answer does not depend
    on the others.

    Parameters
    ----------
    columns : ndarray of shape (n_columns, n_rows)

    y : ndarray of shape (n_rows,)

    weights : ndarray of shape (n_rows,) or None

    power : float
        1 is Poisson, 2 is Gamma; between them the deviance is convex, too.

    Returns
    -------
    slopes, intercepts : ndarray of shape (n_columns,)
    """
    shares = np.full(y.size, 1.0 / y.size) if weights is None else weights / weights.sum()
    center = (columns * shares).sum(axis=1) if has_intercept else np.zeros(len(columns))
    scale = np.sqrt((((columns - center[:, np.newaxis]) ** 2) * shares).sum(axis=1))
    scale = np.where(scale > 0.0, scale, 1.0)
    scaled = (columns - center[:, np.newaxis]) / scale[:, np.newaxis]
    penalties = alpha / scale**2
    found = np.zeros((len(columns), 2))
    if has_intercept:
        found[:, 1] = np.log(max(float((y * shares).sum()), np.finfo(np.float64).tiny))
    active = np.arange(len(columns))
    for _ in range(_MOST_STEPS):
        if not active.size:
            break
        X, penalty, start = scaled[active], penalties[active], found[active]
        value, slope, step = _newton(X, y, shares, power, penalty, start, has_intercept)
        is_open = np.abs(slope).max(axis=1) > _FLAT
        taken = np.ones(active.size)
        for _ in range(_MOST_HALVINGS):
            tried = start - taken[:, np.newaxis] * step
            is_worse = _value(X, y, shares, power, penalty, tried) > value + 1e-14 * np.abs(value)
            if not (is_worse & is_open).any():
                break
            taken = np.where(is_worse, 0.5 * taken, taken)
        found[active[is_open]] = (start - taken[:, np.newaxis] * step)[is_open]
        moved = np.abs(taken[:, np.newaxis] * step).max(axis=1) > 1e-15 * np.abs(found[active]).max(axis=1)
        active = active[is_open & moved]
    slopes = found[:, 0] / scale
    return slopes, found[:, 1] - slopes * center


def _logs(X: Floats, coefficients: Floats) -> Floats:
    logs: Floats = X * coefficients[:, :1] + coefficients[:, 1:]
    return np.clip(logs, -_MOST_LOG, _MOST_LOG)


def _value(
    X: Floats, y: Floats, shares: Floats, power: float, penalty: Floats, coefficients: Floats
) -> Floats:
    """Return the mean half deviance, less what does not depend on the coefficients, plus the penalty."""
    logs = _logs(X, coefficients)
    if power == 1.0:
        loss = np.exp(logs) - y * logs
    elif power == 2.0:
        loss = logs + y * np.exp(-logs)
    else:
        loss = np.exp((2.0 - power) * logs) / (2.0 - power) - y * np.exp((1.0 - power) * logs) / (1.0 - power)
    total: Floats = (loss * shares).sum(axis=1) + 0.5 * penalty * coefficients[:, 0] ** 2
    return total


def _newton(
    X: Floats,
    y: Floats,
    shares: Floats,
    power: float,
    penalty: Floats,
    coefficients: Floats,
    has_intercept: bool,
) -> tuple[Floats, Floats, Floats]:
    """Return the value, its derivatives by slope and intercept, and Newton's step, for every column."""
    logs = _logs(X, coefficients)
    upper, lower = np.exp((2.0 - power) * logs), y * np.exp((1.0 - power) * logs)
    first = (upper - lower) * shares
    second = ((2.0 - power) * upper - (1.0 - power) * lower) * shares
    by_slope = (first * X).sum(axis=1) + penalty * coefficients[:, 0]
    by_intercept = first.sum(axis=1) if has_intercept else np.zeros(len(X))
    slope_slope = (second * X * X).sum(axis=1) + penalty
    both = (second * X).sum(axis=1) if has_intercept else np.zeros(len(X))
    level = second.sum(axis=1) if has_intercept else np.ones(len(X))
    determinant = np.maximum(slope_slope * level - both**2, 1e-300)
    step = np.column_stack(
        [
            (level * by_slope - both * by_intercept) / determinant,
            (slope_slope * by_intercept - both * by_slope) / determinant,
        ]
    )
    value = _value(X, y, shares, power, penalty, coefficients)
    return value, np.column_stack([by_slope, by_intercept]), step
