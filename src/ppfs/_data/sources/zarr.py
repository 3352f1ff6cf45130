"""Zarr arrays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data.sources.source import ColumnSource, NumberedNames
from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError


class ZarrSource(ColumnSource):
    """A zarr array of shape (n_rows, n_columns) in a folder; chunks of whole columns are read fastest."""

    has_names = False

    def __init__(self, path: Path) -> None:
        self.path = path
        array = _opened(path)
        if len(array.shape) != 2 or np.dtype(array.dtype).kind not in "biuf":
            raise InvalidInputError(
                f"{path} holds an array of shape {array.shape} and type {array.dtype}. Two dimensions of numbers are "
                "needed, one row per observation."
            )
        self.n_rows = int(array.shape[0])
        self.names = NumberedNames(int(array.shape[1]))
        self.bytes_per_column = self.n_rows * 8

    def take(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Read some columns."""
        array = _opened(self.path)
        first, last = min(columns), max(columns)
        if last - first + 1 == len(columns) and list(columns) == list(range(first, last + 1)):
            return np.asarray(array[:, first : last + 1], dtype=np.float64)
        return np.asarray(array.oindex[:, list(columns)], dtype=np.float64)


def _opened(path: Path) -> Any:
    zarr = imported("zarr", "Reading a zarr array", "files")
    found = zarr.open(str(path), mode="r")
    if not hasattr(found, "shape"):
        raise InvalidInputError(
            f"{path} is a group of zarr arrays. Pass the path of one array, such as {path}/X."
        )
    return found
