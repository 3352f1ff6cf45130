"""The interface of sources of columns."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ppfs._data.block import Matrix
from ppfs.exceptions import InvalidInputError


class Reader(Protocol):
    """A reader of some columns of a file, small enough to send to another process."""

    def __call__(self) -> Matrix: ...

    def take(self, places: Sequence[int]) -> Reader:
        """Return a reader of some of the columns."""


@dataclass(frozen=True)
class ReaderByNumber:
    """A reader of columns by position."""

    read: Callable[[Sequence[int]], Matrix]
    columns: tuple[int, ...]

    def __call__(self) -> Matrix:
        """Read the columns."""
        return self.read(self.columns)

    def take(self, places: Sequence[int]) -> ReaderByNumber:
        """Return a reader of some of the columns."""
        return ReaderByNumber(self.read, tuple(self.columns[place] for place in places))


class ColumnSource(ABC):
    """Numeric columns in a file, read when needed.

    A source holds a path and the content of the header, so it can be sent to another process, which reads its columns.

    Attributes
    ----------
    path : Path
        The file, or the folder.

    names : sequence of str
        One name per column.

    has_names : bool
        Whether the file has names; otherwise columns are named x0, x1 and so on.

    bytes_per_column : int
        The average size of a column in memory.

    is_sparse : bool
        Whether columns are read as a csc_array.
    """

    path: Path
    names: Sequence[str]
    has_names: bool
    n_rows: int
    bytes_per_column: int
    is_sparse: bool = False

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    @abstractmethod
    def take(self, columns: Sequence[int]) -> Matrix:
        """Read some columns, shape (n_rows, len(columns)), as floats."""

    def reader(self, columns: Sequence[int]) -> Reader:
        """Return a reader of some columns, which can be sent to another process."""
        return ReaderByNumber(self.take, tuple(columns))

    def column(self, name: str) -> Any:
        """Read a column by its name, unconverted: for targets, groups and weights."""
        if name not in self.names:
            raise InvalidInputError(
                f"{self.path} has no column {name!r}. Its first columns are {self.names[:5]}."
            )
        values = self.take([self.names.index(name)])
        return np.asarray(values.toarray() if self.is_sparse else values).ravel()

    def identity(self) -> str:
        """Return a text that identifies this version of the file."""
        files = sorted(self.path.rglob("*")) if self.path.is_dir() else [self.path]
        stamps = [
            f"{file.name}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in files if file.is_file()
        ]
        return "\n".join([type(self).__name__, *stamps])


class NumberedNames(Sequence[str]):
    """The names x0, x1, ... without a string for each of a million columns."""

    def __init__(self, n: int) -> None:
        self._n = n

    def __len__(self) -> int:
        return self._n

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [f"x{i}" for i in range(*number.indices(self._n))]
        if not -self._n <= number < self._n:
            raise IndexError(number)
        return f"x{int(number) % self._n}"

    def index(self, value: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the position of a name."""
        number = int(value[1:]) if isinstance(value, str) and value[:1] == "x" and value[1:].isdigit() else -1
        if not 0 <= number < self._n or f"x{number}" != value:
            raise ValueError(f"{value!r} is not one of x0 to x{self._n - 1}")
        return number

    def __contains__(self, value: object) -> bool:
        try:
            self.index(value)
        except ValueError:
            return False
        return True
