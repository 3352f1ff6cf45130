"""HDF5 files, including AnnData's h5ad."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from ppfs._data.block import Matrix
from ppfs._data.sources.source import ColumnSource, NumberedNames
from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError


class Hdf5Source(ColumnSource):
    """The matrix ``X`` of an HDF5 or h5ad file: dense, or sparse as AnnData writes it.

    Most h5ad files store sparse rows (csr); every block of columns then takes one pass over all rows. Files written
    with ``adata.X = adata.X.tocsc()`` are read much faster.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        with _opened(path) as file:
            if "X" not in file:
                raise InvalidInputError(f"{path} has no dataset 'X'; it has {sorted(file)}.")
            X = file["X"]
            self._format = _text(X.attrs.get("encoding-type", "dense")) if hasattr(X, "keys") else "dense"
            shape = X.attrs["shape"] if hasattr(X, "keys") else X.shape
            self.n_rows, n_columns = (int(size) for size in shape)
            self.is_sparse = hasattr(X, "keys")
            n_values = X["data"].shape[0] if self.is_sparse else self.n_rows * n_columns
            names = _names(file, n_columns)
        self.has_names = names is not None
        self.names = NumberedNames(n_columns) if names is None else names
        self.bytes_per_column = 1 + 12 * n_values // max(1, n_columns) if self.is_sparse else self.n_rows * 8

    def take(self, columns: Sequence[int]) -> Matrix:
        """Read some columns."""
        with _opened(self.path) as file:
            X = file["X"]
            if not self.is_sparse:
                order = np.argsort(columns, kind="stable")
                dense = np.empty((self.n_rows, len(columns)), order="F")
                dense[:, order] = X[:, np.asarray(columns)[order].tolist()]
                return dense
            if self._format == "csc_matrix":
                return _csc_columns(X, columns, self.n_rows)
            return _csr_columns(X, columns, (self.n_rows, self.n_columns))

    def column(self, name: str) -> Any:
        """Read a column of X, or of AnnData's observations, by name."""
        with _opened(self.path) as file:
            if "obs" in file and name in file["obs"]:
                return _observation(file["obs"][name])
        return super().column(name)


def _csc_columns(X: Any, columns: Sequence[int], n_rows: int) -> Any:
    indptr = X["indptr"][:]
    parts = [slice(int(indptr[column]), int(indptr[column + 1])) for column in columns]
    data = np.concatenate([X["data"][part] for part in parts]).astype(np.float64)
    indices = np.concatenate([X["indices"][part] for part in parts]).astype(np.int32)
    ends = np.cumsum([0, *(part.stop - part.start for part in parts)])
    return _tidy(sp.csc_array((data, indices, ends), shape=(n_rows, len(columns))))


def _csr_columns(X: Any, columns: Sequence[int], shape: tuple[int, int]) -> Any:
    """Extract columns from rows, a million values at a time."""
    place = np.full(shape[1], -1, dtype=np.int64)
    place[list(columns)] = np.arange(len(columns))
    indptr = X["indptr"][:]
    rows, places, values = [], [], []
    for first in range(0, int(indptr[-1]), 2**20):
        part = slice(first, min(first + 2**20, int(indptr[-1])))
        where = place[X["indices"][part]]
        chosen = np.flatnonzero(where >= 0)
        rows.append(np.searchsorted(indptr, first + chosen, side="right") - 1)
        places.append(where[chosen])
        values.append(X["data"][part][chosen].astype(np.float64))
    if not values:
        return sp.csc_array((shape[0], len(columns)))
    coordinates = (np.concatenate(rows), np.concatenate(places))
    return _tidy(sp.csc_array((np.concatenate(values), coordinates), shape=(shape[0], len(columns))))


def _tidy(matrix: Any) -> Any:
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _names(file: Any, n_columns: int) -> list[str] | None:
    """Return AnnData's names of the variables, or None."""
    if "var" not in file:
        return None
    var = file["var"]
    index = _text(var.attrs.get("_index", "_index")) if hasattr(var, "attrs") else "_index"
    if index not in var:
        return None
    names = [_text(name) for name in var[index][:]]
    return names if len(names) == n_columns and len(set(names)) == n_columns else None


def _observation(found: Any) -> Any:
    if hasattr(found, "keys"):
        labels = np.array([_text(label) for label in found["categories"][:]], dtype=object)
        return labels[found["codes"][:]]
    values = found[:]
    return np.array([_text(value) for value in values], dtype=object) if values.dtype.kind in "OS" else values


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


def _opened(path: Path) -> Any:
    h5py = imported("h5py", "Reading HDF5 or h5ad", "files")
    try:
        return h5py.File(path, "r")
    except OSError as error:
        raise InvalidInputError(f"{path} cannot be read as HDF5: {error}") from error
