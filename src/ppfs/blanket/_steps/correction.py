"""Adjustment of the growth phase's p-values for the number of columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import digamma
from scipy.stats import false_discovery_control

CORRECTIONS = ("bh", "by", "bonferroni")


def adjust(pvalues: NDArray[np.float64], correction: str | None) -> NDArray[np.float64]:
    """Adjust p-values for multiplicity so that they can be compared with alpha as they are.

    Parameters
    ----------
    correction : {"bh", "by", "bonferroni"} or None
        Benjamini-Hochberg, Benjamini-Yekutieli (valid under any dependence), Bonferroni, or none.
    """
    if correction is None or not pvalues.size:
        return pvalues
    if correction == "bonferroni":
        return np.minimum(1.0, pvalues * pvalues.size)
    adjusted: NDArray[np.float64] = false_discovery_control(pvalues, method=correction)
    return adjusted


def adjust_among(pvalues: NDArray[np.float64], correction: str | None, n_all: int) -> NDArray[np.float64]:
    """Adjust some of `n_all` p-values; the others were not computed and count as 1.

    Examples
    --------
    >>> adjust_among(np.array([1e-4, 0.5]), "bh", 100).round(6).tolist()
    [0.01, 1.0]
    """
    if correction is None or n_all <= pvalues.size:
        return adjust(pvalues, correction)
    # One entry of 1 is enough: those beyond it have no smaller adjusted p-value to pass on.
    adjusted = adjust(np.append(pvalues, 1.0), correction)[:-1]
    few = pvalues.size + 1
    times = n_all / few
    if correction == "by":
        # The sum of 1 / k up to n, without an array of that length.
        times *= float((digamma(n_all + 1) + np.euler_gamma) / (digamma(few + 1) + np.euler_gamma))
    return np.minimum(1.0, adjusted * times)


def level_of(alpha: float, correction: str | None, n_asked: int, n_called: int) -> float:
    """Return how small `n_called` equal p-values of `n_asked` have to be so that all of them are called.

    Examples
    --------
    >>> level_of(0.05, "bh", n_asked=1000, n_called=10)
    0.0005
    """
    if correction is None:
        return alpha
    if correction == "bonferroni":
        return alpha / n_asked
    harmonic = float((1.0 / np.arange(1, n_asked + 1)).sum()) if correction == "by" else 1.0
    return alpha * n_called / (n_asked * harmonic)
