"""A scale on which any column of numbers is normal: its ranks, as quantiles of the normal distribution."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from ppfs._conventions import Floats


@dataclass(frozen=True)
class NormalScores:
    """The way from a column's values to its normal scores, and back.

    Prices, counts and concentrations spread more where they are large. On the scale of their normal scores they seldom
    do, and no log or root has to be guessed: the scale is the same for a column and for any rising function of it.

    Attributes
    ----------
    values, scores : ndarray of shape (n_distinct,)
        The column's distinct values, and where they stand on the new scale. Equal values share the mean of their ranks.

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
        """Learn the scale of a column; gaps play no part."""
        values, counts = np.unique(column[~np.isnan(column)], return_counts=True)
        n_rows = counts.sum()
        middles = np.cumsum(counts) - (counts - 1) / 2.0
        return cls(values, special.ndtri(middles / (n_rows + 1.0)), values.size < n_rows)

    def of_values(self, values: Floats) -> Floats:
        """Return scores: between two known values in proportion, beyond them those of the outermost. Gaps stay gaps."""
        return np.interp(values, self.values, self.scores)

    def back(self, scores: Floats) -> Floats:
        """Return values, none beyond those that are known; where some are equal, only values that are known."""
        if not self.is_tied:
            return np.interp(scores, self.scores, self.values)
        nearest = np.searchsorted((self.scores[1:] + self.scores[:-1]) / 2.0, scores)
        values: Floats = np.where(np.isnan(scores), np.nan, self.values[nearest])
        return values


def on_scales(Z: Floats, scales: list[NormalScores | None]) -> Floats:
    """Return columns on their scales."""
    columns = [z if scale is None else scale.of_values(z) for z, scale in zip(Z.T, scales, strict=True)]
    return np.column_stack(columns)


def unevenness_of(column: Floats, expected: Floats) -> float:
    """Tell how much the spread of residuals follows what is expected.

    Both are taken as normal scores, so that no row far out decides. Where residuals are alike in all rows, the answer
    is chi-squared with two degrees of freedom: the number of rows times the share that a parabola explains.

    Parameters
    ----------
    column, expected : ndarray of shape (n_rows,)
        Without gaps.
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
    """Return the normal scores of a column, their mean taken away."""
    scores = NormalScores.of(values).of_values(values)
    centred: Floats = scores - scores.mean()
    return centred
