"""One grown tree and the losses of its test rows, with columns unchanged, permuted or replaced."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.sorted_columns import SortedColumns, ValueTable
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float32s, Float64s, Int32s
from ppfs._engine.many_columns.routing import leaves_of_rows, losses_of_leaves, risks, weighted_mean
from ppfs._engine.trees.losses import Scoring
from ppfs._engine.trees.nodes import LEAF, Nodes
from ppfs._engine.trees.rules import Limits

#: Represents "no column" among permuted columns and their slots.
NOTHING = -1

# Up to this many losses of test rows are computed before anything asks for them, about 30 microseconds.
_MOST_LOSSES_AHEAD = 5_000

# Columns that are permuted by one call, times test rows: four megabytes of scratch memory.
_MOST_PLACES = 1_000_000


@dataclass(frozen=True)
class TreesData:
    """What all trees of a forest share."""

    columns: SortedColumns
    target: Target
    splits: Splits
    scoring: Scoring
    limits: dict[int, Limits]  # the rules for each number of train rows
    weights: Float64s  # (n_splits,) what the sum of the test losses is divided by
    n_threads: int
    table: ValueTable


@dataclass(slots=True, eq=False)
class GrownTree:
    """A tree with its test risks and losses. Forests share it, and nothing changes it.

    Risks and losses are computed on request and kept.

    Attributes
    ----------
    used : array, int32
        The columns the tree splits on, ascending.
    """

    tree: Nodes
    rows: Int32s  # (n_train,) in the order of the nodes' intervals
    risks: dict[int, float] = field(default_factory=dict)  # by permuted column
    joint_risks: dict[tuple[int, ...], float] = field(default_factory=dict)  # by columns permuted together
    base_losses: list[Float64s] = field(default_factory=list)  # the only entry, (n_test,), once computed
    used: Int32s = field(init=False)

    def __post_init__(self) -> None:
        # Counting the nodes of each column takes less time than sorting them. The first count is that of leaves.
        counts = np.bincount(self.tree.nodes["feature"] - LEAF)
        self.used = counts[1:].nonzero()[0].astype(np.int32)


def first_risks(data: TreesData, split: int, grown: GrownTree, following: Sequence[int] = ()) -> None:
    """Compute the test risk of a new tree, and those that are likely to be wanted next.

    Where there are few test rows, the risks of all columns that the tree uses take less time than a second call.

    Parameters
    ----------
    following : sequence of int
        The columns that are permuted next, in order.
    """
    if (grown.used.size + 1) * data.splits.test[split].size <= _MOST_LOSSES_AHEAD:
        next_ones = grown.used.tolist()
    else:
        used = set(grown.used.tolist())
        next_ones = [column for column in following if column in used][:1]
    permuted_risks(data, split, grown, [NOTHING, *next_ones])


def permuted_risks(data: TreesData, split: int, grown: GrownTree, columns: Sequence[int]) -> None:
    """Compute the test risks of a tree for each of the columns permuted, and keep them with the tree."""
    slots, test = data.table.slots, data.splits.test[split]
    at_once = max(1, _MOST_PLACES // max(1, test.size))
    for first in range(0, len(columns), at_once):
        some = columns[first : first + at_once]
        answer = np.empty(len(some))
        risks(
            grown.tree,
            slots[grown.tree.nodes["feature"]],
            data.table.values,
            test,
            data.splits.permutations[split],
            data.target,
            data.scoring,
            data.weights[split],
            slots[some],
            np.empty(len(data.table.values) + 1, dtype=np.int32),
            np.empty((len(some) + 1, test.size), dtype=np.int32),
            np.empty_like(grown.tree.stats),
            np.empty(2),
            answer,
        )
        grown.risks.update(zip(some, answer.tolist(), strict=True))


def joint_risk(data: TreesData, split: int, grown: GrownTree, columns: tuple[int, ...]) -> float:
    """Test risk of a tree when columns that it uses are permuted together; computed once and kept."""
    if len(columns) == 1:
        if columns[0] not in grown.risks:
            permuted_risks(data, split, grown, columns)
        return grown.risks[columns[0]]
    if columns not in grown.joint_risks:
        numbers = np.array(columns)
        sources = data.splits.test[split][data.splits.permutations[split]]
        values = data.table.values[data.table.slots[numbers]][:, np.newaxis, sources]
        losses = replaced_losses(data, split, grown, numbers, values)
        grown.joint_risks[columns] = weighted_mean(losses[0], data.weights[split], np.empty(2))
    return grown.joint_risks[columns]


def base_losses(data: TreesData, split: int, grown: GrownTree) -> Float64s:
    """Losses (n_test,) of the test rows with nothing replaced; computed once and kept with the tree."""
    if not grown.base_losses:
        nothing = np.empty((0, 1, data.splits.test[split].size), dtype=np.float32)
        losses = replaced_losses(data, split, grown, np.empty(0, dtype=np.intp), nothing)[0]
        losses.flags.writeable = False
        grown.base_losses.append(losses)
    return grown.base_losses[0]


def replaced_losses(
    data: TreesData, split: int, grown: GrownTree, columns: npt.NDArray[np.intp], values: Float32s
) -> Float64s:
    """Losses (n_draws, n_test) of the test rows when columns have ``values`` (n_replaced, n_draws, n_test)."""
    leaves = replaced_leaves(data, split, grown, columns, values)
    answer = np.empty(leaves.shape)
    memory = np.empty_like(grown.tree.stats)
    losses_of_leaves(grown.tree, leaves, data.splits.test[split], data.target, data.scoring, memory, answer)
    return answer


def replaced_predictions(
    data: TreesData, split: int, grown: GrownTree, columns: npt.NDArray[np.intp], values: Float32s
) -> Float64s:
    """Predictions (n_draws, n_test, n_outputs) of the test rows when columns have other values."""
    nodes, stats = grown.tree
    totals = stats if data.target.classes.size else stats[:, :1]
    predicted: Float64s = totals / nodes["weight"][:, np.newaxis]
    return predicted[replaced_leaves(data, split, grown, columns, values)]


def replaced_leaves(
    data: TreesData, split: int, grown: GrownTree, columns: npt.NDArray[np.intp], values: Float32s
) -> Int32s:
    """Leaves (n_draws, n_test) of the test rows when columns have ``values`` (n_replaced, n_draws, n_test)."""
    feature = grown.tree.nodes["feature"]
    # The last entry is for leaves, whose feature is -1.
    place = np.full(data.columns.n_columns + 1, NOTHING, dtype=np.int32)
    place[columns] = np.arange(columns.size)
    leaves = np.empty(values.shape[1:], dtype=np.int32)
    leaves_of_rows(
        grown.tree,
        data.table.slots[feature],
        data.table.values,
        data.splits.test[split],
        data.target,
        place[feature],
        np.array(values, dtype=np.float32, order="C"),
        leaves,
    )
    return leaves
