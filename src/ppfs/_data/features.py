"""The features of a table: single columns, or groups of columns that are kept or dropped together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from ppfs._data.naming import ColumnsLike, column_index, one_or_more
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True)
class Features:
    """Which columns each feature consists of.

    Attributes
    ----------
    names : tuple of str
        The name of each feature: a column's, or a group's.

    column_names : tuple of str

    groups : tuple of tuple of int, default=None
        The columns of each feature; None if feature j is column j.
    """

    names: tuple[str, ...]
    column_names: tuple[str, ...]
    groups: tuple[tuple[int, ...], ...] | None = None

    @classmethod
    def of(
        cls, names: Sequence[str], column_names: Sequence[str], columns: Sequence[tuple[int, ...]] | None
    ) -> Features:
        """Return features of one or more columns each; None: every column is a feature."""
        has_groups = columns is not None and any(len(group) > 1 for group in columns)
        return cls(tuple(names), tuple(column_names), tuple(columns or ()) if has_groups else None)

    @property
    def target(self) -> int:
        """The number of the target, which is the number of features."""
        return len(self.names)

    @cached_property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """The columns of each feature."""
        return tuple((column,) for column in range(len(self.names))) if self.groups is None else self.groups

    def columns_of(self, features: Sequence[int]) -> list[int]:
        """Return the columns of some features, those of each feature together."""
        if self.groups is None:
            return list(features)
        return [column for feature in features for column in self.groups[feature]]

    def width(self, feature: int) -> int:
        """Return the number of columns of a feature."""
        return 1 if self.groups is None else len(self.groups[feature])

    def index(self, column: int | str) -> int:
        """Return the number of a feature, given its name, or the name or position of one of its columns."""
        if self.groups is None:
            return column_index(column, self.names)
        if isinstance(column, str) and column in self.names:
            return self.names.index(column)
        if isinstance(column, str) and column not in self.column_names:
            raise InvalidInputError(
                f"There is no column or group {column!r}. The features are {listed(self.names)}."
            )
        number = column_index(column, self.column_names)
        return next(feature for feature, group in enumerate(self.groups) if number in group)

    def numbers(self, columns: ColumnsLike, parameter: str) -> list[int]:
        """Return the numbers of the features that the caller listed in a parameter."""
        wanted = one_or_more(columns, parameter)
        try:
            return [self.index(column) for column in wanted]
        except InvalidInputError as error:
            raise InvalidInputError(f"{parameter}: {error}") from error
