"""Columns that the caller decides about: those that stay in any case, and those to condition on."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from ppfs._table import Table, listed
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class SpecialColumns:
    """The numbers of the features.

    Attributes
    ----------
    always_keep : tuple of int
        In the blanket from the start; never asked about.

    condition_on : tuple of int
        In every conditioning set; never selected.
    """

    always_keep: tuple[int, ...]
    condition_on: tuple[int, ...]


def read_special_columns(always_keep: Any, condition_on: Any, table: Table) -> SpecialColumns:
    """Turn what the caller gave, names or numbers, into the numbers of features, or say what is wrong with it."""
    kept = _numbers("always_keep", always_keep, table)
    conditioned = _numbers("condition_on", condition_on, table)
    both = [table.names[column] for column in kept if column in conditioned]
    if both:
        raise InvalidInputError(
            f"always_keep and condition_on both contain {listed(both)}: a column is either selected in any case, "
            "or conditioned on and never selected. Leave it out of one of them."
        )
    return SpecialColumns(kept, conditioned)


def _numbers(parameter: str, columns: Collection[int | str], table: Table) -> tuple[int, ...]:
    try:
        numbers = {table.feature_index(column) for column in columns}
    except InvalidInputError as error:
        raise InvalidInputError(f"{parameter}: {error}") from error
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{parameter} must list columns by name or number, but is {columns!r}."
        ) from error
    return tuple(sorted(numbers))
