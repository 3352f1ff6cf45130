"""A selection without its search: a transformer that keeps named columns."""

from __future__ import annotations

from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_array

from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError


class SelectedColumns(TransformerMixin, BaseEstimator):
    """Keep the columns of a selection that was made earlier, in any table that has them.

    It needs no `fit`, and neither the search nor its models: a service that predicts with the selected columns needs
    nothing else. `from_json` reads one from a file.

    Parameters
    ----------
    selected : list of str
        The names of the columns to keep, in the order of the table.

    columns : list of str
        The names of all columns of the table that was searched. In an array, columns are found by their place in this
        list; in a data frame by name, wherever they are.

    See Also
    --------
    ppfs.export.from_json

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.export import SelectedColumns
    >>> keep = SelectedColumns(["b", "c"], ["a", "b", "c"])
    >>> keep.transform(np.array([[1, 2, 3], [4, 5, 6]]))
    array([[2, 3],
           [5, 6]])
    """

    def __init__(self, selected: list[str], columns: list[str]) -> None:
        self.selected = selected
        self.columns = columns

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Do nothing: the columns are given. Present for pipelines.

        Parameters
        ----------
        X, y : ignored
        """
        return self

    def get_support(self, indices: bool = False) -> NDArray[Any]:
        """Return which columns of the table that was searched are kept.

        Parameters
        ----------
        indices : bool, default=False
            Whether to return their places rather than a mask.
        """
        kept = set(self.selected)
        mask = np.array([name in kept for name in self.columns], dtype=bool)
        return np.flatnonzero(mask) if indices else mask

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """Return the names of the columns that are kept.

        Parameters
        ----------
        input_features : ignored
        """
        return np.array(self.selected, dtype=object)

    def transform(self, X: Any) -> Any:
        """Return the selected columns.

        Parameters
        ----------
        X : data frame, array or sparse matrix
            A frame needs the selected columns only, in any order; an array all columns of the table that was searched.

        Returns
        -------
        data frame, array or sparse matrix
            Of the same kind as `X`.
        """
        if nw.dependencies.is_into_dataframe(X):
            frame = nw.from_native(X, eager_only=True)
            missing = [name for name in self.selected if name not in frame.columns]
            if missing:
                raise InvalidInputError(
                    f"The table lacks {len(missing)} of the {len(self.selected)} selected columns: {listed(missing)}. "
                    "Pass a table that has them; the others are not needed."
                )
            return frame.select(self.selected).to_native()
        X = check_array(X, accept_sparse="csc", dtype=None, ensure_all_finite=False, ensure_min_features=0)
        if X.shape[1] != len(self.columns):
            raise InvalidInputError(
                f"The array has {X.shape[1]} columns, but the table that was searched had {len(self.columns)}. Pass "
                "all of them in the same order, or a data frame, whose columns are found by name."
            )
        return X[:, self.get_support()]

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags: nothing has to be fitted, and missing values may pass."""
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.allow_nan = True
        tags.input_tags.sparse = True
        return tags
