"""NumPy files, in C or Fortran order."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from ppfs._data.sources.source import ColumnSource, NumberedNames
from ppfs.exceptions import InvalidInputError


class NpySource(ColumnSource):
    """A ``.npy`` file of shape (n_rows, n_columns).

    It is read, not memory-mapped: pages of a mapped file count as memory of the process.
    """

    has_names = False

    def __init__(self, path: Path) -> None:
        self.path = path
        with path.open("rb") as file:
            try:
                version = npy_format.read_magic(file)
                read = (
                    npy_format.read_array_header_1_0
                    if version == (1, 0)
                    else npy_format.read_array_header_2_0
                )
                shape, self._is_fortran, self._dtype = read(file)
            except ValueError as error:
                raise InvalidInputError(f"{path} is not a .npy file: {error}.") from error
            self._start = file.tell()
        if len(shape) != 2 or self._dtype.kind not in "biuf":
            raise InvalidInputError(
                f"{path} holds an array of shape {shape} and type {self._dtype}. Two dimensions of numbers are needed, "
                "one row per observation."
            )
        self.n_rows, n_columns = shape
        self.names = NumberedNames(n_columns)
        self.bytes_per_column = self.n_rows * 8

    def take(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Read some columns; neighboring ones together."""
        out = np.empty((self.n_rows, len(columns)), order="F")
        with self.path.open("rb") as file:
            for first, numbers in _runs(columns):
                out[:, first : first + len(numbers)] = self._read_run(file, numbers[0], len(numbers))
        return out

    def _read_run(self, file: Any, column: int, n: int) -> NDArray[Any]:
        """Read neighboring columns."""
        size = self._dtype.itemsize
        if self._is_fortran:
            file.seek(self._start + column * self.n_rows * size)
            return self._values(file, n * self.n_rows).reshape(n, self.n_rows).T
        rows = np.empty((self.n_rows, n), dtype=self._dtype)
        for row in range(self.n_rows):
            file.seek(self._start + (row * self.n_columns + column) * size)
            rows[row] = self._values(file, n)
        return rows

    def _values(self, file: Any, n: int) -> NDArray[Any]:
        values = np.frombuffer(file.read(n * self._dtype.itemsize), dtype=self._dtype)
        if values.size < n:
            raise InvalidInputError(f"{self.path} ends before its last value: the file is incomplete.")
        return values


def _runs(columns: Sequence[int]) -> list[tuple[int, list[int]]]:
    """Divide columns into runs of neighbors, each with its position among the columns.

    Examples
    --------
    >>> _runs([4, 5, 6, 9])
    [(0, [4, 5, 6]), (3, [9])]
    """
    grouped = groupby(enumerate(columns), key=lambda pair: pair[1] - pair[0])
    return [(run[0][0], [column for _, column in run]) for run in (list(pairs) for _, pairs in grouped)]
