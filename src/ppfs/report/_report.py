"""The report as an object: made once, written in three ways."""

from __future__ import annotations

import html
import json
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from ppfs.exceptions import InvalidInputError
from ppfs.report._markdown import markdown_page
from ppfs.report._page import html_page
from ppfs.report._pictures import pictures_of
from ppfs.report._summary import summarise

if TYPE_CHECKING:
    from os import PathLike

_WRITERS = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown"}


class Report:
    """What was selected, why, from which data and how to do it again.

    Parameters
    ----------
    selector : fitted search

    command : str, default=None
        The command or code that made the selection. None writes the call in Python.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = PPFS(n_splits=10, random_state=0).fit(X, y).report()
    >>> print(report.markdown().splitlines()[0])
    # 2 of 4 columns are enough to predict target
    """

    def __init__(self, selector: Any, *, command: str | None = None) -> None:
        check_is_fitted(selector)
        self.selector = selector
        self.command = command

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that the report says, as plain lists, texts and numbers."""
        return summarise(self.selector, self.command)

    def html(self) -> str:
        """Return one self-contained page: no other file and no network is needed to read it."""
        return html_page(self.summary, pictures_of(self.selector))

    def json(self) -> str:
        """Return the summary as JSON, for programs."""
        return json.dumps(self.summary, ensure_ascii=False, indent=2, allow_nan=False)

    def markdown(self) -> str:
        """Return the summary as Markdown, for a pull request or a wiki."""
        return markdown_page(self.summary)

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the report to a file, in the way that its ending names.

        Parameters
        ----------
        path : path
            Ending in .html, .json or .md.

        Returns
        -------
        Path
            Where it was written.
        """
        where = Path(path)
        way = _WRITERS.get(where.suffix.lower())
        if way is None:
            raise InvalidInputError(
                f"A report cannot be written to {str(where)!r}: its name must end in .html, .json or .md."
            )
        where.write_text(getattr(self, way)(), encoding="utf-8")
        return where

    def _repr_html_(self) -> str:
        # A frame of its own, so that the page's styles and the notebook's do not meet.
        page = html.escape(self.html(), quote=True)
        return (
            f'<iframe srcdoc="{page}" style="width:100%;height:760px;border:0" title="ppfs report"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Report: {self.summary['headline']}>"
