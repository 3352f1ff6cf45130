"""The best cut of a node of a boosted tree, over several columns.

Bins are few, but so are the rows of most nodes. So there are no histograms: for every column the rows of a node are
stored contiguously in the order of their values, and one pass over them finds the best cut.
"""

from typing import Any, NamedTuple

from ppfs._engine.boosting.binned_columns import MISSING, Bins
from ppfs._engine.boosting.gradient_cuts import best_cut, cut_gain
from ppfs._engine.boosting.rules import BoostingLimits
from ppfs._engine.jit.kernels import (
    Bools,
    Float64s,
    Int64s,
    Records,
    Uint8s,
    Uint32s,
    int64,
    kernel_function,
    kernel_part,
    uint64,
)

_ONE = uint64(1)

# A category takes part in cuts if it has at least this many rows; a constant of scikit-learn.
_MIN_SUPPORT = 10.0


class Runs(NamedTuple):
    """The rows of a node in the order of one column; the rows of a bin are one run."""

    gradient: Float64s  # (n_runs,) running sums
    hessian: Float64s  # (n_runs,)
    n_rows: Int64s  # (n_runs,)
    bins: Int64s  # (n_runs,)
    gains: Float64s  # (n_runs,)
    keys: Float64s  # (n_runs,) by which categories are ordered
    places: Int64s  # (n_runs,) the runs of categories that count, by key


@kernel_part
def _run_through(
    column: int, start: int, stop: int, order: Uint32s, bins: Uint8s, pairs: Float64s, runs: Runs
) -> int:
    """Fill the runs of a node in one column; return their number.

    Indices are unsigned, so Numba does not check whether they are negative.
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
    """Fill the runs after which a node may be cut; return their number.

    The first rows of a node are left of every cut and the last rows are right of it, so their runs are not stored.
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
    """Record the best cut so far."""
    node["column"], node["cut"], node["n_left"] = column, cut, n_left
    node["left_gradient"], node["left_hessian"] = gradient, hessian
    node["gain"], node["missing_left"], node["is_category"] = gain, missing_left, False


@kernel_part
def _cut_numbers(
    column: int, n_runs: int, n_known: int, n_lost: int, limits: BoostingLimits, runs: Runs, node: Any
) -> None:
    """Compare the cuts of a numeric column with the best cut so far."""
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
        # Missing values go left, and cuts are tried from right to left. The last one has only missing values on the
        # left, if there is a bin below those of the node.
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
    """Compare the cuts of a numeric column without missing values with the best cut so far."""
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
    """Sort the runs of categories that take part in cuts by their gradients; return their number.

    On entry the sums of a run are cumulative, on return they are those of the run alone. Equal keys are common, because
    sums of gradients are exact: categories with the same labels have equal keys. Equal keys are reversed, as in
    scikit-learn on Linux: its comparison never returns "equal", and glibc's merge sort then reverses them.
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
    """Compare the cuts of a categorical column with the best cut so far.

    A cut sends the first categories in the order of their gradients to the left, or the last ones. Categories that do
    not take part in cuts go right. Missing values are a category of their own.
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
def find_cut(
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
    """Find the best cut of a node over all columns, the first of equal ones; return whether there is one."""
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
            # Missing values are the last category.
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
