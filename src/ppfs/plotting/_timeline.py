"""A plot of growth and shrink, question by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.plotting._canvas import DROPPED, SELECTED, Display, axes_for, ink, tidy
from ppfs.plotting._results import search_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Smaller p-values are drawn at this value, because a strong column would flatten all others.
_SMALLEST = 1e-12
# The maximum number of points; of more, the rejected ones are thinned.
_MOST_POINTS = 5_000
# The width of a letter of a phase's name, in points; rather too much.
_WIDTH_OF_LETTER = 5.5


@dataclass(eq=False, repr=False)
class TimelineDisplay(Display):
    """Every answer that a search used, in its order, with its p-value and its outcome.

    Growth tests the columns one by one; shrink then tests the candidates given each other. High points are strong
    evidence for a column. An answer that was used again, or that holds for several columns tested as one, is drawn
    each time; `n_tests_` counts the question once.

    Parameters
    ----------
    pvalues : ndarray of shape (n_questions,)

    phases : sequence of str
        The part of the search that asked each question.

    is_favourable : ndarray of bool, shape (n_questions,)
        Whether the column remained a candidate.

    alpha : float
        The level of the search.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the plot.

    figure_ : matplotlib Figure
        The figure of the plot.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> from ppfs.plotting import TimelineDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    >>> TimelineDisplay.from_estimator(selector).ax_.get_xlabel()
    'answer'
    """

    pvalues: Floats
    phases: Sequence[str]
    is_favourable: NDArray[np.bool_]
    alpha: float

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Axes | None = None) -> Self:
        """Draw the questions of a fitted search, in its chosen fold.

        Parameters
        ----------
        selector : fitted search

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        TimelineDisplay
        """
        search = search_of(selector)
        asked = search.trace_.question_arrays()
        return cls(asked.pvalues, asked.phases.tolist(), asked.is_favorable, search.alpha).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        ax = axes_for(ax, figsize=(6.4, 3.2))
        heights = -np.log10(np.clip(self.pvalues, _SMALLEST, 1))
        numbers = np.arange(1, len(heights) + 1)
        shown = self._shown()
        for mask, color, label, marker in (
            (~self.is_favourable, DROPPED, "no evidence: out", "x"),
            (self.is_favourable, SELECTED, "evidence: stays", "o"),
        ):
            rows = shown[mask[shown]]
            ax.scatter(numbers[rows], heights[rows], s=18, c=color, marker=marker, linewidths=1, label=label)
        level = f"level {self.alpha:g}"
        ax.axhline(-np.log10(self.alpha), color=ink(), linestyle=":", linewidth=1.2, label=level)
        self._mark_phases(ax)
        ax.set_xlabel("answer")
        ax.set_ylabel("-log10(p)")
        ax.set_ylim(bottom=-0.15)
        if len(heights):
            ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3)
        tidy(ax)
        return self._drawn_on(ax)

    def _shown(self) -> NDArray[np.intp]:
        """Return which questions are drawn: all in favor of a column, and as many of the others as fit."""
        others = np.flatnonzero(~self.is_favourable)
        room = max(_MOST_POINTS - int(self.is_favourable.sum()), 500)
        thinned = others[:: max(1, -(-len(others) // room))]
        return np.sort(np.concatenate([np.flatnonzero(self.is_favourable), thinned]))

    def _mark_phases(self, ax: Axes) -> None:
        """Shade every other phase and write its name above it, where the names do not overprint."""
        start, written_to = 0, -1.0
        width_of_letter = _WIDTH_OF_LETTER * len(self.phases) / (ax.bbox.width * 72 / ax.figure.dpi)
        for number, (phase, steps) in enumerate(groupby(self.phases)):
            end = start + sum(1 for _ in steps)
            if number % 2:
                ax.axvspan(start + 0.5, end + 0.5, color=DROPPED, alpha=0.12, linewidth=0)
            middle, half = (start + end + 1) / 2, width_of_letter * len(phase) / 2
            if end - start >= 0.06 * len(self.phases) and middle - half > written_to:
                ax.annotate(
                    phase,
                    (middle, 1.01),
                    xycoords=ax.get_xaxis_transform(),
                    ha="center",
                    va="bottom",
                    fontsize="small",
                )
                written_to = middle + half + width_of_letter
            start = end
