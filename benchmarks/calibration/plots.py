"""The plots of the documentation, from the same results as the tables."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from blocks import N_BINS
from contenders import ORACLE, PredictiveName, family_of
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from problems import CORRELATIONS, ROWS, TASKS
from studies import FITS_ESTIMATORS

WIDTH, DPI = 8.0, 150


@dataclass(frozen=True)
class Style:
    """How a test looks in every plot."""

    label: str
    colour: str
    marker: str


# Okabe and Ito's colours, which stay apart for colour-blind readers; the markers tell the same once more.
STYLES = {
    "paper": Style("paper", "#D55E00", "s"),
    "corrected-conditional": Style("corrected t", "#0072B2", "^"),
    "cross-fit": Style("cross-fit", "#009E73", "o"),
    "cross-fit-randomisation": Style("randomisation", "#CC79A7", "D"),
    ORACLE: Style("F or LR test", "#000000", "x"),
}
TREE = Style("cross-fit, tree", "#E69F00", "v")

GREY = "#888888"


def plot_levels(sizes: pd.DataFrame, task: str) -> Figure | None:
    """Rejection rate against nominal level under the null: a calibrated test stays on or below the diagonal."""
    shown = sizes[
        (sizes["task"] == task)
        & (sizes["kind"] == "continuous")
        & (sizes["link"] == "linear")
        & (sizes["n_rows"] == 200)
        & sizes["contender"].map(family_of).isin(STYLES)
    ]
    if shown.empty:
        return None
    figure, axes = _panels(len(FITS_ESTIMATORS), len(CORRELATIONS))
    levels = np.array([0.0, 0.01, *(np.arange(1, N_BINS + 1) / N_BINS)])
    for row, estimator in zip(axes, FITS_ESTIMATORS, strict=True):
        for panel, corr in zip(row, CORRELATIONS, strict=True):
            panel.plot([0, 1], [0, 1], color=GREY, linewidth=1, linestyle="--")
            ends = []
            for line in shown[shown["corr"] == corr].itertuples():
                if line.contender != ORACLE and PredictiveName.parse(line.contender).estimator != estimator:
                    continue
                rates = [0.0, line.at_01, *np.cumsum(line.histogram)]
                ends.append(_draw(panel, levels[levels <= 0.301], rates, STYLES[family_of(line.contender)]))
            _tidy(panel, f"{estimator}, corr {corr:g}")
            panel.set_xlim(0, 0.31)
        row[0].set_ylim(bottom=0)
        _name_curves(row[-1], ends)
    _label(figure, "nominal level", "share of true nulls rejected")
    return figure


def plot_powers(powers: pd.DataFrame, task: str) -> Figure | None:
    """Power at 5 % against effect, beside the test that knows the model."""
    styles = {
        ORACLE: STYLES[ORACLE],
        "cross-fit-5/linear": STYLES["cross-fit"],
        "corrected-conditional-10/linear": STYLES["corrected-conditional"],
        "cross-fit-5/tree": TREE,
    }
    shown = (
        powers[(powers["task"] == task) & powers["contender"].isin(list(styles))] if len(powers) else powers
    )
    if shown.empty:
        return None
    figure, axes = _panels(len(ROWS), len(CORRELATIONS), sharex=False)
    for row, n_rows in zip(axes, ROWS, strict=True):
        for panel, corr in zip(row, CORRELATIONS, strict=True):
            part = shown[(shown["n_rows"] == n_rows) & (shown["corr"] == corr)]
            ends = []
            for contender, curve in part.groupby("contender", sort=False):
                curve = curve.assign(effect=curve["effect"].astype(float)).sort_values("effect")
                ends.append(_draw(panel, curve["effect"], curve["rate"] / 100, styles[contender]))
            _tidy(panel, f"n = {n_rows}, corr {corr:g}")
            panel.set_xlim(left=0)
        row[0].set_ylim(0, 1.02)
        _name_curves(row[-1], ends)
    _label(figure, "effect", "power")
    return figure


def plot_fits(fits: pd.DataFrame, task: str) -> Figure | None:
    """Power and size at 5 % against the number of models fitted for a question."""
    shown = fits[fits["task"] == task] if len(fits) else fits
    if shown.empty:
        return None
    figure, axes = _panels(2, len(FITS_ESTIMATORS))
    parsed = shown["contender"].map(PredictiveName.parse)
    for row, is_null in zip(axes, (False, True), strict=True):
        for panel, estimator in zip(row, FITS_ESTIMATORS, strict=True):
            is_here = parsed.map(lambda name, estimator=estimator: name.estimator == estimator)
            part = shown[is_here & ((shown["effect"] == "0") == is_null)]
            ends = []
            for family, curve in part.groupby(parsed.map(lambda name: name.family), sort=False):
                curve = curve.sort_values("fits")
                ends.append(_draw(panel, curve["fits"], curve["rate"] / 100, STYLES[family]))
            if is_null:
                panel.axhline(0.05, color=GREY, linewidth=1, linestyle="--")
            panel.set_xscale("log")
            panel.set_xticks([2, 5, 10, 30, 100], ["2", "5", "10", "30", "100"])
            panel.minorticks_off()
            _tidy(panel, f"{'true nulls rejected' if is_null else 'power'}, {estimator}")
        row[0].set_ylim(0, None if is_null else 1.02)
        _name_curves(row[-1], ends)
    _label(figure, "models fitted for a question", "share rejected at 5 %")
    return figure


def write_plots(
    sizes: pd.DataFrame, powers: pd.DataFrame, fits: pd.DataFrame, folder: Path
) -> Iterable[Path]:
    """Write every plot for which there are results and yield where."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, plot, results in (
        ("level", plot_levels, sizes),
        ("power", plot_powers, powers),
        ("fits", plot_fits, fits),
    ):
        for task in TASKS:
            figure = plot(results, task) if len(results) else None
            if figure is not None:
                path = folder / f"calibration-{name}-{task}.png"
                # Without the version of the drawing library, so that equal plots are equal files.
                figure.savefig(path, dpi=DPI, metadata={"Software": None})
                yield path


def _panels(n_down: int, n_across: int, sharex: bool = True) -> tuple[Figure, np.ndarray]:
    figure = Figure(figsize=(WIDTH, 2.4 * n_down + 0.4), layout="constrained")
    axes = figure.subplots(n_down, n_across, sharex=sharex, sharey="row", squeeze=False)
    return figure, axes


def _draw(panel: Axes, x: Sequence[float], y: Sequence[float], style: Style) -> tuple[float, Style]:
    """Draw a curve and return the height where it ends, for its name."""
    x, y = np.asarray(x), np.asarray(y)[: len(x)]
    panel.plot(x, y, color=style.colour, marker=style.marker, markersize=4, linewidth=1.5)
    return float(y[-1]), style


def _tidy(panel: Axes, title: str) -> None:
    """Give a panel its title and a quiet frame."""
    panel.set_title(title, fontsize=9)
    panel.grid(color="#dddddd", linewidth=0.6)
    panel.spines[["top", "right"]].set_visible(False)
    panel.tick_params(labelsize=8)


def _name_curves(panel: Axes, ends: list[tuple[float, Style]]) -> None:
    """Write the names of the curves beside their ends, once the limits of the panel are known."""
    _, top = panel.get_ylim()
    heights = spread([height for height, _ in ends], 0.085 * top)
    for (_, style), height in zip(ends, heights, strict=True):
        panel.annotate(style.label, (1.03, height), xycoords=("axes fraction", "data"), color=style.colour,
                       fontsize=8, va="center", linespacing=0.9, annotation_clip=False)  # fmt: skip


def spread(heights: Sequence[float], gap: float) -> list[float]:
    """Move heights apart until neighbors do not overlap, as little as possible and in the same order.

    Examples
    --------
    >>> spread([1.0, 1.0, 5.0], 2.0)
    [0.0, 2.0, 5.0]
    """
    groups = [[height, 1] for height in sorted(heights)]
    i = 1
    while i < len(groups):
        (low, n_low), (high, n_high) = groups[i - 1], groups[i]
        if high - low >= gap * (n_low + n_high) / 2 - 1e-12:
            i += 1
            continue
        # Neighbours that are too near become one group around their common middle.
        groups[i - 1 : i + 1] = [[(low * n_low + high * n_high) / (n_low + n_high), n_low + n_high]]
        i = max(1, i - 1)
    placed = [middle + gap * (k - (n - 1) / 2) for middle, n in groups for k in range(n)]
    order = sorted(range(len(heights)), key=heights.__getitem__)
    return [place for _, place in sorted(zip(order, placed, strict=True))]


def _label(figure: Figure, x: str, y: str) -> None:
    figure.supxlabel(x, fontsize=9)
    figure.supylabel(y, fontsize=9)
