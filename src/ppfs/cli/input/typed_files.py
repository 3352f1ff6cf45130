"""Files that have types: Parquet, Arrow and Excel."""

from __future__ import annotations

import io
from typing import Any

from ppfs._libraries import require_installed
from ppfs._printable import did_you_mean, listed
from ppfs.cli._failures import InputFailure

# How files of Excel before 2007 and files with a password begin.
_OLD = b"\xd0\xcf\x11\xe0"


def typed_frame(content: bytes, name: str, kind: str, sheet: str | None) -> tuple[Any, list[str]]:
    """Return a file as a data frame, and messages about it.

    Parameters
    ----------
    kind : {"parquet", "arrow", "excel"}

    sheet : str or None
        Of an Excel file; None takes the first.
    """
    if kind == "excel":
        return _excel(content, name, sheet)
    return (_parquet if kind == "parquet" else _arrow)(content, name), []


def _parquet(content: bytes, name: str) -> Any:
    import pandas as pd

    require_installed("pyarrow", "Reading Parquet files", "files")
    try:
        return pd.read_parquet(io.BytesIO(content))
    except (OSError, ValueError) as error:
        raise InputFailure(f"{name!r} begins like a Parquet file, but cannot be read: {error}") from error


def _arrow(content: bytes, name: str) -> Any:
    require_installed("pyarrow", "Reading Arrow files", "files")
    import pyarrow as pa

    try:
        opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        with opened(pa.BufferReader(content)) as reader:
            return reader.read_all().to_pandas()
    except (OSError, ValueError) as error:
        raise InputFailure(f"{name!r} begins like an Arrow file, but cannot be read: {error}") from error


def _excel(content: bytes, name: str, sheet: str | None) -> tuple[Any, list[str]]:
    from zipfile import BadZipFile

    import pandas as pd

    require_installed("openpyxl", "Reading Excel files", "excel")
    try:
        with pd.ExcelFile(io.BytesIO(content)) as book:
            sheets = [str(one) for one in book.sheet_names]
            chosen = sheets[0] if sheet is None else sheet
            if chosen not in sheets:
                raise InputFailure(
                    f"{name!r} has no sheet {sheet!r}.{did_you_mean(sheet, sheets)} The sheets are {listed(sheets)}."
                )
            frame = pd.read_excel(book, sheet_name=chosen)
    except (ValueError, KeyError, OSError, ImportError, BadZipFile) as error:
        if content.startswith(_OLD):
            raise InputFailure(
                f"{name!r} has the format of Excel before 2007, or a password. Save it as .xlsx without one, or as CSV."
            ) from error
        raise InputFailure(f"{name!r} cannot be read as an Excel file: {error}") from error
    if sheet is None and len(sheets) > 1:
        return frame, [f"{name}: sheet {chosen!r} of {listed(sheets)} is read; choose another with --sheet"]
    return frame, []
