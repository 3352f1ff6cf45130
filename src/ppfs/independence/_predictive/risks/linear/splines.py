"""Splines of many columns at once, equal to those of scikit-learn's SplineTransformer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.preprocessing import SplineTransformer

from ppfs import _engine
from ppfs._conventions import Floats


@dataclass(frozen=True)
class Splines:
    """A fitted SplineTransformer that is constant beyond its outer knots.

    Attributes
    ----------
    knots : ndarray of shape (n_knots + 2 * degree, n_columns)
        Increasing in every column.

    keeps_last : bool
        Whether the last spline of each column is among the regressors.
    """

    knots: Floats
    degree: int
    keeps_last: bool

    def values(self, X: Floats) -> Floats:
        """Return the values of the splines, shape (n_rows, n_columns, n_splines)."""
        n_splines = self.knots.shape[0] - self.degree - 1
        n_kept = n_splines if self.keeps_last else n_splines - 1
        knots = np.ascontiguousarray(self.knots.T)
        made: Floats = _engine.spline_values(
            np.ascontiguousarray(X, dtype=np.float64), knots, self.degree, n_kept
        )
        return made


@dataclass(frozen=True)
class FittedSplines:
    """Splines of columns, some of which are left to scikit-learn.

    Attributes
    ----------
    plain : Splines
        The splines of the columns whose knots increase strictly.

    is_plain : ndarray of bool, shape (n_columns,)

    others : SplineTransformer or None
        Fitted on the other columns.
    """

    plain: Splines
    is_plain: NDArray[np.bool_]
    others: SplineTransformer | None

    def transform(self, X: Floats) -> Floats:
        """Return the values of the splines, column after column: shape (n_rows, n_columns * n_splines)."""
        return self.values(X).reshape(len(X), -1)

    def values(self, X: Floats) -> Floats:
        """Return the values of the splines, shape (n_rows, n_columns, n_splines)."""
        if self.others is None:
            return self.plain.values(X)
        rest = np.asarray(self.others.transform(X[:, ~self.is_plain]))
        n_splines = rest.shape[1] // int((~self.is_plain).sum())
        made = np.empty((*X.shape, n_splines))
        made[:, ~self.is_plain] = rest.reshape(len(X), -1, n_splines)
        if self.is_plain.any():
            made[:, self.is_plain] = self.plain.values(X[:, self.is_plain])
        return made


def fitted_splines(step: SplineTransformer, X: Floats) -> FittedSplines | SplineTransformer:
    """Fit splines to columns; coinciding knots, and ends that are not constant, are left to scikit-learn."""
    if step.extrapolation != "constant" or step.degree < 1:
        return clone(step).fit(X)
    shares = np.linspace(0.0, 1.0, step.n_knots)
    if step.knots == "quantile":
        inner = np.percentile(X, 100.0 * shares, axis=0)
    else:
        inner = np.linspace(X.min(axis=0), X.max(axis=0), step.n_knots, dtype=np.float64)
    is_plain: NDArray[np.bool_] = np.all(np.diff(inner, axis=0) > 0, axis=0)
    inner = inner[:, is_plain]
    steps = np.arange(step.degree, 0, -1)[:, np.newaxis]
    before = inner[0] - steps * (inner[1] - inner[0])
    after = inner[-1] + steps[::-1] * (inner[-1] - inner[-2])
    plain = Splines(np.vstack([before, inner, after]), step.degree, step.include_bias)
    others = None if is_plain.all() else clone(step).fit(X[:, ~is_plain])
    return FittedSplines(plain, is_plain, others)
