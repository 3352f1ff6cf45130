"""How many of some columns are related to the target, from rows that the search did not use."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from ppfs._trace import Trace
from ppfs._verdicts import at_least, at_least_among_first
from ppfs.blanket._run.confirm import Confirmation
from ppfs.exceptions import InvalidInputError


def at_least_of(
    confirmed: Confirmation | None, columns: Collection[int | str] | None, alpha: float, trace: Trace
) -> int:
    """Return the lower bound for some of the caller's columns; None for all selected ones."""
    if confirmed is None:
        raise InvalidInputError(
            "at_least needs p-values from rows that the search did not use. Fit with confirm=0.3, which holds 30 % of "
            "the rows out."
        )
    if not 0 < alpha < 1:
        raise InvalidInputError(f"alpha={alpha!r} must be between 0 and 1.")
    members = list(range(len(confirmed.features)))
    if columns is not None:
        wanted = {trace.feature_of(column) for column in columns}
        members = [i for i in members if trace.feature_of(confirmed.columns[i][0]) in wanted]
    return at_least(confirmed.pvalues, members, alpha)


def at_least_curve(confirmed: Confirmation | None, alpha: float, n_columns: int) -> list[Any]:
    """Return for each selected column the bound for it and all more important ones; NaN for the others."""
    curve = [float("nan")] * n_columns
    if confirmed is not None:
        bounds = at_least_among_first(confirmed.pvalues, alpha).tolist()
        for group, bound in zip(confirmed.columns, bounds, strict=True):
            for column in group:
                curve[column] = float(bound)
    return curve
