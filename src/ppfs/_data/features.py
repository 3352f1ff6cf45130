"""The features of a table: single columns, or groups of columns that are kept or dropped together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
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

    groups : tuple of tuple of int, default=None
        The columns of each feature; None if feature j is column j. A column may be in several.
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

    @cached_property
    def overlap(self) -> bool:
        """Whether some column is in more than one feature."""
        columns = [column for group in self.groups or () for column in group]
        return len(set(columns)) < len(columns)

    def apart(self, feature: int, others: Collection[int]) -> Features | None:
        """Return features of disjoint columns for a question about a feature given others with some of its columns.

        The feature is not among the others.

        Returns
        -------
        Features or None
            The first has the columns that the feature alone has, the others those of `others`. None if it has no column
            of its own.
        """
        taken = set(self.columns_of(list(others)))
        own = tuple(column for column in self.columns[feature] if column not in taken)
        if not own:
            return None
        groups, names = [own], [self.names[feature]]
        for other in others:
            left = tuple(column for column in self.columns[other] if column in taken)
            taken -= set(left)
            if left:
                groups.append(left)
                names.append(self.names[other])
        return Features(tuple(names), self.column_names, tuple(groups))

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
        found = [feature for feature, group in enumerate(self.groups) if number in group]
        if len(found) > 1:
            raise InvalidInputError(
                f"Column {self.column_names[number]!r} is in {len(found)} groups, "
                f"{listed([self.names[feature] for feature in found])}. Name one of them instead."
            )
        return found[0]

    def numbers(self, columns: ColumnsLike, parameter: str) -> list[int]:
        """Return the numbers of the features that the caller listed in a parameter."""
        wanted = one_or_more(columns, parameter)
        try:
            return [self.index(column) for column in wanted]
        except InvalidInputError as error:
            raise InvalidInputError(f"{parameter}: {error}") from error
