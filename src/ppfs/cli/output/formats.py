"""A result as a table, names, JSON, CSV or Markdown."""

from __future__ import annotations

import csv
import io
import json
from collections import Counter
from collections.abc import Mapping
from typing import Any

import click

from ppfs.cli._terminal import printable
from ppfs.cli.output.cells import not_a_formula

_BAR_WIDTH = 20
# A narrower terminal has no room for bars.
_WIDE_ENOUGH_FOR_BARS = 90

Result = Mapping[str, Any]


def write(result: Result, format: str) -> None:
    """Write a result to standard output."""
    if format == "table":
        _print_table(result)
        return
    texts = {"json": as_json, "csv": as_csv, "names": as_names, "markdown": as_markdown}
    text = texts[format](result)
    if text:
        click.echo(text)


def as_json(result: Result) -> str:
    """Return the whole result as JSON, every column included."""
    return json.dumps(result, indent=2)


def as_names(result: Result) -> str:
    """Return the selected names, most important first, one per line."""
    return "\n".join(printable(name) for name in result["selected"])


def as_csv(result: Result) -> str:
    """Return one row per column of the data, as CSV."""
    written = io.StringIO()
    writer = csv.DictWriter(written, list(result["columns"][0]), lineterminator="\n")
    writer.writeheader()
    for row in result["columns"]:
        writer.writerow({name: _cell(value) for name, value in row.items()})
    return written.getvalue().rstrip("\n")


def as_markdown(result: Result) -> str:
    """Return the selected columns as a table in Markdown, with a sentence above and below."""
    lines = [
        headline(result),
        "",
        "| column | importance | p-value | reason |",
        "| --- | ---: | ---: | --- |",
    ]
    lines += [
        f"| {_escaped(row['column'])} | {_number(row.get('importance'), '.4g')} | {_number(row.get('pvalue'), '.2g')} "
        f"| {row['reason']} |"
        for row in selected_rows(result)
    ]
    return "\n".join([*lines, "", closing(result)])


def selected_rows(result: Result) -> list[dict[str, Any]]:
    """Return the rows of the selected columns, most important first."""
    by_name = {row["column"]: row for row in result["columns"]}
    return [by_name[name] for name in result["selected"]]


def headline(result: Result) -> str:
    """Return the result in one line."""
    n, data, target = len(result["selected"]), printable(result["data"]), printable(result["target"])
    return f"{data}: {n} of {len(result['columns'])} columns {'was' if n == 1 else 'were'} selected to predict {target}"


def closing(result: Result) -> str:
    """Return why the other columns were not selected, and how they were tested."""
    from ppfs._trace import NO_ADDITION, NO_LINK, UNDECIDED

    reasons = Counter(row["reason"] for row in result["columns"] if not row["selected"])
    words = {
        NO_LINK: "without evidence of a link on their own",
        NO_ADDITION: "without evidence that they add to the others",
        UNDECIDED: "undecided because a small effect could have been missed",
    }
    counted = {text: reasons.pop(reason, 0) for reason, text in words.items()}
    counted["for other reasons"] = reasons.total()
    outside = ", ".join(f"{n} {text}" for text, n in counted.items() if n)
    parts = [f"Method {result['method']}"]
    if result["test"]:
        parts.append(f"p-values of the test: {result['test']}")
    if result["models"]:
        parts.append(f"models {', '.join(result['models'])}")
    if result["alpha"] is not None:
        parts.append(f"alpha {result['alpha']}")
    if result["correction"]:
        parts.append(f"correction {result['correction']}")
    if result["n_fits"] is not None:
        parts.append(f"{result['n_fits']} models fitted")
    confirmed = result["confirmation"]
    more = f"\n{confirmed['summary'].capitalize()}." if confirmed else ""
    rest = f"Not selected: {outside}.\n" if outside else ""
    return f"{rest}{', '.join(parts)}.{more}"


def _print_table(result: Result) -> None:
    from rich.console import Console
    from rich.table import Table

    # Names are shown as they are: they may contain what Rich reads as markup or emoji.
    console = Console(highlight=False, markup=False, emoji=False)
    has_bars = console.width >= _WIDE_ENOUGH_FOR_BARS
    table = Table()
    table.add_column("column", overflow="fold")
    table.add_column("importance", justify="right", no_wrap=True)
    if has_bars:
        table.add_column("", min_width=_BAR_WIDTH)
    table.add_column("p-value", justify="right", no_wrap=True)
    rows = selected_rows(result)
    largest = max((row.get("importance") or 0.0 for row in rows), default=0.0)
    for row in rows:
        importance = row.get("importance")
        bar = "█" * max(1, round(_BAR_WIDTH * importance / largest)) if importance and largest > 0 else ""
        table.add_row(
            printable(row["column"]),
            _number(importance, ".4g"),
            *([bar] if has_bars else []),
            _number(row.get("pvalue"), ".2g"),
        )
    console.print(headline(result))
    if rows:
        console.print(table)
    if any(row.get("importance") is not None for row in rows):
        console.print(f"importance: {result['importance']}")
    console.print(closing(result))


def _number(value: float | None, format: str) -> str:
    return "" if value is None else f"{value:{format}}"


def _cell(value: Any) -> Any:
    text = "; ".join(value) if isinstance(value, list) else value
    return not_a_formula(printable(text)) if isinstance(text, str) else text


def _escaped(name: str) -> str:
    """Return a name that Markdown shows unchanged inside a table."""
    return printable(name).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("`", "\\`")
