"""The output of `transform`: the selected columns, in the caller's kind of table."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ppfs._conventions import output_config, warn_caller
from ppfs._data import Lags, is_on_device, is_path, open_source, readable
from ppfs.exceptions import InvalidInputError


class FrameSelector(SelectorMixin):
    """A selector that accepts weights, and whose `transform` keeps the column types of any data frame.

    scikit-learn's own method keeps the types of pandas columns, but converts other frames to one array, in which
    numbers beside text are objects. A subclass sets `support_` in ``fit``, `_column_names` and `_has_missing_labels`.
    """

    # Arguments that metadata routing may pass to fit.
    __metadata_request__fit: ClassVar[dict[str, None]] = {"sample_weight": None}

    support_: NDArray[np.bool_]

    _column_names: Sequence[str]

    _has_missing_labels: bool = False

    # The lagged copies that the columns of the fit include.
    _lags: Lags | None = None

    def _get_support_mask(self) -> NDArray[np.bool_]:
        check_is_fitted(self)
        return self.support_

    def transform(self, X: Any) -> Any:
        """Reduce X to the selected columns.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_columns)
            The columns that were seen in `fit`. Where it made lagged copies, rows in the order of time: the first of
            them have no past, and their copies are missing.

        Returns
        -------
        array, sparse matrix or data frame of shape (n_rows, n_selected)
            An array, or what ``set_output`` asks for: the columns of a data frame then keep their types.
        """
        check_is_fitted(self)
        if is_path(X):
            return self._transform_file(X)
        if is_on_device(X):
            return self._transform_on_device(X)
        X = readable(X)
        wanted = output_config("transform", estimator=self)["dense"]
        if self._lags is not None:
            # Copies are missing in the first rows, which scikit-learn's own method would reject.
            return self._transform_frame(self._lags.added(X), wanted)
        is_other_frame = nw.dependencies.is_into_dataframe(X) and not nw.dependencies.is_pandas_dataframe(X)
        if not self.get_support().any():
            return self._transform_to_nothing(X)
        if wanted == "default" or not is_other_frame:
            return super().transform(X)
        return self._transform_frame(X, wanted)

    def _transform_frame(self, X: Any, wanted: str) -> Any:
        """Return the selected columns of a data frame, in the library that is wanted, or as an array."""
        validate_data(self, X, skip_check_array=True, reset=False)
        frame = nw.from_native(X, eager_only=True)
        selected = frame[:, np.flatnonzero(self.get_support()).tolist()]
        if wanted == "default":
            return selected.to_numpy()
        if wanted != "pandas" or nw.dependencies.is_pandas_dataframe(X):
            return selected.to_native()
        columns = {name: selected[name].to_numpy() for name in selected.columns}
        return nw.from_dict(columns, backend="pandas").to_native()

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the selected columns; a column that is named by an integer has its digits as a name.

        Parameters
        ----------
        input_features : array-like of str, default=None
            The names of all columns, the same as in `fit`.

        Returns
        -------
        ndarray of str
        """
        check_is_fitted(self)
        if input_features is None and not hasattr(self, "feature_names_in_"):
            input_features = [str(name) for name in self._column_names]
        return np.asarray(super().get_feature_names_out(input_features))

    def _transform_to_nothing(self, X: Any) -> Any:
        """Return a table without columns, with a warning that points to the caller's line."""
        has_way_out = hasattr(self, "min_features")
        way_out = " Pass min_features=1 to get the one that came closest." if has_way_out else ""
        warn_caller(
            "No features were selected, so a model after this selector has no columns to be fitted on."
            + way_out,
            UserWarning,
        )
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "No features were selected")
            return super().transform(X)

    def _transform_on_device(self, X: Any) -> Any:
        """Return the selected columns of an array of a GPU, where it is."""
        if X.shape[1] != self.support_.size:
            raise InvalidInputError(
                f"X has {X.shape[1]} columns, but {self.support_.size} were seen in fit. Pass the columns of the fit."
            )
        return X[:, np.flatnonzero(self.get_support()).tolist()]

    def _transform_file(self, path: Any) -> Any:
        """Read the selected columns of a file, by name where it has names."""
        source = open_source(path)
        numbers = np.flatnonzero(self.get_support()).tolist()
        if source.has_names and hasattr(self, "feature_names_in_"):
            place = {name: number for number, name in enumerate(source.names)}
            missing = [name for name in self.feature_names_in_[numbers] if name not in place]
            if missing:
                raise InvalidInputError(
                    f"{path} lacks the selected columns {missing[:5]}. Pass a file that has them."
                )
            numbers = [place[name] for name in self.feature_names_in_[numbers]]
        elif source.n_columns != self.support_.size:
            raise InvalidInputError(
                f"{path} has {source.n_columns} columns, but {self.support_.size} were seen in fit."
            )
        return source.take(numbers) if numbers else np.empty((source.n_rows, 0))

    def inverse_transform(self, X: Any) -> Any:
        """Put selected columns back in their places, with zeros for the others.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_selected)
            What `transform` returned.

        Returns
        -------
        array or sparse matrix of shape (n_rows, n_columns)
        """
        return super().inverse_transform(readable(X))
