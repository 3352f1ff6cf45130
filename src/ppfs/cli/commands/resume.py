"""``ppfs resume``: continue a search that was killed."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ppfs.cli._failures import InputFailure
from ppfs.cli._terminal import printable, say
from ppfs.cli.commands.kept_command import as_arguments, as_values, remembered
from ppfs.cli.commands.select import select
from ppfs.cli.flags.output import OutputRequest, output_flags
from ppfs.cli.flags.parameters import flag_of
from ppfs.cli.flags.sections import SectionedCommand, flag

_FILES = ("output", "save", "report")

# Flags that name classes, which are imported.
_CLASSES = ("estimator", "growth_estimator", "conditional", "splitter")

# Where files go that only the checkpoint names: a separate folder, so that no file of the checkpoint is replaced.
_RESULTS = "results"


@click.command(cls=SectionedCommand)
@click.argument("checkpoint", type=click.Path(path_type=Path))
@flag("Running", "--cluster", metavar="ADDRESS", help="Work on a cluster; see ppfs select.")
@output_flags
@click.pass_context
def resume(context: click.Context, checkpoint: Path, cluster: str | None, output: OutputRequest) -> None:
    """Continue a search that was interrupted or killed.

    CHECKPOINT is the folder that ppfs select --checkpoint was given. The same command runs again in the same
    folder, and answers that were saved are used again.

    A checkpoint may come from elsewhere, so files are written only where this command line says, or after asking;
    in a script they are written inside the checkpoint.
    """
    checkpoint = checkpoint.absolute()
    given: dict[str, Any] = {
        name: path.absolute() if isinstance(path, Path) else path
        for name, path in asdict(output).items()
        if context.get_parameter_source(name) is ParameterSource.COMMANDLINE
    }
    values = as_values(select, remembered(checkpoint), checkpoint)
    values["checkpoint"] = str(checkpoint)
    _refuse_modules_inside(checkpoint, values)
    if cluster is None and "cluster" in values:
        say(f"continuing on this machine; add --cluster {values.pop('cluster')} to use the cluster")
    elif cluster is not None:
        values["cluster"] = cluster
    if "mlflow" in values and "mlflow" not in given:
        say(f"continuing without MLflow; add --mlflow {shlex.quote(values.pop('mlflow'))} to log the run")
    for name in _FILES:
        if name in values and name not in given:
            values[name] = str(_agreed_place(name, Path(values[name]).absolute(), checkpoint))
    values |= {name: str(value) for name, value in given.items()}
    arguments = as_arguments(select, values)
    say(f"continuing: ppfs select {shlex.join(arguments)}")
    with select.make_context("select", arguments, parent=context.parent) as own:
        select.invoke(own)


def _refuse_modules_inside(checkpoint: Path, values: dict[str, Any]) -> None:
    """Refuse to import a module that lies in the checkpoint: importing runs it, and it may come from elsewhere."""
    inside = checkpoint.resolve()
    for name in _CLASSES:
        texts = values.get(name, ())
        for text in [texts] if isinstance(texts, str) else texts:
            module = text.partition("{")[0].partition(":")[0].strip()
            if any(place.resolve().is_relative_to(inside) for place in _places_of(module)):
                raise InputFailure(
                    f"The command of this checkpoint has {flag_of(name)} {text}, whose module {module!r} lies in the "
                    "checkpoint. It is not imported, because a checkpoint may come from elsewhere. Move the module to "
                    "another folder."
                )


def _places_of(module: str) -> Iterator[Path]:
    """Yield the files and folders that importing a module may run, without importing it."""
    parts = module.split(".")
    for folder in sys.path:
        for end in range(1, len(parts) + 1):
            place = Path(folder, *parts[:end])
            if place.is_dir():
                yield place
            yield from place.parent.glob(f"{place.name}.*")


def _agreed_place(name: str, path: Path, checkpoint: Path) -> Path:
    """Return where a file goes that the checkpoint's command names: there if the user agrees, else inside."""
    folder = checkpoint / _RESULTS
    if folder.is_symlink():
        raise InputFailure(
            f"{str(folder)!r} is a link to another place. Remove it, or name files with --{name}."
        )
    inside = folder / path.name
    if path == inside or (_is_watched() and _asked(name, path)):
        return path
    folder.mkdir(exist_ok=True)
    say(
        f"--{name} {path} comes from the checkpoint; writing {inside} instead: add --{name} {shlex.quote(str(path))} "
        "to write there"
    )
    return inside


def _asked(name: str, path: Path) -> bool:
    return click.confirm(
        f"The command of this checkpoint has --{name}. Write to {printable(str(path))}?", err=True
    )


def _is_watched() -> bool:
    """Return whether a person can answer a question."""
    return sys.stdin.isatty() and sys.stderr.isatty()
