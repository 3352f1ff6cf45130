"""A source in the place of a matrix: columns are read when asked for, and only candidates are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import Block, Matrix
from ppfs._data.facts import ColumnFacts
from ppfs._data.kinds import ColumnKinds, holds_few_whole_numbers
from ppfs._data.sources.source import ColumnSource, Reader
from ppfs.exceptions import InvalidInputError, UnusableColumnError


@dataclass(frozen=True)
class FileBlock:
    """Some columns of a file that whoever works on them reads: cheap to send."""

    path: Path
    reader: Reader
    rows: NDArray[np.intp] | None
    names: tuple[str, ...]

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return len(self.names)

    def take(self, columns: NDArray[np.intp]) -> FileBlock:
        """Return some of the columns, unread."""
        places = columns.tolist()
        names = tuple(self.names[place] for place in places)
        return FileBlock(self.path, self.reader.take(places), self.rows, names)

    def read(self) -> Block:
        """Read the columns, or say which of them holds what no model can take."""
        X = self.reader()
        if self.rows is not None:
            X = sp.csc_array(X.tocsr()[self.rows]) if sp.issparse(X) else X[self.rows]
        block = Block(X, np.zeros(len(self.names), dtype=np.intp), self.names)
        wrong = block.facts.has_missing | block.facts.has_infinite
        if wrong.any():
            name = self.names[int(np.flatnonzero(wrong)[0])]
            raise UnusableColumnError(
                f"Column {name!r} of {self.path} has missing or infinite values. Columns that are read from a "
                "file as they are needed must hold finite numbers: impute them first, or leave such columns out with "
                "on_error='drop'."
            )
        return block


class LazyColumns:
    """The columns of a source as a matrix that is not there.

    ``X[:, columns]`` reads columns and keeps them: what a search takes is what it comes back to, the candidates.
    The growth phase takes blocks, which are not kept.

    Parameters
    ----------
    source : ColumnSource

    chosen : ndarray of int
        Which columns of the source these are.

    rows : ndarray of int or None
        Which of its rows; None for all.

    memory_limit : int
        Bytes that the columns that are kept may take.
    """

    dtype = np.dtype(np.float64)
    ndim = 2

    def __init__(
        self, source: ColumnSource, chosen: NDArray[np.intp], rows: NDArray[np.intp] | None, memory_limit: int
    ) -> None:
        self.source = source
        self.chosen = chosen
        self.rows = rows
        self.memory_limit = memory_limit
        self.loaded: dict[int, NDArray[np.float64]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.source.n_rows if self.rows is None else len(self.rows), len(self.chosen)

    @property
    def is_sparse(self) -> bool:
        """Whether columns are stored sparsely."""
        return self.source.is_sparse

    @property
    def bytes_per_column(self) -> int:
        """How much a column takes in memory, on average."""
        return self.source.bytes_per_column

    @property
    def facts(self) -> ColumnFacts:
        """What can be told before any column is read: nothing that speaks against them."""
        none = np.zeros(len(self.chosen), dtype=bool)
        return ColumnFacts(np.zeros(len(none)), np.ones(len(none)), none, none, none, none)

    def identity(self) -> bytes:
        """Return what tells these columns from others."""
        rows = b"all" if self.rows is None else self.rows.tobytes()
        return b"\n".join([self.source.identity().encode(), self.chosen.tobytes(), rows])

    def of_rows(self, index: NDArray[np.intp]) -> LazyColumns:
        """Return the same columns with some of the rows."""
        rows = index if self.rows is None else self.rows[index]
        return LazyColumns(self.source, self.chosen, rows, self.memory_limit)

    def block(self, columns: Sequence[int], names: tuple[str, ...]) -> FileBlock:
        """Return some columns for a task of the growth phase, unread."""
        reader = self.source.reader(self.chosen[list(columns)].tolist())
        return FileBlock(self.source.path, reader, self.rows, names)

    def __getitem__(self, key: tuple[slice, Sequence[int]]) -> Matrix:
        """Read some columns, or take them from those that are kept."""
        columns = [int(column) for column in key[1]]
        new = [column for column in dict.fromkeys(columns) if column not in self.loaded]
        if new:
            self._load(new)
        dense = np.column_stack([self.loaded[column] for column in columns])
        return sp.csc_array(dense) if self.is_sparse else dense

    def _load(self, columns: list[int]) -> None:
        needed = (len(self.loaded) + len(columns)) * self.shape[0] * 8
        if needed > self.memory_limit:
            raise InvalidInputError(
                f"{len(self.loaded) + len(columns)} candidates take {needed / 2**20:.0f} MiB, more than memory_limit="
                f"{self.memory_limit / 2**20:.0f} MiB. Raise memory_limit, lower alpha, or set correction='bh', which "
                "keeps columns of noise from becoming candidates."
            )
        block = self.block(columns, tuple(f"column {column}" for column in columns)).read()
        X = block.X.toarray() if sp.issparse(block.X) else block.X
        for place, column in enumerate(columns):
            self.loaded[column] = np.ascontiguousarray(X[:, place], dtype=np.float64)


class LazyKinds(ColumnKinds):
    """The kinds of the columns that were read so far; of the others nothing is known, and nobody asks."""

    def __init__(self, X: LazyColumns) -> None:
        super().__init__(X, np.zeros(X.shape[1], dtype=np.intp), from_values=True)
        self._lazy = X
        self._mask = np.zeros(X.shape[1], dtype=bool)
        self._seen: set[int] = set()

    @property
    def categorical_mask(self) -> Any:
        """Which columns are categorical, shape (n_columns,)."""
        for column in self._lazy.loaded.keys() - self._seen:
            self._mask[column] = holds_few_whole_numbers(self._lazy.loaded[column])
            self._seen.add(column)
        return self._mask

    def described(self, names: Sequence[str]) -> str:
        """Say nothing: most columns were never looked at in this way."""
        return ""
