"""What was drawn on axes, in terms that can be compared."""

import re

import numpy as np
import pytest

matplotlib = pytest.importorskip("matplotlib")
pytest.importorskip("matplotlib.patches")


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
                np.ma.filled(points.get_offsets(), np.nan),
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


def details(ax):
    """Return what a reader sees less of: sizes, boxes, grids, and how lines end."""
    figure = ax.figure
    return {
        "size": [*figure.get_size_inches(), type(figure.get_layout_engine()).__name__],
        "boxes": [
            [box.get_facecolor(), box.get_edgecolor(), vars(box.get_boxstyle())]
            for text in ax.texts
            if (box := text.get_bbox_patch()) is not None
        ],
        "arrows": [
            [arrow.shrinkA, arrow.shrinkB, type(arrow.get_arrowstyle()).__name__, arrow.get_linestyle()]
            for text in ax.texts
            if (arrow := getattr(text, "arrow_patch", None)) is not None
        ],
        "formulas": [
            text.get_parse_math() for text in [*ax.texts, *ax.get_xticklabels(), *ax.get_yticklabels()]
        ],
        "ends": [line.get_solid_capstyle() for line in ax.lines],
        "grid": [
            [ax.get_axisbelow()],
            *(
                [line.get_alpha(), line.get_linewidth()]
                for axis in (ax.xaxis, ax.yaxis)
                for line in axis.get_gridlines()[:1]
            ),
        ],
        "legend box": _box_of(ax.get_legend()),
        # Bars without a label have none, or one that matplotlib counts, depending on its version.
        "bars": [[re.sub("^_container.*", "", container.get_label() or "") for container in ax.containers]],
    }


def _box_of(legend):
    if legend is None:
        return None
    anchor = legend.get_bbox_to_anchor()
    return [legend._ncols, np.round(legend.axes.transAxes.inverted().transform(anchor.bounds[:2]), 6)]
