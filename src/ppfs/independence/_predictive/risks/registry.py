"""Who tells the risks with and without a knockoff: the engine, a vectorised model, or any estimator."""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Protocol

from ppfs._data import Table
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelRisks
from ppfs.independence._predictive.risks.boosted_linear import (
    BoostedLinearRisks,
    is_boosted_linear,
    why_not_boosted_linear,
)
from ppfs.independence._predictive.risks.boosting import BoostingRisks, is_boosting, why_not_boosted
from ppfs.independence._predictive.risks.column_trees import (
    ColumnTreeRisks,
    is_grown_alone,
    is_grown_together,
    weighted_risks,
)
from ppfs.independence._predictive.risks.forests import ForestRisks, is_forest, why_not_forest
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.libraries import LibraryRisks, is_of_library
from ppfs.independence._predictive.risks.linear import LinearRisks, recipe_of
from ppfs.independence._predictive.risks.naive_bayes import NaiveBayesRisks, is_naive_bayes
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.trees import TreeRisks, why_not_engine


class Risks(Protocol):
    """Whatever can tell the risk with a column and with its knockoff; see `ModelRisks`."""

    problem: Problem
    n_fits: int
    note: str

    def grower(self) -> Grower: ...

    def batch_sizes(self, are_members: bool) -> tuple[int, int]: ...

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks: ...

    def of_added(self, xs: Sequence[int], given: Set[int]) -> PairedRisks: ...


def risk_source(table: Table, problem: Problem, n_jobs: int | None) -> Risks:
    """Return the fastest exact way to the risks of this problem."""
    reason = why_not_engine(problem, table)
    if reason is None:
        return TreeRisks(table, problem, n_jobs)
    if is_boosting(problem.estimator):
        reason = why_not_boosted(problem, table)
        if reason is None:
            return BoostingRisks(table, problem, n_jobs)
    if is_boosted_linear(problem.estimator):
        reason = why_not_boosted_linear(problem, table)
        if reason is None:
            return BoostedLinearRisks(table, problem, n_jobs)
    if is_forest(problem.estimator):
        reason = why_not_forest(problem, table)
        if reason is None:
            return ForestRisks(table, problem, n_jobs)
    if is_grown_alone(problem, table):
        if is_grown_together(problem, table):
            return weighted_risks(table, problem, n_jobs)
        return ColumnTreeRisks(table, problem, n_jobs, reason)
    if is_of_library(problem.estimator):
        return LibraryRisks(table, problem, n_jobs)
    if is_naive_bayes(problem, table):
        return NaiveBayesRisks(table, problem, n_jobs)
    recipe = recipe_of(problem, table)
    if recipe is not None:
        return LinearRisks(table, problem, n_jobs, reason, recipe)
    return ModelRisks(table, problem, n_jobs, reason)
