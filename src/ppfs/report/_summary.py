"""The content of a report: one plain dictionary, from which every format is written."""

from __future__ import annotations

import platform
from collections.abc import Iterator
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import narwhals as nw
import numpy as np

from ppfs._comparison import Comparison
from ppfs._fitting import changed_parameters
from ppfs.blanket import PPFS
from ppfs.exceptions import InvalidInputError
from ppfs.plotting import meaning_of_importances, results_of
from ppfs.report._verdicts import (
    at_least_of,
    capitalized,
    detectable_of,
    doubtful_of,
    measure,
    roles_of,
    sufficiency_of,
    update_of,
)

_PACKAGES = ("ppfs", "numpy", "scipy", "scikit-learn", "numba", "pandas", "polars")

# An explanation takes some hundred bytes: a page with those of a hundred thousand columns would not open.
_MOST_EXPLAINED = 500

# Words of notes about how models are computed: useful for measuring times, not for reading a result.
_OF_COMPUTING = ("by the engine", "scikit-learn's interface")

# How the note about an empty selection begins; what these rows would have found follows.
_NONE_SELECTED = "no column was selected: "

# Notes that begin like this are said in a section of their own.
_SAID_ELSEWHERE = (_NONE_SELECTED, "confirmed on ")

_CALLED = {"selection": "the selection", "all": "all columns"}


def summarize(
    selector: Any,
    command: str | None = None,
    comparison: Comparison | None = None,
    *,
    with_sufficiency: bool = True,
) -> dict[str, Any]:
    """Return the content of a report.

    Parameters
    ----------
    command : str, default=None
        The command that made the selection, if it was not made in Python.

    comparison : Comparison, default=None
        The methods "selection" and "all" on the same folds.

    with_sufficiency : bool, default=True
        Measure whether the selected columns are enough, where that was not done yet and the data are available.

    Returns
    -------
    dict
        Lists, texts, numbers and None only, so that it can be written as JSON.
    """
    trace = selector.trace_
    data = trace.data
    if data is None:
        raise InvalidInputError(
            f"{type(selector).__name__} was fitted on data that ppfs cannot read, so there is nothing to report."
        )
    failure = measure(selector) if with_sufficiency else ""
    result = result_of(selector)
    result["notes"] += [failure] * bool(failure)
    columns = _columns(selector)
    scores = None if comparison is None else _scores(comparison)
    if comparison is not None:
        result["notes"] += [
            f"Cross-validated scores of {_CALLED[method.name]}: {method.note}."
            for method in comparison.methods
            if method.note
        ]
        columns["refits"] = _shares(comparison["selection"].selected, columns["column"])
    return {
        "format": "ppfs-report",
        "format_version": 2,
        "created": datetime.now(UTC).strftime("%Y-%m-%d"),
        "headline": _headline(len(result["selected"]), data.n_columns, data.target),
        "lead": _lead(selector, result, scores),
        **result,
        "search": type(selector).__name__,
        "n_questions": int(getattr(getattr(selector, "selector_", selector), "n_tests_", 0)),
        "n_fits": result["n_fits"] or 0,
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
        "scores": scores,
        "columns": columns,
        "explanations": _explanations(selector, columns),
        "parameters": {name: _shown(value) for name, value in changed_parameters(selector).items()},
        "seed": _shown(selector.random_state),
        "versions": _versions(),
        "command": command,
        "code": _code(selector),
    }


def result_of(selector: Any) -> dict[str, Any]:
    """Return the result of a selection, for reports and the command line.

    Returns
    -------
    dict
        Lists, texts, numbers and None only: the selected columns, most important first, how they were found, their
        confirmation on held-out rows, warnings and notes.
    """
    trace = selector.trace_
    # The search that asked the questions, if any were asked.
    search = getattr(selector, "selector_", selector)
    test = getattr(search, "independence_", None)
    folds = getattr(search, "folds_", ())
    n_fits = getattr(search, "n_fits_", None)
    meaning = meaning_of_importances(selector)
    return {
        "selected": [trace.column_names[column] for column in selector.blanket_],
        "task": trace.data.task,
        "n_rows": trace.data.n_rows,
        "test": None if test is None else type(test).__name__,
        "models": list(trace.models),
        "alpha": None if test is None else float(search.alpha),
        "correction": getattr(search, "correction", None),
        "importance": None if meaning is None else meaning.sentence,
        "n_fits": None if n_fits is None else int(n_fits),
        "n_folds": len(folds),
        "chosen_fold": next((fold.number for fold in folds if fold.is_chosen), None),
        "confirmation": confirmation_of(selector),
        "sufficiency": sufficiency_of(selector),
        "may_be_too_small": doubtful_of(selector),
        "detectable": detectable_of(selector),
        "at_least": at_least_of(selector),
        "roles": roles_of(selector),
        "update": update_of(selector),
        "warnings": [{**asdict(each), "message": each.message} for each in selector.warnings_],
        "notes": list(trace.notes),
    }


def column_rows(selector: Any) -> list[dict[str, Any]]:
    """Return the rows of ``results_`` as plain dictionaries, with None where a number is missing."""
    frame = nw.from_native(selector.results_, eager_only=True)
    return [{name: _plain(value) for name, value in row.items()} for row in frame.rows(named=True)]


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, bool | str | int):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    if hasattr(value, "tolist"):
        return _plain(value.tolist())
    return [_plain(part) for part in value]


def notes_for_readers(summary: dict[str, Any]) -> list[str]:
    """Return the notes without those about how models are computed, and those that are said elsewhere."""
    return [
        note
        for note in summary["notes"]
        if not any(words in note for words in _OF_COMPUTING) and not note.startswith(_SAID_ELSEWHERE)
    ]


def confirmation_of(selector: Any) -> dict[str, Any] | None:
    """Return the confirmation of the selected columns on held-out rows; None if no rows were held out."""
    confirmed = getattr(selector, "confirmed_", None)
    if confirmed is None:
        return None
    return {
        "summary": str(confirmed),
        "n_rows": int(confirmed.n_rows),
        "alpha": float(confirmed.alpha),
        "correction": confirmed.correction,
        "columns": [
            {
                "feature": feature,
                "pvalue": plain_number(confirmed.pvalues[i]),
                "adjusted_pvalue": plain_number(confirmed.adjusted_pvalues[i]),
                "effect": plain_number(confirmed.effects[i]),
                "confirmed": bool(confirmed.is_confirmed[i]),
            }
            for i, feature in enumerate(confirmed.features)
        ],
    }


def plain_number(value: float) -> float | None:
    """Return a number for JSON, rounded to six significant digits; None for NaN and infinity."""
    return float(f"{value:.6g}") if np.isfinite(value) else None


def _headline(n_selected: int, n_columns: int, target: str) -> str:
    if not n_selected:
        return f"No column was selected to predict {target}"
    if n_selected == n_columns:
        return f"All {n_columns} columns were selected to predict {target}"
    return f"{n_selected} of {n_columns} columns {'was' if n_selected == 1 else 'were'} selected to predict {target}"


def _lead(selector: Any, result: dict[str, Any], scores: dict[str, Any] | None) -> str:
    """Return sentences about what was tested and found, and nothing more."""
    trace = selector.trace_
    found = trace.method if trace.method or result["alpha"] is None else _tested(selector, result)
    whole = "" if result["sufficiency"] is None else result["sufficiency"]["summary"]
    return " ".join(filter(None, [whole, found, "" if scores is None else _in_words(scores)]))


def _tested(selector: Any, result: dict[str, Any]) -> str:
    """Return which evidence there is, and how the columns were tested that are not selected."""
    trace = selector.trace_
    at = f"At level {result['alpha']:g}"
    if not result["selected"]:
        about = next((note for note in trace.notes if note.startswith(_NONE_SELECTED)), "")
        needed = f"{capitalized(about.removeprefix(_NONE_SELECTED))}. " if about else ""
        return (
            f"{at} there is no evidence that a column predicts the target better than chance. {needed}"
            "More rows, or another model, may show more."
        )
    n_left = trace.data.n_columns - len(result["selected"])
    if not n_left:
        return f"{at} there is evidence that each column adds to the others."
    detectable = result["detectable"]
    if detectable is None:
        missed = "A weak effect can still have been missed."
    else:
        n = detectable["n_undecided"]
        missed = (
            f"{n:,} of them {'is' if n == 1 else 'are'} undecided: an effect like that of the weakest selected column "
            "could have been missed."
            if n
            else ""
        )
    return f"{at} {_of_the_others(selector, n_left)} {missed}".rstrip()


def _of_the_others(selector: Any, n_left: int) -> str:
    """Return what columns that are not selected were tested given."""
    trace = selector.trace_
    asked = trace.question_arrays()
    is_beside = np.zeros(len(trace.names), dtype=bool)
    is_beside[asked.features[~asked.is_marginal]] = True
    n_beside = int(is_beside[trace.features_of_columns()][~np.asarray(selector.support_)].sum())
    if n_beside == n_left:
        rest = "the other column adds" if n_left == 1 else f"any of the other {n_left:,} columns adds"
        return f"there is no evidence that {rest} to the selected ones."
    if not n_beside:
        if n_left == 1:
            return "there is no evidence that the other column is linked to the target. It was tested on its own only."
        return (
            f"there is no evidence that any of the other {n_left:,} columns is linked to the target. They were tested "
            "on their own only."
        )
    return (
        f"there is no evidence for the other {n_left:,} columns: {n_beside:,} were tested beside other columns, "
        f"{n_left - n_beside:,} on their own only."
    )


def _in_words(scores: dict[str, Any]) -> str:
    selection, everything = scores["selection"], scores["all"]
    if selection["score"] is None or everything["score"] is None:
        return ""
    return (
        f"In {scores['n_folds']}-fold cross-validation, with the selection repeated inside each training part, "
        f"{scores['model']} reached a mean {scores['scoring']} of {_with_error(selection)} with the selected columns "
        f"({selection['n_columns']:g} on average) and {_with_error(everything)} with all {everything['n_columns']:g}."
    )


def _with_error(method: dict[str, Any]) -> str:
    error = "" if method["error"] is None else f" ± {method['error']:.3f}"
    return f"{method['score']:.3f}{error}"


def _scores(comparison: Comparison) -> dict[str, Any]:
    """Return the scores of the selection and of all columns on the same folds."""
    return {
        "scoring": comparison.scoring,
        "model": comparison.model,
        "n_folds": comparison.n_folds,
        **{
            method.name: {
                "score": plain_number(method.score),
                "error": plain_number(method.score_error),
                "n_columns": plain_number(method.n_columns),
                "stability": plain_number(method.stability),
                "note": method.note,
            }
            for method in comparison.methods
        },
    }


def _shares(selections: tuple[tuple[str, ...], ...], names: list[str]) -> list[float | None]:
    """Return the share of the repeated selections that contain each column."""
    if not selections:
        return [None] * len(names)
    sets = [set(selection) for selection in selections]
    return [sum(name in selection for selection in sets) / len(sets) for name in names]


def _columns(selector: Any) -> dict[str, list[Any]]:
    """Return the table of results, column by column."""
    results = results_of(selector)
    numbers = (
        "importance",
        "importance_low",
        "importance_high",
        "pvalue",
        "adjusted_pvalue",
        "stability",
        "detectable",
    )
    found = {name: [plain_number(value) for value in results.numbers(name).tolist()] for name in numbers}
    if not selector.trace_:
        # A selector that asks no questions has nothing to adjust.
        found["adjusted_pvalue"] = found["pvalue"]
    return {
        "column": results.texts("column"),
        "selected": results.flags("selected").tolist(),
        **found,
        "marginal_pvalue": [plain_number(value) for value in _marginal_pvalues(selector.trace_)],
        "confirmed_pvalue": _confirmed_pvalues(selector),
        "phase": results.texts("phase"),
        "reason": results.texts("reason"),
        "redundant_with": results.lists("redundant_with"),
    }


def _marginal_pvalues(trace: Any) -> list[float]:
    """Return the adjusted p-value of each column on its own; NaN where it was not asked about alone."""
    asked = trace.question_arrays()
    by_feature = np.full(len(trace.names), np.nan)
    # A column that is asked about again is judged by the last answer.
    by_feature[asked.features[asked.is_marginal]] = asked.adjusted_pvalues[asked.is_marginal]
    return [float(by_feature[feature]) for feature in trace.features_of_columns()]


def _confirmed_pvalues(selector: Any) -> list[float | None]:
    """Return the adjusted p-value of each column on the held-out rows."""
    values: list[float | None] = [None] * len(selector.trace_.column_names)
    confirmed = getattr(selector, "confirmed_", None)
    if confirmed is not None:
        for group, pvalue in zip(confirmed.columns, confirmed.adjusted_pvalues, strict=True):
            for column in group:
                values[column] = plain_number(pvalue)
    return values


def _explanations(selector: Any, columns: dict[str, list[Any]]) -> dict[str, list[str]]:
    """Return all questions about a column in words, by its number: the selected columns and those closest to them."""
    pvalues = [1.0 if value is None else value for value in columns["pvalue"]]
    order = sorted(range(len(pvalues)), key=lambda i: (not columns["selected"][i], pvalues[i], i))
    return {str(i): selector.trace_.explain(i).splitlines() for i in sorted(order[:_MOST_EXPLAINED])}


def _shown(value: Any) -> str:
    text = " ".join(repr(value).split())
    return text if len(text) <= 300 else f"{text[:299]}…"


def _code(selector: Any) -> str:
    """Return Python code that repeats the selection."""
    name = type(selector).__name__
    made, given = name, changed_parameters(selector)
    preset = PPFS.calibrated()
    if name == "PPFS" and given.get("independence") == preset.independence:
        made, given = "PPFS.calibrated", changed_parameters(selector, preset)
    # What is shown while it runs does not matter to the result.
    listed = ", ".join(f"{key}={_shown(value)}" for key, value in given.items() if key != "progress")
    lines = sorted(
        {
            f"from {_public_module(kind)} import {kind.__name__}"
            for kind in (type(selector), *_kinds_in(list(given.values())))
            if kind is type(selector) or f"{kind.__name__}(" in listed
        }
    )
    return "\n".join([*lines, "", f"selector = {made}({listed}).fit(X, y)"])


def _kinds_in(value: Any) -> Iterator[type]:
    """Yield the classes of the estimators, tests and splitters in a parameter, however deep."""
    if isinstance(value, list | tuple | dict):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _kinds_in(one)
    elif not isinstance(value, type) and (hasattr(value, "get_params") or hasattr(value, "get_n_splits")):
        yield type(value)
        yield from _kinds_in(value.get_params(deep=False) if hasattr(value, "get_params") else vars(value))


def _public_module(kind: type) -> str:
    return "ppfs" if kind.__name__ in ("PPFS", "PPFSCV") else kind.__module__.split("._")[0]


def _versions() -> dict[str, str]:
    found = {"Python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
