"""How a text file is written: encoding, separator, quotes, decimal comma; found out, never guessed in silence."""

from __future__ import annotations

import csv
import io
import re
from dataclasses import dataclass, replace
from itertools import islice

from ppfs.cli._failures import InputFailure

_HEAD = 1 << 20
_RECORDS = 200
_SEPARATORS = (",", ";", "\t", "|")
_SPOKEN = {"\t": "tab", " ": "space"}
_BY_NAME = {"tab": "\t", "\\t": "\t", "space": " ", "comma": ",", "semicolon": ";", "pipe": "|"}
_WITH_COMMA = re.compile(r"\s*[+-]?(\d{1,3}(\.\d{3})+|\d+),\d+([eE][+-]?\d+)?\s*")
_WITH_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
_WITH_THOUSANDS = re.compile(r"\s*[+-]?\d{1,3}(\.\d{3})+(,\d+)?\s*")
# Bytes that Windows-1252 leaves undefined.
_UNDEFINED = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")


@dataclass(frozen=True)
class Dialect:
    """How a text file is written.

    Attributes
    ----------
    encoding : str

    sep : str

    decimal : str

    thousands : str or None

    quotechar : str

    spaces : bool
        Whether spaces follow the separators.

    has_row_names : bool
        Whether rows have one field more than the header, as R writes them.
    """

    encoding: str = "utf-8"
    sep: str = ","
    decimal: str = "."
    thousands: str | None = None
    quotechar: str = '"'
    spaces: bool = False
    has_row_names: bool = False

    def described(self) -> str:
        """Say what is unlike a plain CSV file; "" where nothing is."""
        parts = []
        if self.sep != ",":
            parts.append(f"separator {_SPOKEN.get(self.sep, self.sep)!r}")
        if self.encoding != "utf-8":
            parts.append(
                "UTF-8 with a byte order mark"
                if self.encoding == "utf-8-sig"
                else f"encoding {self.encoding}"
            )
        if self.decimal == ",":
            parts.append("decimal comma")
        if self.thousands:
            parts.append(f"{self.thousands!r} between thousands")
        if self.quotechar != '"':
            parts.append(f"quotes {self.quotechar}")
        if self.has_row_names:
            parts.append("row names without a heading, left out")
        return ", ".join(parts)


def find_dialect(
    content: bytes, name: str, sep: str | None, encoding: str | None, decimal: str | None
) -> Dialect:
    """Find out how a text file is written; what the user says is believed."""
    encoding = encoding or _encoding(content)
    head = decoded(content[:_HEAD], name, encoding, is_part=len(content) > _HEAD)
    plain = Dialect(encoding=encoding, quotechar=_quotechar(head))
    if sep is not None:
        plain = replace(plain, sep=_BY_NAME.get(sep, sep))
        if len(plain.sep) != 1:
            raise InputFailure(f"--sep {sep!r} is not one character. Write it like ';' or tab.")
    else:
        plain = replace(plain, sep=_separator(head, plain.quotechar))
    records = _records(head, plain.sep, plain.quotechar)
    fields = [field for record in records[1:] for field in record]
    if decimal is None:
        n_commas = sum(_WITH_COMMA.fullmatch(field) is not None for field in fields)
        n_points = sum(_WITH_POINT.fullmatch(field) is not None for field in fields)
        decimal = "," if n_commas > n_points else "."
    has_thousands = decimal == "," and any(_WITH_THOUSANDS.fullmatch(field) for field in fields)
    n_header = len(records[0]) if records else 0
    return replace(
        plain,
        decimal=decimal,
        thousands="." if has_thousands else None,
        spaces=any(field.startswith(" ") for record in records for field in record[1:]),
        has_row_names=n_header > 0 and len(records) > 1 and all(len(r) == n_header + 1 for r in records[1:]),
    )


def decoded(content: bytes, name: str, encoding: str, *, is_part: bool = False) -> str:
    """Return bytes as text, or say where they are none."""
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


def lines_of_records(text: str, dialect: Dialect) -> list[int]:
    """Return the line of the file on which each record begins, the header's first; blank lines are none."""
    reader = csv.reader(io.StringIO(text), delimiter=dialect.sep, quotechar=dialect.quotechar)
    lines, start = [], 1
    for record in reader:
        if any(field.strip() for field in record) or len(record) > 1:
            lines.append(start)
        start = reader.line_num + 1
    return lines


def first_long_record(text: str, dialect: Dialect) -> tuple[int, int, int] | None:
    """Return line and width of the first record that is wider than the header, and the header's width."""
    reader = csv.reader(io.StringIO(text), delimiter=dialect.sep, quotechar=dialect.quotechar)
    width, start = None, 1
    for record in reader:
        if width is None:
            width = len(record) + dialect.has_row_names
        elif len(record) > width:
            return start, len(record), width
        start = reader.line_num + 1
    return None


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
    reader = csv.reader(io.StringIO(head), delimiter=sep, quotechar=quotechar)
    try:
        records = [record for record in islice(reader, _RECORDS) if record]
    except csv.Error:
        return []
    is_cut = len(head) >= _HEAD and len(records) < _RECORDS
    return records[:-1] if is_cut and len(records) > 1 else records


def _quotechar(head: str) -> str:
    """Return the single quote where fields are wrapped in it."""
    first = head.lstrip("\ufeff").split("\n", 1)[0].strip()
    wrapped = len(first) > 1 and first[0] == first[-1] == "'"
    return "'" if wrapped and '"' not in first else '"'
