"""Normal scores: the ranks of a numeric column as quantiles of the normal distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ppfs._conventions import Floats


@dataclass(frozen=True)
class NormalScores:
    """The map from a column's values to its normal scores, and back.

    Prices, counts and concentrations vary more where they are large. Their normal scores seldom do, and no
    transformation has to be chosen: the scores are the same for a column and for any increasing function of it.

    Attributes
    ----------
    values, scores : ndarray of shape (n_distinct,)
        The column's distinct values, and their scores. Equal values share the mean of their ranks.

    is_tied : bool
        Whether some values occur more than once.

    Examples
    --------
    >>> scale = NormalScores.of(np.array([1.0, 10.0, 1000.0]))
    >>> scale.of_values(np.array([1.0, 10.0, 505.0, 1000.0])).round(2).tolist()
    [-0.67, 0.0, 0.34, 0.67]
    >>> scale.back(np.array([-3.0, 0.0])).tolist()
    [1.0, 10.0]
    """

    values: Floats
    scores: Floats
    is_tied: bool

    @classmethod
    def of(cls, column: Floats) -> NormalScores:
        """Compute the scores of a column; missing values are ignored."""
        values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        n_rows = counts.sum()
        middles = np.cumsum(counts) - (counts - 1) / 2.0
        return cls(values, special.ndtri(middles / (n_rows + 1.0)), values.size < n_rows)

    def of_values(self, values: Floats) -> Floats:
        """Return scores by linear interpolation, constant beyond the extremes. Missing values stay missing."""
        return np.interp(values, self.values, self.scores)

    def back(self, scores: Floats) -> Floats:
        """Return values within the range of the column; of a column with ties, only values that occur in it."""
        if not self.is_tied:
            return np.interp(scores, self.scores, self.values)
        nearest = np.searchsorted((self.scores[1:] + self.scores[:-1]) / 2.0, scores)
        values: Floats = np.where(np.isnan(scores), np.nan, self.values[nearest])
        return values


def on_scales(Z: Floats, scales: list[NormalScores | None]) -> Floats:
    """Return the normal scores of columns."""
    columns = [z if scale is None else scale.of_values(z) for z, scale in zip(Z.T, scales, strict=True)]
    return np.column_stack(columns)


def unevenness_of(column: Floats, expected: Floats) -> float:
    """Return how much the variance of residuals depends on the prediction.

    Both are normal scores, so that no outlier dominates. Where the residuals of all rows have the same distribution,
    the result is chi-squared with two degrees of freedom: n_rows times the share that a parabola explains.

    Parameters
    ----------
    column, expected : ndarray of shape (n_rows,)
        Without missing values.
    """
    level, spread = (_own_scores(values) for values in (expected, np.abs(column - expected)))
    explained = 0.0
    for power in (level, np.square(level)):
        regressor = power - power.mean()
        if power is not level:
            regressor = regressor - level * (regressor @ level) / max(level @ level, 1e-300)
        explained += float(regressor @ spread) ** 2 / max(float(regressor @ regressor), 1e-300)
    return explained / max(float(spread @ spread), 1e-300) * spread.size


def _own_scores(values: Floats) -> Floats:
    """Return the normal scores of a column, centered."""
    scores = NormalScores.of(values).of_values(values)
    centered: Floats = scores - scores.mean()
    return centered
