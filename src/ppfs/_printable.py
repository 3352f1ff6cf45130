"""Names as messages, plots and pages show them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


def printable(text: str) -> str:
    r"""Return text with control characters escaped.

    A column's name comes from a file: it may contain escape sequences that move the cursor of a terminal, set its title
    or hide text, and line breaks, which make one name look like two.

    Examples
    --------
    >>> from ppfs._printable import printable
    >>> print(printable("dose\x1b[31m\nred"))
    dose\x1b[31m\nred
    """
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii") for letter in text
    )


def listed(names: Sequence[object], limit: int = 5) -> str:
    """Return names for a message, the first few of a long list.

    Examples
    --------
    >>> listed(["a", "b", "c"], limit=2)
    "'a', 'b' and 1 more"
    """
    shown = ", ".join(repr(str(name)) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown} and {len(names) - limit} more"


def did_you_mean(name: str | None, names: Iterable[str]) -> str:
    """Return a sentence that asks for the closest name; "" where none is close.

    Examples
    --------
    >>> did_you_mean("Age ", ["sex", "age"])
    " Did you mean 'age'?"
    >>> did_you_mean("weight", ["sex", "age"])
    ''
    """
    if name is None:
        return ""
    known = [str(one) for one in names]
    alike = {one.strip().casefold(): one for one in known}
    close = alike.get(name.strip().casefold()) or next(iter(get_close_matches(name, known, n=1)), None)
    return "" if close is None else f" Did you mean {close!r}?"
