"""An estimate of one column given others, and draws from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ppfs._conventions import Floats
from ppfs._data import Matrix
from ppfs._fitting import Impute, prepared, seeded
from ppfs._rows import Split
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence._predictive.knockoffs.normal_scores import NormalScores, on_scales, unevenness_of
from ppfs.independence._predictive.knockoffs.one_against_rest import OneAgainstRest
from ppfs.independence._predictive.knockoffs.smooth_models import (
    RememberedCurves,
    fit_smooth_classifier,
    fit_smooth_regression,
    has_few_values,
    scale_of,
)


@dataclass(frozen=True)
class SharedColumn:
    """One column of a table whose columns are all regressed on the others."""

    rest: OneAgainstRest
    column: int


# From rows of the conditioning columns to predicted numbers, shape (n_rows,), or to the probabilities of the
# column's values, shape (n_rows, n_values).
Predictor = Callable[[Matrix], Floats]

# Residuals are uneven where the statistic of `unevenness_of` exceeds this: the upper 5 % point of the chi-squared
# distribution with two degrees of freedom.
_UNEVEN = 5.99


class ConditionalLaw:
    """The estimated distribution of a column x given other columns Z.

    A numeric column is its prediction plus a residual, and a draw is the prediction plus the residual of another row of
    the test part. A categorical column is drawn from predicted probabilities.

    Residuals of different rows can be exchanged if they have the same distribution. Those of prices or concentrations
    do not: they grow with the prediction. In that case the package's own model uses the normal scores of x
    and Z, if this makes the residuals more even (docs/decisions/0180-draws-on-normal-scores.md).

    The package's own model is fitted on all rows. It does not use the target, so nothing leaks, and
    its residuals are uncorrelated with everything in Z that it can express. The residuals of a model fitted on a part
    of the rows still depend on Z in the test part, which the test would take for a sign of dependence. The model is
    smooth enough not to overfit. A caller's own model may overfit, so it is fitted on the train part of each split,
    and the residuals of the test part are those of held-out predictions.

    Parameters
    ----------
    x : ndarray of shape (n_rows,)
        Missing values stay missing: their positions are shuffled with the residuals.

    is_categorical : bool
        Whether x is drawn value by value.

    Z : ndarray or csr_array of shape (n_rows, n_given)

    n_given_levels : ndarray of int, shape (n_given,)
        The number of categories of each conditioning column, 0 for a numeric one.

    model : estimator or None
        The caller's model: a regressor for numbers or a classifier for categories. For columns of the other
        kind, and where it is None, the package's own is used.

    impute : {None, "median"}
        How missing values of Z are filled for the caller's model; the package's own accepts them.

    curves : RememberedCurves, default=None
        Curves and scales of the columns of Z, from earlier questions.

    shared : SharedColumn, default=None
        The regression of x on Z, where it was made together with those of other columns. A draw of a column of few
        values is then the value nearest to its prediction plus residual: a classifier per column would take longer
        than the models of the target.
    """

    def __init__(
        self,
        x: Floats,
        is_categorical: bool,
        Z: Matrix,
        n_given_levels: NDArray[np.intp],
        model: Any = None,
        impute: Impute = None,
        curves: RememberedCurves | None = None,
        shared: SharedColumn | None = None,
    ) -> None:
        self._shared = shared
        # 32 bits are too few for products of curves.
        self._x = np.asarray(x, dtype=np.float64)
        self._Z = Z.astype(np.float64, copy=False)
        self._n_given_levels = n_given_levels
        self._impute = impute
        self._curves = curves
        self._values, self._labels = np.unique(x, return_inverse=True)
        self._is_categorical = is_categorical and shared is None
        self._is_rounded = is_categorical and shared is not None
        self._model = model if model is not None and self._suits(model) else None
        self._by_split: dict[int, Predictor] = {}
        self._scale: NormalScores | None = None
        self._given_scales: list[NormalScores | None] = []
        # x and Z on the scale of the model.
        self._level, self._given = self._x, self._Z
        if self._model is None:
            self._own = self._fit_own()
            self._expected = self._own(self._given)

    def _suits(self, model: Any) -> bool:
        return bool(is_classifier(model) if self._is_categorical else is_regressor(model))

    def draws(self, split: Split, first: int, end: int, given_too: Floats | None = None) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test).

        Parameters
        ----------
        given_too : ndarray of shape (n_draws, n_test, n_last), default=None
            Other values for the last columns of Z, one set per draw.
        """
        if given_too is None or not given_too.shape[2]:
            expected = self._expected_at(split)[np.newaxis]
        else:
            expected = np.stack([self._expected_with(split, last) for last in given_too])
        if self._is_categorical:
            below = np.cumsum(expected, axis=2)[:, :, :-1]
            drawn = (split.uniforms[first:end, :, np.newaxis] > below).sum(axis=2)
            chosen: Floats = self._values[drawn]
            return chosen
        residuals = self._level[split.test] - self._expected_at(split)
        shuffled: Floats = expected + residuals[split.permutations[first:end]]
        if self._is_rounded:
            nearest = np.searchsorted((self._values[1:] + self._values[:-1]) / 2.0, shuffled)
            return np.asarray(self._values[nearest], dtype=np.float64)
        return shuffled if self._scale is None else self._scale.back(shuffled)

    def _expected_at(self, split: Split) -> Floats:
        """Return the model's predictions for the test rows."""
        if self._model is None:
            expected: Floats = self._expected[split.test]
            return expected
        return self._predictor(split)(self._Z[split.test])

    def _expected_with(self, split: Split, last: Floats) -> Floats:
        """Return the model's predictions for the test rows when the last columns of Z hold other values."""
        kept = self._Z[split.test][:, : self._Z.shape[1] - last.shape[1]]
        Z = (
            sp.hstack([kept, sp.csr_array(last)], format="csr")
            if sp.issparse(kept)
            else np.hstack([kept, last])
        )
        return self._predictor(split)(on_scales(Z, self._given_scales) if self._given_scales else Z)

    def _predictor(self, split: Split) -> Predictor:
        if self._model is None:
            return self._own
        if split.seed not in self._by_split:
            self._by_split[split.seed] = self._fit_callers(split)
        return self._by_split[split.seed]

    def _fit_own(self) -> Predictor:
        if self._is_categorical and self._values.size == 1:
            return lambda Z: np.ones((Z.shape[0], 1))
        if self._is_categorical:
            return fit_smooth_classifier(self._Z, self._n_given_levels, self._labels, self._curves)
        if self._shared is not None:
            return self._take_shared(self._shared)
        known = ~np.isnan(self._x)
        as_it_is = self._fitted_to(self._x, self._Z, known)
        if sp.issparse(self._Z) or has_few_values(self._x):
            return as_it_is
        uneven = unevenness_of(self._x[known], as_it_is(self._Z)[known])
        if uneven < _UNEVEN:
            return as_it_is
        scale = NormalScores.of(self._x)
        found = scale_of if self._curves is None else self._curves.scale
        given_scales = [
            None if levels else found(z) for z, levels in zip(self._Z.T, self._n_given_levels, strict=True)
        ]
        level, given = scale.of_values(self._x), on_scales(self._Z, given_scales)
        scored = self._fitted_to(level, given, known)
        if unevenness_of(level[known], scored(given)[known]) >= uneven:
            return as_it_is
        self._scale, self._given_scales, self._level, self._given = scale, given_scales, level, given
        return scored

    def _take_shared(self, shared: SharedColumn) -> Predictor:
        """Take the expectations that were computed for all columns at once, on the scale where residuals are alike."""
        expected = shared.rest.expected[:, shared.column]
        if self._is_rounded or has_few_values(self._x):
            return lambda _: expected
        uneven = unevenness_of(self._x, expected)
        if uneven < _UNEVEN:
            return lambda _: expected
        scored = shared.rest.on_normal_scores
        level = scored.X[:, shared.column]
        if unevenness_of(level, scored.expected[:, shared.column]) >= uneven:
            return lambda _: expected
        self._scale, self._level = NormalScores.of(self._x), level
        return lambda _: scored.expected[:, shared.column]

    def _fitted_to(self, x: Floats, Z: Matrix, known: NDArray[np.bool_]) -> Predictor:
        if not known.all():
            Z, x = Z[known], x[known]
        return fit_smooth_regression(Z, self._n_given_levels, x, self._curves)

    def _fit_callers(self, split: Split) -> Predictor:
        """Fit the caller's model on the train part."""
        model = prepared(seeded(self._model, split.seed), self._n_given_levels, self._impute)
        rows = split.train[~np.isnan(self._x[split.train])]
        if not self._is_categorical:
            if not rows.size:  # All values of x are missing here, and only their positions are shuffled.
                return lambda Z: np.zeros(Z.shape[0])
            self._fit(model, rows, self._x[rows])
            return lambda Z: np.asarray(model.predict(Z), dtype=np.float64)
        labels = self._labels[split.train]
        if (labels == labels[0]).all():
            certain = np.eye(self._values.size)[labels[0]]
            return lambda Z: np.tile(certain, (Z.shape[0], 1))
        self._fit(model, split.train, labels)

        def probabilities(Z: Matrix) -> Floats:
            answer = np.zeros((Z.shape[0], self._values.size))
            answer[:, model.classes_] = model.predict_proba(Z)
            return answer

        return probabilities

    def _fit(self, model: Any, rows: NDArray[np.intp], x: NDArray[Any]) -> None:
        try:
            model.fit(self._Z[rows], x)
        except Warning:
            raise
        except Exception as error:
            raise EstimatorFailedError(
                f"conditional={self._model!r} failed on {self._Z.shape[1]} columns with {rows.size} training rows: "
                f"{type(error).__name__}: {error}"
            ) from error
