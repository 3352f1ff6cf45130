"""Logistic regression with the penalty of the lasso or the elastic net."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.logistic import Labels
from ppfs.independence._predictive.risks.linear.target import TrainTarget

# A fit ends when a step would lower the mean objective by less than this.
_TOLERANCE = 1e-14

# The second-order expansion has an entry per pair of coefficients, up to this many coefficients.
_MAX_COEFFICIENTS = 1000


@dataclass(frozen=True)
class SparseLogistic:
    """Minimizes the negative log-likelihood plus penalties on the absolute values and squares of the coefficients.

    Attributes
    ----------
    sizes, squares : float
        The weights of the absolute values, and of half the squares.

    class_weight : mapping of label to weight, "balanced" or None
        As in scikit-learn.

    n_scores : int
        The scores of a model: one for two classes, else one per class.
    """

    sizes: float
    squares: float
    has_intercept: bool
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    n_scores: int

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model per column; see `Solver`."""
        labels = Labels.of(target, self.class_weight)
        n_regressors, n_rows, n_columns = regressors.shape
        if labels.n_seen == 1:
            return labels.aligned(np.zeros((n_columns, 0, n_regressors)), np.zeros((n_columns, 0)))
        return labels.aligned(
            *_engine.sparse_logistic_columns(
                np.ascontiguousarray(regressors),
                labels.codes,
                labels.weights if labels.weights.size else np.ones(n_rows),
                labels.n_seen,
                self.sizes,
                self.squares,
                self.has_intercept,
                _TOLERANCE * labels.total,
            )
        )

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Return whether a model of `n_regressors` regressors is fitted here."""
        return n_regressors * self.n_scores <= _MAX_COEFFICIENTS

    def data(self, design: Floats, target: TrainTarget) -> SparseLogisticData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return SparseLogisticData(self, design, target)


@dataclass(frozen=True)
class SparseLogisticData:
    """The train part of one split; design has shape (n_regressors, n_rows)."""

    model: SparseLogistic
    design: Floats
    target: TrainTarget

    def kept(self, places: NDArray[np.intp]) -> SparseLogisticData:
        """Return the data of some of the regressors."""
        return replace(self, design=np.ascontiguousarray(self.design[places]))

    def with_products(self) -> SparseLogisticData:
        """Return the same data: the products change with every step, so nothing can be shared."""
        return self

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (n_scores, n_regressors) and intercepts of shape (n_scores,)."""
        (slopes,), (intercepts,) = self.model.fit_columns(self.design[:, :, np.newaxis], self.target)
        return slopes, intercepts
