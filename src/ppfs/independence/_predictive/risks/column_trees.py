"""Risks of trees and forests with weighted rows or missing values, as far as the engine grows them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats, separates_missing_from_one_value
from ppfs._data import Matrix, Table
from ppfs._fitting import drawn_counts, seeded
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ColumnGrower, ModelRisks
from ppfs.independence._predictive.risks.forests import (
    BAGS,
    RANDOM_FORESTS,
    ForestRisks,
    criterion_of,
    draws_by_weight,
    forest_problem,
    forest_rules,
    refusal_of_draws,
    refusal_of_forest,
)
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.source import OTHER_KIND, refusal_of_target
from ppfs.independence._predictive.risks.trees import KNOWN_TREE, TREES, TreeRisks, tree_rules


def _refusal_on_one_column(table: Table, problem: Problem) -> str | None:
    """Return why the engine cannot grow these trees on single columns of these data, or None if it can."""
    estimator, facts = problem.estimator, table.facts
    if type(estimator) not in (*RANDOM_FORESTS, *BAGS, *TREES):
        # Extra trees split at random.
        return OTHER_KIND
    if type(estimator) in TREES:
        unknown = KNOWN_TREE.first_unknown(estimator)
        reason = None if unknown is None else f"the engine does not support {unknown}"
    else:
        reason = refusal_of_forest(estimator)
    if reason is not None:
        return reason
    if criterion_of(estimator) not in (
        _engine.CLASS_CRITERIA if problem.classes.size else _engine.NUMBER_CRITERIA
    ):
        return f"the engine does not support criterion={criterion_of(estimator)!r}"
    if problem.loss.output not in ("probabilities", "labels", "values"):
        return f"the engine does not predict {problem.loss.output}"
    if problem.y.ndim > 1:
        return f"the engine predicts one output, and the target has {problem.y.shape[1]}"
    if problem.impute is not None or problem.frame is not None or table.is_sparse:
        return "the engine grows trees on dense columns of numbers as they are"
    if facts.has_infinite.any() or facts.is_too_large.any():
        return "the columns have numbers too large for 32 bits"
    if facts.has_missing.any() and not separates_missing_from_one_value():
        return "this version of scikit-learn does not separate missing values from a single value"
    return None


def _refusal_on_several(table: Table, problem: Problem) -> str | None:
    """Return why the engine cannot grow these trees on several columns, or None if it can."""
    reason = _refusal_on_one_column(table, problem) or refusal_of_target(table, problem)
    if reason is not None or type(problem.estimator) in TREES:
        return reason
    return refusal_of_draws(problem)


class WeightedTreeRisks(TreeRisks):
    """`TreeRisks` of single trees whose rows have weights, or whose columns have missing values."""

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot grow these trees on several columns, or None if it can."""
        return _refusal_on_several(table, problem) if type(problem.estimator) in TREES else OTHER_KIND

    def grower(self) -> Grower:
        """Return what grows trees on single columns."""
        return ColumnTreeGrower(self.problem)

    def _grow_on(self, columns: _engine.SortedColumns) -> _engine.TreePerSplit:
        problem = self.problem
        weights = problem.weights
        return _engine.grow_tree_per_split(
            columns,
            problem.truth,
            problem.classes.size,
            self._splits,
            tree_rules(problem),
            self._n_threads,
            weights.by_class,
            weights.fit,
            None if weights.fit is None else weights.loss,
        )

    def _columns(self, columns: Sequence[int]) -> _engine.SortedColumns:
        return _columns_with_gaps(self._table, columns)


class WeightedForestRisks(ForestRisks):
    """`ForestRisks` of random forests and bags with non-integer weights, or columns with missing values."""

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot grow these forests on several columns, or None if it can."""
        return OTHER_KIND if type(problem.estimator) in TREES else _refusal_on_several(table, problem)

    def grower(self) -> Grower:
        """Return what grows forests on single columns."""
        return ColumnTreeGrower(self.problem)

    def _columns(self, columns: Sequence[int]) -> _engine.SortedColumns:
        return _columns_with_gaps(self._table, columns)

    @cached_property
    def _prepared(self) -> _engine.PreparedForest:
        problem = self.problem
        own = problem.weights.fit
        if own is None or draws_by_weight(problem.estimator):
            own = np.ones(problem.y.size)
        return forest_problem(problem, on_one_column=False, fit_weights=own)


def _columns_with_gaps(table: Table, columns: Sequence[int]) -> _engine.SortedColumns:
    return _engine.SortedColumns.from_dense(table.take(columns), has_missing=table.has_missing)


class ColumnTreeRisks(ModelRisks):
    """`ModelRisks` of trees and forests that the engine grows on single columns only."""

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot grow these models on single columns, or None if it can."""
        return _refusal_on_one_column(table, problem)

    def _note(self, name: str, reason: str) -> str:
        return (
            f"{name} is grown by the engine on one column, and fitted through scikit-learn's interface on several: "
            f"{reason}"
        )

    def grower(self) -> Grower:
        """Return what grows trees on single columns."""
        return ColumnTreeGrower(self.problem)


class ColumnTreeGrower(ColumnGrower):
    """Grows the trees of single columns, a block at a time."""

    def prepare(self) -> None:
        """Draw the trees' samples."""
        _ = self._weights

    def _read(self, X: Matrix) -> Any:
        return _engine.order_columns(X)

    def _predicted(self, columns: Any, split: Split) -> Floats:
        problem = self.problem
        return _engine.tree_predictions(
            columns,
            self._labels,
            problem.classes.size,
            self._weights[split.seed],
            split.train.size,
            split.test,
            forest_rules(problem),
        )

    @cached_property
    def _labels(self) -> NDArray[Any]:
        problem = self.problem
        return np.searchsorted(problem.classes, problem.y) if problem.classes.size else problem.y

    @cached_property
    def _weights(self) -> dict[int, Floats]:
        """The weight of each row in each tree, by the seed of the split, shape (n_trees, n_rows)."""
        return {split.seed: self._weights_of(split) for split in self.problem.splits}

    def _weights_of(self, split: Split) -> Floats:
        problem = self.problem
        own = problem.weights.fit_of(split.train)
        counts: Floats = np.ones((1, split.train.size))
        if type(problem.estimator) not in TREES:
            forest = seeded(problem.estimator, split.seed)
            is_drawn_by_weight = own is not None and draws_by_weight(problem.estimator)
            counts = drawn_counts(forest, split.train.size, own if is_drawn_by_weight else None).astype(float)
            own = None if is_drawn_by_weight else own
            if (counts == counts[0]).all():
                # Trees of the same rows are the same on one column.
                counts = counts[:1]
        weights = np.zeros((len(counts), problem.y.size))
        weights[:, split.train] = counts if own is None else counts * own
        return weights
