"""Losses of test rows in a forest, with columns unchanged and replaced.

Predictions are sums of integers over the trees (see `Units`). So a sum does not depend on the order of the trees, and
subtracting one leaf and adding another gives exactly the same sum as adding up all leaves again.
"""

from ppfs._engine.inputs.column_store import ColumnStore, value_of
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float32s, Float64s, Int32s, Int64s, int64, kernel
from ppfs._engine.many_columns.forest_nodes import ForestTrees, Units
from ppfs._engine.trees.losses import Scoring, class_losses, number_loss, weighted_loss
from ppfs._engine.trees.nodes import goes_right


@kernel
def add_up(forest: ForestTrees, sums: Int64s) -> None:
    """Add the predictions of the leaves of all trees to ``sums`` (n_test, n_outputs)."""
    predictions, leaf_of = forest.predictions, forest.leaf_of
    for tree in range(leaf_of.shape[0]):
        first = forest.node_ends[tree]
        for position in range(leaf_of.shape[1]):
            leaf = first + leaf_of[tree, position]
            for output in range(sums.shape[1]):
                sums[position, output] += predictions[leaf, output]


@kernel
def replace(
    forest: ForestTrees,
    place_of: Int32s,
    values: Float32s,
    tests: Int64s,
    store: ColumnStore,
    weights: Float64s | None,
    pending: Int32s,
    sums: Int64s,
) -> None:
    """Update the sums for replaced columns in the test rows.

    Only rows whose path through a tree reaches a node that splits on one of these columns are visited.

    Parameters
    ----------
    place_of : array of shape (n_columns,), int32
        Index of a column in ``values``, or -1.
    values : array of shape (n_replaced, n_draws, n_test), float32
    tests : array of shape (n_test,), int64
    weights : array of shape (n_rows,) or None
        See `Target`: without weights there are no missing values.
    pending : array of shape (n_nodes,), int32
        Scratch memory.
    sums : array of shape (n_draws, n_test, n_outputs), int64
        On entry the sums with nothing replaced, for every draw.
    """
    nodes, predictions, leaf_of, order = forest.nodes, forest.predictions, forest.leaf_of, forest.tests
    n_draws, _, n_outputs = sums.shape
    for tree in range(leaf_of.shape[0]):
        first = forest.node_ends[tree]
        pending[0] = 0
        height = 1
        while height > 0:
            height -= 1
            top = int64(pending[height])
            feature = nodes[first + top]["feature"]
            begin, end = nodes[first + top]["test_start"], nodes[first + top]["test_stop"]
            if feature < 0 or begin == end:
                continue
            if place_of[feature] < 0:
                left = nodes[first + top]["left"]
                pending[height], pending[height + 1] = left, left + 1
                height += 2
                continue
            for index in range(begin, end):
                position = order[tree, index]
                row = tests[position]
                before = first + leaf_of[tree, position]
                for draw in range(n_draws):
                    node = first + top
                    feature = nodes[node]["feature"]
                    while feature >= 0:
                        place = place_of[feature]
                        value = values[place, draw, position] if place >= 0 else value_of(feature, row, store)
                        is_right = goes_right(
                            value, nodes[node]["threshold"], nodes[node]["missing_left"], weights
                        )
                        node = first + nodes[node]["left"] + is_right
                        feature = nodes[node]["feature"]
                    if node != before:
                        for output in range(n_outputs):
                            sums[draw, position, output] += (
                                predictions[node, output] - predictions[before, output]
                            )


@kernel
def losses_of_sums(
    sums: Int64s,
    tests: Int64s,
    target: Target,
    scoring: Scoring,
    units: Units,
    votes: Float64s,
    of_class: Float64s,
    losses: Float64s,
) -> None:
    """Convert sums (n_draws, n_test, n_outputs) to ``losses`` (n_draws, n_test); two arrays are scratch memory."""
    whole = units.per_one * units.n_trees
    for draw in range(sums.shape[0]):
        for position in range(sums.shape[1]):
            row = tests[position]
            if target.classes.size:
                for label in range(votes.size):
                    votes[label] = float(sums[draw, position, label])
                class_losses(votes, whole, scoring.loss, scoring.class_weights, of_class)
                loss = of_class[target.classes[row]]
            else:
                predictions = float(sums[draw, position, 0]) / whole
                loss = number_loss(target.values[row] - predictions, scoring.loss)
            losses[draw, position] = weighted_loss(row, loss, scoring.row_weights)
