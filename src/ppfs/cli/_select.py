"""``ppfs select``: choose columns."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import click

from ppfs.cli._data_flags import DataRequest, data_flags
from ppfs.cli._formats import FORMATS, write
from ppfs.cli._help import SectionedCommand, flag, gathered
from ppfs.cli._parameters import SearchRequest, search_flags
from ppfs.cli._terminal import say, writing


@dataclass(frozen=True)
class OutputRequest:
    """What the flags say about the output.

    Attributes
    ----------
    format : str
        One of `FORMATS`.
    """

    format: str


_output_flags = gathered(
    "output",
    OutputRequest,
    [
        flag(
            "Output",
            "--format",
            "-f",
            type=click.Choice(FORMATS),
            default="auto",
            help="auto is a table on a terminal and one name a line in a pipe.",
        ),
        # Taken off the command line before anything else is read; here for the help.
        flag("Output", "--debug", is_flag=True, expose_value=False, help="Show tracebacks of errors."),
    ],
)


_EXAMPLES = """\b
Examples:
  ppfs select patients.csv --target outcome
  ppfs select patients.csv -t outcome --drop patient_id --estimator forest --format json
"""


@click.command(cls=SectionedCommand, epilog=_EXAMPLES)
@data_flags
@search_flags
@_output_flags
def select(request: DataRequest, search: SearchRequest, output: OutputRequest) -> None:
    """Select the columns that the target depends on.

    DATA is a CSV or TSV file (also .gz, .zst), Parquet, Feather, Arrow or Excel, or - for standard input.

    Results go to standard output, messages to standard error. The exit code is 0 when the search ran, also when it
    selected nothing, 1 when the data cannot be used, 2 when the command was misused.
    """
    from ppfs.cli._fitting import fitted
    from ppfs.cli._odd_columns import warning_lines
    from ppfs.cli._result import summarised

    data, selector = fitted(request, search)
    format = output.format
    if format == "auto":
        format = "table" if sys.stdout.isatty() else "names"
    result = summarised(selector, data, search, with_columns=format != "names")
    for line in warning_lines(result["warnings"]):
        say(f"warning: {line}")
    with writing():
        write(result, format)
    if not result["selected"]:
        say("No column was selected: none helps to predict the target at this alpha.")
