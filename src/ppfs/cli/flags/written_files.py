"""Flags that name files to be written: what cannot be written is refused before the work is done."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from ppfs._libraries import require_installed
from ppfs.cli._failures import InputFailure

#: Endings of tables, and the library and the extra that writing one needs.
TABLES: Mapping[str, tuple[str, str] | None] = {
    ".csv": None,
    ".tsv": None,
    ".csv.gz": None,
    ".tsv.gz": None,
    ".parquet": ("pyarrow", "files"),
    ".feather": ("pyarrow", "files"),
    ".arrow": ("pyarrow", "files"),
    ".xlsx": ("openpyxl", "excel"),
}


def written_file(
    endings: Mapping[str, tuple[str, str] | None] | None = None, *, unsaid: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the settings of a flag that names a file to be written.

    Parameters
    ----------
    endings : mapping, default=None
        The endings that the name may have, each with the library and the extra that writing such a file needs; None
        takes any name.

    unsaid : sequence of str, default=()
        Endings that are not named in messages.
    """

    def check(_: click.Context, parameter: click.Parameter, path: Path | None) -> Path | None:
        if path is None:
            return None
        flag = max(parameter.opts, key=len)
        if endings is not None:
            _require_library(path, endings, flag, [one for one in endings if one not in unsaid])
        _require_writable(path, flag)
        return path

    return {"type": click.Path(path_type=Path), "metavar": "FILE", "callback": check, "is_written": True}


def _require_library(
    path: Path, endings: Mapping[str, tuple[str, str] | None], flag: str, named: Sequence[str]
) -> None:
    ending = next((one for one in endings if path.name.lower().endswith(one)), None)
    if ending is None:
        raise click.UsageError(f"{flag} {path}: the name must end in {', '.join(named[:-1])} or {named[-1]}.")
    library, extra = endings[ending] or ("", "")
    if library:
        require_installed(library, f"{flag} {path}: writing {ending} files", extra)


def _require_writable(path: Path, flag: str) -> None:
    parent = path.absolute().parent
    if not parent.is_dir():
        raise InputFailure(f"{flag} {path}: there is no folder {str(parent)!r}. Create it first.")
    if path.is_dir():
        raise InputFailure(f"{flag} {path} is a folder. Name a file in it.")
    if not os.access(parent, os.W_OK):
        raise InputFailure(f"{flag} {path}: nothing can be written to the folder {str(parent)!r}.")
