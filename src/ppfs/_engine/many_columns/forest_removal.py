"""Which nodes of a tree stay the same when a column is removed.

A removed column mattered in a node if the node splits on it, or if it was tried there and the column that is tried
instead makes a better cut.
"""

from math import inf
from typing import NamedTuple

import numpy as np

from ppfs._engine.inputs.column_store import ColumnStore
from ppfs._engine.inputs.target import Target
from ppfs._engine.jit.kernels import Records, int64, kernel_function
from ppfs._engine.many_columns.forest_memory import NOTHING, ForestMemory, sort_rows, stamp_rows, sum_rows
from ppfs._engine.many_columns.forest_search import (
    Candidates,
    SearchWork,
    next_turn,
    previous_turn,
    try_in_node,
    turn_of,
    was_tried,
)
from ppfs._engine.trees.rules import Limits


class Removal(NamedTuple):
    """The column that was removed; for new trees there is none."""

    column: int  # the removed one, or `NOTHING` for new trees
    n_tried: int  # how many columns were tried in a node
    n_active: int  # of how many


@kernel_function
def _beats(
    column: int,
    old: Records,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    scratch: ForestMemory,
    work: SearchWork,
) -> bool:
    """Return whether a column makes a better cut in a node than the one it has."""
    start, stop = int64(old["start"]), int64(old["stop"])
    size = stop - start
    # Sums over a node run over its rows in ascending order, so that they do not depend on how the node was made.
    sort_rows(start, stop, scratch.rows, work.places, scratch.spare, int64(0))
    weight = sum_rows(int64(0), size, scratch.spare, target, work.weights, work.stats)
    stamp = stamp_rows(int64(0), size, scratch.spare, scratch, work)
    _, worth, _, _ = try_in_node(
        column,
        int64(0),
        size,
        stamp,
        weight,
        np.uint64(old["key"]),
        scratch.spare,
        candidates,
        store,
        target,
        limits,
        work,
    )
    return bool(worth > old["gain"])


@kernel_function
def is_unchanged(
    node: int,
    removal: Removal,
    candidates: Candidates,
    store: ColumnStore,
    target: Target,
    limits: Limits,
    scratch: ForestMemory,
    work: SearchWork,
) -> bool:
    """Return whether a node, copied from the old tree, is the one that would be grown without the removed column.

    The record of the columns tried is updated. Rare cases are not analyzed: such a node is grown again.
    """
    record = scratch.nodes[node]
    if record["n_tried"] == 0:
        return True
    if record["feature"] == removal.column:
        return False
    is_leaf = record["feature"] == NOTHING
    if removal.n_tried >= removal.n_active:
        return bool(not is_leaf or record["gain"] == -inf)
    if candidates.n_tried >= candidates.columns.size:
        return False
    fewer = removal.n_tried - candidates.n_tried
    key, last, last_turn = record["key"], int64(record["last_tried"]), record["last_order"]
    was_seen = was_tried(key, removal.column, last, last_turn, candidates)
    if not was_seen and fewer == 0:
        return True
    if is_leaf or record["n_tried"] > removal.n_tried or fewer > 1:
        return False
    if was_seen and fewer == 0:
        newcomer = next_turn(key, last, last_turn, candidates)
        if _beats(newcomer, record, candidates, store, target, limits, scratch, work):
            return False
        record["last_tried"] = newcomer
        record["last_order"] = turn_of(key, newcomer, candidates)
        return True
    # One column fewer is tried: the removed one, or else the last.
    record["n_tried"] -= 1
    if was_seen and last != removal.column:
        return True
    if record["feature"] == last:
        return False
    before = previous_turn(key, last, last_turn, candidates)
    record["last_tried"] = before
    record["last_order"] = turn_of(key, before, candidates)
    return True
