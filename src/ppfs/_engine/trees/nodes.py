"""A tree in the form that kernels need."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.jit.kernels import Float64s, Int32s, Records, kernel_part

#: Values of a node's ``feature`` if there is no split, or none yet.
LEAF, UNGROWN = -1, -2

NODE = np.dtype(
    [
        ("feature", np.int32),  # the column a node splits on, `LEAF`, or `UNGROWN`
        ("left", np.int32),  # left child; the right child comes next; 0 for a leaf
        ("start", np.int32),  # the train rows of a node are rows[start:stop]
        ("stop", np.int32),
        ("depth", np.int32),
        ("missing_left", np.bool_),  # whether missing values go left; used only if rows have weights
        ("threshold", np.float64),  # values up to and including it go left; 0 for a leaf
        ("weight", np.float64),  # total weight of its train rows: their number, unless rows have weights
    ],
    align=True,
)


class Nodes(NamedTuple):
    """A tree: records of the type `NODE`, the root first, and the statistics of each node's train rows."""

    nodes: Records  # (n_nodes,)
    stats: Float64s  # (n_nodes, n_stats) class counts, or the sum and the sum of squares


def make_nodes(capacity: int, n_stats: int) -> Nodes:
    """Allocate memory for a tree."""
    return Nodes(np.zeros(capacity, dtype=NODE), np.empty((capacity, n_stats)))


def ungrown_root(stats: Float64s, n_train: int, weight: float) -> Nodes:
    """Return a tree to be grown from ``n_train`` rows with the given statistics (n_stats,) and weight."""
    root = make_nodes(1, stats.size)
    root.nodes["feature"] = UNGROWN
    root.nodes["stop"] = n_train
    root.nodes["weight"] = weight
    root.stats[0] = stats
    return root


@kernel_part
def goes_right(
    value: np.float32 | float, threshold: float, missing_left: bool, weights: Float64s | None
) -> bool:
    """Return whether a value goes to the right child; only trees with row weights support missing values."""
    if weights is None:
        return float(value) > threshold
    return bool(float(value) > threshold or (value != value and not missing_left))


def topmost(tree: Nodes, feature: int) -> Int32s:
    """Return the nodes with the given feature that are not below another such node, from left to right."""
    nodes = tree.nodes
    found: Int32s = (nodes["feature"] == feature).nonzero()[0].astype(np.int32)
    if found.size == 1:
        return found
    numbers, end = [], 0
    # A parent starts no later than its children and has a smaller number.
    starts, stops = nodes["start"][found].tolist(), nodes["stop"][found].tolist()
    for start, number, stop in sorted(zip(starts, found.tolist(), stops, strict=True)):
        if start >= end:
            numbers.append(number)
            end = stop
    return np.array(numbers, dtype=np.int32)
