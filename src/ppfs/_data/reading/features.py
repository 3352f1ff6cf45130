"""Features: which columns are kept or dropped together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ppfs._data.columns import Columns
from ppfs._data.features import Features
from ppfs._data.naming import ColumnsLike, column_index, one_or_more
from ppfs._printable import listed
from ppfs.exceptions import InvalidInputError


def read_features(groups: Mapping[str, ColumnsLike] | None, columns: Columns) -> Features:
    """Return the features that groups of columns make, or raise if a group is invalid.

    Parameters
    ----------
    groups : mapping of str to columns, or None
        Columns that are one feature together, by position or name.
    """
    if not groups:
        return Features(columns.names, columns.names)
    if not isinstance(groups, Mapping):
        raise InvalidInputError(
            f"feature_groups must map the name of a group to its columns, but is {groups!r}. "
            'Write {"address": ["street", "city"]}.'
        )
    members = {str(name): _members(str(name), listing, columns.names) for name, listing in groups.items()}
    for name in members:
        _require_free_name(name, members[name], columns.names)
    groups_of: dict[int, list[str]] = {}
    for name, listing in members.items():
        for column in listing:
            groups_of.setdefault(column, []).append(name)
    features: dict[str, tuple[int, ...]] = {}
    for column, column_name in enumerate(columns.names):
        for name in groups_of.get(column, [column_name]):
            features.setdefault(name, members[name] if column in groups_of else (column,))
    by_content = [_by_content(feature, columns) for feature in features.values()]
    return Features.of(list(features), columns.names, by_content)


def _members(group: str, listing: ColumnsLike, names: Sequence[str]) -> tuple[int, ...]:
    members = one_or_more(listing, f"feature_groups[{group!r}]")
    try:
        numbers = [column_index(column, names) for column in members]
    except InvalidInputError as error:
        raise InvalidInputError(f"feature_groups[{group!r}]: {error}") from error
    if not numbers:
        raise InvalidInputError(
            f"feature_groups[{group!r}] is empty. A group needs at least one column: list some, or drop the group."
        )
    if len(set(numbers)) < len(numbers):
        twice = [names[number] for number in sorted(set(numbers)) if numbers.count(number) > 1]
        raise InvalidInputError(
            f"feature_groups[{group!r}] lists {listed(twice)} more than once. Once is enough."
        )
    return tuple(sorted(numbers))


def _require_free_name(group: str, members: tuple[int, ...], names: Sequence[str]) -> None:
    if group in names and names.index(group) not in members:
        raise InvalidInputError(
            f"The group {group!r} of feature_groups has the name of a column that is not in it, so {group!r} would "
            "mean two features. Give the group another name."
        )


def _by_content(feature: tuple[int, ...], columns: Columns) -> tuple[int, ...]:
    """Order the columns of a feature by content, so that models do not depend on the caller's order."""
    if len(feature) == 1:
        return feature
    return tuple(sorted(feature, key=lambda j: (columns.storage.digest(j, int(columns.n_levels[j])), j)))
