"""The command and its sub-commands."""

from __future__ import annotations

from typing import Annotated

import typer

from ppfs import __version__
from ppfs.cli._select import select

app = typer.Typer(
    name="ppfs",
    help="Find the smallest set of columns that still predicts the target.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(select)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ppfs {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Find the smallest set of columns that still predicts the target."""
