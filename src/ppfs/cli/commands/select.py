"""``ppfs select``: choose columns."""

from __future__ import annotations

import shlex
import sys
from dataclasses import dataclass
from pathlib import Path

import click

from ppfs.cli._failures import UsageFailure
from ppfs.cli._terminal import say, writing
from ppfs.cli.commands.kept_command import remembering
from ppfs.cli.flags.data import DataRequest, data_flags
from ppfs.cli.flags.parameters import WITHOUT_TRACE, SearchRequest, search_flags
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, ending_in, flag, gathered
from ppfs.cli.output.formats import FORMATS, write


@dataclass(frozen=True)
class OutputRequest:
    """What the flags say about the output.

    Attributes
    ----------
    format : str
        One of `FORMATS`.

    output : str or None
        Where the reduced data go.

    save : str or None
        Where the selection goes.

    report : Path or None
        Where a report is to be written.
    """

    format: str
    output: str | None
    save: str | None
    report: Path | None


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
            "--output",
            "-o",
            metavar="FILE",
            help="Write the selected columns, those of --id and the target: .csv, .tsv, .parquet, .feather or .xlsx.",
        ),
        flag(
            "Output",
            "--save",
            metavar="FILE",
            help="Write the selection as JSON, for ppfs apply and ppfs explain.",
        ),
        flag(
            "Output",
            "--report",
            **ending_in(".html", ".json", ".md", unsaid=(".htm",)),
            help="Also write a report for people: one .html, .json or .md file.",
        ),
        debug_flag,
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

    DATA is a CSV or TSV file (also .gz, .zst, .zip), Parquet, Feather, Arrow or Excel, or - for standard input.

    Results go to standard output, messages to standard error. The exit code is 0 when the search ran, also when it
    selected nothing, 1 when the data cannot be used, 2 when the command was misused.
    """
    from ppfs.cli._fitting import read_and_say, searched
    from ppfs.cli.output.column_warnings import warning_lines
    from ppfs.cli.output.result import summarised, trace_of
    from ppfs.cli.output.selection import save
    from ppfs.cli.output.writing import require_table_suffix, require_writable, write_columns

    if output.output is not None:
        require_table_suffix(output.output, "--output")
    if output.save is not None:
        require_writable(output.save, "--save")
    if output.report is not None and search.method in WITHOUT_TRACE:
        raise UsageFailure(
            f"--report shows the questions of a search, and --method {search.method} asks none. Leave one of them out."
        )
    with remembering(search.checkpoint, click.get_current_context().meta["ppfs.arguments"]):
        data = read_and_say(request, search)
        if output.output is not None and data.rows is None:
            raise UsageFailure(
                "--output needs the table in memory. Leave it out, or use ppfs apply on a table that fits."
            )
        selector = searched(data, search)
    format = output.format
    if format == "auto":
        format = "table" if sys.stdout.isatty() else "names"
    needs_columns = format != "names" or output.save is not None
    result = summarised(selector, data, search, with_columns=needs_columns)
    for line in warning_lines(result["warnings"]):
        say(f"warning: {line}")
    if output.save is not None:
        save(result, trace_of(selector), output.save)
    if output.output is not None and data.rows is not None:
        chosen = {*data.ids, *result["selected"], data.target}
        names = [name for name in data.rows.frame.columns if name in chosen]
        write_columns(data.rows, names, output.output)
    with writing():
        write(result, format)
    if not result["selected"]:
        say("No column was selected: none helps to predict the target at this alpha.")
    if output.report is not None:
        from ppfs.report import Report

        searched_with = getattr(selector, "selector_", selector)
        report = Report(searched_with, command=shlex.join(["ppfs", *sys.argv[1:]]))
        say(f"Report: {report.save(output.report)}")
