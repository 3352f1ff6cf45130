"""Risks of linear models with boosted trees on their residuals: the models of `ppfs.models`, in the engine."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Block, Table
from ppfs._fitting import Design, dense
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.boosting import (
    BoostingGrower,
    BoostingRisks,
    boosting_problem,
    refusal_of_size,
)
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.source import OTHER_KIND, refusal_of_target
from ppfs.models import BoostedLinearClassifier, BoostedLinearRegressor


def is_boosted_linear(estimator: Any) -> bool:
    """Return whether a model is one of `ppfs.models`; subclasses are excluded, since they may differ."""
    return type(estimator) in (BoostedLinearClassifier, BoostedLinearRegressor)


def most_coefficients(problem: Problem) -> float:
    """Return the largest number of coefficients: slopes, and leaves minus one per tree."""
    model = problem.estimator
    n_outputs = problem.classes.size if problem.classes.size > 2 else 1
    return float(n_outputs * (1 + model.n_rounds * (2**model.max_depth - 1)))


class BoostedLinearRisks(BoostingRisks):
    """Risks of linear fits and the trees on their residuals, one of each per split.

    When a column is removed, the linear fits and all trees change; the bins do not.
    """

    _X: Floats
    _binned: _engine.BinnedColumns
    _linear: Sequence[_engine.LinearStart]

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot fit these models to these data, or None if it can."""
        if not is_boosted_linear(problem.estimator):
            return OTHER_KIND
        if problem.weights.fit is not None:
            return "the engine does not know weights of rows"
        if problem.impute is not None or table.is_sparse or table.is_mixed:
            return "the engine fits these models to columns of numbers as they are"
        return refusal_of_target(table, problem) or refusal_of_size(problem, _rules_of(problem))

    def _make_grower(self) -> BoostingGrower:
        return BoostedLinearGrower(self.problem)

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set: one set of models serves all."""
        models = self._models_of(members)
        base = models.base().base
        return PairedRisks.joined([self._replaced(x, models, base) for x in xs])

    def _grow(self, members: Set[int]) -> _engine.BoostedModels:
        design = Design.of(self._table, self._table.order.canonical(members))
        self._columns = {x: list(range(place.start, place.stop)) for x, place in design.places.items()}
        self._X = dense(design.X)
        self._binned = _engine.bin_columns(self._X, self._grower.prepared, n_threads=self._n_threads)
        return self._fitted(np.ones(self._X.shape[1], dtype=np.bool_))

    def _without(self, models: _engine.BoostedModels, removed: list[int]) -> _engine.BoostedModels:
        active = models.active.copy()
        active[removed] = False
        return self._fitted(active)

    def _fitted(self, active: NDArray[np.bool_]) -> _engine.BoostedModels:
        problem, X = self._grower.prepared, np.ascontiguousarray(self._X[:, active])
        self._linear = _engine.fit_starts(X, problem, self.problem.estimator.alpha, self._n_threads)
        self._places = np.cumsum(active) - 1
        test = np.zeros((problem.n_tested, problem.n_trees))
        for split, start in enumerate(self._linear):
            test[problem.exams.splits == split, : len(start.intercepts)] = start.raw(X[problem.test[split]])
        train = [start.raw(X[rows]).T for start, rows in zip(self._linear, problem.train, strict=True)]
        self.n_fits += problem.n_splits
        starts = _engine.Starts(tuple(train), test)
        return _engine.grow_models(self._binned, problem, self._n_threads, starts=starts, active=active)

    def _shifts(self, x: int, values: list[Floats]) -> Floats:
        """Return how other values of a feature change the linear predictions."""
        problem = self._grower.prepared
        shifts = np.zeros((values[0].shape[1], problem.n_tested, problem.n_trees))
        for split, (start, new) in enumerate(zip(self._linear, values, strict=True)):
            columns = self._columns[x]
            places = self._places[columns]
            center, slopes = start.centre[places], start.slopes[:, places]
            old = self._X[problem.test[split]][:, columns].T[:, np.newaxis]
            known = [np.where(np.isnan(part), center[:, np.newaxis, np.newaxis], part) for part in (new, old)]
            part = np.einsum("cdi,kc->dik", known[0] - known[1], slopes)
            shifts[:, problem.exams.splits == split, : len(slopes)] = part
        return shifts


@dataclass(frozen=True)
class BoostedLinearGrower(BoostingGrower):
    """Fits a line to each column of a block, and boosts trees on the residuals."""

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        lines = _engine.fit_lines(block.X, self.prepared, self.problem.estimator.alpha)
        return self._paired(_engine.boosted_column_losses(block.X, self.prepared, lines))

    @cached_property
    def prepared(self) -> _engine.BoostingProblem:
        """The problem as kernels read it."""
        return boosting_problem(self.problem, _rules_of(self.problem))


def _rules_of(problem: Problem) -> _engine.BoostingRules:
    return _engine.boosted_linear_rules(
        problem.estimator.get_params(), problem.classes.size, problem.loss.name
    )
