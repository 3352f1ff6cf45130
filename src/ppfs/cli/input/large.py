"""Text files that do not fit in memory, which are converted to columns first."""

from __future__ import annotations

from pathlib import Path

from ppfs.cli._failures import InputFailure
from ppfs.cli.flags.data import DataRequest
from ppfs.cli.input.dialect import described, find_format

# Text that is read at once takes up to _TIMES its size in memory; it may take 1 / _SHARE of what is free.
_TIMES, _SHARE = 6, 2

_HEAD = 1 << 20
_TEXT = (".csv", ".tsv", ".tab", ".txt")


def is_text(data: str) -> bool:
    """Return whether a path names a text file."""
    path = Path(data)
    return path.suffix.lower() in _TEXT and path.is_file()


def is_too_large(data: str) -> bool:
    """Return whether a text file would not fit in memory."""
    path = Path(data)
    if data == "-" or not is_text(data):
        return False
    from ppfs._data import available_memory

    return path.stat().st_size * _TIMES > available_memory() // _SHARE


def as_columns(request: DataRequest, data: str, quiet: bool) -> tuple[Path, list[str]]:
    """Return where the columns of a file are, and messages about the reading.

    The columns are in the file itself or, of a text file, in Parquet files made from it.
    """
    path = Path(data)
    if not is_text(data):
        return path, []
    from ppfs._data import convert_text, number_styles
    from ppfs.exceptions import InvalidInputError

    with path.open("rb") as file:
        # Up to the end of a line, so that no letter is cut.
        head = file.read(_HEAD) + file.readline()
    format = find_format(
        head, path.name, sep=request.sep, encoding=request.encoding, decimal=request.decimal, na=request.na
    )
    try:
        notes = described(format, number_styles(path, format))
        columns = convert_text(path, format=format, progress=False if quiet else "log")
    except (InvalidInputError, ImportError, UnicodeError) as error:
        raise InputFailure(str(error)) from error
    return columns, [f"{path.name}: {notes}"] if notes else []
