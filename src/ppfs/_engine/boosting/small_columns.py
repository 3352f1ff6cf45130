"""Boosted trees on the single columns of small tables, in NumPy: no kernel is compiled for them.

All columns of a split grow their trees together, level by level. Predictions and losses are those of
`ppfs._engine.boosting.column_models`, bit for bit: terms are added up in the same order, and exponentials and
logarithms are those of the C library. Only sums over all rows of a draw may differ in the last bit.
"""

from collections.abc import Callable
from math import exp, fsum, log
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.boosting.binned_columns import bin_columns
from ppfs._engine.boosting.gradient_cuts import TINY
from ppfs._engine.boosting.gradients import BOUND_OF_POWERS
from ppfs._engine.boosting.problem import BoostingProblem
from ppfs._engine.boosting.rules import BoostingLimits, Kind
from ppfs._engine.boosting.scores import Outcome, empty_outcome
from ppfs._engine.jit.kernels import Bools, Float64s, Int64s
from ppfs._engine.trees.rules import LossCode

_MOST_LEVELS = 3
_LOSSES = (LossCode.LOG, LossCode.BRIER, LossCode.ZERO_ONE, LossCode.SQUARED, LossCode.ABSOLUTE)

# Larger exponents overflow, and smaller shares than eps count as eps, as in scikit-learn's log-loss.
_LARGEST_EXPONENT = 709.0
_EPSILON = float(np.finfo(np.float64).eps)


def small_column_losses(columns: Float64s, problem: BoostingProblem, lines: Float64s) -> Outcome | None:
    """Return the losses of the boosted trees on each single column; None if that takes the kernels.

    Trees of a few levels are grown here, of numbers or two classes, without weights and missing values.

    Parameters
    ----------
    columns, problem, lines
        See `ppfs._engine.boosted_column_losses`; losses are asked for row by row.
    """
    limits, n_classes = problem.rules.limits, problem.test_parts.places.shape[1]
    if (
        limits.max_depth > _MOST_LEVELS
        or problem.rules.max_leaf_nodes is not None
        or limits.loss not in _LOSSES
        or n_classes > 2
        or not problem.is_by_row
        or problem.train_parts.weights is not None
        or not np.isin(problem.train_parts.kinds, (Kind.NUMBERS, Kind.TWO_CLASSES, Kind.ONE_CLASS)).all()
        or np.isnan(columns).any()
    ):
        return None
    raw = np.empty((columns.shape[1], problem.n_tested))
    bins = bin_columns(columns, problem)
    numbers = np.arange(columns.shape[1])[:, np.newaxis]
    for split, (train, test) in enumerate(zip(problem.train, problem.test, strict=True)):
        kind, of_split, line = int(problem.train_parts.kinds[split]), bins.splits[split], lines[:, split, 0]
        intercepts, slopes = line[:, :1], line[:, 1:2]
        rows = train[of_split.order]
        start = np.where(slopes != 0.0, intercepts + slopes * columns[rows, numbers], intercepts)
        own = _OneSplit(
            kind,
            problem.train_parts.labels[split][rows],
            np.take_along_axis(of_split.train, of_split.order, axis=1).astype(np.intp),
            int(of_split.n_edges.max()) + 1,
            limits,
        )
        added = (
            own.boosted(start, intercepts) if kind != Kind.ONE_CLASS else np.repeat(intercepts, own.n_bins, 1)
        )
        predicted = np.take_along_axis(added, of_split.test.astype(np.intp), axis=1)
        begin, end = problem.train_parts.ends[split : split + 2]
        raw[:, begin:end] = np.where(slopes != 0.0, predicted + slopes * columns[test].T, predicted)
    return _outcome(raw, problem)


class _Nodes(NamedTuple):
    """One node of the tree of each column: arrays of shape (n_columns,)."""

    is_there: Bools
    first: Int64s  # bins: first to stop - 1
    stop: Int64s
    gradient: Float64s
    hessian: Float64s
    value: Float64s


class _OneSplit:
    """The train rows of a split in the order of each column's values, and the trees that are grown on them.

    Parameters
    ----------
    labels : array of shape (n_columns, n_train)
    bins : array of shape (n_columns, n_train)
        Ascending.
    """

    def __init__(
        self, kind: int, labels: Float64s, bins: npt.NDArray[np.intp], n_bins: int, limits: BoostingLimits
    ) -> None:
        self.kind, self.labels, self.bins, self.n_bins, self.limits = kind, labels, bins, n_bins, limits
        n_columns = len(labels)
        self._columns, self._places = np.arange(n_columns), np.arange(n_bins)
        in_one = bins + n_bins * self._columns[:, np.newaxis]
        counts = np.bincount(in_one.ravel(), minlength=n_columns * n_bins).reshape(n_columns, n_bins)
        self._ends = np.hstack([np.zeros((n_columns, 1), dtype=np.intp), counts.cumsum(axis=1)])

    def boosted(self, raw: Float64s, table: Float64s) -> Float64s:
        """Return the raw prediction of each bin (n_columns, n_bins) after all rounds, less the line."""
        raw, table = raw.copy(), np.repeat(table, self.n_bins, axis=1)
        size, powers = np.full(len(raw), np.inf), np.ones_like(raw)
        for _ in range(self.limits.n_rounds):
            if self.kind == Kind.TWO_CLASSES:
                late = np.flatnonzero(size > BOUND_OF_POWERS)
                size[late] = np.abs(raw[late]).max(axis=1, initial=0.0)
                powers[late] = _exponentials(np.minimum(-raw[late], 2.0 * BOUND_OF_POWERS))
                gradient = ((1.0 - self.labels) - self.labels * powers) / (1.0 + powers)
                with np.errstate(over="ignore"):
                    hessian = powers / ((1.0 + powers) * (1.0 + powers))
            else:
                gradient, hessian = raw - self.labels, np.ones_like(raw)
            leaves = self._tree(self._summed(gradient), self._summed(hessian))
            largest = np.max([np.abs(step) for step, _ in leaves], axis=0)
            if not largest.any():
                # The gradients of the next round would be the same.
                break
            size += largest
            steps, factors = np.zeros_like(table), np.ones_like(table)
            for step, is_inside in leaves:
                np.copyto(steps, step[:, np.newaxis], where=is_inside)
                if self.kind == Kind.TWO_CLASSES:
                    np.copyto(factors, _exponentials(-step)[:, np.newaxis], where=is_inside)
            table += steps
            raw += np.take_along_axis(steps, self.bins, axis=1)
            if self.kind == Kind.TWO_CLASSES:
                with np.errstate(over="ignore", invalid="ignore"):
                    # After a step this large, powers are computed again.
                    powers *= np.take_along_axis(factors, self.bins, axis=1)
        return table

    def _summed(self, values: Float64s) -> Float64s:
        """Return running sums over rows up to the ends of bins: (n_columns, n_bins + 1)."""
        rounded = values.astype(np.float32).astype(np.float64)
        running = np.hstack([np.zeros((len(values), 1)), rounded.cumsum(axis=1)])
        return np.take_along_axis(running, self._ends, axis=1)

    def _tree(self, gradients: Float64s, hessians: Float64s) -> list[tuple[Float64s, Bools]]:
        """Grow a tree per column; return steps (n_columns,) of leaves and the bins (n_columns, n_bins) they are for."""
        n_columns = len(gradients)
        open_nodes = [
            _Nodes(
                np.ones(n_columns, dtype=np.bool_),
                np.zeros(n_columns, dtype=np.int64),
                np.full(n_columns, self.n_bins),
                gradients[:, -1],
                hessians[:, -1],
                np.zeros(n_columns),
            )
        ]
        leaves = []
        for depth in range(self.limits.max_depth + 1):
            children: list[_Nodes] = []
            for node in open_nodes:
                is_leaf = node.is_there
                if depth < self.limits.max_depth and node.is_there.any():
                    is_cut, pair = self._cut(node, gradients, hessians)
                    children += pair
                    is_leaf = node.is_there & ~is_cut
                step = np.where(is_leaf, node.value * self.limits.learning_rate, 0.0)
                stop = np.where(is_leaf, node.stop, 0)[:, np.newaxis]
                leaves.append((step, (self._places >= node.first[:, np.newaxis]) & (self._places < stop)))
            open_nodes = children
        return leaves

    def _cut(self, node: _Nodes, gradients: Float64s, hessians: Float64s) -> tuple[Bools, list[_Nodes]]:
        """Return whether each column cuts a node, and the children, the left one first."""
        limits, columns = self.limits, self._columns
        below, until = self._ends[columns, node.first], self._ends[columns, node.stop]
        left_gradients = gradients[:, 1:] - gradients[columns, node.first, np.newaxis]
        left_hessians = hessians[:, 1:] - hessians[columns, node.first, np.newaxis]
        right_gradients = node.gradient[:, np.newaxis] - left_gradients
        right_hessians = node.hessian[:, np.newaxis] - left_hessians
        lefts = left_gradients * _value(left_gradients, left_hessians, limits.l2)
        rights = right_gradients * _value(right_gradients, right_hessians, limits.l2)
        gains = (node.value * node.gradient)[:, np.newaxis] - lefts - rights
        n_below, n_until = below[:, np.newaxis], until[:, np.newaxis]
        may_be = (
            (self._places >= node.first[:, np.newaxis])
            & (self._ends[:, 1:] - n_below >= limits.min_leaf)
            & (n_until - self._ends[:, 1:] >= limits.min_leaf)
            & (left_hessians >= limits.min_hessian)
            & (right_hessians >= limits.min_hessian)
        )
        gains[~may_be] = -1.0
        cut = gains.argmax(axis=1)
        is_cut = node.is_there & (gains[columns, cut] > 0.0) & (node.hessian >= limits.min_hessian)
        gradient, hessian = left_gradients[columns, cut], left_hessians[columns, cut]
        parts = [(node.first, cut + 1, gradient, hessian)]
        parts.append((cut + 1, node.stop, node.gradient - gradient, node.hessian - hessian))
        return is_cut, [_Nodes(is_cut, *part, _value(*part[2:], limits.l2)) for part in parts]


def _value(gradients: Float64s, hessians: Float64s, l2: float) -> Float64s:
    """Return values of leaves before shrinkage."""
    return -gradients / (hessians + l2 + TINY)


def _each(function: Callable[[float], float], values: Float64s) -> Float64s:
    """Apply a function of the C library; NumPy's own ones may differ in the last bit."""
    flat: Any = map(function, values.ravel().tolist())
    return np.fromiter(flat, np.float64, values.size).reshape(values.shape)


def _exponentials(values: Float64s) -> Float64s:
    return _each(exp, np.minimum(values, _LARGEST_EXPONENT))


def _outcome(raw: Float64s, problem: BoostingProblem) -> Outcome:
    """Return the losses of the test rows from their raw predictions."""
    parts, loss = problem.test_parts, problem.rules.limits.loss
    weights = parts.weights[parts.tested]
    if parts.truth.classes.size:
        of_classes, truth = _class_losses(raw, problem), parts.truth.classes[parts.tested]

        def lost(sources: Int64s) -> Float64s:
            return np.asarray(weights * of_classes[np.arange(len(raw))[:, np.newaxis], truth, sources])

    else:
        values = parts.truth.values[parts.tested]

        def lost(sources: Int64s) -> Float64s:
            errors = values - raw[:, sources]
            return np.asarray(weights * (errors * errors if loss == LossCode.SQUARED else np.abs(errors)))

    outcome = empty_outcome(len(raw), problem, len(problem.sources))
    outcome.base[:] = lost(np.arange(problem.n_tested))
    rise = np.zeros_like(raw)
    for draw, sources in enumerate(problem.sources):
        suffered = lost(sources)
        rise += suffered - outcome.base
        outcome.by_draw[:, draw] = [fsum(one) / problem.n_tested for one in suffered.tolist()]
    outcome.replaced[:] = outcome.base + rise / len(problem.sources)
    return outcome


def _class_losses(raw: Float64s, problem: BoostingProblem) -> Float64s:
    """Return the loss of each prediction for a row of each class: (n_columns, n_classes, n_tested)."""
    parts, loss = problem.test_parts, problem.rules.limits.loss
    second = 1.0 / (1.0 + _exponentials(-raw))
    answer = np.empty((len(raw), parts.places.shape[1], problem.n_tested))
    for split, kind in enumerate(parts.kinds):
        rows = slice(*parts.ends[split : split + 2])
        shares = [1.0 - second[:, rows], second[:, rows]]
        likeliest = np.where(raw[:, rows] > 0.0, 1, 0)
        if kind == Kind.ONE_CLASS:
            shares, likeliest = [np.ones_like(shares[0])], np.zeros_like(likeliest)
        squares = shares[0] * shares[0]
        for share in shares[1:]:
            squares = squares + share * share
        for label, place in enumerate(parts.places[split]):
            share = shares[place] if place >= 0 else np.zeros_like(shares[0])
            if loss == LossCode.LOG:
                own = -_each(log, np.clip(share, _EPSILON, 1.0 - _EPSILON))
            elif loss == LossCode.BRIER:
                own = squares - share * share + (share - 1.0) * (share - 1.0)
            else:
                own = np.where(likeliest == place, 0.0, 1.0)
            answer[:, label, rows] = own
    return answer
