"""What every plot draws: lines, points, bars, arrows and words, with their places, colors and order."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from checks.recorded import Record
from sklearn.linear_model import LinearRegression

from ppfs import PPFS, PPFSCV, compare
from ppfs.blanket import IAMB, MMMB, StabilitySelection
from ppfs.plotting import (
    AtLeastDisplay,
    BlanketDisplay,
    ImportanceDisplay,
    PValueDisplay,
    RolesDisplay,
    ScoreSizeDisplay,
    StabilityDisplay,
    SufficiencyDisplay,
    TimelineDisplay,
    UpdateDisplay,
)
from ppfs.report._pictures import pictures_of

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.patches")
Figure = pytest.importorskip("matplotlib.figure").Figure

RECORD = Record(__file__)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(9)
    X = rng.normal(size=(100, 6))
    X[:, 1] = X[:, 0] + 0.5 * X[:, 1]
    y = X[:, 0] + X[:, 2] + 0.6 * rng.normal(size=100)
    X[:, 3] = y + X[:, 4] + 0.5 * X[:, 3]
    return pd.DataFrame(X, columns=["cause", "copy", "other", "effect", "spouse", "noise"]), y


@pytest.fixture(scope="module")
def fitted(data):
    X, y = data
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        search = PPFS.calibrated(LinearRegression(), confirm=0.3, random_state=2).fit(X[:80], y[:80])
        search.measure_sufficiency(X[:80], y[:80])
        search.update(X[80:], y[80:], X=X[:80], y=y[:80])
        return {
            "search": search,
            "folds": PPFS(LinearRegression(), n_splits=6, n_folds=4, random_state=0).fit(X, y),
            "graph": MMMB().fit(X, y),
            "halves": StabilitySelection(IAMB(), n_pairs=4, random_state=0).fit(X, y),
            "candidates": PPFSCV(LinearRegression(), cv=3, random_state=0).fit(X, y),
            "comparison": compare(
                X,
                y,
                methods={"iamb": IAMB(), "all": "all"},
                estimator=LinearRegression(),
                cv=3,
                random_state=0,
            ),
        }


PLOTS = {
    "importance": (ImportanceDisplay.from_estimator, "search", {}),
    "importance of two": (ImportanceDisplay.from_estimator, "folds", {"max_columns": 2}),
    "blanket": (BlanketDisplay.from_estimator, "search", {}),
    "blanket, one neighbor": (BlanketDisplay.from_estimator, "graph", {"max_neighbours": 1}),
    "timeline": (TimelineDisplay.from_estimator, "search", {}),
    "timeline of a graph": (TimelineDisplay.from_estimator, "graph", {}),
    "p-values": (PValueDisplay.from_estimator, "search", {"bins": 5}),
    "stability of folds": (StabilityDisplay.from_estimator, "folds", {}),
    "stability of halves": (StabilityDisplay.from_estimator, "halves", {"max_columns": 4}),
    "sufficiency": (SufficiencyDisplay.from_estimator, "search", {}),
    "at least": (AtLeastDisplay.from_estimator, "search", {}),
    "update": (UpdateDisplay.from_estimator, "search", {}),
    "roles": (RolesDisplay.from_estimator, "graph", {}),
    "scores": (ScoreSizeDisplay.from_estimator, "candidates", {}),
    "scores of methods": (ScoreSizeDisplay.from_comparison, "comparison", {}),
}


@pytest.mark.parametrize("name", PLOTS)
def test_plots_are_those_on_record(name, fitted):
    draw, what, said = PLOTS[name]
    ax = Figure().subplots()
    if "max_neighbours" in said:
        draw(fitted[what], ax=Figure().subplots()).plot(ax=ax, **said)
    else:
        draw(fitted[what], ax=ax, **said)
    RECORD.check(name, described(ax))


def test_the_pictures_of_a_report_are_those_on_record(fitted):
    for name in ("search", "graph", "halves"):
        drawn = [
            [one.title, one.caption, re.search(r'viewBox="([^"]*)"', one.svg)[1].split()]
            for one in pictures_of(fitted[name])
        ]
        RECORD.check(f"report of {name}", drawn)


def look_of(text):
    """Return how a text is written, and where the arrow of a note goes."""
    arrow = getattr(text, "arrow_patch", None)
    return [
        text.get_color(),
        text.get_weight(),
        text.get_ha(),
        text.get_va(),
        *([text.xy, text.get_anncoords(), text.get_annotation_clip()] if hasattr(text, "xy") else []),
        *([arrow.get_edgecolor(), arrow.get_linewidth(), arrow.get_alpha()] if arrow else []),
    ]


def corners(patch):
    """Return where a bar is, or where an arrow starts and ends."""
    if isinstance(patch, matplotlib.patches.Rectangle):
        return patch.get_bbox().bounds
    return [*getattr(patch, "_posA_posB", []), getattr(patch, "shrinkA", 0), getattr(patch, "shrinkB", 0)]


def look_of_legend(legend):
    return [legend.get_frame_on(), legend._loc, legend.get_title().get_text()] if legend else []


def described(ax):
    """Return what was drawn, in its order."""
    return {
        "words": [ax.get_title(loc=place) for place in ("left", "center")]
        + [ax.get_xlabel(), ax.get_ylabel()],
        "limits": [*ax.get_xlim(), *ax.get_ylim()],
        "ticks": [[label.get_text() for label in axis.get_ticklabels()] for axis in (ax.xaxis, ax.yaxis)],
        "texts": [
            [text.get_text(), text.get_position(), text.get_alpha(), text.get_size(), *look_of(text)]
            for text in ax.texts
        ],
        "lines": [
            [
                line.get_xdata(),
                line.get_ydata(),
                line.get_color(),
                line.get_linewidth(),
                line.get_linestyle(),
                line.get_alpha(),
                line.get_marker(),
                line.get_markersize(),
            ]
            for line in ax.lines
        ],
        "points": [
            [
                points.get_offsets(),
                points.get_sizes() if hasattr(points, "get_sizes") else [],
                points.get_alpha(),
                points.get_facecolor(),
                points.get_edgecolor(),
                points.get_linewidth(),
            ]
            for points in ax.collections
        ],
        "patches": [
            [
                type(patch).__name__,
                patch.get_alpha(),
                patch.get_facecolor(),
                patch.get_linewidth(),
                patch.get_edgecolor(),
                corners(patch),
            ]
            for patch in ax.patches
        ],
        "frame": [ax.axison, ax.get_aspect(), ax.get_xscale(), ax.get_yscale(), ax.yaxis_inverted()]
        + [spine.get_visible() for spine in ax.spines.values()]
        + [any(line.get_visible() for line in axis.get_gridlines()) for axis in (ax.xaxis, ax.yaxis)],
        "tick labels": [
            [label.get_color(), label.get_size(), label.get_rotation()]
            for axis in (ax.xaxis, ax.yaxis)
            for label in axis.get_ticklabels()[:1]
        ],
        "look of the legend": look_of_legend(ax.get_legend()),
        "legend": [text.get_text() for text in (ax.get_legend().get_texts() if ax.get_legend() else ())],
    }
