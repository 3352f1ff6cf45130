"""Fitted boosted trees: how rows reach their leaves, and the predictions of models."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.boosting.binned_columns import MISSING
from ppfs._engine.jit.kernels import Bools, Float64s, Int64s, Records, Uint8s, int64, kernel, kernel_part

#: A node of a fitted tree. A leaf has no children: ``left`` is 0.
SPLIT = np.dtype(
    [
        ("value", np.float64),  # what a leaf adds to the raw prediction
        ("column", np.int32),
        ("left", np.int32),  # the right child follows the left one
        ("cut", np.int16),  # last bin that goes left; not used for categories
        ("missing_left", np.bool_),
        ("is_category", np.bool_),
    ]
)


class Model(NamedTuple):
    """Boosted trees. A tree of class ``k`` and round ``i`` has the number ``i * n_trees + k``.

    Attributes
    ----------
    nodes : record array of shape (n_rounds * n_trees, n_nodes)
        See `SPLIT`.
    left_categories : array of shape (n_rounds * n_trees, n_nodes, 256), bool
        Whether a bin of a categorical column goes left; empty without such columns.
    uses : array of shape (n_rounds * n_trees, n_columns), bool
        Whether a tree cuts a column.
    """

    nodes: Records
    left_categories: Bools
    uses: Bools


@kernel_part
def leaf_of(row: int, first: int, nodes: Records, left_categories: Bools, bins: Uint8s) -> int:
    """Return the leaf that a row with bins ``bins[:, row]`` reaches from a node."""
    number = first
    while nodes[number]["left"]:
        number = next_node(number, bins[nodes[number]["column"], row], nodes, left_categories)
    return number


@kernel_part
def next_node(number: int, found: int, nodes: Records, left_categories: Bools) -> int:
    """Return the child for rows of a bin."""
    node = nodes[number]
    if found == MISSING:
        is_left = node["missing_left"]
    elif node["is_category"]:
        is_left = left_categories[number, found]
    else:
        is_left = found <= node["cut"]
    child: int = node["left"] if is_left else node["left"] + 1
    return child


@kernel_part
def keep_tree(n_nodes: int, learning_rate: float, nodes: Records, kept: Records, uses: Bools) -> None:
    """Store the parts of a tree that predictions need."""
    for number in range(n_nodes):
        node, split = nodes[number], kept[number]
        split["left"] = node["left"]
        split["value"] = node["value"] * learning_rate
        if node["left"]:
            split["column"], split["cut"] = node["column"], node["cut"]
            split["missing_left"], split["is_category"] = node["missing_left"], node["is_category"]
            uses[node["column"]] = True


@kernel
def add_trees(model: Model, bins: Uint8s, raw: Float64s) -> None:
    """Add the predictions for rows with bins (n_columns, n_rows) to ``raw`` (n_rows, n_trees)."""
    n_rows, n_trees = raw.shape
    for number in range(len(model.nodes)):
        for row in range(n_rows):
            leaf = leaf_of(row, int64(0), model.nodes[number], model.left_categories[number], bins)
            raw[row, number % n_trees] += model.nodes[number, leaf]["value"]


@kernel
def add_changes(model: Model, bins: Uint8s, replaced: Int64s, new_bins: Uint8s, raw: Float64s) -> None:
    """Add the changes of predictions to ``raw`` (n_draws, n_rows, n_trees) when columns are replaced.

    Only trees that cut one of these columns are visited, and only from the first node on a row's path that cuts one.

    Parameters
    ----------
    bins : array of shape (n_columns, n_rows)
    replaced : array of shape (n_columns,)
        Index of the column in ``new_bins``, or -1.
    new_bins : array of shape (n_replaced, n_draws, n_rows)
    """
    n_draws, n_rows, n_trees = raw.shape
    for number in range(len(model.nodes)):
        is_concerned = False
        for column in range(replaced.size):
            is_concerned = is_concerned or (replaced[column] >= 0 and model.uses[number, column])
        if not is_concerned:
            continue
        nodes, left_categories = model.nodes[number], model.left_categories[number]
        for row in range(n_rows):
            fork = 0
            while nodes[fork]["left"] and replaced[nodes[fork]["column"]] < 0:
                fork = next_node(fork, bins[nodes[fork]["column"], row], nodes, left_categories)
            if nodes[fork]["left"] == 0:
                continue
            before = nodes[leaf_of(row, fork, nodes, left_categories, bins)]["value"]
            for draw in range(n_draws):
                leaf = fork
                while nodes[leaf]["left"]:
                    column = nodes[leaf]["column"]
                    found = bins[column, row]
                    if replaced[column] >= 0:
                        found = new_bins[replaced[column], draw, row]
                    leaf = next_node(leaf, found, nodes, left_categories)
                raw[draw, row, number % n_trees] += nodes[leaf]["value"] - before
