"""Tests by residuals of random forests, as in pycomets: the generalized covariance measure, and its projected form.

GCM: Shah and Peters, "The hardness of conditional independence testing and the generalised covariance measure", 2020.
PCM: Lundborg, Kim, Shah and Samworth, "The projected covariance measure for assumption-lean variable significance
testing", 2024, algorithm 1 with one division of the rows. Forests predict the rows that they were fitted on out of bag.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm
from sklearn.ensemble import RandomForestRegressor

Floats = NDArray[np.float64]


def _forest(seed: int) -> RandomForestRegressor:
    return RandomForestRegressor(100, min_samples_leaf=5, oob_score=True, random_state=seed)


def _left(z: Floats, response: Floats, seed: int) -> Floats:
    """Return what a forest leaves of a response, out of bag."""
    return np.asarray(response - _forest(seed).fit(z, response).oob_prediction_)


def gcm(x: Floats, y: Floats, z: Floats, seed: int) -> float:
    """Return the two-sided p-value of the mean product of both residuals."""
    products = _left(z, x, seed) * _left(z, y, seed)
    return float(2 * norm.sf(abs(products.sum()) / np.sqrt((products**2).sum())))


def pcm(x: Floats, y: Floats, z: Floats, seed: int) -> float:
    """Return the one-sided p-value of the projected covariance measure.

    One half of the rows learns a direction: what a forest of x and z predicts of y beyond z, over the variance that is
    left. The other half tests the product of the residuals of y and of this direction.
    """
    n = len(y)
    rng = np.random.default_rng(seed)
    half = rng.permutation(n) < n // 2
    xz = np.column_stack([x, z])
    both = _forest(seed).fit(xz[half], y[half])
    fitted = both.predict(xz[half])
    alone = _forest(seed).fit(z[half], fitted)
    squares = (y[half] - both.oob_prediction_) ** 2
    spread = _forest(seed).fit(xz[half], squares)

    def direction(rows: NDArray[np.bool_]) -> Floats:
        return np.asarray(both.predict(xz[rows]) - alone.predict(z[rows]))

    sign = np.sign(((y[half] - alone.predict(z[half])) * direction(half)).mean()) or 1.0
    floor = _floor(squares, np.maximum(spread.oob_prediction_, 0.0))
    weighted = sign * direction(~half) / (np.maximum(spread.predict(xz[~half]), 0.0) + floor)
    products = _left(z[~half], y[~half], seed) * _left(z[~half], weighted, seed)
    return float(norm.sf(products.mean() / (products.std() / np.sqrt(len(products)))))


def _floor(squares: Floats, variances: Floats) -> float:
    """Return what is added to variances so that the standardized squares have a mean of at most 1."""

    def excess(added: float) -> float:
        return float((squares / np.maximum(variances + added, 1e-12)).mean() - 1.0)

    return 0.0 if excess(0.0) <= 0.0 else float(brentq(excess, 0.0, float(squares.mean()) + 1e-12))
