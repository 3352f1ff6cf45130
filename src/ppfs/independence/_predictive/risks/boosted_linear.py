"""Risks of linear models with boosted trees on their residuals: the models of `ppfs.models`, in the engine."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Block, Table
from ppfs._fitting import MAX_DUMMIES, Design, dense, one_hot
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelGrower, ModelRisks
from ppfs.independence._predictive.risks.boosting import (
    BoostingGrower,
    BoostingRisks,
    boosting_problem,
    refusal_of_size,
)
from ppfs.independence._predictive.risks.paired import PairedRisks, Views
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

    When a column is removed, the linear fits and all trees change; the bins do not. Models see a column of
    categories as one column per category; where a column has too many of them, scikit-learn's interface merges some.
    """

    _fit: _LinearFit

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str = "") -> None:
        super().__init__(table, problem, n_jobs, reason)
        self._n_levels: dict[int, NDArray[np.intp]] = {}
        self._merging = ModelRisks(table, problem, n_jobs, "categories are merged")

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot fit these models to these data, or None if it can."""
        if not is_boosted_linear(problem.estimator):
            return OTHER_KIND
        if problem.impute is not None or table.is_sparse:
            return "the engine fits these models to columns as they are"
        return refusal_of_target(table, problem) or refusal_of_size(problem, _rules_of(problem))

    def _make_grower(self) -> BoostingGrower:
        return BoostedLinearGrower(self.problem, is_mixed=self._table.is_mixed)

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set: one set of models serves all."""
        if self._merges(members):
            n_before = self._merging.n_fits
            risks = self._merging.of_members(xs, members)
            self.n_fits += self._merging.n_fits - n_before
            return replace(risks, n_coefficients=None)
        models = self._models_of(members)
        base = models.base().base
        return PairedRisks.joined([self._replaced(x, models, base) for x in xs])

    def views(self, x: int, members: Set[int]) -> Views | None:
        """Return what the models predict with and without a feature."""
        return self._merging.views(x, members) if self._merges(members) else super().views(x, members)

    def _merges(self, members: Set[int]) -> bool:
        """Return whether a column has so many categories that some are merged."""
        return self._table.is_mixed and bool(self._table.n_levels_of(tuple(members)).max() > MAX_DUMMIES)

    def _is_used(self, x: int, models: _engine.BoostedModels) -> bool:
        return True

    def _grow(self, members: Set[int]) -> _engine.BoostedModels:
        design = Design.of(self._table, self._table.order.canonical(members))
        n_levels = design.n_levels if self._table.is_mixed else np.zeros_like(design.n_levels)
        self._n_levels = {x: n_levels[place] for x, place in design.places.items()}
        # Numbers first, as behind the encoding for scikit-learn's models: that decides ties between columns.
        order = np.argsort(n_levels > 0, kind="stable")
        starts = np.empty(order.size, dtype=np.intp)
        widths = np.maximum(n_levels, 1)
        starts[order] = np.cumsum(widths[order]) - widths[order]
        self._columns = {
            x: [
                column
                for number in range(place.start, place.stop)
                for column in range(starts[number], starts[number] + widths[number])
            ]
            for x, place in design.places.items()
        }
        X = _with_dummies(dense(design.X)[:, order], n_levels[order])
        self._fit = _LinearFit(self._grower.prepared, X, self.problem.estimator.alpha, self._n_threads)
        return self._fitted(np.ones(X.shape[1], dtype=np.bool_))

    def _without(self, models: _engine.BoostedModels, removed: list[int]) -> _engine.BoostedModels:
        active = models.active.copy()
        active[removed] = False
        return self._fitted(active)

    def _fitted(self, active: NDArray[np.bool_]) -> _engine.BoostedModels:
        self.n_fits += len(self.problem.splits)
        return self._fit.grown(active)

    def _encoded(self, x: int, values: Floats) -> Floats:
        n_draws, n_test, width = values.shape
        encoded = _with_dummies(values.reshape(-1, width), self._n_levels[x])
        return np.moveaxis(encoded.reshape(n_draws, n_test, -1), 2, 0)

    def _shifts(self, x: int, values: list[Floats]) -> Floats:
        return self._fit.shifts(self._columns[x], values)


def _with_dummies(X: Floats, n_levels: NDArray[np.intp]) -> Floats:
    """Return columns with those of categories as one column of 0 and 1 per category, in their places."""
    if not n_levels.any():
        return X
    return np.hstack(
        [
            one_hot(X[:, column], np.arange(n)) if n else X[:, [column]]
            for column, n in enumerate(n_levels.tolist())
        ]
    )


class _LinearFit:
    """Linear models of some columns, one a split, and trees on what they leave.

    Parameters
    ----------
    problem : BoostingProblem

    X : ndarray of shape (n_rows, n_columns)

    alpha : float
        Penalty of the linear models.
    """

    def __init__(self, problem: _engine.BoostingProblem, X: Floats, alpha: float, n_threads: int = 1) -> None:
        self._problem = problem
        self._X = X
        self._alpha = alpha
        self._n_threads = n_threads
        self._binned = _engine.bin_columns(X, problem, n_threads=n_threads)
        self._linear: Sequence[_engine.LinearStart] = ()

    def grown(self, active: NDArray[np.bool_]) -> _engine.BoostedModels:
        """Fit to some of the columns."""
        problem, X = self._problem, np.ascontiguousarray(self._X[:, active])
        self._linear = _engine.fit_starts(X, problem, self._alpha, self._n_threads)
        self._places = np.cumsum(active) - 1
        test = np.zeros((problem.n_tested, problem.n_trees))
        for split, start in enumerate(self._linear):
            test[problem.test_parts.splits == split, : len(start.intercepts)] = start.raw(
                X[problem.test[split]]
            )
        train = [start.raw(X[rows]).T for start, rows in zip(self._linear, problem.train, strict=True)]
        starts = _engine.Starts(tuple(train), test)
        return _engine.grow_models(self._binned, problem, self._n_threads, starts=starts, active=active)

    def shifts(self, columns: Sequence[int], values: Sequence[Floats]) -> Floats:
        """Return how other values of some columns, one array per split, change the linear predictions."""
        problem = self._problem
        shifts = np.zeros((values[0].shape[1], problem.n_tested, problem.n_trees))
        places = self._places[list(columns)]
        for split, (start, new) in enumerate(zip(self._linear, values, strict=True)):
            center, slopes = start.center[places], start.slopes[:, places]
            old = self._X[problem.test[split]][:, list(columns)].T[:, np.newaxis]
            known = [np.where(np.isnan(part), center[:, np.newaxis, np.newaxis], part) for part in (new, old)]
            part = np.einsum("cdi,kc->dik", known[0] - known[1], slopes)
            shifts[:, problem.test_parts.splits == split, : len(slopes)] = part
        return shifts


@dataclass(frozen=True)
class BoostedLinearGrower(BoostingGrower):
    """Fits a line to each column of a block, and boosts trees on the residuals."""

    is_mixed: bool = False

    @property
    def is_quick_with_categories(self) -> bool:
        """Whether refits to columns of categories are quick: each takes some milliseconds."""
        return False

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        alpha = self.problem.estimator.alpha
        if not (self.is_mixed and block.n_levels.any()):
            return self._of_numbers(block, alpha)
        numbers, pairs = np.flatnonzero(block.n_levels == 0), np.flatnonzero(block.n_levels == 2)
        others = np.flatnonzero((block.n_levels == 1) | (block.n_levels > 2))
        parts = [self._of_numbers(block.take(numbers), alpha)] if numbers.size else []
        if pairs.size:
            # The columns of two categories mirror each other: one of them at half the penalty fits the same.
            parts.append(self._of_numbers(block.take(pairs), alpha / 2))
        parts += [self._of_one(block.take(others[[number]])) for number in range(others.size)]
        answers = PairedRisks.joined(parts)
        places = np.argsort(np.concatenate([numbers, pairs, others])).tolist()
        return PairedRisks.joined([answers.at(place) for place in places])

    def _of_numbers(self, block: Block, alpha: float) -> PairedRisks:
        lines = _engine.fit_lines(block.X, self.prepared, alpha)
        return self._paired(_engine.boosted_column_losses(block.X, self.prepared, lines))

    def _of_one(self, block: Block) -> PairedRisks:
        """Return the risks of questions about a column of categories."""
        n_levels = int(block.n_levels[0])
        if n_levels > MAX_DUMMIES:
            return replace(ModelGrower(self.problem).risks(block), n_coefficients=None)
        X = _with_dummies(dense(block.X), block.n_levels)
        fit = _LinearFit(self.prepared, X, self.problem.estimator.alpha)
        models = fit.grown(np.ones(n_levels, dtype=np.bool_))
        values = [np.moveaxis(X[split.test[split.permutations]], 2, 0) for split in self.problem.splits]
        columns = range(n_levels)
        return self._paired(models.replaced(columns, values, fit.shifts(columns, values)))

    @cached_property
    def prepared(self) -> _engine.BoostingProblem:
        """The problem as kernels read it."""
        return boosting_problem(self.problem, _rules_of(self.problem))


def _rules_of(problem: Problem) -> _engine.BoostingRules:
    return _engine.boosted_linear_rules(
        problem.estimator.get_params(), problem.classes.size, problem.loss.name
    )
