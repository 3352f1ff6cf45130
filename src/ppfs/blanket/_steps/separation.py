"""Sets that separate two variables, as searches for parents and children need them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations

from ppfs._trace import Decision
from ppfs.blanket._steps.questions import Inquiry


def subsets(members: Sequence[int], max_k: int | None) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of at most `max_k` members, small ones first.

    Examples
    --------
    >>> list(subsets([3, 5], max_k=None))
    [(), (3,), (5,), (3, 5)]
    """
    largest = len(members) if max_k is None else min(max_k, len(members))
    return chain.from_iterable(combinations(members, size) for size in range(largest + 1))


def subsets_with(last: int, members: Sequence[int], max_k: int | None) -> Iterator[tuple[int, ...]]:
    """Yield the subsets of at most `max_k` variables that consist of `last` and some of `members`."""
    if max_k == 0:
        return iter(())
    others = subsets(members, None if max_k is None else max_k - 1)
    return ((*chosen, last) for chosen in others)


def first_separator(
    inquiry: Inquiry, x: int, sets: Iterator[tuple[int, ...]], phase: str
) -> tuple[int, ...] | None:
    """Return the first of `sets` given which `x` is independent of the target, or None.

    A set for which there are too few rows separates nothing.
    """
    for members in sets:
        given = inquiry.given(members)
        result = inquiry.test.query(x, inquiry.target, given)
        is_independent = result.is_independent(inquiry.alpha)
        decision: Decision = "dropped" if is_independent else "kept"
        inquiry.record(phase, x, given, result, decision)
        if is_independent:
            return members
    return None
