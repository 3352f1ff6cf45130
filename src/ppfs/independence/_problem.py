"""What all questions about one target share: the model, the loss, the splits, the knockoff."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from ppfs._table import Matrix
from ppfs.exceptions import InvalidInputError
from ppfs.independence._knockoffs import Knockoff
from ppfs.independence._losses import Loss, predict
from ppfs.independence._model_design import Design, stacked
from ppfs.independence._seeding import seeded
from ppfs.independence._splits import Split

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Problem:
    """What all questions about one target share.

    Attributes
    ----------
    estimator : estimator
        The prototype; clones of it are fitted.

    y : ndarray of shape (n_rows,)
        The target as the caller gave it: estimators may know its labels.

    classes : ndarray
        The sorted labels; empty for regression.

    is_by_row : bool
        Whether losses are compared row by row, or as means over the test parts.

    stop_after : int
        End a question's draws when so many have had no higher risk than the feature itself; 0 for never.
    """

    estimator: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    loss: Loss
    knockoff: Knockoff
    splits: list[Split]
    is_by_row: bool = False
    stop_after: int = 0

    @property
    def n_draws(self) -> int:
        """How often a feature is replaced in each test part."""
        return int(self.splits[0].permutations.shape[0])

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The target as the loss wants it: class numbers, labels or values."""
        is_coded = self.classes.size > 0 and not self.loss.wants_labels
        return np.searchsorted(self.classes, self.y) if is_coded else self.y

    def fit(self, design: Design, split: Split) -> Any:
        """Fit a clone on the split's train part."""
        X, labels = design.X[split.train], self.y[split.train]
        if self.classes.size and (labels == labels[0]).all():
            # Most classifiers refuse a single class; the only thing to learn is that class.
            return DummyClassifier(strategy="prior").fit(X, labels)
        return seeded(self.estimator, split.seed).fit(X, labels)

    def pairs(self, model: Any, copies: list[Matrix], split: Split) -> Floats:
        """Return what is compared, for several copies of a test part, from one prediction.

        Returns
        -------
        ndarray of shape (n_copies, n_test) or (n_copies, 1)
            The loss of each row, or the mean loss.
        """
        answer = predict(model, stacked(copies), self.loss.output, self.classes)
        if self.loss.wants_labels and self.loss.output == "labels":
            answer = self.classes[answer]
        losses = self.loss.rows(np.tile(self.truth[split.test], len(copies)), answer)
        losses = np.asarray(losses, dtype=np.float64)
        if losses.shape != (split.test.size * len(copies),):
            raise InvalidInputError(
                f"The loss function must return one loss a row, shape ({split.test.size * len(copies)},), but returned "
                f"shape {losses.shape}. Do not average over rows: the test does that."
            )
        by_row = losses.reshape(len(copies), -1)
        means: Floats = by_row.mean(axis=1, keepdims=True)
        return by_row if self.is_by_row else means
