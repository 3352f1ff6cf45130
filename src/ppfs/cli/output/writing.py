"""Writing tables and other files: whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ppfs.cli._failures import InputFailure, UsageFailure
from ppfs.cli._terminal import CannotWriteError
from ppfs.cli.input import FrameRead

_SUFFIXES = (".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow", ".xlsx")


def require_writable(path: str, flag: str) -> None:
    """Refuse a place that nothing can be written to, before the work is done."""
    parent = Path(path).absolute().parent
    if not parent.is_dir():
        raise InputFailure(f"{flag} {path}: there is no folder {str(parent)!r}. Make it first.")
    if Path(path).is_dir():
        raise InputFailure(f"{flag} {path} is a folder. Name a file in it.")


def require_table_suffix(path: str, flag: str) -> None:
    """Refuse a file whose name does not say how to write it."""
    if not path.lower().endswith(_SUFFIXES):
        raise UsageFailure(f"{flag} {path}: the name must end with one of {', '.join(_SUFFIXES)}.")
    require_writable(path, flag)


def write_columns(table: FrameRead, names: Sequence[str], path: str) -> None:
    """Write columns of a table as its file has them, text for text."""
    is_text = path.lower().removesuffix(".gz").endswith((".csv", ".tsv"))
    write_table(table.written(names, has_types=not is_text), path)


def write_table(frame: Any, path: str) -> None:
    """Write a data frame in the format that the name's ending asks for."""
    write = _writer(path.lower())
    try:
        with replaced(path) as place:
            write(frame, place)
    except ImportError as error:
        extra = "excel" if path.lower().endswith(".xlsx") else "files"
        raise InputFailure(
            f"Writing {path!r} needs {error.name or 'a library'}. Run: pip install 'ppfs[{extra}]'"
        ) from error


def _writer(name: str) -> Callable[[Any, Path], None]:
    if name.endswith(".parquet"):
        return lambda frame, place: frame.to_parquet(place, index=False)
    if name.endswith((".feather", ".arrow")):
        return lambda frame, place: frame.to_feather(place)
    if name.endswith(".xlsx"):
        return lambda frame, place: frame.to_excel(place, index=False, engine="openpyxl")
    sep = "\t" if ".tsv" in name[-7:] else ","
    compression = "gzip" if name.endswith(".gz") else None
    return lambda frame, place: frame.to_csv(place, index=False, sep=sep, compression=compression)


@contextmanager
def replaced(path: str) -> Iterator[Path]:
    """Give a place to write to, which takes the name of `path` once all is written."""
    final = Path(path)
    place = final.with_name(f".{final.name}.{os.getpid()}{final.suffix}")
    try:
        yield place
        place.replace(final)
    except OSError as error:
        raise CannotWriteError(error.strerror or str(error), repr(path)) from error
    finally:
        place.unlink(missing_ok=True)
