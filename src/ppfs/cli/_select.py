"""``ppfs select``: choose columns."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from ppfs import PPFS
from ppfs.cli._input import Input, read_csv, read_dataset
from ppfs.cli._output import json_text, names_text, print_table
from ppfs.cli._terminal import CannotWriteError, printable_lines, writing
from ppfs.exceptions import EstimatorFailedError


class Format(StrEnum):
    """How the result is written."""

    auto = "auto"
    table = "table"
    names = "names"
    json = "json"


def select(
    data: Annotated[
        Path | None, typer.Argument(metavar="DATA.csv", help="A CSV file with a header row.")
    ] = None,
    target: Annotated[str | None, typer.Option("--target", "-t", help="The column to predict.")] = None,
    dataset: Annotated[
        str | None,
        typer.Option("--dataset", "-d", help="A data set of the registry instead of a file, such as wdbc."),
    ] = None,
    splits: Annotated[int, typer.Option(help="Train/test splits a question: the paper's B.")] = 30,
    folds: Annotated[int, typer.Option(help="Folds to aggregate over: the paper's K; 0 for none.")] = 0,
    alpha: Annotated[float, typer.Option(help="Level of each test.")] = 0.05,
    seed: Annotated[int, typer.Option(help="Decides all random draws.")] = 0,
    jobs: Annotated[int, typer.Option(help="Parallel workers; -1 for all cores.")] = 1,
    format: Annotated[
        Format, typer.Option(help="auto is a table on a terminal and one name a line in a pipe.")
    ] = Format.auto,
) -> None:
    """Select the columns that the target depends on.

    Data go to standard output, messages to standard error. The exit code is 0 when the search ran,
    also when it selected nothing, and 2 when it could not run.
    """
    try:
        source = _source(data, target, dataset)
        selector = PPFS(
            n_splits=splits,
            n_folds=folds,
            alpha=alpha,
            random_state=seed,
            n_jobs=jobs,
            progress=True,
        ).fit(source.X, source.y)
    except (ValueError, TypeError, OSError, EstimatorFailedError) as error:
        _fail(str(error))
    except MemoryError as error:
        _fail(f"There is not enough memory for this: {error or 'use fewer splits, columns or rows'}")
    if format is Format.auto:
        format = Format.table if sys.stdout.isatty() else Format.names
    try:
        with writing():
            _write(selector, source, format)
    except CannotWriteError as error:
        _fail(f"The result cannot be written to standard output: {error}. Write it elsewhere.")
    if not selector.blanket_.size:
        typer.echo("No column was selected: none helps to predict the target at this alpha.", err=True)


def _write(selector: PPFS, source: Input, format: Format) -> None:
    if format is Format.json:
        typer.echo(json_text(selector, source))
    elif format is Format.table:
        print_table(selector, source, Console())
    elif selector.blanket_.size:
        typer.echo(names_text(selector, source))


def _source(data: Path | None, target: str | None, dataset: str | None) -> Input:
    if data is not None and dataset is None:
        if target is None:
            _fail("Say which column to predict, for example: ppfs select data.csv --target price")
        return read_csv(data, target)
    if data is not None or dataset is None:
        _fail("Name either a CSV file or a --dataset, for example: ppfs select data.csv --target price")
    if target is not None:
        _fail(
            f"--target belongs to a CSV file; the data set {dataset!r} has a target of its own. Leave it out."
        )
    return read_dataset(dataset)


def _fail(message: str) -> NoReturn:
    typer.echo(f"ppfs: {printable_lines(message)}", err=True)
    raise typer.Exit(2)
