"""The columns that a model is fitted on, and the position of each feature among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data import Matrix, Table


@dataclass(frozen=True)
class Design:
    """A matrix of columns and their properties.

    Attributes
    ----------
    X : ndarray or csr_array of shape (n_rows, n_columns)

    places : dict of int to slice
        The columns of each feature, by its number.

    n_levels : ndarray of int, shape (n_columns,)
        The number of categories of each column that is stored as codes, else 0.

    categorical_mask : ndarray of bool, shape (n_columns,)
        Which columns are categorical, by their type or by their values; see `ppfs._data.kinds`.

    names : tuple of str
        The names of the features.

    column_names : tuple of str
        One name per column of X.
    """

    X: Matrix
    places: dict[int, slice]
    n_levels: NDArray[np.intp]
    categorical_mask: NDArray[np.bool_]
    names: tuple[str, ...]
    column_names: tuple[str, ...]

    @classmethod
    def of(cls, table: Table, variables: Sequence[int]) -> Design:
        """Take some variables of a table, in this order."""
        return cls(
            table.take(variables),
            dict(zip(variables, table.places(variables), strict=True)),
            table.n_levels_of(variables),
            table.categorical_mask(variables),
            table.names_of(variables),
            table.column_names_of(variables),
        )


def with_replaced(X: Matrix, place: slice, values: NDArray[np.float64]) -> Matrix:
    """Return a copy of X in which the columns of one feature hold other values.

    Parameters
    ----------
    values : ndarray of shape (n_rows, width)
    """
    if sp.issparse(X):
        columns = X.tocsc()
        parts = [columns[:, : place.start], sp.csc_array(values), columns[:, place.stop :]]
        return sp.hstack([part for part in parts if part.shape[1]], format="csr")
    replaced = np.array(X)
    replaced[:, place] = values
    return replaced


def stacked(copies: list[Matrix]) -> Matrix:
    """Stack copies, so that a model predicts all of them in one call."""
    if len(copies) == 1:
        return copies[0]
    return sp.vstack(copies, format="csr") if sp.issparse(copies[0]) else np.concatenate(copies)


def dense(X: Matrix) -> NDArray[np.float64]:
    """Return a matrix of few columns as a dense array."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=np.float64)
