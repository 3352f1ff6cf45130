"""Curves of one learned index of the columns: a sum, a distance from a center, a product."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.regressors import settled, smallest_unit, unit
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# A curve is linear between knots, one for every _ROWS_PER_KNOT rows; its bends are penalized by this share of the rows
# between two knots.
_FEWEST_KNOTS, _MOST_KNOTS, _ROWS_PER_KNOT, _BENDS = 6, 24, 15, 0.03

# An index is improved until the error falls by less than this share, and at most this often; the penalty of a change
# is this share of the mean square.
_GAIN, _MOST_CHANGES, _CHANGES = 0.005, 8, 0.03

# The penalty of the direction that a learned sum begins with, per row.
_PENALTY = 0.03

# Steps of an index have this many rows on either side, or this share of the rows.
_STEPS, _FEWEST_ROWS, _LEAST_SHARE = 3, 5, 0.02

# Of features with at most this many values, what all responses share is kept: up to 40 MiB.
_MOST_KEPT = 2**20

# From the block of rows that is left out, or None, to an index of all rows and a curve of it.
Learn = Callable[[int | None], tuple[Floats, Callable[[Floats], Floats]]]


class _Curve:
    """A piecewise linear curve of an index, fitted to a response by penalized least squares.

    Attributes
    ----------
    error : float
        The sum of squares that it leaves.

    fitted : ndarray of shape (n_rows,)
        The heights at the values that it was fitted to.
    """

    def __init__(self, index: Floats, response: Floats) -> None:
        self._unit = smallest_unit(index)
        index = settled(index, self._unit)
        n_knots = min(max(index.size // _ROWS_PER_KNOT, _FEWEST_KNOTS), _MOST_KNOTS)
        knots = np.sort(index)[_evenly(index.size, n_knots)]
        differs = knots[1:] != knots[:-1]
        if not differs.all():
            knots = knots[np.concatenate([[True], differs])]
        if knots.size < 2:
            knots = np.array([knots[0], knots[0] + 1.0])
        self._knots, k = knots, knots.size
        self._widths = knots[1:] - knots[:-1]
        place, above = self._placed(index)
        # Where the values that it was fitted to are.
        self._place = place
        below = 1.0 - above
        # The normal equations of hat functions, which overlap with their neighbors only.
        gram = _roughness(index.size, k).copy()
        gram.flat[:: k + 1] += np.bincount(place, below**2, k) + np.bincount(place + 1, above**2, k)
        beside = np.bincount(place, below * above, k)[: k - 1]
        gram.flat[1 :: k + 1] += beside
        gram.flat[k :: k + 1] += beside
        moments = np.bincount(place, below * response, k) + np.bincount(place + 1, above * response, k)
        self._heights: Floats = np.linalg.solve(gram, moments)
        self.fitted = self._at(place, above)
        self.error = float(((response - self.fitted) ** 2).sum())

    def _placed(self, index: Floats) -> tuple[NDArray[np.intp], Floats]:
        """Return the knot below each value, and its relative distance from there to the next one."""
        # As by `searchsorted`; comparing with every one of a few knots takes a third of the time.
        is_above = index >= self._knots[1:-1, np.newaxis]
        place = np.add.reduce(is_above.view(np.uint8), axis=0, dtype=np.uint8).astype(np.intp)
        above = (index - self._knots[place]) / self._widths[place]
        return place, np.minimum(np.maximum(above, 0.0), 1.0)

    def _at(self, place: NDArray[np.intp], above: Floats) -> Floats:
        fitted: Floats = self._heights[place] * (1.0 - above) + self._heights[place + 1] * above
        return fitted

    def __call__(self, index: Floats) -> Floats:
        """Return the height at each value, beyond the outer knots that of the outer knot."""
        return self._at(*self._placed(settled(index, self._unit)))

    @property
    def slopes(self) -> Floats:
        """The slope at each value that it was fitted to."""
        return np.asarray(((self._heights[1:] - self._heights[:-1]) / self._widths)[self._place])


@lru_cache(maxsize=64)
def _evenly(n_rows: int, n_knots: int) -> NDArray[np.intp]:
    """Return the places of knots with equally many rows between them."""
    return np.linspace(0, n_rows - 1, n_knots).astype(np.intp)


@lru_cache(maxsize=64)
def _roughness(n_rows: int, n_knots: int) -> Floats:
    """Return the matrix of the penalty of bends, and a little more: shape (n_knots, n_knots)."""
    bends = np.diff(np.eye(n_knots), 2, axis=0)
    penalty: Floats = _BENDS * n_rows / n_knots * bends.T @ bends + 1e-6 * np.eye(n_knots)
    return penalty


class Features:
    """Columns that indices are sums of, and what all responses share: the rows of each fit, and their products.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
    """

    def __init__(self, values: Floats) -> None:
        self.values = values
        self._known: dict[tuple[str, int | None], Any] = {}

    def predicted(self, response: Floats, block: int | None, slopes: Floats | None = None) -> Floats:
        """Return the sum of features, at all rows, that predicts a response best, by ridge regression.

        Parameters
        ----------
        response : ndarray of shape (n_seen,)
            Of the rows outside the block.

        slopes : ndarray of shape (n_seen,), default=None
            What each row of features is multiplied by to predict the response.
        """
        rows, (n_rows, n_features) = rows_without(block, len(self.values)), self.values.shape
        penalty, share = (_PENALTY * response.size, 0.0) if slopes is None else (1e-12, _CHANGES)
        if n_features <= response.size:
            seen = self._kept("rows", block, self.values.size, lambda: self.values[rows])
            gram = None
            if slopes is None:
                gram = self._kept("gram", block, self.values.size, lambda: seen.T @ seen)
            else:
                seen = slopes[:, np.newaxis] * seen
            return np.asarray(self.values @ ridge(seen, response, penalty, share, gram))
        # A' (AA' + p I)^-1 y: with more features than rows, from the products of rows, which all blocks share.
        between = self._kept("products", None, 0, lambda: self.values @ self.values.T)[:, rows]

        def factor() -> Any:
            products = between[rows] if slopes is None else between[rows] * slopes[:, np.newaxis] * slopes
            products = products + (share * np.trace(products) / n_features + penalty) * np.eye(response.size)
            return cho_factor(products, lower=True, overwrite_a=True, check_finite=False)

        if slopes is not None:
            return np.asarray(between @ (slopes * cho_solve(factor(), response, check_finite=False)))
        factored = self._kept("factor", block, n_rows**2, factor)
        return np.asarray(between @ cho_solve(factored, response, check_finite=False))

    def _kept(self, what: str, block: int | None, size: int, make: Callable[[], Any]) -> Any:
        if size > _MOST_KEPT:
            return make()
        if (what, block) not in self._known:
            self._known[what, block] = make()
        return self._known[what, block]


@dataclass(frozen=True)
class Index:
    """Where an index of the columns begins, and what it is changed by.

    Attributes
    ----------
    start : ndarray of shape (n_rows,)

    features : Features
        An index is changed by sums of these until a curve of it fits a response best, by Gauss and Newton's steps.
    """

    start: Floats
    features: Features

    @cached_property
    def _unit_start(self) -> Floats:
        return np.ascontiguousarray(unit(self.start[:, np.newaxis])[:, 0])

    def error(self, response: Floats) -> float:
        """Return the sum of squares that a curve of the start leaves."""
        return _Curve(self._unit_start, response).error

    def learned(
        self, response: Floats, block: int | None, most_changes: int = _MOST_CHANGES
    ) -> tuple[Floats, Callable[[Floats], Floats]]:
        """Learn from the rows outside a block, and return the index of all rows and a curve of it."""
        rows = rows_without(block, response.size)
        known = response[rows]
        index = _standardized(self.start, rows)
        curve, share = _Curve(index[rows], known), 1.0
        change: Floats | None = None
        for _ in range(most_changes if self.features.values.shape[1] else 0):
            if change is None:
                change = self.features.predicted(known - curve.fitted, block, curve.slopes)
            other = _standardized(index + share * change, rows)
            tried = _Curve(other[rows], known)
            gain = curve.error - tried.error
            if gain > 0.0:
                index, curve, change = other, tried, None
            if gain < _GAIN * curve.error:
                if share < 1.0:
                    break
                share = 0.4
        return index, curve


@lru_cache(maxsize=64)
def rows_without(block: int | None, n_rows: int) -> NDArray[np.bool_] | slice:
    """Return the rows outside a block, or all."""
    return slice(None) if block is None else np.arange(n_rows) % BLOCKS != block


def of_sum(features: Features, response: Floats, block: int | None) -> Index:
    """Return the sum of columns that predicts a response outside a block best, by ridge regression."""
    known = response[rows_without(block, response.size)]
    return Index(features.predicted(known, block), features)


def ridge(
    design: Floats, response: Floats, penalty: float, share: float = 0.0, gram: Floats | None = None
) -> Floats:
    """Return the coefficients of ridge regression.

    Parameters
    ----------
    penalty, share : float
        The penalty is the first, and this share of the mean square of a column.

    gram : ndarray of shape (n_columns, n_columns), default=None
        The products of the columns, if they are known.
    """
    gram = design.T @ design if gram is None else gram.copy()
    gram.flat[:: len(gram) + 1] += share * np.trace(gram) / len(gram) + penalty
    return np.asarray(np.linalg.solve(gram, design.T @ response))


def of_pair(first: Floats, second: Floats) -> list[Index]:
    """Return indices of two columns: their distance from a center, product, sum, difference, maximum and minimum."""
    squares, product = (first**2, second**2), first * second
    features = Features(np.column_stack([first, second, *squares, product]))
    starts = (squares[0] + squares[1], product, first + second, first - second)
    return [
        Index(start, features) for start in (*starts, np.maximum(first, second), np.minimum(first, second))
    ]


def cross_fitted(learn: Learn, n_rows: int) -> tuple[Floats, Floats]:
    """Return the index and the curve of each row, learned from rows of other blocks."""
    index, fitted = np.empty(n_rows), np.empty(n_rows)
    for block in range(BLOCKS):
        rows = slice(block, None, BLOCKS)
        found, curve = learn(block)
        index[rows] = found[rows]
        fitted[rows] = curve(index[rows])
    return index, fitted


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


def _standardized(index: Floats, rows: NDArray[np.bool_] | slice) -> Floats:
    """Return an index with mean 0 and variance 1 over some rows."""
    # As by `mean` and `std`, which takes the mean again.
    seen = index[rows]
    mean = np.add.reduce(seen) / seen.size
    deviation = np.sqrt(np.add.reduce((seen - mean) ** 2) / seen.size)
    return np.asarray((index - mean) / (deviation if deviation > 0.0 else 1.0))
