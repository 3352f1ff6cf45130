"""The slow decision tree behind scikit-learn's interface, so that the generic path can fit it."""

from types import SimpleNamespace

import numpy as np
from reference import cart
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin


class _TwinTree(BaseEstimator):
    def __init__(self, max_depth=None, min_samples_leaf=1):
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf

    def _rules(self, criterion):
        return SimpleNamespace(
            criterion=criterion,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            min_samples_split=2,
        )


class TwinTreeClassifier(ClassifierMixin, _TwinTree):
    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.root_ = cart.grow(X, codes, self.classes_.size, range(len(y)), self._rules("gini"))
        return self

    def predict_proba(self, X):
        return np.array([cart.predict(self.root_, row).value for row in X])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class TwinTreeRegressor(RegressorMixin, _TwinTree):
    def fit(self, X, y):
        self.root_ = cart.grow(X, y, 0, range(len(y)), self._rules("squared_error"))
        return self

    def predict(self, X):
        return np.array([cart.predict(self.root_, row).value for row in X])
