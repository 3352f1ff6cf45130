"""A selection as a JSON document, with a version, checked when it is read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from ppfs._trace import Trace, as_plain
from ppfs._verdicts import given_with_rows
from ppfs.exceptions import InvalidInputError
from ppfs.report import column_rows, result_of

#: What a document says it is, and the version of its layout.
SCHEMA, SCHEMA_VERSION = "ppfs-selection", 1

_REQUIRED: dict[str, type] = {
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


def document_of(
    selector: Any, *, data: str, target: str, with_columns: bool = True, **more: Any
) -> dict[str, Any]:
    """Return everything that a result says, without the trace.

    Parameters
    ----------
    data, target : str
        What the table and the target are called.

    with_columns : bool, default=True
        Whether every column is listed; a million of them take a gigabyte.

    more : JSON values
        Further entries, such as "method" and "random_state".
    """
    from ppfs import __version__

    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "ppfs": __version__,
        "data": data,
        "target": target,
        **result_of(selector),
        "given_with_rows": list(given_with_rows(selector)),
        **more,
        "columns": column_rows(selector) if with_columns else [],
    }


def written(document: Mapping[str, Any], trace: Trace | None) -> str:
    """Return the text of a document and of the trace behind it, if there is one."""
    return json.dumps({**document, "trace": None if trace is None else as_plain(trace)}) + "\n"


def read_document(path: str | PathLike[str]) -> dict[str, Any]:
    """Return a saved selection, or raise an error that says what is wrong with the file."""
    name = fspath(path)
    make_one = f"Make one with: ppfs select ... --save {name}, or in Python with ppfs.export.to_json."
    try:
        document = json.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InvalidInputError(f"There is no file {name!r}. {make_one}") from None
    except RecursionError:
        raise InvalidInputError(f"{name!r} cannot be read as JSON: it is nested too deeply.") from None
    except (OSError, ValueError) as error:
        raise InvalidInputError(
            f"{name!r} cannot be read as JSON: {error}. Is it a file made by --save?"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != SCHEMA:
        raise InvalidInputError(f"{name!r} is not a selection. {make_one}")
    if document.get("schema_version") != SCHEMA_VERSION:
        raise InvalidInputError(
            f"{name!r} has layout {document.get('schema_version')!r}, but this version of ppfs reads layout "
            f"{SCHEMA_VERSION}. Select again, or use the version that wrote it: {document.get('ppfs')}."
        )
    _check(document, name)
    return document


def _check(document: Mapping[str, Any], path: str) -> None:
    def refuse(what: str) -> InvalidInputError:
        return InvalidInputError(f"{path!r} is damaged: {what}. Select again.")

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
