"""Draws of a feature given the other columns of a model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier, is_regressor

from ppfs._conventions import Floats
from ppfs._data import number_combinations
from ppfs._fitting import Design, Impute, dense, prepared, seeded
from ppfs._rows import Split
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence._predictive.draws import Draws, PermutedValues
from ppfs.independence._predictive.residuals.regressors import (
    GivenColumn,
    design_of,
    normal_scores,
    settled,
)
from ppfs.independence._predictive.residuals.smoother import Smoother

# A feature is shuffled within strata if a test part has at least this many rows per stratum on average; with fewer,
# most rows would keep their value.
_ROWS_PER_STRATUM = 4

# Residuals are uneven where the statistic of `unevenness_of` exceeds this: the upper 5 % point of the chi-squared
# distribution with two degrees of freedom. A column of at most this many values is drawn as it is.
_UNEVEN, _FEW_VALUES = 5.99, 10

# Missing values of a feature are filled by its regression, in this many rounds.
_FILL_ROUNDS = 5


class ConditionalKnockoff:
    """Makes conditional draws.

    Where there is nothing to condition on, the feature is shuffled; where the other columns have few values, it is
    shuffled among the rows that share them; else it is drawn from a model.

    Parameters
    ----------
    model : estimator or None
        The caller's model of a column given others. None is the package's own.

    n_test : int
        Rows of a test part.

    impute : {None, "median"}
        How missing values are filled for the caller's model.
    """

    is_permutation = False

    def __init__(self, model: Any, n_test: int, impute: Impute = None) -> None:
        self.model = model
        self.n_test = n_test
        self.impute = impute

    def __call__(self, design: Design, feature: int) -> Draws:
        place = design.places[feature]
        others = np.delete(np.arange(design.X.shape[1]), place)
        if not others.size:
            return PermutedValues(design, feature)
        if self.model is None:
            strata = _strata(others, design, most=self.n_test // _ROWS_PER_STRATUM)
            if strata is not None:
                return StratifiedValues(design, feature, strata)
        return ConditionalValues(design, feature, self.model, self.impute)


class StratifiedValues:
    """The feature's own values, shuffled among the test rows that agree in all other columns.

    No model is needed, and the draws are exact: where the feature is independent of the target given the others, its
    values are exchangeable within a stratum.

    Parameters
    ----------
    strata : ndarray of int, shape (n_rows,)
        The number of the stratum that each row belongs to.
    """

    is_permutation = False

    def __init__(self, design: Design, feature: int, strata: NDArray[np.intp]) -> None:
        self._values = dense(design.X[:, design.places[feature]])
        self._strata = strata

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        strata = self._strata[split.test]
        receivers = np.argsort(strata, kind="stable")
        sources = np.empty((end - first, strata.size), dtype=np.intp)
        for draw, permutation in enumerate(split.permutations[first:end]):
            # Rows by stratum, and within it in the order of the permutation.
            sources[draw, receivers] = permutation[np.argsort(strata[permutation], kind="stable")]
        shuffled: Floats = self._values[split.test[sources]]
        return shuffled


class ConditionalValues:
    """Draws from an estimate of the feature given the other columns of the design.

    A numeric column is its prediction plus a residual, and a draw is the prediction plus the residual of another row of
    the test part. A category is read as its place among the row's cumulative probabilities, a uniform number, and a
    draw is the category at another row's place. All columns of a feature take the residuals of the same row, and its
    categories are drawn as one combination, so that the columns keep their links with each other; numbers and
    categories keep a part of theirs.

    The package's own model is the ridge regression of `ppfs.independence._predictive.residuals`, fitted on all rows: it
    does not use the target, so nothing leaks, and its residuals are uncorrelated with everything that it can express
    (docs/decisions/0017-conditional-model-sees-all-rows.md). A caller's own model may overfit, so it is fitted on the
    train part of each split.

    Parameters
    ----------
    model : estimator or None
        The caller's model: a regressor for numbers or a classifier for categories. For columns of the other
        kind, and where it is None, the package's own is used.

    impute : {None, "median"}
        How missing values are filled for the caller's model; the package's own accepts them.
    """

    is_permutation = False

    def __init__(self, design: Design, feature: int, model: Any = None, impute: Impute = None) -> None:
        place = design.places[feature]
        given = _Given(design, np.delete(np.arange(design.X.shape[1]), place), impute)
        own = dense(design.X[:, place])
        is_category = design.categorical_mask[place]
        numbers, categories = np.flatnonzero(~is_category), np.flatnonzero(is_category)
        regressor = model if model is not None and is_regressor(model) else None
        classifier = model if model is not None and is_classifier(model) else None
        self._width = own.shape[1]
        self._laws: list[tuple[Any, _Number | _Category]] = [
            (column, _Number(own[:, column], given, regressor)) for column in numbers.tolist()
        ]
        if categories.size:
            self._laws.append((categories, _Category(own[:, categories], given, classifier)))

    def values(self, split: Split, first: int, end: int) -> Floats:
        """Return the draws ``first`` to ``end - 1`` for a test part, shape (n_draws, n_test, width)."""
        drawn = np.empty((end - first, split.test.size, self._width))
        for columns, law in self._laws:
            drawn[:, :, columns] = law.draws(split, split.permutations[first:end])
        return drawn


class _Given:
    """The columns that a feature is drawn given, and models of other columns on them."""

    def __init__(self, design: Design, others: NDArray[np.intp], impute: Impute) -> None:
        self._Z = design.X[:, others]
        self._n_levels = design.n_levels[others]
        self._impute = impute

    @cached_property
    def _smoother(self) -> Smoother:
        Z = dense(self._Z)
        columns = [GivenColumn.of(z, bool(levels)) for z, levels in zip(Z.T, self._n_levels, strict=True)]
        return Smoother(design_of(columns), np.ones(len(Z)))

    def expected(self, responses: Floats) -> Floats:
        """Return what is expected of responses, shape (n_rows, n_responses), by ridge regression on all rows."""
        centered = responses - responses.mean(axis=0)
        expected: Floats = responses - self._smoother.residuals(centered).values
        return expected

    def predicted(self, model: Any, split: Split, rows: NDArray[np.intp], x: NDArray[Any]) -> Any:
        """Return the caller's model, fitted on some rows, and the columns of the test rows."""
        fitted = prepared(seeded(model, split.seed), self._n_levels, self._impute)
        try:
            fitted.fit(self._Z[rows], x[rows])
        except Warning:
            raise
        except Exception as error:
            raise EstimatorFailedError(
                f"conditional={model!r} failed on {self._Z.shape[1]} columns with {rows.size} training rows: "
                f"{type(error).__name__}: {error}"
            ) from error
        return fitted, self._Z[split.test]


class _Number:
    """A column of numbers given others.

    Residuals of different rows can be exchanged if they have the same distribution. Those of prices or concentrations
    do not: they grow with the prediction. In that case the column is drawn on the scale of its normal scores, if these
    have more even residuals (docs/decisions/0180-draws-on-normal-scores.md). Missing values stay missing: their
    positions are shuffled with the residuals.
    """

    def __init__(self, x: Floats, given: _Given, model: Any) -> None:
        self._given, self._model = given, model
        self._by_split: dict[int, Floats] = {}
        self._level = x
        self._back: Callable[[Floats], Floats] = lambda values: values
        if model is None:
            self._expected = self._fit_own(x)

    def _fit_own(self, x: Floats) -> Floats:
        known = ~np.isnan(x)
        # In units of the largest value: squares of larger numbers may be infinite.
        size = np.abs(x[known]).max(initial=0.0) or 1.0
        expected = self._given.expected(_filled(x / size, self._given)[:, np.newaxis])[:, 0] * size
        distinct, first = np.unique(x[known], return_index=True)
        if distinct.size <= _FEW_VALUES:
            return expected
        uneven = unevenness_of(x[known], expected[known])
        if uneven < _UNEVEN:
            return expected
        level = np.full(x.size, np.nan)
        level[known] = normal_scores(x[known])
        of_scores = self._given.expected(_filled(level, self._given)[:, np.newaxis])[:, 0]
        if unevenness_of(level[known], of_scores[known]) >= uneven:
            return expected
        self._level, self._back = level, _nearest(distinct, level[known][first])
        return of_scores

    def draws(self, split: Split, shuffles: NDArray[np.intp]) -> Floats:
        """Return one draw per shuffle of the test rows, shape (n_draws, n_test)."""
        expected = self._expected[split.test] if self._model is None else self._of_caller(split)
        residuals = self._level[split.test] - expected
        return self._back(expected + residuals[shuffles])

    def _of_caller(self, split: Split) -> Floats:
        if split.seed not in self._by_split:
            rows = split.train[~np.isnan(self._level[split.train])]
            expected = np.zeros(split.test.size)
            if rows.size:  # Otherwise only the positions of missing values are shuffled.
                model, Z = self._given.predicted(self._model, split, rows, self._level)
                expected = np.asarray(model.predict(Z), dtype=np.float64)
            self._by_split[split.seed] = expected
        return self._by_split[split.seed]


class _Category:
    """One or several columns of categories given others: their combination is drawn by its probabilities."""

    def __init__(self, X: Floats, given: _Given, model: Any) -> None:
        self._given, self._model = given, model
        self._values, labels = np.unique(X, axis=0, return_inverse=True)
        self._labels = labels.ravel()
        self._by_split: dict[int, Floats] = {}
        if model is None:
            self._shares = given.expected(np.eye(len(self._values))[self._labels])

    def draws(self, split: Split, shuffles: NDArray[np.intp]) -> Floats:
        """Return one draw per shuffle of the test rows, shape (n_draws, n_test, n_columns)."""
        shares = self._shares[split.test] if self._model is None else self._of_caller(split)
        shares = np.maximum(shares, 0.0)
        below = np.cumsum(shares / shares.sum(axis=1, keepdims=True), axis=1)
        rows, labels = np.arange(len(below)), self._labels[split.test]
        start = np.where(labels > 0, below[rows, labels - 1], 0.0)
        uniforms = np.random.default_rng(split.seed).random(len(below))
        places = start + uniforms * (below[rows, labels] - start)
        drawn: Floats = self._values[(places[shuffles][:, :, np.newaxis] > below[:, :-1]).sum(axis=2)]
        return drawn

    def _of_caller(self, split: Split) -> Floats:
        if split.seed not in self._by_split:
            shares = np.zeros((split.test.size, len(self._values)))
            labels = self._labels[split.train]
            if (labels == labels[0]).all():
                shares[:, labels[0]] = 1.0
            else:
                model, Z = self._given.predicted(self._model, split, split.train, self._labels)
                shares[:, model.classes_] = model.predict_proba(Z)
            self._by_split[split.seed] = shares
        return self._by_split[split.seed]


def _nearest(values: Floats, scores: Floats) -> Callable[[Floats], Floats]:
    """Return the map from scores to the values of a column with the nearest score; both are sorted."""
    between = (scores[1:] + scores[:-1]) / 2.0
    return lambda new: np.where(np.isnan(new), np.nan, values[np.searchsorted(between, new)])


def _filled(x: Floats, given: _Given) -> Floats:
    """Replace missing values of a column by what its regression expects."""
    is_missing = np.isnan(x)
    if not is_missing.any():
        return x
    filled = np.where(is_missing, x[~is_missing].mean() if not is_missing.all() else 0.0, x)
    for _ in range(_FILL_ROUNDS):
        filled = np.where(is_missing, given.expected(filled[:, np.newaxis])[:, 0], x)
    return filled


def unevenness_of(column: Floats, expected: Floats) -> float:
    """Return how much the variance of residuals depends on the prediction.

    Both are normal scores, so that no outlier dominates. Where the residuals of all rows have the same distribution,
    the result is chi-squared with two degrees of freedom: n_rows times the share that a parabola explains.

    Parameters
    ----------
    column, expected : ndarray of shape (n_rows,)
        Without missing values.
    """
    level, spread = normal_scores(settled(expected)), normal_scores(settled(np.abs(column - expected)))
    spread -= spread.mean()
    parabola = np.vander(level, 3)
    explained = parabola @ np.linalg.lstsq(parabola, spread, rcond=None)[0]
    return float(explained @ spread) / max(float(spread @ spread), 1e-300) * spread.size


def _strata(columns: NDArray[np.intp], design: Design, most: int) -> NDArray[np.intp] | None:
    """Return the stratum of each row by its values in some columns; None if there are more than `most` strata.

    None too where a column is not categorical.
    """
    strata, n_strata = np.zeros(design.X.shape[0], dtype=np.intp), 1
    for column in columns:
        if not design.categorical_mask[column]:
            return None
        values, codes = np.unique(dense(design.X[:, [column]]).ravel(), return_inverse=True)
        both = [(strata, n_strata), (codes.ravel(), values.size)]
        strata, n_strata = number_combinations(both, strata.size, at_most=n_strata)
        if n_strata > most:
            return None
    return strata
