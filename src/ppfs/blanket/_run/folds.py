"""Folds: their training parts, and from their blankets to one, as in the paper."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import integer_seed, stream
from ppfs._data import Table
from ppfs._rows import folds_of
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Fold:
    """The result of one fold's training part.

    Attributes
    ----------
    number : int
        Counted from 1, as in the trace.

    blanket : tuple of int
        Its columns, most important first.

    z_score : float
        Mean number of blankets that a member appears in: the paper's z. 0 for an empty blanket.

    is_chosen : bool
        Whether this blanket is the result.
    """

    number: int
    blanket: tuple[int, ...]
    z_score: float
    is_chosen: bool


def aggregate(blankets: Sequence[tuple[int, ...]]) -> tuple[Fold, ...]:
    """Score the blankets by how often their members appear in all of them, and choose the best.

    Ties go to the blanket whose least supported member has more support, then to the smaller one,
    then to the earlier fold.
    """
    frequency = Counter(column for blanket in blankets for column in blanket)
    support = [[frequency[column] for column in blanket] or [0] for blanket in blankets]
    z_scores = [sum(counts) / len(counts) for counts in support]
    best = max(
        range(len(blankets)),
        key=lambda i: (z_scores[i], min(support[i]), -len(blankets[i]), -i),
        default=None,
    )
    return tuple(
        Fold(number=i + 1, blanket=blanket, z_score=z_scores[i], is_chosen=i == best)
        for i, blanket in enumerate(blankets)
    )


def training_parts(table: Table, n_folds: int, entropy: int) -> Iterator[tuple[int, Table]]:
    """Yield each fold's number and training part, or the whole table as fold 0."""
    if not n_folds:
        yield 0, table
        return
    for number, rows in enumerate(_training_rows(table, n_folds, entropy), start=1):
        yield number, table.rows(rows)


def _training_rows(table: Table, n_folds: int, entropy: int) -> list[NDArray[np.intp]]:
    """Divide the rows into folds and return the rows outside each of them."""
    if n_folds > table.n_rows:
        raise InvalidInputError(
            f"n_folds={n_folds} is more than the {table.n_rows} rows. Use fewer folds, or n_folds=0 for none."
        )
    training = [rows for rows, _ in folds_of(table, n_folds, integer_seed(stream(entropy)))]
    if table.task == "classification" and any((table.y[rows] == table.y[rows[0]]).all() for rows in training):
        raise InvalidInputError(
            f"With n_folds={n_folds} some fold's training part has one class only. Use fewer folds, or n_folds=0."
        )
    return training
