"""Writing tables and other files, completely or not at all."""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ppfs._printable import listed
from ppfs.cli._terminal import CannotWriteError, say
from ppfs.cli.input import FrameRead
from ppfs.cli.output.cells import changed_texts, not_a_formula, spelled_out


def write_columns(table: FrameRead, names: Sequence[str], path: Path) -> None:
    """Write columns of a table as its file has them, text for text, in the format that the ending asks for.

    Texts that a spreadsheet would run as formulas are marked as text.
    """
    name = path.name.lower()
    is_text = name.removesuffix(".gz").endswith((".csv", ".tsv"))
    frame = table.written(names, has_types=not is_text)
    if is_text:
        frame, marked = changed_texts(frame, not_a_formula)
        if marked:
            say(
                f"{path}: {listed(marked, 3)} {'holds' if len(marked) == 1 else 'hold'} texts that begin like "
                "formulas; an apostrophe before each keeps spreadsheets from running it. A .parquet file has the exact "
                "texts."
            )
    with replaced(path) as place:
        _writer(name)(frame, place)


def _writer(name: str) -> Callable[[Any, Path], None]:
    if name.endswith(".parquet"):
        return lambda frame, place: frame.to_parquet(place, index=False)
    if name.endswith((".feather", ".arrow")):
        return lambda frame, place: frame.to_feather(place)
    if name.endswith(".xlsx"):
        return _write_workbook
    sep = "\t" if ".tsv" in name[-7:] else ","
    compression = "gzip" if name.endswith(".gz") else None
    return lambda frame, place: frame.to_csv(place, index=False, sep=sep, compression=compression)


def _write_workbook(frame: Any, place: Path) -> None:
    """Write an Excel file whose texts are texts: none is a formula, and control characters are spelled out."""
    import pandas as pd

    frame, _ = changed_texts(frame, spelled_out)
    # openpyxl leaves a damaged archive open where the disk is full, and Python prints a traceback for it.
    content = io.BytesIO()
    with pd.ExcelWriter(content, engine="openpyxl") as book:
        frame.to_excel(book, index=False)
        for row in book.book.active.iter_rows():
            for cell in row:
                if cell.data_type == "f":
                    cell.data_type = "s"
                    # Or editing the cell would make it a formula.
                    cell.quotePrefix = True
    place.write_bytes(content.getvalue())


@contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """Yield a place to write to, which is renamed to `path` once all is written.

    Pipes and devices, such as ``/dev/stdout``, are written to: a file in their place would end them.
    """
    is_kept = path.exists() and not path.is_file()
    place = path if is_kept else path.with_name(f".{path.name}.{os.getpid()}{path.suffix}")
    try:
        yield place
        if not is_kept:
            place.replace(path)
    except OSError as error:
        raise CannotWriteError(error.strerror or str(error), repr(str(path))) from error
    finally:
        if not is_kept:
            place.unlink(missing_ok=True)
