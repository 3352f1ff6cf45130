"""Parts of a forest: trees grown in one task, and the scores of all trees of a split."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.bit_sets import Words
from ppfs._engine.inputs.column_store import ColumnStore
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.jit.kernels import Bools, Float32s, Float64s, Int64s
from ppfs._engine.jit.threads import run_tasks
from ppfs._engine.many_columns.forest_growth import grow_all_trees
from ppfs._engine.many_columns.forest_memory import NOTHING, make_forest_memory
from ppfs._engine.many_columns.forest_nodes import FOREST_NODE, ForestTrees, Units
from ppfs._engine.many_columns.forest_removal import Removal
from ppfs._engine.many_columns.forest_scores import add_up, losses_of_sums
from ppfs._engine.many_columns.forest_scores import replace as replace_columns
from ppfs._engine.many_columns.forest_search import Candidates, make_search_work
from ppfs._engine.many_columns.routing import weighted_mean
from ppfs._engine.one_column.forest_risks import PreparedForest
from ppfs._engine.trees.rules import Limits

Grown = TypeVar("Grown")
Scored = TypeVar("Scored")


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


class Part(NamedTuple):
    """Some trees of a split's forest, which are grown in one task."""

    split: int
    number: int
    trees: slice


@dataclass(frozen=True)
class GrownTrees:
    """The trees of a part, and the sums of their predictions."""

    trees: ForestTrees
    used: Bools  # (n_columns,) whether any tree splits on a column
    sums: Int64s  # (n_test, n_outputs)


@dataclass(frozen=True)
class ScoredForest:
    """The forest of one split with the sums of its predictions. Risks are computed on request and kept.

    Trees do not depend on each other, and sums of predictions not on the order of the trees, so that parts of a forest
    can be grown at once.
    """

    parts: tuple[GrownTrees, ...]
    used: Bools
    sums: Int64s
    losses: Float64s  # (n_test,)
    risks: dict[tuple[int, ...], float] = field(default_factory=dict)  # by columns permuted together


def in_parts(
    data: ForestsData,
    grow: Callable[[Part], Grown],
    score: Callable[[Sequence[Grown], int], Scored],
) -> list[Scored]:
    """Grow parts of all forests, and score those of each split.

    A split's trees are divided among tasks only where there are threads for all of its parts: every part has the work
    of Python for each removal, which no two threads do at once.
    """
    n_trees = data.units.n_trees
    n_parts = min(n_trees, max(1, data.n_threads // data.n_splits))
    ends = [n_trees * part // n_parts for part in range(n_parts + 1)]
    by_split = [
        [Part(split, number, slice(*some)) for number, some in enumerate(pairwise(ends))]
        for split in range(data.n_splits)
    ]
    if n_parts == 1:
        return run_tasks(lambda parts: score([grow(parts[0])], parts[0].split), by_split, data.n_threads)
    grown = iter(run_tasks(grow, [part for parts in by_split for part in parts], data.n_threads))
    collected = [[next(grown) for _ in parts] for parts in by_split]
    return run_tasks(lambda split: score(collected[split], split), range(data.n_splits), data.n_threads)


def grown_trees(
    data: ForestsData, part: Part, active: Bools, removal: Removal, old: GrownTrees | None
) -> tuple[GrownTrees, bool]:
    """Grow trees from the active columns; return them, and whether they differ from the old ones."""
    trees, is_changed = _grow(data, part, active, removal, None if old is None else old.trees)
    if old is not None and not is_changed:
        return replace(old, trees=trees), False
    used = np.zeros(data.columns.n_columns + 1, dtype=np.bool_)
    # The feature of a leaf is -1: the last place is not a column's.
    used[trees.nodes["feature"]] = True
    sums = np.zeros((data.tests(part.split).size, data.n_outputs), dtype=np.int64)
    add_up(trees, sums)
    return GrownTrees(trees, used[:-1], sums), True


def _grow(
    data: ForestsData, part: Part, active: Bools, removal: Removal, old: ForestTrees | None
) -> tuple[ForestTrees, bool]:
    """Grow trees from the active columns; return them, and whether they differ from the old ones."""
    prepared, rules, split = data.prepared, data.rules, part.split
    candidates = Candidates(
        np.flatnonzero(active).astype(np.int32), data.keys, rules.n_tried(int(active.sum())), rules.is_random
    )
    tests, sizes = data.tests(split), prepared.bags.sizes[split][part.trees].astype(np.int64)
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
                np.ascontiguousarray(prepared.bags.counts[split][:, part.trees]),
                rules.tree_keys[split][part.trees],
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
    n_kept = min(n_nodes, forest.nodes.size)
    predictions = np.zeros((n_nodes, forest.predictions.shape[1]), dtype=np.int64)
    predictions[:n_kept] = forest.predictions[:n_kept]
    # As bytes: NumPy copies records field by field, which takes twenty times as long.
    nodes = np.zeros(n_nodes * FOREST_NODE.itemsize, dtype=np.uint8)
    nodes[: n_kept * FOREST_NODE.itemsize] = forest.nodes[:n_kept].view(np.uint8)
    return forest._replace(nodes=nodes.view(FOREST_NODE), predictions=predictions)


def scored_forest(data: ForestsData, parts: tuple[GrownTrees, ...], split: int) -> ScoredForest:
    sums = np.add.reduce([part.sums for part in parts])
    losses = _losses(data, split, sums[np.newaxis])[0]
    losses.flags.writeable = False
    return ScoredForest(parts, np.logical_or.reduce([part.used for part in parts]), sums, losses)


def permuted_risk_of(data: ForestsData, split: int, scored: ScoredForest, columns: tuple[int, ...]) -> float:
    """Mean test loss when columns that the forest uses are permuted together; computed once and kept."""
    if columns not in scored.risks:
        splits = data.prepared.shared.splits
        sources = splits.test[split][splits.permutations[split]]
        numbers = np.array(columns)
        drawn = data.columns.look_up(numbers)[:, np.newaxis, sources]
        losses = replaced_losses(data, split, scored, numbers, drawn)
        weight = data.prepared.shared.total_weights[split]
        scored.risks[columns] = weighted_mean(losses[0], weight, np.empty(2))
    return scored.risks[columns]


def replaced_losses(
    data: ForestsData, split: int, scored: ScoredForest, columns: npt.NDArray[np.intp], values: Float32s
) -> Float64s:
    """Losses (n_draws, n_test) when columns have ``values`` (n_replaced, n_draws, n_test)."""
    return _losses(data, split, replaced_sums(data, split, scored, columns, values))


def replaced_sums(
    data: ForestsData, split: int, scored: ScoredForest, columns: npt.NDArray[np.intp], values: Float32s
) -> Int64s:
    """Return sums of predictions (n_draws, n_test, n_outputs) when columns have other values."""
    place_of = np.full(data.columns.n_columns, NOTHING, dtype=np.int32)
    place_of[columns] = np.arange(columns.size)
    sums = np.repeat(scored.sums[np.newaxis], values.shape[1], axis=0)
    drawn = np.array(values, dtype=np.float32, order="C")
    for part in scored.parts:
        replace_columns(
            part.trees,
            place_of,
            drawn,
            data.tests(split),
            data.store,
            data.prepared.shared.target.weights,
            np.empty(int(np.diff(part.trees.node_ends).max()) + 1, dtype=np.int32),
            sums,
        )
    return sums


def _losses(data: ForestsData, split: int, sums: Int64s) -> Float64s:
    """Convert sums (n_draws, n_test, n_outputs) to losses (n_draws, n_test)."""
    shared, losses = data.prepared.shared, np.empty(sums.shape[:2])
    memory = np.empty(data.n_outputs), np.empty(data.n_outputs)
    losses_of_sums(sums, data.tests(split), shared.target, shared.scoring, data.units, *memory, losses)
    return losses
