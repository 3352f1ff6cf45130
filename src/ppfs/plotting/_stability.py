"""Which columns each fold selected."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, axes_for, plain, shown, tidy
from ppfs.plotting._results import search_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


class StabilityDisplay:
    """Columns that were selected in some fold, and the folds that did; those that more folds agree on come first.

    Parameters
    ----------
    names : sequence of str
        The columns, from the top.

    members : ndarray of bool, shape (n_columns, n_folds)
        Whether a fold selected a column.

    chosen : int
        The fold whose columns were returned, counted from 0.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.

    figure_ : matplotlib Figure
        The figure it belongs to.
    """

    ax_: Axes
    figure_: Figure

    def __init__(self, names: Sequence[str], members: NDArray[np.bool_], chosen: int) -> None:
        self.names = names
        self.members = members
        self.chosen = chosen

    @classmethod
    def from_estimator(cls, selector: Any, *, max_columns: int = 20, ax: Axes | None = None) -> Self:
        """Draw the agreement of a fitted search's folds.

        Parameters
        ----------
        selector : fitted search
            Fitted with `n_folds` of at least 2.

        max_columns : int, default=20
            How many columns to show at most.

        ax : matplotlib Axes, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        StabilityDisplay
        """
        search = search_of(selector)
        folds = search.folds_
        if not folds:
            raise InvalidInputError(
                f"This {type(search).__name__} searched once, in all rows, so there are no folds to compare. "
                "Fit it with n_folds=5."
            )
        members = np.zeros((search.support_.size, len(folds)), dtype=bool)
        for number, fold in enumerate(folds):
            members[list(fold.blanket), number] = True
        chosen = next(number for number, fold in enumerate(folds) if fold.is_chosen)
        rank = np.lexsort((~members[:, chosen], -members.sum(axis=1)))
        rank = rank[members[rank].any(axis=1)][:max_columns]
        names = search.trace_.column_names
        return cls([names[column] for column in rank], members[rank], chosen).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        n_columns, n_folds = self.members.shape
        ax = axes_for(ax, figsize=(6.4, max(1.8, 1.0 + 0.27 * n_columns)))
        rows, folds = np.nonzero(self.members)
        ax.scatter(folds + 1, rows, s=70, c=SELECTED, zorder=2)
        rows, folds = np.nonzero(~self.members)
        ax.scatter(folds + 1, rows, s=12, c=DROPPED, alpha=0.6, zorder=2)
        ax.axvspan(self.chosen + 0.6, self.chosen + 1.4, color=ACCENT, alpha=0.13, linewidth=0)
        ax.annotate(
            "returned",
            (self.chosen + 1, 1.01),
            xycoords=ax.get_xaxis_transform(),
            ha="center",
            va="bottom",
            fontsize="small",
        )
        for row, count in enumerate(self.members.sum(axis=1)):
            ax.annotate(
                f"{count} of {n_folds}",
                (1.02, row),
                xycoords=ax.get_yaxis_transform(),
                va="center",
                fontsize="small",
            )
        ax.set_yticks(np.arange(n_columns), [shown(name) for name in self.names])
        plain(ax.get_yticklabels())
        ax.set_ylim(n_columns - 0.5, -0.5)
        ax.set_xlim(0.5, n_folds + 0.5)
        ax.set_xticks(np.arange(1, n_folds + 1))
        ax.set_xlabel("fold")
        tidy(ax)
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self
