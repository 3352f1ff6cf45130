"""The forests of the shrink phase, one per split, and how they change when a column is removed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import Words
from ppfs._engine.inputs.column_store import ColumnStore, make_store
from ppfs._engine.inputs.random_keys import column_keys
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.jit.kernels import Bools, Float32s, Float64s, Int32s, Int64s
from ppfs._engine.jit.threads import run_tasks
from ppfs._engine.many_columns.forest_growth import grow_all_trees
from ppfs._engine.many_columns.forest_memory import NOTHING, make_forest_memory
from ppfs._engine.many_columns.forest_nodes import FOREST_NODE, ForestTrees, Units, make_units
from ppfs._engine.many_columns.forest_removal import Removal
from ppfs._engine.many_columns.forest_scores import add_up, losses_of_sums
from ppfs._engine.many_columns.forest_scores import replace as replace_columns
from ppfs._engine.many_columns.forest_search import Candidates, make_search_work
from ppfs._engine.many_columns.routing import weighted_mean
from ppfs._engine.many_columns.tree_per_split import check_values
from ppfs._engine.one_column.forest_risks import PreparedForest
from ppfs._engine.trees.rules import Limits

# Test rows times trees over all splits; below this, starting threads takes longer than replacing a column.
_ROWS_FOR_THREADS = 100_000

# The most bytes of forests that are grown ahead of the removals.
_BYTES_AHEAD = 2**26


@dataclass(frozen=True)
class ForestRules:
    """The parameters of a forest on several columns, except its samples.

    Attributes
    ----------
    n_tried : callable
        ``n_tried(n_columns)`` returns how many of the columns are tried in a node.
    tree_keys : array of shape (n_splits, n_trees), uint64
        The keys of the trees' random draws.
    is_random : bool
        Whether cuts are drawn at random, as in scikit-learn's extra trees.
    """

    n_tried: Callable[[int], int]
    tree_keys: Words
    is_random: bool = False


@dataclass(frozen=True)
class ForestsData:
    """What all forests on the same columns share."""

    columns: SortedColumns
    prepared: PreparedForest
    rules: ForestRules
    store: ColumnStore
    keys: Words  # (n_columns,)
    units: Units
    n_threads: int

    @property
    def n_outputs(self) -> int:
        """Numbers per prediction of a leaf."""
        return self.prepared.n_classes or 1

    def tests(self, split: int) -> Int64s:
        """Return the test rows of a split."""
        return self.prepared.shared.splits.test[split]

    @property
    def n_splits(self) -> int:
        """The paper's B."""
        return self.prepared.shared.splits.n_splits


@dataclass(frozen=True)
class ScoredForest:
    """The forest of one split with the sums of its predictions. Risks are computed on request and kept."""

    trees: ForestTrees
    sums: Int64s  # (n_test, n_outputs)
    losses: Float64s  # (n_test,)
    risks: dict[tuple[int, ...], float] = field(default_factory=dict)  # by columns permuted together

    @cached_property
    def used(self) -> Int32s:
        """The columns that any tree splits on, ascending."""
        feature = self.trees.nodes["feature"]
        return np.unique(feature[feature >= 0])

    def uses(self, column: int) -> bool:
        """Return whether any tree splits on a column."""
        return bool((self.trees.nodes["feature"] == column).any())


@dataclass(frozen=True, eq=False)
class ForestPerSplit:
    """One forest per split, all on the same columns, with the risks of permuted columns.

    It is immutable and has the methods of `TreePerSplit`. `without` returns a new one, with copies of the trees in
    which the removed column did not matter.

    Attributes
    ----------
    active : array of shape (n_columns,), bool
        Columns the trees may split on.
    used : array of shape (n_splits, n_columns), bool
        Whether a tree of a split does split on a column.
    base_risk : array of shape (n_splits,), float64
        Mean test loss of each forest, weighted by class if there are class weights.
    n_fits : int
        Forests grown so far, including those from which this one was derived.
    """

    active: Bools
    used: Bools
    base_risk: Float64s
    n_fits: int
    _forests: tuple[ScoredForest, ...]
    _data: ForestsData

    @property
    def idle(self) -> Bools:
        """Columns that can be removed without a change: those that no tree uses, if trees try all columns."""
        n_active = int(self.active.sum())
        if self._data.rules.n_tried(n_active) < n_active:
            return np.zeros(self.active.size, dtype=np.bool_)
        return np.logical_not(self.used.any(axis=0))

    def permuted_risk(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float64s:
        """Mean test loss of every forest when one column is permuted, (len(columns), n_splits); see `TreePerSplit`."""
        return np.stack([self.jointly_permuted_risk([int(column)]) for column in columns])

    def jointly_permuted_risk(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float64s:
        """Mean test loss of every forest when columns are permuted together, (n_splits,); see `TreePerSplit`."""
        asked = np.unique(np.asarray(columns, dtype=np.intp))

        def risk(split: int) -> float:
            key = tuple(asked[self.used[split, asked]].tolist())
            if not key:
                return float(self.base_risk[split])
            return _permuted_risk(self._data, split, self._forests[split], key)

        return np.array(self._over_splits(risk))

    def row_losses(self) -> list[Float64s]:
        """Loss of each test row, times its class weight if there are weights; see `TreePerSplit`."""
        return [forest.losses for forest in self._forests]

    def replaced_row_losses(self, columns: Sequence[int], values: Sequence[Float32s]) -> list[Float64s]:
        """Loss of each test row when columns are replaced, (n_draws, n_test) per split; see `TreePerSplit`."""
        asked = np.asarray(columns, dtype=np.intp)

        def losses(split: int) -> Float64s:
            drawn = values[split]
            check_values(split, drawn, asked.size, self._data.tests(split).size)
            places = np.flatnonzero(self.used[split, asked])
            if places.size == 0:
                return np.broadcast_to(self._forests[split].losses, np.shape(drawn)[1:])
            return _replaced(self._data, split, self._forests[split], asked[places], drawn[places])

        return self._over_splits(losses)

    def replaced_predictions(self, columns: Sequence[int], values: Sequence[Float32s]) -> list[Float64s]:
        """Predictions when columns are replaced, (n_draws, n_test, n_outputs) per split; see `TreePerSplit`."""
        asked, units = np.asarray(columns, dtype=np.intp), self._data.units

        def predictions(split: int) -> Float64s:
            sums = _replaced_sums(self._data, split, self._forests[split], asked, values[split])
            return sums / (units.per_one * units.n_trees)

        return self._over_splits(predictions)

    def without(self, column: int) -> tuple["ForestPerSplit", int]:
        """Remove a column.

        Returns
        -------
        forest : ForestPerSplit
            Bit for bit the forest grown on the other active columns.
        n_refits : int
            Forests in which a tree was grown again.
        """
        return next(self.without_each([column]))

    @property
    def most_ahead(self) -> int:
        """How many removals may be planned at once, so that the forests of all of them fit into memory."""
        n_bytes = sum(array.nbytes for scored in self._forests for array in scored.trees)
        return max(1, _BYTES_AHEAD // max(n_bytes, 1))

    def without_each(self, columns: Sequence[int]) -> Iterator[tuple["ForestPerSplit", int]]:
        """Remove columns one after the other, and yield the result of `without` after each; see `TreePerSplit`."""
        if self.idle[columns[0]]:
            active = self.active.copy()
            active[columns[0]] = False
            after, n_refits = replace(self, active=active), 0
            yield after, n_refits
            if len(columns) > 1:
                yield from after.without_each(columns[1:])
            return
        # Whether a column is idle depends on all splits, so no split can be processed ahead of the others.
        n_active = int(self.active.sum())
        sizes = range(n_active - len(columns) + 1, n_active)
        n_ahead = 1 if any(self._data.rules.n_tried(n) >= n for n in sizes) else len(columns)
        regrown = run_tasks(
            lambda split: self._regrown(split, columns[:n_ahead]),
            range(self._data.n_splits),
            self._data.n_threads,
        )
        forest = self
        for place in range(n_ahead):
            active = forest.active.copy()
            active[columns[place]] = False
            n_refits = sum(steps[place].is_changed for steps in regrown)
            forests = [steps[place].scored for steps in regrown]
            forest = _noted(self._data, active, forests, forest.n_fits + n_refits)
            yield forest, n_refits
        if n_ahead < len(columns):
            yield from forest.without_each(columns[n_ahead:])

    def _regrown(self, split: int, columns: Sequence[int]) -> "list[_Regrown]":
        """Return the forests of a split after the removal of each column, with the risk of permuting the next one."""
        scored, active, steps = self._forests[split], self.active.copy(), []
        for place, column in enumerate(columns):
            n_active = int(active.sum())
            active[column] = False
            removal = Removal(column, self._data.rules.n_tried(n_active), n_active)
            trees, is_changed = _grow(self._data, split, active, removal, scored.trees)
            scored = _scored(self._data, split, trees) if is_changed else replace(scored, trees=trees)
            steps.append(_Regrown(scored, is_changed))
            following = columns[place + 1 : place + 2]
            if following and scored.uses(following[0]):
                _permuted_risk(self._data, split, scored, tuple(following))
        return steps

    def _over_splits(self, function: Callable[[int], Any]) -> list[Any]:
        n_asked = sum(forest.trees.leaf_of.size for forest in self._forests)
        n_threads = self._data.n_threads if n_asked > _ROWS_FOR_THREADS else 1
        return run_tasks(function, range(self._data.n_splits), n_threads)


class _Regrown(NamedTuple):
    """The forest of a split after a removal, and whether it changed."""

    scored: ScoredForest
    is_changed: bool


def grow_forest_per_split(
    columns: SortedColumns, prepared: PreparedForest, rules: ForestRules, n_threads: int = 1
) -> ForestPerSplit:
    """Grow one forest on each split's train part, from all columns.

    Parameters
    ----------
    columns : SortedColumns
    prepared : PreparedForest
        Contains the target, the splits, the samples of the trees, and the limits of their growth.
    rules : ForestRules
    n_threads : int
        Splits are processed in parallel; the result does not depend on it.
    """
    units = make_units(prepared.shared.target.values, prepared.bags.n_trees)
    data = ForestsData(columns, prepared, rules, make_store(columns), column_keys(columns), units, n_threads)
    active = np.ones(columns.n_columns, dtype=np.bool_)

    def grow_new(split: int) -> ScoredForest:
        return _scored(data, split, _grow(data, split, active, Removal(NOTHING, 0, 0), None)[0])

    forests = run_tasks(grow_new, range(data.n_splits), n_threads)
    return _noted(data, active, forests, data.n_splits)


def _grow(
    data: ForestsData, split: int, active: Bools, removal: Removal, old: ForestTrees | None
) -> tuple[ForestTrees, bool]:
    """Grow the forest of a split from the active columns; return it, and whether it differs from the old one."""
    prepared, rules = data.prepared, data.rules
    candidates = Candidates(
        np.flatnonzero(active).astype(np.int32), data.keys, rules.n_tried(int(active.sum())), rules.is_random
    )
    tests, sizes = data.tests(split), prepared.bags.sizes[split].astype(np.int64)
    n_rows, n_trees = data.columns.n_rows, sizes.size
    n_stats = prepared.n_classes or 2
    work = make_search_work(n_rows, candidates.columns.size, n_stats)
    scratch = make_forest_memory(n_rows, int(sizes.max()), tests.size, data.n_outputs)
    is_changed = np.zeros(n_trees, dtype=np.bool_)
    n_nodes = int(sizes.sum()) // 2 + n_trees if old is None else old.nodes.size + old.nodes.size // 8
    forest = _make_forest(n_nodes, data.n_outputs, sizes, tests.size)
    done = 0
    while True:
        with np.errstate(over="ignore"):
            done = grow_all_trees(
                done,
                forest if old is None else old,
                removal,
                prepared.bags.counts[split],
                rules.tree_keys[split],
                tests,
                candidates,
                data.store,
                prepared.shared.target,
                Limits(*prepared.growth.limits[split].tolist()),
                data.units,
                scratch,
                work,
                forest,
                is_changed,
            )
        if done == n_trees:
            break
        forest = _with_room(forest, 2 * forest.nodes.size + 2 * int(sizes.max()) + 2)
    return _with_room(forest, int(forest.node_ends[-1])), bool(is_changed.any())


def _make_forest(n_nodes: int, n_outputs: int, sizes: Int64s, n_test: int) -> ForestTrees:
    n_trees = sizes.size
    return ForestTrees(
        np.zeros(n_nodes, dtype=FOREST_NODE),
        np.zeros((n_nodes, n_outputs), dtype=np.int64),
        np.zeros(n_trees + 1, dtype=np.int64),
        np.concatenate((np.zeros(1, dtype=np.int64), np.cumsum(sizes))),
        np.empty(int(sizes.sum()), dtype=np.int32),
        np.empty((n_trees, n_test), dtype=np.int32),
        np.empty((n_trees, n_test), dtype=np.int32),
    )


def _with_room(forest: ForestTrees, n_nodes: int) -> ForestTrees:
    """Return a forest with room for the given number of nodes."""
    nodes = np.zeros(n_nodes, dtype=FOREST_NODE)
    predictions = np.zeros((n_nodes, forest.predictions.shape[1]), dtype=np.int64)
    n_kept = min(n_nodes, forest.nodes.size)
    nodes[:n_kept], predictions[:n_kept] = forest.nodes[:n_kept], forest.predictions[:n_kept]
    return forest._replace(nodes=nodes, predictions=predictions)


def _scored(data: ForestsData, split: int, forest: ForestTrees) -> ScoredForest:
    sums = np.zeros((data.tests(split).size, data.n_outputs), dtype=np.int64)
    add_up(forest, sums)
    losses = _losses(data, split, sums[np.newaxis])[0]
    losses.flags.writeable = False
    return ScoredForest(forest, sums, losses)


def _permuted_risk(data: ForestsData, split: int, scored: ScoredForest, columns: tuple[int, ...]) -> float:
    """Mean test loss when columns that the forest uses are permuted together; computed once and kept."""
    if columns not in scored.risks:
        splits = data.prepared.shared.splits
        sources = splits.test[split][splits.permutations[split]]
        numbers = np.array(columns)
        drawn = data.columns.look_up(numbers)[:, np.newaxis, sources]
        losses = _replaced(data, split, scored, numbers, drawn)
        weight = data.prepared.shared.total_weights[split]
        scored.risks[columns] = weighted_mean(losses[0], weight, np.empty(2))
    return scored.risks[columns]


def _replaced(
    data: ForestsData, split: int, scored: ScoredForest, columns: npt.NDArray[np.intp], values: Float32s
) -> Float64s:
    """Losses (n_draws, n_test) when columns have ``values`` (n_replaced, n_draws, n_test)."""
    return _losses(data, split, _replaced_sums(data, split, scored, columns, values))


def _replaced_sums(
    data: ForestsData, split: int, scored: ScoredForest, columns: npt.NDArray[np.intp], values: Float32s
) -> Int64s:
    """Return sums of predictions (n_draws, n_test, n_outputs) when columns have other values."""
    place_of = np.full(data.columns.n_columns, NOTHING, dtype=np.int32)
    place_of[columns] = np.arange(columns.size)
    sums = np.repeat(scored.sums[np.newaxis], values.shape[1], axis=0)
    replace_columns(
        scored.trees,
        place_of,
        np.array(values, dtype=np.float32, order="C"),
        data.tests(split),
        data.store,
        data.prepared.shared.target.weights,
        np.empty(int(np.diff(scored.trees.node_ends).max()) + 1, dtype=np.int32),
        sums,
    )
    return sums


def _losses(data: ForestsData, split: int, sums: Int64s) -> Float64s:
    """Convert sums (n_draws, n_test, n_outputs) to losses (n_draws, n_test)."""
    shared, losses = data.prepared.shared, np.empty(sums.shape[:2])
    memory = np.empty(data.n_outputs), np.empty(data.n_outputs)
    losses_of_sums(sums, data.tests(split), shared.target, shared.scoring, data.units, *memory, losses)
    return losses


def _noted(data: ForestsData, active: Bools, forests: Sequence[ScoredForest], n_fits: int) -> ForestPerSplit:
    """Combine the forests of all splits."""
    used = np.zeros((data.n_splits, data.columns.n_columns), dtype=np.bool_)
    base_risk = np.empty(data.n_splits)
    for split, scored in enumerate(forests):
        used[split, scored.used] = True
        weight = data.prepared.shared.total_weights[split]
        base_risk[split] = weighted_mean(scored.losses, weight, np.empty(2))
    return ForestPerSplit(active, used, base_risk, n_fits, tuple(forests), data)
