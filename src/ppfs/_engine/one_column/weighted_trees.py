"""Trees on one column whose rows have weights, or whose values have gaps: what they predict.

The kernels of the growth phase count rows, which real weights do not allow, and know no gaps. Here a tree is grown
node by node, as scikit-learn grows it: a node is an interval of the train rows in the order of the column, with the
rows that have a gap or without them; these are tried on either side of every cut.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.target import Target, make_target
from ppfs._engine.jit.kernels import Float32s, Float64s, Int64s, Records, int64, kernel, kernel_function
from ppfs._engine.trees.criterion import EPSILON, add_row, impurity, is_worthless
from ppfs._engine.trees.rules import Limits, TreeRules
from ppfs._engine.trees.segments import ENTRY
from ppfs._engine.trees.weighted_cuts import best_weighted_cut

_NODE = np.dtype(
    [
        ("start", np.int64),  # known rows: start to stop - 1 in the order of the column
        ("stop", np.int64),
        ("depth", np.int64),
        ("left", np.int64),  # the right child follows the left one; 0 for a leaf
        ("threshold", np.float64),  # values up to and including it go left
        ("weight", np.float64),
        ("takes_gaps", np.bool_),  # whether the rows with a gap are among its rows
        ("gaps_left", np.bool_),
    ]
)


class ColumnsInOrder(NamedTuple):
    """Columns and the order of their rows.

    Attributes
    ----------
    values : array of shape (n_columns, n_rows), float32
    order : array of shape (n_columns, n_rows), int64
        Row numbers by value; gaps come last.
    """

    values: Float32s
    order: Int64s


class Growing(NamedTuple):
    """Memory of one tree."""

    entries: Records  # (n_rows,) of the type `ENTRY`: its train rows in the order of the column, those with a gap last
    nodes: Records  # (2 * n_rows,)
    stats: (
        Float64s  # (2 * n_rows, n_stats) weights by class; or weighted sums of the numbers and their squares
    )
    left: Float64s  # (1, n_stats) of what lies left of a cut
    right: Float64s  # (n_stats,)
    pending: Int64s  # (2 * n_rows,)


def order_columns(X: npt.ArrayLike) -> ColumnsInOrder:
    """Sort columns (n_rows, n_columns), which may have gaps."""
    values = np.array(np.transpose(X), dtype=np.float32, order="C")
    return ColumnsInOrder(values, np.argsort(values, axis=1, kind="stable"))


@kernel_function
def _sum_up(
    number: int, n_known: int, n_rows: int, target: Target, weights: Float64s, growing: Growing
) -> None:
    """Fill the statistics and the weight of a node."""
    node, stats = growing.nodes[number], growing.stats
    for stat in range(stats.shape[1]):
        stats[number, stat] = 0.0
    total = 0.0
    for place in range(node["start"], node["stop"]):
        row = growing.entries[place]["row"]
        add_row(stats, number, row, target, weights[row])
        total += weights[row]
    if node["takes_gaps"]:
        for place in range(n_known, n_rows):
            row = growing.entries[place]["row"]
            add_row(stats, number, row, target, weights[row])
            total += weights[row]
    node["weight"] = total


@kernel_function
def _grow(
    n_known: int, n_rows: int, target: Target, weights: Float64s, limits: Limits, growing: Growing
) -> None:
    """Grow the tree of the rows ``growing.entries[:n_rows]``."""
    nodes, stats, pending = growing.nodes, growing.stats, growing.pending
    root = nodes[0]
    root["start"], root["stop"], root["depth"], root["takes_gaps"] = 0, n_known, 0, n_known < n_rows
    _sum_up(int64(0), n_known, n_rows, target, weights, growing)
    n_nodes, height = int64(1), 1
    pending[0] = 0
    while height > 0:
        height -= 1
        number = pending[height]
        node = nodes[number]
        node["left"] = 0
        gaps_stop = n_rows if node["takes_gaps"] else n_known
        n_node = node["stop"] - node["start"] + gaps_stop - n_known
        if node["depth"] >= limits.max_depth or n_node < limits.min_split:
            continue
        if not impurity(stats[number], node["weight"], limits.criterion) > EPSILON:
            continue
        middle, _, node["threshold"], node["gaps_left"] = best_weighted_cut(
            node["start"],
            node["stop"],
            n_known,
            gaps_stop,
            node["weight"],
            stats[number],
            growing.entries,
            target,
            weights,
            limits,
            growing.left,
            growing.right,
        )
        if middle < 0:
            continue
        for side in range(2):
            child = nodes[n_nodes + side]
            child["start"] = middle if side else node["start"]
            child["stop"] = node["stop"] if side else middle
            child["depth"] = node["depth"] + 1
            child["takes_gaps"] = node["takes_gaps"] and node["gaps_left"] == (side == 0)
            _sum_up(n_nodes + side, n_known, n_rows, target, weights, growing)
        if is_worthless(
            stats[number],
            stats[n_nodes],
            stats[n_nodes + 1],
            nodes[n_nodes]["weight"],
            nodes[n_nodes + 1]["weight"],
            root["weight"],
            limits.criterion,
        ):
            continue
        node["left"] = n_nodes
        pending[height], pending[height + 1] = n_nodes + 1, n_nodes
        height += 2
        n_nodes += 2


@kernel
def _predict_columns(
    columns: ColumnsInOrder,
    target: Target,
    weights: Float64s,
    limits: Limits,
    tested: Int64s,
    growing: Growing,
    predicted: Float64s,
) -> None:
    """Add up what the trees of each column predict for rows; see `tree_predictions`."""
    for column in range(columns.values.shape[0]):
        values = columns.values[column]
        for tree in range(weights.shape[0]):
            n_rows, n_known = int64(0), int64(0)
            for place in range(values.size):
                row = columns.order[column, place]
                if weights[tree, row] > 0.0:
                    growing.entries[n_rows]["row"] = row
                    growing.entries[n_rows]["value"] = values[row]
                    n_rows += 1
                    n_known += values[row] == values[row]
            _grow(n_known, n_rows, target, weights[tree], limits, growing)
            for place in range(tested.size):
                value, number = values[tested[place]], int64(0)
                while growing.nodes[number]["left"] > 0:
                    node = growing.nodes[number]
                    is_left = node["gaps_left"] if value != value else value <= node["threshold"]
                    number = node["left"] + (0 if is_left else 1)
                weight = growing.nodes[number]["weight"]
                for output in range(predicted.shape[2]):
                    predicted[column, place, output] += growing.stats[number, output] / weight


def tree_predictions(
    columns: ColumnsInOrder,
    y: npt.ArrayLike,
    n_classes: int,
    weights: npt.NDArray[np.float64],
    n_train: int,
    tested: npt.NDArray[np.integer],
    rules: TreeRules,
) -> Float64s:
    """Grow trees on each single column and return what they predict, on average.

    Parameters
    ----------
    columns : ColumnsInOrder
    y : array of shape (n_rows,)
        Class codes from 0, or numbers.
    n_classes : int
        0 for regression.
    weights : array of shape (n_trees, n_rows)
        How much a row counts in each tree; 0 for rows that it does not see.
    n_train : int
        Rows of the train part, of which limits may be fractions.
    tested : array of shape (n_test,)
        The rows to predict for.
    rules : TreeRules

    Returns
    -------
    array of shape (n_columns, n_test, n_outputs)
        Shares of the classes, or the number.
    """
    n_columns, n_rows = columns.values.shape
    n_stats = n_classes or 2
    growing = Growing(
        entries=np.empty(n_rows, dtype=ENTRY),
        nodes=np.zeros(2 * n_rows, dtype=_NODE),
        stats=np.empty((2 * n_rows, n_stats)),
        left=np.empty((1, n_stats)),
        right=np.empty(n_stats),
        pending=np.empty(2 * n_rows, dtype=np.int64),
    )
    predicted = np.zeros((n_columns, len(tested), n_classes or 1))
    _predict_columns(
        columns,
        make_target(y, n_classes),
        np.array(weights, dtype=np.float64, order="C"),
        rules.limits(n_train),
        np.array(tested, dtype=np.int64),
        growing,
        predicted,
    )
    return predicted / len(weights)
