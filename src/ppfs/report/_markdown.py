"""The report as Markdown."""

from __future__ import annotations

import re
from typing import Any

from ppfs._printable import printable
from ppfs.report._summary import notes_for_readers
from ppfs.report._verdicts import (
    ROLES_HOLD,
    at_least_in_words,
    capitalized,
    detectable_in_words,
    doubts_in_words,
    roles_in_words,
    update_in_words,
)

_MOST_COLUMNS = 200

# Columns of numbers, by their titles; those without a number are left out.
_NUMBERS = (
    ("importance", "importance"),
    ("p alone", "marginal_pvalue"),
    ("p", "adjusted_pvalue"),
    ("detectable", "detectable"),
)


def markdown_page(summary: dict[str, Any]) -> str:
    """Return the summary as Markdown: the verdict, the kept columns, warnings, data, and how to do it again."""
    data = summary["data"]
    lines = [f"# {_escaped(summary['headline'])}", "", _escaped(summary["lead"]), ""]
    rows = "rows searched" if summary["confirmation"] else "rows"
    lines += [
        f"{data['n_rows']:,} {rows}, {data['n_columns']:,} columns, {data['task']}. "
        f"{summary['search']}{_asked(summary)}.",
        "",
    ]
    warnings = [each["message"] for each in summary["warnings"]] + doubts_in_words(
        summary["may_be_too_small"]
    )
    if warnings:
        lines += ["## Check these columns", "", *(f"- {_escaped(warning)}" for warning in warnings), ""]
    lines += ["## Columns", "", *_table(summary), ""]
    if summary["detectable"]:
        lines += ["## Could more have been seen?", "", detectable_in_words(summary["detectable"]), ""]
    if summary["confirmation"]:
        lines += [
            "## Confirmed on rows held out",
            "",
            f"{_escaped(capitalized(summary['confirmation']['summary']))}.",
            "",
        ]
    if summary["at_least"]:
        lines += [f"{_escaped(at_least_in_words(summary['at_least']))}.", ""]
    if summary["roles"]:
        lines += ["## Roles around the target", "", ROLES_HOLD, ""]
        lines += [*(f"- {_escaped(line)}" for line in roles_in_words(summary["roles"])), ""]
    if summary["update"]:
        lines += ["## New rows", "", _escaped(update_in_words(summary["update"])), ""]
    if notes := notes_for_readers(summary):
        lines += ["## Notes", "", *(f"- {_escaped(note)}" for note in notes), ""]
    lines += ["## How to repeat it", ""]
    if summary["command"] is not None:
        lines += ["```", summary["command"], "```", ""]
    lines += ["```python", summary["code"], "```", ""]
    versions = ", ".join(f"{name} {number}" for name, number in summary["versions"].items())
    lines += [f"{summary['created']}. Seed {summary['seed']}. {versions}.", ""]
    return "\n".join(lines)


def _asked(summary: dict[str, Any]) -> str:
    """Return which test was asked, and how much; nothing for selectors that ask none."""
    if summary["test"] is None:
        return ""
    return (
        f" with {summary['test']}, level {summary['alpha']:g}; {summary['n_questions']:,} questions, "
        f"{summary['n_fits']:,} models"
    )


def _table(summary: dict[str, Any]) -> list[str]:
    columns = summary["columns"]
    place = {name: number for number, name in enumerate(columns["column"])}
    kept = [place[name] for name in summary["selected"]]
    members = set(kept)
    order = (kept + [i for i in range(len(columns["column"])) if i not in members])[:_MOST_COLUMNS]
    shown = [
        (title, columns[name])
        for title, name in _NUMBERS
        if any(value is not None for value in columns[name])
    ]
    titles = ["column", "kept", *(title for title, _ in shown), "reason"]
    lines = [_row(titles), _row(["---", "---", *("---:" for _ in shown), "---"])]
    for i in order:
        numbers = [_number(values[i]) for _, values in shown]
        name, reason = _escaped(columns["column"][i]), _escaped(columns["reason"][i])
        lines.append(_row([name, "yes" if columns["selected"][i] else "", *numbers, reason]))
    left = len(columns["column"]) - len(order)
    if left > 0:
        lines += ["", f"{left:,} more columns were not kept; the JSON report lists them all."]
    return lines


def _row(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _number(value: float | None) -> str:
    return "" if value is None else f"{value:.3g}"


def _escaped(text: str) -> str:
    """Keep names of columns from being read as markup, or as several lines."""
    return re.sub(r"([\\`*_\[\]<>|#$~])", r"\\\1", printable(text))
