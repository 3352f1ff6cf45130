"""Least squares, ridge regression, the lasso and the elastic net, with one or several regressors."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import svd

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs.independence._predictive.risks.linear.target import TrainTarget

# The elastic net works on the products of all pairs of regressors, up to so many of these.
_MAX_PRODUCTS = 1000


@dataclass(frozen=True)
class Ridge:
    """Minimises the squared error plus `penalty` times the squares of the coefficients; 0 is least squares.

    Where no single solution is best, it is the shortest.
    """

    penalty: float
    has_intercept: bool

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model a column; see `Solver`."""
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
        """Fit a line a column: a closed form."""
        y = target.values
        weights = np.ones(y.size) if target.weights is None else target.weights
        y_mean = float((weights * y).sum() / weights.sum()) if self.has_intercept else 0.0
        slopes, x_mean = _engine.line_columns(
            np.ascontiguousarray(X), weights, y - y_mean, self.penalty, self.has_intercept
        )
        return slopes, y_mean - slopes * x_mean

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Tell whether a model is fitted here: always."""
        return True

    def data(self, design: Floats, target: TrainTarget) -> RidgeData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return RidgeData(self, *_centred(design, target, self.has_intercept))


@dataclass(frozen=True)
class RidgeData:
    """The train part of one split, centred and weighted.

    Attributes
    ----------
    design : ndarray of shape (n_regressors, n_rows)

    centres : ndarray of shape (n_regressors,)
        What was subtracted from the regressors.

    values : ndarray of shape (n_rows,)

    centre : float
        What was subtracted from the target.

    gram : ndarray of shape (n_regressors, n_regressors) or None
        Products of the regressors, where they are known already.
    """

    model: Ridge
    design: Floats
    centres: Floats
    values: Floats
    centre: float
    gram: Floats | None = None

    def kept(self, places: NDArray[np.intp]) -> RidgeData:
        """Return the data of some of the regressors."""
        gram = None if self.gram is None else np.ascontiguousarray(self.gram[np.ix_(places, places)])
        return replace(
            self, design=np.ascontiguousarray(self.design[places]), centres=self.centres[places], gram=gram
        )

    @property
    def _has_more_rows(self) -> bool:
        return bool(self.design.shape[0] <= self.design.shape[1])

    def with_products(self) -> RidgeData:
        """Return the same data with what models of some of the regressors can share."""
        if not self._has_more_rows or self.gram is not None:
            return self
        return replace(self, gram=_engine.products(self.design))

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
            # With more regressors than rows the coefficients are a combination of the rows.
            shares = np.empty(self.values.size)
            if _engine.solve_symmetric(_engine.row_products(self.design), self.values, penalty, shares):
                return self._with_intercept(np.einsum("rn,n->r", self.design, shares))
        return self.by_singular_values()

    def by_singular_values(self) -> tuple[Floats, Floats]:
        """Fit slowly, but right also where regressors are combinations of others; see `fit`."""
        left, sizes, right = svd(self.design.T, full_matrices=False)
        if self.model.penalty:
            shares = sizes / (sizes**2 + self.model.penalty)
        else:
            smallest = max(self.design.shape) * np.finfo(np.float64).eps * sizes.max(initial=0.0)
            shares = np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > smallest)
        return self._with_intercept(right.T @ (shares * (left.T @ self.values)))

    def _with_intercept(self, slopes: Floats) -> tuple[Floats, Floats]:
        return slopes[np.newaxis], np.array([self.centre - (slopes * self.centres).sum()])


@dataclass(frozen=True)
class ElasticNet:
    """Minimises half the mean squared error plus penalties on the sizes and the squares of the coefficients.

    Attributes
    ----------
    sizes, squares : float
        The first times the sizes, and half of the second times the squares of the coefficients, are added.

    is_positive : bool
        Whether coefficients below zero are not allowed.
    """

    sizes: float
    squares: float
    has_intercept: bool
    is_positive: bool

    def fit_columns(self, regressors: Floats, target: TrainTarget) -> tuple[Floats, Floats]:
        """Fit one model a column; see `Solver`."""
        if len(regressors) == 1 and target.weights is None:
            slopes, intercepts = self._lines(regressors[0], target.values)
            return slopes[:, np.newaxis, np.newaxis], intercepts[:, np.newaxis]
        fits = [
            self.data(np.ascontiguousarray(regressors[:, :, column]), target).fit()
            for column in range(regressors.shape[2])
        ]
        return np.stack([slopes for slopes, _ in fits]), np.stack([intercepts for _, intercepts in fits])

    def _lines(self, X: Floats, y: Floats) -> tuple[Floats, Floats]:
        """Fit a line a column: a closed form."""
        x_mean = X.mean(axis=0) if self.has_intercept else np.zeros(X.shape[1])
        y_mean = float(y.mean()) if self.has_intercept else 0.0
        centred = X - x_mean
        centred[:, np.ptp(X, axis=0) == 0] *= not self.has_intercept
        pull = ((y - y_mean)[:, np.newaxis] * centred).sum(axis=0)
        left = np.sign(pull) * np.maximum(np.abs(pull) - y.size * self.sizes, 0.0)
        if self.is_positive:
            left = np.maximum(left, 0.0)
        squares = (centred**2).sum(axis=0)
        slopes = np.divide(left, squares + y.size * self.squares, out=np.zeros_like(pull), where=squares > 0)
        return slopes, y_mean - slopes * x_mean

    def can_fit(self, n_regressors: int, n_rows: int) -> bool:
        """Tell whether the products of all pairs of regressors are few enough to be kept."""
        return n_regressors <= _MAX_PRODUCTS

    def data(self, design: Floats, target: TrainTarget) -> ElasticNetData:
        """Prepare the train part of a model of several regressors; see `Solver`."""
        return ElasticNetData(self, *_centred(design, target, self.has_intercept, is_scaled=True))


@dataclass(frozen=True)
class ElasticNetData:
    """The train part of one split, centred and weighted; see `RidgeData`."""

    model: ElasticNet
    design: Floats
    centres: Floats
    values: Floats
    centre: float
    gram: Floats | None = None

    def kept(self, places: NDArray[np.intp]) -> ElasticNetData:
        """Return the data of some of the regressors."""
        gram = None if self.gram is None else np.ascontiguousarray(self.gram[np.ix_(places, places)])
        return replace(
            self, design=np.ascontiguousarray(self.design[places]), centres=self.centres[places], gram=gram
        )

    def with_products(self) -> ElasticNetData:
        """Return the same data with what models of some of the regressors can share."""
        return self if self.gram is not None else replace(self, gram=_engine.products(self.design))

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
        return slopes[np.newaxis], np.array([self.centre - (slopes * self.centres).sum()])


def _centred(
    design: Floats, target: TrainTarget, has_intercept: bool, *, is_scaled: bool = False
) -> tuple[Floats, Floats, Floats, float]:
    """Subtract means and multiply by the roots of the weights: what is left is plain least squares.

    Parameters
    ----------
    is_scaled : bool, default=False
        Whether the weights are made to be 1 on average.

    Returns
    -------
    design, centres, values, centre
        See `RidgeData`.
    """
    y, weights = target.values, target.weights
    if not has_intercept:
        centres, centre = np.zeros(len(design)), 0.0
    elif weights is None:
        centres, centre = design.mean(axis=1), float(y.mean())
    else:
        centres = (design * weights).sum(axis=1) / weights.sum()
        centre = float((weights * y).sum() / weights.sum())
    centred, values = design - centres[:, np.newaxis], y - centre
    if has_intercept:
        centred[np.ptp(design, axis=1) == 0] = 0.0
    if weights is not None:
        roots = np.sqrt(weights / weights.mean() if is_scaled else weights)
        centred *= roots
        values = values * roots
    return centred, centres, values, centre
