"""Tables in JSON: a list of records, one record per line, or lists by column."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ppfs.cli._failures import InputFailure
from ppfs.cli._json import parsed

_ENDINGS = (".json", ".jsonl", ".ndjson")
_WAY_OUT = (
    'Write a list of records, [{"age": 50, "ill": "yes"}, ...], one record per line, or lists by column.'
)


def json_frame(content: bytes, name: str) -> Any | None:
    """Return a JSON file as a data frame; None where the content is not JSON and the name does not say it is."""
    is_named_so = Path(name).suffix.lower() in _ENDINGS
    if content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1] not in (b"[", b"{") and not is_named_so:
        return None
    try:
        value = _value(content.decode("utf-8-sig"))
    except ValueError as error:
        if not is_named_so:
            return None
        raise InputFailure(f"{name!r} is not valid JSON: {error}. {_WAY_OUT}") from error
    return _as_frame(value, name)


def _value(text: str) -> Any:
    try:
        return parsed(text)
    except ValueError:
        lines = [line for line in text.splitlines() if line.strip()]
        if len(lines) < 2:
            raise
        return [parsed(line) for line in lines]


def _as_frame(value: Any, name: str) -> Any:
    import pandas as pd

    if isinstance(value, dict) and value and all(isinstance(column, list) for column in value.values()):
        lengths = {len(column) for column in value.values()}
        if len(lengths) > 1:
            raise InputFailure(f"{name!r} holds columns of different lengths: {sorted(lengths)}. {_WAY_OUT}")
        value = [dict(zip(value, row, strict=True)) for row in zip(*value.values(), strict=True)]
    if not isinstance(value, list) or not all(isinstance(record, dict) for record in value):
        raise InputFailure(f"{name!r} is JSON, but not a table. {_WAY_OUT}")
    if not value:
        raise InputFailure(f"{name!r} holds no records. There is nothing to learn from.")
    for number, record in enumerate(value, 1):
        nested = [key for key, entry in record.items() if isinstance(entry, list | dict)]
        if nested:
            raise InputFailure(
                f"{name!r}: record {number} holds {type(record[nested[0]]).__name__} in {nested[0]!r}, where a number "
                "or text is needed. Give each part a column of its own."
            )
    return pd.DataFrame.from_records(value)
