"""Answers from a known graph instead of data."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Sequence, Set
from graphlib import CycleError, TopologicalSorter
from typing import Any, ClassVar, Protocol, runtime_checkable

from ppfs._data import Table
from ppfs._printable import did_you_mean, listed
from ppfs.exceptions import InvalidInputError
from ppfs.independence._answers import IndependenceResult
from ppfs.independence._bound import Binding, BoundTest
from ppfs.independence._test import IndependenceTest

_INDEPENDENT = IndependenceResult(pvalue=1.0, statistic=0.0, effect=0.0)
_DEPENDENT = IndependenceResult(pvalue=0.0, statistic=1.0, effect=1.0)


# The name of a column, or its number.
Node = int | str


@runtime_checkable
class Network(Protocol):
    """A directed graph whose nodes have names."""

    @property
    def nodes(self) -> Iterable[Any]:
        """All nodes."""

    @property
    def edges(self) -> Iterable[tuple[Any, Any]]:
        """All arrows, as (cause, effect)."""


class DSeparation(IndependenceTest):
    """Answer from a directed acyclic graph: p = 1 when d-separated, 0 otherwise.

    A search with this oracle gets the answers that an infinite sample from a faithful
    distribution would give, so its result can be compared with the graph's true blanket.
    The values of X and y are ignored.

    Parameters
    ----------
    edges : iterable of pairs, or network
        Arrows (cause, effect). A node is the name of a column, or `target`; or a number: columns are 0 to d - 1, the
        target is node d. Columns without an arrow are independent of all others.

        A network, such as `ppfs.datasets.read_network` returns or a ``networkx.DiGraph``, has `nodes` and `edges`.
        Nodes that are not columns of X are hidden variables.

    target : str, default=None
        The name of the target, where nodes are names.

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

    By name, and the blanket that a search finds with it:

    >>> import pandas as pd
    >>> from ppfs.blanket import IAMB
    >>> frame = pd.DataFrame(np.zeros((4, 3)), columns=["rain", "shoes", "sprinkler"])
    >>> oracle = DSeparation([("rain", "wet"), ("sprinkler", "wet"), ("wet", "shoes")], target="wet")
    >>> IAMB(independence=oracle).fit(frame, y).get_feature_names_out().tolist()
    ['rain', 'shoes', 'sprinkler']
    """

    reads_task = False

    # A network has no length, so it is validated when it is read.
    _parameter_constraints: ClassVar[dict[str, Any]] = {"edges": "no_validation", "target": [str, None]}

    def __init__(self, edges: Iterable[tuple[Node, Node]] | Network, target: str | None = None) -> None:
        self.edges = edges
        self.target = target

    def _bind(self, table: Table, binding: Binding) -> BoundDSeparation:
        return BoundDSeparation(table, binding, _parents(self.edges, self.target, table))


class BoundDSeparation(BoundTest):
    """The oracle for one graph."""

    def __init__(self, table: Table, binding: Binding, parents: list[set[int]]) -> None:
        super().__init__(table, binding)
        self._parents = parents
        self._children: list[set[int]] = [set() for _ in parents]
        for child, causes in enumerate(parents):
            for cause in causes:
                self._children[cause].add(child)

    def _answers(self, xs: Sequence[int], target: int, given: frozenset[int]) -> Iterator[IndependenceResult]:
        for x in xs:
            reached = self._reachable(x, given - {x})
            yield _DEPENDENT if target in reached else _INDEPENDENT

    def _reachable(self, source: int, given: Set[int]) -> set[int]:
        """Return the nodes joined to `source` by a path that `given` leaves open.

        The state of a walk is a node and whether it was reached from a child. From a child the walk
        continues to parents and children unless the node is given. From a parent it continues to
        children unless the node is given, and to parents only when the node or one of its
        descendants is given: the node is then an open collider.
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

    def _ancestors(self, nodes: Set[int]) -> set[int]:
        """Return `nodes` and everything upstream of them."""
        found: set[int] = set()
        frontier = list(nodes)
        while frontier:
            node = frontier.pop()
            if node not in found:
                found.add(node)
                frontier += self._parents[node]
        return found


def _parents(
    edges: Iterable[tuple[Node, Node]] | Network, target: str | None, table: Table
) -> list[set[int]]:
    """Return each node's parents; raise if the edges are not an acyclic graph over the columns."""
    numbers = _Numbers(table, target)
    if isinstance(edges, Network):
        numbers.admit(edges.nodes)
        edges = edges.edges
    arrows = [numbers.arrow(edge) for edge in _listed(edges)]
    parents: list[set[int]] = [set() for _ in range(numbers.n_nodes)]
    for cause, effect in arrows:
        parents[effect].add(cause)
    try:
        TopologicalSorter(dict(enumerate(parents))).prepare()
    except CycleError as error:
        circle = " -> ".join(numbers.name(node) for node in error.args[1])
        raise InvalidInputError(f"The edges must not form a cycle, but {circle} does.") from error
    return parents


def _listed(edges: Any) -> Iterable[Any]:
    if isinstance(edges, str) or not isinstance(edges, Iterable):
        raise InvalidInputError(
            f"edges must list arrows (cause, effect), or be a network with nodes and edges, but is {edges!r}."
        )
    return edges


class _Numbers:
    """The numbers of the nodes: columns first, then the target, then hidden variables.

    Parameters
    ----------
    target : str or None
        The name of the target; None where nodes are numbers.
    """

    def __init__(self, table: Table, target: str | None) -> None:
        self._columns = table.names
        self._target = target
        self._number = {name: column for column, name in enumerate(table.names)}
        self._called_by_number: set[int] = set()
        if target is not None:
            if target in self._number:
                raise InvalidInputError(
                    f"target={target!r} is also a column of X. Drop the column: the target is what y holds."
                )
            self._number[target] = len(table.names)
        self._n_hidden = 0

    @property
    def n_nodes(self) -> int:
        return len(self._columns) + 1 + self._n_hidden

    def admit(self, nodes: Iterable[Any]) -> None:
        """Assign numbers to the nodes of a network: those that are neither columns nor the target are hidden."""
        names = [str(node) for node in nodes]
        if self._target not in names:
            what = "target=None" if self._target is None else f"target={self._target!r}"
            raise InvalidInputError(
                f"{what} is not a node of the network, whose nodes are {listed(names)}."
                f"{did_you_mean(self._target, names)} Pass the name of the node that y holds as target."
            )
        for name in names:
            if name not in self._number:
                self._number[name] = self.n_nodes
                self._n_hidden += 1

    def arrow(self, edge: Any) -> tuple[int, int]:
        """Return the numbers of cause and effect."""
        nodes = () if isinstance(edge, str) or not isinstance(edge, Iterable) else tuple(edge)
        if len(nodes) != 2:
            raise InvalidInputError(f"An edge is a pair (cause, effect), but edges contains {edge!r}.")
        return self._node(nodes[0], edge), self._node(nodes[1], edge)

    def name(self, node: int) -> str:
        """Return the caller's name of a node."""
        if node in self._called_by_number:
            return str(node)
        return next((name for name, number in self._number.items() if number == node), str(node))

    def _node(self, node: Any, edge: Any) -> int:
        if isinstance(node, str):
            return self._named(node, edge)
        try:
            number = operator.index(node)
        except TypeError:
            raise InvalidInputError(
                f"Edge {edge!r} must hold names or numbers of columns, but {node!r} is neither."
            ) from None
        n_columns = len(self._columns)
        if not 0 <= number <= n_columns:
            raise InvalidInputError(
                f"Edge {tuple(edge)} names a node that does not exist: with {n_columns} columns the nodes "
                f"are 0 to {n_columns}, and {n_columns} is the target."
            )
        self._called_by_number.add(number)
        return number

    def _named(self, name: str, edge: Any) -> int:
        if name in self._number:
            return self._number[name]
        if self._target is None:
            hint = f"If it is the target, say so: DSeparation(edges, target={name!r})."
        else:
            hint = f"The target is {self._target!r}."
        raise InvalidInputError(
            f"Edge {tuple(edge)!r} names {name!r}, which is not a column. The columns are "
            f"{listed(self._columns)}.{did_you_mean(name or '', self._columns)} {hint}"
        )
