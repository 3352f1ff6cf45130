"""``ppfs explain``: why a column was selected or not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import click

from ppfs.cli._failures import UsageFailure
from ppfs.cli._terminal import printable_lines, writing
from ppfs.cli.flags.data import DataRequest, data_flags
from ppfs.cli.flags.parameters import SearchRequest, search_flags
from ppfs.cli.flags.sections import SectionedCommand, debug_flag, flag, gathered


@dataclass(frozen=True)
class ExplainRequest:
    """What to explain.

    Attributes
    ----------
    feature : tuple of str
        Columns.

    saved : str or None
        A selection made by ``ppfs select --save``, instead of data.
    """

    feature: tuple[str, ...]
    saved: str | None


_explain_flags = gathered(
    "wanted",
    ExplainRequest,
    [
        flag("Explain", "--feature", "-x", multiple=True, metavar="COLUMNS", help="The columns to explain."),
        flag(
            "Explain",
            "--from",
            "saved",
            metavar="FILE",
            help="A selection made by ppfs select --save, instead of DATA: nothing is computed again.",
        ),
        debug_flag,
    ],
)


@click.command(cls=SectionedCommand)
@data_flags
@search_flags
@_explain_flags
def explain(request: DataRequest, search: SearchRequest, wanted: ExplainRequest) -> None:
    """Explain why a column was selected or not.

    The verdict comes first, then every question that was asked about the column.
    """
    from ppfs.cli.input.columns import resolve

    if not any(wanted.feature):
        raise UsageFailure("Specify which column to explain, for example: --feature age")
    if wanted.saved is not None and (request.data is not None or request.dataset is not None):
        raise UsageFailure("Name either data or a saved run with --from, not both.")
    if wanted.saved is not None:
        names, rows, trace, warnings = _from_file(wanted.saved)
        features = resolve(wanted.feature, names, repr(wanted.saved))
    else:
        features, rows, trace, warnings = _from_search(request, search, wanted.feature)
    texts = [_explained(feature, rows, trace, warnings) for feature in features]
    with writing():
        click.echo(printable_lines("\n\n".join(texts)))


def _explained(
    feature: str, rows: Sequence[dict[str, Any]], trace: Any, warnings: Sequence[dict[str, Any]]
) -> str:
    """Return the verdict, the warnings about the column, and the questions."""
    odd = [
        f"Note: {warning['finding']} {warning['flag']}"
        for warning in warnings
        if warning["column"] == feature
    ]
    if trace is None:
        row = next(row for row in rows if row["column"] == feature)
        verdict = f"{feature!r} was {'selected' if row['selected'] else 'not selected'}: {row['reason']}."
        return "\n".join([verdict, *odd])
    verdict, *questions = trace.explain(feature).split("\n")
    asked = (
        ["Questions asked about it, in their order:", *(f"  {line}" for line in questions)]
        if questions
        else []
    )
    return "\n".join([verdict, *odd, *asked])


def _from_search(
    request: DataRequest, search: SearchRequest, wanted: Sequence[str]
) -> tuple[list[str], list[Any], Any, list[Any]]:
    """Search, after the names of the wanted columns are known to be right."""
    from ppfs.cli._fitting import read_and_say, searched
    from ppfs.cli.output.result import result_document

    data = read_and_say(request, search)
    features = data.columns(wanted, "--feature")
    selector = searched(data, search)
    result = result_document(selector, data, search)
    return features, result["columns"], selector.trace_, result["warnings"]


def _from_file(path: str) -> tuple[list[str], list[Any], Any, list[Any]]:
    from ppfs._trace import from_plain
    from ppfs.cli.output.selection import load

    document = load(path)
    plain = document.get("trace")
    names = [row["column"] for row in document["columns"]]
    return names, document["columns"], None if plain is None else from_plain(plain), document["warnings"]
