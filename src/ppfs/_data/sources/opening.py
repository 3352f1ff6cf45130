"""The source for a path."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path
from typing import Any

from ppfs._data.sources.hdf5 import Hdf5Source
from ppfs._data.sources.npy import NpySource
from ppfs._data.sources.parquet import ParquetSource
from ppfs._data.sources.source import ColumnSource
from ppfs._data.sources.text import convert_text
from ppfs._data.sources.zarr import ZarrSource
from ppfs.exceptions import InvalidInputError

_BY_ENDING: dict[str, type[Any]] = {
    ".npy": NpySource,
    ".parquet": ParquetSource,
    ".pq": ParquetSource,
    ".zarr": ZarrSource,
    ".h5ad": Hdf5Source,
    ".h5": Hdf5Source,
    ".hdf5": Hdf5Source,
}

_TEXT = (".csv", ".tsv", ".tab")


def is_path(X: Any) -> bool:
    """Return whether X is a path."""
    return isinstance(X, str | os.PathLike)


@lru_cache(maxsize=8)
def _converted(path: Path, n_bytes: int, changed: int) -> Path:
    """Convert a text file once in this process, and again only if it changes."""
    return convert_text(path)


def open_source(path: str | os.PathLike[str]) -> ColumnSource:
    """Return the source for a file or folder, by its extension.

    Raises
    ------
    InvalidInputError
        If there is no such file, or its extension is not known.
    """
    place = Path(path)
    if not place.exists():
        raise InvalidInputError(
            f"There is no file or folder {str(place)!r}. Pass an existing path, or the data."
        )
    if place.suffix.lower() in _TEXT:
        stat = place.stat()
        return ParquetSource(_converted(place, stat.st_size, stat.st_mtime_ns))
    kind = _BY_ENDING.get(place.suffix.lower())
    if kind is not None:
        source: ColumnSource = kind(place)
        return source
    if place.is_dir():
        is_zarr = any((place / name).exists() for name in (".zarray", "zarr.json"))
        return ZarrSource(place) if is_zarr else ParquetSource(place)
    known = ", ".join(sorted([*_BY_ENDING, *_TEXT]))
    raise InvalidInputError(
        f"{str(place)!r} cannot be read a few columns at a time: that works for {known} and "
        "folders of Parquet files. Read it into a data frame, or convert it first."
    )
