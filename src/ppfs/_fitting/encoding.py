"""Estimators that take the codes of a table and encode them as the model needs."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter, signature
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn import get_config
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.utils import Tags, get_tags
from sklearn.utils.metaestimators import available_if

from ppfs._data import FrameColumns, Matrix, Table, require_finite
from ppfs._fitting.column_transformers import narrow, reads_frames
from ppfs._fitting.encoders import Dummies, Encoder, Medians, NativeCodes, ToFrame
from ppfs._fitting.estimators import input_tags
from ppfs._fitting.wanted_encoding import Encoding, Wanted, wanted_encoding, wants_numbered_labels
from ppfs.exceptions import InvalidInputError

Impute = Literal["median"] | None

# The number of a label that is not in the train part.
_UNSEEN = -1


def prepared(
    estimator: Any, n_levels: NDArray[np.intp], impute: Impute = None, to_frame: ToFrame | None = None
) -> Any:
    """Return an unfitted estimator that reads a matrix of numbers and codes of categories.

    Parameters
    ----------
    estimator : estimator
        The caller's estimator; it is cloned, never changed.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers: ``table.n_levels_of(variables)``.

    impute : {None, "median"}, default=None
        Fill missing numbers with the median of the rows that the estimator is fitted on.

    to_frame : ToFrame, default=None
        How to create a data frame from the matrix, for an estimator that needs one; see `frame_for`.

    Returns
    -------
    estimator
        The caller's estimator if it takes the matrix and the labels as they are, else an `Encoded`.

    Notes
    -----
    The input of the caller's estimator depends on its type; see `encoding_name`.

    - "frame", if there is a ColumnTransformer inside and the caller passed a data frame: a data frame, with
      categories in the caller's type. Columns that the ColumnTransformer names and that are absent are left out.
    - "codes", for trees and forests of scikit-learn: the matrix as it is.
    - "native", for HistGradientBoosting, LightGBM, XGBoost and CatBoost: codes, declared to be
      categories. Categories that are not in the train part are missing values. HistGradientBoosting takes
      at most `max_bins` categories per column; beyond that, the rarest are merged.
    - "one-hot", for all others: dummies for categories, and numbers scaled to mean 0 and variance 1.
      The 30 most frequent categories of the train part have a dummy each, the rest share one. A
      category that is not in the train part belongs to the rest, or has all dummies 0.

    Without categories, numbers are passed as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import LogisticRegression
    >>> from ppfs._fitting.encoding import prepared
    >>> X = np.array([[0, 1.5], [1, 2.0], [2, 0.5], [1, 1.0]])  # the first column has three categories
    >>> model = prepared(LogisticRegression(), np.array([3, 0])).fit(X, [0, 1, 0, 1])
    >>> model.predict(X).tolist()
    [0, 1, 0, 1]
    """
    if to_frame is not None:
        return Encoded(estimator, n_levels, impute, to_frame)
    reads_codes = not n_levels.any() or wanted_encoding(estimator).encoding == "codes"
    is_plain = reads_codes and impute is None and not wants_numbered_labels(estimator)
    return estimator if is_plain else Encoded(estimator, n_levels, impute)


def prepared_for(estimator: Any, table: Table, variables: Sequence[int], impute: Impute = None) -> Any:
    """Return an unfitted estimator that reads ``table.take(variables)``; see `prepared`."""
    frame = frame_for(estimator, table)
    to_frame = None if frame is None else ToFrame(frame, table.column_names_of(variables))
    return prepared(estimator, table.n_levels_of(variables), impute, to_frame)


def frame_for(estimator: Any, table: Table) -> FrameColumns | None:
    """Return how to create data frames like the caller's, if there was one and the estimator needs it."""
    return table.frame.columns if table.frame is not None and reads_frames(estimator) else None


def encoding_name(estimator: Any, *, has_frame: bool = False) -> Encoding | Literal["frame"]:
    """Return how categories are passed to an estimator: "codes", "native", "one-hot" or "frame"; see `prepared`."""
    return "frame" if has_frame and reads_frames(estimator) else wanted_encoding(estimator).encoding


def require_suits(estimator: Any, table: Table, impute: Impute) -> None:
    """Raise if an estimator cannot take the target, the missing values of the columns, or the weights of the rows."""
    name = type(estimator).__name__
    if table.y.dtype.names is not None and _predicts_numbers_only(estimator):
        raise InvalidInputError(
            f"{name} cannot predict survival times. Use an estimator of scikit-survival, such as "
            "CoxPHSurvivalAnalysis, or none: this package's own models predict log-rank scores."
        )
    takes_missing = input_tags(estimator).allow_nan and not table.is_sparse
    require_finite(
        table,
        allow_missing=takes_missing or impute is not None,
        user=name,
        way_out='Pass impute="median" to fill missing values with the median of each training part, or use an '
        "estimator that accepts NaN, such as DecisionTreeClassifier or HistGradientBoostingClassifier.",
    )
    weight_arguments(estimator, table.weights)


def _predicts_numbers_only(estimator: Any) -> bool:
    """Return whether an estimator is a regressor of scikit-learn; scikit-survival's have a module of their own."""
    return is_regressor(estimator) and type(estimator).__module__.partition(".")[0] == "sklearn"


def weight_arguments(estimator: Any, sample_weight: NDArray[np.float64] | None) -> dict[str, Any]:
    """Return the arguments of ``estimator.fit`` that pass weights; none without weights.

    A Pipeline passes them to its last step.

    Raises
    ------
    InvalidInputError
        If the estimator does not take weights.
    """
    if sample_weight is None:
        return {}
    if hasattr(estimator, "steps") and not get_config()["enable_metadata_routing"]:
        name, last = estimator.steps[-1]
        inner = weight_arguments(last, sample_weight)
        return {f"{name}__{argument}": value for argument, value in inner.items()}
    parameters = signature(estimator.fit).parameters
    takes_any = any(parameter.kind is Parameter.VAR_KEYWORD for parameter in parameters.values())
    if not takes_any and "sample_weight" not in parameters:
        raise InvalidInputError(
            f"{type(estimator).__name__} takes no sample_weight. Use an estimator that does, such as a "
            "tree, or leave the weights out."
        )
    wrapped = getattr(estimator, "estimator", None)
    if takes_any and "sample_weight" not in parameters and hasattr(wrapped, "fit"):
        # A search, or another wrapper, whose fit takes any argument and passes it to the estimator inside.
        weight_arguments(wrapped, sample_weight)
    return {"sample_weight": sample_weight}


class Encoded(BaseEstimator):
    """An estimator with the encoding that it needs; created by `prepared`.

    It has `predict_proba`, `decision_function` and `classes_` if the estimator has them.

    Parameters
    ----------
    estimator : estimator
        Clones of it are fitted.

    n_levels : ndarray of shape (n_columns,)
        The number of categories of each column, 0 for numbers.

    impute : {None, "median"}, default=None
        Fill missing numbers with the median of the train part.

    to_frame : ToFrame, default=None
        Pass a data frame to the estimator instead of an encoded matrix.

    Attributes
    ----------
    estimator_ : estimator
        The fitted clone.
    """

    def __init__(
        self,
        estimator: Any,
        n_levels: NDArray[np.intp],
        impute: Impute = None,
        to_frame: ToFrame | None = None,
    ) -> None:
        self.estimator = estimator
        self.n_levels = n_levels
        self.impute = impute
        self.to_frame = to_frame

    def fit(self, X: Matrix, y: NDArray[Any], sample_weight: NDArray[np.float64] | None = None) -> Self:
        """Learn the encoding and fit a clone of the estimator.

        Parameters
        ----------
        X : ndarray or sparse matrix of shape (n_rows, n_columns)
            Numbers and codes.

        y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
            The target.

        sample_weight : ndarray of shape (n_rows,), default=None
            Passed to the estimator, and used for the encoding.
        """
        has_codes = bool(self.n_levels.any()) and self.to_frame is None
        wanted = wanted_encoding(self.estimator) if has_codes else Wanted("codes")
        model = clone(self.estimator)
        settings, arguments = _native_settings(model, wanted, self.n_levels)
        self.encoders_ = self._encoders(wanted, model)
        for encoder in self.encoders_:
            X = encoder.fit(X, sample_weight).transform(X)
        model.set_params(**settings)
        if self.to_frame is not None and not narrow(model, X, self.to_frame.source.own_names):
            # The estimator uses none of these columns, so that its prediction is constant.
            model = DummyClassifier() if is_classifier(self.estimator) else DummyRegressor()
        self.labels_ = None
        if wants_numbered_labels(self.estimator):
            self.labels_, y = np.unique(y, return_inverse=True)
        self.estimator_ = model.fit(X, y, **weight_arguments(model, sample_weight), **arguments)
        return self

    def predict(self, X: Matrix) -> NDArray[Any]:
        """Return the estimator's prediction for each row."""
        # CatBoost returns one column for labels of more than two classes.
        answer = np.asarray(self.estimator_.predict(self._encode(X)))
        answer = answer.ravel() if answer.ndim == 2 and answer.shape[1] == 1 else answer
        return answer if self.labels_ is None else np.asarray(self.labels_[answer.astype(np.intp)])

    @available_if(lambda self: hasattr(self._model, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Matrix) -> NDArray[Any]:
        """Return the estimator's probabilities, one column per class."""
        return np.asarray(self.estimator_.predict_proba(self._encode(X)))

    @available_if(lambda self: hasattr(self._model, "decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Matrix) -> NDArray[Any]:
        """Return the estimator's decision values."""
        return np.asarray(self.estimator_.decision_function(self._encode(X)))

    @available_if(lambda self: hasattr(self._model, "score"))  # type: ignore[untyped-decorator]
    def score(self, X: Matrix, y: NDArray[Any], **weights: Any) -> float:
        """Return the estimator's own score."""
        if self.labels_ is not None:
            numbers = {label: number for number, label in enumerate(self.labels_.tolist())}
            y = np.array([numbers.get(label, _UNSEEN) for label in np.asarray(y).tolist()])
        return float(self.estimator_.score(self._encode(X), y, **weights))

    def n_regressors(self, n_columns: int) -> NDArray[np.intp]:
        """Return the number of encoded columns of each column of the matrix, shape (n_columns,)."""
        counts = np.ones(n_columns, dtype=np.intp)
        for encoder in self.encoders_:
            if isinstance(encoder, Dummies):
                for column, places in encoder.places_.items():
                    counts[column] = places.max() + 1
        return counts

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels in the order of the estimator's probabilities."""
        labels = getattr(self, "labels_", None)
        return np.asarray(self._model.classes_ if labels is None else labels)

    @property
    def _model(self) -> Any:
        return getattr(self, "estimator_", self.estimator)

    def _encoders(self, wanted: Wanted, model: Any) -> list[Encoder]:
        """Return the encoders, in the order in which they are applied."""
        encoders: list[Encoder] = [] if self.impute is None else [Medians()]
        if wanted.encoding == "one-hot":
            encoders.append(Dummies(self.n_levels))
        if wanted.encoding == "native":
            limit = model.get_params()[f"{wanted.path}max_bins"] if wanted.library == "scikit-learn" else None
            encoders.append(NativeCodes(self.n_levels, limit, as_objects=wanted.library == "catboost"))
        if self.to_frame is not None:
            encoders.append(self.to_frame)
        return encoders

    def _encode(self, X: Matrix) -> Matrix:
        for encoder in self.encoders_:
            X = encoder.transform(X)
        return X

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "estimator_")

    def __sklearn_tags__(self) -> Tags:
        return get_tags(self.estimator)


def _native_settings(
    model: Any, wanted: Wanted, n_levels: NDArray[np.intp]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters, and the arguments of ``fit``, that declare which columns are categories."""
    settings: dict[str, Any] = {}
    if wanted.library == "scikit-learn":
        settings["categorical_features"] = n_levels > 0
    if wanted.library == "xgboost":
        settings["enable_categorical"] = True
        settings["feature_types"] = ["c" if n_categories else "q" for n_categories in n_levels]
        if model.get_params()[f"{wanted.path}tree_method"] in (None, "auto"):
            settings["tree_method"] = "hist"
    # LightGBM ignores the parameter, and CatBoost cannot be cloned with it; both, and the searches
    # around them, take it as an argument of fit.
    argument = {"lightgbm": "categorical_feature", "catboost": "cat_features"}.get(wanted.library)
    return (
        {f"{wanted.path}{name}": value for name, value in settings.items()},
        {} if argument is None else {argument: np.flatnonzero(n_levels).tolist()},
    )
