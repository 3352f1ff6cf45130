"""A histogram of the p-values of growth, compared with those expected by chance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from ppfs._conventions import Floats
from ppfs.exceptions import InvalidInputError
from ppfs.plotting._canvas import ACCENT, SELECTED, Display, axes_for, ink, tidy
from ppfs.plotting._results import search_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(eq=False, repr=False)
class PValueDisplay(Display):
    """A histogram of the p-values of all columns on their own, with the line that is expected by chance.

    A peak at the left shows columns that predict the target. A flat histogram means that there is no evidence for any
    column. A peak anywhere else means that the test does not hold its level.

    Parameters
    ----------
    pvalues : ndarray of shape (n_columns,)

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
    >>> from ppfs.plotting import PValueDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> selector = PPFS(n_splits=10, random_state=0).fit(X, y)
    >>> PValueDisplay.from_estimator(selector).pvalues.shape
    (4,)
    """

    pvalues: Floats
    alpha: float

    @classmethod
    def from_estimator(cls, selector: Any, *, bins: int = 20, ax: Axes | None = None) -> Self:
        """Draw the p-values with which a fitted search began.

        Parameters
        ----------
        selector : fitted search

        bins : int, default=20
            Number of bars.

        ax : matplotlib Axes, default=None
            The axes to draw on. None makes a new figure.

        Returns
        -------
        PValueDisplay
        """
        search = search_of(selector)
        asked = search.trace_.question_arrays()
        # A search may ask about a column on its own more than once: its first answer counts.
        marginal = np.flatnonzero(asked.is_marginal)
        _, first = np.unique(asked.features[marginal], return_index=True)
        if not first.size:
            raise InvalidInputError(
                f"{type(search).__name__} asked about no column on its own, so there are no p-values to count."
            )
        return cls(asked.pvalues[marginal][np.sort(first)], search.alpha).plot(bins=bins, ax=ax)

    def plot(self, *, bins: int = 20, ax: Axes | None = None) -> Self:
        """Draw on axes, or on a new figure."""
        ax = axes_for(ax, figsize=(6.4, 3.0))
        ax.hist(self.pvalues, bins=np.linspace(0, 1, bins + 1), color=SELECTED, alpha=0.85)  # type: ignore[arg-type]
        ax.axhline(len(self.pvalues) / bins, color=ACCENT, linewidth=1.5, label="chance alone")
        ax.axvline(self.alpha, color=ink(), linestyle=":", linewidth=1.2, label=f"level {self.alpha:g}")
        ax.set_xlim(0, 1)
        ax.set_xlabel("p-value of the column on its own")
        ax.set_ylabel("columns")
        ax.legend(frameon=False)
        tidy(ax)
        return self._drawn_on(ax)
