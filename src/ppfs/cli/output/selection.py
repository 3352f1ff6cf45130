"""Selections in JSON files: written completely or not at all, and read with the errors of the command line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ppfs.cli._failures import InputFailure
from ppfs.cli.output.writing import replaced


def save(result: Mapping[str, Any], trace: Any, path: Path) -> None:
    """Write a result and the trace behind it, if there is one."""
    from ppfs.export import written

    with replaced(path) as place:
        place.write_text(written(result, trace), encoding="utf-8")


def load(path: str) -> dict[str, Any]:
    """Return a saved selection, or report what is wrong with the file."""
    from ppfs.exceptions import InvalidInputError
    from ppfs.export import read_document

    try:
        return read_document(path)
    except InvalidInputError as error:
        raise InputFailure(str(error)) from error
