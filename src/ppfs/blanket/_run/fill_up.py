"""Columns that are added to a selection to reach `min_features`."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from ppfs._data import Table
from ppfs._trace import Step
from ppfs.exceptions import InvalidInputError


def fill_up(
    blanket: Collection[int],
    min_features: int,
    *,
    table: Table,
    decided_by: Mapping[int, Step],
    barred: Collection[int],
) -> list[int]:
    """Return the features that came closest to being selected, as many as are missing.

    Closest are those whose deciding test had the smallest p-value, then the largest effect, then by content, so that
    the result does not depend on the order of the columns. Features without a reliable test come last.

    Parameters
    ----------
    blanket : collection of int
        What the search selected.

    min_features : int
        How many features there should be at least.

    decided_by : mapping of int to Step
        The question that decided about each feature.

    barred : collection of int
        Features that must not be selected.
    """
    n_missing = min_features - len(blanket)
    if n_missing <= 0:
        return []
    outside = [x for x in range(table.n_features) if x not in blanket and x not in barred]
    if n_missing > len(outside):
        raise InvalidInputError(
            f"min_features={min_features}, but there are only {len(blanket) + len(outside)} columns or groups that may "
            "be selected. Lower min_features."
        )

    def distance(x: int) -> tuple[float, float, bytes, int]:
        step = decided_by.get(x)
        pvalue, effect = (1.0, 0.0) if step is None else (step.pvalue, step.effect)
        return pvalue, -effect, table.order.key(x), x

    return sorted(outside, key=distance)[:n_missing]
