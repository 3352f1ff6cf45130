"""One boosted tree on one column.

Trees on one column cut its sorted values into intervals. The train rows are laid out in the order of the values once,
and every node of every tree is then a slice of that layout: one running sum of gradients serves all nodes of a tree, no
row is ever moved, and all rows of a bin reach the same leaf.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.boosting.gradient_cuts import best_cut, cut_gain, leaf_value, pop_best
from ppfs._engine.boosting.rules import BoostingLimits
from ppfs._engine.jit.kernels import Float64s, Int64s, Records, int64, kernel_part

_NODE = np.dtype(
    [
        ("sum_gradient", np.float64),
        ("sum_hessian", np.float64),
        ("value", np.float64),
        ("gain", np.float64),
        ("left_gradient", np.float64),
        ("left_hessian", np.float64),
        ("first", np.int64),  # bins: first to end - 1
        ("end", np.int64),
        ("cut", np.int64),  # last bin that goes left
        ("depth", np.int64),
        ("n_rows", np.int64),  # train rows, missing ones included
        ("is_split", np.bool_),
        ("takes_missing", np.bool_),  # whether the path of missing values leads here
        ("missing_left", np.bool_),
    ]
)


class Growing(NamedTuple):
    """A tree while it is being grown."""

    row_gradient: Float64s  # (n_rows + 1,) running sums over the train rows
    row_hessian: Float64s  # (n_rows + 1,)
    sum_gradient: Float64s  # (max_bins + 1,) of the train rows below the end of a bin
    sum_hessian: Float64s  # (max_bins + 1,)
    gains: Float64s  # (max_bins,)
    nodes: Records  # (n_nodes,)
    pending: Int64s  # (n_leaves,) nodes that can be split


@kernel_part
def _find_cut(number: int, n_missing: int, limits: BoostingLimits, counts: Int64s, growing: Growing) -> bool:
    """Find the best cut of a node; return whether there is one.

    A cut that is no better than one found before does not replace it. First, missing values go right, and cuts are
    tried from left to right; then missing values go left, and cuts are tried from right to left.
    """
    node = growing.nodes[number]
    sum_gradient, sum_hessian = growing.sum_gradient, growing.sum_hessian
    total_gradient, total_hessian = node["sum_gradient"], node["sum_hessian"]
    now = node["value"] * total_gradient
    n_lost = n_missing if node["takes_missing"] else 0
    first, end, stop = node["first"], node["end"], node["end"]
    n_below = counts[first]
    from_gradient, from_hessian = sum_gradient[first], sum_hessian[first]
    if counts[stop] - n_below == stop - first:
        # One train row per bin.
        end = max(first, min(stop, stop + n_lost - limits.min_leaf))
        first = min(end, first + limits.min_leaf - 1)
    else:
        while first < end and counts[first + 1] - n_below < limits.min_leaf:
            first += 1
        while end > first and counts[stop] + n_lost - counts[end] < limits.min_leaf:
            end -= 1
    chosen = best_cut(
        sum_gradient[first + 1 : end + 1],
        sum_hessian[first + 1 : end + 1],
        from_gradient,
        from_hessian,
        total_gradient,
        total_hessian,
        now,
        limits.l2,
        limits.min_hessian,
        growing.gains[first:end],
    )
    is_found = chosen >= 0
    best = 0.0
    if is_found:
        chosen += first
        best = growing.gains[chosen]
        node["cut"], node["missing_left"] = chosen, False
        node["left_gradient"] = sum_gradient[chosen + 1] - from_gradient
        node["left_hessian"] = sum_hessian[chosen + 1] - from_hessian
    if n_lost:
        for cut in range(stop - 2, node["first"] - 1, -1):
            n_right = counts[stop] - counts[cut + 1]
            if n_right < limits.min_leaf or counts[stop] - n_below + n_lost - n_right < limits.min_leaf:
                continue
            right_gradient = sum_gradient[stop] - sum_gradient[cut + 1]
            right_hessian = sum_hessian[stop] - sum_hessian[cut + 1]
            left_gradient = total_gradient - right_gradient
            left_hessian = total_hessian - right_hessian
            if left_hessian < limits.min_hessian or right_hessian < limits.min_hessian:
                continue
            gain = cut_gain(left_gradient, left_hessian, right_gradient, right_hessian, now, limits.l2)
            if gain > best:
                best, is_found = gain, True
                node["cut"], node["missing_left"] = cut, True
                node["left_gradient"], node["left_hessian"] = left_gradient, left_hessian
    node["gain"] = best
    return is_found


@kernel_part
def _make_children(
    number: int, n_nodes: int, n_missing: int, l2: float, counts: Int64s, nodes: Records
) -> None:
    """Fill the records of a node's children, the left one first."""
    node = nodes[number]
    node["is_split"] = True
    n_left = counts[node["cut"] + 1] - counts[node["first"]]
    if n_missing == 0:
        # If only test rows have missing values, these go to the side with most train rows.
        node["missing_left"] = n_left > node["n_rows"] - n_left
    elif node["takes_missing"] and node["missing_left"]:
        n_left += n_missing
    for side in range(2):
        child = nodes[n_nodes + side]
        child["first"] = node["first"] if side == 0 else node["cut"] + 1
        child["end"] = node["cut"] + 1 if side == 0 else node["end"]
        child["n_rows"] = n_left if side == 0 else node["n_rows"] - n_left
        child["takes_missing"] = node["takes_missing"] and node["missing_left"] == (side == 0)
        child["depth"] = node["depth"] + 1
        child["is_split"] = False
        gradient, hessian = node["left_gradient"], node["left_hessian"]
        if side == 1:
            gradient, hessian = node["sum_gradient"] - gradient, node["sum_hessian"] - hessian
        child["sum_gradient"], child["sum_hessian"] = gradient, hessian
        child["value"] = leaf_value(gradient, hessian, l2)


@kernel_part
def _run_sums(gradient: Float64s, hessian: Float64s, sum_gradient: Float64s, sum_hessian: Float64s) -> None:
    so_far_gradient, so_far_hessian = 0.0, 0.0
    for place in range(gradient.size):
        so_far_gradient += gradient[place]
        so_far_hessian += hessian[place]
        sum_gradient[place] = so_far_gradient
        sum_hessian[place] = so_far_hessian


@kernel_part
def add_up(
    n_missing: int, n_bins: int, counts: Int64s, gradient: Float64s, hessian: Float64s, growing: Growing
) -> None:
    """Compute the cumulative sums of a tree and make its root."""
    n_known = counts[n_bins]
    if n_known == n_bins:
        _run_sums(gradient[:n_known], hessian[:n_known], growing.sum_gradient[1:], growing.sum_hessian[1:])
    else:
        _run_sums(gradient[:n_known], hessian[:n_known], growing.row_gradient[1:], growing.row_hessian[1:])
        for number in range(n_bins):
            growing.sum_gradient[number + 1] = growing.row_gradient[counts[number + 1]]
            growing.sum_hessian[number + 1] = growing.row_hessian[counts[number + 1]]
    so_far_gradient, so_far_hessian = growing.sum_gradient[n_bins], growing.sum_hessian[n_bins]
    n_rows = n_known + n_missing
    for place in range(n_known, n_rows):
        so_far_gradient += gradient[place]
        so_far_hessian += hessian[place]
    root = growing.nodes[0]
    root["sum_gradient"], root["sum_hessian"] = so_far_gradient, so_far_hessian
    root["first"], root["end"], root["n_rows"] = 0, n_bins, n_rows
    root["value"], root["depth"], root["is_split"], root["takes_missing"] = 0.0, 0, False, True


@kernel_part
def grow_tree(n_missing: int, counts: Int64s, limits: BoostingLimits, growing: Growing) -> int:
    """Grow one tree from its root, best first; return the number of nodes."""
    nodes, pending = growing.nodes, growing.pending
    is_limited = limits.max_leaves < nodes[0]["n_rows"] // limits.min_leaf
    n_pending, n_seen, n_nodes, n_leaves = 0, int64(0), int64(1), 1
    if nodes[0]["sum_hessian"] < limits.min_hessian:
        return 1
    while True:
        while n_seen < n_nodes and n_leaves < limits.max_leaves:
            is_open = (
                nodes[n_seen]["n_rows"] >= 2 * limits.min_leaf and nodes[n_seen]["depth"] < limits.max_depth
            )
            if is_open and _find_cut(n_seen, n_missing, limits, counts, growing):
                pending[n_pending] = n_seen
                n_pending += 1
            n_seen += 1
        if n_pending == 0 or n_leaves >= limits.max_leaves:
            return n_nodes
        number = pop_best(n_pending, is_limited, nodes, pending)
        n_pending -= 1
        _make_children(number, n_nodes, n_missing, limits.l2, counts, nodes)
        n_nodes += 2
        n_leaves += 1


def make_growing(n_rows: int, max_bins: int, n_leaves: int) -> Growing:
    """Allocate memory for trees with up to the given number of leaves."""
    return Growing(
        row_gradient=np.zeros(n_rows + 1),
        row_hessian=np.zeros(n_rows + 1),
        sum_gradient=np.zeros(max_bins + 1),
        sum_hessian=np.zeros(max_bins + 1),
        gains=np.empty(max_bins),
        nodes=np.zeros(2 * n_leaves + 1, dtype=_NODE),
        pending=np.empty(n_leaves + 1, dtype=np.int64),
    )
