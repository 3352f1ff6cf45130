"""Columns that the caller decides about: those that stay in any case, and those to condition on."""

from __future__ import annotations

from dataclasses import dataclass

from ppfs._data import ColumnsLike, Table, listed
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

    @property
    def all(self) -> tuple[int, ...]:
        """Those that no question decides about."""
        return (*self.always_keep, *self.condition_on)


def read_special_columns(always_keep: ColumnsLike, condition_on: ColumnsLike, table: Table) -> SpecialColumns:
    """Turn what the caller gave, names or numbers, into the numbers of features, or say what is wrong with it."""
    kept = tuple(sorted(set(table.features.numbers(always_keep, "always_keep"))))
    conditioned = tuple(sorted(set(table.features.numbers(condition_on, "condition_on"))))
    both = [table.names[column] for column in kept if column in conditioned]
    if both:
        raise InvalidInputError(
            f"always_keep and condition_on both contain {listed(both)}: a column is either selected in any case, "
            "or conditioned on and never selected. Leave it out of one of them."
        )
    return SpecialColumns(kept, conditioned)
