"""How a text file is written: encoding, separator, quotes, decimal comma; detected, and reported to the user."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from ppfs._printable import listed
from ppfs.cli._failures import InputFailure

if TYPE_CHECKING:
    from ppfs._data import NumberStyle, TextFormat

_HEAD = 1 << 20
_RECORDS = 200
_SEPARATORS = (",", ";", "\t", "|")
_SPOKEN = {"\t": "tab", " ": "space", "\u00a0": "space", "\u202f": "space"}
_BY_NAME = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
# Bytes that Windows-1252 leaves undefined.
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


def find_format(
    content: bytes,
    name: str,
    *,
    sep: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    na: Sequence[str] = (),
) -> TextFormat:
    """Return how a text file is written; what the user specifies is used as it is."""
    from ppfs._data import MISSING_TEXTS, TextFormat

    encoding = encoding or _encoding(content)
    head = decoded(content[:_HEAD], name, encoding, is_part=len(content) > _HEAD)
    quotechar = _quotechar(head)
    if sep is not None:
        sep = _BY_NAME.get(sep, sep)
        if len(sep) != 1:
            raise InputFailure(f"--sep {sep!r} is not one character. Write it like ';' or tab.")
    else:
        sep = _separator(head, quotechar)
    records = _records(head, sep, quotechar)
    rows = records[1:]
    return TextFormat(
        sep=sep,
        encoding=encoding,
        decimals=_decimals([field for row in rows for field in row], sep) if decimal is None else (decimal,),
        quotechar=quotechar,
        missing_texts=MISSING_TEXTS | set(na),
        has_spaces=any(field.startswith(" ") for record in records for field in record[1:]),
        has_row_names=bool(rows) and all(len(row) == len(records[0]) + 1 for row in rows),
    )


def described(format: TextFormat, styles: Mapping[str, NumberStyle]) -> str:
    """Say what differs from a plain CSV file; "" where nothing does.

    Parameters
    ----------
    styles : mapping of str to NumberStyle
        How the columns write their numbers that are not written plainly.
    """
    parts = []
    if format.sep != ",":
        parts.append(f"separator {_SPOKEN.get(format.sep, format.sep)!r}")
    if format.encoding != "utf-8":
        parts.append(
            "UTF-8 with a byte order mark"
            if format.encoding == "utf-8-sig"
            else f"encoding {format.encoding}"
        )
    if format.decimal == ",":
        parts.append("decimal comma")
    other = [name for name, style in styles.items() if style.decimal != format.decimal]
    if other:
        parts.append(f"decimal {'comma' if format.decimal == '.' else 'point'} in {listed(other, 3)}")
    # A space that breaks no line is a space.
    for sign in sorted({_SPOKEN.get(style.thousands, style.thousands) for style in styles.values()} - {""}):
        parts.append(f"{sign!r} between thousands")
    for unit in sorted({style.unit for style in styles.values()} - {""}):
        names = [name for name, style in styles.items() if style.unit == unit]
        parts.append(f"numbers with {unit!r} in {listed(names, 3)}")
    if format.quotechar != '"':
        parts.append(f"quotes {format.quotechar}")
    if format.has_row_names:
        parts.append("row names without a heading, left out")
    return ", ".join(parts)


def _decimals(fields: Sequence[str], sep: str) -> tuple[str, ...]:
    """Return the decimal signs, the likelier one first.

    Most numbers are numbers with either sign, 101,087 and 1.234 among them; those that are with one only decide.
    Where none does, a comma between digits is a decimal sign beside semicolons, and else separates thousands.
    """
    from ppfs._data import is_number

    signed = {field for field in fields if "," in field or "." in field}
    with_point, with_comma = ({field for field in signed if is_number(field, sign)} for sign in ".,")
    n_points, n_commas = len(with_point - with_comma), len(with_comma - with_point)
    if n_points == n_commas == 0:
        has_commas_only = bool(with_comma) and not any("." in field for field in with_comma)
        return (",", ".") if sep == ";" and has_commas_only else (".", ",")
    return (",", ".") if n_commas > n_points else (".", ",")


def decoded(content: bytes, name: str, encoding: str, *, is_part: bool = False) -> str:
    """Return bytes as text, or report where they are not text."""
    try:
        # The last letter of a part may be cut.
        return content.decode(encoding, errors="ignore" if is_part else "strict")
    except LookupError:
        raise InputFailure(f"There is no encoding {encoding!r}. Try utf-8, latin-1 or utf-16.") from None
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InputFailure(
            f"{name!r} is not written in {encoding}: line {line} holds the byte {content[error.start]:#04x}. "
            "Leave --encoding out, or try latin-1."
        ) from error


def lines_of_records(text: str, format: TextFormat) -> list[int]:
    """Return the line of the file on which each record begins, the header's first; blank lines do not count."""
    return [line for line, _ in _numbered(text, format)]


def first_long_record(text: str, format: TextFormat) -> tuple[int, int, int] | None:
    """Return line and width of the first record that is wider than the header, and the header's width."""
    records = _numbered(text, format)
    width = _width_of_header(records) + format.has_row_names
    return next(((line, len(record), width) for line, record in records if len(record) > width), None)


def short_records(text: str, format: TextFormat) -> list[int]:
    """Return the lines on which records begin that are narrower than the header; blank lines do not count."""
    records = _numbered(text, format)
    width = _width_of_header(records) + format.has_row_names
    return [line for line, record in records if len(record) < width and any(map(str.strip, record))]


def _width_of_header(records: Iterator[tuple[int, list[str]]]) -> int:
    return len(next((record for _, record in records), []))


def _numbered(text: str, format: TextFormat) -> Iterator[tuple[int, list[str]]]:
    """Yield each record with the line of the file on which it begins; blank lines are left out."""
    reader = _reader(text, format.sep, format.quotechar)
    start = 1
    for record in reader:
        if any(map(str.strip, record)) or len(record) > 1:
            yield start, record
        start = reader.line_num + 1


def _encoding(content: bytes) -> str:
    if content.startswith(b"\xef\xbb\xbf"):
        return "utf-8-sig"
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "latin-1" if _UNDEFINED.search(content) else "windows-1252"
    return "utf-8"


def _separator(head: str, quotechar: str) -> str:
    """Return the separator that divides most rows into as many fields as the header."""

    def score(sep: str) -> tuple[bool, float]:
        records = _records(head, sep, quotechar)
        width = len(records[0]) if records else 0
        if width < 2 and not (records[1:] and all(len(record) == 2 for record in records[1:])):
            return False, 0.0
        rows = records[1:] or records
        agree = sum(len(record) in (width, width + 1) for record in rows) / len(rows)
        return agree > 0.9, agree * width

    best = max(_SEPARATORS, key=score)
    if score(best)[1]:
        return best
    return " " if score(" ")[0] else ","


def _records(head: str, sep: str, quotechar: str) -> list[list[str]]:
    records = [record for record in islice(_reader(head, sep, quotechar), _RECORDS) if record]
    is_cut = len(head) >= _HEAD and len(records) < _RECORDS
    return records[:-1] if is_cut and len(records) > 1 else records


def _reader(text: str, sep: str, quotechar: str) -> Any:
    """Return a reader of records, whose lines end as those of any system do."""
    return csv.reader(io.StringIO(text, newline=None), delimiter=sep, quotechar=quotechar)


def _quotechar(head: str) -> str:
    """Return the single quote where fields are wrapped in it."""
    first = head.lstrip("\ufeff").partition("\n")[0].strip()
    wrapped = len(first) > 1 and first[0] == first[-1] == "'"
    return "'" if wrapped and '"' not in first else '"'
