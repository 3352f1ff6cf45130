"""The B trees of the shrink phase, and how they change when a column is removed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.sorted_columns import SortedColumns, ValueTable
from ppfs._engine.inputs.splits import Splits
from ppfs._engine.inputs.target import make_target, total_statistics, total_weight
from ppfs._engine.jit.kernels import Bools, Float32s, Float64s, Int32s
from ppfs._engine.jit.threads import run_chains, run_tasks
from ppfs._engine.many_columns.cart import grow_nodes
from ppfs._engine.many_columns.scored_tree import (
    NOTHING,
    GrownTree,
    TreesData,
    base_losses,
    first_risks,
    joint_risk,
    permuted_risks,
    replaced_losses,
    replaced_predictions,
)
from ppfs._engine.trees.losses import make_scoring, total_weights
from ppfs._engine.trees.nodes import UNGROWN, Nodes, ungrown_root
from ppfs._engine.trees.rules import TreeRules

# With fewer stored entries in all trees that are grown, starting threads takes longer than growing the trees.
_ENTRIES_FOR_THREADS = 1_000_000

# Enough removals to keep every thread busy, even if each column is used by only one or two trees.
_MOST_AHEAD = 256

# The trees of a plan are grown in parts: this many, of at least this number of removals.
_PARTS_OF_A_PLAN, _LEAST_AT_ONCE = 4, 8


@dataclass(frozen=True, eq=False)
class TreePerSplit:
    """One tree per split, all on the same columns, with the risks of permuted columns.

    It is immutable. `without` returns a new one, which shares every tree that does not split on the removed column.
    Columns keep their numbers.

    Attributes
    ----------
    active : array of shape (n_columns,), bool
        Columns the trees may split on.
    used : array of shape (n_splits, n_columns), bool
        Whether the tree of a split does split on a column.
    base_risk : array of shape (n_splits,), float64
        Mean test loss of each tree, weighted by class if there are class weights.
    n_fits : int
        Trees grown so far, including those from which this object was derived.
    """

    active: Bools
    used: Bools
    base_risk: Float64s
    n_fits: int
    _trees: tuple[GrownTree, ...]
    _data: TreesData

    def are_idle(self, columns: Sequence[int] | slice) -> Bools:
        """Return whether each of some columns can be removed without a change: whether no tree uses it."""
        return self._idle[columns]

    @cached_property
    def _idle(self) -> Bools:
        return np.logical_not(self.used.any(axis=0))

    def permuted_risk(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float64s:
        """Mean test loss of every tree when one column is permuted in the test part.

        Parameters
        ----------
        columns : sequence of int
            Permuted one at a time.

        Returns
        -------
        array of shape (len(columns), n_splits), float64
            Exactly the base risk where the tree does not use the column.
        """
        asked = np.asarray(columns, dtype=np.intp).tolist()
        answer = np.empty((len(asked), self.base_risk.size))
        answer[:] = self.base_risk
        is_used = self.used[:, asked]
        splits, places = is_used.nonzero()
        found = []
        for split, place in zip(splits.tolist(), places.tolist(), strict=True):
            grown = self._trees[split]
            if asked[place] not in grown.risks:
                wanted = [asked[other] for other in is_used[split].nonzero()[0]]
                permuted_risks(self._data, split, grown, wanted)
            found.append(grown.risks[asked[place]])
        answer[places, splits] = found
        return answer

    def jointly_permuted_risk(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float64s:
        """Mean test loss of every tree when several columns are permuted together in the test part.

        A feature may be encoded as several columns. All of them take their values from the same row, so that only
        combinations occur that the feature can have.

        Parameters
        ----------
        columns : sequence of int
            Permuted by the same permutation.

        Returns
        -------
        array of shape (n_splits,), float64
            Exactly the base risk where the tree uses none of the columns; exactly `permuted_risk` where it uses
            one.
        """
        answer = self.base_risk.copy()
        for split, used in self._users(columns):
            answer[split] = joint_risk(self._data, split, self._trees[split], used)
        return answer

    def row_losses(self) -> list[Float64s]:
        """Loss of each test row, times its class weight if there are weights.

        Returns
        -------
        list of n_splits read-only arrays of shape (n_test,), float64
            In the order of ``splits.test[split]``.
        """
        return [base_losses(self._data, split, grown) for split, grown in enumerate(self._trees)]

    def replaced_row_losses(self, columns: Sequence[int], values: Sequence[Float32s]) -> list[Float64s]:
        """Loss of each test row when columns are replaced in the test part, for several draws.

        Parameters
        ----------
        columns : sequence of int
            The columns of one feature, all replaced at once.
        values : sequence of n_splits arrays of shape (len(columns), n_draws, n_test), float32
            Values of the columns in the rows ``splits.test[split]``, for each draw.

        Returns
        -------
        list of n_splits arrays of shape (n_draws, n_test), float64
            A read-only view of the base losses where the tree uses none of the columns.
        """
        asked = np.asarray(columns, dtype=np.intp)
        answer = []
        for split, (grown, drawn) in enumerate(zip(self._trees, values, strict=True)):
            check_values(split, drawn, asked.size, self._data.splits.test[split].size)
            places = np.flatnonzero(self.used[split, asked])
            if places.size:
                answer.append(replaced_losses(self._data, split, grown, asked[places], drawn[places]))
            else:
                answer.append(np.broadcast_to(base_losses(self._data, split, grown), np.shape(drawn)[1:]))
        return answer

    def replaced_predictions(self, columns: Sequence[int], values: Sequence[Float32s]) -> list[Float64s]:
        """Predictions of the test rows when columns are replaced, (n_draws, n_test, n_outputs) per split.

        The outputs are the probabilities of the classes, or one number. See `replaced_row_losses`.
        """
        asked = np.asarray(columns, dtype=np.intp)
        return [
            replaced_predictions(self._data, split, grown, asked, drawn)
            for split, (grown, drawn) in enumerate(zip(self._trees, values, strict=True))
        ]

    def _users(
        self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]
    ) -> Iterator[tuple[int, tuple[int, ...]]]:
        """Yield the splits whose trees use any of the columns, and the columns they use, ascending."""
        asked = np.unique(np.asarray(columns, dtype=np.intp))
        used = self.used[:, asked]
        for split in np.flatnonzero(used.any(axis=1)).tolist():
            yield split, tuple(asked[used[split]].tolist())

    def without(self, column: int) -> tuple["TreePerSplit", int]:
        """Remove a column.

        Returns
        -------
        forest : TreePerSplit
            Bit for bit the forest grown on the other active columns.
        n_refits : int
            Trees that had to be grown again: those that split on the column.
        """
        return next(self.without_each([column]))

    @property
    def most_ahead(self) -> int:
        """How many removals may be planned at once: single trees take little memory."""
        return _MOST_AHEAD

    def without_each(self, columns: Sequence[int]) -> Iterator[tuple["TreePerSplit", int]]:
        """Remove columns one after the other, and yield the result of `without` after each.

        A tree depends on the removed columns, but not on the trees of other splits. So every split grows its sequence
        of trees by itself, and the next trees while the caller reads the first results.
        """
        used = self.used[:, columns]
        n_threads = self._data.n_threads
        if n_threads > 1:
            n_entries = int(self._data.columns.n_stored[self.active].sum())
            n_threads = n_threads if int(used.sum()) * n_entries > _ENTRIES_FOR_THREADS else 1
        stale = np.flatnonzero(used.any(axis=1)).tolist()
        starts = [_Chain(split, self._trees[split], self.active.copy()) for split in stale]
        at_once = max(_LEAST_AT_ONCE, len(columns) // _PARTS_OF_A_PLAN) if n_threads > 1 else 1
        every = range(len(columns))
        parts = [every[first : first + at_once] for first in every[::at_once]]
        forest = self

        def grow(chain: _Chain, some: range) -> "tuple[_Chain, list[_Regrown]]":
            return self._regrown(chain, columns, some)

        for some, found in zip(parts, run_chains(grow, starts, parts, n_threads), strict=True):
            changed: dict[int, dict[int, GrownTree]] = {place: {} for place in some}
            for steps in found:
                for step in steps:
                    changed[step.place][step.split] = step.grown
            for place in some:
                forest = forest._changed(columns[place], changed[place])
                yield forest, len(changed[place])

    def _regrown(
        self, chain: "_Chain", columns: Sequence[int], places: range
    ) -> "tuple[_Chain, list[_Regrown]]":
        """Return the trees of a split that are grown when some columns are removed one after the other."""
        split, grown, active = chain
        used = set(grown.used.tolist())
        steps = []
        for place in places:
            column = columns[place]
            active[column] = False
            if column not in used:
                continue
            candidates = active.nonzero()[0].astype(np.int32)
            grown = _grow_tree(self._data, candidates, grown.tree, grown.rows, column)
            used = set(grown.used.tolist())
            self._data.table.add(grown.used)
            first_risks(self._data, split, grown, columns[place + 1 :])
            steps.append(_Regrown(split, place, grown))
        return _Chain(split, grown, active), steps

    def _changed(self, removed: int, trees: dict[int, GrownTree]) -> "TreePerSplit":
        """Return the forest without a column, with the trees that were grown again by split."""
        active = self.active.copy()
        active[removed] = False
        if not trees:
            return TreePerSplit(active, self.used, self.base_risk, self.n_fits, self._trees, self._data)
        all_trees, used, base_risk = list(self._trees), self.used.copy(), self.base_risk.copy()
        for split, grown in trees.items():
            all_trees[split] = grown
            used[split] = False
            used[split, grown.used] = True
            base_risk[split] = grown.risks[NOTHING]
        return TreePerSplit(active, used, base_risk, self.n_fits + len(trees), tuple(all_trees), self._data)


class _Chain(NamedTuple):
    """The tree of a split after some removals, and the columns left."""

    split: int
    grown: GrownTree
    active: Bools


class _Regrown(NamedTuple):
    """The tree of a split that is grown when the column at ``place`` of a sequence is removed."""

    split: int
    place: int
    grown: GrownTree


def grow_tree_per_split(
    columns: SortedColumns,
    y: npt.ArrayLike,
    n_classes: int,
    splits: Splits,
    rules: TreeRules,
    n_threads: int = 1,
    class_weights: npt.ArrayLike | None = None,
    fit_weights: npt.ArrayLike | None = None,
    loss_weights: npt.ArrayLike | None = None,
) -> TreePerSplit:
    """Grow one tree on each split's train part, from all columns.

    Of cuts with equal gains the first column wins, then the lowest threshold. scikit-learn breaks such ties at random;
    otherwise the trees are the same.

    Parameters
    ----------
    y : array of shape (n_rows,)
        Class codes from 0, or numbers.
    n_classes : int
        Number of classes of the whole table; 0 for regression.
    n_threads : int
        Trees are grown in parallel; the result does not depend on it.
    class_weights : array of shape (n_classes,) or None
        Weights of the test rows by their class; trees are grown without them. None for numbers.
    fit_weights : array of shape (n_rows,) or None
        Positive weights of the train rows. Weights and missing values need columns that store every row.
    loss_weights : array of shape (n_rows,) or None
        Weights of the test rows.
    """
    if fit_weights is None and columns.has_missing:
        fit_weights = np.ones(columns.n_rows)
    target = make_target(y, n_classes, fit_weights)
    scoring = make_scoring(rules, n_classes, class_weights, loss_weights)
    weights = total_weights(target, scoring, splits.test)
    limits = {n_train: rules.limits(n_train) for n_train in {rows.size for rows in splits.train}}
    table = ValueTable(columns)
    data = TreesData(columns, target, splits, scoring, limits, weights, n_threads, table)
    candidates = np.arange(columns.n_columns, dtype=np.int32)

    def grow_new(split: int) -> GrownTree:
        rows = np.sort(splits.train[split])
        stats = total_statistics(target, n_classes, rows)
        root = ungrown_root(stats, rows.size, total_weight(target, stats, rows))
        return _grow_tree(data, candidates, root, rows.astype(np.int32), UNGROWN)

    every_split = range(splits.n_splits)
    is_worth_threads = splits.n_splits * int(columns.n_stored.sum()) > _ENTRIES_FOR_THREADS
    trees = run_tasks(grow_new, every_split, n_threads if is_worth_threads else 1)
    used = np.empty((splits.n_splits, columns.n_columns), dtype=np.bool_)
    base_risk = np.empty(splits.n_splits)
    _note_trees(data, every_split, trees, used, base_risk)
    active = np.ones(columns.n_columns, dtype=np.bool_)
    return TreePerSplit(active, used, base_risk, splits.n_splits, tuple(trees), data)


def _grow_tree(data: TreesData, candidates: Int32s, old: Nodes, old_rows: Int32s, removed: int) -> GrownTree:
    limits = data.limits[old_rows.size]
    return GrownTree(*grow_nodes(data.columns, candidates, data.target, limits, removed, old, old_rows))


def _note_trees(
    data: TreesData, splits: Sequence[int], trees: Sequence[GrownTree], used: Bools, base_risk: Float64s
) -> None:
    """Record new trees in the arrays of a forest: ``used`` (n_splits, n_columns), ``base_risk`` (n_splits,)."""
    for split, grown in zip(splits, trees, strict=True):
        used[split] = False
        used[split, grown.used] = True
    data.table.add(np.flatnonzero(used[splits].any(axis=0)))
    for split, grown in zip(splits, trees, strict=True):
        first_risks(data, split, grown)
        base_risk[split] = grown.risks[NOTHING]


def check_values(split: int, values: Float32s, n_columns: int, n_test: int) -> None:
    """Raise unless replacements have the shape (n_columns, n_draws, n_test)."""
    shape = np.shape(values)
    if len(shape) != 3 or shape[0] != n_columns or shape[2] != n_test:
        raise ValueError(
            f"values[{split}] has the shape {shape}, but {n_columns} columns are replaced in {n_test} test rows. "
            f"Pass an array of shape ({n_columns}, n_draws, {n_test})."
        )
