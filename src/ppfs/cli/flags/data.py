"""Flags that describe the data."""

from __future__ import annotations

from dataclasses import dataclass

import click

from ppfs.cli.flags.sections import flag, gathered

_DATA, _COLUMNS = "Data", "Columns"


@dataclass(frozen=True)
class FileRequest:
    """How a table is written.

    Attributes
    ----------
    sep, encoding, decimal : str or None
        Of a text file; None: detected automatically.

    na : tuple of str
        Texts that stand for a missing value.

    sheet : str or None
        Of an Excel file; None takes the first.
    """

    sep: str | None
    encoding: str | None
    decimal: str | None
    na: tuple[str, ...]
    sheet: str | None


@dataclass(frozen=True)
class DataRequest(FileRequest):
    """Where the data are, and what the columns mean; see `FileRequest` for the other flags.

    Attributes
    ----------
    data : str or None
        A file; "-" for standard input.

    target : str or None
        The column to predict.

    dataset : str or None
        A data set of the registry, instead of a file.

    stream : bool
        Whether columns are read a few at a time.

    drop, id : tuple of str
        Columns that are not searched; those of `id` are written to the output.

    event : str or None
        A column that says whether the event was observed; the target is then its time.

    exposure : str or None
        A column with the exposures of counts.

    groups, time, weights : str or None
        Columns with the groups, the times and the weights of the rows.

    gap : int
        Rows around a test part that are left out of training.

    lags : str or None
        By how many rows columns are copied from earlier ones.

    each_lag : bool
        Whether each copy is a separate feature.

    drop_missing_target : bool
        Whether rows without a target are left out.
    """

    data: str | None
    target: str | None
    dataset: str | None
    stream: bool
    drop: tuple[str, ...]
    id: tuple[str, ...]
    event: str | None
    exposure: str | None
    groups: str | None
    time: str | None
    gap: int
    lags: str | None
    each_lag: bool
    weights: str | None
    drop_missing_target: bool


FILE_FLAGS = [
    flag(_DATA, "--sep", help="Separator of a text file, such as ';' or tab.  [default: auto-detected]"),
    flag(_DATA, "--encoding", help="Encoding of a text file, such as latin-1.  [default: auto-detected]"),
    flag(
        _DATA,
        "--decimal",
        type=click.Choice([".", ","]),
        help="Decimal point or comma.  [default: auto-detected]",
    ),
    flag(
        _DATA,
        "--na",
        multiple=True,
        metavar="TEXT",
        help="A text that stands for a missing value, such as unknown.",
    ),
    flag(_DATA, "--sheet", help="Sheet of an Excel file.  [default: the first]"),
]

_FLAGS = [
    click.argument("data", required=False),
    flag(_DATA, "--target", "-t", metavar="COLUMN", help="The column to predict."),
    flag(
        _DATA,
        "--dataset",
        "-d",
        metavar="NAME",
        help="A data set of the registry instead of a file, such as wdbc.",
    ),
    *FILE_FLAGS,
    flag(
        _DATA,
        "--stream",
        is_flag=True,
        help="Read columns a few at a time: Parquet files and folders of them, .npy, zarr, HDF5 and h5ad.",
    ),
    flag(_COLUMNS, "--drop", multiple=True, metavar="COLUMNS", help="Columns to leave out."),
    flag(
        _COLUMNS,
        "--id",
        multiple=True,
        metavar="COLUMNS",
        help="Columns that identify the rows: not searched, but written by --output.",
    ),
    flag(
        _COLUMNS,
        "--event",
        metavar="COLUMN",
        help="Survival: 1 where the event was observed, 0 where it is censored; --target is then the time.",
    ),
    flag(
        _COLUMNS,
        "--exposure",
        metavar="COLUMN",
        help="Counts: the exposure of each count, such as days observed; --target is then the count.",
    ),
    flag(_COLUMNS, "--groups", metavar="COLUMN", help="Rows with the same value here belong together."),
    flag(
        _COLUMNS,
        "--time",
        metavar="COLUMN",
        help="Numbers or dates that give the order of the rows in time; index if the rows are in order.",
    ),
    flag(
        _COLUMNS,
        "--gap",
        type=click.IntRange(min=0),
        default=0,
        metavar="N",
        help="With --time: rows around each test part that are left out of training.",
    ),
    flag(
        _COLUMNS,
        "--lags",
        metavar="NUMBERS",
        help="With --time: add copies of all columns from this many rows before, such as 1,2,7.",
    ),
    flag(
        _COLUMNS,
        "--each-lag",
        is_flag=True,
        help="With --lags: each copy is a separate feature; otherwise a column and its copies are one.",
    ),
    flag(_COLUMNS, "--weights", metavar="COLUMN", help="Weights of the rows."),
    flag(_COLUMNS, "--drop-missing-target", is_flag=True, help="Leave out rows without a target."),
]

data_flags = gathered("request", DataRequest, _FLAGS)
