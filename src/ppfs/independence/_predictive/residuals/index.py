"""Curves of one learned index of the columns: a sum, a distance from a center, a product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ppfs._conventions import Floats, as_many_as_fit
from ppfs.independence._predictive.residuals.curves import BY_ALL, MOST_KNOTS, Curves, Fits, Hats, fits_of
from ppfs.independence._predictive.residuals.regressors import unit
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# An index is improved until the error falls by less than this share, and at most this often; the penalty of a change
# is this share of the mean square.
_GAIN, _MOST_CHANGES, _CHANGES = 0.005, 8, 0.03

# The penalty of the direction that a learned sum begins with, per row.
_PENALTY = 0.03

# Steps of an index have this many rows on either side, or this share of the rows.
_STEPS, _FEWEST_ROWS, _LEAST_SHARE = 3, 5, 0.02

# Of features with at most this many values, what all responses share is kept: up to 40 MiB. As many fits learn at once
# as have at most this many values of features together.
_MOST_KEPT = _VALUES_AT_ONCE = 2**20


class Features:
    """Columns that indices are sums of, and what all responses share: products of rows and of columns.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
    """

    def __init__(self, values: Floats) -> None:
        self.values = values
        self._known: dict[tuple[str, int | None], Any] = {}

    def predicted(self, response: Floats, fits: Fits) -> Floats:
        """Return the sums of features that predict a response best, by ridge regression.

        Parameters
        ----------
        response : ndarray of shape (n_rows,)

        Returns
        -------
        ndarray of shape (n_fits, n_rows)
            Of all rows, by the rows of each fit.
        """
        if not self._is_wide(fits):
            grams = self._grams(fits)
            _add_to_diagonal(grams, _PENALTY * fits.n_seen)
            return self._sums(grams, (fits.weights * response) @ self.values)
        sums = []
        for block, is_seen in zip(fits.blocks, fits.is_seen, strict=True):

            def factor(is_seen: NDArray[np.bool_] = is_seen) -> Any:
                return _factored(self._between[np.ix_(is_seen, is_seen)], _PENALTY * is_seen.sum())

            factored = self._kept("factor", block, len(self.values) ** 2, factor)
            sums.append(
                self._between[:, is_seen] @ cho_solve(factored, response[is_seen], check_finite=False)
            )
        return np.stack(sums)

    def changes(self, left: Floats, slopes: Floats, fits: Fits) -> Floats:
        """Return the sums of features by which indices have to change, so that their curves leave least of a response.

        Parameters
        ----------
        left : ndarray of shape (n_fits, n_rows)
            What the curve of each fit leaves in the rows that it sees, and 0 in others.

        slopes : ndarray of shape (n_fits, n_rows)
            Of the curves: a change of the index changes the fitted values by this much.
        """
        n_features = self.values.shape[1]
        if not self._is_wide(fits):
            n_fits = len(fits.blocks)
            grams, moments = np.empty((n_fits, n_features, n_features)), np.empty((n_fits, n_features))
            # One fit after the other, of the rows that it sees: their products take most of the time.
            for number, (block, is_seen) in enumerate(zip(fits.blocks, fits.is_seen, strict=True)):
                scaled = self._seen(block, is_seen) * slopes[number, is_seen, np.newaxis]
                grams[number] = scaled.T @ scaled
                moments[number] = left[number, is_seen] @ scaled
            _add_to_diagonal(grams, _CHANGES * np.einsum("ijj->i", grams) / n_features + 1e-12)
            return self._sums(grams, moments)
        sums = []
        for is_seen, own, rest in zip(fits.is_seen, slopes, left, strict=True):
            some = own[is_seen]
            products = self._between[np.ix_(is_seen, is_seen)] * some[:, np.newaxis] * some
            factored = _factored(products, _CHANGES * np.trace(products) / n_features + 1e-12)
            solved = cho_solve(factored, rest[is_seen], check_finite=False)
            sums.append(self._between[:, is_seen] @ (some * solved))
        return np.stack(sums)

    def _is_wide(self, fits: Fits) -> bool:
        """Return whether there are more features than rows: A' (AA' + p I)^-1 y has the smaller matrix then."""
        return bool(self.values.shape[1] > fits.n_seen.min())

    def _sums(self, grams: Floats, moments: Floats) -> Floats:
        coefficients = np.linalg.solve(grams, moments[:, :, np.newaxis])[:, :, 0]
        return np.asarray(coefficients @ self.values.T)

    def _seen(self, block: int | None, is_seen: NDArray[np.bool_]) -> Floats:
        """Return the rows outside a block."""
        if block is None:
            return self.values
        return np.asarray(self._kept("rows", block, self.values.size, lambda: self.values[is_seen]))

    def _grams(self, fits: Fits) -> Floats:
        """Return the products of the columns over the rows of each fit."""

        def of_blocks() -> list[Floats]:
            return [rows.T @ rows for rows in (self.values[block::BLOCKS] for block in range(BLOCKS))]

        parts = self._kept("grams", None, self.values.size, of_blocks)
        every = np.add.reduce(parts)
        return np.stack([every if block is None else every - parts[block] for block in fits.blocks])

    @cached_property
    def _between(self) -> Floats:
        """The products of the rows, which all fits share."""
        return np.asarray(self.values @ self.values.T)

    def _kept(self, what: str, block: int | None, size: int, make: Callable[[], Any]) -> Any:
        if size > _MOST_KEPT:
            return make()
        if (what, block) not in self._known:
            self._known[what, block] = make()
        return self._known[what, block]


@dataclass(frozen=True)
class Learned:
    """What was learned by each of some fits.

    Attributes
    ----------
    index, fitted : ndarray of shape (n_fits, n_rows)
        An index of all rows, and a curve of it.
    """

    index: Floats
    fitted: Floats

    def of_rows(self, fits: Fits) -> tuple[Floats, Floats]:
        """Return the index and the curve of each row, learned from rows of other blocks."""
        return fits.left_out(self.index), fits.left_out(self.fitted)


@dataclass(frozen=True)
class Index:
    """Where an index of the columns begins, and what it is changed by.

    Attributes
    ----------
    start : ndarray of shape (n_rows,), or (n_fits, n_rows)

    features : Features
        An index is changed by sums of these until a curve of it fits a response best, by Gauss and Newton's steps.
    """

    start: Floats
    features: Features

    def learned(self, response: Floats, fits: Fits, most_changes: int = _MOST_CHANGES) -> Learned:
        """Learn from the rows of each fit."""
        at_once = as_many_as_fit(_VALUES_AT_ONCE, self._n_values)
        if len(fits.blocks) > at_once:
            numbers = np.arange(len(fits.blocks))
            parts = [numbers[first : first + at_once] for first in range(0, len(numbers), at_once)]
            some = [self._of_some(part).learned(response, fits.some(part), most_changes) for part in parts]
            return Learned(
                *(np.concatenate(one) for one in zip(*((one.index, one.fitted) for one in some), strict=True))
            )
        index = fits.standardized(self.start)
        curves = Hats(index, fits).curves(response)
        if not (most_changes and self.features.values.shape[1]):
            return Learned(index, curves.fitted)
        return _changed(self.features, index, curves, response, fits, most_changes)

    @property
    def _n_values(self) -> int:
        """The values that a fit works on: its features, or the comparisons with knots."""
        n_rows, n_features = self.features.values.shape
        return int(n_rows * max(n_features, MOST_KNOTS))

    def _of_some(self, numbers: NDArray[np.intp]) -> Index:
        """Return the same index for some of the fits."""
        return self if self.start.ndim == 1 else Index(self.start[numbers], self.features)


def learned_sum(
    features: Features, response: Floats, fits: Fits, most_changes: int = _MOST_CHANGES
) -> Learned:
    """Learn an index that begins with the sum of columns that predicts a response best, by ridge regression."""
    return Index(features.predicted(response, fits), features).learned(response, fits, most_changes)


class Pair:
    """Indices of two columns: their distance from a center, product, sum, difference, maximum and minimum."""

    def __init__(self, first: Floats, second: Floats) -> None:
        squares, product = (first**2, second**2), first * second
        self._features = Features(np.column_stack([first, second, *squares, product]))
        starts = (squares[0] + squares[1], product, first + second, first - second)
        self._starts = np.stack([*starts, np.maximum(first, second), np.minimum(first, second)])

    def best(self, responses: Sequence[Floats]) -> tuple[Floats, Index]:
        """Return the response and the index of which a curve leaves least, before it is improved."""
        hats = Hats(unit(self._starts.T).T, fits_of(self._starts.shape[1], BY_ALL * len(self._starts)))
        errors = np.stack([hats.curves(response).errors for response in responses])
        number, start = divmod(int(errors.argmin()), len(self._starts))
        return responses[number], Index(self._starts[start], self._features)


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


def _changed(
    features: Features, index: Floats, curves: Curves, response: Floats, fits: Fits, most_changes: int
) -> Learned:
    """Change indices until their curves fit a response best; each fit ends by itself."""
    best = Learned(np.empty_like(index), np.empty_like(index))
    open_fits, changes = np.arange(len(index)), np.empty_like(index)
    shares, is_new = np.ones(len(index)), np.ones(len(index), dtype=bool)
    for _ in range(most_changes):
        if is_new.all():
            changes = features.changes(curves.left, curves.slopes, fits)
        elif is_new.any():
            new = curves.some(is_new, fits.some(np.flatnonzero(is_new)))
            changes[is_new] = features.changes(new.left, new.slopes, new.fits)
        other = fits.standardized(index + shares[:, np.newaxis] * changes)
        tried = Hats(other, fits).curves(response)
        gains = curves.errors - tried.errors
        is_new = gains > 0.0
        if is_new.all():
            index, curves = other, tried
        else:
            index = np.where(is_new[:, np.newaxis], other, index)
            curves = curves.where(~is_new, tried)
        # A step that gains little is followed by shorter ones, and the next that does is the last.
        is_little = gains < _GAIN * curves.errors
        is_last = is_little & (shares < 1.0)
        shares[is_little] = 0.4
        if is_last.any():
            best.index[open_fits[is_last]] = index[is_last]
            best.fitted[open_fits[is_last]] = curves.fitted[is_last]
            left = ~is_last
            fits = fits.some(np.flatnonzero(left))
            index, curves, changes = index[left], curves.some(left, fits), changes[left]
            open_fits, shares, is_new = open_fits[left], shares[left], is_new[left]
            if not open_fits.size:
                break
    best.index[open_fits], best.fitted[open_fits] = index, curves.fitted
    return best


def _factored(products: Floats, penalty: float) -> Any:
    """Return what `cho_solve` takes, of products of rows and a penalty."""
    _add_to_diagonal(products[np.newaxis], np.array([penalty]))
    return cho_factor(products, lower=True, overwrite_a=True, check_finite=False)


def _add_to_diagonal(matrices: Floats, values: NDArray[Any]) -> None:
    """Add a value to the diagonal of each matrix."""
    diagonal = np.arange(matrices.shape[1])
    matrices[:, diagonal, diagonal] += values[:, np.newaxis]
