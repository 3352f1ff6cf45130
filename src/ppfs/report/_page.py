"""The report as one self-contained page."""

from __future__ import annotations

import json
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

from ppfs.report._pictures import Picture
from ppfs.report._summary import notes_for_readers
from ppfs.report._verdicts import (
    at_least_section,
    capitalized,
    detectable_section,
    doubts_in_words,
    roles_section,
    update_section,
)

_OF_PVALUES = (
    "Columns were tested on their own (<b>p alone</b>, adjusted for the number of columns where a correction is named "
    "above) and given other columns. <b>p</b> belongs to the answer that decided. A p-value is the probability of a "
    "result at least as strong if the column did not matter; small values are strong evidence. A large p-value is not "
    "evidence that a column does not matter."
)

# The reason that the trace gives for columns of always_keep: they have no p-value.
_BY_REQUEST = "kept by request"


def html_page(summary: dict[str, Any], pictures: list[Picture]) -> str:
    """Return the page. It is self-contained, and every name from the data is escaped."""
    folder = files("ppfs.report")
    page = Template(folder.joinpath("page.html").read_text(encoding="utf-8"))
    return page.substitute(
        css=folder.joinpath("page.css").read_text(encoding="utf-8"),
        script=folder.joinpath("page.js").read_text(encoding="utf-8"),
        title=escape(summary["headline"]),
        lead=escape(summary["lead"]),
        facts=_facts(summary),
        reading=_reading(summary),
        kept=_kept(summary),
        warnings=_warnings(summary),
        pictures="".join(_figure(picture) for picture in pictures),
        data=_data(summary),
        notes=_notes(notes_for_readers(summary)),
        parameters=_pairs(summary["parameters"]),
        versions=_pairs(summary["versions"]),
        seed=escape(summary["seed"]),
        created=escape(summary["created"]),
        command=_command(summary["command"]),
        code=escape(summary["code"]),
        confirmation=detectable_section(summary["detectable"])
        + _confirmation(summary["confirmation"])
        + at_least_section(summary["at_least"])
        + roles_section(summary["roles"])
        + update_section(summary["update"]),
        table=_as_data(_packed(summary["columns"])),
        explanations=_as_data(summary["explanations"]),
    )


def _facts(summary: dict[str, Any]) -> str:
    data = summary["data"]
    correction = f", growth corrected ({summary['correction']})" if summary["correction"] else ""
    facts = [
        (f"{data['n_rows']:,}", "rows searched" if summary["confirmation"] else "rows"),
        (f"{data['n_columns']:,}", "columns"),
    ]
    if summary["test"] is not None:
        facts += [
            (f"{summary['n_questions']:,}", "different questions asked"),
            (f"{summary['n_fits']:,}", "models fitted"),
            (summary["test"], f"test, level {summary['alpha']:g}{correction}"),
        ]
    if summary["scores"]:
        scores = summary["scores"]
        for name, called in (("selection", "with the selected columns"), ("all", "with all columns")):
            if scores[name]["score"] is not None:
                facts.append(
                    (f"{scores[name]['score']:.3f}", f"{scores['scoring']} {called}, cross-validated")
                )
    if summary["confirmation"]:
        confirmed = summary["confirmation"]
        n_confirmed = sum(column["confirmed"] for column in confirmed["columns"])
        facts.append(
            (
                f"{n_confirmed} of {len(confirmed['columns'])}",
                f"confirmed on {confirmed['n_rows']:,} rows held out",
            )
        )
    return "".join(f"<div><b>{escape(value)}</b><span>{escape(name)}</span></div>" for value, name in facts)


def _reading(summary: dict[str, Any]) -> str:
    """Return how the numbers of this report are read."""
    parts = [] if summary["test"] is None else [_OF_PVALUES]
    if summary["importance"] is not None:
        parts.append(f"The bars show the importance: {escape(summary['importance'])}.")
    parts += ["A row of the table below says why its column was selected or not."]
    return "".join(f"<p>{part}</p>" for part in parts)


def _kept(summary: dict[str, Any]) -> str:
    """Return the kept columns as bars, most important first."""
    columns = summary["columns"]
    place = {name: number for number, name in enumerate(columns["column"])}
    rows = [place[name] for name in summary["selected"]]
    top = max((columns["importance"][row] or 0 for row in rows), default=0) or 1
    lines = []
    for row in rows[:30]:
        importance = columns["importance"][row]
        width = 0 if importance is None else max(0.0, 100 * importance / top)
        pvalue, reason = columns["adjusted_pvalue"][row], columns["reason"][row]
        shown = (_BY_REQUEST if reason == _BY_REQUEST else "") if pvalue is None else f"p = {pvalue:.2g}"
        lines.append(
            f'<li title="{escape(reason)}"><span class="name">{escape(columns["column"][row])}</span>'
            f'<span class="bar"><i style="width:{width:.1f}%"></i></span><span class="p">{escape(shown)}</span></li>'
        )
    more = f'<li class="more">and {len(rows) - 30:,} more, in the table below</li>' if len(rows) > 30 else ""
    return "".join(lines) + more


def _warnings(summary: dict[str, Any]) -> str:
    warnings = [each["message"] for each in summary["warnings"]] + doubts_in_words(
        summary["may_be_too_small"]
    )
    if not warnings:
        return ""
    items = _items(warnings)
    return f'<section class="warn"><h2>Check these columns</h2><ul>{items}</ul></section>'


def _confirmation(confirmation: dict[str, Any] | None) -> str:
    """Return what the rows that were held out say, as a table."""
    if confirmation is None:
        return ""
    rows = "".join(
        f"<tr><td>{escape(column['feature'])}</td><td>{_digits(column['pvalue'])}</td>"
        f"<td>{_digits(column['adjusted_pvalue'])}</td><td>{'yes' if column['confirmed'] else 'no'}</td></tr>"
        for column in confirmation["columns"]
    )
    summary = escape(capitalized(confirmation["summary"]))
    return (
        f'<section class="confirmed"><h2>Confirmed on rows held out</h2><p>{summary}.</p>'
        "<table><thead><tr><th>Column</th><th>p</th>"
        f"<th>adjusted p ({escape(confirmation['correction'])})</th><th>confirmed</th></tr></thead>"
        f"<tbody>{rows}</tbody></table></section>"
    )


def _digits(value: float | None) -> str:
    return "" if value is None else f"{value:.2g}"


def _command(command: str | None) -> str:
    return "" if command is None else f"<h3>On the command line</h3><pre><code>{escape(command)}</code></pre>"


def _figure(picture: Picture) -> str:
    return (
        f"<figure><h3>{escape(picture.title)}</h3>{picture.svg}"
        f"<figcaption>{escape(picture.caption)}</figcaption></figure>"
    )


def _data(summary: dict[str, Any]) -> str:
    data = summary["data"]
    facts = {
        "Rows": f"{data['n_rows']:,}",
        "Columns": f"{data['n_columns']:,}, of which {data['n_categorical']:,} hold text or categories",
        "Target": f"{data['target']} ({data['task']})",
    }
    if data["classes"]:
        shown = ", ".join(f"{label}: {count:,}" for label, count in data["classes"])
        hidden = data["n_classes"] - len(data["classes"])
        facts["Classes"] = f"{shown}{f' and {hidden} more' if hidden else ''}"
    if data["quartiles"]:
        names = ("min", "25 %", "median", "75 %", "max")
        facts["Values"] = ", ".join(
            f"{name} {value:.4g}" for name, value in zip(names, data["quartiles"], strict=True)
        )
    return _pairs(facts)


def _notes(notes: list[str]) -> str:
    return f"<div><h2>Notes</h2><ul>{_items(notes)}</ul></div>" if notes else ""


def _items(texts: Iterable[str]) -> str:
    return "".join(f"<li>{escape(text)}</li>" for text in texts)


def _pairs(pairs: dict[str, str]) -> str:
    return "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs.items())


def _packed(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Return the table with each text written once: most reasons and phases are shared by many columns."""
    packed: dict[str, Any] = {name: values for name, values in columns.items() if name != "redundant_with"}
    packed["selected"] = [int(flag) for flag in columns["selected"]]
    for name in ("phase", "reason"):
        words = list(dict.fromkeys(columns[name]))
        code = {word: number for number, word in enumerate(words)}
        packed[name] = {"words": words, "codes": [code[word] for word in columns[name]]}
    return packed


def _as_data(value: Any) -> str:
    """Return JSON for a script element: nothing in it can end the element."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
