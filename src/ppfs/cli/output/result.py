"""One plain dictionary of a result: what JSON, files and tables are made from."""

from __future__ import annotations

import math
from typing import Any

from ppfs.cli.flags.parameters import SearchRequest, flag_of
from ppfs.cli.input import Input

#: What a result document says it is, and the version of its layout.
SCHEMA, SCHEMA_VERSION = "ppfs-selection", 1


def summarised(
    selector: Any, data: Input, search: SearchRequest, *, with_columns: bool = True
) -> dict[str, Any]:
    """Return everything about a fitted selector that can be told without the data.

    Parameters
    ----------
    with_columns : bool, default=True
        Whether every column is listed; a million of them take a gigabyte.
    """
    from ppfs import __version__

    columns = result_rows(selector) if with_columns else []
    test = getattr(selector, "independence_", None)
    chosen = next((fold.number for fold in getattr(selector, "folds_", ()) if fold.is_chosen), None)
    return {
        "schema": SCHEMA,
        "schema_version": SCHEMA_VERSION,
        "ppfs": __version__,
        "data": data.name,
        "target": data.target,
        "task": getattr(selector, "task_", None) or data.task(search.task),
        "method": search.method,
        "test": None if test is None else test_name(search, test),
        "models": list(getattr(trace_of(selector), "models", ())),
        "alpha": getattr(selector, "alpha", None),
        "correction": getattr(selector, "correction", None),
        "n_folds": getattr(selector, "n_folds", 0),
        "chosen_fold": chosen,
        "random_state": search.random_state,
        "n_rows": _n_rows(data),
        "n_fits": getattr(selector, "n_fits_", None),
        "flags": given_flags(search),
        "selected": [data.names[column] for column in _in_order(selector)],
        "columns": columns,
        "confirmation": _confirmation(getattr(selector, "confirmed_", None)),
        "warnings": [
            {"column": warning.column, "kind": warning.kind, "finding": warning.finding, "flag": warning.flag}
            for warning in getattr(selector, "warnings_", ())
        ],
        "notes": list(getattr(trace_of(selector), "notes", [])),
    }


def test_name(search: SearchRequest, test: Any) -> str:
    """Return what the test is called beside its p-values."""
    named = {"CrossFitPPI": "calibrated", "PPI": "paper"}.get(type(test).__name__)
    return f"{named} ({type(test).__name__})" if named else type(test).__name__


def given_flags(search: SearchRequest) -> dict[str, Any]:
    """Return the flags that were given, by their names, as JSON has them."""
    given = {name: getattr(search, name) for name in SearchRequest.__dataclass_fields__ if name != "quiet"}
    return {
        flag_of(name).removeprefix("--"): list(value) if isinstance(value, tuple) else value
        for name, value in given.items()
        if value not in (None, ())
    }


def _confirmation(confirmed: Any) -> dict[str, Any] | None:
    """Return what rows that were set aside say about the selected columns."""
    if confirmed is None:
        return None
    import narwhals as nw

    rows = nw.from_native(confirmed.to_frame(), eager_only=True).rows(named=True)
    return {
        "summary": str(confirmed),
        "n_rows": confirmed.n_rows,
        "columns": [{name: _plain(value) for name, value in row.items()} for row in rows],
    }


def trace_of(selector: Any) -> Any:
    """Return the trace of a selector, or None where there is none."""
    return getattr(selector, "trace_", None)


def result_rows(selector: Any) -> list[dict[str, Any]]:
    """Return the rows of ``results_`` as JSON has them: there is no NaN."""
    import narwhals as nw

    frame = nw.from_native(selector.results_, eager_only=True)
    return [{name: _plain(value) for name, value in row.items()} for row in frame.rows(named=True)]


def _in_order(selector: Any) -> list[int]:
    """Return the numbers of the selected columns, most important first where that is known."""
    if hasattr(selector, "blanket_"):
        return [int(column) for column in selector.blanket_]
    return [column for column, is_selected in enumerate(selector.support_) if is_selected]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return [_plain(part) for part in value]


def _n_rows(data: Input) -> int | None:
    shape = getattr(data.X, "shape", None)
    return None if shape is None else int(shape[0])
