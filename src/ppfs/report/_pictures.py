"""The plots of a report, as SVG inside the page that uses the colors of the page."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ppfs._libraries import imported
from ppfs.exceptions import InvalidInputError
from ppfs.plotting import (
    AtLeastDisplay,
    BlanketDisplay,
    ImportanceDisplay,
    PValueDisplay,
    RolesDisplay,
    StabilityDisplay,
    SufficiencyDisplay,
    TimelineDisplay,
    UpdateDisplay,
)

# A placeholder for the color of the page's text while a plot is drawn; no plot uses it otherwise.
_INK = "#010203"
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "font.size": 10,
}


@dataclass(frozen=True)
class Picture:
    """A plot with its title and caption.

    Attributes
    ----------
    svg : str
        The plot, to be put into the page.
    """

    title: str
    caption: str
    svg: str


def pictures_of(selector: Any) -> list[Picture]:
    """Draw all plots that apply to a fitted search."""
    n_shown = min(20, max(1, len(selector.trace_.column_names)))
    wanted: list[tuple[str, str, tuple[float, float], Callable[[Any], Any]]] = [
        (
            "How much each column matters",
            "The importance of each column; the thin lines are intervals at the level of the test. Gray columns were "
            "not selected.",
            (7.0, 1.0 + 0.27 * n_shown),
            lambda ax: ImportanceDisplay.from_estimator(selector, max_columns=20, ax=ax),
        ),
        (
            "The selected columns",
            "The target in the middle, around it the selected columns; thicker lines mean larger importance. Dashed: "
            "columns with evidence of a link on their own, for which none is left given the selected one.",
            (8.4, 5.6),
            lambda ax: BlanketDisplay.from_estimator(selector, target=selector.trace_.data.target, ax=ax),
        ),
        (
            "The search, answer by answer",
            "Every answer in its order; the bands are the phases of the search. High points are strong evidence. An "
            "answer that was used again, or that holds for several columns tested as one, is drawn each time.",
            (7.0, 3.6),
            lambda ax: TimelineDisplay.from_estimator(selector, ax=ax),
        ),
        (
            "P-values of single columns",
            "The p-values of all columns on their own. Without any link to the target they would follow the line; "
            "a peak at the left is evidence of columns that predict it.",
            (7.0, 3.0),
            lambda ax: PValueDisplay.from_estimator(selector, ax=ax),
        ),
    ]
    folds = getattr(selector, "folds_", ())
    if folds:
        n_members = min(20, len({column for fold in folds for column in fold.blanket}))
        wanted.append(
            (
                "Agreement between folds",
                "Each column that some fold selected, and the folds that did.",
                (7.0, 1.2 + 0.27 * n_members),
                lambda ax: StabilityDisplay.from_estimator(selector, ax=ax),
            )
        )
    if getattr(selector, "_sufficiency", None) is not None:
        wanted.append(
            (
                "Are the selected columns enough?",
                "The loss of new rows with no column, with the selected ones and with all of them. The black line is "
                "the 95 % interval of the difference between the last two; left of the dashed line less is lost than "
                "the margin.",
                (7.0, 2.6),
                lambda ax: SufficiencyDisplay.from_estimator(selector, ax=ax),
            )
        )
    if getattr(selector, "confirmed_", None) is not None:
        wanted.append(
            (
                "How many of the first columns are related?",
                "A lower bound for the most important column, for the two most important ones, and so on. It holds for "
                "all of them together.",
                (7.0, 3.0),
                lambda ax: AtLeastDisplay.from_estimator(selector, ax=ax),
            )
        )
    wanted.append(
        (
            "New rows",
            "The evidence of new rows behind the status of each column. Chance alone gives an "
            "e-value of 100 once in a hundred times at most, whenever one looks.",
            (7.0, 4.0),
            lambda ax: UpdateDisplay.from_estimator(selector, ax=ax),
        )
    )
    wanted.append(
        (
            "Roles around the target",
            "Arrows where questions decided them, a line where the direction is open. Arrows between columns are those "
            "from a spouse to a common child.",
            (7.0, 5.0),
            lambda ax: RolesDisplay.from_estimator(selector, ax=ax),
        )
    )
    pictures = []
    for title, caption, figsize, draw in wanted:
        try:
            pictures.append(Picture(title, caption, _drawn(draw, figsize, salt=title)))
        except InvalidInputError:
            continue
    return pictures


def _drawn(draw: Callable[[Any], Any], figsize: tuple[float, float], salt: str) -> str:
    """Return a plot as SVG, without its prologue."""
    matplotlib = imported("matplotlib", "Drawing the plots of a report", "report")
    from matplotlib.figure import Figure

    # The ids inside an SVG depend on the salt: plots on one page must not share them.
    with matplotlib.rc_context({**_STYLE, "svg.hashsalt": salt}):
        # Not with pyplot, which keeps figures alive and may need a display.
        figure = Figure(figsize=figsize, layout="constrained")
        draw(figure.subplots())
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg", transparent=True, metadata={"Date": None})
    text = buffer.getvalue()
    return text[text.index("<svg") :].replace(_INK, "currentColor")
