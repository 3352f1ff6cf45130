"""Tables whose columns stay in a file and are read when needed."""

from __future__ import annotations

import ctypes
import os
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data.columns import Columns
from ppfs._data.reading.rows import exposed, read_groups, read_weights
from ppfs._data.reading.target import read_typed
from ppfs._data.reading.time import time_order, time_values
from ppfs._data.sources import ColumnSource, FileColumns, FileKinds, open_source
from ppfs._data.table import CallersRows, Table
from ppfs._data.target_task import SaidTask
from ppfs._data.time_order import RowsInTime
from ppfs.exceptions import InvalidInputError

# By default, the columns of a file may take up the memory of the machine divided by this.
_SHARE_OF_MEMORY = 4


def read_file_table(
    path: str | os.PathLike[str],
    y: Any,
    *,
    task: SaidTask,
    owner: object,
    sample_weight: Any,
    groups: Any,
    in_time: RowsInTime | None,
    memory_limit: int | None,
) -> Table:
    """Read a table whose columns stay in the file `path`.

    Parameters
    ----------
    y, sample_weight, groups : array-like, or str
        A name refers to a column of the file, which is then not a feature; y may be a list of names.

    in_time : RowsInTime or None
        The order of the rows; a name as above.

    memory_limit : int or None
        The most bytes that columns may take in memory; None for a quarter of the machine's.
    """
    source = open_source(path)
    when = (
        None
        if in_time is None or (isinstance(in_time.order, str) and in_time.order == "index")
        else in_time.order
    )
    of_target = names_of_target(y, source.n_rows)
    named = [*of_target, *(name for name in (sample_weight, groups, when) if isinstance(name, str))]
    if in_time is not None and isinstance(when, str):
        in_time = replace(in_time, order=source.column(when))
    y = target_of_file(source, of_target) if of_target else y
    sample_weight, groups = (_values(source, given) for given in (sample_weight, groups))

    def require_rows(n_given: int) -> None:
        if n_given != source.n_rows:
            raise InvalidInputError(
                f"{path} has {source.n_rows} rows, but y has {n_given}. They must be the same rows."
            )

    target, exposure = read_typed(y, task, owner=owner, require_rows=require_rows)
    weights, kept_rows = read_weights(sample_weight, target.values, target.values)
    taken = {list(source.names).index(name) for name in named if name in source.names}
    chosen = np.array([column for column in range(source.n_columns) if column not in taken], dtype=np.intp)
    if not chosen.size:
        raise InvalidInputError(f"{path} has no column beside {named}: there is nothing to select from.")
    limit = available_memory() // _SHARE_OF_MEMORY if memory_limit is None else memory_limit
    storage = FileColumns(source, chosen, kept_rows, limit)
    names = tuple(source.names[column] for column in chosen.tolist())
    columns = Columns(
        storage, names, np.zeros(len(names), dtype=np.intp), FileKinds(storage), has_names=source.has_names
    )
    if kept_rows is not None:
        target = replace(target, values=target.values[kept_rows])
        exposure = None if exposure is None else exposure[kept_rows]
        groups = None if groups is None else np.asarray(groups)[kept_rows]
    rows = CallersRows(source.n_rows, kept_rows, weights, read_groups(groups, storage.shape[0]))
    rows = exposed(rows, exposure)
    if in_time is not None:
        times = time_values(in_time, None, source.n_rows)
        times = times if kept_rows is None else times[kept_rows]
        order = time_order(in_time, times, target, None, groups)
        rows = replace(rows, groups=order.blocks, time=order)
    return Table(columns, target, rows=rows)


def names_of_target(y: Any, n_rows: int) -> list[str]:
    """Return the names of the columns of the file that y lists; none if y holds the values."""
    if isinstance(y, str):
        return [y]
    is_list = isinstance(y, list | tuple) and len(y) != n_rows
    return list(y) if is_list and all(isinstance(name, str) for name in y) else []


def target_of_file(source: ColumnSource, names: list[str]) -> NDArray[Any]:
    """Return one or several columns of a file as a target."""
    columns = [source.column(name) for name in names]
    return columns[0] if len(columns) == 1 else np.column_stack(columns)


def _values(source: ColumnSource, given: Any) -> Any:
    return source.column(given) if isinstance(given, str) else given


def available_memory() -> int:
    """Return the machine's memory in bytes."""
    if hasattr(os, "sysconf"):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    status = _MemoryStatus(length=ctypes.sizeof(_MemoryStatus))
    # mypy knows this part of ctypes on Windows only.
    getattr(ctypes, "windll").kernel32.GlobalMemoryStatusEx(ctypes.byref(status))  # noqa: B009
    return int(status.total)


class _MemoryStatus(ctypes.Structure):
    """What Windows says of its memory: MEMORYSTATUSEX."""

    _fields_ = [
        ("length", ctypes.c_uint32),
        ("load", ctypes.c_uint32),
        ("total", ctypes.c_uint64),
        ("rest", ctypes.c_uint64 * 6),
    ]
