"""The sources of risks, fastest first: the first that does not refuse a problem computes its risks."""

from __future__ import annotations

from ppfs._data import Table
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ModelRisks
from ppfs.independence._predictive.risks.boosted_linear import BoostedLinearRisks
from ppfs.independence._predictive.risks.boosting import BoostingRisks
from ppfs.independence._predictive.risks.column_trees import (
    ColumnTreeRisks,
    WeightedForestRisks,
    WeightedTreeRisks,
)
from ppfs.independence._predictive.risks.forests import ForestRisks
from ppfs.independence._predictive.risks.libraries import LibraryRisks
from ppfs.independence._predictive.risks.linear import LinearRisks
from ppfs.independence._predictive.risks.log_linear import LogLinearRisks
from ppfs.independence._predictive.risks.naive_bayes import NaiveBayesRisks
from ppfs.independence._predictive.risks.source import OTHER_KIND, RiskSource
from ppfs.independence._predictive.risks.trees import TreeRisks

# `ModelRisks` refuses nothing.
SOURCES: tuple[type[RiskSource], ...] = (
    TreeRisks,
    BoostingRisks,
    BoostedLinearRisks,
    ForestRisks,
    WeightedTreeRisks,
    WeightedForestRisks,
    ColumnTreeRisks,
    LibraryRisks,
    NaiveBayesRisks,
    LogLinearRisks,
    LinearRisks,
    ModelRisks,
)


def risk_source(table: Table, problem: Problem, n_jobs: int | None) -> RiskSource:
    """Return the fastest source that computes the risks of this problem exactly."""
    refusals: list[str] = []
    for source in SOURCES:
        refusal = source.refusal(table, problem)
        if refusal is None:
            break
        refusals.append(refusal)
    # The fastest source made for this kind of model says what is missing.
    reason = next((refusal for refusal in refusals if refusal != OTHER_KIND), OTHER_KIND)
    return source(table, problem, n_jobs, reason)
