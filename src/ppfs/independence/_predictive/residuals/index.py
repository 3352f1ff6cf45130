"""Curves of one learned index of the columns: a sum, a distance from a center, a product."""

from __future__ import annotations

import numpy as np

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.regressors import unit

# A curve is linear between knots, one for every _ROWS_PER_KNOT rows; its bends are penalized by this share of the rows
# between two knots.
_FEWEST_KNOTS, _MOST_KNOTS, _ROWS_PER_KNOT, _BENDS = 6, 24, 15, 0.03

# An index is improved until the error falls by less than this share, or at most so often; the penalty of a change is
# this share of the mean square.
_GAIN, _MOST_CHANGES, _CHANGES = 0.005, 8, 0.03

# Steps of an index have this many rows on either side, or this share of the rows.
_STEPS, _FEWEST_ROWS, _LEAST_SHARE = 3, 5, 0.02


class _Curve:
    """A piecewise linear curve of an index, fitted to a response by penalized least squares.

    Attributes
    ----------
    fitted, slopes : ndarray of shape (n_rows,)

    error : float
        The sum of squares that it leaves.
    """

    def __init__(self, index: Floats, response: Floats) -> None:
        n_knots = int(np.clip(index.size // _ROWS_PER_KNOT, _FEWEST_KNOTS, _MOST_KNOTS))
        ordered = np.sort(index)
        knots = np.unique(ordered[np.linspace(0, index.size - 1, n_knots).astype(np.intp)])
        if knots.size < 2:
            knots = np.array([knots[0], knots[0] + 1.0])
        k, widths = knots.size, np.diff(knots)
        place = np.clip(np.searchsorted(knots, index, side="right") - 1, 0, k - 2)
        above = (index - knots[place]) / widths[place]
        below = 1.0 - above
        # The normal equations of hat functions, which overlap with their neighbors only.
        beside = np.bincount(place, below * above, k)[: k - 1]
        gram = np.diag(np.bincount(place, below**2, k) + np.bincount(place + 1, above**2, k))
        gram += np.diag(beside, 1) + np.diag(beside, -1)
        bends = np.diff(np.eye(k), 2, axis=0)
        gram += _BENDS * index.size / k * bends.T @ bends + 1e-6 * np.eye(k)
        moments = np.bincount(place, below * response, k) + np.bincount(place + 1, above * response, k)
        heights = np.linalg.solve(gram, moments)
        self.fitted: Floats = heights[place] * below + heights[place + 1] * above
        self.slopes: Floats = (np.diff(heights) / widths)[place]
        self.error = float(((response - self.fitted) ** 2).sum())


def curve_of(index: Floats, response: Floats) -> Floats:
    """Return the curve of an index that fits a response."""
    return _Curve(_standardized(index), response).fitted


def improved(index: Floats, features: Floats, response: Floats) -> tuple[Floats, Floats]:
    """Change an index by sums of features until a curve of it fits a response best, by Gauss and Newton's steps.

    Parameters
    ----------
    index : ndarray of shape (n_rows,)

    features : ndarray of shape (n_rows, n_features)

    response : ndarray of shape (n_rows,)

    Returns
    -------
    index, fitted : ndarray of shape (n_rows,)
        The index, and the curve of it.
    """
    index = _standardized(index)
    curve, share = _Curve(index, response), 1.0
    for _ in range(_MOST_CHANGES):
        slopes = curve.slopes[:, np.newaxis] * features
        gram = slopes.T @ slopes
        gram[np.diag_indices_from(gram)] += _CHANGES * np.trace(gram) / len(gram) + 1e-12
        change = features @ np.linalg.solve(gram, slopes.T @ (response - curve.fitted))
        other = _standardized(index + share * change)
        tried = _Curve(other, response)
        gain = curve.error - tried.error
        if gain > 0.0:
            index, curve = other, tried
        if gain < _GAIN * curve.error:
            if share < 1.0:
                break
            share = 0.4
    return index, curve.fitted


class PairIndices:
    """Indices of two columns: their distance from a center, product, sum, difference, maximum and minimum."""

    def __init__(self, first: Floats, second: Floats) -> None:
        squares, product = (first**2, second**2), first * second
        self._starts = (
            squares[0] + squares[1],
            product,
            first + second,
            first - second,
            np.maximum(first, second),
            np.minimum(first, second),
        )
        self._features = np.column_stack([first, second, *squares, product])

    def best(self, response: Floats) -> tuple[Floats, Floats]:
        """Return the index that fits a response best, improved, and the curve of it."""
        start = min(self._starts, key=lambda one: _Curve(one, response).error)
        return improved(start, self._features, response)


def best_steps(response: Floats, index: Floats) -> Floats:
    """Return steps of an index, each at the threshold that explains most of what the earlier ones leave."""
    left = response - response.mean()
    order = np.argsort(index, kind="stable")
    ordered, n = index[order], index.size
    margin = max(_FEWEST_ROWS, int(_LEAST_SHARE * n))
    counts = np.arange(1, n)
    is_cut = (ordered[:-1] < ordered[1:]) & (counts >= margin) & (counts <= n - margin)
    steps = np.zeros((n, _STEPS))
    for step in steps.T:
        if not is_cut.any():
            break
        sums = np.cumsum(left[order])[:-1]
        best = int(np.where(is_cut, sums**2 * (n / (counts * (n - counts))), -1.0).argmax())
        is_low = index <= ordered[best]
        left = left - np.where(is_low, left[is_low].mean(), left[~is_low].mean())
        step[:] = is_low
    return steps


def _standardized(index: Floats) -> Floats:
    return unit(index[:, np.newaxis])[:, 0]
