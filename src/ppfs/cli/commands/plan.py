"""``ppfs plan``: what a search would cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from ppfs.cli._estimating import rates_of
from ppfs.cli._failures import UsageFailure
from ppfs.cli.flags.data import DataRequest, data_flags
from ppfs.cli.flags.parameters import SearchRequest, search_flags
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, flag
from ppfs.cli.input import Input

_PLAN = "Plan"
_CANDIDATES = 20
# The size of the random table that is searched where no file is given.
_IMAGINED_ROWS, _IMAGINED_COLUMNS = 5000, 400


@click.command(cls=SectionedCommand)
@data_flags
@flag(_PLAN, "--rows", type=click.IntRange(min=20), help="Rows of the table, instead of a file.")
@flag(_PLAN, "--columns", type=click.IntRange(min=1), help="Columns of the table, instead of a file.")
@flag(
    _PLAN,
    "--candidates",
    type=click.IntRange(min=1),
    help="How many columns depend on the target.  [default: estimated from the file; 20 with --rows]",
)
@flag(
    _PLAN,
    "--classes",
    type=click.IntRange(min=2),
    default=2,
    show_default=True,
    help="Classes of the target, with --rows and --task classification.",
)
@flag(
    _PLAN,
    "--text-columns",
    type=click.IntRange(min=0),
    default=0,
    show_default=True,
    help="How many of the columns hold text, with --rows.",
)
@flag(
    _PLAN,
    "--workers",
    type=click.IntRange(min=2),
    multiple=True,
    help="Also on a cluster with this many workers.  [default: 8 and 64]",
)
@search_flags
@debug_flag
def plan(
    request: DataRequest,
    search: SearchRequest,
    rows: int | None,
    columns: int | None,
    candidates: int | None,
    classes: int,
    text_columns: int,
    workers: tuple[int, ...],
) -> None:
    """Estimate the cost of a search before it runs.

    The estimate is of fits, seconds, memory and network. The search runs on parts of the table for about half a
    minute: at most 4,000 rows and 64 candidates. Name a file and its target, or --rows and --columns (and --task
    classification or regression).
    """
    from ppfs._planning import cost_lines, predict_cost
    from ppfs.cli._fitting import announced_compilation
    from ppfs.cli._searching import selector_for

    is_named = request.data is not None or request.dataset is not None
    if (rows is None) != (columns is None) or (rows is None) != is_named:
        raise UsageFailure("Name either a file and its --target, or both --rows and --columns.")
    if rows and columns:
        candidates = min(candidates or _CANDIDATES, columns)
        data = _imagined(rows, columns, candidates, search, classes, text_columns)
    else:
        data = _measured(request)
    with announced_compilation(search.quiet):
        rates = rates_of(selector_for(search, data), data, columns, candidates)
    n_rows, n_columns = (rows, columns) if rows and columns else (len(data.target_values()), len(data.names))
    costs = [
        predict_cost(rates, n_rows, n_columns, n_candidates=candidates, n_workers=n)
        for n in (1, *(workers or (8, 64)))
    ]
    n_candidates = min(rates.n_candidates if candidates is None else candidates, n_columns)
    about = "about " if candidates is None else ""
    click.echo(f"{n_rows:,} rows, {n_columns:,} columns, {about}{n_candidates:,} candidates")
    click.echo("\n".join(cost_lines(costs)))


def _imagined(
    n_rows: int, n_columns: int, n_candidates: int, search: SearchRequest, n_classes: int, n_text: int
) -> Input:
    """Return a random table of the given shape."""
    from ppfs._planning import imagined_table

    n_shown = min(n_columns, _IMAGINED_COLUMNS)
    X, y = imagined_table(
        min(n_rows, _IMAGINED_ROWS),
        n_shown,
        min(n_candidates, max(1, round(n_shown * n_candidates / n_columns)), n_shown)
        if n_columns > n_shown
        else n_candidates,
        task="classification" if search.task == "classification" else "regression",
        n_classes=n_classes,
        n_text=round(n_shown * n_text / n_columns),
    )
    return Input("a table", X, y, [], "target")


def _measured(request: DataRequest) -> Input:
    from ppfs.cli.input import read

    is_streamed = request.data is not None and Path(request.data).is_dir()
    return read(replace(request, stream=request.stream or is_streamed))
