"""A glance at a column beside the target: whether there is enough of a link for models to be worth fitting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, rankdata

from ppfs._block import Block
from ppfs._table import dense_column
from ppfs._types import Floats
from ppfs.independence._predictive.problem import Problem

# A column with more distinct values than _MOST_VALUES is cut into _N_BINS intervals that hold about as many rows each.
_MOST_VALUES = 16
_N_BINS = 8

# The line, the ranks and the steps.
_N_VIEWS = 3

# Directions of the target with less than this share of the largest one's length are rounding.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Glance:
    """Sees how much of the target's variance columns explain: by a line, by their ranks, and by steps.

    Each of the three views is a set of directions over the rows. Under a random rearrangement, the squared
    lengths of the target along them, times the number of rows less one, are nearly chi-squared: that is where the
    bounds of `is_plain` come from. Nothing depends on how near, but how many rearrangements are looked at closely.

    Attributes
    ----------
    directions : ndarray of shape (n_directions, n_rows)
        Of length 1 or 0; those of a column's view follow each other.

    starts : ndarray of int, shape (3 * n_columns,)
        Where each view begins.

    n_free : ndarray of int, shape (3 * n_columns,)
        Its degrees of freedom.

    n_units : int
        How many rows, or groups of rows, trade places.
    """

    directions: Floats
    starts: NDArray[np.intp]
    n_free: NDArray[np.intp]
    n_units: int

    @classmethod
    def of(cls, block: Block, n_units: int) -> Glance:
        """Prepare the views of a block's columns."""
        views = [view for column in range(block.n_columns) for view in _views(dense_column(block.X, column))]
        sizes = np.array([len(view) for view in views])
        n_free = np.where(np.arange(sizes.size) % _N_VIEWS == _N_VIEWS - 1, sizes - 1, 1)
        return cls(np.concatenate(views), np.cumsum(sizes) - sizes, np.maximum(n_free, 1), n_units)

    def is_plain(self, targets: Floats, share: float) -> NDArray[np.bool_]:
        """Tell whether any view of a column shows a link that chance would hide in all but about this share.

        Parameters
        ----------
        targets : ndarray of shape (n_outputs, n_draws, n_rows)
            Outputs of length 1 that are 0 on average and at right angles to each other, rearranged.

        Returns
        -------
        ndarray of shape (n_columns, n_draws)
        """
        n_outputs, n_draws, n_rows = targets.shape
        lengths = (self.directions @ targets.reshape(-1, n_rows).T).reshape(-1, n_outputs, n_draws)
        by_view = np.add.reduceat(np.einsum("iok,iok->ik", lengths, lengths), self.starts, axis=0)
        bounds = chi2.isf(share, self.n_free * n_outputs) / max(1, self.n_units - 1)
        plain: NDArray[np.bool_] = (
            (by_view >= bounds[:, np.newaxis]).reshape(-1, _N_VIEWS, n_draws).any(axis=1)
        )
        return plain


def _views(column: NDArray[Any]) -> list[Floats]:
    """Return the directions of the line, the ranks and the steps of a column, each of shape (n_directions, n_rows)."""
    is_gap = column != column
    values = np.where(is_gap, 0.0, column).astype(np.float64)
    values /= np.abs(values).max(initial=0.0) or 1.0
    ranks = rankdata(values)
    steps = _steps(values, is_gap)
    return [
        _centred(values, is_gap),
        _centred(ranks, is_gap),
        steps / np.sqrt(steps.sum(axis=1, keepdims=True)),
    ]


def _centred(values: Floats, is_gap: NDArray[np.bool_]) -> Floats:
    """Return a direction along the values; gaps are as good as the mean."""
    there = ~is_gap
    centred = np.where(is_gap, 0.0, values - values.mean(where=there if there.any() else True))
    return np.atleast_2d(centred / (np.linalg.norm(centred) or 1.0))


def _steps(values: Floats, is_gap: NDArray[np.bool_]) -> Floats:
    """Return which rows belong to each value, interval or gap, shape (n_steps, n_rows)."""
    distinct, codes = np.unique(values, return_inverse=True)
    if distinct.size > _MOST_VALUES:
        edges = np.unique(np.quantile(values[~is_gap], np.arange(1, _N_BINS) / _N_BINS))
        codes = np.searchsorted(edges, values)
    codes = np.where(is_gap, codes.max() + 1, codes.ravel())
    steps: Floats = (codes == np.unique(codes)[:, np.newaxis]).astype(np.float64)
    return steps


def outputs_of(problem: Problem) -> Floats | None:
    """Return the target as directions over the rows, shape (n_outputs, n_rows), or None where it is no numbers.

    Labels are one output less than classes. Weights stay with their rows.
    """
    if problem.y.dtype.names is not None:
        return None
    if problem.classes.size:
        values = (problem.y[:, np.newaxis] == problem.classes[:-1]).astype(np.float64)
    else:
        values = problem.y.reshape(len(problem.y), -1).astype(np.float64)
    weights = problem.weights.loss if problem.weights.fit is None else problem.weights.fit
    weights = np.ones(len(values)) if weights is None else weights
    largest = np.abs(values).max(axis=0)
    values = values / np.where(largest > 0, largest, 1.0)
    centred = weights[:, np.newaxis] * (values - np.average(values, axis=0, weights=weights))
    directions, lengths, _ = np.linalg.svd(centred, full_matrices=False)
    return np.ascontiguousarray(directions[:, lengths > _ROUNDING * max(lengths[0], _ROUNDING)].T)


def rearranged(outputs: Floats, sources: NDArray[np.intp]) -> Floats:
    """Return what stands in each row's place when columns take their values from other rows.

    The sum over rows of a rearranged column times the target is that of the column times this.

    Parameters
    ----------
    outputs : ndarray of shape (n_outputs, n_rows)

    sources : ndarray of int, shape (n_draws, n_rows)
        From which row each row takes its value.

    Returns
    -------
    ndarray of shape (n_outputs, n_draws, n_rows)
    """
    n_draws, n_rows = sources.shape
    places = (sources + n_rows * np.arange(n_draws)[:, np.newaxis]).ravel()
    return np.stack(
        [
            np.bincount(places, np.tile(output, n_draws), minlength=n_draws * n_rows).reshape(n_draws, n_rows)
            for output in outputs
        ]
    )
