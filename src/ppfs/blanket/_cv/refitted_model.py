"""The final model of `PPFSCV`, fitted on the selected columns of all rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._conventions import Floats, can_predict, n_rows_of
from ppfs._data import KindName, NewRows, Table, read_typed
from ppfs._fitting import (
    LabelProbabilities,
    Scorer,
    ToFrame,
    constant_model,
    fitted_clone,
    frame_for,
    naming_the_model,
    prepared,
    weight_arguments,
    weighted_score,
)
from ppfs.exceptions import InvalidInputError


def _refitted_has(name: str) -> Callable[[RefittedModel], bool]:
    """Return a check whether the fitted model, or before `fit` the caller's, has a method."""

    def check(self: RefittedModel) -> bool:
        if not self.refit:
            return False
        model = getattr(self, "estimator_", self.estimator)
        if name == "predict" and model is not None:
            return can_predict(model)
        return hasattr(DecisionTreeClassifier if model is None else model, name)

    return check


class RefittedModel:
    """A selector that predicts with a model of the selected columns."""

    estimator: Any
    refit: bool

    estimator_: Any
    scorer_: Scorer
    support_: NDArray[np.bool_]

    _reader: NewRows
    # The kind of target, where it has one, and whether the model predicts its response.
    _kind: KindName | None
    _has_response: bool

    def _fit_model(self, model: Any, table: Table) -> None:
        """Fit the model on the selected columns, in the caller's order, as `predict` will read them."""
        columns = np.flatnonzero(self.support_).tolist()
        self._reader = NewRows.like(table, columns)
        self._has_response = table.origin is not None
        kind = table.target_kind if table.origin is None else table.origin[0]
        self._kind = None if kind is None else kind.name
        if not columns:
            self.estimator_ = constant_model(table.task, table.task_name).fit(
                np.zeros((table.n_rows, 1)), table.y
            )
            return
        y = table.y
        if table.labels is not None and isinstance(model, LabelProbabilities):
            # Predictions are labels, as those of the caller's own classifier.
            model, y = model.estimator, table.labels.values
        chosen = table.X[:, columns]
        frame = frame_for(model, table)
        to_frame = None if frame is None else ToFrame(frame, self._reader.names)
        ready = prepared(model, self._reader.n_levels, None, to_frame)
        matrix = chosen.tocsr() if table.is_sparse else np.ascontiguousarray(chosen)
        with naming_the_model(ready, table, ()):
            self.estimator_ = fitted_clone(ready, matrix, y, **weight_arguments(ready, table.weights))

    def _read(self, X: Any) -> Any:
        check_is_fitted(self)
        if getattr(X, "ndim", 2) != 2:
            raise InvalidInputError(
                f"Expected 2D array, but X has the shape {X.shape}. Reshape your data: X.reshape(1, -1) is one row."
            )
        validate_data(self, X, skip_check_array=True, reset=False)
        return self._reader.read(X, owner=self) if self.support_.any() else np.zeros((n_rows_of(X), 1))

    @available_if(_refitted_has("predict"))  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict with the selected columns.

        Counts, amounts, ordered classes and survival times are predicted in the units of `estimator`; without one, as
        the response that this package predicts (docs/decisions/0281-responses.md).

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            All the columns that were seen in `fit`.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        seen = self._read(X)
        return np.asarray(self.estimator_.predict(seen))

    @available_if(_refitted_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[Any]:
        """Return the probabilities of the classes, shape (n_rows, n_classes); see `predict`."""
        seen = self._read(X)
        return np.asarray(self.estimator_.predict_proba(seen))

    @available_if(_refitted_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> NDArray[Any]:
        """Return the model's decision values; see `predict`."""
        seen = self._read(X)
        return np.asarray(self.estimator_.decision_function(seen))

    @available_if(_refitted_has("predict"))  # type: ignore[untyped-decorator]
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Score the model on other rows, with `scoring`.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            All the columns that were seen in `fit`.

        y : array-like of shape (n_rows,) or (n_rows, n_outputs)
            The truth, as in `fit`.

        sample_weight : array-like of shape (n_rows,), default=None
            How much each row counts.
        """
        seen = self._read(X)
        weights = None if sample_weight is None else np.asarray(sample_weight)
        return weighted_score(self.scorer_, self.estimator_, seen, *self._truth(y, weights))

    def _truth(self, y: Any, weights: Floats | None) -> tuple[NDArray[Any], Floats | None]:
        """Return a target as the model was fitted to it, and weights that are multiplied by the exposures of counts."""
        if self._kind is None:
            return np.asarray(y), weights
        target, exposure = read_typed(y, self._kind, owner=self)
        values = target.response.values if self._has_response else target.values
        if exposure is None or weights is None:
            return values, weights if exposure is None else exposure
        return values, weights * exposure

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, in the order of `predict_proba`."""
        check_is_fitted(self)
        return np.asarray(self.estimator_.classes_)
