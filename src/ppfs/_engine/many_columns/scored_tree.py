"""One grown tree and the losses of its test rows, with columns unchanged, permuted or replaced."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.sorted_columns import SortedColumns, ValueTable
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float32s, Float64s, Int32s
from ppfs._engine.many_columns.routing import leaves_of_rows, losses_of_leaves, risks, weighted_mean
from ppfs._engine.trees.losses import Scoring
from ppfs._engine.trees.nodes import LEAF, Nodes
from ppfs._engine.trees.rules import TreeRules

#: Represents "no column" among permuted columns and their slots.
NOTHING = -1


@dataclass(frozen=True)
class TreesData:
    """What all trees of a forest share."""

    columns: SortedColumns
    target: Target
    splits: Splits
    rules: TreeRules
    scoring: Scoring
    weights: Float64s  # (n_splits,) what the sum of the test losses is divided by
    n_threads: int
    table: ValueTable


@dataclass(frozen=True)
class GrownTree:
    """A tree with its test risks and losses. It is immutable, so forests share it.

    Risks and losses are computed on request and kept.
    """

    tree: Nodes
    rows: Int32s  # (n_train,) in the order of the nodes' intervals
    risks: dict[int, float] = field(default_factory=dict)  # by permuted column
    joint_risks: dict[tuple[int, ...], float] = field(default_factory=dict)  # by columns permuted together
    base_losses: list[Float64s] = field(default_factory=list)  # the only entry, (n_test,), once computed

    @cached_property
    def used(self) -> Int32s:
        """The columns the tree splits on, ascending."""
        feature = self.tree.nodes["feature"]
        # Counting the nodes of each column takes less time than sorting them.
        return np.flatnonzero(np.bincount(feature[feature != LEAF])).astype(np.int32)


def permuted_risks(data: TreesData, split: int, grown: GrownTree, columns: list[int]) -> list[float]:
    """Test risks of a tree, for each of the columns permuted; computed once and kept with the tree."""
    missing = [column for column in columns if column not in grown.risks]
    if missing:
        slots = data.table.slots
        answer = np.empty(len(missing))
        risks(
            grown.tree,
            slots[grown.tree.nodes["feature"]],
            data.table.values,
            data.splits.test[split],
            data.splits.permutations[split],
            data.target,
            data.scoring,
            data.weights[split],
            slots[missing],
            np.empty_like(grown.tree.stats),
            np.empty(2),
            answer,
        )
        grown.risks.update(zip(missing, answer.tolist(), strict=True))
    return [grown.risks[column] for column in columns]


def joint_risk(data: TreesData, split: int, grown: GrownTree, columns: tuple[int, ...]) -> float:
    """Test risk of a tree when columns that it uses are permuted together; computed once and kept."""
    if len(columns) == 1:
        return permuted_risks(data, split, grown, list(columns))[0]
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
