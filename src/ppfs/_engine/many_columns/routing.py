"""Test rows sent down a tree, with columns permuted or replaced."""

from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Float32s, Float64s, Int32s, Int64s, branching_kernel, int64, kernel
from ppfs._engine.trees.losses import Scoring, add_loss, predict, row_loss
from ppfs._engine.trees.nodes import Nodes, goes_right


@branching_kernel
def risks(
    tree: Nodes,
    slots: Int32s,
    table: Float32s,
    test: Int64s,
    permutation: Int64s,
    target: Target,
    scoring: Scoring,
    weight: float,
    replaced: Int32s,
    choices: Int32s,
    places: Int32s,
    predicted: Float64s,
    total: Float64s,
    answer: Float64s,
) -> None:
    """Test risk of a tree for each choice of the column that is permuted.

    Parameters
    ----------
    slots : array of shape (n_nodes,), int32
        Row of ``table`` with the values of the column that a node splits on.
    table : array of shape (n_slots, n_rows), float32
    test, permutation : arrays of shape (n_test,), int64
    weight : float
        Divisor of the sum of the losses.
    replaced : array of shape (n_choices,), int32
        Slots of the columns to permute, each once; -1 permutes nothing.
    choices : array of shape (n_slots + 1,), int32
        Scratch memory for the choice that permutes a slot.
    places : array of shape (n_choices + 1, n_test), int32
        Scratch memory for the nodes where a row first meets a permuted column, and for its leaf.
    predicted : array of shape (n_nodes, n_stats), float64
        Scratch memory for the losses of each class, or the number, that a node predicts.
    total : array of shape (2,), float64
        Scratch memory for a compensated sum.
    answer : array of shape (n_choices,), float64
        Filled with the risks.
    """
    nodes, stats = tree
    for node in range(nodes.size):
        if nodes[node]["left"] == 0:
            predict(stats, node, nodes[node]["weight"], scoring, target, predicted)
    for slot in range(choices.size):
        choices[slot] = -1
    for choice in range(replaced.size):
        choices[replaced[choice]] = choice
    # A row goes down unchanged once. Where it meets a permuted column, it is sent down from there once more.
    for place in range(test.size):
        for choice in range(replaced.size):
            places[choice, place] = -1
        node = 0
        while nodes[node]["left"] > 0:
            choice = choices[slots[node]]
            if choice >= 0 and places[choice, place] < 0:
                places[choice, place] = node
            value = table[slots[node], test[place]]
            is_right = goes_right(
                value, nodes[node]["threshold"], nodes[node]["missing_left"], target.weights
            )
            node = nodes[node]["left"] + is_right
        places[replaced.size, place] = node
    for choice in range(replaced.size):
        total[0], total[1] = 0.0, 0.0
        for place in range(test.size):
            row = test[place]
            node = places[choice, place]
            if node < 0:
                node = places[replaced.size, place]
            source = test[permutation[place]]
            while nodes[node]["left"] > 0:
                slot = slots[node]
                value = table[slot, source if slot == replaced[choice] else row]
                is_right = goes_right(
                    value, nodes[node]["threshold"], nodes[node]["missing_left"], target.weights
                )
                node = nodes[node]["left"] + is_right
            add_loss(total, row_loss(row, node, scoring, target, predicted))
        answer[choice] = (total[0] + total[1]) / weight


@kernel
def leaves_of_rows(
    tree: Nodes,
    slots: Int32s,
    table: Float32s,
    test: Int64s,
    target: Target,
    replaced: Int32s,
    values: Float32s,
    answer: Int32s,
) -> None:
    """Leaf of each test row in a tree, for each draw of the replaced columns.

    Parameters
    ----------
    tree, slots, table, test, target
        As for `risks`.
    replaced : array of shape (n_nodes,), int32
        Index of the replaced column that a node splits on, or -1.
    values : array of shape (n_replaced, n_draws, n_test), float32
        Values of the replaced columns in the test rows.
    answer : array of shape (n_draws, n_test), int32
        Filled with the numbers of the leaves.
    """
    nodes, _ = tree
    for place in range(test.size):
        row = test[place]
        # Down to the first node that splits on a replaced column, all draws go the same way.
        stem = int64(0)
        while nodes[stem]["left"] > 0 and replaced[stem] < 0:
            value = table[slots[stem], row]
            is_right = goes_right(
                value, nodes[stem]["threshold"], nodes[stem]["missing_left"], target.weights
            )
            stem = nodes[stem]["left"] + is_right
        for draw in range(answer.shape[0]):
            node = stem
            while nodes[node]["left"] > 0:
                which = replaced[node]
                value = values[which, draw, place] if which >= 0 else table[slots[node], row]
                is_right = goes_right(
                    value, nodes[node]["threshold"], nodes[node]["missing_left"], target.weights
                )
                node = nodes[node]["left"] + is_right
            answer[draw, place] = node


@kernel
def losses_of_leaves(
    tree: Nodes,
    leaves: Int32s,
    test: Int64s,
    target: Target,
    scoring: Scoring,
    predicted: Float64s,
    answer: Float64s,
) -> None:
    """Fill ``answer`` (n_draws, n_test) with the losses of test rows in ``leaves``; for the others see `risks`."""
    nodes, stats = tree
    for node in range(nodes.size):
        predict(stats, node, nodes[node]["weight"], scoring, target, predicted)
    for draw in range(answer.shape[0]):
        for place in range(test.size):
            answer[draw, place] = row_loss(test[place], leaves[draw, place], scoring, target, predicted)


@kernel
def weighted_mean(losses: Float64s, weight: float, total: Float64s) -> float:
    """Mean of weighted losses (n_test,), rounded as in `risks`; ``total`` is scratch memory of shape (2,)."""
    total[0], total[1] = 0.0, 0.0
    for loss in losses:
        add_loss(total, loss)
    mean: float = (total[0] + total[1]) / weight
    return mean
