"""A plot of the blanket: the target, the selected columns, and those that are redundant given them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, plain, shown, tidy
from ppfs.plotting._results import results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# With more members than these there is room for one redundant column beside each.
_FEW_MEMBERS = 6


@dataclass(eq=False, repr=False)
class BlanketDisplay(Display):
    """The target in the middle, the selected columns around it, and beside each those that are redundant given it.

    Parameters
    ----------
    members : sequence of str
        The selected columns, most important first.

    importances : sequence of float
        The importance of each of them, shown as the width of its line.

    redundant : mapping of str to sequence of str
        The columns that are redundant given a member.

    target : str, default="target"
        Name of the target.

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
    >>> from ppfs.plotting import BlanketDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    >>> BlanketDisplay.from_estimator(selector, target="species").target
    'species'
    """

    members: Sequence[str]
    importances: Sequence[float]
    redundant: Mapping[str, Sequence[str]]
    target: str = "target"

    @classmethod
    def from_estimator(
        cls, selector: Any, *, max_members: int = 12, target: str = "target", ax: Axes | None = None
    ) -> Self:
        """Draw the blanket of a fitted selector.

        Parameters
        ----------
        selector : fitted selector

        max_members : int, default=12
            Maximum number of selected columns to show.

        target : str, default="target"
            Name of the target.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        BlanketDisplay
        """
        results = results_of(selector)
        names = results.texts("column")
        importances = results.numbers("importance")
        members = [names[column] for column in selector.blanket_[:max_members]]
        redundant: dict[str, list[str]] = {name: [] for name in members}
        for name, reasons in zip(names, results.lists("redundant_with"), strict=True):
            # Beside the most important of the members that it is redundant with: one line per column is enough to read.
            first = next((member for member in members if member in reasons), None)
            if first is not None:
                redundant[first].append(name)
        weights = [float(importances[column]) for column in selector.blanket_[:max_members]]
        return cls(members, weights, redundant, target).plot(ax=ax)

    def plot(self, *, max_neighbours: int = 4, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure; each member with at most `max_neighbours` redundant columns."""
        ax = axes_for(ax, figsize=(8.4, 5.6))
        # Longer names need more room, in units of the drawing.
        written = [*self.members, *(name for names in self.redundant.values() for name in names)]
        reach = 2.4 + 0.075 * max((len(shown(name)) for name in written), default=0)
        weights = np.nan_to_num(np.array(self.importances, dtype=float))
        widths = 1 + 5 * np.clip(weights, 0, None) / max(float(weights.max(initial=0.0)), 1e-300)
        for number, (member, width) in enumerate(zip(self.members, widths, strict=True)):
            side, height = _side_and_height(number, len(self.members))
            place = (side * (1.3 + 0.5 * np.sqrt(1 - height**2)), 1.4 * height)
            ax.plot([0, place[0]], [0, place[1]], color=SELECTED, linewidth=width, alpha=0.55, zorder=1)
            _node(ax, place, shown(member), SELECTED)
            gone = list(self.redundant.get(member, ()))
            n_shown = max_neighbours if len(self.members) <= _FEW_MEMBERS else 1
            lines = [shown(name) for name in gone[:n_shown]]
            if len(gone) > n_shown:
                lines.append(f"and {len(gone) - n_shown} more")
            if lines:
                outer = (side * (reach - 0.8), 1.9 * height)
                _neighbors(ax, place, outer, "\n".join(lines))
        _node(ax, (0, 0), shown(self.target), ACCENT)
        if not self.members:
            ax.annotate("no column was selected", (0, -0.35), ha="center")
        has_outer = any(self.redundant.get(member) for member in self.members)
        ax.set_xlim(*((-reach, reach) if has_outer else (-2.9, 2.9)))
        ax.set_ylim(*((-2.1, 2.1) if has_outer else (-1.6, 1.6)))
        ax.set_axis_off()
        tidy(ax)
        return self._drawn_on(ax)


def _side_and_height(number: int, n_members: int) -> tuple[int, float]:
    """Return on which side of the target a member stands, 1 for right, and at which height between -1 and 1.

    Clockwise from the top right, most important first, at even heights: names are wide, so on a circle those at the top
    and at the bottom would overprint.
    """
    n_right = (n_members + 1) // 2
    if number < n_right:
        return 1, 1 - (2 * number + 1) / n_right
    n_left = n_members - n_right
    return -1, (2 * (number - n_right) + 1) / n_left - 1


def _node(ax: Axes, place: tuple[float, float], text: str, color: str) -> None:
    ax.text(
        *place,
        text,
        ha="center",
        va="center",
        fontsize=9,
        color="white",
        bbox={"boxstyle": "round,pad=0.35", "facecolor": color, "edgecolor": color},
        zorder=3,
        parse_math=False,
    )


def _neighbors(ax: Axes, member: tuple[float, float], place: tuple[float, float], text: str) -> None:
    """Write the columns that are redundant given a member, joined to it by a dashed line that ends at the box."""
    note = ax.annotate(
        text,
        xy=member,
        xytext=place,
        ha="center",
        va="center",
        fontsize=8,
        bbox={"boxstyle": "round,pad=0.35", "facecolor": "none", "edgecolor": DROPPED},
        arrowprops={"arrowstyle": "-", "linestyle": "--", "color": DROPPED, "shrinkB": 0},
        zorder=2,
    )
    plain([note])
