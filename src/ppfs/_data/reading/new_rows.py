"""New rows after a fit, read in the same way as the rows of the fit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import Matrix
from ppfs._data.columns import MISSING_LABEL, Columns
from ppfs._data.reading.columns import read_columns
from ppfs._data.reading.large_integers import beyond_floats
from ppfs._data.reading.readable import readable
from ppfs._data.table import Table
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class NewRows:
    """A reader of some columns of new rows, with the codes of categories from the fit.

    Attributes
    ----------
    columns : tuple of int
        The positions of the columns in X, in this order.

    names : tuple of str
        Their names.

    labels : tuple of tuple of str
        The categories of each column, in the order of their codes; empty for numbers. A category that was not in the
        fit has the next code.
    """

    columns: tuple[int, ...]
    names: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]

    @classmethod
    def like(cls, table: Table, columns: Sequence[int]) -> NewRows:
        """Return a reader of some columns of `table`."""
        return cls(
            tuple(columns),
            tuple(table.column_names[column] for column in columns),
            tuple(table.categories.get(column, ()) for column in columns),
        )

    @property
    def n_levels(self) -> NDArray[np.intp]:
        """The number of codes of each column, one of them for categories that were not in the fit; 0 for numbers."""
        return np.array([len(labels) + bool(labels) for labels in self.labels], dtype=np.intp)

    def read(self, X: Any, owner: object) -> Matrix:
        """Return the columns as numbers and codes, shape (n_rows, n_columns)."""
        chosen = self._chosen(readable(X))
        self._require_comparable(chosen)
        found = read_columns(chosen, owner=owner, min_rows=1)
        if sp.issparse(found.storage.matrix):
            return found.storage.matrix.tocsr()
        matrix = np.array(found.storage.matrix, dtype=np.float64)
        for place, labels in enumerate(self.labels):
            if labels:
                matrix[:, place] = _codes(found, place, labels)
            elif found.n_levels[place]:
                raise InvalidInputError(
                    f"{self.names[place]!r} held numbers in fit and holds text now, such as "
                    f"{found.categories[place][0]!r}. Pass the columns that were seen in fit."
                )
        return np.ascontiguousarray(matrix)

    def _require_comparable(self, chosen: Any) -> None:
        """Raise for integers that floats cannot represent: they are counted from another smallest one than in fit."""
        frame = nw.from_native(chosen, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            beyond = [bool(beyond_floats(column.to_numpy())) for column in frame.iter_columns()]
        else:
            beyond = [] if sp.issparse(chosen) else beyond_floats(chosen).tolist()
        if any(beyond):
            raise InvalidInputError(
                f"{self.names[beyond.index(True)]!r} holds integers beyond 2**53, which floats cannot represent, "
                "so a model cannot compare new rows with those of fit. Subtract the same number from all of them first."
            )

    def _chosen(self, X: Any) -> Any:
        wanted = list(self.columns)
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return frame[:, wanted].to_native()
        if sp.issparse(X):
            return X.tocsc()[:, wanted]
        array = np.asarray(X)
        return (np.array(X, dtype=object) if array.dtype.kind in "US" else array)[:, wanted]


def _codes(found: Columns, place: int, labels: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the codes of the fit for the values of a column of categories."""
    code = {label: number for number, label in enumerate(labels)}
    values = found.storage.matrix[:, place]
    if found.n_levels[place]:
        own = np.array([code.get(label, len(labels)) for label in found.categories[place]], dtype=np.float64)
        return np.asarray(own[values.astype(np.intp)])
    names = (MISSING_LABEL if np.isnan(value) else f"{value:.15g}" for value in values.tolist())
    return np.array([code.get(name, len(labels)) for name in names], dtype=np.float64)
