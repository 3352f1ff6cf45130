"""Which of the columns that were not selected could still help: those related to what the selected ones leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._data import Matrix, Table

_AT_ONCE = 1000


def rank_rivals(table: Table, features: Sequence[int], residuals: Floats) -> list[int]:
    """Return features by how much of the residuals they explain alone, most first.

    Lines and parabolas for numbers, means by level for categories; a feature of several columns counts with its best.

    Parameters
    ----------
    residuals : ndarray of shape (n_rows, n_outputs)
        Of the rows of this table.
    """
    scores: list[float] = []
    for first in range(0, len(features), _AT_ONCE):
        some = list(features[first : first + _AT_ONCE])
        X = table.take(some)
        by_column = _explained(X, table.n_levels_of(some), residuals - residuals.mean(axis=0))
        scores += [float(by_column[place].max()) for place in table.places(some)]
    # Features as the second key, so that ties do not depend on the order that was asked for.
    return [features[i] for i in sorted(range(len(features)), key=lambda i: (-scores[i], features[i]))]


def _explained(X: Matrix, n_levels: NDArray[np.intp], residuals: Floats) -> Floats:
    """Return for each column the sum of squares of the residuals that it explains, less what chance would."""
    if sp.issparse(X):
        return _by_lines(np.asarray(X.T @ residuals), X, residuals)
    explained = np.zeros(X.shape[1])
    is_number = n_levels == 0
    Z = _scaled(X[:, is_number])
    squares = _scaled(Z**2)
    explained[is_number] = np.maximum(
        ((Z.T @ residuals) ** 2).sum(axis=1), ((squares.T @ residuals) ** 2).sum(axis=1)
    ) / len(residuals)
    by_chance = (residuals**2).sum() / len(residuals)
    for column in np.flatnonzero(~is_number).tolist():
        explained[column] = _by_levels(X[:, column], residuals, by_chance)
    return explained


def _by_lines(products: Floats, X: Matrix, residuals: Floats) -> Floats:
    """Return what sparse columns explain, from their products with residuals of mean 0."""
    means = np.asarray(X.mean(axis=0)).ravel()
    spread = np.asarray(X.multiply(X).mean(axis=0)).ravel() - means**2
    products = products - np.outer(means, residuals.sum(axis=0))
    explained = (products**2).sum(axis=1) / len(residuals)
    scaled: Floats = np.divide(explained, spread, out=np.zeros_like(explained), where=spread > 0)
    return scaled


def _by_levels(codes: Floats, residuals: Floats, by_chance: float) -> float:
    levels = np.unique(codes, return_inverse=True)[1].ravel()
    counts = np.bincount(levels)
    sums = np.stack([np.bincount(levels, of_output) for of_output in residuals.T], axis=1)
    # A column of many levels explains more by chance: k - 1 degrees of freedom, where a line has one.
    return float(((sums**2).sum(axis=1) / counts).sum() - (len(counts) - 2) * by_chance)


def moves_of(
    table: Table, features: Sequence[int], train: NDArray[np.intp], test: NDArray[np.intp], residuals: Floats
) -> list[Floats]:
    """Return by how much a line of each feature alone would move the predictions of some rows.

    The line is that of other rows' residuals: on standardized numbers, or the means by level of categories, shrunk for
    levels of few rows.

    Parameters
    ----------
    residuals : ndarray of shape (n_train, n_outputs)

    Returns
    -------
    list of ndarray of shape (n_test, n_features)
        One per output.
    """
    moves = [np.zeros((len(test), len(features))) for _ in residuals.T]
    for first in range(0, len(features), _AT_ONCE):
        some = list(features[first : first + _AT_ONCE])
        X = table.take(some)
        X = np.asarray(X.toarray() if sp.issparse(X) else X)
        of_train, of_test = _scaled(X[train]), _scaled(X[test], like=X[train])
        n_levels = table.n_levels_of(some)
        for output, residual in enumerate(residuals.T):
            moved = of_test * (of_train.T @ residual / len(train))
            for column in np.flatnonzero(n_levels > 0).tolist():
                moved[:, column] = _means_by_level(X[train, column], X[test, column], residual)
            for place, where in enumerate(table.places(some)):
                moves[output][:, first + place] = moved[:, where].sum(axis=1)
    return moves


def _scaled(X: Floats, like: Floats | None = None) -> Floats:
    """Return columns less the mean of others, in units of their spread; missing values, and constant columns, are 0."""
    like = X if like is None else like
    known = np.isfinite(like)
    n_known = np.maximum(1, known.sum(axis=0))
    means = np.where(known, like, 0.0).sum(axis=0) / n_known
    spread = np.sqrt((np.where(known, like - means, 0.0) ** 2).sum(axis=0) / n_known)
    scale = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0)
    scaled: Floats = np.where(np.isfinite(X), X - means, 0.0) * scale
    return scaled


# The value of a level is the mean of its rows and of this many rows without effect.
_ROWS_OF_NO_EFFECT = 10


def _means_by_level(train: Floats, test: Floats, residual: Floats) -> Floats:
    levels, codes = np.unique(train, return_inverse=True)
    codes = codes.ravel()
    means = np.bincount(codes, residual) / (np.bincount(codes) + _ROWS_OF_NO_EFFECT)
    place = np.clip(np.searchsorted(levels, test), 0, len(levels) - 1)
    return np.where(levels[place] == test, means[place], 0.0)
