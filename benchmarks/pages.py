"""Pages of the documentation whose tables are written by benchmarks."""

from __future__ import annotations

import re
from collections.abc import Mapping


def fill(page: str, texts: Mapping[str, str]) -> str:
    r"""Put texts between the marks of their blocks; a text whose block the page does not have is left out.

    Examples
    --------
    >>> fill("<!-- a -->old<!-- /a -->", {"a": "new", "b": "unused"})
    '<!-- a -->\n\nnew\n\n<!-- /a -->'
    """
    for name, text in texts.items():
        begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
        marks = page.count(begin), page.count(end)
        if marks == (0, 0):
            continue
        if marks != (1, 1) or page.index(end) < page.index(begin):
            raise ValueError(
                f"The page needs {begin!r} once and {end!r} once after it; it has them {marks} times."
            )
        pattern = f"{re.escape(begin)}.*?{re.escape(end)}"
        block = f"{begin}\n\n{text}\n\n{end}"
        page = re.sub(pattern, lambda _, block=block: block, page, flags=re.DOTALL)
    return page
