"""Models whose intercept is penalized like the slopes, as in liblinear."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.solver import Solver, TrainData
from ppfs.independence._predictive.risks.linear.target import TrainTarget


@dataclass(frozen=True)
class PenalizedIntercept:
    """Fits a model without intercept to the regressors and a constant regressor.

    Attributes
    ----------
    inner : Solver
        Fits no intercept.

    value : float
        The value of the constant regressor: the larger it is, the less the intercept is penalized.
    """

    inner: Solver
    value: float
    has_intercept = True

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model per column; see `Solver`."""
        _, n_rows, n_columns = regressors.shape
        constant = np.full((1, n_rows, n_columns), self.value)
        return self._parted(*self.inner.fit_columns(np.concatenate([regressors, constant]), target))

    def _parted(self, slopes: Floats, intercepts: Floats) -> tuple[Floats, Floats]:
        """Turn the last slope into an intercept."""
        return np.ascontiguousarray(slopes[..., :-1]), intercepts + self.value * slopes[..., -1]

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Return whether a model of `n_regressors` regressors is fitted here."""
        return self.inner.can_fit(n_regressors + 1, n_rows)

    def data(self, design: Floats, target: TrainTarget) -> PenalizedInterceptData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        constant = np.full((1, design.shape[1]), self.value)
        return PenalizedInterceptData(self, self.inner.data(np.concatenate([design, constant]), target))


@dataclass(frozen=True)
class PenalizedInterceptData:
    """The train part of one split, the constant regressor last."""

    model: PenalizedIntercept
    inner: TrainData

    @property
    def design(self) -> Floats:
        """The regressors, shape (n_regressors, n_rows)."""
        return self.inner.design[:-1]

    def kept(self, places: NDArray[np.intp]) -> PenalizedInterceptData:
        """Return the data of some of the regressors."""
        return PenalizedInterceptData(self.model, self.inner.kept(np.append(places, len(self.design))))

    def with_products(self) -> PenalizedInterceptData:
        """Return the same data with the products that fits of some of the regressors can share."""
        return PenalizedInterceptData(self.model, self.inner.with_products())

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (n_scores, n_regressors) and intercepts of shape (n_scores,)."""
        return self.model._parted(*self.inner.fit())
