"""Splits that the caller decides: any splitter of scikit-learn, or a list of train and test rows."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import PredefinedSplit

from ppfs._random import integer_seed, stream
from ppfs._table import Table
from ppfs.exceptions import InvalidInputError
from ppfs.independence._splits import Split, with_draws

Rows = NDArray[np.intp]


def splits_of(
    splitter: Any, table: Table, y: NDArray[Any], *, entropy: int, fold: int, n_draws: int
) -> list[Split]:
    """Divide the rows as the caller's splitter does.

    A splitter is asked about the rows of the table. A list of rows, and PredefinedSplit, which is one, speak of the
    rows that the caller passed: those without weight are left out.

    Parameters
    ----------
    splitter : splitter, or iterable of (train, test) pairs of row numbers
        One whose `random_state` is None gets a seed. It is copied, never changed.

    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        What the splitter may stratify by.

    fold : int
        0 for the whole table; else the table is the training part of this fold.
    """
    name = type(splitter).__name__
    if isinstance(splitter, PredefinedSplit) or not hasattr(splitter, "split"):
        _require_whole_table(name, fold)
        pairs = [_kept(table, train, test) for train, test in _listed_pairs(splitter)]
    else:
        pairs = _asked(splitter, table, y, integer_seed(stream(entropy, fold)))
    for number, (train, test) in enumerate(pairs):
        _check(name, number, train, test, table)
    return [
        with_draws(train, test, stream(entropy, fold, number), n_draws)
        for number, (train, test) in enumerate(pairs)
    ]


def require_disjoint_tests(splits: list[Split], user: str) -> None:
    """Refuse splits that test a row twice."""
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
            # Whether it separates groups is seen afterwards.
            warnings.filterwarnings("ignore", "The groups parameter is ignored")
            return [
                (np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp))
                for train, test in own.split(np.zeros((table.n_rows, 1)), y, table.groups)
            ]
    except (ValueError, TypeError) as error:
        raise InvalidInputError(
            f"splitter={splitter!r} cannot divide {table.n_rows} rows: {error}"
        ) from error


def _listed_pairs(splitter: Any) -> Iterable[tuple[Any, Any]]:
    if isinstance(splitter, PredefinedSplit):
        pairs: Iterable[tuple[Any, Any]] = splitter.split()
        return pairs
    if isinstance(splitter, Iterator):
        raise InvalidInputError(
            f"splitter={splitter!r} can be read only once, but a search may read it again. Pass list(...) of it."
        )
    return list(splitter)


def _kept(table: Table, train: Any, test: Any) -> tuple[Rows, Rows]:
    """Turn the caller's row numbers into the table's, without the rows that the table lacks."""
    if table.kept_rows is None:
        return np.asarray(train, dtype=np.intp), np.asarray(test, dtype=np.intp)
    numbers = {row: number for number, row in enumerate(table.kept_rows.tolist())}
    train, test = (
        np.array([numbers[row] for row in np.asarray(rows).tolist() if row in numbers], dtype=np.intp)
        for rows in (train, test)
    )
    return train, test


def _require_whole_table(name: str, fold: int) -> None:
    if fold:
        raise InvalidInputError(
            f"splitter={name} names rows of the whole table, but with n_folds the search runs in parts of it. Use "
            "n_folds=0, or a splitter that divides any rows, such as TimeSeriesSplit."
        )


def _check(name: str, number: int, train: Rows, test: Rows, table: Table) -> None:
    if min(train.size, test.size) < 2:
        raise InvalidInputError(
            f"Split {number} of splitter={name} has a train part of {train.size} and a test part of {test.size} "
            "rows; each needs at least 2, or shuffling a column changes nothing. Use fewer splits, or more rows."
        )
    rows = np.concatenate([train, test])
    unknown = rows[(rows < 0) | (rows >= table.n_rows)]
    if unknown.size:
        raise InvalidInputError(
            f"Split {number} of splitter={name} names row {unknown[0]}, but rows are numbered 0 to {table.n_rows - 1}."
        )
    shared = np.intersect1d(train, test)
    if shared.size:
        raise InvalidInputError(
            f"Split {number} of splitter={name} has row {shared[0]} in both parts. A model must not be tested on "
            "rows that it was fitted on: leave the row out of one part."
        )
    if table.groups is not None and np.intersect1d(table.groups[train], table.groups[test]).size:
        raise InvalidInputError(
            f"Split {number} of splitter={name} has rows of one group in both parts. Use a splitter that keeps groups "
            "together, such as GroupKFold or LeaveOneGroupOut, or leave groups out of fit."
        )
