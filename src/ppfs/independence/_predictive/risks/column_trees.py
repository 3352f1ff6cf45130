"""Risks of trees and forests where rows have weights or columns have gaps: the engine grows them on single columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._block import Block
from ppfs._models import drawn_counts, seeded
from ppfs._rows import Split
from ppfs._sklearn_compat import draw_by_weight
from ppfs._table import Table
from ppfs._types import Floats
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.forests import KNOWN_FOREST
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.models import ModelGrower, ModelRisks, risks_of_predictions
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.trees import KNOWN_TREE

_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)
_FORESTS = (RandomForestClassifier, RandomForestRegressor)


def is_grown_alone(problem: Problem, table: Table) -> bool:
    """Tell whether the model is a tree or a random forest that the engine can grow on single columns of these data."""
    from ppfs._engine import CLASS_CRITERIA, MOST_TREES, NUMBER_CRITERIA

    estimator, facts = problem.estimator, table.facts
    if type(estimator) not in (*_TREES, *_FORESTS):
        return False
    is_forest = type(estimator) in _FORESTS
    if (KNOWN_FOREST if is_forest else KNOWN_TREE).first_unknown(estimator) is not None:
        return False
    if is_forest and (
        estimator.n_estimators > MOST_TREES or (estimator.max_samples is not None and not estimator.bootstrap)
    ):
        return False
    return (
        estimator.criterion in (CLASS_CRITERIA if problem.classes.size else NUMBER_CRITERIA)
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


@dataclass(frozen=True)
class ColumnTreeGrower(ModelGrower):
    """Grows the trees of single columns, a block at a time; categories are encoded and fitted one by one."""

    bytes_per_block = 2**18
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        from ppfs._engine import order_columns

        if block.n_levels.any():
            return super().risks(block)
        columns = order_columns(block.X)
        by_split = [self._predicted(columns, split) for split in self.problem.splits]
        return PairedRisks.joined(
            [risks_of_predictions(self.problem, of_column) for of_column in zip(*by_split, strict=True)]
        )

    def prepare(self) -> None:
        """Draw the trees' samples."""
        _ = self._weights

    def _predicted(self, columns: Any, split: Split) -> list[NDArray[Any]]:
        """Return what the models of a split predict for its test part, one array a column."""
        from ppfs._engine import TreeRules, tree_predictions

        problem = self.problem
        parameters = problem.estimator.get_params(deep=False)
        answer = tree_predictions(
            columns,
            self._labels,
            problem.classes.size,
            self._weights[split.seed],
            split.train.size,
            split.test,
            TreeRules(**{name: parameters[name] for name in KNOWN_TREE.read}),
        )
        if problem.loss.output == "probabilities":
            return list(answer)
        if problem.loss.output == "values":
            return list(answer[:, :, 0])
        labels = answer.argmax(axis=2)
        return list(problem.classes[labels] if problem.loss.wants_labels else labels)

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
        own = None if problem.weights.fit is None else problem.weights.fit[split.train]
        counts: Floats = np.ones((1, split.train.size))
        if type(problem.estimator) in _FORESTS and problem.estimator.bootstrap:
            forest = seeded(problem.estimator, split.seed)
            is_drawn_by_weight = own is not None and draw_by_weight()
            counts = drawn_counts(forest, split.train.size, own if is_drawn_by_weight else None).astype(float)
            own = None if is_drawn_by_weight else own
        weights = np.zeros((len(counts), problem.y.size))
        weights[:, split.train] = counts if own is None else counts * own
        return weights

    def __getstate__(self) -> dict[str, Any]:
        # What was drawn is larger than the problem, and quickly drawn anew.
        return {name: value for name, value in self.__dict__.items() if name not in ("_weights", "_labels")}
