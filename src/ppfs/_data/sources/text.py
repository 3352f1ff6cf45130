"""Text files as shards of columns: text is read by rows, but growth reads columns."""

from __future__ import annotations

import atexit
import csv
import mmap
import os
import shutil
import sys
import tempfile
import traceback
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Progress, ProgressBar, as_many_as_fit
from ppfs._data.sources.text_format import TextFormat
from ppfs._data.written_numbers import NumberStyle
from ppfs._libraries import require_installed
from ppfs.exceptions import InvalidInputError

# Columns that hold numbers in this many rows are numeric.
_ROWS_LOOKED_AT = 200

# This many values are kept in memory while they are transposed.
_VALUES_AT_ONCE = 2**24

# A Parquet footer describes every column and is read for every block.
_COLUMNS_PER_SHARD = 2000

_TRUTH = {"true": 1.0, "false": 0.0}

# A quoted field may be longer than the csv module's limit of 128 kB.
csv.field_size_limit(2**31 - 1)


def convert_text(
    path: Path, folder: Path | None = None, *, format: TextFormat | None = None, progress: Progress = "log"
) -> Path:
    """Write the columns of a CSV file to Parquet shards, with bounded memory, and return their folder.

    Parameters
    ----------
    path : Path
        A text file with a header.

    folder : Path, default=None
        The folder of the shards. None: a temporary folder, which is deleted when the process ends.

    format : TextFormat, default=None
        The format of the file; None infers it from the extension.

    progress : bool or "log", default="log"
        Whether to report what is done and its progress.
    """
    require_installed("pyarrow", "Converting a CSV file", "files")
    format = TextFormat.of(path) if format is None else format
    if folder is None:
        folder = Path(tempfile.mkdtemp(prefix="ppfs-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
    if progress:
        print(
            f"{path.name} ({path.stat().st_size / 2**20:.0f} MiB) is text, which is read row by row, and a search "
            f"reads columns: they are first written to {folder}.",
            file=sys.stderr,
        )
    header, styles = _look_at(path, format)
    most_rows = _count_lines(path)
    _require_room(folder, 3 * 8 * most_rows * len(header), path)
    raw = folder / "values.raw"
    try:
        values: Any = np.memmap(raw, np.float64, "w+", shape=(len(header), most_rows))
        words, n_rows = _fill(values, path, format, header, styles, progress)
        values.flush()
        values = None
        texts = {column: some.to_arrow(format.missing_texts) for column, some in words.items()}
        _write_shards(folder, raw, (len(header), most_rows), header, texts, n_rows, path)
    except BaseException as error:
        # Windows does not remove a file that is mapped, and the frames of an error hold the mapping.
        traceback.clear_frames(error.__traceback__)
        values = None
        raise
    finally:
        raw.unlink(missing_ok=True)
    return folder


def number_styles(path: Path, format: TextFormat) -> dict[str, NumberStyle]:
    """Return the number style of each column of a text file, from the first rows."""
    names, styles = _look_at(path, format)
    return {name: style for name, style in zip(names, styles, strict=True) if style is not None}


def _records(path: Path, format: TextFormat) -> Iterator[tuple[int, list[str]]]:
    """Yield the line on which each row ends, and its fields; blank lines are skipped."""
    with path.open(encoding=format.encoding, newline="") as file:
        reader = csv.reader(
            file,
            delimiter=format.sep,
            quotechar=format.quotechar,
            skipinitialspace=format.has_spaces and format.sep != " ",
        )
        for record in reader:
            if len(record) > 1 or (record and record[0].strip()):
                yield reader.line_num, record


def _look_at(path: Path, format: TextFormat) -> tuple[list[str], list[NumberStyle | None]]:
    """Return the names of the columns and the number style of each; None for a column of text."""
    records = _records(path, format)
    _, header = next(records, (0, []))
    names = [name.strip() for name in header]
    if not names:
        raise InvalidInputError(f"{path} is empty. It needs a header row and rows below it.")
    rows = [_fields(record, line, names, path, format) for line, record in islice(records, _ROWS_LOOKED_AT)]
    if not rows:
        raise InvalidInputError(f"{path} has a header and no rows below it. There is nothing to learn from.")
    return names, [_style(column, format) for column in zip(*rows, strict=True)]


def _style(fields: Sequence[str], format: TextFormat) -> NumberStyle | None:
    """Return the number style of a column; None if it holds text."""
    known = {text for field in fields if (text := field.strip()) not in format.missing_texts}
    numbers = [text for text in known if text.lower() not in _TRUTH]
    return NumberStyle.of(numbers, format.decimals) if numbers else NumberStyle(format.decimal)


def _fields(record: list[str], line: int, names: Sequence[str], path: Path, format: TextFormat) -> list[str]:
    fields = record[1:] if format.has_row_names else record
    if len(fields) != len(names):
        raise InvalidInputError(
            f"{path}: line {line} has {len(fields)} fields, but the header has {len(names)}. Fix the line, or put "
            "quotes around texts that contain the separator."
        )
    return fields


def _number(field: str, style: NumberStyle, missing_texts: frozenset[str]) -> float | None:
    """Return a field as a number, NaN for a missing value, None for text."""
    text = field.strip()
    if text in missing_texts:
        return np.nan
    number = style.number(text)
    return _TRUTH.get(text.lower()) if number is None else number


def _count_lines(path: Path) -> int:
    """Return an upper bound of the number of rows."""
    with path.open("rb") as file:
        return 1 + sum(part.count(b"\n") for part in iter(lambda: file.read(2**22), b""))


def _require_room(folder: Path, n_bytes: int, path: Path) -> None:
    free = shutil.disk_usage(folder).free
    if n_bytes > free:
        raise InvalidInputError(
            f"The columns of {path} need {n_bytes / 2**30:.1f} GiB in {folder}, which has {free / 2**30:.1f} GiB free. "
            "Set TMPDIR to a folder on a larger disk, or convert the file to Parquet elsewhere."
        )


def _fill(
    values: NDArray[np.float64],
    path: Path,
    format: TextFormat,
    names: Sequence[str],
    styles: Sequence[NumberStyle | None],
    progress: Progress,
) -> tuple[dict[int, Words], int]:
    """Write the numbers of a file to their columns; return its text columns and the number of rows."""
    words = {column: Words() for column, style in enumerate(styles) if style is None}
    numeric = {column: style for column, style in enumerate(styles) if style is not None}
    block = np.empty((as_many_as_fit(_VALUES_AT_ONCE, len(names)), len(names)))
    columns = list(numeric)
    mapping: Any = values.base
    done = waiting = 0

    def put(n: int) -> None:
        values[:, done : done + n] = block[:n].T
        # Pages of a mapped file count as memory until they are released; their content is written to disk.
        if isinstance(mapping, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
            mapping.madvise(mmap.MADV_DONTNEED)

    with ProgressBar(f"reading {path.name}", values.shape[1], progress) as bar:
        for line, record in islice(_records(path, format), 1, None):
            fields = _fields(record, line, names, path, format)
            for column, some_words in words.items():
                some_words.append(fields[column])
            block[waiting, columns] = _numbers(fields, numeric, line, names, path, format)
            bar.advance()
            waiting += 1
            if waiting == len(block):
                put(waiting)
                done, waiting = done + waiting, 0
        put(waiting)
    return words, done + waiting


def _numbers(
    fields: list[str],
    numeric: Mapping[int, NumberStyle],
    line: int,
    names: Sequence[str],
    path: Path,
    format: TextFormat,
) -> Any:
    """Return the numbers of a row, with a fast path if all are plain."""
    wanted = fields if len(numeric) == len(fields) else [fields[column] for column in numeric]
    if all(style.decimal == "." and not style.unit for style in numeric.values()):
        try:
            return np.fromiter(map(float, wanted), np.float64, len(wanted))
        except ValueError:
            pass
    found = [
        _number(field, style, format.missing_texts)
        for field, style in zip(wanted, numeric.values(), strict=True)
    ]
    for column, field, number in zip(numeric, wanted, found, strict=True):
        if number is None:
            raise InvalidInputError(
                f"{path}: line {line} has {field!r} in {names[column]!r}, whose first {_ROWS_LOOKED_AT} rows are "
                "numbers. If it means a missing value, list it (--na on the command line); otherwise fix the line."
            )
    return found


class Words:
    """A column of text; each distinct text is stored once."""

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}
        self._rows: list[int] = []

    def append(self, word: str) -> None:
        """Add a row."""
        self._rows.append(self._codes.setdefault(word, len(self._codes)))

    def to_arrow(self, missing_texts: frozenset[str]) -> Any:
        """Return the column, with missing values in place of `missing_texts`."""
        import pyarrow as pa

        texts = [None if word.strip() in missing_texts else word for word in self._codes]
        return pa.DictionaryArray.from_arrays(
            pa.array(self._rows, pa.int32()), pa.array(texts, pa.string())
        ).cast(pa.string())


def _write_shards(
    folder: Path,
    raw: Path,
    shape: tuple[int, int],
    names: Sequence[str],
    texts: dict[int, Any],
    n_rows: int,
    path: Path,
) -> None:
    import pyarrow as pa
    import pyarrow.parquet as parquet

    stat = path.stat()
    values = np.memmap(raw, np.float64, "r", shape=shape)
    for first in range(0, len(names), _COLUMNS_PER_SHARD):
        some = range(first, min(first + _COLUMNS_PER_SHARD, len(names)))
        columns = [texts[column] if column in texts else pa.array(values[column, :n_rows]) for column in some]
        shard = folder / f"columns-{first:09d}.parquet"
        parquet.write_table(
            pa.table(columns, names=[names[column] for column in some]),
            shard,
            compression="none",
            use_dictionary=[names[column] for column in some if column in texts],
            write_statistics=False,
        )
        # The shards get the time of the text file, so that a checkpoint recognizes them.
        os.utime(shard, ns=(stat.st_atime_ns, stat.st_mtime_ns))
