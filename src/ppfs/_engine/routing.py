"""Test rows sent down a tree, with one column at a time permuted."""

from ppfs._engine._jit import Float32s, Float64s, Int32s, Int64s, kernel
from ppfs._engine.loss import add_loss, class_losses, number_loss
from ppfs._engine.nodes import Nodes
from ppfs._engine.target import Target


@kernel
def risks(
    tree: Nodes,
    slots: Int32s,
    table: Float32s,
    test: Int64s,
    permutation: Int64s,
    target: Target,
    loss: int,
    replaced: Int32s,
    predicted: Float64s,
    total: Float64s,
    answer: Float64s,
) -> None:
    """Test risk of a tree for each choice of the column that is permuted.

    Parameters
    ----------
    tree : Nodes
    slots : array of shape (n_nodes,), int32
        Row of ``table`` with the values of the column that a node splits on.
    table : array of shape (n_slots, n_rows), float32
    test, permutation : arrays of shape (n_test,), int64
    target : Target
    loss : int
    replaced : array of shape (n_choices,), int32
        Slots of the columns to permute; -1 permutes nothing.
    predicted : array of shape (n_nodes, n_stats), float64
        Memory for the losses of each class, or the number, that a node predicts.
    total : array of shape (2,), float64
        Memory for a compensated sum.
    answer : array of shape (n_choices,), float64
        Receives the risks.
    """
    nodes, stats = tree
    for node in range(nodes.size):
        weight = float(nodes[node]["stop"] - nodes[node]["start"])
        predicted[node, 0] = stats[node, 0] / weight
        if target.classes.size:
            class_losses(stats[node], weight, loss, predicted[node])
    for choice in range(replaced.size):
        total[0], total[1] = 0.0, 0.0
        for place in range(test.size):
            row, source = test[place], test[permutation[place]]
            node = 0
            while nodes[node]["left"] > 0:
                slot = slots[node]
                value = table[slot, source if slot == replaced[choice] else row]
                node = nodes[node]["left"] + (value > nodes[node]["threshold"])
            if target.classes.size:
                add_loss(total, predicted[node, target.classes[row]])
            else:
                add_loss(total, number_loss(target.values[row] - predicted[node, 0], loss))
        answer[choice] = (total[0] + total[1]) / test.size
