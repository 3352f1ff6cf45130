"""Risks of trees and forests where rows have weights or columns have gaps: what the engine grows of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Matrix, Table
from ppfs._fitting import drawn_counts, seeded
from ppfs._rows import Split
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.any_model import ColumnGrower, ModelRisks
from ppfs.independence._predictive.risks.forests import (
    BAGS,
    RANDOM_FORESTS,
    ForestRisks,
    draws_by_weight,
    forest_problem,
    forest_rules,
    is_forest,
    tree_of,
    why_not_drawn,
    why_not_parameters,
)
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.trees import KNOWN_TREE, TreeRisks, tree_rules

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)


def is_grown_alone(problem: Problem, table: Table) -> bool:
    """Tell whether the model is a tree, or a forest of such, that the engine can grow on single columns of these data.

    Extra trees are not: they cut at random.
    """
    estimator, facts = problem.estimator, table.facts
    tree = tree_of(estimator)
    if type(estimator) in (*RANDOM_FORESTS, *BAGS):
        is_known = is_forest(estimator) and why_not_parameters(estimator) is None
    else:
        is_known = type(estimator) in _TREES and KNOWN_TREE.first_unknown(estimator) is None
    return (
        is_known
        and (estimator if tree is None else tree).criterion
        in (_engine.CLASS_CRITERIA if problem.classes.size else _engine.NUMBER_CRITERIA)
        and problem.loss.output in ("probabilities", "labels", "values")
        and problem.y.ndim == 1
        and problem.impute is None
        and problem.frame is None
        and not table.is_sparse
        and not (facts.has_infinite.any() or facts.is_too_large.any())
        and (not facts.has_missing.any() or _parts_gaps_from_one_value())
    )


@cache
def _parts_gaps_from_one_value() -> bool:
    """Tell whether scikit-learn's trees part gaps from a single value, as the kernel does; older ones did not."""
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    return bool(DecisionTreeClassifier(random_state=0).fit(X, [0, 0, 1, 1]).get_depth() == 1)


def is_grown_together(problem: Problem, table: Table) -> bool:
    """Tell whether the engine can also grow the model on several columns, where `is_grown_alone`."""
    if problem.loss.name not in _engine.LOSSES or table.codes.ndim > 1:
        return False
    return type(problem.estimator) in _TREES or why_not_drawn(problem) is None


def weighted_risks(table: Table, problem: Problem, n_jobs: int | None) -> TreeRisks:
    """Return the risks of a tree or a forest that `is_grown_together`."""
    kind = WeightedTreeRisks if type(problem.estimator) in _TREES else WeightedForestRisks
    return kind(table, problem, n_jobs)


class WeightedTreeRisks(TreeRisks):
    """`TreeRisks` of single trees whose rows have weights, or whose columns have gaps."""

    def grower(self) -> Grower:
        """Return what grows trees on single columns."""
        return ColumnTreeGrower(self.problem)

    def _grow_on(self, columns: _engine.SortedColumns) -> _engine.Forest:
        problem = self.problem
        weights = problem.weights
        return _engine.grow_forest(
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
    """`ForestRisks` of random forests and bags that weigh rows as real numbers, or whose columns have gaps."""

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
    return _engine.SortedColumns.from_dense(table.take(columns), has_gaps=table.has_missing)


class ColumnTreeRisks(ModelRisks):
    """`ModelRisks` of trees and forests that the engine grows on single columns.

    Parameters
    ----------
    reason : str
        Why the engine does not grow them on several columns.
    """

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str) -> None:
        super().__init__(table, problem, n_jobs, reason)
        self.note = (
            f"{type(problem.estimator).__name__} is grown by the engine on one column, and fitted through "
            f"scikit-learn's interface on several: {reason}"
        )

    def grower(self) -> Grower:
        """Return what grows trees on single columns."""
        return ColumnTreeGrower(self.problem)


class ColumnTreeGrower(ColumnGrower[Any]):
    """Grows the trees of single columns, a block at a time."""

    bytes_per_block = 2**18

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
        """How much each row counts in each tree, by the seed of the split, shape (n_trees, n_rows)."""
        return {split.seed: self._weights_of(split) for split in self.problem.splits}

    def _weights_of(self, split: Split) -> Floats:
        problem = self.problem
        own = problem.weights.fit_of(split.train)
        counts: Floats = np.ones((1, split.train.size))
        if type(problem.estimator) not in _TREES:
            forest = seeded(problem.estimator, split.seed)
            is_drawn_by_weight = own is not None and draws_by_weight(problem.estimator)
            counts = drawn_counts(forest, split.train.size, own if is_drawn_by_weight else None).astype(float)
            own = None if is_drawn_by_weight else own
            if (counts == counts[0]).all():
                # Trees that see the same rows are the same on one column.
                counts = counts[:1]
        weights = np.zeros((len(counts), problem.y.size))
        weights[:, split.train] = counts if own is None else counts * own
        return weights

    def __getstate__(self) -> dict[str, Any]:
        # What was drawn is larger than the problem, and quickly drawn anew.
        return {name: value for name, value in self.__dict__.items() if name not in ("_weights", "_labels")}
