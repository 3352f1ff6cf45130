"""Risks of forests from the engine: scikit-learn's own forests on single columns, much sooner."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._block import Block
from ppfs._models import KnownParameters, drawn_counts, seeded, tree_seeds
from ppfs._table import Table
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.models import ModelRisks
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.trees import (
    KNOWN_TREE,
    engine_splits,
    sorted_columns,
    why_not_these_data,
)

if TYPE_CHECKING:
    from ppfs._engine import DrawnRows, PreparedForest, SortedColumns, TreeRules

_EXTRA = (ExtraTreesClassifier, ExtraTreesRegressor)
_FORESTS = (RandomForestClassifier, RandomForestRegressor, *_EXTRA)
_BAGS = (BaggingClassifier, BaggingRegressor)
_TREES = (DecisionTreeClassifier, DecisionTreeRegressor)

# With one column there is nothing to choose from, so `max_features` has no effect on growth.
_KNOWN_FOREST = KnownParameters(
    read=(
        "n_estimators",
        "criterion",
        "max_depth",
        "min_samples_leaf",
        "min_samples_split",
        "bootstrap",
        "max_samples",
        "max_features",
        "random_state",
    ),
    only={
        "min_weight_fraction_leaf": (0.0,),
        "max_leaf_nodes": (None,),
        "min_impurity_decrease": (0.0,),
        "oob_score": (False,),
        "class_weight": (None,),
        "ccp_alpha": (0.0,),
        "monotonic_cst": (None,),
    },
    without_effect=("n_jobs", "verbose", "warm_start"),
)
_KNOWN_BAG = KnownParameters(
    read=("estimator", "n_estimators", "max_samples", "bootstrap", "random_state"),
    only={"max_features": (1.0,), "bootstrap_features": (False,), "oob_score": (False,)},
    without_effect=("n_jobs", "verbose", "warm_start"),
)


def is_forest(estimator: Any) -> bool:
    """Tell whether a model is of a kind that the engine grows forests for; a subclass may do anything."""
    if type(estimator) in _BAGS:
        return estimator.estimator is None or type(estimator.estimator) in _TREES
    return type(estimator) in _FORESTS


def why_not_forest(problem: Problem, table: Table) -> str | None:
    """Return None if the engine can grow forests with these parameters and data, else the reason why not."""
    estimator = problem.estimator
    tree = _tree_of(estimator)
    unknown = (
        _KNOWN_FOREST.first_unknown(estimator)
        if tree is None
        else _KNOWN_BAG.first_unknown(estimator) or KNOWN_TREE.first_unknown(tree)
    )
    if unknown is not None:
        return f"the engine does not know {unknown}"
    if tree is None and estimator.max_samples is not None and not estimator.bootstrap:
        return "it refuses max_samples without bootstrap"
    return why_not_these_data(problem, table, (estimator if tree is None else tree).criterion)


def _tree_of(estimator: Any) -> Any:
    """Return the tree that a bag copies; None for forests, which describe their trees themselves."""
    if type(estimator) not in _BAGS:
        return None
    if estimator.estimator is not None:
        return estimator.estimator
    return DecisionTreeClassifier() if type(estimator) is BaggingClassifier else DecisionTreeRegressor()


class ForestRisks(ModelRisks):
    """`ModelRisks` whose growth is computed by the engine."""

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None) -> None:
        super().__init__(table, problem, n_jobs, "the engine grows forests on single columns only")
        name = type(problem.estimator).__name__
        self.note = f"{name} is grown by the engine where a model has one column"
        if type(problem.estimator) in _EXTRA:
            self.note += "; it cuts at random from a seed of its own"

    def grower(self) -> Grower:
        """Return what grows forests on single columns."""
        return ForestGrower(self.problem)


@dataclass(frozen=True)
class ForestGrower(Grower):
    """Grows a forest on each column of a block, in every split."""

    problem: Problem
    bytes_per_block = 2**19
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        columns = sorted_columns(block.X)
        return self._by_row(columns) if self.problem.is_by_row else self._by_split(columns)

    def prepare(self) -> None:
        """Draw the trees' samples."""
        _ = self._prepared
        if self.problem.is_by_row:
            _ = self._draws

    def _by_split(self, columns: SortedColumns) -> PairedRisks:
        from ppfs._engine import prepared_forest_risks

        base = np.empty(0)
        replaced = np.zeros((columns.n_columns, len(self.problem.splits)))
        for prepared in self._prepared:
            base, permuted = prepared_forest_risks(columns, prepared)
            replaced += permuted
        unused = np.zeros(columns.n_columns, dtype=bool)
        return PairedRisks(base, replaced / self.problem.n_draws, unused)

    def _by_row(self, columns: SortedColumns) -> PairedRisks:
        from ppfs._engine import prepared_forest_row_losses

        base, replaced, totals = prepared_forest_row_losses(columns, self._prepared[0], self._draws)
        tested = np.concatenate([split.test for split in self.problem.splits])
        # See `TreeGrower` for why they must lie row after row in memory.
        base, replaced = (np.ascontiguousarray(by_row[:, tested]) for by_row in (base, replaced))
        return PairedRisks(base, replaced, np.zeros(columns.n_columns, dtype=bool), totals / tested.size)

    @cached_property
    def _prepared(self) -> list[PreparedForest]:
        """What all columns share; without rows of their own, one for each shuffle of the test parts."""
        from ppfs._engine import with_permutations

        first = forest_problem(self.problem)
        n_draws = 1 if self.problem.is_by_row else self.problem.n_draws
        others = [with_permutations(first, engine_splits(self.problem, draw)) for draw in range(1, n_draws)]
        return [first, *others]

    @cached_property
    def _draws(self) -> DrawnRows:
        from ppfs._engine import make_draws

        splits = self._prepared[0].shared.splits
        return make_draws(splits, [split.permutations for split in self.problem.splits])

    def __getstate__(self) -> dict[str, Any]:
        # What was prepared is as large as the problem, and quickly made anew.
        return {name: value for name, value in self.__dict__.items() if name not in ("_prepared", "_draws")}


def forest_problem(problem: Problem) -> PreparedForest:
    """Return a problem as the engine reads it, the trees' samples drawn as scikit-learn draws them."""
    from ppfs._engine import prepare_forest

    forests = [seeded(problem.estimator, split.seed) for split in problem.splits]
    is_random = type(problem.estimator) in _EXTRA
    samples = [
        _samples(forest, split.train.size, is_random)
        for forest, split in zip(forests, problem.splits, strict=True)
    ]
    return prepare_forest(
        problem.truth,
        problem.classes.size,
        engine_splits(problem, draw=0),
        forest_rules(problem),
        samples,
        np.array([tree_seeds(forest) for forest in forests], dtype=np.uint64) if is_random else None,
        problem.weights.by_class,
    )


def _samples(forest: Any, n_train: int, is_random: bool) -> NDArray[np.integer[Any]]:
    """Return the counts of `drawn_counts`; where all trees of a forest are the same, those of one."""
    counts = drawn_counts(forest, n_train)
    is_one_tree = not is_random and (counts == counts[0]).all()
    return counts[:1] if is_one_tree else counts


def forest_rules(problem: Problem) -> TreeRules:
    """Return how the trees of a forest are grown."""
    from ppfs._engine import TreeRules

    tree = _tree_of(problem.estimator)
    parameters = (problem.estimator if tree is None else tree).get_params(deep=False)
    return TreeRules(**{name: parameters[name] for name in KNOWN_TREE.read}, loss=problem.loss.name)
