"""A path over size: the members of a blanket, and then the other columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from ppfs._data import Table
from ppfs._trace import Outcome, Trace
from ppfs.blanket._run.base import BaseBlanketSelector


@dataclass(frozen=True)
class Path:
    """All features, in the order in which a number of them is selected.

    First the features that are always kept; then the members of the blanket, most important first; then the others by
    their first test: the smallest p-value, then the largest effect, then by content, so that the order of the columns
    does not matter. So a column that was dropped as redundant comes before one without any link to the target.
    """

    outcome: Outcome
    trace: Trace
    table: Table

    @classmethod
    def of(cls, fitted: BaseBlanketSelector, table: Table) -> Path:
        """Return the path of a search in a table."""
        outcome = fitted.trace_.outcome
        if outcome is None:
            raise ValueError("The search has not ended.")
        return cls(outcome, fitted.trace_, table)

    def features(self, size: int | None) -> list[int]:
        """Return the first `size` features, at least those that are always kept; None for the blanket."""
        if size is None:
            return [*self.outcome.blanket, *self.outcome.filled_up]
        return self.ranking[: max(size, len(self.outcome.always_keep))]

    @cached_property
    def ranking(self) -> list[int]:
        """Every feature that may be selected."""
        kept = self.outcome.always_keep
        front = [*kept, *(x for x in self.outcome.blanket if x not in kept)]
        barred = {*front, *self.outcome.condition_on}
        alone: dict[int, tuple[float, float]] = {}
        for step in self.trace:
            if step.fold == self.outcome.fold and step.is_main:
                alone.setdefault(step.feature, (step.pvalue, -step.effect))
        rest = [x for x in range(self.table.n_features) if x not in barred]
        rest.sort(key=lambda x: (*alone.get(x, (1.0, 0.0)), self.table.order.by_content(x)))
        return [*front, *rest]
