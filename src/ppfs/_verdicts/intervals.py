"""Means of one number per row, with intervals that the rows' spread gives."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.stats import t as student_t

from ppfs._conventions import Floats

#: Factor of the variance of cross-validated differences of two models that differ by estimation noise only. The
#: difference of row i depends on the training rows j, and that of row j on i, in the same way: every pair of rows
#: counts twice, so that the variance is twice what independent rows have.
OF_FOLDS = 2.0


@dataclass(frozen=True)
class Estimate:
    """A mean over rows and its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RowMeans:
    """How the rows of a table are averaged.

    Attributes
    ----------
    weights : ndarray of shape (n_rows,) or None
        How much each row counts; None for equal weights.

    groups : ndarray of shape (n_rows,) or None
        Rows that belong together. Their sums are the independent observations then.

    inflation : float, default=1.0
        Factor of the variance, for numbers that are not independent of each other; see `OF_FOLDS`.
    """

    weights: Floats | None = None
    groups: NDArray[np.intp] | None = None
    inflation: float = 1.0

    def mean(self, values: Floats) -> float:
        """Return the mean."""
        return float(np.average(values, weights=self.weights))

    def error(self, values: Floats) -> tuple[float, int]:
        """Return the standard error of the mean, and its degrees of freedom."""
        weights = np.ones(len(values)) if self.weights is None else self.weights
        shares = weights / weights.sum()
        deviations = shares * (values - self.mean(values))
        if self.groups is not None:
            deviations = np.bincount(np.unique(self.groups, return_inverse=True)[1].ravel(), deviations)
        n = len(deviations)
        if n < 2:
            return float("nan"), 0
        return float(np.sqrt(self.inflation * (deviations**2).sum() * n / (n - 1))), n - 1

    def estimate(self, values: Floats, level: float = 0.95) -> Estimate:
        """Return the mean with Student's interval.

        Examples
        --------
        >>> import numpy as np
        >>> one = RowMeans().estimate(np.array([1.0, 2.0, 3.0]))
        >>> print(round(one.value, 3), round(one.low, 3), round(one.high, 3))
        2.0 -0.484 4.484
        """
        mean = self.mean(values)
        error, freedom = self.error(values)
        half = student_t.isf((1 - level) / 2, freedom) * error if freedom else float("nan")
        return Estimate(mean, mean - half, mean + half)


def inflation_of_folds(lost: Floats, moved: Floats, rows: RowMeans) -> float:
    """Return the factor of the variance of cross-validated differences of two models' quadratic losses.

    The predictions of the models differ by d + e: for a reason, and by estimation noise. The noise counts twice
    (`OF_FOLDS`), the rest once. In rows that the models were not fitted on, the mean loss falls by the mean of d**2 -
    e**2, and the mean square of the difference is that of d**2 + e**2. So the noise has the share (1 - lost / moved) /
    2; its upper end is used, at 5 %.

    Parameters
    ----------
    lost, moved : ndarray of shape (n_rows,)
        By how much the loss of each row falls with the second model, and the square of the difference of the
        predictions.

    Examples
    --------
    >>> one = np.ones(2)
    >>> inflation_of_folds(one, one, RowMeans()), inflation_of_folds(-one, one, RowMeans())
    (1.0, 2.0)
    """
    square = rows.mean(moved)
    low = replace(rows, inflation=OF_FOLDS).estimate(lost, 0.9).low
    if not square > 0 or not np.isfinite(low):
        return OF_FOLDS
    share = np.clip((1.0 - low / square) / 2.0, 0.0, 1.0)
    return float(1.0 + (OF_FOLDS - 1.0) * share)
