"""Columns that stay in a file: they are read when needed, and only candidates are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from ppfs._data.block import Block, Matrix, dense_column
from ppfs._data.facts import ColumnFacts
from ppfs._data.kinds import ColumnKinds, holds_few_whole_numbers
from ppfs._data.sources.source import ColumnSource, Reader
from ppfs._data.storage import vector_digest
from ppfs.exceptions import InvalidInputError, UnusableColumnError


@dataclass(frozen=True)
class FileBlock:
    """Some columns of a file, not read yet: small enough to send to the worker that reads them."""

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
        """Read the columns, or raise if one of them has missing or infinite values."""
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


class FileColumns:
    """Columns that stay in a file; see `ppfs._data.storage.Storage`.

    `take` and `column` keep what they read: a search reads its candidates again and again.
    The growth phase reads blocks, which are not kept.

    Parameters
    ----------
    chosen : ndarray of int
        Which columns of the source these are.

    rows : ndarray of int or None
        Which of its rows; None for all.

    memory_limit : int
        The most bytes that the columns that are kept may take.
    """

    matrix: Matrix = None
    is_in_memory = False

    def __init__(
        self, source: ColumnSource, chosen: NDArray[np.intp], rows: NDArray[np.intp] | None, memory_limit: int
    ) -> None:
        self.source = source
        self.chosen = chosen
        self.rows = rows
        self.memory_limit = memory_limit
        self._kept: dict[int, NDArray[np.float64]] = {}

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and of columns."""
        return self.source.n_rows if self.rows is None else len(self.rows), len(self.chosen)

    @property
    def is_sparse(self) -> bool:
        """Whether columns are stored sparsely."""
        return self.source.is_sparse

    @property
    def bytes_per_column(self) -> int:
        """Average size of a column when it is read, in bytes."""
        return self.source.bytes_per_column

    @property
    def facts(self) -> ColumnFacts:
        """What can be assumed before a column is read: `FileBlock.read` raises if a value is not finite."""
        none = np.zeros(len(self.chosen), dtype=bool)
        return ColumnFacts(np.zeros(len(none)), np.ones(len(none)), none, none, none, none)

    @property
    def loaded(self) -> Sequence[int]:
        """The columns that are in memory: those that were taken."""
        return sorted(self._kept)

    @property
    def n_more(self) -> int | None:
        """How many more columns may be loaded without exceeding `memory_limit`."""
        return max(0, self.memory_limit // (8 * self.shape[0]) - len(self._kept))

    @property
    def content(self) -> tuple[bytes | NDArray[Any], ...]:
        """What is hashed to identify these columns: names, sizes and times of the files, not their values."""
        rows = b"all" if self.rows is None else self.rows.tobytes()
        return (b"\n".join([self.source.identity().encode(), self.chosen.tobytes(), rows]),)

    def take(self, columns: Sequence[int]) -> Matrix:
        """Read some columns, or return those that are kept."""
        new = [column for column in dict.fromkeys(columns) if column not in self._kept]
        if new:
            self._load(new)
        dense = np.column_stack([self._kept[column] for column in columns])
        return sp.csc_array(dense) if self.is_sparse else dense

    def column(self, column: int) -> NDArray[Any]:
        """Return one column as a dense vector."""
        return dense_column(self.take([column]), 0)

    def digest(self, column: int, n_levels: int) -> bytes:
        """Return a digest of a column's values."""
        return vector_digest(self.column(column), n_levels)

    def block(self, columns: Sequence[int], n_levels: NDArray[np.intp], names: tuple[str, ...]) -> FileBlock:
        """Return some columns for a task of the growth phase, unread."""
        reader = self.source.reader(self.chosen[list(columns)].tolist())
        return FileBlock(self.source.path, reader, self.rows, names)

    def of_rows(self, index: NDArray[np.intp]) -> FileColumns:
        """Return the same columns with some of the rows."""
        rows = index if self.rows is None else self.rows[index]
        return FileColumns(self.source, self.chosen, rows, self.memory_limit)

    def _load(self, columns: list[int]) -> None:
        needed = (len(self._kept) + len(columns)) * self.shape[0] * 8
        if needed > self.memory_limit:
            raise InvalidInputError(
                f"{len(self._kept) + len(columns)} candidates take {needed / 2**20:.0f} MiB, more than memory_limit="
                f"{self.memory_limit / 2**20:.0f} MiB. Raise memory_limit, lower alpha, or set correction='bh', which "
                "keeps columns of noise from becoming candidates."
            )
        names = tuple(f"column {column}" for column in columns)
        X = self.block(columns, np.zeros(len(columns), dtype=np.intp), names).read().X
        for place, column in enumerate(columns):
            self._kept[column] = np.ascontiguousarray(dense_column(X, place), dtype=np.float64)


class FileKinds(ColumnKinds):
    """The kinds of the columns that were read so far; those of the others are unknown, and not needed."""

    def __init__(self, storage: FileColumns) -> None:
        super().__init__(None, np.zeros(storage.shape[1], dtype=np.intp), from_values=True)
        self._storage = storage
        self._mask = np.zeros(storage.shape[1], dtype=bool)
        self._seen: set[int] = set()

    @property
    def categorical_mask(self) -> Any:
        """Which columns are categorical, shape (n_columns,)."""
        for column in set(self._storage.loaded) - self._seen:
            self._mask[column] = holds_few_whole_numbers(self._storage.column(column))
            self._seen.add(column)
        return self._mask

    def for_part(self, storage: Any) -> FileKinds:
        """Return the kinds of the columns in some of the rows: those that are read there."""
        return FileKinds(storage)

    def described(self, names: Sequence[str]) -> str:
        """Return no description, because most columns are never read whole."""
        return ""
