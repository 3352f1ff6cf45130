"""``ppfs update``: what new rows say about a saved selection."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from ppfs.cli._failures import InputFailure
from ppfs.cli._terminal import say, writing
from ppfs.cli.flags.data import FILE_FLAGS, FileRequest
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, flag, gathered

_NEW = "update"


@dataclass(frozen=True)
class UpdateRequest(FileRequest):
    """What the flags say; see `FileRequest` for those that describe the tables.

    Attributes
    ----------
    selection : str
        A file made by ``ppfs select --save``; the evidence so far is written into it.

    new : str
        A table of new rows.

    data : str or None
        The table that was searched; None: the file of that name beside the selection.

    format : str
        "table" or "json".
    """

    selection: str
    new: str
    data: str | None
    format: str


_FLAGS = [
    click.argument("selection"),
    click.argument("new"),
    *FILE_FLAGS,
    flag(
        "Data",
        "--data",
        metavar="FILE",
        help="The table that was searched.  [default: the file of its name beside SELECTION]",
    ),
    flag(
        "Output",
        "--format",
        "-f",
        type=click.Choice(["table", "json"]),
        default="table",
        help="How the result is written to standard output.",
    ),
    debug_flag,
]


@click.command(cls=SectionedCommand)
@gathered("request", UpdateRequest, _FLAGS)
def update(request: UpdateRequest) -> None:
    """Check with new rows which selected columns are still needed.

    Columns that were not selected are checked too: some may be needed now.

    SELECTION is a file made by ppfs select --save, NEW a table of rows that came after it. The new rows are predicted
    by models of all earlier rows, those of earlier updates included, and learned after that. The evidence so far is
    kept in SELECTION; the selection itself is not changed.
    """
    from ppfs._data import read_table
    from ppfs._verdicts import Watch, after_batch, begin, read_off, require_alike, require_squares
    from ppfs.cli.output.selection import load

    document = load(request.selection)
    flags = document.get("flags", {})
    _require_single_columns(flags)
    require_alike(document.get("given_with_rows", ()))
    known = document.get(_NEW) or {"files": [], "watch": None}
    digest = _digest(request.new)
    searched = _searched(request, document)
    names = [row["column"] for row in document["columns"]]
    target, task = _target_columns(document), document["task"]
    X, y = _rows(request, searched, names, target)
    require_squares(task, y.to_numpy())
    _refuse_known(
        request.new, [_digest(searched), *(earlier["digest"] for earlier in known["files"])], digest
    )
    reading = {"task": task, "owner": "ppfs update", "categorical_features": _categorical(flags, X)}
    table = read_table(X, y, **reading)
    chosen = set(document["selected"])
    watch = None if known["watch"] is None else Watch.from_plain(known["watch"])
    if watch is None:
        watch = begin(table, [i for i, name in enumerate(names) if name in chosen])
    for earlier in known["files"]:
        X, y = _joined(X, y, *_rows(request, earlier["data"], names, target))
    if len(X) != watch.n_rows + watch.n_new:
        raise InputFailure(
            f"The earlier tables have {len(X)} rows, but {watch.n_rows + watch.n_new} were seen. A table was changed "
            "since: restore it, or select again."
        )
    n_earlier = len(X)
    X, y = _joined(X, y, *_rows(request, request.new, names, target))
    watch = after_batch(watch, read_table(X, y, **reading), n_earlier)
    alpha = document.get("alpha")
    found = read_off(watch, names, 0.05 if alpha is None else float(alpha))
    _explain_with(document, found)
    files = [*known["files"], {"data": str(Path(request.new).resolve()), "digest": digest}]
    _save(
        document, {"files": files, "watch": watch.as_plain(), "result": found.as_plain()}, request.selection
    )
    say(str(found))
    with writing():
        click.echo(json.dumps(found.as_plain()) if request.format == "json" else _lines(found))


def _require_single_columns(flags: Mapping[str, Any]) -> None:
    if "feature-group" in flags:
        raise InputFailure(
            "This selection was made with --feature-group, and ppfs update reads every column as a separate feature. "
            "Use the method update of the selector in Python instead."
        )


def _categorical(flags: Mapping[str, Any], X: Any) -> Any:
    """Return the columns that the search read as categories."""
    from ppfs.cli.input import resolve, with_text_columns

    if "categorical" not in flags:
        return "auto"
    return with_text_columns(X, resolve(flags["categorical"], list(X.columns), "--categorical"))


def _explain_with(document: dict[str, Any], found: Any) -> None:
    """Put what the new rows show into the trace, for ``ppfs explain --from``."""
    trace = document.get("trace")
    if trace is None:
        return
    by_name = {name: feature for feature, name in enumerate(trace["names"])}
    said = [one for one in trace.get("said", []) if one[0] != _NEW]
    trace["said"] = [*said, *([_NEW, by_name[name], told] for name, told in found.by_feature().items())]


def _lines(found: Any) -> str:
    """Return one line per column that something was shown about, or that is selected."""
    from ppfs._printable import printable

    rows = [
        f"{printable(feature)}\t{status}\t{e:.3g}"
        for feature, status, e in zip(found.features, found.statuses, found.e_values, strict=True)
        if status != "no evidence"
    ]
    return "\n".join(["column\tstatus\te-value", *rows])


def _searched(request: UpdateRequest, document: dict[str, Any]) -> str:
    """Return the table that was searched."""
    if request.data is not None:
        return request.data
    beside = Path(request.selection).parent / document["data"]
    if not beside.is_file():
        raise InputFailure(
            f"There is no file {str(beside)!r}, the table that was searched: models of its rows predict the new ones. "
            "Name it: --data FILE"
        )
    return str(beside)


def _target_columns(document: dict[str, Any]) -> list[str]:
    """Return the column of the target, and that of its event or exposure."""
    return [name for key in ("target", "event", "exposure") if (name := document.get(key)) is not None]


def _rows(request: UpdateRequest, path: str, names: list[str], target: list[str]) -> tuple[Any, Any]:
    from ppfs._printable import listed
    from ppfs.cli.input import read_file

    frame = read_file(path, request).frame
    missing = [name for name in (*names, *target) if name not in frame.columns]
    if missing:
        raise InputFailure(f"{path!r} lacks the columns {listed(missing)}.")
    return frame[names], frame[target[0]] if len(target) == 1 else frame[target]


def _joined(X: Any, y: Any, X_new: Any, y_new: Any) -> tuple[Any, Any]:
    import pandas as pd

    from ppfs._verdicts import stacked_rows

    return stacked_rows(X, X_new), pd.concat([y, y_new], ignore_index=True)


def _digest(path: str) -> str:
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest()
    except FileNotFoundError:
        raise InputFailure(f"There is no file {path!r}. Check the path.") from None
    except OSError as error:
        raise InputFailure(f"{path!r} cannot be read: {error.strerror or error}.") from error


def _refuse_known(new: str, known: list[str], digest: str) -> None:
    if digest in known:
        raise InputFailure(f"The rows of {new!r} are in this selection already, and no row counts twice.")


def _save(document: dict[str, Any], found: dict[str, Any], path: str) -> None:
    from ppfs.cli.output.writing import replaced

    with replaced(Path(path)) as place:
        place.write_text(json.dumps({**document, _NEW: found}) + "\n", encoding="utf-8")
