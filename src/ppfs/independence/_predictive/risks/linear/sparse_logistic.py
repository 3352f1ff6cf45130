"""Logistic regression with the penalty of the lasso or the elastic net."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.logistic import LabeledData, Labels
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
        return self.fit_to_labels(regressors, Labels.of(target, self.class_weight))

    def fit_to_labels(self, regressors: Floats, labels: Labels) -> tuple[Floats, Floats]:
        """Fit one model per column, of shape (n_regressors, n_rows), to classes that are ready for the kernel."""
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

    def data(self, design: Floats, target: TrainTarget) -> LabeledData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return LabeledData(self, design, Labels.of(target, self.class_weight))
