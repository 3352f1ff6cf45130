"""Texts of cells without what a terminal or a spreadsheet would execute."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

# Characters that move the cursor, set the title or change the direction of writing. Tabs and line breaks are kept.
_ACTED_ON = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]|\r(?!\n)")
_FORMULA = re.compile(r"\s*([=@]|[+-].*[a-z(|!])", re.IGNORECASE | re.DOTALL)


def spelled_out(text: str) -> str:
    r"""Return a text in which control characters are spelled out; line breaks and tabs stay.

    Examples
    --------
    >>> print(spelled_out("red\x1b[31m"))
    red\x1b[31m
    """
    return _ACTED_ON.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


def not_a_formula(text: str) -> str:
    """Return a text that a spreadsheet does not run as a formula: an apostrophe in front marks it as text.

    Examples
    --------
    >>> not_a_formula("=1+1"), not_a_formula("-1.5"), not_a_formula("- none")
    ("'=1+1", '-1.5', "'- none")
    """
    from ppfs._data import MISSING_TEXTS, is_number

    if _FORMULA.match(text) and not is_number(text) and text not in MISSING_TEXTS:
        return f"'{text}"
    return text


def changed_texts(frame: Any, change: Callable[[str], str]) -> tuple[Any, list[str]]:
    """Return a data frame with every text changed, headings included, and the columns in which one was."""
    changed, columns = frame.copy(deep=False), []
    for place, name in enumerate(frame.columns):
        column = frame.iloc[:, place]
        if column.dtype.kind in "biufcmM":
            continue
        labels = [label for label in column.dropna().unique().tolist() if isinstance(label, str)]
        different = {label: new for label in labels if (new := change(label)) != label}
        if different:
            changed.isetitem(place, column.map(lambda value, new=different: new.get(value, value)))
            columns.append(str(name))
    changed.columns = [change(str(name)) for name in frame.columns]
    columns += [str(name) for name in frame.columns if change(str(name)) != str(name) and name not in columns]
    return changed, columns
