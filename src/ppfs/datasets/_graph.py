"""Directed acyclic graphs, given as a mapping from each node to its parents."""

import graphlib
from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)


class CycleError(ValueError):
    """The arcs form a cycle.

    Attributes
    ----------
    cycle : list of str
        The nodes of the cycle; the first is repeated at the end.
    """

    def __init__(self, cycle: Sequence[Hashable]) -> None:
        self.cycle = [str(node) for node in cycle]
        super().__init__(f"the arcs form a cycle, {' -> '.join(self.cycle)}; a Bayesian network has none")


def topological_order(parents: Mapping[Node, Sequence[Node]]) -> list[Node]:
    """Order the nodes so that parents come before their children."""
    try:
        return list(graphlib.TopologicalSorter(parents).static_order())
    except graphlib.CycleError as error:
        raise CycleError(error.args[1]) from error


def children_of(parents: Mapping[Node, Sequence[Node]]) -> dict[Node, list[Node]]:
    """Reverse the arcs: return each node with its children, in the order of the mapping."""
    children: dict[Node, list[Node]] = {node: [] for node in parents}
    for node, above in parents.items():
        for parent in above:
            children[parent].append(node)
    return children


def markov_blanket(parents: Mapping[Node, Sequence[Node]], node: Node) -> set[Node]:
    """Parents, children and the children's other parents."""
    children = children_of(parents)[node]
    spouses = {parent for child in children for parent in parents[child]}
    return (set(parents[node]) | set(children) | spouses) - {node}
