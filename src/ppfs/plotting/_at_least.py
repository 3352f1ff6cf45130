"""How many of the most important columns are related to the target, at least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ppfs._conventions import Floats
from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import SELECTED, Display, axes_for, ink, tidy
from ppfs.plotting._results import results_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class AtLeastDisplay(Display):
    """The lower bound on the number of related columns among the first, the first two, and so on.

    Parameters
    ----------
    bounds : ndarray of shape (n_selected,)
        For the most important column, for the two most important ones, and so on.

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
    >>> from ppfs.plotting import AtLeastDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS.calibrated(confirm=0.3, random_state=0).fit(X, y)
    >>> AtLeastDisplay.from_estimator(selector).ax_.get_ylabel()
    'related to the target'
    """

    bounds: Floats

    @classmethod
    def from_estimator(cls, selector: Any, *, ax: Axes | None = None) -> Self:
        """Draw the bounds of a search that held rows out.

        Parameters
        ----------
        selector : fitted search
            With `confirm`.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        AtLeastDisplay
        """
        bounds = results_of(selector).numbers("at_least")
        if not np.isfinite(bounds).any():
            raise InvalidInputError(
                f"This {type(selector).__name__} has no bounds to draw. Fit PPFS with confirm=0.3 to hold rows out."
            )
        return cls(np.sort(bounds[np.isfinite(bounds)])).plot(ax=ax)

    def plot(self, *, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        ax = axes_for(ax, figsize=(6.4, 3.0))
        first = np.arange(1, len(self.bounds) + 1)
        ax.step(first, self.bounds, where="mid", color=SELECTED, linewidth=2, label="lower bound")
        ax.plot(first, first, color=ink(), linestyle=":", linewidth=1.2, label="all of them")
        ax.set_xlabel("most important columns")
        ax.set_ylabel("related to the target")
        ax.set_ylim(bottom=0)
        ax.legend(frameon=False)
        tidy(ax)
        return self._drawn_on(ax)
