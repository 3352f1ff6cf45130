"""``ppfs select``: select columns."""

from __future__ import annotations

import shlex
import sys

import click

from ppfs.cli._failures import UsageFailure
from ppfs.cli.commands.kept_command import remembering
from ppfs.cli.flags.data import DataRequest, data_flags
from ppfs.cli.flags.output import OutputRequest, output_flags
from ppfs.cli.flags.parameters import SearchRequest, search_flags
from ppfs.cli.flags.sections import SectionedCommand

_EXAMPLES = """\b
Examples:
  ppfs select patients.csv --target outcome
  ppfs select patients.csv -t outcome --drop patient_id --estimator forest --format json
"""


@click.command(cls=SectionedCommand, epilog=_EXAMPLES)
@data_flags
@search_flags
@output_flags
def select(request: DataRequest, search: SearchRequest, output: OutputRequest) -> None:
    """Select the columns that the target depends on.

    DATA is a CSV or TSV file (also .gz, .zst, .zip), Parquet, Feather, Arrow, Excel or JSON, or - for standard input.

    Results go to standard output, messages to standard error. The exit code is 0 if the search ran, even if it
    selected nothing, 1 if a file or its content cannot be used, 2 if the command line is invalid.
    """
    from ppfs.cli._fitting import read_and_say, timed_search
    from ppfs.cli._searching import refuse_useless_checkpoint
    from ppfs.cli.output.delivery import Delivery

    if output.report_cv is not None and output.report is None:
        raise UsageFailure("--report-cv has no effect without --report. Leave it out, or add --report.")
    refuse_useless_checkpoint(search)
    with remembering(search.checkpoint, click.get_current_context().meta["ppfs.arguments"]):
        data = read_and_say(request, search)
        if output.output is not None and data.rows is None:
            raise UsageFailure(
                "--output needs the table in memory. Leave it out, or use ppfs apply on a table that fits."
            )
        if data.rows is not None and (output.report_cv or 0) > len(data.rows.frame):
            raise UsageFailure(
                f"--report-cv {output.report_cv} is more than the {len(data.rows.frame)} rows. Use 5."
            )
        selector, seconds = timed_search(data, search)
    Delivery(selector, data, search, output, shlex.join(["ppfs", *sys.argv[1:]]), seconds).run()
