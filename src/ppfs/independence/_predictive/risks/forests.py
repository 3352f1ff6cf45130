"""Risks of forests, grown by the engine: scikit-learn's own on single columns, and its algorithm on several."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from numbers import Integral
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

from ppfs import _engine
from ppfs._conventions import Floats, bags_draw_by_weight, can_repeat_draws, draw_by_weight
from ppfs._data import Table
from ppfs._fitting import KnownParameters, drawn_counts, seeded, tree_seeds
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.engine import EngineGrower, Kernels, engine_splits
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.source import OTHER_KIND
from ppfs.independence._predictive.risks.trees import KNOWN_TREE, TREES, TreeRisks, refusal_of_data

if TYPE_CHECKING:
    from ppfs.independence._predictive.risks.trees import AnyForest

_EXTRA = (ExtraTreesClassifier, ExtraTreesRegressor)
RANDOM_FORESTS = (RandomForestClassifier, RandomForestRegressor)
_FORESTS = (*RANDOM_FORESTS, *_EXTRA)
BAGS = (BaggingClassifier, BaggingRegressor)

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


def refusal_of_draws(problem: Problem) -> str | None:
    """Return why the engine cannot count how often trees draw a row, or None if it can."""
    if problem.weights.fit is None and problem.estimator.max_samples is None:
        # With as many draws as rows and equal weights, no row is drawn nearly as often.
        return None
    most = max(int(counts.max()) for counts in samples_of(problem))
    return (
        f"the engine counts to {_engine.MOST_DRAWN} draws of a row, and there are {most}"
        if most > _engine.MOST_DRAWN
        else None
    )


def refusal_of_forest(estimator: Any) -> str | None:
    """Return why the engine cannot grow such a forest, whatever the data, or None if it can."""
    is_bag_of_others = type(estimator) in BAGS and type(estimator.estimator) not in (*TREES, type(None))
    if type(estimator) not in (*_FORESTS, *BAGS) or is_bag_of_others:
        # A subclass may do anything.
        return OTHER_KIND
    tree = tree_of(estimator)
    unknown = (
        _KNOWN_FOREST.first_unknown(estimator)
        if tree is None
        else _KNOWN_BAG.first_unknown(estimator) or KNOWN_TREE.first_unknown(tree)
    )
    if unknown is not None:
        return f"the engine does not support {unknown}"
    if estimator.n_estimators > _engine.MOST_TREES:
        return (
            f"the engine grows at most {_engine.MOST_TREES} trees, and n_estimators={estimator.n_estimators}"
        )
    if tree is None and estimator.max_samples is not None and not estimator.bootstrap:
        return "it refuses max_samples without bootstrap"
    if not can_repeat_draws():
        return "the engine does not reproduce how this version of scikit-learn draws rows"
    return None


def draws_by_weight(estimator: Any) -> bool:
    """Return whether weights only decide which rows are drawn: the trees then count rows."""
    if type(estimator) in BAGS:
        return bags_draw_by_weight()
    return type(estimator) in _FORESTS and bool(estimator.bootstrap) and draw_by_weight()


def tree_of(estimator: Any) -> Any:
    """Return the tree that a bag copies; None for forests, which describe their trees themselves."""
    if type(estimator) not in BAGS:
        return None
    if estimator.estimator is not None:
        return estimator.estimator
    return DecisionTreeClassifier() if type(estimator) is BaggingClassifier else DecisionTreeRegressor()


def criterion_of(estimator: Any) -> str:
    """Return the criterion by which a tree, or the trees of a forest, are grown."""
    tree = tree_of(estimator)
    return str((estimator if tree is None else tree).criterion)


class ForestRisks(TreeRisks):
    """Risks of forests, grown by the engine.

    On one column a forest is its samples, and they are drawn as scikit-learn draws them. On several columns trees also
    draw the columns that they try. Here these draws depend on the position of a node and on the content of a column, so
    that a forest does not depend on the order of the columns, and little of it changes when one is removed: it is
    scikit-learn's forest with another seed.
    """

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why the engine cannot grow forests with these parameters and data, or None if it can."""
        estimator = problem.estimator
        reason = refusal_of_forest(estimator)
        if reason is not None:
            return reason
        if problem.weights.fit is not None and not draws_by_weight(estimator):
            return "the engine supports row weights where forests draw their rows by them"
        return refusal_of_data(table, problem, criterion_of(estimator)) or refusal_of_draws(problem)

    def _note(self, name: str, reason: str) -> str:
        if type(self.problem.estimator) in _EXTRA:
            return f"{name} is grown by the engine, with other seeds"
        return (
            f"{name} is grown by the engine: scikit-learn's own on one column, with another seed on several"
        )

    def grower(self) -> Grower:
        """Return what grows forests on single columns."""
        return ForestGrower(self.problem)

    def _grow_on(self, columns: _engine.SortedColumns) -> AnyForest:
        estimator = self.problem.estimator
        tree = tree_of(estimator)
        max_features = (estimator if tree is None else tree).max_features
        rules = _engine.ForestRules(
            partial(n_tried, max_features), tree_keys(self._forests), type(estimator) in _EXTRA
        )
        return _engine.grow_forest_per_split(columns, self._prepared, rules, self._n_threads)

    @cached_property
    def _forests(self) -> list[Any]:
        return [seeded(self.problem.estimator, split.seed) for split in self.problem.splits]

    @cached_property
    def _prepared(self) -> _engine.PreparedForest:
        return forest_problem(self.problem, on_one_column=False)


def cuts_at_random(estimator: Any) -> bool:
    """Return whether the trees of a forest draw their thresholds."""
    return type(estimator) in _EXTRA


def n_tried(max_features: Any, n_columns: int) -> int:
    """Return how many of `n_columns` columns scikit-learn tries per node."""
    if max_features is None:
        return n_columns
    if isinstance(max_features, str):
        root = np.sqrt(n_columns) if max_features == "sqrt" else np.log2(n_columns)
        return max(1, int(root))
    if isinstance(max_features, Integral):
        return min(int(max_features), n_columns)
    return max(1, int(max_features * n_columns))


def tree_keys(forests: Sequence[Any]) -> NDArray[np.uint64]:
    """Return the seeds that scikit-learn assigns to the trees, shape (n_splits, n_trees)."""
    return np.array([tree_seeds(forest) for forest in forests], dtype=np.uint64)


class ForestGrower(EngineGrower):
    """Grows a forest on each column of a block, in every split."""

    bytes_per_block = 2**19

    def _prepare(self, n_draws: int) -> list[_engine.PreparedForest]:
        first = forest_problem(self.problem, on_one_column=True)
        others = [
            _engine.with_permutations(first, engine_splits(self.problem, draw)) for draw in range(1, n_draws)
        ]
        return [first, *others]

    def _kernels(self) -> Kernels:
        return Kernels(_engine.prepared_forest_risks, _engine.prepared_forest_row_losses)


def samples_of(problem: Problem) -> list[NDArray[np.integer[Any]]]:
    """Return how often each tree draws each train row, shape (n_trees, n_train) for each split."""
    return [
        drawn_counts(
            seeded(problem.estimator, split.seed), split.train.size, problem.weights.fit_of(split.train)
        )
        for split in problem.splits
    ]


def forest_problem(
    problem: Problem, *, on_one_column: bool, fit_weights: Floats | None = None
) -> _engine.PreparedForest:
    """Return a problem as the engine reads it, the trees' samples drawn as scikit-learn draws them.

    Parameters
    ----------
    on_one_column : bool
        Whether trees with the same sample are identical, so that one of them is enough.

    fit_weights : ndarray of shape (n_rows,) or None
        The weight of a row each time that it is drawn; needed where columns have missing values.
    """
    forests = [seeded(problem.estimator, split.seed) for split in problem.splits]
    weights = problem.weights
    samples = samples_of(problem)
    is_random = type(problem.estimator) in _EXTRA
    if on_one_column and not is_random and all((counts == counts[0]).all() for counts in samples):
        samples = [counts[:1] for counts in samples]
    return _engine.prepare_forest(
        problem.truth,
        problem.classes.size,
        engine_splits(problem, draw=0),
        forest_rules(problem),
        samples,
        tree_keys(forests) if is_random else None,
        weights.by_class,
        None if weights.fit is None else weights.loss,
        fit_weights,
    )


def forest_rules(problem: Problem) -> _engine.TreeRules:
    """Return how the trees of a forest, or a single tree, are grown."""
    tree = tree_of(problem.estimator)
    parameters = (problem.estimator if tree is None else tree).get_params(deep=False)
    return _engine.TreeRules(**{name: parameters[name] for name in KNOWN_TREE.read}, loss=problem.loss.name)
