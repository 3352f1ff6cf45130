"""What a search removed from a set of features, found without comparing sets of thousands."""

from __future__ import annotations

from itertools import compress, count
from operator import ne
from typing import NamedTuple


class Removal(NamedTuple):
    """A set, the same set without some features, and these features.

    Both sets are recognized by identity, which takes no time, whatever their size.
    """

    before: frozenset[int]
    after: frozenset[int]
    gone: frozenset[int]


NO_REMOVAL = Removal(frozenset(), frozenset(), frozenset())


def gone_from(before: tuple[int, ...], after: tuple[int, ...]) -> tuple[int, ...] | None:
    """Return the neighbors that `before` has and `after` lacks; None if that is not the only difference.

    Examples
    --------
    >>> gone_from((5, 3, 8, 1), (5, 1))
    (3, 8)
    >>> gone_from((5, 3, 8, 1), (1, 5)) is None
    True
    """
    n_gone = len(before) - len(after)
    if n_gone <= 0:
        return None
    first = next(compress(count(), map(ne, before, after)), len(after))
    return before[first : first + n_gone] if before[first + n_gone :] == after[first:] else None
