"""The command and its sub-commands."""

from __future__ import annotations

import click

from ppfs.cli.commands.apply import apply
from ppfs.cli.commands.compare import compare
from ppfs.cli.commands.explain import explain
from ppfs.cli.commands.plan import plan
from ppfs.cli.commands.resume import resume
from ppfs.cli.commands.select import select
from ppfs.cli.commands.update import update


def _show_version(context: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        from ppfs import __version__

        click.echo(f"ppfs {__version__}")
        context.exit()


@click.group(
    name="ppfs",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version.",
)
def app() -> None:
    """Find a small set of columns that predicts the target."""


for command in (select, resume, plan, apply, update, compare, explain):
    app.add_command(command)
