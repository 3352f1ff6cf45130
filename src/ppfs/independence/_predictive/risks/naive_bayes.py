"""Risks of Gaussian naive Bayes: on one column its fit is a mean and a variance a class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from ppfs._conventions import Floats
from ppfs._data import Matrix, Table
from ppfs._fitting import KnownParameters
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ColumnGrower, ModelRisks
from ppfs.independence._predictive.risks.grower import Grower

_KNOWN = KnownParameters(read=("var_smoothing",), only={"priors": (None,)}, without_effect=())


def is_naive_bayes(problem: Problem, table: Table) -> bool:
    """Tell whether the model is Gaussian naive Bayes, on data whose columns it sees as they are."""
    return (
        type(problem.estimator) is GaussianNB
        and _KNOWN.first_unknown(problem.estimator) is None
        and problem.weights.fit is None
        and problem.impute is None
        and problem.frame is None
        and problem.loss.output in ("probabilities", "labels")
        and not table.is_sparse
    )


class NaiveBayesRisks(ModelRisks):
    """`ModelRisks` that grow on all columns of a block at once."""

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None) -> None:
        super().__init__(table, problem, n_jobs, "")
        self.note = (
            f"{type(problem.estimator).__name__} is solved for all columns at once in growth, and fitted through "
            "scikit-learn's interface on several"
        )

    def grower(self) -> Grower:
        """Return what solves models of single columns."""
        return NaiveBayesGrower(self.problem)


class NaiveBayesGrower(ColumnGrower[Floats]):
    """Solves the models of single columns, a block at a time."""

    bytes_per_block = 2**18

    def _read(self, X: Matrix) -> Floats:
        return np.ascontiguousarray(X.T, dtype=np.float64)

    def _predicted(self, columns: Floats, split: Split) -> Floats:
        problem = self.problem
        return class_probabilities(
            columns[:, split.train],
            np.searchsorted(problem.classes, problem.y[split.train]),
            columns[:, split.test],
            problem.classes.size,
            problem.estimator.var_smoothing,
        )


def class_probabilities(
    train: Floats, labels: Any, test: Floats, n_classes: int, var_smoothing: float
) -> Floats:
    """Return the probabilities of the classes by Gaussian naive Bayes on each single column.

    Sums run along rows of the arrays, so that a column's answer does not depend on its neighbours.

    Parameters
    ----------
    train : ndarray of shape (n_columns, n_train)

    labels : ndarray of shape (n_train,), int
        The classes of the train rows.

    test : ndarray of shape (n_columns, n_test)

    n_classes : int

    var_smoothing : float
        What share of a column's variance is added to that of each class.

    Returns
    -------
    ndarray of shape (n_columns, n_test, n_classes)
        0 for classes without a train row. A column that has one value in all train rows tells nothing, so its answers
        are the shares of the classes; scikit-learn divides by its variance of 0, and predicts NaN.
    """
    smoothing = var_smoothing * train.var(axis=1)
    is_constant = (train == train[:, :1]).all(axis=1)[:, np.newaxis]
    likelihood = np.full((*test.shape, n_classes), -np.inf)
    for label in np.unique(labels):
        own = np.ascontiguousarray(train[:, labels == label])
        mean = own.mean(axis=1, keepdims=True)
        variance = np.where(is_constant, 1.0, own.var(axis=1, keepdims=True) + smoothing[:, np.newaxis])
        distance = np.where(is_constant, 0.0, (test - mean) ** 2) / variance
        constant = np.log(own.shape[1] / labels.size) - 0.5 * np.log(2.0 * np.pi * variance)
        likelihood[:, :, label] = constant - 0.5 * distance
    likelihood -= likelihood.max(axis=2, keepdims=True)
    shares = np.exp(likelihood)
    answer: Floats = shares / shares.sum(axis=2, keepdims=True)
    return answer
