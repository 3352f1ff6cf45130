"""Selections in JSON files, with a version, checked when they are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppfs.cli._failures import InputFailure
from ppfs.cli._json import parsed
from ppfs.cli.output.result import SCHEMA, SCHEMA_VERSION
from ppfs.cli.output.writing import replaced

_REQUIRED: dict[str, type | tuple[type, ...]] = {
    "data": str,
    "target": str,
    "method": str,
    "task": str,
    "selected": list,
    "columns": list,
    "warnings": list,
}

# What every entry of a list has.
_ENTRIES: dict[str, dict[str, type]] = {
    "columns": {"column": str, "selected": bool, "reason": str},
    "warnings": {"column": str, "kind": str, "finding": str, "flag": str},
}


def save(result: Mapping[str, Any], trace: Any, path: Path) -> None:
    """Write a result and the trace behind it, if there is one."""
    from ppfs._trace import as_plain

    document = {**result, "trace": None if trace is None else as_plain(trace)}
    with replaced(path) as place:
        place.write_text(json.dumps(document) + "\n", encoding="utf-8")


def load(path: str) -> dict[str, Any]:
    """Return a saved selection, or report what is wrong with the file."""
    try:
        document = parsed(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputFailure(
            f"There is no file {path!r}. Make one with: ppfs select ... --save {path}"
        ) from None
    except (OSError, ValueError) as error:
        raise InputFailure(
            f"{path!r} cannot be read as JSON: {error}. Is it a file made by --save?"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InputFailure(f"{path!r} is not a selection. Make one with: ppfs select ... --save {path}")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise InputFailure(
            f"{path!r} has layout {document.get('schema_version')!r}, but this version of ppfs reads layout "
            f"{SCHEMA_VERSION}. Select again, or use the version that wrote it: {document.get('ppfs')}."
        )
    _check(document, path)
    return document


def _check(document: Mapping[str, Any], path: str) -> None:
    def refuse(what: str) -> InputFailure:
        return InputFailure(f"{path!r} is damaged: {what}. Select again.")

    for key, kind in _REQUIRED.items():
        if not isinstance(document.get(key), kind):
            raise refuse(f"{key!r} is missing or of the wrong type")
    for key, entries in _ENTRIES.items():
        for entry in document[key]:
            for name, kind in entries.items():
                if not isinstance(entry, dict) or not isinstance(entry.get(name), kind):
                    raise refuse(f"{key!r} holds an entry without {name!r}")
    known = {row["column"] for row in document["columns"]}
    for name in document["selected"]:
        if not isinstance(name, str):
            raise refuse(f"'selected' holds {name!r}, which is not the name of a column")
        if name not in known:
            raise refuse(f"{name!r} is selected, but is not one of its columns")
