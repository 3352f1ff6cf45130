"""Boosted trees on one column each: the growth phase.

Trees on one column cut its sorted values into intervals. The train rows of a split are laid out in the order of the
values once, and every node of every tree is then a slice of that layout: one running sum of gradients serves all
nodes of a tree, no row is ever moved, and all rows of a bin share their fate. After the last round the model is a
table: the raw prediction of each bin, and of missing values.
"""

from math import exp, inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.bins import find_edges
from ppfs._engine.boosting.cuts import best_cut, cut_gain, leaf_value, take_best
from ppfs._engine.boosting.gradients import BOUND_OF_POWERS, fill_gradients, start_powers
from ppfs._engine.boosting.problem import BoostingProblem, Lessons
from ppfs._engine.boosting.rules import BoostingLimits, Kind
from ppfs._engine.boosting.scores import Outcome, empty_outcome, score
from ppfs._engine.inputs.splits import TRAIN
from ppfs._engine.jit.kernels import Float64s, Int64s, Records, int64, kernel, kernel_part
from ppfs._engine.jit.threads import run_tasks

# Rows times splits times rounds of one task: some 20 milliseconds.
_STEPS_PER_TASK = 10_000_000

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


class Layout(NamedTuple):
    """The rows of one split in the order of a column's values."""

    values: Float64s  # (n_rows,) of the train rows, ascending; the missing ones follow
    labels: Float64s  # (n_rows,) of the train rows
    edges: Float64s  # (max_bins,)
    counts: Int64s  # (max_bins + 1,) train rows below the end of a bin
    test_bins: Int64s  # (n_test,) -1 for a missing value
    test_values: Float64s  # (n_test,)
    weights: Float64s | None  # (n_rows,) of the train rows, if rows have weights
    running: Float64s | None  # (n_rows,) running sums of the weights


class Rounds(NamedTuple):
    """The model in the making."""

    raw: Float64s  # (n_trees, n_rows) raw predictions of the train rows
    powers: Float64s  # (n_trees, n_rows) see `start_powers`
    gradient: Float64s  # (n_trees, n_rows)
    hessian: Float64s  # (n_trees, n_rows)
    table: Float64s  # (n_trees, max_bins + 1) raw prediction of each bin; the last is for missing values


class Growing(NamedTuple):
    """The tree in the making."""

    row_gradient: Float64s  # (n_rows + 1,) running sums over the train rows
    row_hessian: Float64s  # (n_rows + 1,)
    sum_gradient: Float64s  # (max_bins + 1,) of the train rows below the end of a bin
    sum_hessian: Float64s  # (max_bins + 1,)
    gains: Float64s  # (max_bins,)
    nodes: Records  # (n_nodes,)
    pending: Int64s  # (n_leaves,) nodes that can be split


@kernel_part
def _note_weight(
    place: int, row: int, weights: Float64s | None, laid_out: Float64s | None, running: Float64s | None
) -> None:
    """Enter the weight of a row, if rows have weights."""
    if weights is not None and laid_out is not None and running is not None:
        laid_out[place] = weights[row]
        running[place] = weights[row] + (running[place - 1] if place else 0.0)


@kernel_part
def _lay_out(
    column: int,
    split: int,
    order: Int64s,
    block: Float64s,
    lessons: Lessons,
    limits: BoostingLimits,
    layout: Layout,
) -> tuple[int, int]:
    """Put the train rows of a split in the order of the values, and bin all rows; return missing rows and bins."""
    n_known, n_missing = int64(0), int64(0)
    for place in range(order.shape[1]):
        row = order[column, place]
        if lessons.roles[split, row] == TRAIN:
            value = block[row, column]
            layout.labels[n_known + n_missing] = lessons.labels[split, row]
            layout.values[n_known + n_missing] = value
            _note_weight(n_known + n_missing, row, lessons.weights, layout.weights, layout.running)
            # Missing values come last in the order.
            if np.isnan(value):
                n_missing += 1
            else:
                n_known += 1
    n_edges = find_edges(n_known, layout.values, layout.running, limits, layout.edges)
    for number in range(n_edges + 2):
        layout.counts[number] = 0
    current = 0
    for place in range(order.shape[1]):
        row = order[column, place]
        value = block[row, column]
        role = lessons.roles[split, row]
        if np.isnan(value):
            if role >= 0:
                layout.test_bins[role] = -1
            continue
        while current < n_edges and value > layout.edges[current]:
            current += 1
        if role == TRAIN:
            layout.counts[current + 1] += 1
        elif role >= 0:
            layout.test_bins[role] = current
            layout.test_values[role] = value
    for number in range(n_edges + 1):
        layout.counts[number + 1] += layout.counts[number]
    return n_missing, n_edges + 1


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
        # One train row a bin.
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
        # Missing values that come up later go where most train rows go.
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
def _add_up(
    n_missing: int, n_bins: int, counts: Int64s, gradient: Float64s, hessian: Float64s, growing: Growing
) -> None:
    """Make the running sums of a tree, and its root."""
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
def _grow(n_missing: int, counts: Int64s, limits: BoostingLimits, growing: Growing) -> int:
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
        number = take_best(n_pending, is_limited, nodes, pending)
        n_pending -= 1
        _make_children(number, n_nodes, n_missing, limits.l2, counts, nodes)
        n_nodes += 2
        n_leaves += 1


@kernel_part
def _shift(step: float, raw: Float64s) -> None:
    """Add a step to raw predictions; an expression of arrays would reserve memory."""
    for place in range(raw.size):
        raw[place] += step


@kernel_part
def _move(step: float, factor: float, raw: Float64s, powers: Float64s) -> None:
    """Add a step to raw predictions, and keep their powers up to date."""
    for place in range(raw.size):
        raw[place] += step
        powers[place] *= factor


@kernel_part
def _apply(
    tree: int,
    kind: int,
    n_nodes: int,
    n_missing: int,
    n_bins: int,
    learning_rate: float,
    counts: Int64s,
    nodes: Records,
    rounds: Rounds,
) -> float:
    """Add what the leaves of a tree predict to the raw predictions of rows and bins; return the largest step."""
    raw, powers, table = rounds.raw[tree], rounds.powers[tree], rounds.table[tree]
    n_known = counts[n_bins]
    largest = 0.0
    for number in range(n_nodes):
        leaf = nodes[number]
        if leaf["is_split"]:
            continue
        step = leaf["value"] * learning_rate
        largest = max(largest, abs(step))
        factor = 1.0
        if kind == Kind.TWO_CLASSES:
            factor = exp(-step)
        elif kind == Kind.MORE_CLASSES:
            factor = exp(step)
        start, stop = counts[leaf["first"]], counts[leaf["end"]]
        _move(step, factor, raw[start:stop], powers[start:stop])
        _shift(step, table[leaf["first"] : leaf["end"]])
        if leaf["takes_missing"]:
            table[-1] += step
            _move(step, factor, raw[n_known : n_known + n_missing], powers[n_known : n_known + n_missing])
    return largest


@kernel_part
def _boost(
    kind: int,
    n_trees: int,
    n_missing: int,
    n_bins: int,
    limits: BoostingLimits,
    layout: Layout,
    rounds: Rounds,
    growing: Growing,
) -> None:
    """Grow all rounds."""
    n_rows = layout.counts[n_bins] + n_missing
    size = inf
    for _ in range(limits.n_rounds):
        if kind != Kind.NUMBERS and size > BOUND_OF_POWERS:
            size = start_powers(kind, n_trees, n_rows, rounds.raw, rounds.powers)
        fill_gradients(
            kind,
            n_rows,
            n_trees,
            layout.labels,
            layout.weights,
            rounds.raw,
            rounds.powers,
            rounds.gradient,
            rounds.hessian,
        )
        is_grown = False
        for tree in range(n_trees):
            _add_up(n_missing, n_bins, layout.counts, rounds.gradient[tree], rounds.hessian[tree], growing)
            n_nodes = _grow(n_missing, layout.counts, limits, growing)
            if n_nodes > 1:
                is_grown = True
                size += _apply(
                    tree,
                    kind,
                    n_nodes,
                    n_missing,
                    n_bins,
                    limits.learning_rate,
                    layout.counts,
                    growing.nodes,
                    rounds,
                )
        if not is_grown:
            # The next round would see the same gradients.
            break


@kernel_part
def _start(n_trees: int, n_missing: int, n_bins: int, line: Float64s, layout: Layout, rounds: Rounds) -> None:
    """Set the raw predictions to what the first round starts from."""
    n_known = layout.counts[n_bins]
    for tree in range(n_trees):
        intercept, slope, stand_in = line[tree, 0], line[tree, 1], line[tree, 2]
        for number in range(rounds.table.shape[1]):
            rounds.table[tree, number] = intercept
        for place in range(n_known + n_missing):
            rounds.raw[tree, place] = intercept
            if slope != 0.0:
                value = layout.values[place] if place < n_known else stand_in
                rounds.raw[tree, place] += slope * value


@kernel_part
def _predict(
    begin: int, end: int, n_trees: int, line: Float64s, layout: Layout, table: Float64s, raw: Float64s
) -> None:
    """Fill the rows ``begin`` to ``end - 1`` of ``raw`` (n_tested, n_trees) with what the test rows' values predict."""
    for place in range(begin, end):
        number = layout.test_bins[place - begin]
        for tree in range(n_trees):
            # Bin -1, which is that of missing values, stands last.
            raw[place, tree] = table[tree, number]
            if line[tree, 1] != 0.0:
                value = line[tree, 2] if number < 0 else layout.test_values[place - begin]
                raw[place, tree] += line[tree, 1] * value


@kernel
def _boost_columns(
    first: int,
    block: Float64s,
    order: Int64s,
    lines: Float64s,
    lessons: Lessons,
    limits: BoostingLimits,
    work: tuple[Layout, Rounds, Growing],
    raw: Float64s,
) -> None:
    """Fill ``raw`` (n, n_tested, n_trees) with what ``first`` and the columns after it predict for the test rows."""
    layout, rounds, growing = work
    for column in range(first, first + raw.shape[0]):
        for split in range(lessons.kinds.size):
            kind, n_trees, line = lessons.kinds[split], lessons.n_trees[split], lines[column, split]
            n_missing, n_bins = _lay_out(column, split, order, block, lessons, limits, layout)
            _start(n_trees, n_missing, n_bins, line, layout, rounds)
            if kind != Kind.ONE_CLASS:
                _boost(kind, n_trees, n_missing, n_bins, limits, layout, rounds, growing)
            begin, end = lessons.ends[split], lessons.ends[split + 1]
            _predict(begin, end, n_trees, line, layout, rounds.table, raw[column - first])


def boosted_column_losses(
    block: npt.ArrayLike, problem: BoostingProblem, lines: Float64s | None = None, n_threads: int = 1
) -> Outcome:
    """Losses of the boosted trees on each single column, before and after the column is permuted.

    Parameters
    ----------
    block : array of shape (n_rows, n_columns)
        The columns; NaN is a missing value.
    problem : BoostingProblem
        See `prepare_boosting`.
    lines : array of shape (n_columns, n_splits, n_trees, 3), or None
        What the first round starts from: intercept, slope, and the value that stands for missing ones. None starts
        from the baseline of the labels.
    n_threads : int
        The answer does not depend on it.
    """
    columns = np.require(block, dtype=np.float64, requirements=["C", "W"])
    n_rows, n_columns = columns.shape
    limits = problem.rules.limits
    if lines is None:
        lines = np.zeros((n_columns, problem.n_splits, problem.n_trees, 3))
        lines[..., 0] = problem.baseline
    order = np.argsort(columns.T, axis=1, kind="stable")
    outcome = empty_outcome(n_columns, problem, len(problem.sources))

    def run(bounds: tuple[int, int]) -> None:
        first, end = bounds
        raw = np.empty((end - first, problem.n_tested, problem.n_trees))
        work = _make_work(n_rows, problem)
        _boost_columns(first, columns, order, lines, problem.lessons, limits, work, raw)
        score(first, problem.is_by_row, limits.loss, raw, problem.sources, problem.exams, outcome)

    run_tasks(run, _tasks(n_columns, n_rows * problem.n_splits * limits.n_rounds), n_threads)
    return outcome


def _tasks(n_columns: int, n_steps: int) -> list[tuple[int, int]]:
    """Cut the columns into tasks of some milliseconds each."""
    width = max(1, _STEPS_PER_TASK // max(1, n_steps))
    return [(first, min(first + width, n_columns)) for first in range(0, n_columns, width)]


def _make_work(n_rows: int, problem: BoostingProblem) -> tuple[Layout, Rounds, Growing]:
    """Reserve the memory of one task."""
    max_bins, n_trees = problem.rules.limits.max_bins, problem.n_trees
    n_test = max(rows.size for rows in problem.test)
    n_leaves = problem.rules.most_leaves(max(rows.size for rows in problem.train))
    return (
        Layout(
            values=np.empty(n_rows),
            labels=np.empty(n_rows),
            edges=np.empty(max_bins),
            counts=np.zeros(max_bins + 1, dtype=np.int64),
            test_bins=np.empty(n_test, dtype=np.int64),
            test_values=np.empty(n_test),
            weights=None if problem.lessons.weights is None else np.empty(n_rows),
            running=None if problem.lessons.weights is None else np.empty(n_rows),
        ),
        Rounds(
            raw=np.empty((n_trees, n_rows)),
            powers=np.empty((n_trees, n_rows)),
            gradient=np.empty((n_trees, n_rows)),
            hessian=np.empty((n_trees, n_rows)),
            table=np.empty((n_trees, max_bins + 1)),
        ),
        Growing(
            row_gradient=np.zeros(n_rows + 1),
            row_hessian=np.zeros(n_rows + 1),
            sum_gradient=np.zeros(max_bins + 1),
            sum_hessian=np.zeros(max_bins + 1),
            gains=np.empty(max_bins),
            nodes=np.zeros(2 * n_leaves + 1, dtype=_NODE),
            pending=np.empty(n_leaves + 1, dtype=np.int64),
        ),
    )
