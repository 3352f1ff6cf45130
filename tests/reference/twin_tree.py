"""The slow decision tree behind scikit-learn's interface, so that the generic path can fit it."""

import numpy as np
from reference import cart
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin

from ppfs._engine import TreeRules


class TwinTreeClassifier(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.root_ = cart.grow(X, codes, self.classes_.size, range(len(y)), TreeRules())
        return self

    def predict_proba(self, X):
        return np.array([cart.predict(self.root_, row).value for row in X])

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


class TwinTreeRegressor(RegressorMixin, BaseEstimator):
    def fit(self, X, y):
        self.root_ = cart.grow(X, y, 0, range(len(y)), TreeRules(criterion="squared_error"))
        return self

    def predict(self, X):
        return np.array([cart.predict(self.root_, row).value for row in X])
