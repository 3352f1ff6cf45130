"""Warnings about columns, in a few lines."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from ppfs._printable import listed

# More columns of one kind than this share a line.
_LINES_A_KIND = 3

_MANY = {
    "identifier": ("columns seem to identify the rows", "--id"),
    "dates": ("columns are text that holds dates", "--drop"),
    "numbers-as-text": ("columns are text that holds numbers and a few other texts", "--na"),
    "leakage": ("columns predict the target perfectly, each alone", "--drop"),
    "near-constant": ("columns hold one value in nearly all rows", "--drop"),
    "copy": ("columns are copies of others", "--drop"),
}


def warning_lines(warnings: Sequence[Mapping[str, str]]) -> list[str]:
    """Return one line per warning, or one line per kind where there are many.

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
