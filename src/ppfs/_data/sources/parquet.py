"""Parquet files, and folders of Parquet files with different columns of the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data.sources.source import ColumnSource
from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError, UnusableColumnError


class ParquetSource(ColumnSource):
    """A Parquet file, or a folder of shards, in the order of their names.

    The footer of a file describes every column, so a table of a million columns is faster to read in shards of some
    thousands.
    """

    has_names = True

    def __init__(self, path: Path) -> None:
        parquet = _pyarrow_parquet()
        self.path = path
        self._files = sorted(path.glob("*.parquet")) if path.is_dir() else [path]
        if not self._files:
            raise InvalidInputError(
                f"The folder {path} has no files *.parquet. Pass the folder of the shards."
            )
        names: list[str] = []
        self._starts: list[int] = []
        n_rows: dict[int, str] = {}
        for file in self._files:
            try:
                header = parquet.ParquetFile(file)
            except Exception as error:
                raise InvalidInputError(f"{file} cannot be read as Parquet: {error}") from error
            self._starts.append(len(names))
            names.extend(header.schema_arrow.names)
            n_rows.setdefault(header.metadata.num_rows, file.name)
        if len(n_rows) > 1:
            raise InvalidInputError(
                f"The shards in {path} must hold the same rows, but their numbers differ: "
                + ", ".join(f"{name!r} has {n}" for n, name in n_rows.items())
                + ". Shards hold different columns of the same rows."
            )
        repeated = [name for name, count in Counter(names).items() if count > 1]
        if repeated:
            raise InvalidInputError(
                f"Column names must be unique, but {', '.join(map(repr, sorted(repeated)[:5]))} occur twice in {path}."
            )
        self.names = names
        self.n_rows = next(iter(n_rows))
        self.bytes_per_column = self.n_rows * 8

    def take(self, columns: Sequence[int]) -> NDArray[np.float64]:
        """Read some columns, shard by shard."""
        return self.reader(columns)()

    def reader(self, columns: Sequence[int]) -> ShardReader:
        """Return a reader of some columns, without the names of all others."""
        of_file = np.searchsorted(self._starts, columns, side="right") - 1
        files = tuple(self._files[number] for number in of_file.tolist())
        return ShardReader(self.n_rows, files, tuple(self.names[column] for column in columns))

    def column(self, name: str) -> Any:
        """Read a column of any type by its name."""
        if name not in self.names:
            return super().column(name)
        number = self.names.index(name)
        file = self._files[int(np.searchsorted(self._starts, number, side="right")) - 1]
        table = _pyarrow_parquet().read_table(file, columns=[name], use_threads=False)
        return table.column(name).to_numpy(zero_copy_only=False)


@dataclass(frozen=True)
class ShardReader:
    """A reader of columns by name from several files.

    Attributes
    ----------
    files : tuple of Path
        The file of each column.

    names : tuple of str
        The name of each column.
    """

    n_rows: int
    files: tuple[Path, ...]
    names: tuple[str, ...]

    def __call__(self) -> NDArray[np.float64]:
        """Read the columns."""
        out = np.empty((self.n_rows, len(self.names)), order="F")
        for file in dict.fromkeys(self.files):
            places = [place for place, other in enumerate(self.files) if other == file]
            names = [self.names[place] for place in places]
            table = _pyarrow_parquet().read_table(file, columns=names, use_threads=False)
            for place, name in zip(places, names, strict=True):
                out[:, place] = _numbers(table.column(name), name)
        return out

    def take(self, places: Sequence[int]) -> ShardReader:
        """Return a reader of some of the columns."""
        return ShardReader(
            self.n_rows,
            tuple(self.files[place] for place in places),
            tuple(self.names[place] for place in places),
        )


def _numbers(column: Any, name: str) -> NDArray[Any]:
    import pyarrow

    kind = column.type
    is_number = (
        pyarrow.types.is_integer(kind) or pyarrow.types.is_floating(kind) or pyarrow.types.is_boolean(kind)
    )
    if not is_number:
        raise UnusableColumnError(
            f"Column {name!r} holds {kind}, but columns that are read from a file when needed must hold "
            "numbers. Leave it out with on_error='drop', encode it, or read the file into a data frame if that fits in "
            "memory."
        )
    values: NDArray[Any] = column.to_numpy().astype(np.float64)
    return values


def _pyarrow_parquet() -> Any:
    return imported("pyarrow.parquet", "Reading Parquet", "files")
