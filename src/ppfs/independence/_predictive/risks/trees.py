"""Risks of decision trees, grown by the engine: the answers of scikit-learn's trees, but faster."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse as sp
from joblib import effective_n_jobs
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Block, Table
from ppfs._fitting import Design, KnownParameters
from ppfs.independence._predictive.drawing import over_draws
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.engine import EngineGrower, Kernels, engine_splits, sorted_columns
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks, Views
from ppfs.independence._predictive.risks.planned_removals import PlannedRemovals
from ppfs.independence._predictive.risks.source import OTHER_KIND, RiskSource, refusal_of_target

if TYPE_CHECKING:
    AnyForest = _engine.TreePerSplit | _engine.ForestPerSplit


TREES = (DecisionTreeClassifier, DecisionTreeRegressor)

# `random_state` only breaks ties between equally good splits; here the order of the columns' content does.
KNOWN_TREE = KnownParameters(
    read=("criterion", "max_depth", "min_samples_leaf", "min_samples_split"),
    only={
        "splitter": ("best",),
        "min_weight_fraction_leaf": (0.0,),
        "max_features": (None,),
        "max_leaf_nodes": (None,),
        "min_impurity_decrease": (0.0,),
        "class_weight": (None,),
        "ccp_alpha": (0.0,),
        "monotonic_cst": (None,),
    },
    without_effect=("random_state",),
)

# Trees on single columns with fewer train rows in all are grown by one thread: in some milliseconds.
_ROWS_FOR_THREADS = 2_000_000


def refusal_of_data(table: Table, problem: Problem, criterion: str) -> str | None:
    """Return why the engine cannot grow trees by this criterion from these data, or None if it can."""
    if criterion not in (_engine.CLASS_CRITERIA if problem.classes.size else _engine.NUMBER_CRITERIA):
        return f"the engine does not support criterion={criterion!r}"
    reason = refusal_of_target(table, problem)
    if reason is None and not table.facts.is_plain:
        return "the columns have missing values or numbers too large for 32 bits"
    return reason


class TreeRisks(RiskSource):
    """Risks of single trees, grown by the engine.

    The trees see the columns in the order of their content (see `Table.canonical`), which decides ties,
    so removing a column that a tree does not use leaves that tree as it is.
    """

    def __init__(self, table: Table, problem: Problem, n_jobs: int | None, reason: str = "") -> None:
        super().__init__(table, problem, n_jobs, reason)
        self._n_threads = effective_n_jobs(n_jobs)
        self._splits = engine_splits(problem, draw=0)
        self._totals = _total_weights(problem)
        self._members: Set[int] = frozenset()
        self._places: dict[int, slice] = {}
        self._forest: AnyForest | None = None
        self._removals = PlannedRemovals(is_ahead=self._n_threads > 1)
        self._design: Design | None = None

    @classmethod
    def refusal(cls, table: Table, problem: Problem) -> str | None:
        """Return why these trees cannot be grown by counting rows, or None if they can."""
        estimator = problem.estimator
        if type(estimator) not in TREES:
            return OTHER_KIND
        unknown = KNOWN_TREE.first_unknown(estimator)
        if unknown is not None:
            return f"the engine does not support {unknown}"
        reason = refusal_of_data(table, problem, estimator.criterion)
        if reason is None and problem.weights.fit is not None:
            return "the engine supports row weights in dense columns only"
        return reason

    def grower(self) -> Grower:
        """Return what grows trees on single columns."""
        return TreeGrower(self.problem, tree_rules(self.problem))

    def n_until_used(self, xs: Sequence[int], members: Set[int]) -> int:
        """Count the features up to the first one whose removal changes a tree."""
        forest = self._forest_of(members)
        is_idle = forest.are_idle(slice(None))
        are_idle = (is_idle[self._places[x]].all() for x in xs)
        return 1 + sum(1 for _ in takewhile(bool, are_idle))

    def of_members(self, xs: Sequence[int], members: Set[int]) -> PairedRisks:
        """Return the risks of questions about members of one feature set.

        After a removal only the trees that split on the removed feature are grown again.
        """
        forest = self._forest_of(members)
        places = [self._places[x] for x in xs]
        if not self._is_plain:
            is_used = [forest.used[:, place].any() for place in places]
            parts = [
                self._of_draws(x, forest) if one else self._unused(forest, place)
                for x, place, one in zip(xs, places, is_used, strict=True)
            ]
            return PairedRisks.joined(parts)
        if self._table.has_feature_groups:
            return self._of_permuted_groups(places, forest)
        positions = [place.start for place in places]
        replaced = forest.permuted_risk(positions)
        base = np.broadcast_to(forest.base_risk, replaced.shape)
        return PairedRisks(base, replaced, forest.are_idle(positions))

    def views(self, x: int, members: Set[int]) -> Views | None:
        """Return what the trees predict with and without a feature; None if no tree uses it."""
        forest = self._forest_of(members)
        place = self._places[x]
        if not forest.used[:, place].any():
            return None
        nothing = [np.empty((0, 1, split.test.size), dtype=np.float32) for split in self.problem.splits]
        shuffled = [
            np.ascontiguousarray(np.moveaxis(values, 2, 0), dtype=np.float32) for values in self._shuffled(x)
        ]
        own = forest.replaced_predictions((), nothing)
        drawn = forest.replaced_predictions(range(place.start, place.stop), shuffled)
        return Views(*(np.concatenate([one.mean(axis=0) for one in parts]) for parts in (own, drawn)))

    def _of_permuted_groups(self, places: list[slice], forest: AnyForest) -> PairedRisks:
        """Permute all columns of a feature together."""
        columns = [range(place.start, place.stop) for place in places]
        replaced = np.stack([forest.jointly_permuted_risk(some) for some in columns])
        unused = np.array([forest.are_idle(place).all() for place in places])
        return PairedRisks(np.broadcast_to(forest.base_risk, replaced.shape), replaced, unused)

    @property
    def _is_plain(self) -> bool:
        """Whether a feature is permuted once per split, and means are compared: the paper's test."""
        problem = self.problem
        return problem.knockoff.is_permutation and problem.n_draws == 1 and not problem.is_by_row

    def _base(self, forest: AnyForest) -> Floats:
        return np.concatenate(forest.row_losses()) if self.problem.is_by_row else forest.base_risk

    def _unused(self, forest: AnyForest, place: slice) -> PairedRisks:
        """Return the risks of a feature that no tree uses: replacing it changes nothing."""
        base = self._base(forest)[np.newaxis]
        by_draw = np.full((1, self.problem.n_draws), base.mean()) if self.problem.is_by_row else None
        return PairedRisks(base, base, np.array([forest.are_idle(place).all()]), by_draw)

    def _of_draws(self, x: int, forest: AnyForest) -> PairedRisks:
        """Replace a feature by its draws, which may be any values."""
        problem = self.problem
        base = self._base(forest)
        place = self._places[x]
        draws = problem.knockoff(self._design_of_members(), x)
        columns = range(place.start, place.stop)

        def evaluate(first: int, end: int) -> Floats:
            values = [
                np.ascontiguousarray(np.moveaxis(draws.values(split, first, end), 2, 0), dtype=np.float32)
                for split in problem.splits
            ]
            losses = forest.replaced_row_losses(columns, values)
            if problem.is_by_row:
                pairs = np.concatenate(losses, axis=1)
            else:
                # The losses are already multiplied by the weights of the classes.
                pairs = np.column_stack(
                    [by_row.sum(axis=1) / total for by_row, total in zip(losses, self._totals, strict=True)]
                )
            return pairs[np.newaxis]

        drawn = over_draws(problem, base, evaluate)
        return PairedRisks(base[np.newaxis], drawn.replaced, np.zeros(1, dtype=bool), drawn.by_draw)

    def _design_of_members(self) -> Design:
        if self._design is None:
            self._design = Design.of(self._table, self._table.order.canonical(self._members))
        return self._design

    def _forest_of(self, members: Set[int]) -> AnyForest:
        forest = self._forest
        if forest is not None and (members is self._members or members == self._members):
            return forest
        before, after, gone = self.last_removal
        if members is not after or self._members is not before:
            gone = frozenset(self._members - members)
        if forest is None or len(members) + len(gone) != len(self._members):
            forest = self._grow(members)
        else:
            forest, n_refits = self._removals.apply(forest, gone, self._places, self.expected_removals)
            self.n_fits += n_refits
        self._forest = forest
        self._members = members
        self._design = None
        return forest

    def _grow(self, members: Set[int]) -> AnyForest:
        ordered = self._table.order.canonical(members)
        self._places = dict(zip(ordered, self._table.places(ordered), strict=True))
        self._removals.forget()
        self.n_fits += len(self.problem.splits)
        return self._grow_on(self._columns(ordered))

    def _grow_on(self, columns: _engine.SortedColumns) -> AnyForest:
        """Grow the models of all splits on some columns."""
        return _engine.grow_tree_per_split(
            columns,
            self.problem.truth,
            self.problem.classes.size,
            self._splits,
            tree_rules(self.problem),
            self._n_threads,
            self.problem.weights.by_class,
        )

    def _columns(self, columns: Sequence[int]) -> _engine.SortedColumns:
        return sorted_columns(self._table.take(columns))


@dataclass(frozen=True)
class TreeGrower(EngineGrower):
    """Grows a tree on each column of a block, in every split."""

    rules: _engine.TreeRules
    bytes_per_block = 2**21

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        if sp.issparse(block.X) or not self._spares_compiling(block.n_columns):
            return super().risks(block)
        base, permuted = _engine.few_column_risks(
            sorted_columns(block.X),
            self.problem.truth,
            self.problem.classes.size,
            engine_splits(self.problem, draw=0),
            self.rules,
            self.problem.weights.by_class,
        )
        return PairedRisks(base, permuted, np.zeros(block.n_columns, dtype=bool))

    def prepare(self) -> None:
        """Convert the problem to the arrays that kernels read, unless the table may have only a few columns."""
        if self.is_on_device or not self._spares_compiling(1):
            super().prepare()

    def is_worth_threads(self, n_columns: int) -> bool:
        """Return whether the trees of this many columns take longer than threads take to start."""
        return n_columns * self._n_train > _ROWS_FOR_THREADS

    @cached_property
    def _n_train(self) -> int:
        """The train rows of all splits."""
        return sum(split.train.size for split in self.problem.splits)

    def _spares_compiling(self, n_columns: int) -> bool:
        """Return whether trees on this many columns are grown sooner than the kernels for single columns compile."""
        problem = self.problem
        if problem.is_by_row or problem.n_draws > 1 or not problem.classes.size:
            return False
        return _engine.is_sooner_grown(n_columns * self._n_train)

    def _prepare(self, n_draws: int) -> list[_engine.PreparedColumns]:
        problem = self.problem
        return [
            _engine.prepare_columns(
                problem.truth,
                problem.classes.size,
                engine_splits(problem, draw),
                self.rules,
                problem.weights.by_class,
            )
            for draw in range(n_draws)
        ]

    def _kernels(self) -> Kernels:
        return Kernels(_engine.prepared_column_risks, _engine.prepared_column_row_losses)


def _total_weights(problem: Problem) -> list[float]:
    """Return the total weight of each test part."""
    weights = problem.weights.loss
    return [
        float(split.test.size if weights is None else weights[split.test].sum()) for split in problem.splits
    ]


def tree_rules(problem: Problem) -> _engine.TreeRules:
    """Return the rules by which a single tree is grown and its predictions are scored."""
    parameters = problem.estimator.get_params(deep=False)
    return _engine.TreeRules(**{name: parameters[name] for name in KNOWN_TREE.read}, loss=problem.loss.name)
