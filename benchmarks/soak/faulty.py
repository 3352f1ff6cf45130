"""Models that fail on purpose."""

from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.dummy import DummyClassifier, DummyRegressor


class _Either(ClassifierMixin, BaseEstimator):
    """Classes by their frequencies: a model to spoil."""

    def fit(self, X, y):
        """Learn nothing but the classes."""
        numbers = np.asarray(y).dtype.kind == "f"
        self._inner = (DummyRegressor() if numbers else DummyClassifier()).fit(X, y)
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Answer."""
        return self._inner.predict(X)

    def predict_proba(self, X):
        """Answer."""
        return np.tile(np.full(self.classes_.size, 1.0 / self.classes_.size), (X.shape[0], 1))


class NotFinite(_Either):
    """One row of every answer is NaN."""

    def predict(self, X):
        """Answer wrongly."""
        answer = np.array(super().predict(X), dtype=float)
        answer[0] = np.nan
        return answer

    def predict_proba(self, X):
        """Answer wrongly."""
        answer = super().predict_proba(X)
        answer[0] = np.nan
        return answer


class FailsAtFit(_Either):
    """It cannot be fitted."""

    def fit(self, X, y):
        """Fail."""
        raise RuntimeError("out of order")


class FailsLater(_Either):
    """It cannot be fitted on more than one column."""

    def fit(self, X, y):
        """Fail."""
        if X.shape[1] > 1 or float(np.asarray(X.sum() if hasattr(X, "sum") else 0.0)) > 3.0:
            raise MemoryError("no more room")
        return super().fit(X, y)


class AnswersNothing(_Either):
    """Its answers are empty."""

    def predict(self, X):
        """Answer wrongly."""
        return np.empty(0)

    def predict_proba(self, X):
        """Answer wrongly."""
        return np.empty((0, self.classes_.size))


class AnswersTooMuch(_Either):
    """Its answers have a column too many."""

    def predict(self, X):
        """Answer wrongly."""
        return np.zeros((X.shape[0], 3))

    def predict_proba(self, X):
        """Answer wrongly."""
        return np.full((X.shape[0], self.classes_.size + 1), 0.5)
