"""Files that have types: Parquet, Arrow and Excel."""

from __future__ import annotations

import io
from typing import Any

from ppfs._libraries import require_installed
from ppfs.cli._failures import InputFailure


def typed_frame(content: bytes, name: str, kind: str, sheet: str | None) -> Any:
    """Return a file as a data frame.

    Parameters
    ----------
    kind : {"parquet", "arrow", "excel"}

    sheet : str or None
        Of an Excel file; None takes the first.
    """
    readers = {"parquet": _parquet, "arrow": _arrow, "excel": _excel}
    return readers[kind](content, name, sheet)


def _parquet(content: bytes, name: str, _: str | None) -> Any:
    import pandas as pd

    require_installed("pyarrow", "Reading Parquet files", "files")
    try:
        return pd.read_parquet(io.BytesIO(content))
    except (OSError, ValueError) as error:
        raise InputFailure(f"{name!r} begins like a Parquet file, but cannot be read: {error}") from error


def _arrow(content: bytes, name: str, _: str | None) -> Any:
    require_installed("pyarrow", "Reading Arrow files", "files")
    import pyarrow as pa

    try:
        opened = pa.ipc.open_file if content.startswith(b"ARROW1") else pa.ipc.open_stream
        with opened(pa.BufferReader(content)) as reader:
            return reader.read_all().to_pandas()
    except (OSError, ValueError) as error:
        raise InputFailure(f"{name!r} begins like an Arrow file, but cannot be read: {error}") from error


def _excel(content: bytes, name: str, sheet: str | None) -> Any:
    from zipfile import BadZipFile

    import pandas as pd

    require_installed("openpyxl", "Reading Excel files", "excel")
    try:
        return pd.read_excel(io.BytesIO(content), sheet_name=0 if sheet is None else sheet)
    except (ValueError, KeyError, OSError, ImportError, BadZipFile) as error:
        raise InputFailure(f"{name!r} cannot be read as an Excel file: {error}") from error
