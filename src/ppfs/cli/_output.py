"""Writing a result: a table for people, names for pipes, JSON for programs."""

from __future__ import annotations

import json
import math
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from ppfs import PPFS, __version__
from ppfs._trace import Step
from ppfs.cli._input import Input
from ppfs.cli._terminal import printable

_BAR_WIDTH = 20


def names_text(selector: PPFS, data: Input) -> str:
    """Return the selected names, most important first, one a line."""
    return "\n".join(printable(data.names[column]) for column in selector.blanket_)


def json_text(selector: PPFS, data: Input) -> str:
    """Return the result as JSON, every column included."""
    decided_by = selector.trace_.deciding_steps()
    chosen = next((fold.number for fold in selector.folds_ if fold.is_chosen), None)
    result: dict[str, Any] = {
        "ppfs": __version__,
        "data": data.name,
        "target": data.target,
        "task": selector.task_,
        "alpha": selector.alpha,
        "n_splits": selector.n_splits,
        "n_folds": selector.n_folds,
        "chosen_fold": chosen,
        "random_state": selector.random_state,
        "n_fits": selector.n_fits_,
        "selected": [data.names[column] for column in selector.blanket_],
        "columns": [
            _column(selector, column, name, decided_by.get(selector.trace_.feature_of(column)))
            for column, name in enumerate(data.names)
        ],
    }
    return json.dumps(result, indent=2)


def _column(selector: PPFS, column: int, name: str, decided_by: Step | None) -> dict[str, Any]:
    return {
        "name": name,
        "selected": bool(selector.support_[column]),
        "pvalue": _number(selector.pvalues_[column]),
        "importance": _number(selector.importances_[column]),
        # None where no question decided: rows were too few to tell.
        "decided_in": None if decided_by is None else decided_by.phase,
    }


def _number(value: float) -> float | None:
    """Return a number as JSON has it: there is no NaN."""
    return None if math.isnan(value) else float(value)


def print_table(selector: PPFS, data: Input, console: Console) -> None:
    """Show what was selected and why, and what became of the other columns."""
    n_kept, n_columns = len(selector.blanket_), len(data.names)
    table = RichTable(
        title=f"{_shown(data.name)}: {n_kept} of {n_columns} columns predict {_shown(data.target)}",
        title_justify="left",
        caption="importance: mean rise in risk when the column is shuffled in unseen rows",
        caption_justify="left",
    )
    table.add_column("column")
    table.add_column("importance", justify="right")
    table.add_column("", min_width=_BAR_WIDTH)
    table.add_column("p-value", justify="right")
    largest = max(selector.importances_[selector.blanket_], default=0.0)
    for column in selector.blanket_:
        importance = selector.importances_[column]
        bar = "█" * max(1, round(_BAR_WIDTH * importance / largest)) if largest > 0 else ""
        table.add_row(
            _shown(data.names[column]), f"{importance:.4g}", bar, f"{selector.pvalues_[column]:.2g}"
        )
    console.print(table)
    console.print(_what_became_of_the_rest(selector))


def _shown(name: str) -> str:
    """Return a name as Rich prints it letter for letter."""
    return escape(printable(name))


def _what_became_of_the_rest(selector: PPFS) -> str:
    outside = [step for x, step in selector.trace_.deciding_steps().items() if not selector.support_[x]]
    n_weak = sum(step.decision == "rejected" for step in outside)
    n_redundant = sum(step.decision == "dropped" for step in outside)
    return (
        f"Not selected: {n_weak} that do not help on their own (growth), {n_redundant} that add nothing to the others "
        f"(shrink). alpha {selector.alpha}, {selector.n_splits} splits, {selector.n_fits_} models fitted."
    )
