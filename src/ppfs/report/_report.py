"""The report as an object: made once, written in three formats."""

from __future__ import annotations

import html
import json
from functools import cached_property
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from ppfs._comparison import Comparison, compare
from ppfs.exceptions import InvalidInputError
from ppfs.report._again import repeated
from ppfs.report._markdown import markdown_page
from ppfs.report._page import html_page
from ppfs.report._pictures import pictures_of
from ppfs.report._summary import summarize
from ppfs.report._verdicts import measure

if TYPE_CHECKING:
    from os import PathLike

_WRITERS = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown"}


class Report:
    """What was selected, why, from which data and how to repeat it.

    Parameters
    ----------
    selector : fitted search

    command : str, default=None
        The command that made the selection, if it was not made in Python.

    comparison : Comparison, default=None
        What `ppfs.compare` returned for the methods "selection" and "all": their cross-validated scores, and how
        often each column was selected when the selection was repeated.

    sufficiency : bool, default=True
        Measure whether the selected columns are enough, where that was not done yet and the selector holds its data.
        That repeats the selection in two to five parts of the rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> report = PPFS(n_splits=10, random_state=0).fit(X, y).report()
    >>> print(report.markdown().splitlines()[0])
    # 2 of 4 columns were selected to predict target
    """

    def __init__(
        self,
        selector: Any,
        *,
        command: str | None = None,
        comparison: Comparison | None = None,
        sufficiency: bool = True,
    ) -> None:
        check_is_fitted(selector)
        self.selector = selector
        self.command = command
        self.comparison = comparison
        self.sufficiency = sufficiency

    @classmethod
    def with_scores(
        cls,
        selector: Any,
        X: Any,
        y: Any,
        *,
        cv: int = 5,
        command: str | None = None,
        sufficiency: bool = True,
        **rows: Any,
    ) -> Self:
        """Return a report with cross-validated scores: the selection is repeated inside each training part.

        Parameters
        ----------
        selector : fitted search

        X, y : array or data frame, array-like
            The data that the search was fitted on.

        cv : int, default=5
            Number of folds: the selection is repeated this many times.

        command : str, default=None
            As above.

        sufficiency : bool, default=True
            As above.

        rows : array-likes
            `sample_weight`, `groups` and `time`, if the search was fitted with them.
        """
        check_is_fitted(selector)
        if sufficiency:
            # A failure is said in the report, which asks again.
            measure(selector, X, y, **rows)
        model = getattr(selector, "estimator", None)
        seed = selector.random_state
        comparison = compare(
            X,
            y,
            methods={"selection": repeated(selector), "all": "all"},
            estimator=model if hasattr(model, "fit") else None,
            cv=cv,
            task=selector.trace_.data.task,
            random_state=int(seed) if isinstance(seed, Integral) else 0,
            **rows,
        )
        return cls(selector, command=command, comparison=comparison, sufficiency=sufficiency)

    @cached_property
    def summary(self) -> dict[str, Any]:
        """The content of the report, as plain lists, texts and numbers."""
        return summarize(self.selector, self.command, self.comparison, with_sufficiency=self.sufficiency)

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
        """Write the report to a file, in the format of its extension.

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
        # In a separate frame, so that the styles of the page and of the notebook do not interfere.
        page = html.escape(self.html())
        return (
            f'<iframe srcdoc="{page}" style="width:100%;height:760px;border:0" title="ppfs report"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<Report: {self.summary['headline']}>"
