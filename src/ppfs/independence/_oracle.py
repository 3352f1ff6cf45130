"""Answers from a known graph instead of data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from graphlib import CycleError, TopologicalSorter
from typing import Any

from ppfs._random import RandomStateLike
from ppfs._table import Table
from ppfs.exceptions import InvalidInputError
from ppfs.independence._base import BoundTest, IndependenceResult, IndependenceTest

_INDEPENDENT = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0)
_DEPENDENT = IndependenceResult(pvalue=0.0, statistic=1.0, effect=1.0)


class DSeparation(IndependenceTest):
    """Answer from a directed acyclic graph: p = 1 when d-separated, 0 otherwise.

    A search that asks this oracle sees exactly what an infinite sample from a faithful
    distribution would tell, so its result can be compared with the graph's true blanket.
    The values of X and y are ignored.

    Parameters
    ----------
    edges : iterable of pairs of int
        Arrows (cause, effect). Columns are 0 to d - 1, the target is node d.

    Examples
    --------
    Two causes of the target, independent until their common effect is known:

    >>> import numpy as np
    >>> from ppfs.independence import DSeparation
    >>> X, y = np.zeros((4, 2)), np.arange(4)          # ignored
    >>> oracle = DSeparation([(0, 1), (2, 1)])         # 0 -> 1 <- target
    >>> oracle.evaluate(X, y, 0).pvalue
    1.0
    >>> oracle.evaluate(X, y, 0, given=[1]).pvalue
    0.0
    """

    _parameter_constraints: dict[str, Any] = {"edges": ["array-like", set, frozenset]}

    def __init__(self, edges: Iterable[tuple[int, int]]) -> None:
        self.edges = edges

    def bind(
        self, table: Table, *, fold: int = 0, random_state: RandomStateLike = None, n_jobs: int | None = None
    ) -> BoundDSeparation:
        """Return the oracle for a table of that many columns; see `IndependenceTest.bind`."""
        return BoundDSeparation(table, _parents(self.edges, n_nodes=table.n_features + 1))


class BoundDSeparation(BoundTest):
    """The oracle for one graph."""

    def __init__(self, table: Table, parents: list[set[int]]) -> None:
        super().__init__(table)
        self._parents = parents
        self._children: list[set[int]] = [set() for _ in parents]
        for child, causes in enumerate(parents):
            for cause in causes:
                self._children[cause].add(child)

    def _answers(
        self, xs: Sequence[int], target: int, given: tuple[int, ...]
    ) -> Iterator[IndependenceResult]:
        for x in xs:
            reached = self._reachable(x, set(given) - {x})
            yield _DEPENDENT if target in reached else _INDEPENDENT

    def _reachable(self, source: int, given: set[int]) -> set[int]:
        """Return the nodes joined to `source` by a path that `given` leaves open.

        A walk remembers whether it came along an arrow or against one. Against an arrow
        (from a child) it may turn anywhere unless the node is given; along an arrow (from a
        parent) it goes on to children unless the node is given, and turns back to parents at a
        collider only when the collider or one of its descendants is given.
        """
        opened = self._ancestors(given)
        seen: set[tuple[int, bool]] = set()
        frontier = [(source, True)]
        reached: set[int] = set()
        while frontier:
            node, from_child = frontier.pop()
            if (node, from_child) in seen:
                continue
            seen.add((node, from_child))
            if node not in given:
                reached.add(node)
                frontier += [(child, False) for child in self._children[node]]
            if (from_child and node not in given) or (not from_child and node in opened):
                frontier += [(parent, True) for parent in self._parents[node]]
        return reached

    def _ancestors(self, nodes: set[int]) -> set[int]:
        """Return `nodes` and everything upstream of them."""
        found: set[int] = set()
        frontier = list(nodes)
        while frontier:
            node = frontier.pop()
            if node not in found:
                found.add(node)
                frontier += self._parents[node]
        return found


def _parents(edges: Iterable[tuple[int, int]], n_nodes: int) -> list[set[int]]:
    """Return each node's parents, or say why the edges are no acyclic graph over the columns."""
    parents: list[set[int]] = [set() for _ in range(n_nodes)]
    for edge in edges:
        cause, effect = (int(node) for node in edge)
        if not (0 <= cause < n_nodes and 0 <= effect < n_nodes):
            raise InvalidInputError(
                f"Edge ({cause}, {effect}) names a node that does not exist: with {n_nodes - 1} columns the nodes "
                f"are 0 to {n_nodes - 1}, and {n_nodes - 1} is the target."
            )
        parents[effect].add(cause)
    try:
        TopologicalSorter(dict(enumerate(parents))).prepare()
    except CycleError as error:
        raise InvalidInputError(
            f"The edges must form no cycle, but {' -> '.join(str(node) for node in reversed(error.args[1]))} is one."
        ) from error
    return parents
