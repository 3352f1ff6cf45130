"""What all questions about one target share: the model, the loss, the splits, the knockoff."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.dummy import DummyClassifier

from ppfs._conventions import Floats
from ppfs._data import FrameColumns, Matrix
from ppfs._fitting import Design, Impute, ToFrame, fitted_clone, prepared, stacked, weight_arguments
from ppfs._parallel import small_fits
from ppfs._rows import RowWeights, Split
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.draws import Knockoff
from ppfs.independence._predictive.losses import Loss, predict


@dataclass(frozen=True)
class Problem:
    """What all questions about one target share.

    Attributes
    ----------
    estimator : estimator
        The estimator to clone and fit.

    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The target with the caller's labels, which estimators may need.

    classes : ndarray
        The sorted labels; empty for regression.

    is_by_row : bool
        Whether losses are compared row by row, or as means over the test parts.

    stop_after : int
        End a question's draws when this many had no higher risk than the feature itself; 0 for never.

    weights : RowWeights
        The weight of each row in the fit and in the loss.

    impute : {None, "median"}
        How missing values are filled; None where there are none, or where the estimator accepts them.

    groups : ndarray of shape (n_rows,) or None
        The number of each row's group.

    frame : FrameColumns or None
        How a matrix becomes a data frame, for estimators that choose columns by name.

    loss_unit : float
        A loss of 1 in the caller's units, a power of two: `y` may be shifted and scaled for a tree.

    is_counted : bool
        Whether small p-values of growth may be counted by permutations.

    is_ranked : bool
        Whether a test over splits needs no more than the ranks of differences.
    """

    estimator: Any
    y: NDArray[Any]
    classes: NDArray[Any]
    loss: Loss
    knockoff: Knockoff
    splits: list[Split]
    is_by_row: bool = False
    stop_after: int = 0
    weights: RowWeights = field(default_factory=RowWeights)
    impute: Impute = None
    groups: NDArray[np.intp] | None = None
    frame: FrameColumns | None = None
    loss_unit: float = 1.0
    is_counted: bool = True
    is_ranked: bool = False

    #: The workers that suit parallel fits of this model: None leaves the choice to joblib.
    prefers: ClassVar[Literal["threads"] | None] = None

    @property
    def n_draws(self) -> int:
        """How often a feature is replaced in each test part."""
        return int(self.splits[0].permutations.shape[0])

    @cached_property
    def truth(self) -> NDArray[Any]:
        """The target as the loss needs it: class numbers, labels or values."""
        is_coded = self.classes.size > 0 and not self.loss.wants_labels
        return np.searchsorted(self.classes, self.y) if is_coded else self.y

    @cached_property
    def pair_groups(self) -> NDArray[np.intp] | None:
        """The group of each tested row, in the order of the test parts, numbered from 0; None without groups."""
        if self.groups is None:
            return None
        tested = self.groups[np.concatenate([split.test for split in self.splits])]
        return np.unique(tested, return_inverse=True)[1].ravel()

    def number_of(self, split: Split) -> int:
        """Return the number of a split, also in another process."""
        return next(number for number, one in enumerate(self.splits) if one.seed == split.seed)

    def split_of_pair(self, pair: int) -> int:
        """Return the number of the split that a compared pair belongs to."""
        if not self.is_by_row:
            return pair
        ends = np.cumsum([split.test.size for split in self.splits])
        return int(np.searchsorted(ends, pair, side="right"))

    def fit(self, design: Design, split: Split) -> Any:
        """Fit a clone on the split's train part, behind the encoding that it needs."""
        X, labels = design.X[split.train], self.y[split.train]
        if self.classes.size and (labels == labels[0]).all():
            # Most classifiers raise for a single class; the prediction is that class.
            return DummyClassifier().fit(X, labels)
        to_frame = None if self.frame is None else ToFrame(self.frame, design.column_names)
        model = prepared(self.estimator, design.n_levels, self.impute, to_frame)
        weights = weight_arguments(model, self.weights.fit_of(split.train))
        return fitted_clone(model, X, labels, seed=split.seed, **weights)

    def compared_losses(self, model: Any, copies: list[Matrix], split: Split) -> Floats:
        """Return what is compared, for several copies of a test part, from one prediction.

        Returns
        -------
        ndarray of shape (n_copies, n_test) or (n_copies, 1)
            The loss of each row, or the mean loss.
        """
        return self.losses_of(self.predicted(model, stacked(copies)), split, len(copies))

    def predicted(self, model: Any, X: Matrix) -> NDArray[Any]:
        """Return the predictions of a fitted model that the loss needs."""
        with small_fits(len(self.y)):
            answer = predict(model, X, self.loss.output, self.classes)
        is_label = self.loss.wants_labels and self.loss.output == "labels"
        return np.asarray(self.classes[answer]) if is_label else answer

    def scores_of(self, answer: NDArray[Any]) -> Floats:
        """Return predictions as numbers, shape (n_rows, n_outputs): labels become indicators of the classes."""
        if self.classes.size and self.loss.output == "labels":
            labels = self.classes[answer] if not self.loss.wants_labels else answer
            return np.asarray(labels[:, np.newaxis] == self.classes, dtype=np.float64)
        return np.asarray(answer, dtype=np.float64).reshape(len(answer), -1)

    def viewed(self, model: Any, X: Matrix, known: NDArray[Any] | None = None) -> Floats:
        """Return predictions as numbers, shape (n_rows, n_outputs): probabilities where a loss needs labels only.

        Parameters
        ----------
        known : ndarray, default=None
            What `predicted` returned for the same rows, if it was called before.
        """
        if self.classes.size and self.loss.output == "labels" and hasattr(model, "predict_proba"):
            with small_fits(len(self.y)):
                return predict(model, X, "probabilities", self.classes)
        return self.scores_of(self.predicted(model, X) if known is None else known)

    def losses_of(self, answer: NDArray[Any], split: Split, n_copies: int) -> Floats:
        """Return what is compared, from predictions for several copies of a test part; see `compared_losses`."""
        losses = self._losses(answer, split.test, n_copies)
        return self.weights.weighed(losses, split.test, self.is_by_row)

    def _losses(self, answer: NDArray[Any], tested: NDArray[np.intp], n_copies: int) -> Floats:
        """Return the loss of each row of each copy, shape (n_copies, n_test)."""
        truth = self.truth[tested]
        if not self.loss.wants_labels:
            all_rows = self.loss.rows(truth if n_copies == 1 else np.concatenate([truth] * n_copies), answer)
            return all_rows.reshape(n_copies, -1)
        # A caller's function may compare rows, as survival likelihoods do: it is called with one test part at a time.
        parts = answer.reshape(n_copies, tested.size, *answer.shape[1:])
        losses = [np.asarray(self.loss.rows(truth, part), dtype=np.float64) for part in parts]
        if losses[0].shape != tested.shape:
            raise InvalidInputError(
                f"The loss function must return one loss per row, shape {tested.shape}, but returned shape "
                f"{losses[0].shape}. Do not average over rows: the test does that."
            )
        return np.stack(losses)
