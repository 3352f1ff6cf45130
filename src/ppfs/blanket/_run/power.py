"""What a table would have shown, added to the outcome of a search."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ppfs._data import Table
from ppfs._trace import Trace
from ppfs._verdicts import detectable_of, rows_needed
from ppfs.independence import IndependenceTest


def state_power(
    trace: Trace,
    table: Table,
    test: IndependenceTest,
    alpha: float,
    level_alone: Callable[[int, int], float],
) -> None:
    """Add the smallest detectable effects to the outcome, and a note about an empty selection."""
    detectable = detectable_of(trace, table, test, alpha, level_alone)
    if detectable is None or trace.outcome is None:
        return
    trace.conclude(replace(trace.outcome, detectable=detectable))
    if not trace.outcome.selected:
        trace.notes.extend(filter(None, [rows_needed(detectable, trace, test, table.n_rows)]))
