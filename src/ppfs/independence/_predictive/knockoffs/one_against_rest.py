"""Ridge regressions of every column of a table on all others, from one decomposition."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.independence._predictive.knockoffs.normal_scores import on_scales
from ppfs.independence._predictive.knockoffs.smooth_models import PENALTIES, scale_of


@dataclass(frozen=True)
class _Penalized:
    """The decomposition with one penalty: what the residuals of any columns follow from."""

    scores: Floats
    inverse: Floats
    hat: Floats
    penalty: float


class OneAgainstRest:
    """What each column is expected to be given all others, by ridge regression on lines.

    The penalty of each column minimizes its leave-one-out error. The regressions are those that `RidgeCV` would fit one
    by one; all of them follow from one singular value decomposition X = U S V'. With P = (X'X + a I)^-1 the residuals
    of the columns G, given the columns outside G, are (X P)_G (P_GG)^-1, and the diagonal of the hat matrix of these
    regressions is diag(X P X') - diag((X P)_G (P_GG)^-1 (X P)_G'): both by the inverse of a matrix in blocks.

    Parameters
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Numbers without missing values.
    """

    def __init__(self, X: Floats) -> None:
        self.X = X
        deviations = X.std(axis=0)
        self._scales = np.where(deviations == 0.0, 1.0, deviations)

    @cached_property
    def expected(self) -> Floats:
        """What is expected of each column given all others, shape (n_rows, n_columns)."""
        return self.X - self._each[0] * self._scales

    @cached_property
    def explained(self) -> Floats:
        """The share of each column's variance that all others explain of left-out rows, shape (n_columns,)."""
        return 1.0 - self._each[1] / len(self.X)

    def expected_of(self, group: NDArray[np.intp]) -> Floats:
        """Return what is expected of several columns given those outside the group, shape (n_rows, n_group)."""
        Vt = self._decomposed[2][:, group]
        outside = np.eye(group.size) - Vt.T @ Vt
        best, chosen = np.inf, np.zeros((len(self.X), group.size))
        for one in self._penalized():
            XP = one.scores @ Vt
            block = (Vt.T * one.inverse) @ Vt + outside / one.penalty
            residuals: Floats = np.linalg.solve(block, XP.T).T.astype(np.float64)
            error = float(self._left_out(residuals, (XP * residuals).sum(axis=1, keepdims=True), one).sum())
            if error < best:
                best, chosen = error, residuals
        return self.X[:, group] - chosen * self._scales[group]

    @cached_property
    def on_normal_scores(self) -> OneAgainstRest:
        """The same for the columns' normal scores; columns of few values stay as they are."""
        return OneAgainstRest(on_scales(self.X, [scale_of(column) for column in self.X.T]))

    @cached_property
    def _each(self) -> tuple[Floats, Floats]:
        """The residuals of each column in units of its deviation, and the sums of its squared left-out errors."""
        Vt = self._decomposed[2]
        outside = np.maximum(1.0 - (Vt**2).sum(axis=0), 0.0)
        best = np.full(self.X.shape[1], np.inf)
        chosen = np.zeros(self.X.shape)
        for one in self._penalized():
            XP = one.scores @ Vt
            residuals = XP / (one.inverse @ Vt**2 + outside / one.penalty)
            error = self._left_out(residuals, XP * residuals, one)
            is_better: NDArray[np.bool_] = error < best
            best[is_better] = error[is_better]
            chosen[:, is_better] = residuals[:, is_better]
        return chosen, best

    def _penalized(self) -> Iterator[_Penalized]:
        U, s, _ = self._decomposed
        for penalty in PENALTIES:
            inverse = 1.0 / (s**2 + penalty)
            hat = ((U * s) ** 2 @ inverse)[:, np.newaxis]
            yield _Penalized(U * (s * inverse), inverse, hat, float(penalty))

    def _left_out(self, residuals: Floats, own: Floats, one: _Penalized) -> Floats:
        """Return the sum of the squared errors of each column, each row predicted from the others."""
        # The mean of the rows is fitted too: it takes 1 / n of each row's weight.
        weights = np.maximum(1.0 - 1.0 / len(residuals) - one.hat + own, 1e-12)
        error: Floats = ((residuals / weights) ** 2).sum(axis=0)
        return error

    @cached_property
    def _decomposed(self) -> tuple[Floats, Floats, Floats]:
        unit = (self.X - self.X.mean(axis=0)) / self._scales
        U, s, Vt = np.linalg.svd(unit, full_matrices=False)
        return U, s, Vt
