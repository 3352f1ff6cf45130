"""Whether the selected columns are enough: what they lose, beside what may be lost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from sklearn.utils.validation import check_is_fitted

from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, DROPPED, SELECTED, Display, axes_for, ink, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class SufficiencyDisplay(Display):
    """The losses of models with no column, with the selected columns and with all columns, and the margin.

    Parameters
    ----------
    sufficiency : Sufficiency
        The attribute `sufficiency_` of a selector.

    Attributes
    ----------
    ax_ : matplotlib Axes
        What was drawn on.

    figure_ : matplotlib Figure
        The figure it belongs to.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from ppfs import PPFS
    >>> from ppfs.plotting import SufficiencyDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS.calibrated(random_state=0).fit(X, y)
    >>> display = SufficiencyDisplay.from_estimator(selector)
    >>> display.sufficiency is selector.sufficiency_
    True
    """

    sufficiency: Any

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Axes | None = None) -> Self:
        """Draw what a fitted selector loses; it is measured if it was not yet.

        Parameters
        ----------
        selector : fitted selector

        ax : matplotlib Axes, default=None
            Where to draw. None makes a figure.

        Returns
        -------
        SufficiencyDisplay
        """
        check_is_fitted(selector)
        try:
            found = selector.sufficiency_
        except AttributeError as error:
            raise InvalidInputError(str(error)) from error
        return cls(found).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        ax = axes_for(ax, figsize=(6.4, 2.4))
        found = self.sufficiency
        losses = (found.of_nothing, found.of_selected, found.of_all)
        ax.barh([2, 1, 0], losses, color=(DROPPED, SELECTED, DROPPED), alpha=0.85)
        # The interval of what the selection loses, drawn from the loss of all columns.
        low, high = (found.of_all + end for end in (found.lost.low, found.lost.high))
        ax.plot([low, high], [1, 1], color=ink(), linewidth=2, solid_capstyle="butt")
        if found.explained.value > 0:
            ax.axvline(
                found.of_all + found.margin * found.explained.value,
                color=ACCENT,
                linewidth=1.5,
                linestyle="--",
                label=f"{found.margin:.0%} of what all columns explain is lost",
            )
            ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, 1.2))
        ax.set_yticks([2, 1, 0], ["no column", "selected columns", "all columns"])
        ax.set_xlabel(
            f"loss of new rows ({found.loss}), with the 95 % interval of the difference to all columns"
        )
        tidy(ax)
        return self._drawn_on(ax)
