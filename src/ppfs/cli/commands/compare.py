"""``ppfs compare``: compare methods of selection by the score of a model."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from ppfs.cli._json import JSON
from ppfs.cli._terminal import printable, say, writing
from ppfs.cli.flags.data import DataRequest, data_flags
from ppfs.cli.flags.parameters import TASK_CHOICES, jobs_flag, seed_flag
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, flag, gathered
from ppfs.cli.flags.written_files import written_file

if TYPE_CHECKING:
    from ppfs._data import SaidTask

_COMPARE, _RUN, _OUTPUT = "Comparison", "Running", "Output"


@dataclass(frozen=True)
class CompareRequest:
    """What the flags say.

    Attributes
    ----------
    methods : str or None
        Names, separated by commas.

    estimator : str or None
        The model that is scored.

    estimator_params : dict or None
        Its parameters.

    scoring : str or None
        A score of scikit-learn.

    cv : int
        Number of folds.

    task : str or None
        The kind of target.

    time_limit : float or None
        Seconds for all methods together.

    n_jobs : int or None

    plot : Path or None
        Where a plot of scores against sizes is written.
    """

    methods: str | None
    estimator: str | None
    estimator_params: dict[str, Any] | None
    scoring: str | None
    cv: int
    task: str | None
    time_limit: float | None
    random_state: int
    n_jobs: int | None
    quiet: bool
    format: str
    plot: Path | None


_FLAGS = [
    flag(
        _COMPARE,
        "--methods",
        metavar="NAMES",
        help="Names, separated by commas: all, rfecv, l1, univariate, ppfs, ppfs-paper, ppfs-cv, or any search of ppfs "
        "select --method.  [default: all,ppfs,ppfs-cv,rfecv,l1,univariate]",
    ),
    flag(
        _COMPARE,
        "--estimator",
        "--model",
        metavar="MODEL",
        help="The model that is scored; see ppfs select.  [default: forest]",
    ),
    flag(_COMPARE, "--estimator-params", type=JSON, help="Its parameters as JSON."),
    flag(
        _COMPARE,
        "--scoring",
        metavar="NAME",
        help="A score of scikit-learn, such as roc_auc.  [default: accuracy for classification, r2 for regression]",
    ),
    flag(
        _COMPARE,
        "--cv",
        "--folds",
        "cv",
        type=click.IntRange(min=2),
        default=5,
        show_default=True,
        help="Number of folds.",
    ),
    flag(
        _COMPARE,
        "--task",
        type=click.Choice(TASK_CHOICES),
        help="Kind of target; survival needs --event.  [default: auto]",
    ),
    flag(
        _RUN,
        "--time-limit",
        type=click.FloatRange(min=0, min_open=True),
        metavar="SECONDS",
        help="For all methods together, divided equally among them. A fit that has begun is finished.",
    ),
    seed_flag,
    jobs_flag,
    flag(_RUN, "--quiet", "--no-progress", "-q", "quiet", is_flag=True, help="No progress and no notes."),
    flag(
        _OUTPUT,
        "--format",
        "-f",
        type=click.Choice(["table", "json", "csv", "markdown"]),
        default="table",
        show_default=True,
        help="How the result is written.",
    ),
    flag(
        _OUTPUT,
        "--plot",
        **written_file(dict.fromkeys((".png", ".svg", ".pdf"), ("matplotlib", "plots"))),
        help="Plot scores against sizes: one .png, .svg or .pdf file.",
    ),
    debug_flag,
]


@click.command(cls=SectionedCommand)
@data_flags
@gathered("wanted", CompareRequest, _FLAGS)
def compare(request: DataRequest, wanted: CompareRequest) -> None:
    """Compare methods of selection on your data.

    Each method selects columns inside the folds of a cross-validation. The same model is fitted to what each method
    selects, and scored on rows that the selection has not seen. Stability is the share of columns that two folds
    agree on.
    """
    from ppfs import compare as compared
    from ppfs.cli._failures import UsageFailure
    from ppfs.cli.flags.models import model
    from ppfs.cli.input import read

    data = read(request)
    if data.is_streamed:
        raise UsageFailure("ppfs compare needs the table in memory. Leave --stream out.")
    if not wanted.quiet:
        for note in data.notes:
            say(note)
    task = data.said_task(wanted.task)
    if wanted.estimator_params and wanted.estimator is None:
        raise UsageFailure("--estimator-params needs a model: add --estimator.")
    estimator = (
        None
        if wanted.estimator is None
        else model(
            wanted.estimator,
            "--estimator",
            "survival" if task == "survival" else data.task(task),
            wanted.estimator_params,
        )
    )
    methods = (
        None
        if wanted.methods is None
        else [name.strip() for name in wanted.methods.split(",") if name.strip()]
    )
    result = compared(
        data.X,
        data.y,
        methods=methods,
        estimator=estimator,
        scoring=wanted.scoring,
        cv=wanted.cv,
        task=cast("SaidTask", task),
        time_limit=wanted.time_limit,
        random_state=wanted.random_state,
        n_jobs=wanted.n_jobs,
        progress=False if wanted.quiet else "log",
        **data.fit_arguments(),
    )
    with writing():
        _write(result, data.name, data.target, wanted.format)
    if wanted.plot is not None:
        _draw(result, wanted.plot)
        say(f"Plot: {wanted.plot}")
    for method in result.methods:
        if method.note:
            say(f"{method.name}: {method.note}")


def _draw(result: Any, path: Path) -> None:
    from ppfs.plotting import ScoreSizeDisplay

    figure = ScoreSizeDisplay.from_comparison(result).figure_
    figure.savefig(path, dpi=150)


def _write(result: Any, name: str, target: str, format: str) -> None:
    import narwhals as nw

    rows = nw.from_native(result.to_frame(), eager_only=True).rows(named=True)
    if format == "json":
        click.echo(json.dumps(_document(result, rows, name, target), indent=2))
    elif format == "csv":
        click.echo(",".join(rows[0]))
        for row in rows:
            click.echo(",".join(_csv_cell(value) for value in row.values()))
    elif format == "markdown":
        click.echo(f"| method | {result.scoring} | columns | stability | seconds |")
        click.echo("| --- | ---: | ---: | ---: | ---: |")
        for row in rows:
            click.echo("| " + " | ".join(_cells(row)) + " |")
    else:
        _print_table(result, rows, name, target)


def _print_table(result: Any, rows: list[dict[str, Any]], name: str, target: str) -> None:
    from rich.console import Console
    from rich.table import Table

    # Names are shown as they are: they may contain what Rich reads as markup or emoji.
    console = Console(highlight=False, markup=False, emoji=False)
    console.print(
        f"{printable(name)}: {printable(target)} predicted by {result.model}, {result.n_folds} folds, "
        f"{result.n_rows} rows, {result.n_columns} columns"
    )
    table = Table()
    table.add_column("method", overflow="fold")
    for heading in (result.scoring, "columns", "stability", "seconds"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(*_cells(row))
    console.print(table)
    console.print(
        f"{result.scoring}: mean over the folds and its standard error. stability: share of columns that two "
        "folds agree on. seconds: time of one selection."
    )


def _cells(row: dict[str, Any]) -> list[str]:
    score = _number(row["score"], ".3f")
    error = _number(row["score_error"], ".3f")
    return [
        row["method"],
        f"{score} ± {error}" if error else score,
        _number(row["n_columns"], ".1f"),
        _number(row["stability"], ".2f"),
        _number(row["seconds"], ".2f"),
    ]


def _number(value: float, format: str) -> str:
    return "" if math.isnan(value) else f"{value:{format}}"


def _csv_cell(value: Any) -> str:
    if isinstance(value, float) and math.isnan(value):
        return ""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else text


def _document(result: Any, rows: list[dict[str, Any]], name: str, target: str) -> dict[str, Any]:
    from ppfs import __version__

    folds = {method.name: method for method in result.methods}
    return {
        "schema": "ppfs-comparison",
        "schema_version": 1,
        "ppfs": __version__,
        "data": name,
        "target": target,
        "task": result.task,
        "model": result.model,
        "scoring": result.scoring,
        "n_folds": result.n_folds,
        "methods": [
            {
                **{key: _plain(value) for key, value in row.items()},
                "scores": list(folds[row["method"]].scores),
                "selected": [list(names) for names in folds[row["method"]].selected],
            }
            for row in rows
        ],
    }


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and math.isnan(value) else value
