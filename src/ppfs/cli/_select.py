"""``ppfs select``: choose columns."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

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

    report : Path or None
        Where a report is to be written.
    """

    format: str
    report: Path | None


def _known_ending(_: click.Context, __: click.Parameter, path: Path | None) -> Path | None:
    """Refuse a report that could not be written before the search is made, not after it."""
    if path is None:
        return None
    if path.suffix.lower() not in (".html", ".htm", ".json", ".md"):
        raise click.BadParameter(f"{str(path)!r} must end in .html, .json or .md.")
    if not path.absolute().parent.is_dir():
        raise click.BadParameter(f"the folder of {str(path)!r} does not exist. Make it first.")
    return path


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
        flag(
            "Output",
            "--report",
            type=click.Path(dir_okay=False, path_type=Path),
            callback=_known_ending,
            help="Also write a report for people: one .html, .json or .md file.",
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
    if output.report is not None:
        from ppfs.report import Report

        say(f"Report: {Report(selector, command=shlex.join(['ppfs', *sys.argv[1:]])).save(output.report)}")
