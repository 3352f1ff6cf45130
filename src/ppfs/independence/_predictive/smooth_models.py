"""Fast models of one column given others, smooth enough to be fitted and used on the same rows.

Each is additive: a straight line or a curve a conditioning column. Which of the two is decided by the error
that is to be expected on new rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.preprocessing import SplineTransformer

from ppfs._block import Matrix
from ppfs._models import Medians
from ppfs._types import Floats

# Where curves are allowed, a conditioning column with so few values has one coefficient a value: no spline can bend
# more often.
_MAX_STEPS = 10

# Categories beyond the most frequent ones share their coefficient.
_MAX_INDICATORS = 30

# Knots of a curve: the cube root of the number of rows, so that what a curve cannot express shrinks as fast as what
# chance hides.
_MIN_KNOTS, _MAX_KNOTS = 4, 20
_PENALTIES = np.logspace(-3, 4, 15)
_INVERSE_PENALTY = 10.0

# A model has at least so many rows a coefficient, or it gets straight lines only.
_ROWS_PER_COEFFICIENT = 5

ColumnBasis = Callable[[Floats], Floats]


def fit_smooth_regression(Z: Matrix, n_levels: NDArray[np.intp], x: Floats) -> Callable[[Matrix], Floats]:
    """Fit ridge regression of x on Z and return its predictions as a function of Z.

    The penalty, and the choice between lines and curves, minimise the leave-one-out error.
    """
    bases = _candidate_bases(Z, n_levels)
    fitted = [(basis, RidgeCV(_PENALTIES).fit(basis(Z), x)) for basis in bases]
    basis, model = max(fitted, key=lambda pair: pair[1].best_score_)
    return lambda new: np.asarray(model.predict(basis(new)), dtype=np.float64)


def fit_smooth_classifier(
    Z: Matrix, n_levels: NDArray[np.intp], labels: NDArray[np.intp]
) -> Callable[[Matrix], Floats]:
    """Fit logistic regression of labels 0, 1, ... on Z and return its probabilities as a function of Z.

    The choice between lines and curves minimises Akaike's criterion, which estimates the same error for
    likelihoods.
    """
    rows = np.arange(labels.size)
    fitted = []
    for basis in _candidate_bases(Z, n_levels):
        design = basis(Z)
        model = LogisticRegression(C=_INVERSE_PENALTY, max_iter=1000).fit(design, labels)
        likelihood = np.log(model.predict_proba(design)[rows, labels]).sum()
        criterion = 2.0 * (design.shape[1] * (model.classes_.size - 1) - likelihood)
        fitted.append((criterion, basis, model))
    _, chosen, classifier = min(fitted, key=lambda one: one[0])
    return lambda new: np.asarray(classifier.predict_proba(chosen(new)), dtype=np.float64)


def _candidate_bases(Z: Matrix, n_levels: NDArray[np.intp]) -> list[Callable[[Matrix], Matrix]]:
    """Return lines and, where there are rows enough, curves."""
    if sp.issparse(Z):
        return [Medians().fit(Z).transform if np.isnan(Z.data).any() else lambda new: new]
    lines = _Basis(Z, n_levels, has_curves=False)
    curves = _Basis(Z, n_levels, has_curves=True)
    has_rows = curves.width * _ROWS_PER_COEFFICIENT <= Z.shape[0]
    return [lines, curves] if has_rows and curves.width > lines.width else [lines]


class _Basis:
    """The regressors made of the conditioning columns, side by side."""

    def __init__(self, Z: Floats, n_levels: NDArray[np.intp], has_curves: bool) -> None:
        self._columns = [
            _column_basis(Z[:, column], bool(n_levels[column]), has_curves) for column in range(Z.shape[1])
        ]
        self.width = sum(basis(Z[:1, column]).shape[1] for column, basis in enumerate(self._columns))

    def __call__(self, Z: Floats) -> Floats:
        if not self.width:  # Constant categories say nothing, but a model wants at least one column.
            return np.zeros((Z.shape[0], 1))
        return np.hstack([basis(Z[:, column]) for column, basis in enumerate(self._columns)])


def _column_basis(z: Floats, is_categorical: bool, has_curves: bool) -> ColumnBasis:
    """Return the regressors of one column: indicators, a line, or a line and a curve; one more where it has gaps."""
    known = z[~np.isnan(z)]
    distinct, counts = np.unique(known, return_counts=True)
    has_gaps = known.size < z.size
    if is_categorical or (has_curves and distinct.size <= _MAX_STEPS):
        frequent = np.sort(distinct[np.argsort(-counts, kind="stable")[:_MAX_INDICATORS]])
        # Without the first value, whose coefficient is the intercept, unless gaps or rare values take its place.
        kept = frequent if has_gaps or frequent.size < distinct.size else frequent[1:]
        return lambda new: (new[:, np.newaxis] == kept).astype(np.float64)
    centre, scale = (float(known.mean()), float(known.std()) or 1.0) if known.size else (0.0, 1.0)
    curve = _spline(known, distinct) if has_curves else None

    def regressors(new: Floats) -> Floats:
        gaps = np.isnan(new)
        filled = np.where(gaps, centre, new)
        parts = [(filled - centre)[:, np.newaxis] / scale]
        if has_gaps:
            parts.append(gaps[:, np.newaxis].astype(np.float64))
        if curve is not None:
            parts.append(curve.transform(filled[:, np.newaxis]))
        return np.hstack(parts)

    return regressors


def _spline(known: Floats, distinct: Floats) -> SplineTransformer | None:
    """Return cubic splines with knots at the quantiles; a heavily tied column may have too few of them."""
    n_knots = int(np.clip(round(known.size ** (1 / 3)), _MIN_KNOTS, _MAX_KNOTS))
    knots = np.unique(np.quantile(known, np.linspace(0.0, 1.0, n_knots)))
    if knots.size < 3:
        return None
    curve = SplineTransformer(knots=knots[:, np.newaxis], extrapolation="linear", include_bias=False)
    return curve.fit(distinct[:, np.newaxis])
