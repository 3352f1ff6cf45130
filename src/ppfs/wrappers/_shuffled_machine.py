"""Predictions of a support vector machine with a radial kernel for rows in which one feature is shuffled."""

from __future__ import annotations

from collections.abc import Iterator
from copy import copy
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from ppfs._conventions import Floats, as_many_as_fit, gamma_of
from ppfs._data import Matrix, dense_column
from ppfs._fitting import dense

# What scales columns one by one, so that shuffled columns are scaled ones that are shuffled.
_SCALERS = (MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler)

# No more distances than this are changed at once: they fit into the processor's cache.
_MAX_AT_ONCE = 2**16

# No more distances than this are kept: half a gigabyte.
_MAX_DISTANCES = 2**26


@dataclass(frozen=True)
class ShuffledMachine:
    """A fitted machine and rows to predict.

    A prediction depends on a row's distances to the support vectors. Shuffling a feature changes them only by the terms
    of its own columns, so the work does not grow with the number of other columns.

    Attributes
    ----------
    machine : SVC, NuSVC, SVR or NuSVR

    rows, vectors : ndarray or csc_array of shape (n_rows, n_columns) and (n_vectors, n_columns)
        The rows and the support vectors.

    distances : ndarray of shape (n_rows, n_vectors)
        The squares.

    predicted : ndarray of shape (n_rows,)
        As long as nothing is shuffled.

    gamma : float
        What squared distances are multiplied by.

    coefficients : ndarray of shape (n_vectors,)
    """

    machine: Any
    rows: Matrix
    vectors: Matrix
    distances: Floats
    predicted: NDArray[Any]
    gamma: float
    coefficients: Floats

    @classmethod
    def of(cls, model: Any, X: Matrix) -> Self | None:
        """Prepare a fitted model; None for other models, or if there are too many rows and vectors."""
        *scalers, machine = [step for _, step in model.steps] if isinstance(model, Pipeline) else [model]
        if not all(type(step) in _SCALERS for step in scalers) or not _is_radial(machine):
            return None
        gamma = gamma_of(machine)
        if gamma is None or X.shape[0] * machine.support_vectors_.shape[0] > _MAX_DISTANCES:
            return None
        for scaler in scalers:
            X = scaler.transform(X)
        rows, vectors = _by_column(X), _by_column(machine.support_vectors_)
        return cls(
            machine,
            rows,
            vectors,
            _squared_distances(rows, vectors),
            machine.predict(X),
            gamma,
            dense(machine.dual_coef_)[0],
        )

    def shuffled(self, place: slice, orders: NDArray[np.intp]) -> Iterator[Any]:
        """Yield a model that predicts the rows with some columns in each order; None if that changes nothing.

        Parameters
        ----------
        orders : ndarray of int, shape (n_orders, n_rows)
        """
        columns = range(*place.indices(self.rows.shape[1]))
        old = np.array([dense_column(self.rows, column) for column in columns])
        new = old[:, orders]
        number, row = np.nonzero((new != old[:, np.newaxis]).any(axis=0))
        vectors = np.array([dense_column(self.vectors, column) for column in columns])
        at_once = as_many_as_fit(_MAX_AT_ONCE, vectors.shape[1])
        parts = [slice(start, start + at_once) for start in range(0, row.size, at_once)]
        answers = [
            self._predictions(
                self._outputs(row[part], old[:, row[part]], new[:, number[part], row[part]], vectors)
            )
            for part in parts
        ]
        changed = np.concatenate([self.predicted[:0], *answers])
        is_other = changed != self.predicted[row]
        for order in range(len(orders)):
            other = is_other & (number == order)
            if not other.any():
                yield None
                continue
            predicted = self.predicted.copy()
            predicted[row[other]] = changed[other]
            yield _predicting(self.machine, predicted)

    def _outputs(self, rows: NDArray[np.intp], old: Floats, new: Floats, vectors: Floats) -> Floats:
        """Return the machine's outputs for some rows whose columns change from old to new values."""
        distances = self.distances[rows]
        for before, after, own in zip(old, new, vectors, strict=True):
            # The difference of two squares, computed without cancellation.
            distances += (after - before)[:, np.newaxis] * ((after + before)[:, np.newaxis] - 2.0 * own)
        outputs: Floats = np.exp(-self.gamma * distances) @ self.coefficients + self.machine.intercept_[0]
        return outputs

    def _predictions(self, outputs: Floats) -> NDArray[Any]:
        if not hasattr(self.machine, "classes_"):
            return outputs
        return np.asarray(self.machine.classes_[(outputs >= 0.0).astype(np.intp)])


def _is_radial(machine: Any) -> bool:
    """Return whether a model is such a machine, with two classes if it is a classifier."""
    if type(machine) not in (SVC, NuSVC, SVR, NuSVR) or machine.kernel != "rbf":
        return False
    return len(getattr(machine, "classes_", (0, 1))) == 2


def _predicting(machine: Any, predicted: NDArray[Any]) -> Any:
    """Return a copy of a machine with given predictions; its score is its own."""
    changed = copy(machine)
    changed.predict = lambda _: predicted
    return changed


def _by_column(X: Any) -> Matrix:
    return sp.csc_array(X) if sp.issparse(X) else np.asarray(X, dtype=np.float64)


def _squared_distances(rows: Any, vectors: Any) -> Floats:
    if sp.issparse(rows):
        products = dense(rows @ vectors.T)
        lengths = [np.asarray(X.multiply(X).sum(axis=1)).ravel() for X in (rows, vectors)]
        return np.asarray(lengths[0][:, np.newaxis] + lengths[1] - 2.0 * products)
    return np.asarray(cdist(rows, vectors, "sqeuclidean"))
