"""From a fitted search to one plain dictionary, which every way of writing reads."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from ppfs._fitting import changed_parameters
from ppfs.plotting import results_of

_PACKAGES = ("ppfs", "numpy", "scipy", "scikit-learn", "numba", "pandas", "polars")


def summarise(selector: Any, command: str | None = None) -> dict[str, Any]:
    """Return everything that a report says.

    Parameters
    ----------
    selector : fitted search

    command : str, default=None
        What made the selection; None writes the call in Python.

    Returns
    -------
    dict
        Lists, texts, numbers and None only, so that it can be written as JSON.
    """
    trace = selector.trace_
    data = trace.data
    columns = _columns(selector)
    selected = [trace.column_names[column] for column in selector.blanket_]
    return {
        "format": "ppfs-report",
        "format_version": 1,
        "headline": _headline(len(selected), data.n_columns, data.target),
        "selected": selected,
        "search": type(selector).__name__,
        "test": type(selector.independence_).__name__,
        "alpha": float(selector.alpha),
        "correction": getattr(selector, "correction", None),
        "n_questions": int(selector.n_tests_),
        "n_fits": int(selector.n_fits_),
        "n_folds": len(selector.folds_),
        "data": {
            "n_rows": data.n_rows,
            "n_columns": data.n_columns,
            "n_categorical": data.n_categorical,
            "target": data.target,
            "task": data.task,
            "classes": [[label, count] for label, count in data.classes],
            "n_classes": data.n_classes,
            "quartiles": list(data.quartiles),
        },
        "warnings": [
            {"column": each.column, "kind": each.kind, "message": each.message} for each in selector.warnings_
        ],
        "notes": list(trace.notes),
        "columns": columns,
        "parameters": {name: _said(value) for name, value in changed_parameters(selector).items()},
        "seed": _said(selector.random_state),
        "versions": _versions(),
        "command": _code(selector) if command is None else command,
    }


def _headline(n_selected: int, n_columns: int, target: str) -> str:
    if not n_selected:
        return f"None of the {n_columns} columns helps to predict {target}"
    if n_selected == n_columns:
        return f"All {n_columns} columns are needed to predict {target}"
    verb = "is" if n_selected == 1 else "are"
    return f"{n_selected} of {n_columns} columns {verb} enough to predict {target}"


def _columns(selector: Any) -> dict[str, list[Any]]:
    """Return the table of results, column by column."""
    results = results_of(selector)
    numbers = ("importance", "importance_low", "importance_high", "pvalue", "adjusted_pvalue", "stability")
    return {
        "column": results.texts("column"),
        "selected": results.flags("selected").tolist(),
        **{name: [_number(value) for value in results.numbers(name).tolist()] for name in numbers},
        "phase": results.texts("phase"),
        "reason": results.texts("reason"),
        "redundant_with": results.lists("redundant_with"),
    }


def _number(value: float) -> float | None:
    """Return a number that JSON has, with as many digits as anyone reads."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _said(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 300 else f"{text[:299]}…"


def _code(selector: Any) -> str:
    name = type(selector).__name__
    module = "ppfs" if name in ("PPFS", "PPFSCV") else type(selector).__module__.rsplit("._", 1)[0]
    given = ", ".join(f"{key}={_said(value)}" for key, value in changed_parameters(selector).items())
    return f"from {module} import {name}\n\nselector = {name}({given}).fit(X, y)"


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
