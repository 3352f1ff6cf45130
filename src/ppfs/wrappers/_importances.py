"""The decrease of a model's score when a feature is shuffled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupShuffleSplit, train_test_split
from sklearn.utils.parallel import Parallel, delayed

from ppfs._conventions import Floats, integer_seed, stream
from ppfs._data import Matrix, Table
from ppfs._fitting import (
    Impute,
    dense,
    fitted_clone,
    prepared_for,
    scorer_for,
    seeded,
    weight_arguments,
    weighted_score,
    with_replaced,
)
from ppfs._printable import listed
from ppfs._rows import is_stratifiable, require_enough_groups
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.wrappers._shuffled_machine import ShuffledMachine

# The first keys of the random streams.
_SPLIT, _SHUFFLE, _NULL = range(3)


@dataclass(frozen=True)
class Importances:
    """The decrease of the score for each feature.

    Attributes
    ----------
    mean, std : ndarray of shape (n_features,)
        Over the shuffles.

    reference : float
        The score before anything is shuffled.
    """

    mean: Floats
    std: Floats
    reference: float


class ShuffledScores:
    """Permutation importances of one model on one table.

    Parameters
    ----------
    test_size : float or None
        Share of rows to score; None scores the rows that the model was fitted on.

    entropy : int
        Seed of split, shuffles and model.

    impute : {None, "median"}, default=None
        Fill missing values in numeric columns with the median of the rows that the model is fitted on.
    """

    def __init__(
        self,
        table: Table,
        estimator: Any,
        *,
        scoring: str | Callable[..., float] | None,
        n_repeats: int,
        test_size: float | None,
        entropy: int,
        impute: Impute = None,
    ) -> None:
        self._table = table
        # A canonical order of the columns, because trees break ties by order.
        self._order = table.order.canonical(range(table.n_features))
        self._X = table.take(self._order)
        self._places = table.places(self._order)
        model = seeded(estimator, integer_seed(stream(entropy, _SPLIT, 1)))
        filled = impute if table.has_missing else None
        self._estimator = prepared_for(model, table, self._order, filled)
        self._scorer = scorer_for(model, scoring, is_weighted=table.weights is not None)
        self._has_own_score = scoring is None
        self._entropy = entropy
        self._train, self._test = self._split(test_size)
        # Keyed by the repeat only, so that copies of a column are shuffled in the same way.
        self._orders = np.array(
            [stream(entropy, _SHUFFLE, repeat).permutation(self._test.size) for repeat in range(n_repeats)]
        )

    def importances(self, null: int | None = None) -> Importances:
        """Return the importances, or those for a shuffled target if the number of a null is given."""
        try:
            return self._importances(null)
        except (InvalidInputError, Warning):
            raise
        except Exception as error:
            raise EstimatorFailedError(
                f"{self._estimator!r} failed on {listed(self._table.names)}: {type(error).__name__}: {error}"
            ) from error

    def _importances(self, null: int | None) -> Importances:
        y = self._table.y
        if null is not None:
            y = stream(self._entropy, _NULL, null).permutation(y)
        weights = weight_arguments(self._estimator, self._weights(self._train))
        model = fitted_clone(self._estimator, self._X[self._train], y[self._train], **weights)
        X, truth = self._X[self._test], y[self._test]
        reference = self._score(model, X, truth)
        machine = ShuffledMachine.of(model, X) if self._has_own_score else None
        falls = np.zeros((len(self._places), len(self._orders)))
        for number, place in enumerate(self._places):
            if machine is None:
                scores = [
                    self._score(model, _with_shuffled(X, place, order), truth) for order in self._orders
                ]
            else:
                models = machine.shuffled(place, self._orders)
                scores = [reference if one is None else self._score(one, X, truth) for one in models]
            falls[number] = reference - np.array(scores)
        mean, std = np.empty(len(self._order)), np.empty(len(self._order))
        mean[list(self._order)], std[list(self._order)] = falls.mean(axis=1), falls.std(axis=1)
        return Importances(mean, std, reference)

    def pvalues(self, observed: Floats, n_nulls: int, n_jobs: int | None) -> Floats:
        """Return the share of targets, the real one included, for which a column is at least as important."""
        nulls = Parallel(n_jobs=n_jobs)(delayed(self.importances)(null) for null in range(n_nulls))
        exceeded = sum((null.mean >= observed).astype(np.float64) for null in nulls)
        return np.asarray((1.0 + exceeded) / (1.0 + n_nulls))

    def _weights(self, rows: NDArray[np.intp]) -> Floats | None:
        return None if self._table.weights is None else self._table.weights[rows]

    def _score(self, model: Any, X: Matrix, truth: NDArray[Any]) -> float:
        return weighted_score(self._scorer, model, X, truth, self._weights(self._test))

    def _split(self, test_size: float | None) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        rows = np.arange(self._table.n_rows)
        if test_size is None:
            return rows, rows
        if self._table.groups is not None:
            return self._split_groups(rows, test_size)
        labels = self._table.y if self._table.task == "classification" else None
        can_stratify = labels is not None and is_stratifiable(labels, test_size)
        train, test = train_test_split(
            rows,
            test_size=test_size,
            stratify=labels if can_stratify else None,
            random_state=integer_seed(stream(self._entropy, _SPLIT, 0)),
        )
        return train, test

    def _split_groups(
        self, rows: NDArray[np.intp], test_size: float
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        assert self._table.groups is not None
        require_enough_groups(self._table.groups, test_size, "finer groups")
        divider = GroupShuffleSplit(
            1, test_size=test_size, random_state=integer_seed(stream(self._entropy, _SPLIT, 0))
        )
        train, test = next(divider.split(rows, groups=self._table.groups))
        return train, test


def _with_shuffled(X: Matrix, place: slice, order: NDArray[np.intp]) -> Matrix:
    """Return a copy of `X` in which the rows of one feature's columns are in another order."""
    return with_replaced(X, place, dense(X[:, place])[order])
