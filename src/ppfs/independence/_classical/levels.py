"""Columns as codes: which level of its column each row holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._kinds import can_be_levels
from ppfs._table import Table
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Levels:
    """Every variable of a table as small whole numbers, the target last.

    Attributes
    ----------
    codes : ndarray of shape (n_features + 1, n_rows)
        The position of each value among its variable's sorted levels.

    counts : ndarray of shape (n_features + 1,)
        Number of levels.
    """

    codes: NDArray[Any]
    counts: NDArray[np.intp]


def read_levels(table: Table, max_levels: int, user: str) -> Levels:
    """Code every variable, or name one that is not categorical.

    Parameters
    ----------
    max_levels : int
        More levels than this are refused.

    user : str
        The test that needs categories, for the message.
    """
    codes = np.empty((table.n_features + 1, table.n_rows), dtype=np.min_scalar_type(max_levels))
    counts = np.empty(table.n_features + 1, dtype=np.intp)
    for variable in range(table.n_features + 1):
        columns = [
            np.unique(column, return_inverse=True) for column in np.atleast_2d(table.values(variable).T)
        ]
        if variable != table.target and not table.kinds.from_values:
            _require_declared(table, variable, user)
        for levels, _ in columns:
            if not can_be_levels(levels, table.n_rows, max_levels):
                raise _not_categorical(table, variable, levels.size, user)
        position, counts[variable] = _combined(columns)
        if counts[variable] > max_levels:
            raise _not_categorical(table, variable, int(counts[variable]), user)
        codes[variable] = position
    return Levels(codes, counts)


def _combined(columns: list[tuple[NDArray[Any], NDArray[np.intp]]]) -> tuple[NDArray[np.intp], int]:
    """Return the number of each row's combination of the columns' levels, and how many combinations occur."""
    levels, codes = columns[0]
    for others, other_codes in columns[1:]:
        levels, codes = np.unique(codes * others.size + other_codes, return_inverse=True)
    return codes.ravel(), levels.size


def _require_declared(table: Table, feature: int, user: str) -> None:
    """Refuse a column that the caller, asked for the categorical ones, did not name."""
    if not table.categorical_mask([feature]).all():
        raise InvalidInputError(
            f"{user} needs categorical columns, but by categorical_features {table.names[feature]!r} is none. Add it "
            "to categorical_features, or use LikelihoodRatio, which takes both kinds."
        )


def _not_categorical(table: Table, variable: int, n_levels: int, user: str) -> InvalidInputError:
    name = "the target" if variable == table.target else repr(table.names[variable])
    if variable != table.target and table.n_levels[list(table.columns[variable])].all():
        return InvalidInputError(
            f"{user} takes at most max_levels categories a column, but {name} has {n_levels} in {table.n_rows} rows. "
            "Merge rare ones, raise max_levels, or use LikelihoodRatio or PPI."
        )
    return InvalidInputError(
        f"{user} needs categorical columns, but {name} has {n_levels} distinct values in {table.n_rows} rows. "
        "Use FisherZ or LikelihoodRatio, or discretise the column first (sklearn.preprocessing.KBinsDiscretizer)."
    )
