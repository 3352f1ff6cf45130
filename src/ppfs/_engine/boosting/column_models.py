"""Boosted trees on one column each: the growth phase.

After the last round the model of a column is a table: the raw prediction of each bin, and of missing values.
"""

from math import exp, inf
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.column_layout import Layout, lay_out, make_layout
from ppfs._engine.boosting.column_trees import Growing, add_up, grow_tree, make_growing
from ppfs._engine.boosting.gradients import BOUND_OF_POWERS, fill_gradients, start_powers
from ppfs._engine.boosting.problem import BoostingProblem, TrainParts
from ppfs._engine.boosting.rules import BoostingLimits, Kind
from ppfs._engine.boosting.scores import Outcome, empty_outcome, score
from ppfs._engine.boosting.small_columns import small_column_losses
from ppfs._engine.jit.kernels import Float64s, Int64s, Records, kernel, kernel_part

# Rows times splits times rounds of the columns whose predictions are in memory at once.
_STEPS_AT_ONCE = 10_000_000


class Rounds(NamedTuple):
    """A model while it is being fitted."""

    raw: Float64s  # (n_trees, n_rows) raw predictions of the train rows
    powers: Float64s  # (n_trees, n_rows) see `start_powers`
    gradient: Float64s  # (n_trees, n_rows)
    hessian: Float64s  # (n_trees, n_rows)
    table: Float64s  # (n_trees, max_bins + 1) raw prediction of each bin; the last is for missing values


@kernel_part
def _shift(step: float, raw: Float64s) -> None:
    """Add a step to raw predictions in place; an array expression would allocate memory."""
    for place in range(raw.size):
        raw[place] += step


@kernel_part
def _move(step: float, factor: float, raw: Float64s, powers: Float64s) -> None:
    """Add a step to raw predictions and update their powers."""
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
    """Add the leaf values of a tree to the raw predictions of rows and bins; return the largest step."""
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
        if kind == Kind.TWO_CLASSES or kind == Kind.AMOUNTS:
            factor = exp(-step)
        elif kind == Kind.MORE_CLASSES or kind == Kind.COUNTS:
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
    """Fit all rounds."""
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
            add_up(n_missing, n_bins, layout.counts, rounds.gradient[tree], rounds.hessian[tree], growing)
            n_nodes = grow_tree(n_missing, layout.counts, limits, growing)
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
            # The gradients of the next round would be the same.
            break


@kernel_part
def _start(n_trees: int, n_missing: int, n_bins: int, line: Float64s, layout: Layout, rounds: Rounds) -> None:
    """Initialize the raw predictions for the first round."""
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
    """Fill the rows ``begin`` to ``end - 1`` of ``raw`` (n_tested, n_trees) with the predictions for the test rows."""
    for place in range(begin, end):
        number = layout.test_bins[place - begin]
        for tree in range(n_trees):
            # Missing values have bin -1, so their prediction is the last element.
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
    train_parts: TrainParts,
    limits: BoostingLimits,
    work: tuple[Layout, Rounds, Growing],
    raw: Float64s,
) -> None:
    """Fill ``raw`` (n, n_tested, n_trees) with the predictions of column ``first`` and the columns after it."""
    layout, rounds, growing = work
    for column in range(first, first + raw.shape[0]):
        for split in range(train_parts.kinds.size):
            kind, n_trees, line = train_parts.kinds[split], train_parts.n_trees[split], lines[column, split]
            n_missing, n_bins = lay_out(column, split, order, block, train_parts, limits, layout)
            _start(n_trees, n_missing, n_bins, line, layout, rounds)
            if kind != Kind.ONE_CLASS:
                _boost(kind, n_trees, n_missing, n_bins, limits, layout, rounds, growing)
            begin, end = train_parts.ends[split], train_parts.ends[split + 1]
            _predict(begin, end, n_trees, line, layout, rounds.table, raw[column - first])


def boosted_column_losses(
    block: npt.ArrayLike,
    problem: BoostingProblem,
    lines: Float64s | None = None,
    *,
    is_small: bool = False,
) -> Outcome:
    """Losses of the boosted trees on each single column, before and after the column is permuted.

    Parameters
    ----------
    block : array of shape (n_rows, n_columns)
        The columns; NaN is a missing value.
    problem : BoostingProblem
        See `prepare_boosting`.
    lines : array of shape (n_columns, n_splits, n_trees, 3), or None
        The linear fit from which the first round starts: intercept, slope, and the value that replaces missing
        values. None starts from the baseline of the labels.
    is_small : bool
        Whether plain trees are grown in NumPy, which compiles nothing.
    """
    columns = np.require(block, dtype=np.float64, requirements=["C", "W"])
    n_rows, n_columns = columns.shape
    limits = problem.rules.limits
    if lines is None:
        lines = np.zeros((n_columns, problem.n_splits, problem.n_trees, 3))
        lines[..., 0] = problem.baseline
    if is_small:
        outcome = small_column_losses(columns, problem, lines)
        if outcome is not None:
            return outcome
    order = np.argsort(columns.T, axis=1, kind="stable")
    outcome = empty_outcome(n_columns, problem, len(problem.sources))

    work = _make_work(n_rows, problem)
    n_at_once = max(1, _STEPS_AT_ONCE // max(1, n_rows * problem.n_splits * limits.n_rounds))
    for first in range(0, n_columns, n_at_once):
        raw = np.empty((min(n_at_once, n_columns - first), problem.n_tested, problem.n_trees))
        _boost_columns(first, columns, order, lines, problem.train_parts, limits, work, raw)
        score(first, problem.is_by_row, limits.loss, raw, problem.sources, problem.test_parts, outcome)
    return outcome


def _make_work(n_rows: int, problem: BoostingProblem) -> tuple[Layout, Rounds, Growing]:
    """Allocate the memory that all columns share."""
    max_bins, n_trees = problem.rules.limits.max_bins, problem.n_trees
    n_test = max(rows.size for rows in problem.test)
    n_leaves = problem.rules.most_leaves(max(rows.size for rows in problem.train))
    rounds = Rounds(
        raw=np.empty((n_trees, n_rows)),
        powers=np.empty((n_trees, n_rows)),
        gradient=np.empty((n_trees, n_rows)),
        hessian=np.empty((n_trees, n_rows)),
        table=np.empty((n_trees, max_bins + 1)),
    )
    layout = make_layout(
        n_rows,
        n_test,
        max_bins,
        is_weighted=problem.train_parts.weights is not None,
        has_weighted_bins=problem.bin_weights is not None,
    )
    return layout, rounds, make_growing(n_rows, max_bins, n_leaves)
