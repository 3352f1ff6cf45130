"""Plots of the page: accuracy against size, average ranks, and time."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sets import SEED, SETS, SMALL
from tables import _ordered, fields, ranks, summary


def accuracy_against_size(cells: pd.DataFrame, path: Path) -> None:
    """Show for each method the mean accuracy and the mean share of columns over the small sets."""
    found = summary(cells)
    found = found[found.set.isin([one.key for one in SMALL])]
    n_columns = found[found.method == "All"].groupby("set")["size"].first()
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), constrained_layout=True)
    for axis, (model, title) in zip(
        axes, (("tree", "decision tree"), ("svm", "support vector machine")), strict=True
    ):
        some = found[found.model == model]
        complete = some.groupby("method").set.nunique()
        for method in _ordered(complete[complete == len(SMALL)].index):
            own = some[some.method == method].set_index("set")
            share = (own["size"] / n_columns).mean()
            is_ours = method.startswith("PPFS")
            axis.scatter(share, own.score.mean(), color="tab:red" if is_ours else "tab:blue", zorder=3)
            axis.annotate(
                method, (share, own.score.mean()), textcoords="offset points", xytext=(5, 3), fontsize=8
            )
        axis.set(title=title, xlabel="share of the columns", ylabel="accuracy")
        axis.grid(alpha=0.3)
    figure.suptitle("Selection inside the training folds, mean over the six small sets")
    _save(figure, path)


def critical_differences(cells: pd.DataFrame, folder: Path) -> None:
    """Show average ranks of each field; methods under one bar differ by less than the critical difference."""
    for name, title, seeds in fields(cells):
        _critical_differences(title, ranks(cells, seeds), folder / f"paper-ranks-{name}.png")


def _critical_differences(title: str, found: tuple[pd.Series, float, int], path: Path) -> None:
    """Draw one diagram after Demsar (2006), with the critical difference of Nemenyi's test at 0.05."""
    average, critical, n = found
    k = len(average)
    figure, axis = plt.subplots(figsize=(9, 0.32 * k + 1.2), constrained_layout=True)
    for place, (method, rank) in enumerate(average.items()):
        axis.plot([rank, rank, k + 0.3], [0, -1 - place, -1 - place], color="0.4", linewidth=0.8)
        axis.text(k + 0.4, -1 - place, f"{method}  {rank:.2f}", va="center", fontsize=9)
    values, level = average.to_numpy(), 0.0
    last = -1
    for start in range(k):
        end = int(np.flatnonzero(values <= values[start] + critical)[-1])
        if end > last and end > start:
            level += 0.35
            axis.plot(
                [values[start] - 0.05, values[end] + 0.05], [level, level], color="tab:red", linewidth=3
            )
            last = end
    axis.plot([1, 1 + critical], [level + 0.8] * 2, color="black")
    axis.text(1, level + 0.95, f"critical difference {critical:.2f}", fontsize=8)
    axis.axhline(0, color="black", linewidth=1)
    axis.set(xlim=(0.5, k + 4), ylim=(-k - 1, level + 1.6), yticks=[], xticks=range(1, k + 1))
    axis.set_title(f"{title}:\naverage rank by accuracy, {n} blocks", fontsize=10)
    for side in ("left", "right", "top", "bottom"):
        axis.spines[side].set_visible(False)
    _save(figure, path)


def time_needed(cells: pd.DataFrame, path: Path) -> None:
    """Show the CPU seconds of selecting in all folds, for each method and set."""
    first = cells[(cells.seed == SEED) & (cells.status == "done")].drop_duplicates(["set", "method"])
    methods = [method for method in _ordered(first.method) if method != "All"]
    figure, axis = plt.subplots(figsize=(9, 4.2), constrained_layout=True)
    for place, method in enumerate(methods):
        own = first[first.method == method]
        is_wide = own.set.map(lambda key: SETS[key].is_wide)
        for some, colour in ((own[~is_wide], "tab:blue"), (own[is_wide], "tab:orange")):
            axis.scatter([place] * len(some), some.seconds.clip(lower=0.01), color=colour, s=18, alpha=0.8)
    axis.set(
        yscale="log",
        ylabel="CPU seconds, all folds",
        title="Time to select (blue: small sets, orange: wide sets)",
    )
    axis.set_xticks(range(len(methods)), methods, rotation=35, ha="right", fontsize=8)
    axis.grid(axis="y", alpha=0.3)
    _save(figure, path)


def _save(figure: plt.Figure, path: Path) -> None:
    figure.savefig(path, dpi=110)
    plt.close(figure)
