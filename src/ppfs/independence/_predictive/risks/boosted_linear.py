"""Risks of linear models with boosted trees on their residuals: the models of `ppfs.models`, in the engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ppfs import _engine
from ppfs._data import Block, Table
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelGrower, ModelRisks
from ppfs.independence._predictive.risks.boosting import BoostingGrower, boosting_problem, refusal_of_size
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.small_tables import is_small
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


class BoostedLinearRisks(ModelRisks):
    """`ModelRisks` of linear fits and the trees on their residuals, which the engine fits to all columns in growth."""

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot fit these models to these data, or None if it can."""
        if not is_boosted_linear(problem.estimator):
            return OTHER_KIND
        if problem.impute is not None or table.is_sparse:
            return "the engine fits these models to columns as they are"
        return refusal_of_target(table, problem) or refusal_of_size(problem, _rules_of(problem))

    def _note(self, name: str, reason: str) -> str:
        return f"{name} is grown by the engine"

    def grower(self) -> Grower:
        """Return what fits models of single columns."""
        return BoostedLinearGrower(
            self.problem, is_mixed=self._table.is_mixed, is_small=is_small(self._table, self.problem)
        )


@dataclass(frozen=True)
class BoostedLinearGrower(BoostingGrower):
    """Fits a line to each column of a block, and boosts trees on the residuals."""

    is_mixed: bool = False
    is_small: bool = False

    @property
    def is_quick_with_categories(self) -> bool:
        """Whether refits to columns of categories are quick: each takes some milliseconds."""
        return False

    def for_many_columns(self) -> Grower:
        """Return what fits the same models with compiled kernels."""
        return replace(self, is_small=False)

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
        if others.size:
            parts.append(ModelGrower(self.problem).risks(block.take(others)))
        answers = PairedRisks.joined(parts)
        return answers.at_all(np.argsort(np.concatenate([numbers, pairs, others])))

    def _of_numbers(self, block: Block, alpha: float) -> PairedRisks:
        lines = _engine.fit_lines(block.X, self.prepared, alpha, is_small=self.is_small)
        return self._paired(
            _engine.boosted_column_losses(block.X, self.prepared, lines, is_small=self.is_small)
        )

    @cached_property
    def prepared(self) -> _engine.BoostingProblem:
        """The problem as kernels read it."""
        return boosting_problem(self.problem, _rules_of(self.problem))


def _rules_of(problem: Problem) -> _engine.BoostingRules:
    return _engine.boosted_linear_rules(
        problem.estimator.get_params(), problem.classes.size, problem.loss.name
    )
