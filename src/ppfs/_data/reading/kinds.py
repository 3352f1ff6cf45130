"""Columns that the caller declares categorical."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._data.columns import MISSING_LABEL, Columns
from ppfs._data.facts import in_floats
from ppfs._data.kinds import ColumnKinds
from ppfs._data.naming import column_index
from ppfs._data.reading.categories import Coded, coded_numbers
from ppfs._data.storage import storage_of
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError

# "auto", "from_dtype", a name or position, several of them, a mask, or None.
CategoricalFeatures = str | int | Collection[int | str] | Collection[bool] | NDArray[Any] | None

#: The rule for scikit-learn's validation of parameters; the rest is checked when the columns are known.
CATEGORICAL_FEATURES_CONSTRAINT: list[Any] = [str, Integral, "array-like", set, frozenset, None]

_BY_RULE = ("auto", "from_dtype")


def with_kinds(columns: Columns, categorical_features: CategoricalFeatures) -> Columns:
    """Convert the columns that the caller lists to categories, and all others to numbers.

    Raises
    ------
    InvalidInputError
        If there is no such column, or if a column that is not listed holds text.
    """
    if isinstance(categorical_features, str) and categorical_features == "auto":
        return columns
    X = columns.storage.matrix
    unchanged = replace(columns, kinds=ColumnKinds(X, columns.n_levels, from_values=False))
    if isinstance(categorical_features, str) and categorical_features in _BY_RULE:
        return unchanged
    mask = _mask(categorical_features, columns.names)
    wanted = np.flatnonzero(mask & (columns.n_levels == 0)).tolist()
    unwanted = np.flatnonzero(~mask & (columns.n_levels > 0)).tolist()
    if not (wanted or unwanted):
        return unchanged
    if columns.storage.is_sparse:
        raise InvalidInputError(
            f"categorical_features lists {listed([columns.names[column] for column in wanted])}, but the columns of a "
            "sparse X are numbers. Pass X.toarray(), or a data frame."
        )
    matrix = np.array(in_floats(X))
    n_levels, categories = columns.n_levels.copy(), dict(columns.categories)
    for column in unwanted:
        matrix[:, column] = _numbers_of(categories.pop(column), matrix[:, column], columns.names[column])
        n_levels[column] = 0
    for column in wanted:
        part: Coded = coded_numbers(matrix[:, column])
        matrix[:, column], n_levels[column], categories[column] = part.codes, len(part.labels), part.labels
    return replace(
        columns,
        storage=storage_of(matrix),
        n_levels=n_levels,
        kinds=ColumnKinds(matrix, n_levels, from_values=False),
        categories=categories,
        frame=None if columns.frame is None else columns.frame.with_codes(matrix, n_levels),
    )


def _mask(categorical_features: CategoricalFeatures, names: Sequence[str]) -> NDArray[np.bool_]:
    """Return which columns are listed."""
    mask = np.zeros(len(names), dtype=bool)
    if categorical_features is None:
        return mask
    is_one = isinstance(categorical_features, str | Integral)
    listing: list[Any] = [categorical_features] if is_one else list(categorical_features)  # type: ignore[arg-type]
    if listing and all(isinstance(value, bool | np.bool_) for value in listing):
        if len(listing) != len(names):
            raise InvalidInputError(
                f"categorical_features is a mask of {len(listing)} booleans, but X has {len(names)} columns. A "
                "mask has one value per column; names or positions may be fewer."
            )
        return np.array(listing, dtype=bool)
    try:
        mask[[column_index(column, names) for column in listing]] = True
    except InvalidInputError as error:
        hint = "" if len(listing) != 1 else f" Or did you mean one of {listed(_BY_RULE)}?"
        raise InvalidInputError(f"categorical_features: {error}{hint}") from error
    return mask


def _numbers_of(labels: tuple[str, ...], codes: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Return a column of categories as numbers, or raise if they are not numbers."""
    values = np.empty(len(labels))
    for code, label in enumerate(labels):
        try:
            values[code] = np.nan if label == MISSING_LABEL else float(label)
        except ValueError:
            raise InvalidInputError(
                f"{name!r} holds text, such as {label!r}, so it is categorical, but categorical_features does not list "
                "it. Add it to the list, or drop the column."
            ) from None
    return np.asarray(values[codes.astype(np.intp)])
