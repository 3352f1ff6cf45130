"""Piecewise linear curves of an index, many at once: each learned from other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dpbsv

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.regressors import settled, smallest_units
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# A curve is linear between knots, one for every _ROWS_PER_KNOT rows; its bends are penalized by this share of the rows
# between two knots.
_FEWEST_KNOTS, MOST_KNOTS, _ROWS_PER_KNOT, _BENDS = 6, 24, 15, 0.03

# The rows of fits are kept in tables of at most this many rows: up to 20 MiB.
_MOST_KEPT = 5_000

# Above and below the diagonal of its normal equations there are this many others.
_BESIDE = 2

#: The fits that each leave out one block of rows, and the fit of all rows.
BY_BLOCKS, BY_ALL = tuple(range(BLOCKS)), (None,)


class Fits:
    """The rows that each of some fits learns from.

    Parameters
    ----------
    blocks : sequence of int or None
        The block of rows that each fit leaves out; None leaves out none.

    Attributes
    ----------
    is_seen : ndarray of bool, shape (n_fits, n_rows)

    weights : ndarray of shape (n_fits, n_rows)
        The same as numbers.

    n_seen : ndarray of int, shape (n_fits,)
    """

    def __init__(self, n_rows: int, blocks: Sequence[int | None]) -> None:
        self.blocks = tuple(blocks)
        block_of_row = np.arange(n_rows) % BLOCKS
        left_out = np.array([-1 if block is None else block for block in self.blocks])
        self.is_seen = block_of_row != left_out[:, np.newaxis]
        self.weights: Floats = self.is_seen.astype(np.float64)
        self.n_seen = self.is_seen.sum(axis=1)

    def some(self, numbers: NDArray[np.intp]) -> Fits:
        """Return some of the fits; they are made once."""
        blocks = tuple(self.blocks[number] for number in numbers.tolist())
        return self if blocks == self.blocks else fits_of(self.is_seen.shape[1], blocks)

    def standardized(self, index: Floats) -> Floats:
        """Return an index with mean 0 and variance 1 over the rows of each fit: shape (n_fits, n_rows)."""
        sizes = self.n_seen[:, np.newaxis]
        centered = index - np.add.reduce(self.weights * index, axis=1, keepdims=True) / sizes
        seen = self.weights * centered
        deviations = np.sqrt(np.einsum("ij,ij->i", seen, seen)[:, np.newaxis] / sizes)
        return np.asarray(centered / np.where(deviations > 0.0, deviations, 1.0))

    def left_out(self, of_fits: Floats) -> Floats:
        """Return the value of each row in the fit that leaves it out, from values of shape (n_fits, n_rows)."""
        chosen = np.empty(of_fits.shape[1])
        for number, block in enumerate(self.blocks):
            if block is not None:
                chosen[block::BLOCKS] = of_fits[number, block::BLOCKS]
        return chosen

    @cached_property
    def n_knots(self) -> NDArray[np.intp]:
        """How many knots the curves of each fit have, where no values are equal: shape (n_fits,)."""
        return np.asarray(np.clip(self.n_seen // _ROWS_PER_KNOT, _FEWEST_KNOTS, MOST_KNOTS))

    @cached_property
    def places_of_knots(self) -> NDArray[np.intp]:
        """The places of all knots, with equally many rows between them, in the sorted values of all fits."""
        places = [
            number * self.is_seen.shape[1] + np.linspace(0, n_seen - 1, n_knots).astype(np.intp)
            for number, (n_seen, n_knots) in enumerate(zip(self.n_seen, self.n_knots, strict=True))
        ]
        return np.concatenate(places)

    @cached_property
    def places_of_last(self) -> NDArray[np.intp]:
        """The places of the largest value of each fit, shape (n_fits, 1)."""
        places = np.arange(len(self.blocks)) * self.is_seen.shape[1] + self.n_seen - 1
        return np.asarray(places[:, np.newaxis])

    def roughness(self, sizes: NDArray[np.intp]) -> Floats:
        """Return the diagonals of the penalty of curves with some numbers of knots."""
        bands = [_roughness(*both) for both in zip(self.n_seen.tolist(), sizes.tolist(), strict=True)]
        return np.concatenate(bands, axis=1)


def fits_of(n_rows: int, blocks: tuple[int | None, ...]) -> Fits:
    """Return the fits that leave out some blocks. For short tables they are made once."""
    return _kept_fits(n_rows, blocks) if n_rows <= _MOST_KEPT else Fits(n_rows, blocks)


@lru_cache(maxsize=64)
def _kept_fits(n_rows: int, blocks: tuple[int | None, ...]) -> Fits:
    return Fits(n_rows, blocks)


class Hats:
    """Hat functions between the knots of some indices: what curves of these are sums of.

    The normal equations of all curves are one matrix in blocks. A hat function overlaps with its neighbors only, and
    bends are those of three neighbors, so there are two diagonals beside the main one.

    Parameters
    ----------
    index : ndarray of shape (n_fits, n_rows)
        The index of each fit.
    """

    def __init__(self, index: Floats, fits: Fits) -> None:
        self._fits = fits
        ordered = np.sort(index if fits.is_seen.all() else np.where(fits.is_seen, index, np.inf), axis=1)
        units = smallest_units(ordered.ravel()[fits.places_of_last] - ordered[:, :1])
        index = settled(index, units)
        knots, sizes = _knots(ordered, units, fits)
        starts = np.cumsum(sizes) - sizes
        is_above = index[:, np.newaxis] >= _inner(knots, sizes)[:, :, np.newaxis]
        # The knot below each value, in the numbers of all curves.
        self._place: NDArray[np.intp] = (
            np.add.reduce(is_above.view(np.uint8), axis=1, dtype=np.uint8) + starts[:, np.newaxis]
        )
        # Behind the last knot of a curve is the first one of the next; no value is placed there.
        self._widths = np.append(knots[1:] - knots[:-1], 1.0)
        above = (index - knots[self._place]) / self._widths[self._place]
        self._above = above = np.minimum(np.maximum(above, 0.0), 1.0)
        self._below = below = 1.0 - above
        self._seen_above, self._seen_below = fits.weights * above, fits.weights * below
        self._bands = fits.roughness(sizes)
        self._bands[-1] += self._added_up(self._seen_below * below, self._seen_above * above)
        beside = np.bincount(self._place.ravel(), (self._seen_below * above).ravel(), knots.size)
        self._bands[-2, 1:] += beside[:-1]

    def _added_up(self, below: Floats, above: Floats) -> Floats:
        """Return sums by knot, of what counts for the knot below each value and for the one above it."""
        place, n_knots = self._place.ravel(), self._widths.size
        sums: Floats = np.asarray(np.bincount(place, below.ravel(), n_knots), dtype=np.float64)
        sums[1:] += np.bincount(place, above.ravel(), n_knots)[:-1]
        return sums

    def curves(self, response: Floats) -> Curves:
        """Fit curves to a response of shape (n_rows,), by penalized least squares."""
        moments = self._added_up(self._seen_below * response, self._seen_above * response)
        _, heights, failed = dpbsv(self._bands, moments)
        if failed:
            raise np.linalg.LinAlgError("The normal equations of a curve have no solution.")
        fitted = heights[self._place] * self._below + heights[1:][self._place] * self._above
        slopes = ((heights[1:] - heights[:-1]) / self._widths[:-1])[self._place]
        return Curves.of(self._fits, response, fitted, slopes)


@dataclass(frozen=True)
class Curves:
    """Curves of some indices that were fitted to a response.

    Attributes
    ----------
    fits : Fits

    fitted, slopes : ndarray of shape (n_fits, n_rows)
        The heights at all rows, and the slopes. Beyond the outer knots the height is that of the outer knot.

    left : ndarray of shape (n_fits, n_rows)
        What is left of the response, 0 in the rows that a fit does not see.

    errors : ndarray of shape (n_fits,)
        The sum of squares that each leaves.
    """

    fits: Fits
    fitted: Floats
    slopes: Floats
    left: Floats
    errors: Floats

    @classmethod
    def of(cls, fits: Fits, response: Floats, fitted: Floats, slopes: Floats) -> Curves:
        """Return fitted curves with what they leave of a response."""
        left = fits.weights * (response - fitted)
        return cls(fits, fitted, slopes, left, np.einsum("ij,ij->i", left, left))

    def some(self, chosen: NDArray[np.bool_], fits: Fits) -> Curves:
        """Return the curves of some of the fits."""
        return Curves(fits, self.fitted[chosen], self.slopes[chosen], self.left[chosen], self.errors[chosen])

    def where(self, chosen: NDArray[np.bool_], others: Curves) -> Curves:
        """Return the curves of some of the fits, and other curves of all other fits."""
        rows = chosen[:, np.newaxis]
        return Curves(
            self.fits,
            np.where(rows, self.fitted, others.fitted),
            np.where(rows, self.slopes, others.slopes),
            np.where(rows, self.left, others.left),
            np.where(chosen, self.errors, others.errors),
        )


def _knots(ordered: Floats, units: Floats, fits: Fits) -> tuple[Floats, NDArray[np.intp]]:
    """Return the knots of all curves one after the other, without those that equal another, and how many each has.

    Parameters
    ----------
    ordered : ndarray of shape (n_fits, n_rows)
        The values of each index, sorted; those that its fit does not see come last.
    """
    sizes = fits.n_knots
    knots = settled(ordered.ravel()[fits.places_of_knots], np.repeat(units[:, 0], sizes))
    starts = np.cumsum(sizes) - sizes
    is_new = np.append(True, knots[1:] != knots[:-1])
    is_new[starts] = True
    if is_new.all():
        return knots, sizes
    several = np.split(knots[is_new], np.cumsum(np.add.reduceat(is_new, starts, dtype=np.intp))[:-1])
    # A curve of a single value has a second knot.
    several = [some if some.size > 1 else np.array([some[0], some[0] + 1.0]) for some in several]
    return np.concatenate(several), np.array([some.size for some in several])


def _inner(knots: Floats, sizes: NDArray[np.intp]) -> Floats:
    """Return the inner knots of each curve, a row each; no value is above infinity."""
    most = int(sizes.max())
    if knots.size == most * sizes.size:
        return knots.reshape(-1, most)[:, 1:-1]
    inner = np.full((sizes.size, most - 2), np.inf)
    for row, last, size in zip(inner, np.cumsum(sizes), sizes, strict=True):
        row[: size - 2] = knots[last - size + 1 : last - 1]
    return inner


@lru_cache(maxsize=256)
def _roughness(n_rows: int, n_knots: int) -> Floats:
    """Return the matrix of the penalty of bends, and a little more.

    Returns
    -------
    ndarray of shape (3, n_knots)
        Its diagonals, the main one last; an entry is in the column of the matrix that it belongs to.
    """
    bends = np.diff(np.eye(n_knots), 2, axis=0)
    penalty = _BENDS * n_rows / n_knots * bends.T @ bends + 1e-6 * np.eye(n_knots)
    bands = np.zeros((_BESIDE + 1, n_knots))
    for beside in range(min(_BESIDE + 1, n_knots)):
        bands[_BESIDE - beside, beside:] = np.diagonal(penalty, beside)
    return bands
