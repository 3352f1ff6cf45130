"""Boosted trees on several columns: one model of one train part.

When a node is cut, its rows are partitioned in the order of every column, so they stay sorted.
"""

from typing import NamedTuple

import numpy as np

from ppfs._engine.boosting.binned_columns import MISSING, Bins
from ppfs._engine.boosting.gradient_cuts import leaf_value, pop_best
from ppfs._engine.boosting.gradients import fill_gradients, start_powers
from ppfs._engine.boosting.model_cuts import Runs, find_cut
from ppfs._engine.boosting.model_trees import Model, keep_tree, leaf_of
from ppfs._engine.boosting.rules import BoostingLimits, Kind
from ppfs._engine.jit.kernels import (
    Bools,
    Float64s,
    Int64s,
    Records,
    Uint8s,
    Uint32s,
    int64,
    kernel,
    kernel_part,
    uint64,
)

_ONE = uint64(1)

NODE = np.dtype(
    [
        ("sum_gradient", np.float64),
        ("sum_hessian", np.float64),
        ("value", np.float64),
        ("gain", np.float64),
        ("left_gradient", np.float64),
        ("left_hessian", np.float64),
        ("start", np.int64),  # rows: start to stop - 1, in the order of every column
        ("stop", np.int64),
        ("depth", np.int64),
        ("column", np.int64),
        ("cut", np.int64),
        (
            "n_left",
            np.int64,
        ),  # rows that go left and are not missing, the first ones in the order of the column
        ("left", np.int64),
        ("missing_left", np.bool_),
        ("is_category", np.bool_),
    ]
)


class Rows(NamedTuple):
    """The train rows while a model grows."""

    raw: Float64s  # (n_trees, n_rows)
    powers: Float64s  # (n_trees, n_rows)
    gradient: Float64s  # (n_trees, n_rows)
    hessian: Float64s  # (n_trees, n_rows)
    pairs: Float64s  # (n_rows, 2) gradients and hessians of one tree, side by side
    members: Uint32s  # (1, n_rows) rows by node
    goes_left: Uint8s  # (n_rows,)
    aside: Uint32s  # (n_rows,)


@kernel_part
def _divide(column: int, start: int, stop: int, goes_left: Uint8s, order: Uint32s, aside: Uint32s) -> int:
    """Move the rows of a node that go left to the front, keeping their order; return their number."""
    left, right = uint64(start), uint64(0)
    for place in range(uint64(start), uint64(stop)):
        row = order[column, place]
        is_left = uint64(goes_left[row])
        order[column, left] = row
        aside[right] = row
        left = left + is_left
        right = right + (_ONE - is_left)
    for place in range(right):
        order[column, left + uint64(place)] = aside[place]
    return int64(left) - start


@kernel_part
def _put_one_side_in_place(
    column: int, start: int, stop: int, is_left_kept: bool, goes_left: Uint8s, order: Uint32s
) -> None:
    """Move the rows of one child to their place, keeping their order; the other rows are not read again."""
    left, right = uint64(start), uint64(stop - 1)
    if is_left_kept:
        for place in range(uint64(start), uint64(stop)):
            row = order[column, place]
            order[column, left] = row
            left += uint64(goes_left[row])
    else:
        for back in range(uint64(stop - start)):
            row = order[column, uint64(stop - 1) - uint64(back)]
            order[column, right] = row
            right -= _ONE - uint64(goes_left[row])


@kernel_part
def _split(
    number: int,
    n_nodes: int,
    limits: BoostingLimits,
    bins: Bins,
    order: Uint32s,
    active: Int64s,
    may_go_on: bool,
    rows: Rows,
    nodes: Records,
    left_categories: Bools,
) -> None:
    """Make the children of a node and partition its rows; the order by column is updated only if it is needed again."""
    node = nodes[number]
    start, stop, column = node["start"], node["stop"], node["column"]
    of_column = bins.train[column]
    for place in range(start, stop):
        row = order[column, place]
        if node["is_category"]:
            rows.goes_left[row] = left_categories[number, of_column[row]]
        elif of_column[row] == MISSING:
            rows.goes_left[row] = node["missing_left"]
        else:
            rows.goes_left[row] = place < start + node["n_left"]
    n_left = _divide(int64(0), start, stop, rows.goes_left, rows.members, rows.aside)
    n_right = stop - start - n_left
    least = 2 * limits.min_leaf
    if may_go_on and max(n_left, n_right) >= least:
        # A child that is too small to be cut does not need sorted rows.
        is_left_kept, is_divided = n_left >= least, min(n_left, n_right) >= least
        for i in range(active.size):
            if is_divided:
                _divide(active[i], start, stop, rows.goes_left, order, rows.aside)
            else:
                _put_one_side_in_place(active[i], start, stop, is_left_kept, rows.goes_left, order)
    if not bins.has_missing[column]:
        # If only test rows have missing values, these go to the side with most train rows.
        node["missing_left"] = n_left > n_right
    node["left"] = n_nodes
    for side in range(2):
        child = nodes[n_nodes + side]
        child["start"] = start if side == 0 else start + n_left
        child["stop"] = start + n_left if side == 0 else stop
        child["depth"] = node["depth"] + 1
        child["left"] = 0
        gradient, hessian = node["left_gradient"], node["left_hessian"]
        if side == 1:
            gradient, hessian = node["sum_gradient"] - gradient, node["sum_hessian"] - hessian
        child["sum_gradient"], child["sum_hessian"] = gradient, hessian
        child["value"] = leaf_value(gradient, hessian, limits.l2)


@kernel_part
def _grow(
    active: Int64s,
    is_category: Bools,
    bins: Bins,
    order: Uint32s,
    limits: BoostingLimits,
    rows: Rows,
    runs: Runs,
    nodes: Records,
    pending: Int64s,
    left_categories: Bools,
) -> int:
    """Grow one tree, best first; return the number of nodes."""
    root = nodes[0]
    n_rows = rows.members.shape[1]
    sum_gradient, sum_hessian = 0.0, 0.0
    for row in range(n_rows):
        rows.members[0, row] = row
        sum_gradient += rows.pairs[row, 0]
        sum_hessian += rows.pairs[row, 1]
    root["sum_gradient"], root["sum_hessian"], root["value"] = sum_gradient, sum_hessian, 0.0
    root["start"], root["stop"], root["depth"], root["left"] = 0, n_rows, 0, 0
    n_pending, n_seen, n_nodes, n_leaves = 0, int64(0), int64(1), 1
    if sum_hessian < limits.min_hessian:
        return 1
    for i in range(active.size):
        column = active[i]
        for place in range(n_rows):
            order[column, place] = bins.order[column, place]
    is_limited = limits.max_leaves < n_rows // limits.min_leaf
    while True:
        while n_seen < n_nodes and n_leaves < limits.max_leaves:
            node = nodes[n_seen]
            is_open = node["stop"] - node["start"] >= 2 * limits.min_leaf and node["depth"] < limits.max_depth
            if is_open and find_cut(
                n_seen, active, is_category, bins, order, limits, rows.pairs, runs, nodes, left_categories
            ):
                pending[n_pending] = n_seen
                n_pending += 1
            n_seen += 1
        if n_pending == 0 or n_leaves >= limits.max_leaves:
            return n_nodes
        number = pop_best(n_pending, is_limited, nodes, pending)
        n_pending -= 1
        n_leaves += 1
        may_go_on = n_leaves < limits.max_leaves and nodes[number]["depth"] + 1 < limits.max_depth
        _split(number, n_nodes, limits, bins, order, active, may_go_on, rows, nodes, left_categories)
        n_nodes += 2


@kernel
def boost(
    kind: int,
    first_round: int,
    active: Int64s,
    is_category: Bools,
    bins: Bins,
    labels: Float64s,
    weights: Float64s | None,
    limits: BoostingLimits,
    rows: Rows,
    runs: Runs,
    order: Uint32s,
    nodes: Records,
    pending: Int64s,
    model: Model,
) -> None:
    """Fit a model from round ``first_round`` on; earlier rounds are already fitted.

    Parameters
    ----------
    active : array of int
        The columns that may be cut, ascending.
    labels : array of shape (n_train,)
    weights : array of shape (n_train,) or None
        Factors of the gradients and hessians.
    rows : Rows
        ``rows.raw`` contains the raw predictions before round 0.
    """
    n_trees, n_rows = rows.raw.shape
    for number in range(first_round * n_trees):
        for row in range(n_rows):
            leaf = leaf_of(row, int64(0), model.nodes[number], model.left_categories[number], bins.train)
            rows.raw[number % n_trees, row] += model.nodes[number, leaf]["value"]
    for number in range(first_round * n_trees, len(model.nodes), n_trees):
        # Powers are computed again in every round: a model must not depend on the round from which it was refitted.
        if kind != Kind.NUMBERS:
            start_powers(kind, n_trees, n_rows, rows.raw, rows.powers)
        fill_gradients(
            kind, n_rows, n_trees, labels, weights, rows.raw, rows.powers, rows.gradient, rows.hessian
        )
        for tree in range(n_trees):
            for row in range(n_rows):
                rows.pairs[row, 0] = rows.gradient[tree, row]
                rows.pairs[row, 1] = rows.hessian[tree, row]
            left_categories = model.left_categories[number + tree]
            n_nodes = _grow(
                active, is_category, bins, order, limits, rows, runs, nodes, pending, left_categories
            )
            kept = model.nodes[number + tree]
            keep_tree(n_nodes, limits.learning_rate, nodes, kept, model.uses[number + tree])
            for leaf in range(n_nodes):
                if nodes[leaf]["left"] == 0:
                    for place in range(nodes[leaf]["start"], nodes[leaf]["stop"]):
                        rows.raw[tree, rows.members[0, place]] += kept[leaf]["value"]
