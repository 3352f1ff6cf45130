"""The interface of the solvers of linear models."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.target import TrainTarget


class TrainData(Protocol):
    """The train part of one split, ready for a fit."""

    @property
    def design(self) -> Floats: ...

    def kept(self, places: NDArray[np.intp]) -> TrainData:
        """Return the data of some of the regressors."""
        ...

    def with_products(self) -> TrainData:
        """Return the same data with the products that fits of some of the regressors can share."""
        ...

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (n_scores, n_regressors) and intercepts of shape (n_scores,)."""
        ...


class Solver(Protocol):
    """Fits linear models of one target, each to its own regressors."""

    @property
    def has_intercept(self) -> bool: ...

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model per column of a block.

        Parameters
        ----------
        regressors : ndarray of shape (n_regressors, n_rows, n_columns)
            The regressors of each column.

        Returns
        -------
        slopes : ndarray of shape (n_columns, n_scores, n_regressors)

        intercepts : ndarray of shape (n_columns, n_scores)
        """
        ...

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Return whether a model of `n_regressors` regressors is fitted here, not by scikit-learn."""
        ...

    def data(self, design: Floats, target: TrainTarget) -> TrainData:
        """Prepare a model of several regressors, shape (n_regressors, n_rows)."""
        ...
