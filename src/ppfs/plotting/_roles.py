"""The columns around the target, with arrows where questions decided them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, ink, plain, shown
from ppfs.plotting._results import search_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class RolesDisplay(Display):
    """The target and the selected columns: arrows where questions decided the direction, lines where it is open.

    Parameters
    ----------
    roles : sequence of Role
        The attribute `roles_` of a search.

    target : str
        The name of the target.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes with the plot.

    figure_ : matplotlib Figure
        The figure of the axes.

    Examples
    --------
    >>> from ppfs.blanket import MMMB
    >>> from ppfs.datasets import make_blanket_problem
    >>> from ppfs.plotting import RolesDisplay
    >>> X, y, _ = make_blanket_problem(random_state=0)
    >>> selector = MMMB().fit(X, y)
    >>> display = RolesDisplay.from_estimator(selector)
    >>> len(display.roles) == selector.blanket_.size
    True
    """

    roles: Sequence[Any]
    target: str

    @classmethod
    def from_estimator(cls, selector: Any, *, max_columns: int = 16, ax: Axes | None = None) -> Self:
        """Draw the roles of a fitted search.

        Parameters
        ----------
        selector : fitted search

        max_columns : int, default=16
            Maximum number of selected columns to show.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        RolesDisplay
        """
        search = search_of(selector)
        roles = getattr(search, "roles_", ())
        if all(role.role == "undecided" for role in roles):
            raise InvalidInputError(
                f"The questions of {type(search).__name__} determine no role. Use a search over subsets, such as MMMB."
            )
        return cls(roles[:max_columns], search.trace_.data.target).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        ax = axes_for(ax, figsize=(7.0, 5.0))
        angles = np.pi / 2 - 2 * np.pi * np.arange(len(self.roles)) / max(1, len(self.roles))
        places = {role.feature: (np.cos(a), np.sin(a)) for role, a in zip(self.roles, angles, strict=True)}
        places[self.target] = (0.0, 0.0)
        arrows = dict.fromkeys(arrow for role in self.roles for arrow in role.arrows)
        for cause, effect in arrows:
            if cause in places and effect in places:
                self._line(ax, places[cause], places[effect], "-|>", SELECTED)
        for role in self.roles:
            if role.role == "parent or child":
                self._line(ax, places[role.feature], (0.0, 0.0), "-", ink())
        for role in self.roles:
            color = DROPPED if role.role == "undecided" else SELECTED
            self._node(ax, places[role.feature], f"{shown(role.feature)}\n{role.role}", color)
        self._node(ax, (0.0, 0.0), shown(self.target), ACCENT)
        ax.set_xlim(-1.5, 1.5)
        ax.set_ylim(-1.25, 1.25)
        ax.set_axis_off()
        return self._drawn_on(ax)

    def _line(self, ax: Axes, start: Any, end: Any, style: str, color: Any) -> None:
        arrow = {"arrowstyle": style, "color": color, "linewidth": 1.6, "shrinkA": 22, "shrinkB": 22}
        ax.annotate("", xy=end, xytext=start, arrowprops=arrow)

    def _node(self, ax: Axes, place: Any, text: str, color: str) -> None:
        box = {"boxstyle": "round,pad=0.35", "facecolor": color, "edgecolor": "none"}
        plain(
            [ax.text(place[0], place[1], text, ha="center", va="center", fontsize=8, color="white", bbox=box)]
        )
