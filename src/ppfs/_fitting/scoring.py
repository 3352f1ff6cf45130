"""Cross-validated scores of a model on sets of columns, each computed once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from inspect import Parameter, signature
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import check_scoring
from sklearn.utils.parallel import Parallel, delayed

from ppfs._conventions import integer_seed, stream
from ppfs._data import Matrix, Table, Task
from ppfs._fitting.encoding import Impute, prepared_for, weight_arguments
from ppfs._fitting.seeding import fitted_clone, seeded
from ppfs._parallel import small_fits
from ppfs._printable import listed
from ppfs._rows import folds_of
from ppfs.exceptions import EstimatorFailedError, InvalidInputError

Scorer = Callable[..., float]


class CrossValidated:
    """Mean cross-validated scores of one model on feature sets of one table.

    Parameters
    ----------
    estimator : estimator
        Cloned for every fit; it gets a seed if its `random_state` is None.

    cv : int
        Number of folds: shuffled, stratified if every class has enough rows; groups stay together.

    scoring : str, callable or None
        As in scikit-learn; None is the estimator's own score.

    impute : {None, "median"}, default=None
        Fill missing numbers with the median of the rows outside the fold.

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
        impute: Impute = None,
        n_jobs: int | None = None,
    ) -> None:
        generator = stream(entropy)
        self._table = table
        self._estimator = seeded(estimator, integer_seed(generator))
        self._scorer = scorer_for(self._estimator, scoring, is_weighted=table.weights is not None)
        self._folds = _folds(table, cv, integer_seed(generator))
        self._impute: Impute = impute if table.has_missing else None
        self._n_jobs = n_jobs
        self._known: dict[frozenset[int], float] = {}

    def score(self, features: Collection[int]) -> float:
        """Return the mean score over the folds; without features, that of a constant prediction."""
        chosen = frozenset(features)
        if chosen not in self._known:
            self._known[chosen] = self._compute(chosen)
        return self._known[chosen]

    def _compute(self, features: frozenset[int]) -> float:
        table = self._table
        X, model = seen_by(self._estimator, table, features, self._impute)
        with naming_the_model(model, table, features):
            scores = Parallel(n_jobs=self._n_jobs)(
                delayed(fold_score)(model, X, table.y, table.weights, self._scorer, *fold)
                for fold in self._folds
            )
        return float(np.mean(scores))


def seen_by(
    estimator: Any, table: Table, features: Collection[int], impute: Impute = None
) -> tuple[Matrix, Any]:
    """Return the matrix of some features and the unfitted model for it; without features, a constant model."""
    if not features:
        return np.zeros((table.n_rows, 1)), constant_model(table.task, table.task_name)
    # In canonical order, so that the model does not depend on the caller's order.
    ordered = table.order.canonical(features)
    return table.take(ordered), prepared_for(estimator, table, ordered, impute)


@contextmanager
def naming_the_model(model: Any, table: Table, features: Collection[int]) -> Iterator[None]:
    """Add the model and the columns to an error of a fit."""
    try:
        yield
    except (InvalidInputError, Warning):
        raise
    except Exception as error:
        shown = listed([table.names[feature] for feature in sorted(features)]) or "no column"
        raise EstimatorFailedError(
            f"{model!r} failed on {shown} in cross-validation: {type(error).__name__}: {error}"
        ) from error


def fold_score(
    model: Any,
    X: Matrix,
    y: NDArray[Any],
    weights: NDArray[np.float64] | None,
    scorer: Scorer,
    train: NDArray[np.intp],
    test: NDArray[np.intp],
) -> float:
    """Fit on the rows outside a fold and score those inside."""
    in_train, in_test = (None if weights is None else weights[rows] for rows in (train, test))
    fitted = fitted_clone(model, X[train], y[train], **weight_arguments(model, in_train))
    return weighted_score(scorer, fitted, X[test], y[test], in_test)


def weighted_score(
    scorer: Scorer, model: Any, X: Matrix, y: NDArray[Any], weights: NDArray[np.float64] | None
) -> float:
    """Return the score of a fitted model, weighted if there are weights; raise if it is not finite."""
    with small_fits(len(y)):
        score = float(scorer(model, X, y) if weights is None else scorer(model, X, y, sample_weight=weights))
    if not np.isfinite(score):
        raise FloatingPointError(f"the score of {len(y)} rows is {score}")
    return score


def scorer_for(estimator: Any, scoring: str | Callable[..., float] | None, *, is_weighted: bool) -> Scorer:
    """Return scikit-learn's scorer, or raise if the caller's function does not take weights."""
    scorer: Scorer = check_scoring(estimator, scoring)
    parameters = signature(scorer).parameters
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    if is_weighted and not takes_any and "sample_weight" not in parameters:
        raise InvalidInputError(
            f"scoring={scoring!r} takes no sample_weight. Give the function such an argument, or leave the weights out."
        )
    return scorer


class SameHazard(BaseEstimator):
    """A model of survival times that uses no columns: all rows have the same hazard."""

    def fit(self, X: Matrix, y: NDArray[Any]) -> SameHazard:
        """Learn nothing."""
        return self

    def predict(self, X: Matrix) -> NDArray[np.float64]:
        """Return the logarithm of the relative hazard, 0."""
        return np.zeros(X.shape[0])

    def score(self, X: Matrix, y: NDArray[Any]) -> float:
        """Return the concordance index of equal predictions."""
        return 0.5


def constant_model(task: Task, kind: str = "") -> Any:
    """Return the unfitted model that uses no columns."""
    if kind == "survival":
        return SameHazard()
    return DummyClassifier() if task == "classification" else DummyRegressor()


def _folds(table: Table, cv: int, seed: int) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    if cv > table.n_rows:
        raise InvalidInputError(f"cv={cv} is more than the {table.n_rows} rows. Use fewer folds.")
    return folds_of(table, cv, seed, called=f"cv={cv}")
