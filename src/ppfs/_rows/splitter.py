"""The caller's splits: a splitter of scikit-learn, or a list of train and test rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit

from ppfs._conventions import integer_seed, stream
from ppfs._data import Table
from ppfs._rows.splits import Split, with_draws
from ppfs.exceptions import InvalidInputError

Rows = NDArray[np.intp]


def splits_of(
    splitter: Any, table: Table, y: NDArray[Any], *, entropy: int, fold: int, n_draws: int
) -> list[Split]:
    """Divide the rows with the caller's splitter.

    A splitter divides the rows of the table. A list of rows, or PredefinedSplit, refers to all rows that the caller
    passed; rows of weight 0 are left out.

    Parameters
    ----------
    splitter : splitter, or iterable of (train, test) pairs of row numbers
        A splitter whose `random_state` is None gets a seed. It is copied, never changed.

    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The target that the splitter may stratify by.

    fold : int
        0 for the whole table; else the table is the training part of this fold.
    """
    refuse_single_use(splitter)
    name = type(splitter).__name__
    is_listed = isinstance(splitter, PredefinedSplit) or not hasattr(splitter, "split")
    if is_listed:
        _require_whole_table(name, fold)
        pairs = _listed_pairs(splitter)
    else:
        pairs = _asked(splitter, table, y, integer_seed(stream(entropy, fold)))
    for number, (train, test) in enumerate(pairs):
        rows = np.concatenate([train, test])
        _require_known_rows(name, number, rows, table.n_callers_rows if is_listed else table.n_rows)
    if is_listed:
        # After the check, because a row that does not exist is not a row of weight 0.
        pairs = [_kept(table, *pair) for pair in pairs]
    if table.time is not None:
        pairs = [(table.time.apart(train, test), test) for train, test in pairs]
    if not pairs:
        raise InvalidInputError(f"splitter={splitter!r} makes no splits. At least one is needed.")
    for number, (train, test) in enumerate(pairs):
        _check(name, number, train, test, table)
    return [
        with_draws(train, test, stream(entropy, fold, number), n_draws)
        for number, (train, test) in enumerate(pairs)
    ]


def refuse_single_use(splitter: Any) -> None:
    """Raise for generators, which can be read once only, and for classes in place of instances."""
    if isinstance(splitter, Iterator):
        raise InvalidInputError(
            f"splitter={splitter!r} can be read only once, but a search may read it again. Pass list(...) of it."
        )
    if isinstance(splitter, type):
        raise InvalidInputError(
            f"splitter={splitter.__name__} is a class; an instance is needed: {splitter.__name__}(...)."
        )


def require_disjoint_tests(splits: list[Split], user: str) -> None:
    """Raise if a row is in more than one test part."""
    tested = np.concatenate([split.test for split in splits])
    rows, counts = np.unique(tested, return_counts=True)
    if counts.max() > 1:
        raise InvalidInputError(
            f"{user} tests every row once, but splitter= puts {(counts > 1).sum()} rows, row {rows[counts > 1][0]} "
            "among them, into more than one test part. Use a splitter whose test parts are disjoint, such as "
            "KFold, GroupKFold or TimeSeriesSplit, or use PPI."
        )


def _asked(splitter: Any, table: Table, y: NDArray[Any], seed: int) -> list[tuple[Rows, Rows]]:
    own = deepcopy(splitter)
    if getattr(own, "random_state", seed) is None:
        own.random_state = seed
    try:
        with warnings.catch_warnings():
            # Whether it separates groups is checked afterwards.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            return [
                (np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp))
                for train, test in own.split(np.zeros((table.n_rows, 1)), y, table.groups)
            ]
    except (ValueError, TypeError) as error:
        way_out = " Pass groups= to fit." if table.groups is None and "groups" in str(error) else ""
        raise InvalidInputError(
            f"splitter={splitter!r} cannot divide {table.n_rows} rows: {error}{way_out}"
        ) from error


def _listed_pairs(splitter: Any) -> list[tuple[Rows, Rows]]:
    if isinstance(splitter, PredefinedSplit):
        return list(splitter.split())
    for number, pair in enumerate(splitter):
        n_parts = len(pair) if isinstance(pair, tuple | list) else 1
        if n_parts != 2:
            raise InvalidInputError(
                f"A list as splitter must hold pairs (train, test) of row numbers, but item {number} has {n_parts} "
                "part(s). Write [(train, test), ...]."
            )
    return [
        (_row_numbers(number, train), _row_numbers(number, test))
        for number, (train, test) in enumerate(splitter)
    ]


def _row_numbers(number: int, rows: Any) -> Rows:
    """Return the rows of one part, or raise if they are not row numbers."""
    part = np.asarray(rows)
    if part.size and (part.dtype.kind not in "iu" or part.ndim != 1):
        what = "a mask" if part.dtype.kind == "b" else f"an array of {part.dtype} of shape {part.shape}"
        raise InvalidInputError(
            f"Split {number} of splitter=list must hold numbers of rows, one after the other, but is {what}. "
            "np.flatnonzero(mask) turns a mask into row numbers."
        )
    return part.astype(np.intp)


def _kept(table: Table, train: Rows, test: Rows) -> tuple[Rows, Rows]:
    """Convert the caller's row numbers to the table's, without the rows that are not in the table."""
    if table.kept_rows is None:
        return train, test
    numbers = {row: number for number, row in enumerate(table.kept_rows.tolist())}
    train, test = (
        np.array([numbers[row] for row in rows.tolist() if row in numbers], dtype=np.intp)
        for rows in (train, test)
    )
    return train, test


def _require_whole_table(name: str, fold: int) -> None:
    if fold:
        raise InvalidInputError(
            f"splitter={name} names rows of the whole table, but with n_folds the search runs in parts of it. Use "
            "n_folds=0, or a splitter that divides any rows, such as TimeSeriesSplit."
        )


def _require_known_rows(name: str, number: int, rows: Rows, n_rows: int) -> None:
    unknown = rows[(rows < 0) | (rows >= n_rows)]
    if unknown.size:
        raise InvalidInputError(
            f"Split {number} of splitter={name} names row {unknown[0]}, but rows are numbered 0 to {n_rows - 1}."
        )


def _check(name: str, number: int, train: Rows, test: Rows, table: Table) -> None:
    if min(train.size, test.size) < 2:
        raise InvalidInputError(
            f"Split {number} of splitter={name} has a train part of {train.size} and a test part of {test.size} "
            "rows; each needs at least 2, or permuting a column changes nothing. Use fewer splits, or more rows."
        )
    shared = np.intersect1d(train, test)
    if shared.size:
        raise InvalidInputError(
            f"Split {number} of splitter={name} has row {shared[0]} in both parts. A model must not be tested on "
            "rows that it was fitted on: leave the row out of one part."
        )
    if (
        table.groups is not None
        and table.time is None
        and np.intersect1d(table.groups[train], table.groups[test]).size
    ):
        raise InvalidInputError(
            f"Split {number} of splitter={name} has rows of one group in both parts. Use a splitter that keeps groups "
            "together, such as GroupKFold or LeaveOneGroupOut, or leave groups out of fit."
        )
