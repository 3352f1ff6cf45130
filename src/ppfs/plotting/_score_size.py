"""A plot of the score against the number of columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ppfs._conventions import Floats
from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, plain, shown, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# The height of a line of small text, as a share of the height of the axes.
_LINE = 0.06


@dataclass(eq=False, repr=False)
class ScoreSizeDisplay(Display):
    """The cross-validated score of candidates, or of methods, against the number of columns that they keep.

    Up and to the left is better. The line joins the Pareto front: those that no other one beats in both.

    Parameters
    ----------
    sizes, scores, errors : ndarray of shape (n_candidates,)
        Mean number of columns, mean score and its standard error.

    labels : sequence of str, default=()
        Name of each; empty for no names.

    chosen : int, default=None
        The candidate that was chosen.

    score_name : str, default="score"
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the plot.

    figure_ : matplotlib Figure
        The figure of the plot.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.plotting import ScoreSizeDisplay
    >>> sizes, scores, errors = np.array([2, 5, 9]), np.array([0.8, 0.91, 0.9]), np.full(3, 0.02)
    >>> ScoreSizeDisplay(sizes, scores, errors, ["small", "medium", "all"], chosen=1).plot().ax_.get_xlabel()
    'columns kept'
    """

    sizes: Floats
    scores: Floats
    errors: Floats
    labels: Sequence[str] = ()
    chosen: int | None = None
    score_name: str = "score"

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Axes | None = None) -> Self:
        """Draw the candidates of a fitted PPFSCV.

        Parameters
        ----------
        selector : fitted PPFSCV

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        ScoreSizeDisplay
        """
        check_is_fitted(selector)
        if not hasattr(selector, "cv_results_"):
            raise InvalidInputError(
                f"{type(selector).__name__} compared no candidates. Pass a fitted PPFSCV; for methods use ppfs.compare."
            )
        table = selector.cv_results_
        return cls(
            np.asarray(table["mean_n_features"], dtype=float),
            np.asarray(table["mean_test_score"], dtype=float),
            np.asarray(table["se_test_score"], dtype=float),
            chosen=int(selector.best_index_),
        ).plot(ax=ax)

    @classmethod
    def from_comparison(cls, comparison: Any, *, ax: Axes | None = None) -> Self:
        """Draw the methods that `ppfs.compare` compared; those that were scored on no fold are left out.

        Parameters
        ----------
        comparison : Comparison
            What `ppfs.compare` returned.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        ScoreSizeDisplay
        """
        methods = [method for method in comparison.methods if method.scores]
        if not methods:
            raise InvalidInputError("No method was scored on any fold, so there is nothing to draw.")
        return cls(
            np.array([method.n_columns for method in methods]),
            np.array([method.score for method in methods]),
            np.array([method.score_error for method in methods]),
            labels=[method.name for method in methods],
            score_name=comparison.scoring,
        ).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        ax = axes_for(ax, figsize=(6.4, 3.8))
        ax.errorbar(
            self.sizes,
            self.scores,
            yerr=np.nan_to_num(self.errors),
            fmt="none",
            ecolor=DROPPED,
            elinewidth=1,
            alpha=0.6,
        )
        ax.scatter(self.sizes, self.scores, s=28, c=SELECTED, zorder=3)
        front = _front(self.sizes, self.scores)
        ax.plot(self.sizes[front], self.scores[front], color=SELECTED, linewidth=1, alpha=0.6)
        if self.chosen is not None:
            x, y = self.sizes[self.chosen], self.scores[self.chosen]
            ax.scatter([x], [y], s=150, facecolors="none", edgecolors=ACCENT, linewidths=2, zorder=4)
            ax.annotate("chosen", (x, y), xytext=(9, 9), textcoords="offset points", color=ACCENT)
        known = self.sizes[np.isfinite(self.sizes)]
        if known.size and known.max() > 30 * max(known.min(), 1):
            ax.set_xscale("symlog")
        if self.labels:
            self._write_labels(ax)
        ax.set_xlabel("columns kept")
        ax.set_ylabel(self.score_name)
        tidy(ax, grid="y")
        return self._drawn_on(ax)

    def _write_labels(self, ax: Axes) -> None:
        """Write the names beside the plot, each at the height of its point or just above the one below.

        Methods with similar sizes and scores are close together: names beside the points would overlap.
        """
        low, high = ax.get_ylim()
        heights = (np.nan_to_num(self.scores) - low) / (high - low)
        step = min(_LINE, 1 / max(len(heights) - 1, 1))
        order = np.argsort(heights, kind="stable")
        for below, above in pairwise(order):
            heights[above] = max(heights[above], heights[below] + step)
        # Those that were pushed over the top come down again, from the highest.
        heights[order[-1]] = min(heights[order[-1]], 1.0)
        for above, below in pairwise(order[::-1]):
            heights[below] = min(heights[below], heights[above] - step)
        texts = [
            ax.annotate(
                shown(label),
                (x, y),
                xytext=(1.03, height),
                textcoords="axes fraction",
                va="center",
                fontsize="small",
                annotation_clip=False,
                arrowprops={"arrowstyle": "-", "color": DROPPED, "linewidth": 0.6, "alpha": 0.7},
            )
            for label, x, y, height in zip(self.labels, self.sizes, self.scores, heights, strict=True)
        ]
        plain(texts)


def _front(sizes: Floats, scores: Floats) -> list[int]:
    """Return the Pareto front: those with a better score than all that are not larger, from the smallest."""
    front: list[int] = []
    best = -np.inf
    for number in np.lexsort((-scores, sizes)).tolist():
        if scores[number] > best:
            front.append(number)
            best = scores[number]
    return front
