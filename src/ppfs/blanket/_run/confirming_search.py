"""A search that says how sure its result is: tests on rows it never saw, bounds from them, detectable effects."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ppfs._data import Table
from ppfs._trace import Trace
from ppfs._verdicts import at_least, at_least_among_first, detectable_of, rows_needed
from ppfs.blanket._run.base import BaseBlanketSelector
from ppfs.blanket._run.confirm import Confirmation, search_and_confirm
from ppfs.blanket._run.reused_answers import ReusedAnswers
from ppfs.blanket._steps.correction import level_of
from ppfs.exceptions import InvalidInputError
from ppfs.independence import IndependenceTest


class ConfirmingSearch(BaseBlanketSelector):
    """A search with the parameters `confirm`, `correction` and `second_look`."""

    confirm: float | None
    correction: str | None
    second_look: bool

    confirmed_: Confirmation | None

    # The rows that `confirm` held out from the last search.
    _rows_aside: NDArray[np.intp] | None = None

    def _fit_table(self, table: Table, test: IndependenceTest, shared: ReusedAnswers | None = None) -> None:
        search = partial(self._fit_and_state_power, test=test, shared=shared)
        self.confirmed_ = search_and_confirm(self, table, test, self.confirm, search)
        self.trace_.say("at least", _bounds_in_words(self.confirmed_, self.alpha, self.trace_))

    def _fit_and_state_power(
        self, table: Table, test: IndependenceTest, shared: ReusedAnswers | None
    ) -> None:
        """Search, and add the smallest detectable effects to the outcome, and a note about an empty selection."""
        super()._fit_table(table, test, shared)
        trace, level = self.trace_, partial(level_of, self.alpha, self.correction)
        detectable = detectable_of(
            trace, table, self.independence_, self.alpha, level, has_second_look=self.second_look
        )
        if detectable is None or trace.outcome is None:
            return
        trace.conclude(replace(trace.outcome, detectable=detectable))
        if not trace.outcome.selected:
            needed = rows_needed(detectable, trace, self.independence_, table.n_rows)
            trace.notes.extend(filter(None, [needed]))

    def _require_blanket(self) -> None:
        if not self.second_look:
            raise InvalidInputError(
                "find_roles needs columns that matter only beside others, and growth tests each column on its own. Fit "
                "with second_look=True, as PPFS.calibrated does."
            )

    def at_least(self, columns: Collection[int | str] | None = None, *, alpha: float | None = None) -> int:
        """Return how many of some columns are related to the target, at least.

        The bound follows from the p-values of `confirmed_` by closed testing with Simes' test. With probability
        1 - alpha it holds for all sets of columns at once: pick them after looking at the results, as often as you
        like. "Related" means that the target depends on the column given the other selected ones.

        Parameters
        ----------
        columns : collection of int or str, default=None
            Columns, by number or name. Those that were not selected have no p-value and add nothing. None means all
            selected columns.

        alpha : float, default=None
            The level; None is that of the search.
        """
        check_is_fitted(self)
        if self.confirmed_ is None:
            raise InvalidInputError(
                "at_least needs p-values from rows that the search did not use. Fit with confirm=0.3, which holds 30 % "
                "of the rows out."
            )
        level = self.alpha if alpha is None else alpha
        if not 0 < level < 1:
            raise InvalidInputError(f"alpha={alpha!r} must be between 0 and 1.")
        members = list(range(len(self.confirmed_.features)))
        if columns is not None:
            feature_of = self.trace_.feature_of
            wanted = {feature_of(column) for column in columns}
            members = [i for i in members if feature_of(self.confirmed_.columns[i][0]) in wanted]
        return at_least(self.confirmed_.pvalues, members, level)

    def _further_results(self) -> dict[str, list[Any]]:
        """Return for each selected column the bound for it and all more important ones; NaN for the others."""
        curve = [float("nan")] * len(self.support_)
        if self.confirmed_ is not None:
            bounds = at_least_among_first(self.confirmed_.pvalues, self.alpha).tolist()
            for group, bound in zip(self.confirmed_.columns, bounds, strict=True):
                for column in group:
                    curve[column] = float(bound)
        return {"at_least": curve}


def _bounds_in_words(confirmed: Confirmation | None, alpha: float, trace: Trace) -> dict[int | None, str]:
    """Return a sentence about each selected feature: the bound for it and all more important ones."""
    if confirmed is None:
        return {}
    bounds = at_least_among_first(confirmed.pvalues, alpha).tolist()
    return {
        trace.feature_of(group[0]): _bound_in_words(k, bound, alpha)
        for k, (group, bound) in enumerate(zip(confirmed.columns, bounds, strict=True))
    }


def _bound_in_words(n_before: int, bound: int, alpha: float) -> str:
    if not n_before:
        shown = "" if bound else "not shown to be "
        return f"By the rows held out it is {shown}related to the target given the others."
    return (
        f"Of it and the {n_before} more important column{'s' * (n_before > 1)}, at least {bound} "
        f"{'is' if bound == 1 else 'are'} related to the target given the others, by the rows held out (probability "
        f"{1 - alpha:.0%} for all sets)."
    )
