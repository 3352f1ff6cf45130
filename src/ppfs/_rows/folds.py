"""Folds: every row is in exactly one fold, and a group is never split."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, KFold, StratifiedGroupKFold, StratifiedKFold

from ppfs._data import Table, TimeOrder
from ppfs.exceptions import InvalidInputError

Rows = NDArray[np.intp]


def every_class_has(labels: NDArray[Any], n_rows: int) -> bool:
    """Return whether every class has at least `n_rows` rows: one per fold, or one per part of a split."""
    return bool(np.unique(labels, return_counts=True)[1].min() >= n_rows)


def folds_of(table: Table, n_folds: int, seed: int, *, called: str | None = None) -> list[tuple[Rows, Rows]]:
    """Return the rows of a table outside and inside each fold, which has the proportions of the classes if it can."""
    is_labelled = table.task == "classification" and table.y.ndim == 1
    labels = table.y if is_labelled and every_class_has(table.y, n_folds) else None
    return divide_into_folds(
        table.n_rows, labels, table.groups, n_folds, seed, called=called, time=table.time
    )


def divide_into_folds(
    n_rows: int,
    labels: NDArray[Any] | None,
    groups: Rows | None,
    n_folds: int,
    seed: int,
    *,
    called: str | None = None,
    time: TimeOrder | None = None,
) -> list[tuple[Rows, Rows]]:
    """Return the rows outside and inside each fold.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,) or None
        Classes whose proportions are kept as far as the groups allow, or None.

    groups : ndarray of shape (n_rows,) or None
        Rows of one group are in the same fold.

    called : str, default=None
        The parameter in the caller's words, such as "cv=3"; None means `n_folds` of a search.

    time : TimeOrder, default=None
        Groups are then blocks of neighboring rows, and each fold is a run of neighboring blocks.
    """
    rows = np.empty((n_rows, 0))
    if groups is None:
        divide = KFold if labels is None else StratifiedKFold
        return list(divide(n_folds, shuffle=True, random_state=seed).split(rows, labels))
    n_groups = np.unique(groups).size
    if n_groups < n_folds:
        raise InvalidInputError(
            f"{called or f'n_folds={n_folds}'} needs at least {n_folds} groups, one in each fold, but there are "
            f"{n_groups}. Use fewer folds, or finer groups."
        )
    if time is not None:
        return _runs_of_blocks(groups, n_folds, time)
    if labels is not None:
        kept_in_proportion = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed)
        parts = list(kept_in_proportion.split(rows, labels, groups))
        # It balances proportions only, and may leave a fold without any group.
        if all(test.size for _, test in parts):
            return parts
    return list(GroupKFold(n_folds, shuffle=True, random_state=seed).split(rows, None, groups))


def _runs_of_blocks(blocks: Rows, n_folds: int, time: TimeOrder) -> list[tuple[Rows, Rows]]:
    """Return folds of neighboring blocks: a test part then has training rows on two sides only."""
    parts = []
    for number, run in enumerate(np.array_split(np.unique(blocks), n_folds)):
        is_inside = np.isin(blocks, run)
        train = time.apart(np.flatnonzero(~is_inside), np.flatnonzero(is_inside))
        if not train.size:
            raise InvalidInputError(
                f"RowsInTime(gap={time.gap}) leaves no rows to train on for fold {number}. Use a smaller gap."
            )
        parts.append((train, np.flatnonzero(is_inside)))
    return parts
