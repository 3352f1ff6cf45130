"""From the flags to the arguments of ``fit``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from ppfs._libraries import imported
from ppfs._printable import listed
from ppfs.cli._failures import InputFailure, UsageFailure
from ppfs.cli.flags.data import DataRequest, FileRequest
from ppfs.cli.input.columns import require_column, resolve
from ppfs.cli.input.content import kind_of, raw_bytes
from ppfs.cli.input.data import FrameRead, Input
from ppfs.cli.input.dialect import find_format
from ppfs.cli.input.json_table import json_frame
from ppfs.cli.input.large import as_columns, is_text, is_too_large
from ppfs.cli.input.text import TextTable
from ppfs.cli.input.typed_files import typed_frame

_STREAMED = (".npy", ".zarr", ".h5", ".hdf5", ".h5ad")
# Numbers that make a target numeric, even if there are other texts among them.
_MOST_CLASSES = 20
# The value of --time for rows that are in order.
_INDEX = "index"

_EXAMPLE = "for example: ppfs select data.csv --target price"


def read(request: DataRequest, *, quiet: bool = False) -> Input:
    """Read what the flags name, and check what a search could not use; `quiet` shows no progress."""
    if request.time is None:
        _refuse_useless({"gap": request.gap, "lags": request.lags}, "it needs --time")
    _refuse_useless({"each-lag": request.each_lag and request.lags is None}, "it needs --lags")
    if request.dataset is not None:
        return _dataset(request)
    if request.data is None:
        raise UsageFailure(f"Name either a file or a --dataset, {_EXAMPLE}")
    if request.target is None:
        raise UsageFailure(f"Specify which column to predict, {_EXAMPLE}")
    if request.stream or request.data.endswith(_STREAMED) or is_too_large(request.data):
        return _streamed(request, request.data, request.target, quiet)
    return _divided(request, read_file(request.data, request), request.target)


def read_file(data: str, request: FileRequest) -> FrameRead:
    """Read a file, or standard input for "-", as the flags say that it is written."""
    return read_frame(data, **{field.name: getattr(request, field.name) for field in fields(FileRequest)})


def read_frame(
    data: str,
    *,
    sep: str | None = None,
    encoding: str | None = None,
    decimal: str | None = None,
    na: Sequence[str] = (),
    sheet: str | None = None,
) -> FrameRead:
    """Read a file, or standard input for "-", as a data frame."""
    pd = imported("pandas", "Reading files", "cli")
    content = raw_bytes(data)
    name = "standard input" if data == "-" else Path(data).name
    kind = kind_of(content, name)
    if kind != "excel":
        _refuse_useless({"sheet": sheet}, f"{name!r} is not an Excel file")
    notes: list[str] = []
    if kind == "text":
        frame = json_frame(content, name)
        if frame is None:
            format = find_format(content, name, sep=sep, encoding=encoding, decimal=decimal, na=na)
            text = TextTable(content, name, format)
            return FrameRead(name, text.frame, text.place, text.notes, text.written)
    else:
        frame, notes = typed_frame(content, name, kind, sheet)
    _refuse_useless({"sep": sep, "encoding": encoding, "decimal": decimal}, f"{name!r} is not a CSV file")
    frame.columns = [str(column) for column in frame.columns]
    if not isinstance(frame.index, pd.RangeIndex):
        frame = frame.reset_index(drop=True)
    if na:
        frame = frame.replace(dict.fromkeys(na, None))
    # A sheet has its header in row 1; the other files number rows from 1.
    first = 2 if kind == "excel" else 1
    return FrameRead(name, frame, lambda rows: _numbered(rows, first), notes)


def _refuse_useless(flags: Mapping[str, object], why: str) -> None:
    """Refuse flags that were given and have no effect: they mislead."""
    useless = [flag for flag, value in flags.items() if value]
    if useless:
        raise UsageFailure(f"--{useless[0]} has no effect: {why}. Leave it out.")


def _numbered(rows: Sequence[int], first: int) -> str:
    shown = ", ".join(str(row + first) for row in rows[:5])
    more = f" and {len(rows) - 5} more" if len(rows) > 5 else ""
    return f"row{'s' if len(rows) > 1 else ''} {shown}{more} of the file"


def _divided(request: DataRequest, table: FrameRead, target: str) -> Input:
    """Divide a table into the columns to search, the target, and columns with another role."""
    names = list(table.frame.columns)
    quoted = repr(table.name)
    ids = resolve(request.id, names, f"--id: {quoted}")
    when = None if request.time == _INDEX and _INDEX not in names else request.time
    aside = {*_aside(request, target, when, names, quoted), *ids}
    aside |= set(resolve(request.drop, names, f"--drop: {quoted}"))
    _refuse_strays(table, target)
    kept = _with_target(request, table, target)
    frame = kept.frame
    columns = [name for name in names if name not in aside]
    if not columns:
        raise InputFailure(
            f"{quoted} has no column apart from {listed(sorted(aside))}: there is nothing to select from."
        )
    _refuse_dates(frame[columns])
    read = Input(
        name=table.name,
        X=frame[columns],
        y=_target(request, frame, target, table),
        names=columns,
        target=target,
        event=request.event,
        exposure=request.exposure,
        groups=None if request.groups is None else _complete(frame, request.groups, "--groups", table),
        time=_time(request, frame, when, table),
        weights=None if request.weights is None else _complete(frame, request.weights, "--weights", table),
        rows=kept,
        ids=tuple(ids),
        notes=tuple(table.notes),
    )
    return read if request.lags is None else _with_copies(request, read, kept)


def _aside(request: DataRequest, target: str, when: str | None, names: list[str], quoted: str) -> set[str]:
    """Return the target and the columns with another role, which are not searched."""
    return {
        require_column(target, names, quoted),
        *(
            require_column(column, names, f"{flag}: {quoted}")
            for flag, column in (
                ("--event", request.event),
                ("--exposure", request.exposure),
                ("--groups", request.groups),
                ("--time", when),
                ("--weights", request.weights),
            )
            if column is not None
        ),
    }


def _with_copies(request: DataRequest, read: Input, rows: FrameRead) -> Input:
    """Return the data with lagged copies of the columns, without the first rows, which have no past."""
    from ppfs._data import FitData, with_lags

    given = [text.strip() for text in str(request.lags).split(",") if text.strip()]
    wrong = [text for text in given if not text.isdecimal() or not int(text)]
    if wrong or not given:
        raise UsageFailure(
            f"--lags {request.lags}: write numbers of rows from 1 on, separated by commas, such as 1,2,7."
        )
    data = FitData(read.X, read.y, read.groups, read.time, read.weights)
    lags, data = with_lags(data, [int(text) for text in given])
    X = data.X
    kept = rows.only(rows.frame.index.isin(X.index))
    copies = X[[name for name in X.columns if name not in read.names]].reset_index(drop=True)
    return replace(
        read,
        X=X.reset_index(drop=True),
        y=data.y.reset_index(drop=True),
        groups=data.groups,
        time=data.time,
        weights=data.sample_weight,
        names=list(X.columns),
        rows=replace(kept, frame=kept.frame.join(copies), texts=None),
        lags=lags,
        notes=(
            *read.notes,
            f"{read.name}: the first {len(read.X) - len(X)} rows have no past and are left out",
        ),
    )


def _with_target(request: DataRequest, table: FrameRead, target: str) -> FrameRead:
    """Return the rows that have a target, or report which ones lack it."""
    is_missing = table.frame[target].isna().to_numpy()
    n_missing, n_rows = int(is_missing.sum()), len(is_missing)
    if not n_missing:
        return table
    if n_missing == n_rows:
        raise InputFailure(
            f"The target {target!r} is missing in all {n_rows} rows of {table.name!r}. Is it another column, or is a "
            "text of it read as a missing value?"
        )
    if not request.drop_missing_target:
        rows = [row for row, missing in enumerate(is_missing.tolist()) if missing]
        raise InputFailure(
            f"The target {target!r} is missing in {n_missing} of {n_rows} rows: {table.place(rows)}. Fill it in, or "
            "leave these rows out with --drop-missing-target."
        )
    table.notes.append(f"{table.name}: {n_missing} of {n_rows} rows have no target and are left out")
    return table.only(~is_missing)


def _refuse_strays(table: FrameRead, target: str) -> None:
    """Refuse a target of numbers beside a few other texts: they would make classes of the numbers."""
    from ppfs._data import is_number

    labels = table.frame[target].dropna()
    texts = [label for label in labels.unique().tolist() if isinstance(label, str)]
    strays = [text for text in texts if not is_number(text)]
    n_numbers = len(texts) - len(strays)
    if n_numbers <= _MOST_CLASSES or len(strays) > n_numbers:
        return
    rows = [row for row, label in enumerate(table.frame[target].tolist()) if label in strays]
    raise InputFailure(
        f"The target {target!r} holds numbers beside {listed(strays, 3)} ({table.place(rows)}). If these stand for "
        f"missing values, add {' '.join(f'--na {stray!r}' for stray in strays[:3])} --drop-missing-target; otherwise "
        "write all numbers in the same way."
    )


def _complete(frame: Any, column: str, flag: str, table: FrameRead) -> Any:
    is_missing = frame[column].isna().to_numpy()
    if is_missing.any() and len(frame) == len(table.frame):
        rows = [row for row, missing in enumerate(is_missing.tolist()) if missing]
        raise InputFailure(f"{flag} {column}: the value is missing in {table.place(rows)}. Fill it in.")
    return frame[column].to_numpy()


def _time(request: DataRequest, frame: Any, column: str | None, table: FrameRead) -> Any:
    """Return the order of the rows as ``fit`` takes it."""
    return _in_time(request, _INDEX if column is None else _complete(frame, column, "--time", table))


def _in_time(request: DataRequest, order: Any) -> Any:
    if request.time is None:
        return None
    from ppfs import RowsInTime

    return RowsInTime(order, gap=request.gap, lags_together=not request.each_lag)


def _target(request: DataRequest, frame: Any, target: str, table: FrameRead) -> Any:
    """Return the target, or its two columns: a time and an event, or a count and its exposure."""
    if request.event is not None:
        return _time_and_event(frame, target, request.event, table)
    if request.exposure is not None:
        _complete(frame, request.exposure, "--exposure", table)
        return frame[[target, request.exposure]].astype(float)
    return frame[target]


def _time_and_event(frame: Any, target: str, event: str, table: FrameRead) -> Any:
    """Return the two columns of a survival target."""
    values = _complete(frame, event, "--event", table)
    if not set(values.tolist()) <= {0, 1}:
        raise InputFailure(
            f"--event {event}: the column must hold 1 where the event was observed and 0 where it was not, but it "
            f"holds {listed(sorted(map(str, set(values.tolist()))), 5)}. Recode it."
        )
    return frame[[target, event]].astype(float)


def _refuse_dates(frame: Any) -> None:
    dates = [str(name) for name, dtype in frame.dtypes.items() if getattr(dtype, "kind", "") in "mM"]
    if dates:
        raise InputFailure(
            f"{listed(dates)} {'holds' if len(dates) == 1 else 'hold'} dates or times, which are neither numbers nor "
            f"categories. Leave them out with --drop {dates[0]!r}, or turn them into days, months or weekdays first."
        )


def _streamed(request: DataRequest, data: str, target: str, quiet: bool) -> Input:
    from ppfs._data import open_source

    unusable = [flag for flag in ("drop", "id", "lags") if getattr(request, flag)]
    if unusable:
        raise UsageFailure(f"--{unusable[0]} needs the table in memory. Leave it out, or leave --stream out.")
    if not Path(data).exists():
        raise InputFailure(f"There is no file {data!r}. Check the path.")
    _refuse_useless({"sheet": request.sheet}, "Excel files are not streamed")
    if not is_text(data):
        of_text = {flag: getattr(request, flag) for flag in ("sep", "encoding", "decimal", "na")}
        _refuse_useless(of_text, f"{Path(data).name!r} is not a text file")
    columns, notes = as_columns(request, data, quiet)
    source = open_source(columns)
    when = None if request.time == _INDEX and _INDEX not in source.names else request.time
    aside = _aside(request, target, when, list(source.names), repr(data))
    read = Input(
        name=Path(data).name,
        X=str(columns),
        y=target,
        names=[name for name in source.names if name not in aside],
        target=target,
        event=request.event,
        exposure=request.exposure,
        groups=request.groups,
        time=_in_time(request, _INDEX if when is None else when),
        weights=request.weights,
        notes=tuple(notes),
    )
    return read if len(read.target_columns) == 1 else replace(read, y=read.target_columns)


def _dataset(request: DataRequest) -> Input:
    if request.data is not None:
        raise UsageFailure(f"Name either a file or a --dataset, {_EXAMPLE}")
    if request.target is not None:
        raise UsageFailure(
            f"--target belongs to a file; the data set {request.dataset!r} has a target of its own. Leave it out."
        )
    own = {flag: getattr(request, flag) for flag in ("sep", "encoding", "decimal", "na", "sheet")}
    _refuse_useless(own, f"{request.dataset!r} is a data set of the registry")
    from ppfs.datasets import load_dataset

    try:
        data = load_dataset(str(request.dataset))
    except (ValueError, FileNotFoundError) as error:
        raise InputFailure(str(error)) from error
    if not hasattr(data.X, "tocsr"):
        table = FrameRead(data.name, data.to_frame(), lambda rows: _numbered(rows, 1), [])
        return _divided(request, table, data.target_name)
    flags = ("drop", "id", "event", "exposure", "groups", "time", "lags", "weights")
    unusable = [flag for flag in flags if getattr(request, flag)]
    if unusable:
        raise UsageFailure(
            f"--{unusable[0]} needs named columns, and {data.name!r} is a sparse matrix. Leave it out."
        )
    return Input(data.name, data.X, data.y, list(data.feature_names), data.target_name)
