"""``ppfs resume``: continue a search that was killed."""

from __future__ import annotations

import shlex
from pathlib import Path

import click

from ppfs.cli._terminal import say
from ppfs.cli.commands.kept_command import remembered
from ppfs.cli.commands.select import select
from ppfs.cli.flags.sections import SectionedCommand, debug_flag


@click.command(cls=SectionedCommand)
@click.argument("checkpoint", type=click.Path(path_type=Path))
@debug_flag
@click.pass_context
def resume(context: click.Context, checkpoint: Path) -> None:
    """Continue a search that was interrupted or killed.

    CHECKPOINT is the folder that ppfs select --checkpoint was given. The same command runs again in the same
    folder, and what was answered before is not asked again.
    """
    arguments = remembered(checkpoint)
    say(f"continuing: ppfs select {shlex.join(arguments)}")
    with select.make_context("select", arguments, parent=context.parent) as own:
        select.invoke(own)
