"""``ppfs plan``: what a search would cost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from ppfs.cli._failures import UsageFailure
from ppfs.cli.flags.data import DataRequest, data_flags
from ppfs.cli.flags.parameters import SearchRequest, search_flags
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, flag
from ppfs.cli.input import Input

_PLAN = "Plan"


@click.command(cls=SectionedCommand)
@data_flags
@flag(_PLAN, "--rows", type=click.IntRange(min=20), help="Rows of the table, in place of a file.")
@flag(_PLAN, "--columns", type=click.IntRange(min=1), help="Columns of the table, in place of a file.")
@flag(
    _PLAN,
    "--candidates",
    type=click.IntRange(min=1),
    default=20,
    show_default=True,
    help="How many columns may depend on the target.",
)
@flag(
    _PLAN,
    "--workers",
    type=click.IntRange(min=2),
    multiple=True,
    help="Also on a cluster of so many workers.  [default: 8 and 64]",
)
@search_flags
@debug_flag
def plan(
    request: DataRequest,
    search: SearchRequest,
    rows: int | None,
    columns: int | None,
    candidates: int,
    workers: tuple[int, ...],
) -> None:
    """Say what a search would cost: fits, seconds, memory and network.

    A selector with these flags is fitted a few times to a small table of noise; from what that takes the cost of the
    real one follows. Name a file and its target, or --rows and --columns (and --task classification or
    regression).
    """
    from ppfs._planning import cost_lines, measure_rates, predict_cost
    from ppfs.cli._fitting import warnings_as_messages
    from ppfs.cli._searching import selector_for

    if (rows is None) != (columns is None) or (rows is None) == (request.data is None):
        raise UsageFailure("Name either a file and its --target, or both --rows and --columns.")
    data = _imagined(rows, columns, search) if rows and columns else _measured(request)
    search = replace(search, checkpoint=None)
    with warnings_as_messages():
        selector = selector_for(search, data)
        if not hasattr(selector, "correction"):
            raise UsageFailure("ppfs plan knows the cost of --method ppfs only. Leave --method out.")
        y = data.target_values()
        rates = measure_rates(selector, y, is_labels=data.task(search.task) == "classification")
    n_rows, n_columns = (rows, columns) if rows and columns else (len(y), len(data.names))
    candidates = min(candidates, n_columns)
    costs = [
        predict_cost(rates, n_rows, n_columns, n_candidates=candidates, n_workers=n)
        for n in (1, *(workers or (8, 64)))
    ]
    click.echo(f"{n_rows:,} rows, {n_columns:,} columns, {candidates} candidates")
    click.echo("\n".join(cost_lines(costs)))


def _imagined(n_rows: int, n_columns: int, search: SearchRequest) -> Input:
    """Return a target like that of a table that is not there."""
    import numpy as np

    generator = np.random.default_rng(0)
    n = min(n_rows, 5000)
    is_labels = search.task == "classification"
    y: Any = generator.integers(2, size=n) if is_labels else generator.normal(size=n)
    return Input("a table", None, y, [], "target")


def _measured(request: DataRequest) -> Input:
    from ppfs.cli.input import read

    is_streamed = request.data is not None and Path(request.data).is_dir()
    return read(replace(request, stream=request.stream or is_streamed))
