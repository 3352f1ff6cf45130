"""Common other methods, for any table: recursive elimination, an L1 penalty, a univariate filter."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.feature_selection import RFECV, SelectFdr, f_classif, f_regression
from sklearn.linear_model import LassoCV
from sklearn.model_selection import GridSearchCV
from sklearn.svm import LinearSVC

from ppfs._data import Matrix, Table

Mask = NDArray[np.bool_]

_INNER_FOLDS = 3
_TREES = 50
# The maximum number of categories with a column of their own.
_MOST_CATEGORIES = 30


@dataclass(frozen=True)
class Encoded:
    """A table as numbers without missing values, on the same scale.

    Attributes
    ----------
    matrix : ndarray or csr_array of shape (n_rows, n_encoded)

    owner : ndarray of int, shape (n_encoded,)
        The feature that each column of the matrix belongs to.
    """

    matrix: Matrix
    owner: NDArray[np.intp]

    @classmethod
    def of(cls, table: Table) -> Encoded:
        """Encode a table: median for missing values, one column per category, and all columns on the same scale."""
        if table.is_sparse:
            scale = np.asarray(abs(table.X).max(axis=0).todense()).ravel()
            scaled = table.X @ sp.diags_array(1 / np.where(scale > 0, scale, 1))
            return cls(scaled.tocsr(), np.arange(table.n_features))
        numeric = np.flatnonzero(table.n_levels == 0)
        parts = [_filled(table.X[:, numeric])]
        owner = [numeric]
        for feature in np.flatnonzero(table.n_levels).tolist():
            codes = table.X[:, feature]
            levels, counts = np.unique(codes, return_counts=True)
            common = levels[np.argsort(-counts, kind="stable")][:_MOST_CATEGORIES]
            parts.append((codes[:, None] == np.sort(common)).astype(np.float64))
            owner.append(np.full(common.size, feature))
        matrix = np.column_stack(parts)
        spread = matrix.std(axis=0)
        return cls((matrix - matrix.mean(axis=0)) / np.where(spread > 0, spread, 1), np.concatenate(owner))


def _filled(X: NDArray[np.float64]) -> NDArray[np.float64]:
    gaps = ~np.isfinite(X)
    if not gaps.any():
        return X
    X = np.where(gaps, np.nan, X)
    X[:, gaps.all(axis=0)] = 0.0
    return np.where(np.isnan(X), np.nanmedian(X, axis=0), X)


def rfecv(table: Table, matrix: Matrix, seed: int) -> Mask:
    """Recursive elimination with a forest, a tenth of the columns at a time, the number chosen by cross-validation."""
    forest = RandomForestClassifier if table.task == "classification" else RandomForestRegressor
    search = RFECV(forest(n_estimators=_TREES, random_state=seed), step=0.1, cv=_INNER_FOLDS)
    return np.asarray(search.fit(matrix, table.y).support_)


def l1(table: Table, matrix: Matrix, seed: int) -> Mask:
    """Coefficients that an L1 penalty leaves: a linear SVM or the lasso, its strength chosen by cross-validation."""
    if table.task == "regression":
        return np.asarray(LassoCV(cv=_INNER_FOLDS, random_state=seed).fit(matrix, table.y).coef_ != 0)
    machine = LinearSVC(penalty="l1", dual=False, random_state=seed, max_iter=2000)
    search = GridSearchCV(machine, {"C": np.logspace(-3, 1, 9)}, cv=_INNER_FOLDS).fit(matrix, table.y)
    return np.asarray((search.best_estimator_.coef_ != 0).any(axis=0))


def univariate(table: Table, matrix: Matrix, seed: int) -> Mask:
    """Columns with an F-test below 0.05 after Benjamini and Hochberg's correction."""
    test = f_classif if table.task == "classification" else f_regression
    return np.asarray(SelectFdr(test, alpha=0.05).fit(matrix, table.y).get_support())


PEERS: dict[str, Callable[[Table, Matrix, int], Mask]] = {"rfecv": rfecv, "l1": l1, "univariate": univariate}


def selected_by_peer(name: str, table: Table, seed: int) -> list[int]:
    """Return the features that have a column which a peer selects."""
    encoded = Encoded.of(table)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        # They warn about convergence and constant columns.
        warnings.simplefilter("ignore")
        mask = PEERS[name](table, encoded.matrix, seed)
    chosen: list[Any] = np.unique(encoded.owner[mask]).tolist()
    return chosen
