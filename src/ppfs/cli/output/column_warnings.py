"""Warnings about columns, in as many lines as people read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ppfs.cli.input.columns import listed

# More columns of one kind than this share a line.
_LINES_A_KIND = 3

_MANY = {
    "identifier": ("columns name the rows, as far as can be told", "--id"),
    "dates": ("columns are text that holds dates", "--drop"),
    "numbers-as-text": ("columns are text that holds numbers beside a few strays", "--na"),
    "leakage": ("columns predict the target perfectly, each alone", "--drop"),
    "near-constant": ("columns hold one value in nearly all rows", "--drop"),
    "copy": ("columns are copies of others", "--drop"),
}


def warning_lines(warnings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return one line a warning; one for all of a kind where there are many.

    Parameters
    ----------
    warnings : sequence of mappings
        With the keys column, kind, finding and flag.
    """
    by_kind: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for warning in warnings:
        by_kind[warning["kind"]].append(warning)
    lines = []
    for kind, found in by_kind.items():
        if len(found) <= _LINES_A_KIND:
            lines += [f"{warning['finding']} {warning['flag']}" for warning in found]
            continue
        what, flag = _MANY[kind]
        names = listed([warning["column"] for warning in found])
        lines.append(f"{len(found)} {what}: {names}. See {flag}; --format json lists them all.")
    return lines
