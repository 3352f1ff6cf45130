"""How well a model predicts the target from some columns: cross-validated, each column set once."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring
from sklearn.model_selection import KFold, StratifiedKFold, cross_val_score

from ppfs._random import integer_seed, stream
from ppfs._table import Table
from ppfs.exceptions import InvalidInputError


class CrossValidated:
    """Mean cross-validated scores of one model on column sets of one table.

    Parameters
    ----------
    estimator : estimator
        Cloned for every fit; where its `random_state` was left open it gets a seed.

    cv : int
        Number of folds, shuffled, stratified where every class has enough rows.

    scoring : str, callable or None
        As in scikit-learn; None is the estimator's own score.

    entropy : int
        Seed of the folds and of the estimator.
    """

    def __init__(
        self,
        table: Table,
        estimator: Any,
        *,
        cv: int,
        entropy: int,
        scoring: str | Callable[..., float] | None = None,
        n_jobs: int | None = None,
    ) -> None:
        generator = stream(entropy)
        self._table = table
        self._estimator = seeded(estimator, integer_seed(generator))
        self._scorer = check_scoring(self._estimator, scoring)
        self._folds = list(_folds(table, cv, integer_seed(generator)))
        self._n_jobs = n_jobs
        self._known: dict[frozenset[int], float] = {}

    def score(self, columns: Collection[int]) -> float:
        """Return the mean score over the folds; without columns that of a constant prediction."""
        chosen = frozenset(columns)
        if chosen not in self._known:
            self._known[chosen] = self._compute(chosen)
        return self._known[chosen]

    def _compute(self, columns: frozenset[int]) -> float:
        table = self._table
        if columns:
            # In an order of their own, so that the caller's makes no difference to the model.
            X, model = table.take(table.canonical(columns)), self._estimator
        else:
            X, model = np.zeros((table.n_rows, 1)), _constant_model(table)
        scores = cross_val_score(
            model,
            X,
            table.y,
            cv=self._folds,
            scoring=self._scorer,
            n_jobs=self._n_jobs,
            error_score="raise",
        )
        return float(scores.mean())


def seeded(estimator: Any, seed: int) -> Any:
    """Return a clone whose `random_state` parameters, where left open, are set."""
    names = [
        name
        for name, value in estimator.get_params(deep=True).items()
        if value is None and (name == "random_state" or name.endswith("__random_state"))
    ]
    return clone(estimator).set_params(**dict.fromkeys(names, seed))


def _constant_model(table: Table) -> Any:
    return DummyClassifier(strategy="prior") if table.task == "classification" else DummyRegressor()


def _folds(table: Table, cv: int, seed: int) -> Any:
    if cv > table.n_rows:
        raise InvalidInputError(f"cv={cv} is more than the {table.n_rows} rows. Use fewer folds.")
    counts = np.unique(table.y, return_counts=True)[1] if table.task == "classification" else np.zeros(1)
    divide = StratifiedKFold if counts.min() >= cv else KFold
    return divide(cv, shuffle=True, random_state=seed).split(np.zeros((table.n_rows, 1)), table.y)
