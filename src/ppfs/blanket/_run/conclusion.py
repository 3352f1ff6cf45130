"""From what was found in every fold to the result of a search."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._data import Table
from ppfs._trace import DecidingSteps, Outcome, Trace
from ppfs.blanket._run.fill_up import fill_up
from ppfs.blanket._run.folds import Fold, aggregate
from ppfs.blanket._run.redundancy import closest_members
from ppfs.blanket._run.search_in_parts import Found, Searched
from ppfs.blanket._run.special_columns import SpecialColumns


@dataclass(frozen=True)
class Conclusion:
    """The result, in features.

    Attributes
    ----------
    folds : tuple of Fold
        Empty for a search in all rows.

    found : Found
        In the chosen fold.

    selected : list of int
        The blanket of the chosen fold, most important features first, and the features that fill it up.

    pvalues, effects : ndarray of shape (n_features,)
        Of the questions that decided; NaN for features that the caller decided about.
    """

    folds: tuple[Fold, ...]
    found: Found
    selected: list[int]
    pvalues: NDArray[np.float64]
    effects: NDArray[np.float64]


def conclude(
    searched: Searched,
    special: SpecialColumns,
    trace: Trace,
    table: Table,
    n_folds: int,
    min_features: int,
    n_jobs: int | None = None,
) -> Conclusion:
    """Choose among the folds' blankets, fill up the chosen one, and write the outcome into the trace."""
    folds = aggregate(searched.blankets) if n_folds else ()
    chosen = next((fold.number for fold in folds if fold.is_chosen), 0)
    blanket = searched.blankets[max(chosen - 1, 0)]
    left_out = searched.left_out[max(chosen - 1, 0)]
    decided_by = trace.decided(chosen, blanket)
    barred = (*special.condition_on, *left_out)
    filled_up = fill_up(blanket, min_features, table=table, decided_by=decided_by, barred=barred)
    not_selected = trace.once_favored(chosen) - {*blanket, *filled_up, *special.condition_on}
    trace.conclude(
        Outcome(
            blanket,
            fold=chosen,
            blankets=tuple(fold.blanket for fold in folds),
            always_keep=special.always_keep,
            condition_on=special.condition_on,
            filled_up=tuple(filled_up),
            left_out=left_out,
            closest=closest_members(table, sorted(not_selected), blanket, n_jobs),
        )
    )
    pvalues, effects = _answers(decided_by, unasked=(*special.all, *left_out))
    return Conclusion(folds, searched.found[max(chosen - 1, 0)], [*blanket, *filled_up], pvalues, effects)


def _answers(
    decided_by: DecidingSteps, unasked: Collection[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return p-value and effect of the question that decided about each feature.

    NaN for features that the caller decided about, of which nothing is known.
    """
    pvalues, effects = decided_by.pvalues.copy(), decided_by.effects.copy()
    pvalues[list(unasked)] = effects[list(unasked)] = np.nan
    return pvalues, effects
