"""A quick screening of columns: whether the dependence on the target is strong enough to fit models."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, rankdata

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._fitting import MAX_DUMMIES, dummy_places
from ppfs.independence._predictive.problem import Problem

# A column with more distinct values than _MOST_VALUES is cut into _N_BINS intervals of about as many rows each.
_MOST_VALUES = 16
_N_BINS = 8

# The line, the ranks and the steps. They are correlated: a draw stands out in any of them about EFFECTIVE_VIEWS times
# as often as in a given one.
_N_VIEWS = 3
EFFECTIVE_VIEWS = 2.2

# Directions of the target shorter than this share of the longest are rounding error.
_ROUNDING = 1e-10


@dataclass(frozen=True)
class Screening:
    """Measures how much of the target's variance columns explain: by a line, by their ranks, and by steps.

    Each of the three views is a set of directions over the rows. Under a random rearrangement, the squared
    lengths of the target along them, times n_rows - 1, are nearly chi-squared, which gives the
    `bounds`. The quality of this approximation only affects to how many rearrangements models are fitted.

    Attributes
    ----------
    directions : ndarray of shape (n_directions, n_rows)
        Of length 1 or 0; the directions of one view are consecutive.

    starts : ndarray of int, shape (3 * n_columns,)
        The first direction of each view.

    n_free : ndarray of int, shape (3 * n_columns,)
        The degrees of freedom of each view.

    n_units : int
        How many rows, or groups of rows, are exchanged.
    """

    directions: Floats
    starts: NDArray[np.intp]
    n_free: NDArray[np.intp]
    n_units: int

    @classmethod
    def of(cls, columns: NDArray[Any], n_units: int, n_levels: NDArray[np.intp] | None = None) -> Screening:
        """Prepare the views of some columns, given as rows.

        Parameters
        ----------
        n_levels : ndarray of int, shape (n_columns,), default=None
            The number of categories of each column, 0 for numbers. None: all are numbers.
        """
        values, is_missing = _scaled(columns)
        steps = _steps(values, is_missing, _category_codes(columns, n_levels))
        n_steps = (steps > 0).any(axis=2)
        views = [_lines_and_ranks(values, is_missing), steps]
        is_used = np.column_stack([np.ones((len(columns), 2), dtype=bool), n_steps])
        sizes = np.column_stack([np.ones((len(columns), 2), dtype=np.intp), n_steps.sum(axis=1)]).ravel()
        n_free = np.column_stack([np.ones((len(columns), 2), dtype=np.intp), n_steps.sum(axis=1) - 1]).ravel()
        return cls(
            np.concatenate(views, axis=1)[is_used], np.cumsum(sizes) - sizes, np.maximum(n_free, 1), n_units
        )

    def bounds(self, share: float, n_outputs: int) -> Floats:
        """Return the bounds that about this share of the rearrangements exceeds in each view."""
        bounds: Floats = chi2.isf(share, self.n_free * n_outputs) / max(1, self.n_units - 1)
        return bounds

    def stands_out(self, targets: Floats, bounds: Floats) -> NDArray[np.bool_]:
        """Return whether a column exceeds its bound in any view.

        Parameters
        ----------
        targets : ndarray of shape (n_outputs, n_draws, n_rows)
            Centered, orthonormal outputs, rearranged.

        bounds : ndarray of shape (3 * n_columns,)

        Returns
        -------
        ndarray of shape (n_columns, n_draws)
        """
        n_outputs, n_draws, n_rows = targets.shape
        lengths = (self.directions @ targets.reshape(-1, n_rows).T).reshape(-1, n_outputs, n_draws)
        by_view = np.add.reduceat(np.einsum("iok,iok->ik", lengths, lengths), self.starts)
        is_above = (by_view >= bounds[:, np.newaxis]).reshape(-1, _N_VIEWS, n_draws)
        exceeds: NDArray[np.bool_] = np.logical_or.reduce(is_above, axis=1)
        return exceeds


def lines_and_ranks(columns: NDArray[Any]) -> Floats:
    """Return the directions of each column's values and ranks, of length 1 or 0: (n_columns, 2, n_rows)."""
    return _lines_and_ranks(*_scaled(columns))


def _scaled(columns: NDArray[Any]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return columns divided by their largest value, with 0 for missing values, and where values are missing."""
    is_missing = columns != columns
    values = np.where(is_missing, 0.0, columns).astype(np.float64)
    values /= np.maximum(np.abs(values).max(axis=1, keepdims=True), np.finfo(float).tiny)
    return values, is_missing


def _lines_and_ranks(values: Floats, is_missing: NDArray[np.bool_]) -> Floats:
    ranks = rankdata(values, axis=1)
    return np.concatenate([_centered(values, is_missing), _centered(ranks, is_missing)], axis=1)


def _centered(values: Floats, is_missing: NDArray[np.bool_]) -> Floats:
    """Return a direction along each column's values, shape (n_columns, 1, n_rows); missing values are at the mean."""
    n_present = np.maximum((~is_missing).sum(axis=1, keepdims=True), 1)
    means = np.where(is_missing, 0.0, values).sum(axis=1, keepdims=True) / n_present
    centered = np.where(is_missing, 0.0, values - means)
    lengths = np.linalg.norm(centered, axis=1, keepdims=True)
    return (centered / np.where(lengths > 0, lengths, 1.0))[:, np.newaxis]


def _category_codes(columns: NDArray[Any], n_levels: NDArray[np.intp] | None) -> dict[int, NDArray[np.intp]]:
    """Return the codes of columns with more categories than numbers have steps: rare ones share a code."""
    if n_levels is None:
        return {}
    return {
        column: dummy_places(columns[column], int(n_levels[column]), MAX_DUMMIES)[
            columns[column].astype(np.intp)
        ]
        for column in np.flatnonzero(n_levels > _MOST_VALUES).tolist()
    }


def _steps(values: Floats, is_missing: NDArray[np.bool_], categories: dict[int, NDArray[np.intp]]) -> Floats:
    """Return a direction for each value, interval or missing value of a column, shape (n_columns, n_steps, n_rows).

    Steps that a column does not have are 0.
    """
    codes = rankdata(values, method="dense", axis=1) - 1
    for column, own in categories.items():
        codes[column] = own
    n_steps = 1 + max(_MOST_VALUES, MAX_DUMMIES if categories else 0)
    for column in sorted(set(np.flatnonzero(codes.max(axis=1) >= _MOST_VALUES).tolist()) - categories.keys()):
        there = values[column, ~is_missing[column]]
        codes[column] = np.searchsorted(np.quantile(there, np.arange(1, _N_BINS) / _N_BINS), values[column])
    # Codes of categories have no missing values, and may be as large as the last step.
    codes = np.where(is_missing, n_steps - 1, codes)
    members = codes[:, np.newaxis] == np.arange(n_steps)[:, np.newaxis]
    steps: Floats = members / np.sqrt(np.maximum(members.sum(axis=2, keepdims=True), 1))
    return steps


def outputs_of(problem: Problem) -> Floats | None:
    """Return the target as directions over the rows, shape (n_outputs, n_rows), or None where it is not numeric.

    Labels have one output less than classes. Weights stay with their rows.
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
    centered = weights[:, np.newaxis] * (values - np.average(values, axis=0, weights=weights))
    directions, lengths, _ = np.linalg.svd(centered, full_matrices=False)
    return np.ascontiguousarray(directions[:, lengths > _ROUNDING * max(lengths[0], _ROUNDING)].T)


def rearranged(outputs: Floats, sources: NDArray[np.intp]) -> Floats:
    """Return the outputs, rearranged to match the values of the original columns.

    The sum over rows of a rearranged column times the target equals that of the column times the result.

    Parameters
    ----------
    outputs : ndarray of shape (n_outputs, n_rows)

    sources : ndarray of int, shape (n_draws, n_rows)
        The row from which each row takes its value.

    Returns
    -------
    ndarray of shape (n_outputs, n_draws, n_rows)
    """
    return _engine.outputs_by_source(outputs, sources)
