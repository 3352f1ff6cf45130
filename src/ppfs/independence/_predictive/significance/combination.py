"""One p-value from the p-values of several models."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppfs._conventions import Floats

# Larger p-values are capped at this before they are combined.
_LARGEST = 0.9


def cauchy_combination(pvalues: Floats, weights: Sequence[float] | None = None) -> tuple[Floats, Floats]:
    """Combine the p-values of several tests of the same hypothesis, whatever their dependence.

    A p-value becomes a Cauchy variable, and the mean of these is Cauchy again: exactly where they are independent or
    equal, and in the tail under any dependence (Liu and Xie, 2020). One small p-value among K is multiplied by K at
    most, and several small ones by less.

    Parameters
    ----------
    pvalues : ndarray of shape (n_questions, n_tests)

    weights : sequence of float, default=None
        The weight of each test; None weighs all equally.

    Returns
    -------
    pvalues, statistics : ndarray of shape (n_questions,)

    Examples
    --------
    >>> cauchy_combination(np.array([[0.02, 0.02], [0.001, 0.5]]))[0].round(4).tolist()
    [0.02, 0.002]
    """
    # The Cauchy variable of p is cot(pi p), minus infinity at 1: one such test would overrule all others.
    capped = np.minimum(pvalues, _LARGEST)
    with np.errstate(divide="ignore"):
        statistics: Floats = np.average(1.0 / np.tan(np.pi * capped), axis=1, weights=weights)
        combined = np.arctan(1.0 / statistics) / np.pi
    combined = np.where(statistics < 0, 1.0 + combined, combined)
    return np.maximum(combined, pvalues.min(axis=1)), statistics
