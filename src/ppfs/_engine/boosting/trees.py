"""Boosted trees on several columns: one model of one train part.

Bins are few, but so are the rows of most nodes. So no histograms are kept: the rows of a node stand side by side in the
order of every column, and a cut is found by running through them. Where a node is cut, each column's order is
divided, which keeps it sorted.
"""

from typing import Any, NamedTuple

import numpy as np

from ppfs._engine.boosting.binned_columns import MISSING, Bins
from ppfs._engine.boosting.cuts import best_cut, cut_gain, leaf_value, take_best
from ppfs._engine.boosting.gradients import fill_gradients, start_powers
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
    kernel_function,
    kernel_part,
    uint64,
)

_ONE = uint64(1)

# A category counts if it stands for so many rows; a constant of scikit-learn's.
_MIN_SUPPORT = 10.0

#: A node of a tree that is done. A leaf has no children: ``left`` is 0.
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

_NODE = np.dtype(
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


class Model(NamedTuple):
    """Boosted trees. A tree of class ``k`` and round ``i`` has the number ``i * n_trees + k``.

    Attributes
    ----------
    nodes : record array of shape (n_rounds * n_trees, n_nodes)
        See `SPLIT`.
    left_categories : array of shape (n_rounds * n_trees, n_nodes, 256), bool
        Whether a bin of a categorical column goes left; of no size without such columns.
    uses : array of shape (n_rounds * n_trees, n_columns), bool
        Whether a tree cuts a column.
    """

    nodes: Records
    left_categories: Bools
    uses: Bools


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


class Runs(NamedTuple):
    """The rows of a node in the order of one column, those of a bin taken together."""

    gradient: Float64s  # (n_runs,) running sums
    hessian: Float64s  # (n_runs,)
    n_rows: Int64s  # (n_runs,)
    bins: Int64s  # (n_runs,)
    gains: Float64s  # (n_runs,)
    keys: Float64s  # (n_runs,) by which categories are ordered
    places: Int64s  # (n_runs,) the runs of categories that count, by key


@kernel_part
def leaf_of(row: int, first: int, nodes: Records, left_categories: Bools, bins: Uint8s) -> int:
    """Return the leaf that a row with bins ``bins[:, row]`` reaches from a node."""
    number = first
    while nodes[number]["left"]:
        number = next_node(number, bins[nodes[number]["column"], row], nodes, left_categories)
    return number


@kernel_part
def next_node(number: int, found: int, nodes: Records, left_categories: Bools) -> int:
    """Return the child that a bin leads to."""
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
def _run_through(
    column: int, start: int, stop: int, order: Uint32s, bins: Uint8s, pairs: Float64s, runs: Runs
) -> int:
    """Fill the runs of a node in one column; return how many there are.

    Places are unsigned: Numba then need not ask whether they count from the end.
    """
    if start == stop:
        return 0
    run = uint64(0)
    last = bins[column, order[column, uint64(start)]]
    gradient, hessian = 0.0, 0.0
    for place in range(uint64(start), uint64(stop)):
        row = uint64(order[column, place])
        found = bins[column, row]
        if found != last:
            run = run + _ONE
        last = found
        gradient += pairs[row, 0]
        hessian += pairs[row, 1]
        runs.gradient[run] = gradient
        runs.hessian[run] = hessian
        runs.n_rows[run] = int64(place) - start + 1
        runs.bins[run] = found
    return int(run) + 1


@kernel_part
def _run_between(
    column: int,
    start: int,
    stop: int,
    min_leaf: int,
    order: Uint32s,
    bins: Uint8s,
    pairs: Float64s,
    runs: Runs,
) -> int:
    """Fill the runs of a node after which it may be cut; return how many there are.

    The first rows of a node lie left of every cut and the last ones right of it, so nothing is kept of them.
    """
    gradient, hessian = 0.0, 0.0
    first, end = uint64(start + min_leaf - 1), uint64(stop - min_leaf)
    for place in range(uint64(start), first):
        row = uint64(order[column, place])
        gradient += pairs[row, 0]
        hessian += pairs[row, 1]
    run = uint64(0)
    row = uint64(order[column, first])
    found = bins[column, row]
    for place in range(first, end):
        gradient += pairs[row, 0]
        hessian += pairs[row, 1]
        runs.gradient[run] = gradient
        runs.hessian[run] = hessian
        runs.n_rows[run] = int64(place) - start + 1
        row = uint64(order[column, uint64(place) + _ONE])
        following = bins[column, row]
        run += uint64(following != found)
        found = following
    return int(run)


@kernel_part
def _enter(
    column: int,
    cut: int,
    n_left: int,
    gradient: float,
    hessian: float,
    gain: float,
    missing_left: bool,
    node: Any,
) -> None:
    """Note the best cut so far."""
    node["column"], node["cut"], node["n_left"] = column, cut, n_left
    node["left_gradient"], node["left_hessian"] = gradient, hessian
    node["gain"], node["missing_left"], node["is_category"] = gain, missing_left, False


@kernel_part
def _cut_numbers(
    column: int, n_runs: int, n_known: int, n_lost: int, limits: BoostingLimits, runs: Runs, node: Any
) -> None:
    """Find out whether a cut of a column of numbers is better than the best so far."""
    total_gradient, total_hessian = node["sum_gradient"], node["sum_hessian"]
    now = node["value"] * total_gradient
    first, end = 0, n_runs
    while first < end and runs.n_rows[first] < limits.min_leaf:
        first += 1
    while end > first and n_known + n_lost - runs.n_rows[end - 1] < limits.min_leaf:
        end -= 1
    chosen = best_cut(
        runs.gradient[first:end],
        runs.hessian[first:end],
        0.0,
        0.0,
        total_gradient,
        total_hessian,
        now,
        limits.l2,
        limits.min_hessian,
        runs.gains[first:end],
    )
    if chosen >= 0 and runs.gains[first + chosen] > node["gain"]:
        chosen += first
        _enter(
            column,
            runs.bins[chosen],
            runs.n_rows[chosen],
            runs.gradient[chosen],
            runs.hessian[chosen],
            runs.gains[chosen],
            False,
            node,
        )
    if n_lost and n_runs:
        # Missing values go left, and cuts are tried from right to left. The last leaves none but them on the left, if
        # there is a bin below those of the node.
        for run in range(n_runs - 2, -2 if runs.bins[0] else -1, -1):
            n_left = runs.n_rows[run] if run >= 0 else 0
            if n_known - n_left < limits.min_leaf or n_lost + n_left < limits.min_leaf:
                continue
            right_gradient = runs.gradient[n_runs - 1] - (runs.gradient[run] if run >= 0 else 0.0)
            right_hessian = runs.hessian[n_runs - 1] - (runs.hessian[run] if run >= 0 else 0.0)
            left_gradient = total_gradient - right_gradient
            left_hessian = total_hessian - right_hessian
            if left_hessian < limits.min_hessian or right_hessian < limits.min_hessian:
                continue
            gain = cut_gain(left_gradient, left_hessian, right_gradient, right_hessian, now, limits.l2)
            if gain > node["gain"]:
                cut = runs.bins[run + 1] - 1
                _enter(column, cut, n_left, left_gradient, left_hessian, gain, True, node)


@kernel_part
def _cut_known(
    column: int, n_runs: int, limits: BoostingLimits, order: Uint32s, bins: Uint8s, runs: Runs, node: Any
) -> None:
    """Find out whether a cut of a column of numbers without gaps is better than the best so far."""
    chosen = best_cut(
        runs.gradient[:n_runs],
        runs.hessian[:n_runs],
        0.0,
        0.0,
        node["sum_gradient"],
        node["sum_hessian"],
        node["value"] * node["sum_gradient"],
        limits.l2,
        limits.min_hessian,
        runs.gains[:n_runs],
    )
    if chosen >= 0 and runs.gains[chosen] > node["gain"]:
        n_left = runs.n_rows[chosen]
        _enter(
            column,
            int64(bins[column, order[column, node["start"] + n_left - 1]]),
            n_left,
            runs.gradient[chosen],
            runs.hessian[chosen],
            runs.gains[chosen],
            False,
            node,
        )


@kernel_part
def _order_categories(n_runs: int, n_rows: int, total_hessian: float, runs: Runs) -> int:
    """Order the runs of categories that count by their gradients; return how many do.

    On entry the sums of a run are running sums, on return they are those of the run alone. Equal keys are common,
    because sums of gradients are exact: categories with the same labels have them. The last of equals comes first, as
    in scikit-learn on Linux: its comparison never returns "equal", and glibc's merge sort then reverses them.
    """
    for run in range(n_runs - 1, 0, -1):
        runs.gradient[run] -= runs.gradient[run - 1]
        runs.hessian[run] -= runs.hessian[run - 1]
        runs.n_rows[run] -= runs.n_rows[run - 1]
    n_used = 0
    for run in range(n_runs):
        if runs.hessian[run] * (n_rows / total_hessian) >= _MIN_SUPPORT:
            key = runs.gradient[run] / (runs.hessian[run] + _MIN_SUPPORT)
            place = n_used
            while place > 0 and runs.keys[place - 1] >= key:
                runs.keys[place], runs.places[place] = runs.keys[place - 1], runs.places[place - 1]
                place -= 1
            runs.keys[place], runs.places[place] = key, run
            n_used += 1
    return n_used


@kernel_function
def _cut_categories(
    column: int,
    n_runs: int,
    n_rows: int,
    limits: BoostingLimits,
    runs: Runs,
    node: Any,
    left_categories: Bools,
) -> None:
    """Find out whether a set of categories goes left with a better gain than the best so far.

    The first categories in the order of their gradients are tried, then the last ones; those that do not count go
    right. Missing values are a category like others.
    """
    total_gradient, total_hessian = node["sum_gradient"], node["sum_hessian"]
    now = node["value"] * total_gradient
    n_used = _order_categories(n_runs, n_rows, total_hessian, runs)
    best_size, is_from_left = 0, True
    best, best_gradient, best_hessian = node["gain"], 0.0, 0.0
    if n_used > 1:
        for side in range(2):
            gradient, hessian, n_left = 0.0, 0.0, 0
            for size in range(1, (n_used + 1) // 2 + 1 - side):
                run = runs.places[size - 1 if side == 0 else n_used - size]
                gradient += runs.gradient[run]
                hessian += runs.hessian[run]
                n_left += runs.n_rows[run]
                right_hessian = total_hessian - hessian
                if n_left < limits.min_leaf or hessian < limits.min_hessian:
                    continue
                if n_rows - n_left < limits.min_leaf or right_hessian < limits.min_hessian:
                    break
                gain = cut_gain(gradient, hessian, total_gradient - gradient, right_hessian, now, limits.l2)
                if gain > best:
                    best, best_size, is_from_left = gain, size, side == 0
                    best_gradient, best_hessian = gradient, hessian
    if best_size:
        left_categories.fill(False)
        for i in range(best_size):
            left_categories[runs.bins[runs.places[i if is_from_left else n_used - 1 - i]]] = True
        _enter(column, 0, 0, best_gradient, best_hessian, best, left_categories[MISSING], node)
        node["is_category"] = True


@kernel_part
def _find_cut(
    number: int,
    active: Int64s,
    is_category: Bools,
    bins: Bins,
    order: Uint32s,
    limits: BoostingLimits,
    pairs: Float64s,
    runs: Runs,
    nodes: Records,
    left_categories: Bools,
) -> bool:
    """Find the best cut of a node over all columns; the first of equals wins. Return whether there is one."""
    node = nodes[number]
    node["gain"] = 0.0
    start, stop = node["start"], node["stop"]
    n_rows = stop - start
    train = bins.train
    for i in range(active.size):
        column = active[i]
        n_known = n_rows
        while n_known and train[column, order[column, start + n_known - 1]] == MISSING:
            n_known -= 1
        if is_category[column]:
            # Missing values come last, as one more category.
            n_runs = _run_through(column, start, stop, order, train, pairs, runs)
            _cut_categories(column, n_runs, n_rows, limits, runs, node, left_categories[number])
        elif n_known == n_rows:
            n_runs = _run_between(column, start, stop, limits.min_leaf, order, train, pairs, runs)
            _cut_known(column, n_runs, limits, order, train, runs, node)
        else:
            n_runs = _run_through(column, start, start + n_known, order, train, pairs, runs)
            _cut_numbers(column, n_runs, n_known, n_rows - n_known, limits, runs, node)
    is_found: bool = node["gain"] > 0.0
    return is_found


@kernel_part
def _divide(column: int, start: int, stop: int, goes_left: Uint8s, order: Uint32s, aside: Uint32s) -> int:
    """Put the rows of a node that go left first, keeping their order; return how many they are."""
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
    """Put the rows of one child where they belong, keeping their order; what stands elsewhere is not read again."""
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
    """Make the children of a node and divide its rows; the orders of the columns only if they are needed again."""
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
        # A child that is too small to be cut needs no order.
        is_left_kept, is_divided = n_left >= least, min(n_left, n_right) >= least
        for i in range(active.size):
            if is_divided:
                _divide(active[i], start, stop, rows.goes_left, order, rows.aside)
            else:
                _put_one_side_in_place(active[i], start, stop, is_left_kept, rows.goes_left, order)
    if not bins.has_missing[column]:
        # Missing values that come up later go where most train rows go.
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
            if is_open and _find_cut(
                n_seen, active, is_category, bins, order, limits, rows.pairs, runs, nodes, left_categories
            ):
                pending[n_pending] = n_seen
                n_pending += 1
            n_seen += 1
        if n_pending == 0 or n_leaves >= limits.max_leaves:
            return n_nodes
        number = take_best(n_pending, is_limited, nodes, pending)
        n_pending -= 1
        n_leaves += 1
        may_go_on = n_leaves < limits.max_leaves and nodes[number]["depth"] + 1 < limits.max_depth
        _split(number, n_nodes, limits, bins, order, active, may_go_on, rows, nodes, left_categories)
        n_nodes += 2


@kernel_part
def _keep(n_nodes: int, learning_rate: float, nodes: Records, kept: Records, uses: Bools) -> None:
    """Keep what predictions need of a tree."""
    for number in range(n_nodes):
        node, split = nodes[number], kept[number]
        split["left"] = node["left"]
        split["value"] = node["value"] * learning_rate
        if node["left"]:
            split["column"], split["cut"] = node["column"], node["cut"]
            split["missing_left"], split["is_category"] = node["missing_left"], node["is_category"]
            uses[node["column"]] = True


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
    """Grow a model from its round ``first_round`` on; those before are there already.

    Parameters
    ----------
    active : array of int
        The columns that may be cut, ascending.
    labels : array of shape (n_train,)
    weights : array of shape (n_train,) or None
        What gradients and hessians are multiplied by.
    rows : Rows
        ``rows.raw`` holds what the first round of all starts from.
    """
    n_trees, n_rows = rows.raw.shape
    for number in range(first_round * n_trees):
        for row in range(n_rows):
            leaf = leaf_of(row, int64(0), model.nodes[number], model.left_categories[number], bins.train)
            rows.raw[number % n_trees, row] += model.nodes[number, leaf]["value"]
    for number in range(first_round * n_trees, len(model.nodes), n_trees):
        # Powers are computed anew in every round: a model must not depend on the round from which it was grown.
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
            _keep(n_nodes, limits.learning_rate, nodes, kept, model.uses[number + tree])
            for leaf in range(n_nodes):
                if nodes[leaf]["left"] == 0:
                    for place in range(nodes[leaf]["start"], nodes[leaf]["stop"]):
                        rows.raw[tree, rows.members[0, place]] += kept[leaf]["value"]


@kernel
def add_trees(model: Model, bins: Uint8s, raw: Float64s) -> None:
    """Add what a model predicts for rows with bins (n_columns, n_rows) to ``raw`` (n_rows, n_trees)."""
    n_rows, n_trees = raw.shape
    for number in range(len(model.nodes)):
        for row in range(n_rows):
            leaf = leaf_of(row, int64(0), model.nodes[number], model.left_categories[number], bins)
            raw[row, number % n_trees] += model.nodes[number, leaf]["value"]


@kernel
def add_changes(model: Model, bins: Uint8s, replaced: Int64s, new_bins: Uint8s, raw: Float64s) -> None:
    """Add to ``raw`` (n_draws, n_rows, n_trees) what changes when some columns hold other values.

    Only trees that cut one of these columns are looked at, and only from the node on where a row meets it.

    Parameters
    ----------
    bins : array of shape (n_columns, n_rows)
    replaced : array of shape (n_columns,)
        Where the column stands in ``new_bins``, or -1.
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
