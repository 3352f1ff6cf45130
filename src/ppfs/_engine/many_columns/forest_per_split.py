"""The forests of the shrink phase, one per split, and how they change when a column is removed."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ppfs._engine.inputs.column_store import make_store
from ppfs._engine.inputs.random_keys import column_keys
from ppfs._engine.inputs.sorted_columns import SortedColumns
from ppfs._engine.jit.kernels import Bools, Float32s, Float64s
from ppfs._engine.jit.threads import run_tasks
from ppfs._engine.many_columns.forest_memory import NOTHING
from ppfs._engine.many_columns.forest_nodes import make_units
from ppfs._engine.many_columns.forest_removal import Removal
from ppfs._engine.many_columns.routing import weighted_mean
from ppfs._engine.many_columns.scored_forest import (
    ForestRules,
    ForestsData,
    GrownTrees,
    Part,
    ScoredForest,
    grown_trees,
    in_parts,
    permuted_risk_of,
    replaced_losses,
    replaced_sums,
    scored_forest,
)
from ppfs._engine.many_columns.tree_per_split import check_values
from ppfs._engine.one_column.forest_risks import PreparedForest

# Test rows times trees over some splits; below this, giving out tasks takes longer than replacing a column.
_ROWS_FOR_THREADS = 20_000


@dataclass(frozen=True, eq=False)
class ForestPerSplit:
    """One forest per split, all on the same columns, with the risks of permuted columns.

    It is immutable and has the methods of `TreePerSplit`. `without` returns a new one, with copies of the trees in
    which the removed column did not matter.

    Attributes
    ----------
    active : array of shape (n_columns,), bool
        Columns the trees may split on.
    used : array of shape (n_splits, n_columns), bool
        Whether a tree of a split does split on a column.
    base_risk : array of shape (n_splits,), float64
        Mean test loss of each forest, weighted by class if there are class weights.
    n_fits : int
        Forests grown so far, including those from which this one was derived.
    """

    active: Bools
    used: Bools
    base_risk: Float64s
    n_fits: int
    _forests: tuple[ScoredForest, ...]
    _data: ForestsData

    def are_idle(self, columns: Sequence[int] | slice) -> Bools:
        """Return whether each of some columns can be removed without a change: no tree uses it, if all are tried."""
        n_active = int(self.active.sum())
        tries_all = self._data.rules.n_tried(n_active) >= n_active
        return tries_all & np.logical_not(self.used[:, columns].any(axis=0))

    def permuted_risk(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float64s:
        """Mean test loss of every forest when one column is permuted, (len(columns), n_splits); see `TreePerSplit`."""
        return np.stack([self.jointly_permuted_risk([int(column)]) for column in columns])

    def jointly_permuted_risk(self, columns: Sequence[int] | npt.NDArray[np.integer[Any]]) -> Float64s:
        """Mean test loss of every forest when columns are permuted together, (n_splits,); see `TreePerSplit`."""
        asked = np.unique(np.asarray(columns, dtype=np.intp))
        used = self.used[:, asked]
        keys = {
            split: tuple(asked[used[split]].tolist()) for split in np.flatnonzero(used.any(axis=1)).tolist()
        }

        def risk(split: int) -> float:
            return permuted_risk_of(self._data, split, self._forests[split], keys[split])

        # Threads are for risks that are not known from the plan of removals.
        new = [split for split, key in keys.items() if key not in self._forests[split].risks]
        self._over_splits(risk, new)
        answer = self.base_risk.copy()
        answer[list(keys)] = [risk(split) for split in keys]
        return answer

    def row_losses(self) -> list[Float64s]:
        """Loss of each test row, times its class weight if there are weights; see `TreePerSplit`."""
        return [forest.losses for forest in self._forests]

    def replaced_row_losses(self, columns: Sequence[int], values: Sequence[Float32s]) -> list[Float64s]:
        """Loss of each test row when columns are replaced, (n_draws, n_test) per split; see `TreePerSplit`."""
        asked = np.asarray(columns, dtype=np.intp)

        def losses(split: int) -> Float64s:
            drawn = values[split]
            check_values(split, drawn, asked.size, self._data.tests(split).size)
            places = np.flatnonzero(self.used[split, asked])
            if places.size == 0:
                return np.broadcast_to(self._forests[split].losses, np.shape(drawn)[1:])
            return replaced_losses(self._data, split, self._forests[split], asked[places], drawn[places])

        return self._over_splits(losses, range(self._data.n_splits))

    def replaced_predictions(self, columns: Sequence[int], values: Sequence[Float32s]) -> list[Float64s]:
        """Predictions when columns are replaced, (n_draws, n_test, n_outputs) per split; see `TreePerSplit`."""
        asked, units = np.asarray(columns, dtype=np.intp), self._data.units

        def predictions(split: int) -> Float64s:
            sums = replaced_sums(self._data, split, self._forests[split], asked, values[split])
            return sums / (units.per_one * units.n_trees)

        return self._over_splits(predictions, range(self._data.n_splits))

    def without(self, column: int) -> tuple["ForestPerSplit", int]:
        """Remove a column.

        Returns
        -------
        forest : ForestPerSplit
            Bit for bit the forest grown on the other active columns.
        n_refits : int
            Forests in which a tree was grown again.
        """
        data, active, n_active = self._data, self.active.copy(), int(self.active.sum())
        active[column] = False
        if self.are_idle([column])[0]:
            return replace(self, active=active), 0
        removal = Removal(column, data.rules.n_tried(n_active), n_active)

        def regrown(part: Part) -> tuple[GrownTrees, bool]:
            return grown_trees(data, part, active, removal, self._forests[part.split].parts[part.number])

        def scored(parts: Sequence[tuple[GrownTrees, bool]], split: int) -> tuple[ScoredForest, bool]:
            trees, is_changed = tuple(one for one, _ in parts), any(is_changed for _, is_changed in parts)
            if is_changed:
                return scored_forest(data, trees, split), True
            return replace(self._forests[split], parts=trees), False

        found = in_parts(data, regrown, scored)
        n_refits = sum(is_changed for _, is_changed in found)
        return _noted(data, active, [forest for forest, _ in found], self.n_fits + n_refits), n_refits

    @property
    def most_ahead(self) -> int:
        """How many removals may be planned at once: each has enough trees to grow for all threads."""
        return 1

    def without_each(self, columns: Sequence[int]) -> Iterator[tuple["ForestPerSplit", int]]:
        """Remove columns one after the other, and yield the result of `without` after each."""
        forest = self
        for column in columns:
            forest, n_refits = forest.without(column)
            yield forest, n_refits

    def _over_splits(self, function: Callable[[int], Any], splits: Sequence[int]) -> list[Any]:
        n_asked = sum(part.trees.leaf_of.size for split in splits for part in self._forests[split].parts)
        n_threads = self._data.n_threads if n_asked > _ROWS_FOR_THREADS else 1
        return run_tasks(function, splits, n_threads)


def grow_forest_per_split(
    columns: SortedColumns, prepared: PreparedForest, rules: ForestRules, n_threads: int = 1
) -> ForestPerSplit:
    """Grow one forest on each split's train part, from all columns.

    Parameters
    ----------
    prepared : PreparedForest
        Contains the target, the splits, the samples of the trees, and the limits of their growth.
    n_threads : int
        Splits are processed in parallel; the result does not depend on it.
    """
    units = make_units(prepared.shared.target.values, prepared.bags.n_trees)
    data = ForestsData(columns, prepared, rules, make_store(columns), column_keys(columns), units, n_threads)
    active = np.ones(columns.n_columns, dtype=np.bool_)

    def grow_new(part: Part) -> GrownTrees:
        return grown_trees(data, part, active, Removal(NOTHING, 0, 0), None)[0]

    def scored(parts: Sequence[GrownTrees], split: int) -> ScoredForest:
        return scored_forest(data, tuple(parts), split)

    return _noted(data, active, in_parts(data, grow_new, scored), data.n_splits)


def _noted(data: ForestsData, active: Bools, forests: Sequence[ScoredForest], n_fits: int) -> ForestPerSplit:
    """Combine the forests of all splits."""
    used = np.empty((data.n_splits, data.columns.n_columns), dtype=np.bool_)
    base_risk = np.empty(data.n_splits)
    for split, scored in enumerate(forests):
        used[split] = scored.used
        weight = data.prepared.shared.total_weights[split]
        base_risk[split] = weighted_mean(scored.losses, weight, np.empty(2))
    return ForestPerSplit(active, used, base_risk, n_fits, tuple(forests), data)
