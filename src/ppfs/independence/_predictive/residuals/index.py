"""Curves of one learned index of the columns: a sum, a distance from a center, a product."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.curves import Blocks, Curves, Rows, places_without, rows_without
from ppfs.independence._predictive.residuals.regressors import unit
from ppfs.independence._predictive.residuals.smoother import BLOCKS

# An index is improved until the error falls by less than this share, and at most this often; the penalty of a change
# is this share of the mean square. A change that makes too little difference is tried once more, in part.
_GAIN, _MOST_CHANGES, _CHANGES, _PART = 0.005, 8, 0.03, 0.4

# The penalty of the direction that a learned sum begins with, per row.
_PENALTY = 0.03

# Steps of an index have this many rows on either side, or this share of the rows.
_STEPS, _FEWEST_ROWS, _LEAST_SHARE = 3, 5, 0.02

# Of features with at most this many values, what all responses share is kept: up to 40 MiB.
_MOST_KEPT = 2**20

# Indices of this many values in all are learned at once.
_VALUES_AT_ONCE = 2**14


class Features:
    """Columns that indices are sums of, and what all responses share: the rows of each fit, and their products.

    Parameters
    ----------
    values : ndarray of shape (n_rows, n_features)
    """

    def __init__(self, values: Floats) -> None:
        self.values = values
        self._known: dict[tuple[str, int | None], Any] = {}

    def predicted(self, responses: Floats, blocks: Blocks, slopes: Floats | None = None) -> Floats:
        """Return the sums of features, at all rows, that predict responses best, by ridge regression.

        Parameters
        ----------
        responses : ndarray of shape (n_fits, n_seen)
            Of the rows outside each fit's block.

        slopes : ndarray of shape (n_fits, n_seen), default=None
            What each row of features is multiplied by to predict the response.
        """
        n_fits, n_seen = responses.shape
        if self.values.shape[1] > n_seen:
            of_fits = [None] * n_fits if slopes is None else slopes
            return np.stack([self._by_rows(*fit) for fit in zip(responses, blocks, of_fits, strict=True)])
        seen = [
            self._kept("rows", block, self.values.size, lambda rows: self.values[rows]) for block in blocks
        ]
        penalty, share = (_PENALTY * n_seen, 0.0) if slopes is None else (1e-12, _CHANGES)
        if slopes is None:
            grams = [self._kept("gram", block, self.values.size, self._gram) for block in blocks]
        else:
            seen = [own[:, np.newaxis] * one for own, one in zip(slopes, seen, strict=True)]
            grams = [one.T @ one for one in seen]
        moments = [one.T @ response for one, response in zip(seen, responses, strict=True)]
        coefficients = ridge(np.stack(grams), np.stack(moments), penalty, share)
        return np.asarray((self.values @ coefficients[:, :, np.newaxis])[:, :, 0])

    def _gram(self, rows: Rows) -> Floats:
        seen = self.values[rows]
        return np.asarray(seen.T @ seen)

    def _by_rows(self, response: Floats, block: int | None, slopes: Floats | None) -> Floats:
        """Return A' (AA' + p I)^-1 y: with more features than rows, from the products of rows, which blocks share."""
        n_rows, n_features = self.values.shape
        rows = rows_without(block, n_rows)
        penalty, share = (_PENALTY * response.size, 0.0) if slopes is None else (1e-12, _CHANGES)
        between = self._kept("products", None, 0, lambda _: self.values @ self.values.T)[:, rows]

        def factor(rows: Rows) -> Any:
            products = between[rows] if slopes is None else between[rows] * slopes[:, np.newaxis] * slopes
            products = products + (share * np.trace(products) / n_features + penalty) * np.eye(response.size)
            return cho_factor(products, lower=True, overwrite_a=True, check_finite=False)

        if slopes is not None:
            return np.asarray(between @ (slopes * cho_solve(factor(rows), response, check_finite=False)))
        factored = self._kept("factor", block, n_rows**2, factor)
        return np.asarray(between @ cho_solve(factored, response, check_finite=False))

    def _kept(self, what: str, block: int | None, size: int, make: Callable[[Rows], Any]) -> Any:
        """Return what is made of the rows outside a block, and keep it if it is small."""
        if (what, block) in self._known:
            return self._known[what, block]
        made = make(rows_without(block, len(self.values)))
        if size <= _MOST_KEPT:
            self._known[what, block] = made
        return made


@dataclass(frozen=True)
class Index:
    """An index of the columns, by a curve of which a response is predicted.

    Attributes
    ----------
    response : ndarray of shape (n_rows,)

    features : Features
        An index is changed by sums of these until a curve of it fits the response best, by Gauss and Newton's steps.

    start : ndarray of shape (n_rows,) or None
        Where the index begins; None for the sum of features that predicts the response best, by ridge regression.
    """

    response: Floats
    features: Features
    start: Floats | None = None

    def starts(self, known: Floats, blocks: Blocks) -> Floats:
        """Return where it begins without each block, by the responses (n_blocks, n_seen) outside of it."""
        if self.start is None:
            return self.features.predicted(known, blocks)
        return np.repeat(self.start[np.newaxis], len(blocks), axis=0)


class _Fits:
    """Indices that are learned at once, each without a block of rows. What is learned does not depend on the others.

    Attributes
    ----------
    curves : Curves
        Of the indices, as far as they are learned.
    """

    def __init__(self, fits: Sequence[tuple[Index, int | None]]) -> None:
        self._indices, self._blocks = [index for index, _ in fits], [block for _, block in fits]
        self._responses = np.stack([index.response for index in self._indices])
        starts = np.empty_like(self._responses)
        for run in self._runs(range(len(fits))):
            index, blocks = self._indices[run[0]], [self._blocks[fit] for fit in run]
            starts[run] = index.starts(self._seen(self._responses, run), blocks)
        self.curves = Curves(starts, self._responses, self._blocks)

    def improve(self, most_changes: int) -> None:
        """Change indices until the errors of their curves fall by little."""
        curves, change = self.curves, np.empty_like(self._responses)
        share, is_new = np.ones(len(change)), np.ones(len(change), dtype=bool)
        left = np.flatnonzero([index.features.values.shape[1] > 0 for index in self._indices])
        for _ in range(most_changes):
            if not left.size:
                break
            self._put_changes(change, left[is_new[left]])
            tried = Curves(
                curves.indices[left] + share[left, np.newaxis] * change[left],
                self._responses[left],
                [self._blocks[fit] for fit in left],
            )
            gains = curves.errors[left] - tried.errors
            is_new[left] = gains > 0.0
            better = np.flatnonzero(gains > 0.0)
            curves.put(left[better], tried, better)
            is_small = gains < _GAIN * curves.errors[left]
            is_over = is_small & (share[left] < 1.0)
            share[left[is_small]] = _PART
            left = left[~is_over]

    def _put_changes(self, change: Floats, which: NDArray[np.intp]) -> None:
        """Put the changes that reduce the errors of some fits most."""
        left = self._responses - self.curves.fitted
        for run in self._runs(which.tolist()):
            features, blocks = self._indices[run[0]].features, [self._blocks[fit] for fit in run]
            change[run] = features.predicted(
                self._seen(left, run), blocks, self._seen(self.curves.slopes, run)
            )

    def _runs(self, which: Sequence[int]) -> list[list[int]]:
        """Return the fits of each index that see equally many rows."""
        n_longer = self._responses.shape[1] % BLOCKS

        def kind(fit: int) -> tuple[int, bool]:
            block = self._blocks[fit]
            return id(self._indices[fit]), block is not None and block < n_longer

        return [list(run) for _, run in groupby(which, key=kind)]

    def _seen(self, values: Floats, run: Sequence[int]) -> Floats:
        """Return the values of some fits at the rows outside their blocks, of which there are equally many."""
        n_rows = values.shape[1]
        if self._blocks[run[0]] is None:
            return values[run]
        if len(run) == 1:
            return np.asarray(values[run[0], rows_without(self._blocks[run[0]], n_rows)][np.newaxis])
        rows = np.stack([places_without(self._blocks[fit], n_rows) for fit in run])
        return np.asarray(values[np.array(run)[:, np.newaxis], rows])


def curves_of(fits: Sequence[tuple[Index, int | None]], most_changes: int = _MOST_CHANGES) -> Curves:
    """Learn indices, each without a block of rows, and return their curves."""
    learner = _Fits(fits)
    learner.improve(most_changes)
    return learner.curves


def learned(
    indices: Sequence[Index], *, in_blocks: bool, most_changes: int = _MOST_CHANGES
) -> list[tuple[Floats, Floats]]:
    """Learn indices, and return each of them and the curve of it, shape (n_rows,) both.

    Parameters
    ----------
    in_blocks : bool
        Whether those of each row are learned from rows of other blocks.
    """
    n_rows = indices[0].response.size
    answers = [(np.empty(n_rows), np.empty(n_rows)) for _ in indices]
    fits = list(product(range(len(indices)), range(BLOCKS) if in_blocks else [None]))
    at_once = max(1, _VALUES_AT_ONCE // n_rows)
    for some in (fits[first : first + at_once] for first in range(0, len(fits), at_once)):
        curves = curves_of([(indices[number], block) for number, block in some], most_changes)
        for (number, block), index, fitted in zip(some, curves.indices, curves.fitted, strict=True):
            rows = slice(block, None, 1 if block is None else BLOCKS)
            answers[number][0][rows], answers[number][1][rows] = index[rows], fitted[rows]
    return answers


def best_of(indices: Sequence[Index]) -> Index:
    """Return the index whose start has the curve of the smallest error. All have a start."""
    starts = unit(np.stack([index.start for index in indices if index.start is not None]).T)
    curves = Curves(
        starts.T, np.stack([index.response for index in indices]), [None] * len(indices), is_unit=True
    )
    return indices[int(curves.errors.argmin())]


def ridge(grams: Floats, moments: Floats, penalty: float, share: float = 0.0) -> Floats:
    """Return the coefficients of ridge regressions.

    Parameters
    ----------
    grams : ndarray of shape (n_fits, n_columns, n_columns)
        The products of the columns.

    moments : ndarray of shape (n_fits, n_columns)
        The products of the columns and the response.

    penalty, share : float
        The penalty is the first, and this share of the mean square of a column.
    """
    n_columns = grams.shape[1]
    penalties = share * np.trace(grams, axis1=1, axis2=2) / n_columns + penalty
    grams.reshape(len(grams), -1)[:, :: n_columns + 1] += penalties[:, np.newaxis]
    return np.asarray(np.linalg.solve(grams, moments[:, :, np.newaxis])[:, :, 0])


def of_pair(first: Floats, second: Floats, responses: Sequence[Floats]) -> list[Index]:
    """Return indices of two columns, for each response.

    They begin with the distance from a center, the product, sum, difference, maximum and minimum.
    """
    squares, both = (first**2, second**2), first * second
    features = Features(np.column_stack([first, second, *squares, both]))
    starts = [squares[0] + squares[1], both, first + second, first - second]
    starts += [np.maximum(first, second), np.minimum(first, second)]
    return [Index(response, features, start) for response, start in product(responses, starts)]


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
