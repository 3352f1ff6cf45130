"""The PC algorithm on a few variables: which are joined, and which are spouses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.separation import first_separator


class Skeleton:
    """The undirected graph that the PC algorithm leaves of a blanket and its target.

    It starts with all variables joined. At each level, an edge is removed if a set of that many neighbors of one end
    separates the two. Each level uses the neighbors at its beginning, so the order of the variables does not matter.

    Parameters
    ----------
    inquiry : Inquiry
        About the target.

    members : sequence of int
        The other variables.

    max_k : int or None
        Largest separating set to try.
    """

    def __init__(self, inquiry: Inquiry, members: Sequence[int], max_k: int | None) -> None:
        self._inquiry = inquiry
        self._nodes = [inquiry.target, *members]
        self._joined = {node: set(self._nodes) - {node} for node in self._nodes}
        self._separators: dict[int, tuple[int, ...]] = {}
        largest = len(members) - 1 if max_k is None else max_k
        for level in range(largest + 1):
            if all(len(others) <= level for others in self._joined.values()):
                break
            self._remove_edges(level)

    def blanket(self) -> list[int]:
        """Return the target's neighbors, and the variables that share a collider with it."""
        target = self._inquiry.target
        return [x for x in self._nodes[1:] if x in self._joined[target] or self._is_spouse(x)]

    def _is_spouse(self, x: int) -> bool:
        """Return whether a common neighbor of `x` and the target is not in the set that separates them.

        Such a neighbor is an effect of both: any other kind would have to be in the separating set.
        """
        common = self._joined[x] & self._joined[self._inquiry.target]
        return bool(common - set(self._separators[x]))

    def _remove_edges(self, level: int) -> None:
        frozen = {node: [x for x in self._nodes if x in others] for node, others in self._joined.items()}
        for a, b in combinations(self._nodes, 2):
            if b not in self._joined[a] or (a == self._inquiry.target and b in self._inquiry.always_keep):
                continue
            separator = self._separate(a, b, _sets(frozen, a, b, level))
            if separator is not None:
                self._joined[a].discard(b)
                self._joined[b].discard(a)
                if a == self._inquiry.target:
                    self._separators[b] = separator

    def _separate(self, a: int, b: int, sets: Iterator[tuple[int, ...]]) -> tuple[int, ...] | None:
        inquiry = self._inquiry if a == self._inquiry.target else self._inquiry.about(a)
        return first_separator(inquiry, b, sets, "pc")


def _sets(neighbors: dict[int, list[int]], a: int, b: int, size: int) -> Iterator[tuple[int, ...]]:
    """Yield sets of neighbors of `a`, then those of `b` that were not among them."""
    near_a = [x for x in neighbors[a] if x != b]
    near_b = [x for x in neighbors[b] if x != a]
    yield from combinations(near_a, size)
    for chosen in combinations(near_b, size):
        if not set(chosen) <= set(near_a):
            yield chosen


def keep_joined(inquiry: Inquiry, blanket: Sequence[int], max_k: int | None) -> list[int]:
    """Run the PC algorithm on the target and its blanket; return the neighbors and spouses it finds."""
    return Skeleton(inquiry, blanket, max_k).blanket()
