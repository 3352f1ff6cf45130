"""What new rows say about each column."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, ink, plain, shown, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_ALARMS = ("no longer needed", "drifting", "newly needed")


@dataclass(eq=False, repr=False)
class UpdateDisplay(Display):
    """The evidence of new rows: the e-value behind the status of each column.

    Parameters
    ----------
    update : Update
        What `update` of a selector returned.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the plot.

    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> from ppfs.plotting import UpdateDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS.calibrated(random_state=0).fit(X[::2], y[::2])
    >>> update = selector.update(X[1::2], y[1::2])
    >>> UpdateDisplay.from_estimator(selector).ax_.get_xlabel()
    'evidence of 75 new rows: powers of ten of the e-value'
    """

    update: Any

    @classmethod
    def from_estimator(cls, selector: Any, *, max_columns: int = 20, ax: Axes | None = None) -> Self:
        """Draw what the updates of a fitted selector found.

        Parameters
        ----------
        selector : fitted selector

        max_columns : int, default=20
            Maximum number of columns to show.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        UpdateDisplay
        """
        check_is_fitted(selector)
        watched = getattr(selector, "_watched", None)
        if watched is None:
            raise InvalidInputError("There were no new rows yet. Pass some: selector.update(X_new, y_new).")
        return cls(watched.found).plot(max_columns=max_columns, ax=ax)

    def plot(self, *, max_columns: int = 20, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        found = self.update
        logs = np.log10(np.maximum(found.e_values, 1e-12))
        # The selected columns, and those with the most evidence.
        order = sorted(range(len(logs)), key=lambda i: (found.statuses[i] == "no evidence", -logs[i]))[
            :max_columns
        ]
        ax = axes_for(ax, figsize=(6.4, max(1.8, 0.9 + 0.27 * len(order))))
        colors = [_color(found.statuses[i]) for i in order]
        ax.barh(np.arange(len(order)), logs[order], color=colors, height=0.62)
        names = [f"{shown(found.features[i])}: {found.statuses[i]}" for i in order]
        ax.set_yticks(np.arange(len(order)), names)
        plain(ax.get_yticklabels())
        ax.invert_yaxis()
        ax.axvline(0, color=ink(), alpha=0.4, linewidth=0.8)
        ax.set_xlabel(f"evidence of {found.n_new:,} new rows: powers of ten of the e-value")
        tidy(ax, grid="x")
        return self._drawn_on(ax)


def _color(status: str) -> str:
    if status in _ALARMS:
        return ACCENT
    return SELECTED if status == "still needed" else DROPPED
