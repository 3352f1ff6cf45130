"""Classifiers of several labels, used like regressors: they predict an indicator per class."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.utils import Tags, get_tags

from ppfs._conventions import Floats
from ppfs._data import Matrix, Table
from ppfs.exceptions import InvalidInputError


class LabelProbabilities(RegressorMixin, MetaEstimatorMixin, BaseEstimator):
    """A classifier of several labels whose predictions are the probabilities of its classes.

    The squared error of such predictions is Brier's score, averaged over the labels. A classifier without
    ``predict_proba`` predicts 0 and 1.

    Parameters
    ----------
    estimator : classifier
        One that scikit-learn accepts for several labels, such as a forest or a MultiOutputClassifier.

    n_classes : tuple of int
        The number of classes of each label. A label of two classes has one indicator, others have one per class.
    """

    def __init__(self, estimator: Any, n_classes: tuple[int, ...]) -> None:
        self.estimator = estimator
        self.n_classes = n_classes

    def fit(self, X: Matrix, y: Floats, **arguments: Any) -> Self:
        """Fit a clone of the classifier to the labels of the indicators `y`, shape (n_rows, n_indicators)."""
        codes = _codes_of(y, self.n_classes)
        # A label with one class in these rows has nothing to learn, and some classifiers fail on it.
        self.varied_ = np.flatnonzero((codes != codes[0]).any(axis=0))
        self.constants_ = codes[0]
        if self.varied_.size:
            # Two copies of a single column: some classifiers take it for one label, some do not take it at all.
            shown = self.varied_ if self.varied_.size > 1 else np.repeat(self.varied_, 2)
            try:
                self.estimator_ = clone(self.estimator).fit(X, codes[:, shown], **arguments)
            except Exception as error:
                name = type(self.estimator).__name__
                raise InvalidInputError(
                    f"y has {codes.shape[1]} columns of labels, and {name} failed with them: {type(error).__name__}: "
                    f"{error}. Use MultiOutputClassifier of sklearn.multioutput around a classifier of one label, or "
                    "RandomForestClassifier."
                ) from error
        return self

    def predict(self, X: Matrix) -> Floats:
        """Return the probability of each indicator, shape (n_rows, n_indicators)."""
        n_rows = X.shape[0]
        by_label = [
            np.tile(np.eye(n)[code], (n_rows, 1))
            for n, code in zip(self.n_classes, self.constants_, strict=True)
        ]
        if self.varied_.size:
            has_probabilities = hasattr(self.estimator_, "predict_proba")
            answer = self.estimator_.predict_proba(X) if has_probabilities else self.estimator_.predict(X)
            for place, label in enumerate(self.varied_.tolist()):
                by_label[label] = self._of_label(answer, place, self.n_classes[label], has_probabilities)
        parts = [one[:, 1:] if one.shape[1] == 2 else one for one in by_label]
        return np.hstack(parts)

    def _of_label(self, answer: Any, place: int, n_classes: int, has_probabilities: bool) -> Floats:
        """Return the probabilities of the classes of one label: the answer has a part, or a column, for each."""
        if isinstance(answer, list):
            found = np.zeros((len(answer[place]), n_classes))
            found[:, np.asarray(self.estimator_.classes_[place], dtype=np.intp)] = answer[place]
            return found
        own = np.asarray(answer)[:, place]
        return (
            np.column_stack([1.0 - own, own]) if has_probabilities else np.eye(n_classes)[own.astype(np.intp)]
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        tags.target_tags.multi_output = True
        return tags


def called(estimator: Any) -> str:
    """Return the name of an estimator's class; that of the caller's classifier, where it predicts several labels."""
    return type(estimator.estimator if isinstance(estimator, LabelProbabilities) else estimator).__name__


def _codes_of(indicators: Floats, n_classes: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the number of each row's class, shape (n_rows, n_labels)."""
    codes, start = [], 0
    for n in n_classes:
        width = 1 if n == 2 else n
        part = indicators[:, start : start + width]
        codes.append(part[:, 0] > 0.5 if n == 2 else part.argmax(axis=1))
        start += width
    return np.column_stack(codes).astype(np.intp)


def for_labels(estimator: Any, table: Table) -> Any:
    """Return an estimator in the form that a table's target needs: a classifier of several labels predicts indicators.

    Raises
    ------
    InvalidInputError
        For a classifier of one label only.
    """
    if table.labels is None or estimator is None or not is_classifier(estimator):
        return estimator
    tags, name = get_tags(estimator), type(estimator).__name__
    if not (tags.classifier_tags.multi_label or tags.target_tags.multi_output):
        raise InvalidInputError(
            f"y has {len(table.labels.classes)} columns of labels, and {name} predicts one. Use "
            f"MultiOutputClassifier({name}()) of sklearn.multioutput, or a classifier of several labels, such as "
            "RandomForestClassifier."
        )
    return LabelProbabilities(estimator, table.labels.n_classes)
