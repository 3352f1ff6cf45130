"""Where the rise of a risk lies among the rises if rows exchanged their own values with their draws."""

from __future__ import annotations

import numpy as np
from scipy import special

from ppfs._conventions import Floats
from ppfs.independence._predictive.significance.differences import GRID

# Below this distance from the expected rise the saddlepoint formula is 0/0; the expected rise is solved for to within
# _CLOSE_ENOUGH; five to ten steps are usual.
_NEAR_THE_MEAN = 0.01
_CLOSE_ENOUGH = 1e-9
_MAX_STEPS = 100

# Rows whose terms are tilted at once: they stay in the processor's cache.
_ROWS_AT_ONCE = 2**13


def exchange_scores(base: Floats, replaced: Floats) -> Floats:
    """Compare the rise of the risk with the rises if each row exchanged its own value with one of its draws.

    Where the feature adds nothing to the others, its value in a row and the draws of it are exchangeable: any of them
    could have been observed. The distribution of the total rise is then known exactly: it is a sum of
    independent terms, one per row, each of which takes the row's losses with equal probability. Its tails reflect the
    draws, even values that no row of this table has; a t-test reflects the rows only
    (docs/decisions/0181-rows-trade-places-with-their-draws.md). The tail is computed by the saddlepoint
    approximation.

    Parameters
    ----------
    base : ndarray of shape (n_rows,)
        Losses of the rows with their own values.

    replaced : ndarray of shape (n_questions, n_draws, n_rows)
        Losses with the draws.

    Returns
    -------
    ndarray of shape (n_questions,)
        Normal quantiles: where the rise lies in its distribution. 0 where nothing differs.

    References
    ----------
    Robinson, "Saddlepoint approximations for permutation tests and confidence intervals", Journal of the Royal
    Statistical Society B 44, 1982.
    """
    return np.array([_exchange_score(np.vstack([base, draws])) for draws in replaced])


def _exchange_score(losses: Floats) -> float:
    """Return where the rise lies; the first row of ``losses`` is observed, the others are draws."""
    largest = np.abs(losses).max()
    if not np.isfinite(largest) or largest == 0.0:
        return 0.0  # NaN and infinite risks raise where they are judged.
    # In place: with a million rows and ten draws a copy takes long.
    losses /= largest
    terms = np.subtract(losses.mean(axis=0), losses, out=losses)
    deviation = np.sqrt(np.square(terms).mean(axis=0).sum())
    if deviation <= GRID:
        return 0.0
    terms /= deviation
    rise = terms[0].sum()
    # Every row already has its largest, or its smallest, term: no saddlepoint exists, but the probability is known.
    for extreme, sign in ((terms.max(axis=0), 1.0), (terms.min(axis=0), -1.0)):
        if abs(extreme.sum() - rise) <= GRID:
            n_ties = np.isclose(terms, extreme, rtol=0.0, atol=GRID).mean(axis=0)
            return float(-sign * special.ndtri_exp(np.log(n_ties).sum()))
    tilt, cumulant, curvature = _saddlepoint(terms, rise)
    root = np.copysign(np.sqrt(max(0.0, 2.0 * (tilt * rise - cumulant))), tilt)
    if abs(root) < _NEAR_THE_MEAN:
        return float(rise + (terms**3).mean(axis=0).sum() / 6.0)
    return float(root + np.log(tilt * np.sqrt(curvature) / root) / root)


def _saddlepoint(terms: Floats, rise: float) -> tuple[float, float, float]:
    """Return the tilt at which `rise` is expected, with the cumulant function and its curvature there."""
    tilt, low, high = 0.0, -np.inf, np.inf
    for _ in range(_MAX_STEPS):
        cumulant, expected, curvature = _cumulants(terms, tilt)
        excess = expected - rise
        if abs(excess) <= _CLOSE_ENOUGH:
            break
        low, high = (low, tilt) if excess > 0 else (tilt, high)
        # Newton's step, within the bracket and of limited size.
        step = np.clip(-excess / max(curvature, 1e-12), -2.0, 2.0)
        tilt = (
            tilt + step if low < tilt + step < high else (max(low, tilt - 2.0) + min(high, tilt + 2.0)) / 2.0
        )
    return tilt, cumulant, curvature


def _cumulants(terms: Floats, tilt: float) -> tuple[float, float, float]:
    """Return the cumulant function of the sum of the rows' terms at a tilt, its slope and its curvature."""
    found = np.zeros(3)
    for first in range(0, terms.shape[1], _ROWS_AT_ONCE):
        some = terms[:, first : first + _ROWS_AT_ONCE]
        tilted = tilt * some
        top = tilted.max(axis=0)
        shares = np.exp(tilted - top)
        totals = shares.sum(axis=0)
        shares /= totals
        means = (shares * some).sum(axis=0)
        spread = (shares * np.square(some)).sum(axis=0) - np.square(means)
        found += (top + np.log(totals / len(some))).sum(), means.sum(), spread.sum()
    return float(found[0]), float(found[1]), float(found[2])
