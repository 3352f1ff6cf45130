"""Ridge regressions of every column of a table on all others, from one decomposition."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.independence._predictive.knockoffs.normal_scores import on_scales
from ppfs.independence._predictive.knockoffs.smooth_models import PENALTIES, scale_of


class OneAgainstRest:
    """What each column is expected to be given all others, by ridge regression on lines.

    The penalty of each column minimizes its leave-one-out error. The regressions are those that `RidgeCV` would fit one
    by one; all of them follow from one singular value decomposition X = U S V'. With P = (X'X + a I)^-1 the residuals
    of column j are (X P)_j / P_jj, and the diagonal of the hat matrix of its regression is
    diag(X P X') - (X P)_j^2 / P_jj: both by the inverse of a matrix in blocks.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers without missing values.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X

    @cached_property
    def expected(self) -> Floats:
        """What is expected of each column, shape (n_rows, n_columns)."""
        centers, deviations = self.X.mean(axis=0), self.X.std(axis=0)
        scales = np.where(deviations == 0.0, 1.0, deviations)
        unit = (self.X - centers) / scales
        return self.X - _residuals(unit) * scales

    @cached_property
    def on_normal_scores(self) -> OneAgainstRest:
        """The same for the columns' normal scores; columns of few values stay as they are."""
        return OneAgainstRest(on_scales(self.X, [scale_of(column) for column in self.X.T]))


def _residuals(unit: Floats) -> Floats:
    """Return the residuals of each column with the penalty that predicts left-out rows best."""
    n_rows, n_columns = unit.shape
    U, s, Vt = np.linalg.svd(unit, full_matrices=False)
    outside = np.maximum(1.0 - (Vt**2).sum(axis=0), 0.0)
    best = np.full(n_columns, np.inf)
    chosen = np.zeros_like(unit)
    for penalty in PENALTIES:
        inverse = 1.0 / (s**2 + penalty)
        XP = (U * (s * inverse)) @ Vt
        diagonal = inverse @ Vt**2 + outside / penalty
        residuals = XP / diagonal
        # The mean of the rows is fitted too: it takes 1 / n of each row's weight.
        hat = ((U * s) ** 2 @ inverse)[:, np.newaxis] - XP * residuals
        error = ((residuals / np.maximum(1.0 - 1.0 / n_rows - hat, 1e-12)) ** 2).sum(axis=0)
        is_better: NDArray[np.bool_] = error < best
        best[is_better] = error[is_better]
        chosen[:, is_better] = residuals[:, is_better]
    return chosen
