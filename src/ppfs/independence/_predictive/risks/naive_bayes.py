"""Risks of Gaussian naive Bayes: on one column its fit is a mean and a variance per class."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.naive_bayes import GaussianNB

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import KnownParameters
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ColumnGrower, GrowthRisks
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.source import OTHER_KIND

_KNOWN = KnownParameters(read=("var_smoothing",), only={"priors": (None,)}, without_effect=())


class NaiveBayesRisks(GrowthRisks):
    """`ModelRisks` of Gaussian naive Bayes, solved for all columns of a block at once."""

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the models cannot be solved at once, or None if they can."""
        if type(problem.estimator) is not GaussianNB:
            return OTHER_KIND
        unknown = _KNOWN.first_unknown(problem.estimator)
        if unknown is not None:
            return f"the engine does not support {unknown}"
        if problem.weights.fit is not None:
            return "the engine does not support row weights"
        if problem.impute is not None or problem.frame is not None or table.is_sparse:
            return "the engine reads dense columns of numbers as they are"
        if problem.loss.output not in ("probabilities", "labels"):
            return f"the engine does not predict {problem.loss.output}"
        return None

    def grower(self) -> Grower:
        """Return what solves models of single columns."""
        return NaiveBayesGrower(self.problem)


class NaiveBayesGrower(ColumnGrower):
    """Solves the models of single columns, a block at a time."""

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

    Sums run along rows of the arrays, so that a column's answer does not depend on the other columns.

    Parameters
    ----------
    train : ndarray of shape (n_columns, n_train)

    labels : ndarray of shape (n_train,), int
        The classes of the train rows.

    test : ndarray of shape (n_columns, n_test)

    var_smoothing : float
        The share of a column's variance that is added to that of each class.

    Returns
    -------
    ndarray of shape (n_columns, n_test, n_classes)
        0 for classes without a train row. For a column that is constant in the train rows they are the shares of the
        classes; scikit-learn divides by the variance of 0, and predicts NaN.
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
