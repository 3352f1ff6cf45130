"""A plot of importances: how much worse the model predicts without each column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PredictiveTest
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, ink, plain, shown, tidy
from ppfs.plotting._results import results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class ImportanceDisplay(Display):
    """The importance of columns, with intervals.

    The importance of a column is the mean rise in risk when it is replaced by a random copy; for tests that fit no
    model, the effect size on the scale of the test. Selected columns come first, then those that were closest to being
    selected. Columns without a measured importance are left out.

    Parameters
    ----------
    names : sequence of str
        The columns, from the top.

    importances, lows, highs : ndarray of shape (n_columns,)
        Importance, and the ends of its interval; the ends are NaN where there is no interval.

    selected : ndarray of bool, shape (n_columns,)

    detectable : tuple of float, default=()
        Importances that would be found with probability 0.8.

    meaning : str, default="rise in risk without the column"
        What the importances are, for the axis.

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
    >>> from ppfs.plotting import ImportanceDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> display = ImportanceDisplay.from_estimator(PPFS(n_splits=10, random_state=0).fit(X, y))
    >>> display.ax_.get_xlabel()
    'rise in risk without the column'
    """

    names: Sequence[str]
    importances: Floats
    lows: Floats
    highs: Floats
    selected: NDArray[np.bool_]
    detectable: tuple[float, ...] = ()
    meaning: str = "rise in risk without the column"

    @classmethod
    def from_estimator(cls, selector: Any, *, max_columns: int = 20, ax: Axes | None = None) -> Self:
        """Draw the importances of a fitted selector.

        Parameters
        ----------
        selector : fitted selector

        max_columns : int, default=20
            Maximum number of columns to show.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        ImportanceDisplay
        """
        results = results_of(selector)
        importances = results.numbers("importance")
        selected = results.flags("selected")
        known = np.flatnonzero(np.isfinite(importances))
        if not known.size:
            instead = (
                "StabilityDisplay draws how often each column was selected."
                if hasattr(selector, "threshold_")
                else "BlanketDisplay draws the selected columns."
            )
            raise InvalidInputError(
                f"{type(selector).__name__} measured the importance of no column, so there is nothing to draw. "
                f"{instead}"
            )
        rank = known[np.lexsort((-importances[known], ~selected[known]))][:max_columns]
        names = results.texts("column")
        smallest = results.numbers("detectable")
        meaning = meaning_of_importances(selector)
        return cls(
            [names[i] for i in rank],
            importances[rank],
            results.numbers("importance_low")[rank],
            results.numbers("importance_high")[rank],
            selected[rank],
            tuple(np.unique(smallest[np.isfinite(smallest)]).tolist()),
            ImportanceDisplay.meaning if meaning is None else meaning.label,
        ).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        places = np.arange(len(self.names))
        ax = axes_for(ax, figsize=(6.4, max(1.8, 0.9 + 0.27 * len(places))))
        for mask, color, label in (
            (self.selected, SELECTED, "selected"),
            (~self.selected, DROPPED, "not selected"),
        ):
            rows = np.flatnonzero(mask)
            if rows.size:
                ax.barh(places[rows], self.importances[rows], color=color, height=0.62, label=label)
        rows = np.flatnonzero(np.isfinite(self.lows) & np.isfinite(self.highs))
        if rows.size:
            ax.hlines(places[rows], self.lows[rows], self.highs[rows], color=ink(), alpha=0.65, linewidth=1.4)
        ax.set_yticks(places, [shown(name) for name in self.names])
        plain(ax.get_yticklabels())
        ax.invert_yaxis()
        ax.axvline(0, color=ink(), alpha=0.4, linewidth=0.8)
        for number, smallest in enumerate(self.detectable):
            label = "" if number else "would be found with probability 0.8"
            ax.axvline(smallest, color=ACCENT, linewidth=1.2, linestyle="--", label=label or "_")
        ax.set_xlabel(self.meaning)
        if self.selected.any() and not self.selected.all():
            ax.legend(frameon=False, loc="lower right")
        tidy(ax, grid="x")
        return self._drawn_on(ax)


class Meaning(NamedTuple):
    """What importances are: for an axis, and in a sentence."""

    label: str
    sentence: str


def meaning_of_importances(selector: Any) -> Meaning | None:
    """Return what the importances of a fitted selector are; None if it measures none."""
    search = getattr(selector, "selector_", selector)
    test = getattr(search, "independence_", None)
    if isinstance(test, PredictiveTest):
        return Meaning(
            ImportanceDisplay.meaning,
            "mean rise in risk when the column is replaced by a random stand-in in the test rows",
        )
    if test is not None:
        return Meaning(f"effect size of {type(test).__name__}", "the effect size, on the scale of the test")
    if not hasattr(search, "importances_"):
        return None
    label = "decrease of the score when the column is shuffled"
    return Meaning(label, f"mean {label}")
