"""Columns that the caller decides about: those that are always kept, and those to condition on."""

from __future__ import annotations

from dataclasses import dataclass

from ppfs._data import ColumnsLike, Table
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class SpecialColumns:
    """The numbers of the features.

    Attributes
    ----------
    always_keep : tuple of int
        Always selected, never tested.

    condition_on : tuple of int
        In every conditioning set; never selected.
    """

    always_keep: tuple[int, ...]
    condition_on: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """Both together: no test decides about them."""
        return (*self.always_keep, *self.condition_on)


def read_special_columns(always_keep: ColumnsLike, condition_on: ColumnsLike, table: Table) -> SpecialColumns:
    """Return the numbers of the features that the caller gave by name or number, or raise if they are wrong."""
    kept = tuple(sorted(set(table.features.numbers(always_keep, "always_keep"))))
    conditioned = tuple(sorted(set(table.features.numbers(condition_on, "condition_on"))))
    both = [table.names[column] for column in kept if column in conditioned]
    if both:
        raise InvalidInputError(
            f"always_keep and condition_on both contain {listed(both)}: a column is either selected in any case, "
            "or conditioned on and never selected. Leave it out of one of them."
        )
    return SpecialColumns(kept, conditioned)
