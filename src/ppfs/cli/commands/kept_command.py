"""The command line of a search, kept in its checkpoint so that the search can be continued."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ppfs.cli._failures import InputFailure
from ppfs.cli._json import parsed

_COMMAND = "command.json"


@contextmanager
def remembering(checkpoint: str | None, arguments: Sequence[str]) -> Iterator[None]:
    """Write into a checkpoint how it is continued, before the search starts.

    A search that ends in an error leaves the command that was there: the checkpoint may be that of other data.
    """
    if checkpoint is None:
        yield
        return
    # Loaded when it is needed: `ppfs --help` should not wait for the searches.
    from ppfs.blanket import claim_checkpoint

    place = claim_checkpoint(checkpoint) / _COMMAND
    before = place.read_bytes() if place.is_file() else None
    if place.is_symlink() or (place.exists() and not _is_command(before)):
        raise InputFailure(
            f"--checkpoint {checkpoint}: its {_COMMAND} was not written by ppfs. Move it elsewhere, or use another "
            "folder."
        )
    content = {"folder": os.getcwd(), "arguments": list(arguments)}
    _write(place, json.dumps(content, indent=1).encode(), checkpoint)
    try:
        yield
    except Exception:
        if before is not None:
            _write(place, before, checkpoint)
        raise


def _is_command(content: bytes | None) -> bool:
    try:
        _parts_of((content or b"").decode())
    except (ValueError, TypeError, KeyError):
        return False
    return True


def _parts_of(text: str) -> tuple[str, list[str]]:
    """Return the folder and the flags of a command that was kept."""
    content = parsed(text)
    folder, arguments = content["folder"], content["arguments"]
    if not isinstance(folder, str) or not all(isinstance(one, str) for one in arguments):
        raise TypeError("it does not hold a command")
    return folder, list(arguments)


def _write(place: Path, content: bytes, checkpoint: str) -> None:
    from ppfs.blanket import write_safely

    try:
        write_safely(place, content)
    except OSError as error:
        raise InputFailure(f"--checkpoint {checkpoint}: nothing can be written there: {error}.") from error


def remembered(checkpoint: Path) -> list[str]:
    """Return the flags of the search that a checkpoint belongs to, in the folder that it was started in."""
    path = checkpoint / _COMMAND
    if checkpoint.is_file():
        raise InputFailure(
            f"{str(checkpoint)!r} is a file, not the folder of a checkpoint. Give the folder of --checkpoint."
        )
    if not path.is_file():
        why = f"it holds no {_COMMAND}" if checkpoint.is_dir() else "there is no such folder"
        raise InputFailure(
            f"{str(checkpoint)!r} is not the checkpoint of a ppfs select: {why}. Give the folder of --checkpoint, or "
            "run ppfs select again with the same flags."
        )
    try:
        folder, arguments = _parts_of(path.read_text(encoding="utf-8"))
        if not Path(folder).is_dir():
            raise FileNotFoundError(f"the search was started in {folder!r}, which no longer exists")
        os.chdir(folder)
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputFailure(
            f"{str(path)!r} cannot be used: {error}. Run ppfs select again with the same flags and --checkpoint "
            f"{str(checkpoint)!r}."
        ) from error
    return arguments


def as_values(command: click.Command, arguments: Sequence[str], checkpoint: Path) -> dict[str, Any]:
    """Return what a command line says, by the names of the flags: texts, lists of texts, and True."""
    try:
        values, _, _ = command.make_parser(click.Context(command)).parse_args(args=list(arguments))
    except click.UsageError as error:
        raise InputFailure(
            f"{str(checkpoint / _COMMAND)!r} cannot be used: {error.format_message()} Run ppfs select again with the "
            f"same flags and --checkpoint {str(checkpoint)!r}."
        ) from error
    return {name: value for name, value in values.items() if isinstance(value, str | list | tuple | bool)}


def as_arguments(command: click.Command, values: dict[str, Any]) -> list[str]:
    """Return the command line that says so: the reverse of `as_values`."""
    arguments = []
    for parameter in command.params:
        value = values.get(parameter.name or "")
        if value is None:
            continue
        if isinstance(parameter, click.Argument):
            arguments.append(value)
        elif isinstance(value, bool):
            arguments += (parameter.opts if value else parameter.secondary_opts)[:1]
        else:
            texts = value if isinstance(value, list | tuple) else [value]
            arguments += [part for text in texts for part in (parameter.opts[0], text)]
    return arguments
