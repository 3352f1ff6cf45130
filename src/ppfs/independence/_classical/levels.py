"""Columns as codes: the level of each row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import as_many_as_fit
from ppfs._data import Table, as_rows, can_be_levels, number_combinations
from ppfs.exceptions import InvalidInputError

# Integers with a range below this are coded by counting.
_CLOSE = 256

# Values coded at once: many enough for NumPy, few enough for the cache.
_VALUES_AT_ONCE = 2**18


@dataclass(frozen=True)
class Levels:
    """Every variable of a table as small integers, the target last.

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
    """Code every variable; raise if one is not categorical.

    Parameters
    ----------
    max_levels : int
        More levels than this raise an error.

    user : str
        The test that needs categories, for the message.
    """
    codes = np.empty((table.n_features + 1, table.n_rows), dtype=np.min_scalar_type(max_levels))
    counts = np.empty(table.n_features + 1, dtype=np.intp)
    is_plain = not (table.is_sparse or table.has_feature_groups)
    counts[:-1] = _code_close_columns(table, codes) if is_plain else 0
    for variable in range(table.n_features + 1):
        if variable != table.target and not table.kinds.from_values:
            _require_declared(table, variable, user)
        is_coded = variable != table.target and counts[variable] > 0
        if not is_coded:
            codes[variable], counts[variable] = _code_by_sorting(table, variable, max_levels, user)
        if counts[variable] > max_levels:
            raise _not_categorical(table, variable, int(counts[variable]), user)
    return Levels(codes, counts)


def _code_close_columns(table: Table, codes: NDArray[Any]) -> NDArray[np.int64]:
    """Code the columns of integers with a small range, and return their numbers of levels.

    Returns
    -------
    ndarray of shape (n_columns,)
        0 for other columns, whose codes are meaningless.
    """
    whole = table.kinds.whole_columns_of(table.X)
    counts = np.zeros(table.n_features, dtype=np.int64)
    columns = np.flatnonzero(whole.is_whole & (whole.spans < _CLOSE)).astype(np.int64, copy=False)
    at_once = as_many_as_fit(_VALUES_AT_ONCE, table.n_rows)
    for start in range(0, columns.size, at_once):
        some = columns[start : start + at_once]
        values = as_rows(table.X, some).astype(np.float64, copy=False)
        _engine.rank_levels(values, whole.lowest[some], some, codes, counts)
    return counts


def _code_by_sorting(table: Table, variable: int, max_levels: int, user: str) -> tuple[NDArray[np.intp], int]:
    """Return the code of each row's value, or combination of values, and the number of codes."""
    if variable == table.target and table.task == "classification":
        columns = [(table.classes, table.codes.astype(np.intp))]
    else:
        values = np.atleast_2d(table.values(variable).T)
        columns = [np.unique(column, return_inverse=True) for column in values]
    for levels, _ in columns:
        if not can_be_levels(levels, table.n_rows, max_levels):
            raise _not_categorical(table, variable, levels.size, user)
    levels, codes = columns[0]
    n_levels = levels.size
    if len(columns) > 1:
        coded = ((codes.ravel(), levels.size) for levels, codes in columns)
        codes, n_levels = number_combinations(coded, table.n_rows)
    # Too many for the dtype of the codes; the caller raises an error.
    return (codes.ravel() if n_levels <= max_levels else np.zeros(1, dtype=np.intp)), n_levels


def _require_declared(table: Table, feature: int, user: str) -> None:
    """Raise if the caller listed the categorical columns and left this one out."""
    if not table.categorical_mask([feature]).all():
        raise InvalidInputError(
            f"{user} needs categorical columns, but {table.names[feature]!r} is not in categorical_features. Add it, "
            "or use LikelihoodRatio, which takes both kinds."
        )


def _not_categorical(table: Table, variable: int, n_levels: int, user: str) -> InvalidInputError:
    name = "the target" if variable == table.target else repr(table.names[variable])
    if variable != table.target and table.n_levels[list(table.columns[variable])].all():
        return InvalidInputError(
            f"{user} takes at most max_levels categories per column, but {name} has {n_levels} in {table.n_rows} rows. "
            "Merge rare ones, raise max_levels, or use LikelihoodRatio or PPI."
        )
    return InvalidInputError(
        f"{user} needs categorical columns, but {name} has {n_levels} distinct values in {table.n_rows} rows. "
        "Use FisherZ or LikelihoodRatio, or discretize the column first (sklearn.preprocessing.KBinsDiscretizer)."
    )
