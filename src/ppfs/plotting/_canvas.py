"""What all plots share: axes to draw on, colors, and how names are written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

from ppfs._libraries import imported
from ppfs._printable import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

# Distinguishable with any color vision (Okabe and Ito's palette), and on light and dark pages.
SELECTED = "#0072B2"
DROPPED = "#8A8F98"
ACCENT = "#D55E00"

_LONGEST_NAME = 32


class Display:
    """The axes and the figure of a plot.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes of the plot.

    figure_ : matplotlib Figure
        The figure of the plot.
    """

    ax_: Axes
    figure_: Figure

    def _drawn_on(self, ax: Axes) -> Self:
        self.ax_, self.figure_ = ax, ax.figure  # type: ignore[assignment]
        return self


def axes_for(ax: Axes | None, *, figsize: tuple[float, float]) -> Axes:
    """Return the caller's axes, or those of a new figure."""
    if ax is not None:
        return ax
    plt = imported("matplotlib.pyplot", "Drawing a plot", "plots")
    new: Axes = plt.subplots(figsize=figsize, layout="constrained")[1]
    return new


def ink() -> Any:
    """Return the color of text, so that lines can be read on the caller's style, dark ones included."""
    import matplotlib

    return matplotlib.rcParams["text.color"]


def tidy(ax: Axes, *, grid: str | None = None) -> None:
    """Remove the lines that carry no information."""
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    if grid is not None:
        ax.grid(axis=grid, alpha=0.25, linewidth=0.8)  # type: ignore[arg-type]
        ax.set_axisbelow(True)


def shown(name: Any) -> str:
    """Return a name as a plot can show it: on one line, shortened in the middle, control characters escaped."""
    text = printable(str(name))
    if len(text) <= _LONGEST_NAME:
        return text
    # Long names often begin alike: both ends are needed to distinguish them.
    half = (_LONGEST_NAME - 1) // 2
    return f"{text[: _LONGEST_NAME - 1 - half]}…{text[-half:]}"


def plain(texts: list[Any]) -> None:
    """Keep dollar signs in names from being read as formulas."""
    for text in texts:
        text.set_parse_math(False)
