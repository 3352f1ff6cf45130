"""How often each column was selected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, plain, shown, tidy
from ppfs.plotting._results import results_of, search_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """How often each column was selected: in the folds of a search, or in the halves of `StabilitySelection`.

    Columns that were selected most often come first.

    Parameters
    ----------
    names : sequence of str
        The columns, from the top.

    shares : ndarray of shape (n_columns,)
        Share of the folds, or of the halves, that selected each column.

    members : ndarray of bool, shape (n_columns, n_folds), default=None
        Whether a fold selected a column. None draws bars of the shares.

    chosen : int, default=None
        The fold whose columns were returned, counted from 0.

    threshold : float, default=None
        The share above which columns were selected.

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
    >>> from ppfs.plotting import StabilityDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(n_splits=10, n_folds=3, random_state=0).fit(X, y)
    >>> StabilityDisplay.from_estimator(selector).members.shape
    (2, 3)
    """

    names: Sequence[str]
    shares: Floats
    members: NDArray[np.bool_] | None = None
    chosen: int | None = None
    threshold: float | None = None

    @classmethod
    def from_estimator(cls, selector: Any, *, max_columns: int = 20, ax: Axes | None = None) -> Self:
        """Draw how often the columns were selected.

        Parameters
        ----------
        selector : fitted search or StabilitySelection
            A search must have been fitted with `n_folds` of at least 2.

        max_columns : int, default=20
            Maximum number of columns to show.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        StabilityDisplay
        """
        if hasattr(selector, "threshold_"):
            return cls._of_shares(selector, max_columns).plot(ax=ax)
        search = search_of(selector)
        folds = search.folds_
        if not folds:
            raise InvalidInputError(
                f"This {type(search).__name__} searched once, in all rows, so there are no folds to compare. "
                "Fit it with n_folds=5, or pass a fitted StabilitySelection."
            )
        members = np.zeros((search.support_.size, len(folds)), dtype=bool)
        for number, fold in enumerate(folds):
            members[list(fold.blanket), number] = True
        chosen = next(number for number, fold in enumerate(folds) if fold.is_chosen)
        rank = np.lexsort((~members[:, chosen], -members.sum(axis=1)))
        rank = rank[members[rank].any(axis=1)][:max_columns]
        names = search.trace_.column_names
        shares = members[rank].mean(axis=1)
        return cls([names[column] for column in rank], shares, members[rank], chosen).plot(ax=ax)

    @classmethod
    def _of_shares(cls, selector: Any, max_columns: int) -> Self:
        shares = np.asarray(selector.stability_, dtype=float)
        rank = np.argsort(-shares, kind="stable")
        rank = rank[shares[rank] > 0][:max_columns]
        names = results_of(selector).texts("column")
        return cls([names[column] for column in rank], shares[rank], threshold=float(selector.threshold_))

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        n_columns = len(self.names)
        ax = axes_for(ax, figsize=(6.4, max(1.8, 1.0 + 0.27 * n_columns)))
        if self.members is None:
            self._draw_shares(ax)
        else:
            self._draw_folds(ax, self.members)
        ax.set_yticks(np.arange(n_columns), [shown(name) for name in self.names])
        plain(ax.get_yticklabels())
        ax.set_ylim(n_columns - 0.5, -0.5)
        tidy(ax)
        return self._drawn_on(ax)

    def _draw_shares(self, ax: Axes) -> None:
        threshold = 0.0 if self.threshold is None else self.threshold
        colors = [SELECTED if share >= threshold else DROPPED for share in self.shares]
        ax.barh(np.arange(len(self.names)), self.shares, color=colors, height=0.62)
        if self.threshold is not None:
            ax.axvline(threshold, color=ACCENT, linewidth=1.4, linestyle=":")
            ax.annotate(
                "threshold",
                (threshold, 1.01),
                xycoords=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                fontsize="small",
            )
        ax.set_xlim(0, 1)
        ax.set_xlabel("share of the halves that selected the column")

    def _draw_folds(self, ax: Axes, members: NDArray[np.bool_]) -> None:
        n_folds = members.shape[1]
        rows, folds = np.nonzero(members)
        ax.scatter(folds + 1, rows, s=70, c=SELECTED, zorder=2)
        rows, folds = np.nonzero(~members)
        ax.scatter(folds + 1, rows, s=12, c=DROPPED, alpha=0.6, zorder=2)
        if self.chosen is not None:
            ax.axvspan(self.chosen + 0.6, self.chosen + 1.4, color=ACCENT, alpha=0.13, linewidth=0)
            ax.annotate(
                "returned",
                (self.chosen + 1, 1.01),
                xycoords=ax.get_xaxis_transform(),
                ha="center",
                va="bottom",
                fontsize="small",
            )
        for row, count in enumerate(members.sum(axis=1)):
            ax.annotate(
                f"{count} of {n_folds}",
                (1.02, row),
                xycoords=ax.get_yaxis_transform(),
                va="center",
                fontsize="small",
            )
        ax.set_xlim(0.5, n_folds + 0.5)
        ax.set_xticks(np.arange(1, n_folds + 1))
        ax.set_xlabel("fold")
