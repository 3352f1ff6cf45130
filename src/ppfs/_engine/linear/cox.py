"""Cox's proportional hazards: Newton's method on the partial likelihood, with Efron's treatment of ties."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_MAX_STEPS = 60
_MAX_HALVINGS = 30
_TOLERANCE = 1e-10
# Log hazards beyond this overflow when they are multiplied; no finite data require it.
_LARGEST = 200.0


@dataclass(frozen=True)
class RiskSets:
    """Who was at risk at each event, found once for all models of the same rows.

    Parameters
    ----------
    time : ndarray of shape (n_rows,)

    event : ndarray of bool, shape (n_rows,)
        Whether the event was observed at that time; if not, the row is censored.

    weights : ndarray of shape (n_rows,) or None
        The weight of each row; None: 1.
    """

    time: Floats
    event: NDArray[np.bool_]
    weights: Floats | None = None

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rows, latest first."""
        return np.argsort(-self.time, kind="stable")

    @cached_property
    def _last_at_risk(self) -> NDArray[np.intp]:
        """For each event, how many rows are at risk: the rows at the beginning of `order`."""
        return np.searchsorted(-self.time[self.order], -self._event_times, side="right")

    @cached_property
    def _events(self) -> NDArray[np.intp]:
        """The rows with an event, latest first."""
        return self.order[self.event[self.order]]

    @cached_property
    def _event_times(self) -> Floats:
        return self.time[self._events]

    @cached_property
    def _ties(self) -> tuple[NDArray[np.intp], Floats, NDArray[np.intp]]:
        """For each event: the number of its tie, its share l / d among the d tied events, and the size d."""
        starts = np.r_[True, self._event_times[1:] != self._event_times[:-1]]
        number = np.cumsum(starts) - 1
        sizes = np.bincount(number)
        within = np.arange(number.size) - np.flatnonzero(starts)[number]
        return number, within / sizes[number], sizes

    def at_risk(self, values: Floats) -> Floats:
        """Return Efron's sums over the rows at risk, one per event: of those tied, a share no longer counts.

        Parameters
        ----------
        values : ndarray of shape (n_rows,) or (n_rows, k)
        """
        number, share, sizes = self._ties
        sums = np.cumsum(values[self.order], axis=0)[self._last_at_risk - 1]
        if (sizes == 1).all():
            return sums
        tied = np.zeros((sizes.size, *values.shape[1:]))
        np.add.at(tied, number, values[self._events])
        return np.asarray(sums - (share if values.ndim == 1 else share[:, np.newaxis]) * tied[number])

    def accumulated(self, steps: Floats) -> Floats:
        """Return for each row the sum of the steps of the events that it was at risk of, as `at_risk` counts it."""
        number, share, sizes = self._ties
        # Steps of all events at or before a row's time: events are sorted latest first.
        after = np.r_[np.cumsum(steps[::-1])[::-1], 0.0]
        first = np.searchsorted(-self._event_times, -self.time)
        total = after[first]
        if not (sizes == 1).all():
            left_out = np.bincount(number, share * steps)
            total[self._events] -= left_out[number]
        return np.asarray(total)

    @cached_property
    def event_weights(self) -> Floats:
        """The weight of each event: the mean of those that are tied."""
        if self.weights is None:
            return np.ones(self._events.size)
        number, _, sizes = self._ties
        means = np.bincount(number, self.weights[self._events]) / sizes
        return np.asarray(means[number])

    def log_likelihood(self, hazards: Floats, log_hazards: Floats) -> float:
        """Return the logarithm of the partial likelihood."""
        own = self.weights[self._events] if self.weights is not None else 1.0
        observed = float((own * log_hazards[self._events]).sum())
        return observed - float((self.event_weights * np.log(self.at_risk(self._weighted(hazards)))).sum())

    def cumulative_hazard(self, hazards: Floats) -> Floats:
        """Return the baseline's cumulative hazard up to the time of each row, given relative hazards."""
        return self.accumulated(self.event_weights / self.at_risk(self._weighted(hazards)))

    def _weighted(self, values: Floats) -> Floats:
        if self.weights is None:
            return values
        return values * (self.weights if values.ndim == 1 else self.weights[:, np.newaxis])

    def martingale_residuals(self, log_hazards: Floats) -> Floats:
        """Return the events of each row that the model did not expect: 1 or 0 minus the expected number."""
        hazards = np.exp(log_hazards - log_hazards.max())
        return np.asarray(self.event - hazards * self.cumulative_hazard(hazards))


@dataclass(frozen=True)
class CoxFit:
    """A fitted model.

    Attributes
    ----------
    coefficients : ndarray of shape (n_columns,)

    residuals : ndarray of shape (n_rows,)
        The martingale residuals.
    """

    coefficients: Floats
    residuals: Floats


def fit_cox(X: Floats, risk_sets: RiskSets, penalty: Floats | float = 0.0) -> CoxFit:
    """Maximize the partial likelihood minus half the penalized sum of squared coefficients.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Best centered and scaled.

    penalty : float or ndarray of shape (n_columns,), default=0
        The ridge penalty of each coefficient.
    """
    n_columns = X.shape[1]
    ridge = np.broadcast_to(np.asarray(penalty, dtype=np.float64), (n_columns,))
    beta = np.zeros(n_columns)
    log_hazards = np.zeros(len(X))
    value = _objective(risk_sets, log_hazards, beta, ridge)
    for _ in range(_MAX_STEPS if n_columns else 0):
        gradient, hessian = _derivatives(X, risk_sets, log_hazards)
        gradient = gradient - ridge * beta
        hessian[np.diag_indices_from(hessian)] += ridge
        step = np.linalg.lstsq(hessian, gradient, rcond=1e-12)[0]
        if float(gradient @ step) <= 2.0 * _TOLERANCE:
            beta = beta + step
            log_hazards = X @ beta
            break
        for _ in range(_MAX_HALVINGS):
            tried = beta + step
            log_tried = X @ tried
            reached = _objective(risk_sets, log_tried, tried, ridge)
            if reached >= value:
                break
            step = step / 2.0
        else:
            break
        beta, log_hazards, value = tried, log_tried, reached
    return CoxFit(beta, risk_sets.martingale_residuals(log_hazards))


def _objective(risk_sets: RiskSets, log_hazards: Floats, beta: Floats, ridge: Floats) -> float:
    centered = log_hazards - log_hazards.max()
    if np.ptp(centered) > _LARGEST:
        return -np.inf
    return risk_sets.log_likelihood(np.exp(centered), centered) - 0.5 * float(ridge @ beta**2)


def _derivatives(X: Floats, risk_sets: RiskSets, log_hazards: Floats) -> tuple[Floats, Floats]:
    """Return the gradient of the log partial likelihood, and minus its matrix of second derivatives.

    The latter is X' diag(h L) X minus the sum over events of m m', where h are the hazards, L the cumulative baseline
    hazard of each row, and m the mean of X at risk: two products instead of a loop over events.
    """
    hazards = risk_sets._weighted(np.exp(log_hazards - log_hazards.max()))
    at_risk = risk_sets.at_risk(hazards)
    means = risk_sets.at_risk(hazards[:, np.newaxis] * X) / at_risk[:, np.newaxis]
    expected = hazards * risk_sets.accumulated(risk_sets.event_weights / at_risk)
    observed = risk_sets.event if risk_sets.weights is None else risk_sets.event * risk_sets.weights
    gradient = X.T @ (observed - expected)
    scaled = means * np.sqrt(risk_sets.event_weights)[:, np.newaxis]
    return gradient, (X * expected[:, np.newaxis]).T @ X - scaled.T @ scaled
