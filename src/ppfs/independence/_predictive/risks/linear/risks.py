"""Risks of linear models: all columns of a block at once, and all members from one set of models."""

from __future__ import annotations

from collections.abc import Sequence, Set

from joblib import effective_n_jobs

from ppfs import _engine
from ppfs._data import Table
from ppfs._fitting import Design
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelRisks
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.linear.members import LinearMembers
from ppfs.independence._predictive.risks.linear.recipe import Recipe, recipe_of
from ppfs.independence._predictive.risks.linear.single_columns import LinearGrower
from ppfs.independence._predictive.risks.paired import LaterViews, PairedRisks, Views

# Sparse members are made dense up to this many values.
_MAX_DENSE = 2**23


class LinearRisks(ModelRisks):
    """`ModelRisks` of linear models, which the engine fits."""

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str = "") -> None:
        recipe = recipe_of(table, problem)
        assert isinstance(recipe, Recipe)
        self._recipe = recipe
        super().__init__(table, problem, n_jobs, reason)
        self._n_threads = effective_n_jobs(n_jobs)
        self._linear: LinearMembers | None = None
        self._fitted_members: Set[int] = frozenset()

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the model is not fitted as a linear model of its columns, or None if it is."""
        recipe = recipe_of(table, problem)
        return None if isinstance(recipe, Recipe) else recipe

    def _note(self, name: str, reason: str) -> str:
        note = f"{name} is a linear model and fitted by the engine"
        return note if self._recipe.is_additive else f"{note}, with products through scikit-learn's interface"

    def grower(self) -> Grower:
        """Return what fits all columns of a block at once."""
        return LinearGrower(self.problem, self._recipe)

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set: one set of models serves all."""
        if not self._can_fit(members):
            return super().of_members(xs, members)
        return self._linear_of(members).risks(xs)

    def views(self, x: int, members: Set[int]) -> Views | None:
        """Return what the models predict with and without a feature."""
        return self._linear_of(members).views(x) if self._can_fit(members) else super().views(x, members)

    def views_later(self, x: int, members: Set[int], *, is_added: bool) -> LaterViews:
        """Return what computes `views` in any thread: models of one question are fitted there."""
        is_fitted = self._fitted_members == members and self._linear is not None
        if is_fitted or not (is_added and self._table.is_in_memory and self._can_fit(members)):
            return super().views_later(x, members, is_added=is_added)
        self._count(members)
        self._linear = None

        def views() -> Views:
            return self._fitted(members, n_threads=1).views(x)

        return views

    def _linear_of(self, members: Set[int]) -> LinearMembers:
        if self._linear is None or self._fitted_members != members:
            self._linear = self._fitted(members, self._n_threads, self._linear)
            self._count(members)
        return self._linear

    def _count(self, members: Set[int]) -> None:
        """Count the models of some features, unless those of the last question were the same."""
        if self._fitted_members != members:
            self._fitted_members = members
            self.n_fits += len(self.problem.splits)

    def _can_fit(self, members: Set[int]) -> bool:
        """Return whether the engine, and not scikit-learn, fits the models of some features."""
        if not self._recipe.is_additive:
            return False
        n_levels = self._table.n_levels_of(tuple(members))
        n_rows = min(split.train.size for split in self.problem.splits)
        is_small = not self._table.is_sparse or n_levels.size * self._table.n_rows <= _MAX_DENSE
        return is_small and self._recipe.solver.can_fit(int(self._recipe.widths(n_levels).sum()), n_rows)

    def _fitted(
        self, members: Set[int], n_threads: int, larger: LinearMembers | None = None
    ) -> LinearMembers:
        design = Design.of(self._table, self._table.order.canonical(members))
        return LinearMembers(self.problem, self._recipe, design, n_threads, larger)

    def _of_several_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks:
        if not all(self._can_fit(given | {x}) for x in xs):
            return super()._of_several_added(xs, given)

        def answered(x: int) -> PairedRisks:
            return self._fitted(given | {x}, n_threads=1).risks([x])

        self.n_fits += len(xs) * len(self.problem.splits)
        return PairedRisks.joined(_engine.run_tasks(answered, xs, self._n_threads))
