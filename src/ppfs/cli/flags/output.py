"""What the flags of ``ppfs select`` say about the output."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ppfs._libraries import require_installed
from ppfs.cli.flags.sections import debug_flag, flag, gathered
from ppfs.cli.flags.written_files import TABLES, written_file

FORMATS = ("auto", "table", "json", "csv", "names", "markdown")

_OUTPUT = "Output"


@dataclass(frozen=True)
class OutputRequest:
    """Where the result goes.

    Attributes
    ----------
    format : str
        One of `FORMATS`.

    output : Path or None
        Where the selected columns go.

    save : Path or None
        Where the selection goes.

    report : Path or None
        Where the report goes.

    report_cv : int or None
        In how many folds the report scores the selection; None if that was left open.

    sufficiency : bool
        Whether to measure how much better a model is with all columns than with the selected ones.

    mlflow : str or None
        The experiment of MLflow that gets a run.
    """

    format: str
    output: Path | None
    save: Path | None
    report: Path | None
    report_cv: int | None
    sufficiency: bool
    mlflow: str | None


class FoldCount(click.IntRange):
    """A number of folds, or 0 for none."""

    def __init__(self) -> None:
        super().__init__(min=0)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number; a single fold would leave nothing to train on."""
        number = int(super().convert(value, param, ctx))
        if number == 1:
            self.fail("1 fold leaves no rows to train on: use 2 or more, or 0 for no scores.", param, ctx)
        return number


def _require_mlflow(_: click.Context, parameter: click.Parameter, experiment: str | None) -> str | None:
    if experiment is not None:
        require_installed("mlflow", f"--mlflow {experiment}", "mlflow")
    return experiment


output_flags = gathered(
    "output",
    OutputRequest,
    [
        flag(
            _OUTPUT,
            "--format",
            "-f",
            type=click.Choice(FORMATS),
            default="auto",
            help="How the result is written to standard output. auto is a table on a terminal and one name per line in "
            "a pipe.",
        ),
        flag(
            _OUTPUT,
            "--output",
            "-o",
            **written_file(TABLES),
            help="Write the selected columns, those of --id and the target: .csv, .tsv, .parquet, .feather or .xlsx.",
        ),
        flag(
            _OUTPUT,
            "--save",
            **written_file(),
            help="Write the selection as JSON, for ppfs apply and ppfs explain.",
        ),
        flag(
            _OUTPUT,
            "--report",
            **written_file(
                {
                    ".html": ("matplotlib", "report"),
                    ".htm": ("matplotlib", "report"),
                    ".json": None,
                    ".md": None,
                },
                unsaid=(".htm",),
            ),
            help="Write a report: one .html, .json or .md file.",
        ),
        flag(
            _OUTPUT,
            "--report-cv",
            type=FoldCount(),
            help="Number of folds for the cross-validated scores in the report; the search is repeated in each. 0 "
            "leaves them out. [default: 5, if that takes less than about a minute]",
        ),
        flag(
            _OUTPUT,
            "--sufficiency",
            is_flag=True,
            help="Measure whether the selected columns are enough, beside a model with all columns: the search is "
            "repeated in parts of the rows. A report does so too.",
        ),
        flag(
            _OUTPUT,
            "--mlflow",
            metavar="EXPERIMENT",
            callback=_require_mlflow,
            help="Log parameters, numbers, selection and report as a run of this experiment of MLflow.",
        ),
        debug_flag,
    ],
)
