"""The number of coefficients that linear models have for a feature."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from ppfs._fitting import Encoded

Counts = NDArray[np.intp]

# scikit-learn's models whose output is a weighted sum of their columns, and whose `coef_` holds the weights. In other
# models `coef_` may be a weight per kernel, component or pair of classes.
_LINEAR = frozenset(
    {
        "ARDRegression",
        "BayesianRidge",
        "ElasticNet",
        "ElasticNetCV",
        "GammaRegressor",
        "HuberRegressor",
        "Lars",
        "LarsCV",
        "Lasso",
        "LassoCV",
        "LassoLars",
        "LassoLarsCV",
        "LassoLarsIC",
        "LinearDiscriminantAnalysis",
        "LinearRegression",
        "LinearSVC",
        "LinearSVR",
        "LogisticRegression",
        "LogisticRegressionCV",
        "MultiTaskElasticNet",
        "MultiTaskElasticNetCV",
        "MultiTaskLasso",
        "MultiTaskLassoCV",
        "OrthogonalMatchingPursuit",
        "OrthogonalMatchingPursuitCV",
        "PassiveAggressiveClassifier",
        "PassiveAggressiveRegressor",
        "Perceptron",
        "PoissonRegressor",
        "QuantileRegressor",
        "Ridge",
        "RidgeCV",
        "RidgeClassifier",
        "RidgeClassifierCV",
        "SGDClassifier",
        "SGDRegressor",
        "TheilSenRegressor",
        "TweedieRegressor",
    }
)

# Steps of a pipeline that transform each column to one column, independently of the others.
_COLUMN_BY_COLUMN = frozenset(
    {
        "MaxAbsScaler",
        "MinMaxScaler",
        "PowerTransformer",
        "QuantileTransformer",
        "RobustScaler",
        "SimpleImputer",
        "StandardScaler",
    }
)


def n_coefficients(models: Sequence[Any], n_columns: int, places: Sequence[slice]) -> Counts | None:
    """Return the number of coefficients estimated for each feature, or None if unknown.

    Parameters
    ----------
    models : sequence of estimator
        Fitted on train parts of the same columns. A part may lack a class or a category; the largest count is taken.

    places : sequence of slice
        The columns of each feature.

    Returns
    -------
    ndarray of int, shape (n_features,), or None
        One per regressor of the feature and per output or class of the model.
        None where a model is not known to be linear in its columns.
    """
    by_model = [_by_column(model, n_columns) for model in models]
    known = [counts for counts in by_model if counts is not None]
    if len(known) < len(by_model):
        return None
    of_column = np.max(known, axis=0)
    return np.array([of_column[place].sum() for place in places])


def _by_column(model: Any, n_columns: int) -> Counts | None:
    """Return the number of coefficients of a model per column, or None if it is not known to be linear in them."""
    n_regressors = np.ones(n_columns, dtype=np.intp)
    if isinstance(model, Encoded):
        n_regressors = model.n_regressors(n_columns)
        model = model.estimator_
    for _, step in getattr(model, "steps", [])[:-1]:
        if step not in (None, "passthrough") and not _is_one_of(step, _COLUMN_BY_COLUMN):
            return None
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    if not _is_one_of(last, _LINEAR):
        return None
    coefficients = np.atleast_2d(last.coef_)
    if coefficients.shape[1] != n_regressors.sum():
        # An imputer has dropped a column without values, or added an indicator of missing values.
        return None
    # One dummy variable per categorical column is redundant given the others and the intercept.
    return np.where(n_regressors > 1, n_regressors - 1, n_regressors) * _n_outputs(last, coefficients)


def _is_one_of(model: Any, names: frozenset[str]) -> bool:
    """Return whether a model is an instance of one of these scikit-learn classes, subclasses excluded."""
    kind = type(model)
    return kind.__name__ in names and kind.__module__.partition(".")[0] == "sklearn"


def _n_outputs(model: Any, coefficients: NDArray[Any]) -> int:
    """Return the number of weighted sums that a model estimates, from coefficients of shape (n_sums, n_columns).

    Where the sums of all classes add up to a constant, as in multinomial regression, the last one is redundant.
    """
    n_sums = len(coefficients)
    if n_sums < 2 or not is_classifier(model):
        return n_sums
    excess = np.abs(coefficients.sum(axis=0)).max()
    return n_sums - 1 if excess <= 1e-6 * np.abs(coefficients).max() else n_sums
