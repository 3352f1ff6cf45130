"""Least squares, ridge regression, the lasso and the elastic net, with one or several regressors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.target import TrainTarget

# The elastic net uses the products of all pairs of regressors, up to this many.
_MAX_PRODUCTS = 1000


@dataclass(frozen=True)
class Ridge:
    """Minimizes the squared error plus `penalty` times the squares of the coefficients; 0 is least squares.

    Where the solution is not unique, it is the shortest.
    """

    penalty: float
    has_intercept: bool

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model per column; see `Solver`."""
        if len(regressors) == 1:
            slopes, intercepts = self._lines(regressors[0], target)
            return slopes[:, np.newaxis, np.newaxis], intercepts[:, np.newaxis]
        weights = np.ones(target.values.size) if target.weights is None else target.weights
        slopes, intercepts, is_solved = _engine.ridge_columns(
            regressors, weights, target.values, self.penalty, self.has_intercept
        )
        for column in np.flatnonzero(~is_solved):
            data = self.data(np.ascontiguousarray(regressors[:, :, column]), target)
            (slopes[column],), (intercepts[column],) = data.by_singular_values()
        return slopes[:, np.newaxis, :], intercepts[:, np.newaxis]

    def _lines(self, X: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit a line per column in closed form."""
        y = target.values
        weights = np.ones(y.size) if target.weights is None else target.weights
        y_mean = float((weights * y).sum() / weights.sum()) if self.has_intercept else 0.0
        slopes, x_mean = _engine.line_columns(
            np.ascontiguousarray(X), weights, y - y_mean, self.penalty, self.has_intercept
        )
        return slopes, y_mean - slopes * x_mean

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Return True: every such model is fitted here."""
        return True

    def data(self, design: Floats, target: TrainTarget) -> RidgeData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return RidgeData(self, *_centered(design, target, self.has_intercept))


@dataclass(frozen=True)
class CenteredData:
    """The train part of one split, centered and weighted.

    Attributes
    ----------
    design : ndarray of shape (n_regressors, n_rows)

    centers : ndarray of shape (n_regressors,)
        The values that were subtracted from the regressors.

    values : ndarray of shape (n_rows,)

    center : float
        The value that was subtracted from the target.

    gram : ndarray of shape (n_regressors, n_regressors) or None
        Products of the regressors, where they were computed before.
    """

    model: Any
    design: Floats
    centers: Floats
    values: Floats
    center: float
    gram: Floats | None = None

    def kept(self, places: NDArray[np.intp]) -> Self:
        """Return the data of some of the regressors."""
        gram = None if self.gram is None else np.ascontiguousarray(self.gram[np.ix_(places, places)])
        return replace(
            self, design=np.ascontiguousarray(self.design[places]), centers=self.centers[places], gram=gram
        )

    def with_products(self) -> Self:
        """Return the same data with the products that models of some of the regressors can share."""
        return self if self.gram is not None else replace(self, gram=_engine.products(self.design))

    def _with_intercept(self, slopes: Floats) -> tuple[Floats, Floats]:
        return slopes[np.newaxis], np.array([self.center - (slopes * self.centers).sum()])


@dataclass(frozen=True)
class RidgeData(CenteredData):
    """The train part of ridge regression or least squares."""

    model: Ridge

    @property
    def _has_more_rows(self) -> bool:
        return bool(self.design.shape[0] <= self.design.shape[1])

    def with_products(self) -> Self:
        """Return the same data with the products that models of some of the regressors can share."""
        return super().with_products() if self._has_more_rows else self

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (1, n_regressors) and intercepts of shape (1,)."""
        penalty = self.model.penalty
        if self._has_more_rows:
            data = self.with_products()
            assert data.gram is not None
            slopes = np.empty(len(self.design))
            if _engine.solve_ridge(self.design, data.gram, self.values, penalty, slopes):
                return self._with_intercept(slopes)
        elif penalty > 0.0:
            # With more regressors than rows the coefficients are a linear combination of the rows.
            shares = np.empty(self.values.size)
            if _engine.solve_symmetric(_engine.row_products(self.design), self.values, penalty, shares):
                return self._with_intercept(np.einsum("rn,n->r", self.design, shares))
        return self.by_singular_values()

    def by_singular_values(self) -> tuple[Floats, Floats]:
        """Fit by the slower way that is accurate for linearly dependent regressors too; see `fit`."""
        left, sizes, right = svd(self.design.T, full_matrices=False)
        if self.model.penalty:
            shares = sizes / (sizes**2 + self.model.penalty)
        else:
            smallest = max(self.design.shape) * np.finfo(np.float64).eps * sizes.max(initial=0.0)
            shares = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > smallest)
        return self._with_intercept(right.T @ (shares * (left.T @ self.values)))


@dataclass(frozen=True)
class ElasticNet:
    """Minimizes half the mean squared error plus penalties on the absolute values and squares of the coefficients.

    Attributes
    ----------
    sizes, squares : float
        The weights of the absolute values, and of half the squares.

    is_positive : bool
        Whether coefficients must not be negative.
    """

    sizes: float
    squares: float
    has_intercept: bool
    is_positive: bool

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model per column; see `Solver`."""
        if len(regressors) == 1 and target.weights is None:
            slopes, intercepts = self._lines(regressors[0], target.values)
            return slopes[:, np.newaxis, np.newaxis], intercepts[:, np.newaxis]
        fits = [
            self.data(np.ascontiguousarray(regressors[:, :, column]), target).fit()
            for column in range(regressors.shape[2])
        ]
        return np.stack([slopes for slopes, _ in fits]), np.stack([intercepts for _, intercepts in fits])

    def _lines(self, X: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Fit a line per column in closed form."""
        x_mean = X.mean(axis=0) if self.has_intercept else np.zeros(X.shape[1])
        y_mean = float(y.mean()) if self.has_intercept else 0.0
        centered = X - x_mean
        centered[:, np.ptp(X, axis=0) == 0] *= not self.has_intercept
        pull = ((y - y_mean)[:, np.newaxis] * centered).sum(axis=0)
        left = np.sign(pull) * np.maximum(np.abs(pull) - y.size * self.sizes, 0.0)
        if self.is_positive:
            left = np.maximum(left, 0.0)
        squares = (centered**2).sum(axis=0)
        slopes = np.divide(left, squares + y.size * self.squares, out=np.zeros_like(pull), where=squares > 0)
        return slopes, y_mean - slopes * x_mean

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Return whether the products of all pairs of regressors fit in memory."""
        return n_regressors <= _MAX_PRODUCTS

    def data(self, design: Floats, target: TrainTarget) -> ElasticNetData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return ElasticNetData(self, *_centered(design, target, self.has_intercept, is_scaled=True))


@dataclass(frozen=True)
class ElasticNetData(CenteredData):
    """The train part of the lasso or the elastic net."""

    model: ElasticNet

    def fit(self) -> tuple[Floats, Floats]:
        """Return slopes of shape (1, n_regressors) and intercepts of shape (1,)."""
        data = self.with_products()
        assert data.gram is not None
        slopes = np.empty(len(self.design))
        right = (self.design * self.values).sum(axis=1)
        n_rows, model = self.values.size, self.model
        _engine.solve_elastic_net(
            data.gram, right, n_rows * model.squares, n_rows * model.sizes, model.is_positive, slopes
        )
        return self._with_intercept(slopes)


def _centered(
    design: Floats, target: TrainTarget, has_intercept: bool, *, is_scaled: bool = False
) -> tuple[Floats, Floats, Floats, float]:
    """Subtract means and multiply by the square roots of the weights, to get plain least squares.

    Parameters
    ----------
    is_scaled : bool, default=False
        Whether the weights are scaled to mean 1.

    Returns
    -------
    design, centers, values, center
        See `RidgeData`.
    """
    y, weights = target.values, target.weights
    if not has_intercept:
        centers, center = np.zeros(len(design)), 0.0
    elif weights is None:
        centers, center = design.mean(axis=1), float(y.mean())
    else:
        centers = (design * weights).sum(axis=1) / weights.sum()
        center = float((weights * y).sum() / weights.sum())
    centered, values = design - centers[:, np.newaxis], y - center
    if has_intercept:
        centered[np.ptp(design, axis=1) == 0] = 0.0
    if weights is not None:
        roots = np.sqrt(weights / weights.mean() if is_scaled else weights)
        centered *= roots
        values = values * roots
    return centered, centers, values, center
