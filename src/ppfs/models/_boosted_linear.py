"""A linear model, followed by boosted trees on its residuals."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs import _engine
from ppfs._conventions import Floats, Interval, check_sample_weight


@dataclass(kw_only=True, eq=False, repr=False)
class _BoostedLinear(BaseEstimator):
    """What regression and classification share."""

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "alpha": [Interval(Real, 0.0, None, closed="left")],
        "n_rounds": [Interval(Integral, 0, None, closed="left")],
        "learning_rate": [Interval(Real, 0.0, None, closed="neither")],
        "max_depth": [Interval(Integral, 1, 16, closed="both")],
        "min_leaf_weight": [Interval(Real, 0.0, None, closed="neither")],
        "l2_regularization": [Interval(Real, 0.0, None, closed="left")],
        "max_bins": [Interval(Integral, 2, 255, closed="both")],
    }

    alpha: float = 1.0
    n_rounds: int = 15
    learning_rate: float = 0.2
    max_depth: int = 2
    min_leaf_weight: float = 10.0
    l2_regularization: float = 1.0
    max_bins: int = 255

    def _fit(self, X: Floats, labels: NDArray[Any], n_classes: int, sample_weight: ArrayLike | None) -> None:
        self._validate_params()
        weights = None
        if sample_weight is not None:
            weights = check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            counts = weights > 0
            X, labels, weights = X[counts], labels[counts], weights[counts]
        # One split, all of whose rows are train rows.
        rows, nothing = np.arange(len(X)), np.empty(0, dtype=np.int64)
        rules = _engine.boosted_linear_rules(self.get_params(), n_classes)
        problem = _engine.prepare_boosting(labels, n_classes, [rows], [nothing], [nothing[np.newaxis]], rules)
        kind, n_trees = int(problem.train_parts.kinds[0]), int(problem.train_parts.n_trees[0])
        self._start = _engine.fit_linear(X, problem.train_parts.labels[0], kind, n_trees, self.alpha, weights)
        columns, starts = _engine.bin_columns(X, problem), [self._start.raw(X).T]
        self._trees = _engine.grow_models(columns, problem, starts=starts, weights=weights)

    def _raw(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        columns = validate_data(self, X, reset=False, dtype=np.float64, ensure_all_finite="allow-nan")
        return self._trees.added(columns, self._start.raw(columns))

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "_trees")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


class BoostedLinearRegressor(RegressorMixin, _BoostedLinear):
    """Ridge regression, followed by a few shallow boosted trees on its residuals.

    Designed for tests that should detect any dependence: the linear part detects linear effects as well as a linear
    model does, the trees detect curves, steps and interactions. Missing values are accepted: the linear part replaces
    them by the mean of the column, and the trees treat them as missing. The model is deterministic.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of the linear part on the squares of the coefficients of standardized columns.

    n_rounds : int, default=15
        Number of trees that are added. 0 leaves the linear part alone.

    learning_rate : float, default=0.2
        Factor of the values of the leaves.

    max_depth : int, default=2
        Cuts between the root of a tree and its deepest leaf. With 2, trees see interactions of two columns.

    min_leaf_weight : float, default=10.0
        Minimum weight of a leaf. The weight of a row is its `sample_weight`, or 1.

    l2_regularization : float, default=1.0
        Added to the weight of a leaf, which shrinks its value.

    max_bins : int, default=255
        Maximum number of bins. A column with more distinct values is cut at its quantiles only.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Slopes of the linear part, in the columns' own units.

    intercept_ : float
        Intercept of the linear part.

    n_features_in_ : int
        Columns seen by `fit`.

    feature_names_in_ : ndarray of str
        Their names, if `X` has names.

    See Also
    --------
    BoostedLinearClassifier : The same for classes.

    Notes
    -----
    Trees are those of scikit-learn's HistGradientBoostingRegressor, but a leaf is bounded by its weight and not by
    its rows. `PPI` and `CrossFitPPI` fit these models in compiled code.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.models import BoostedLinearRegressor
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] + np.sin(2 * X[:, 1])
    >>> bool(BoostedLinearRegressor().fit(X, y).score(X, y) > 0.9)
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the line, then the trees."""
        columns, target = validate_data(
            self, X, y, dtype=np.float64, ensure_all_finite="allow-nan", y_numeric=True
        )
        self._fit(columns, np.asarray(target, dtype=np.float64), 0, sample_weight)
        self.coef_, self.intercept_ = self._start.slopes[0], float(self._start.intercepts[0])
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Return the predicted numbers, shape (n_rows,)."""
        return self._raw(X)[:, 0]


class BoostedLinearClassifier(ClassifierMixin, _BoostedLinear):
    """Logistic regression, followed by a few shallow boosted trees on its residuals.

    Designed for tests that should detect any dependence: the linear part detects linear effects as well as a linear
    model does, the trees detect curves, steps and interactions. Missing values are accepted: the linear part replaces
    them by the mean of the column, and the trees treat them as missing. The model is deterministic.

    Parameters
    ----------
    alpha : float, default=1.0
        Penalty of the linear part on the squares of the coefficients of standardized columns;
        C of scikit-learn's LogisticRegression is 1 / alpha.

    n_rounds : int, default=15
        Number of rounds of boosting: one tree each, or one per class if there are more than two. 0 leaves the linear
        part alone.

    learning_rate : float, default=0.2
        Factor of the values of the leaves.

    max_depth : int, default=2
        Cuts between the root of a tree and its deepest leaf. With 2, trees see interactions of two columns.

    min_leaf_weight : float, default=10.0
        Minimum weight of a leaf. The weight of a row is its `sample_weight`, or 1, times 4 p (1 - p), where p is its
        predicted probability: the factor is 1 for p = 1/2, and 0 if the class is certain.

    l2_regularization : float, default=1.0
        Added to the weight of a leaf, which shrinks its value.

    max_bins : int, default=255
        Maximum number of bins. A column with more distinct values is cut at its quantiles only.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Slopes of the linear part, in the columns' own units.

    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercept of the linear part.

    classes_ : ndarray of shape (n_classes,)
        The labels.

    n_features_in_ : int
        Columns seen by `fit`.

    feature_names_in_ : ndarray of str
        Their names, if `X` has names.

    See Also
    --------
    BoostedLinearRegressor : The same for numbers.

    Notes
    -----
    Trees are those of scikit-learn's HistGradientBoostingClassifier, but a leaf is bounded by its weight and not by
    its rows. `PPI` and `CrossFitPPI` fit these models in compiled code.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.models import BoostedLinearClassifier
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> y = X[:, 0] + X[:, 1] ** 2 > 1
    >>> bool(BoostedLinearClassifier().fit(X, y).score(X, y) > 0.9)
    True
    """

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the line, then the trees."""
        columns, target = validate_data(self, X, y, dtype=np.float64, ensure_all_finite="allow-nan")
        check_classification_targets(target)
        self.classes_, codes = np.unique(target, return_inverse=True)
        self._fit(columns, codes, self.classes_.size, sample_weight)
        self.coef_, self.intercept_ = self._start.slopes, self._start.intercepts
        return self

    def decision_function(self, X: ArrayLike) -> Floats:
        """Return raw predictions: shape (n_rows,) for two classes, (n_rows, n_classes) for more."""
        raw = self._raw(X)
        return raw[:, 0] if self.classes_.size <= 2 else raw

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Return probabilities, shape (n_rows, n_classes)."""
        raw = self._raw(X)
        seen = self._trees.problem.test_parts.places[0] >= 0
        shares = np.zeros((len(raw), self.classes_.size))
        if seen.sum() == 1:
            shares[:, seen] = 1.0
        elif seen.sum() == 2:
            shares[:, seen] = np.column_stack([expit(-raw[:, 0]), expit(raw[:, 0])])
        else:
            shares[:, seen] = softmax(raw, axis=1)
        return shares

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the most probable labels, shape (n_rows,)."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[likeliest]
        return labels
