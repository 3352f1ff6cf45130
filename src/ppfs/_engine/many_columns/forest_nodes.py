"""The trees of one split's forest, in the form that kernels need."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.jit.kernels import Int32s, Int64s, Records

#: A node of a tree in a forest. Children and intervals are numbered within the tree.
FOREST_NODE = np.dtype(
    [
        ("feature", np.int32),  # the column it splits on, or -1
        ("left", np.int32),  # left child; the right child comes next; 0 for a leaf
        ("start", np.int32),  # train rows: rows[start:stop] of its tree
        ("stop", np.int32),
        ("test_start", np.int32),  # positions of test rows: tests[test_start:test_stop] of its tree
        ("test_stop", np.int32),
        ("depth", np.int32),
        ("n_tried", np.int32),  # columns that were looked at; 0 if the node was not to be split
        ("last_tried", np.int32),  # the last of them, by their order
        ("missing_left", np.bool_),  # whether missing values go left; used only if rows have weights
        ("threshold", np.float64),  # values up to and including it go left
        ("gain", np.float64),  # of the best cut; minus infinity if there is none
        ("key", np.uint64),  # what is drawn here depends on it
        ("last_order", np.uint64),  # the order of the last column that was looked at
    ],
    align=True,
)


class ForestTrees(NamedTuple):
    """All trees of a forest, one after the other. They are immutable, so forests share them.

    Attributes
    ----------
    nodes : records of shape (n_nodes,), of the type `FOREST_NODE`
    predictions : array of shape (n_nodes, n_outputs), int64
        Predictions of the leaves, class fractions or a number, in units of the forest; see `Units`.
    node_ends, row_ends : arrays of shape (n_trees + 1,), int64
        The nodes of a tree are nodes[node_ends[tree]:node_ends[tree + 1]], likewise its rows.
    rows : array of shape (n_drawn,), int32
        Train rows that a tree draws, in the order of its nodes' intervals.
    tests : array of shape (n_trees, n_test), int32
        Positions in the test part, in the order of the nodes' intervals.
    leaf_of : array of shape (n_trees, n_test), int32
        The leaf of each position of the test part.
    """

    nodes: Records
    predictions: Int64s
    node_ends: Int64s
    row_ends: Int64s
    rows: Int32s
    tests: Int32s
    leaf_of: Int32s


class Units(NamedTuple):
    """Predictions are added up as integer multiples of a small unit, so that sums are exact in any order.

    Attributes
    ----------
    per_one : float
        Units in a probability of one, or in the number one: a power of two.
    """

    per_one: float
    n_trees: int


#: Sums over more trees might not fit into 64 bits: 50 for a prediction, 12 for the trees, one for the sign.
MOST_TREES = 4096

# The most bits of a prediction, so that the sum over all trees fits into 64.
_BITS = 50


def make_units(values: npt.NDArray[np.float64], n_trees: int) -> Units:
    """Choose the unit for the numbers to predict; for classes, ``values`` is empty."""
    if n_trees > MOST_TREES:
        raise ValueError(
            f"A forest of {n_trees} trees is asked for, but sums over more than {MOST_TREES} might not fit 64 bits. "
            "Grow fewer."
        )
    largest = float(np.abs(values).max(initial=0.0)) if values.size else 1.0
    exponent = int(np.ceil(np.log2(largest))) if largest > 0.0 else 0
    return Units(2.0 ** (_BITS - exponent), n_trees)
