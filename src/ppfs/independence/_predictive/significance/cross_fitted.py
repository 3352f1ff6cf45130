"""Tests of rows that were each tested once, by models fitted on the other rows."""

from __future__ import annotations

import numpy as np
from scipy import special

from ppfs._conventions import Floats
from ppfs.independence._predictive.significance.differences import GRID
from ppfs.independence._predictive.significance.t_tests import t_tail, t_tail_of


def seen_by_each_other(
    differences: Floats, n_coefficients: Floats, freedom: Floats | None = None
) -> tuple[Floats, Floats]:
    """Test the mean over rows, each of which was tested by a model fitted on the other rows.

    A chance pattern that rows share counts twice, so their differences are not independent. To first order the
    t-statistic of a model with q coefficients for the feature is T = (U - q) / sqrt(U), where U is chi-squared with q
    degrees of freedom: the p-value is that of U, found from T (docs/decisions/0101-what-rows-share.md).

    Parameters
    ----------
    differences : ndarray of shape (n_questions, n_rows)

    n_coefficients : ndarray of shape (n_questions,)
        q; infinite where it is unknown, which doubles the variance.

    freedom : ndarray of shape (n_questions,), default=None
        Degrees of freedom of the t-statistic; None is n_rows - 1.

    Returns
    -------
    pvalues, statistics : ndarray of shape (n_questions,)
        Where q is known, never below those of the plain t-test.
    """
    n_rows = differences.shape[1]
    as_if_independent, statistics = t_tail(differences, 1.0 / n_rows, freedom)
    doubled = t_tail(differences, 2.0 / n_rows, freedom)[0]
    return _with_shared_pattern(as_if_independent, doubled, n_coefficients), statistics


def seen_in_moments(
    moments: Floats, n_rows: int, n_coefficients: Floats, *, is_liberal: bool
) -> tuple[Floats, Floats]:
    """Return what `seen_by_each_other` does, from `moments_of` the differences of `n_rows` rows.

    Parameters
    ----------
    is_liberal : bool
        Whether the t-statistic has n_rows - 1 degrees of freedom, or the effective number.
    """
    mean, spread, effective = moments.T
    freedom = n_rows - 1 if is_liberal else effective
    parts = mean, spread, spread < 0
    as_if_independent, statistics = t_tail_of(*parts, 1.0 / n_rows, freedom)
    doubled = t_tail_of(*parts, 2.0 / n_rows, freedom)[0]
    return _with_shared_pattern(as_if_independent, doubled, n_coefficients), statistics


def _with_shared_pattern(as_if_independent: Floats, doubled: Floats, n_coefficients: Floats) -> Floats:
    """Return p-values that allow for shared patterns, from those without and those with twice the variance."""
    pvalues = doubled.copy()
    is_known = np.isfinite(n_coefficients)
    q, z = n_coefficients[is_known], -special.ndtri(as_if_independent[is_known])
    root = np.sqrt(z**2 + 4.0 * q)
    with np.errstate(invalid="ignore"):
        # Two formulas of the same number, each where it has no cancellation.
        pattern = np.where(z > 0, (root + z) / 2.0, 2.0 * q / (root - z))
    pvalues[is_known] = np.maximum(special.chdtrc(q, pattern**2), as_if_independent[is_known])
    return pvalues


def randomisation(risks: Floats, by_draw: Floats, stop_after: int) -> tuple[Floats, Floats]:
    """Compare each risk with those of random draws.

    Parameters
    ----------
    risks : ndarray of shape (n_questions,)

    by_draw : ndarray of shape (n_questions, n_draws)
        NaN for draws that were not made.

    stop_after : int
        Draws end with this many that are no higher than the risk itself; 0 for never.

    Returns
    -------
    pvalues : ndarray of shape (n_questions,)
        (1 + count) / (n_draws + 1), or, where the draws ended early, count divided by the draws made (Besag
        and Clifford, 1991).

    counts : ndarray of shape (n_questions,)
        Draws that are no higher than the risk itself.
    """
    # Sums of the same losses in another order differ in their last bits.
    is_as_good = by_draw <= risks[:, np.newaxis] + GRID * np.abs(risks)[:, np.newaxis]
    counts = is_as_good.sum(axis=1).astype(np.float64)
    pvalues: Floats = (1.0 + counts) / (by_draw.shape[1] + 1.0)
    if stop_after:
        has_ended = counts >= stop_after
        so_far = np.cumsum(is_as_good[has_ended], axis=1)
        counts[has_ended] = stop_after
        pvalues[has_ended] = stop_after / (1.0 + np.argmax(so_far == stop_after, axis=1))
    return pvalues, counts
