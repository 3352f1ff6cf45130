"""From a target and a model to the problem that they pose: labels, loss, splits, knockoff, weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data import Table, require_two_classes
from ppfs._fitting import (
    DefaultMember,
    Impute,
    estimator_for,
    frame_for,
    input_tags,
    is_equivariant,
    target_for_float32,
    warn_of_lost_precision,
)
from ppfs._rows import RowWeights, Split, require_known_labels, splits_of, weights_by_class
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.draws import Knockoff
from ppfs.independence._predictive.losses import LOSS_POWERS, choose_loss, require_measurable
from ppfs.independence._predictive.predictive_test import PredictiveTest
from ppfs.independence._predictive.problem import Problem


@dataclass
class TargetProblems:
    """Makes the problems of one table; all models of one target share the splits and the knockoff.

    Attributes
    ----------
    entropy, fold : int
        The key of the random streams.
    """

    test: PredictiveTest
    table: Table
    entropy: int
    fold: int
    _shared: dict[int, tuple[list[Split], Knockoff]] = field(default_factory=dict)

    def of(self, target: int, model: Any) -> Problem:
        """Return the problem of predicting a variable with a model."""
        test, table = self.test, self.table
        task = table.task_of(target)
        y = table.values(target)
        if target != table.target and y.dtype.kind == "f" and np.isnan(y).any():
            raise InvalidInputError(
                f"This search asks which columns {table.names[target]!r} depends on, but the column has missing "
                "values, and no model can learn to predict them. Use a search that asks about the target only, such as "
                "PPFS, IAMB or FBED, or impute the column first."
            )
        (name,) = table.names_of([target])
        estimator = estimator_for(model, task, name=name)
        classes = np.unique(y) if task == "classification" else np.empty(0)
        kind = table.target_kind if target == table.target else None
        loss = choose_loss(
            test.loss, task, estimator, test.loss_of_probabilities, fields=y.dtype.names, kind=kind
        )
        require_measurable(y, loss, name)
        if target == table.target and self.fold <= 1:
            warn_of_lost_precision(table, estimator)
        y, unit = (
            target_for_float32(y)
            if loss.name in LOSS_POWERS and is_equivariant(estimator) and y.ndim == 1
            else (y, 1.0)
        )
        splits, knockoff = self._splits_and_knockoff(target, y, classes)
        return Problem(
            estimator,
            y,
            classes,
            loss,
            knockoff,
            splits,
            test.is_by_row,
            test.stop_after,
            self._weights(target, y, classes),
            self._impute(model, estimator),
            table.groups,
            frame_for(estimator, table),
            unit ** LOSS_POWERS.get(loss.name, 0),
            is_counted=table.time is None,
            is_ranked=test.ranks(len(splits)),
        )

    def forget(self, target: int) -> None:
        """Drop what was made for a target."""
        self._shared.pop(target, None)

    def _splits_and_knockoff(
        self, target: int, y: NDArray[Any], classes: NDArray[Any]
    ) -> tuple[list[Split], Knockoff]:
        if target not in self._shared:
            splits = self._splits(target, y, classes)
            knockoff = self.test.make_knockoff(min(split.test.size for split in splits))
            self._shared[target] = splits, knockoff
        return self._shared[target]

    def _splits(self, target: int, y: NDArray[Any], classes: NDArray[Any]) -> list[Split]:
        test, table = self.test, self.table
        if target == table.target:
            require_two_classes(table)
        if test.splitter is not None:
            splits = splits_of(
                test.splitter, table, y, entropy=self.entropy, fold=self.fold, n_draws=test.n_draws
            )
            test.check_splits(splits)
            return splits
        is_first = target == table.target and self.fold <= 1
        labels = test.labels_to_stratify(y, table, warn=is_first) if classes.size else None
        return test.draw_splits(table, labels, self.entropy, self.fold)

    def _impute(self, model: Any, estimator: Any) -> Impute:
        """Return how missing values are filled: as the caller says; for models of the default panel, if needed."""
        if not self.table.has_missing:
            return None
        needs_it = isinstance(model, DefaultMember) and not input_tags(estimator).allow_nan
        return "median" if needs_it else self.test.impute

    def _weights(self, target: int, y: NDArray[Any], classes: NDArray[Any]) -> RowWeights:
        class_weight = self.test.class_weight
        # Weights by the target's labels do not apply where another variable is predicted.
        if target != self.table.target and not (class_weight == "balanced" and classes.size):
            class_weight = None
        if isinstance(class_weight, Mapping):
            require_known_labels(class_weight, self.table.known_labels)
        by_class = weights_by_class(class_weight, y, classes)
        return RowWeights.of(self.table.weights, by_class, np.searchsorted(classes, y) if classes.size else y)
