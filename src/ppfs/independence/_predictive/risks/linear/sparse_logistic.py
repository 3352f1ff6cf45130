"""Logistic regression whose penalty makes coefficients zero: the lasso's and the elastic net's."""

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

# A fit ends when a step promises to lower the mean of what is minimised by less than this.
_TOLERANCE = 1e-14

# The expansion of the likelihood has an entry for each pair of coefficients, up to so many of these.
_MAX_COEFFICIENTS = 1000


@dataclass(frozen=True)
class SparseLogistic:
    """Minimises the negative log-likelihood plus penalties on the sizes and the squares of the coefficients.

    Attributes
    ----------
    sizes, squares : float
        The first times the sizes, and half of the second times the squares, are added.

    class_weight : mapping of label to weight, "balanced" or None
        As scikit-learn's.

    n_scores : int
        Of a model: one for two classes, one a class where there are more.
    """

    sizes: float
    squares: float
    has_intercept: bool
    class_weight: Mapping[Any, float] | Literal["balanced"] | None
    n_scores: int

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model a column; see `Solver`."""
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
        """Tell whether a model of so many regressors is fitted here."""
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
        """Return the same data: the products change with every step, so there is nothing to share."""
        return self

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (n_scores, n_regressors) and intercepts of shape (n_scores,)."""
        (slopes,), (intercepts,) = self.model.fit_columns(self.design[:, :, np.newaxis], self.target)
        return slopes, intercepts
