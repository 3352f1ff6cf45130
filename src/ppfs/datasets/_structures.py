"""Graphs around a target: columns are nodes 0 to d - 1, the target is node d."""

from itertools import combinations, cycle, islice

import numpy as np

Edge = tuple[int, int]


def planted_edges(
    target: int, *, n_parents: int, n_children: int, n_spouses: int, n_relatives: int
) -> list[Edge]:
    """Build a graph with the wanted family of the target.

    ::

        grandparent -> parent -> TARGET -> child -> grandchild
                         |                   ^
                         v                   |
                      sibling              spouse

    Parents, children, spouses and relatives take the first columns in this order; columns behind them
    have no arcs. Spouses are shared out among the children; relatives are grandparents, grandchildren
    and siblings in turn, so each of them depends on the target and none is in its blanket.

    Parameters
    ----------
    target : int
        Number of the target node.
    n_parents, n_children, n_spouses, n_relatives : int
        Number of columns in each role.

    Returns
    -------
    list of (int, int)
        Arcs, from cause to effect.
    """
    columns = iter(range(target))
    parents = list(islice(columns, n_parents))
    children = list(islice(columns, n_children))
    edges = [(parent, target) for parent in parents] + [(target, child) for child in children]
    edges += zip(islice(columns, n_spouses), cycle(children), strict=False)
    return edges + _relatives(parents, children, list(islice(columns, n_relatives)))


def _relatives(parents: list[int], children: list[int], columns: list[int]) -> list[Edge]:
    edges = []
    # Grandparents, grandchildren and siblings, each with the blanket member it hangs on.
    kinds = [("above", parents), ("below", children), ("below", parents)]
    turns = cycle([(side, cycle(members)) for side, members in kinds if members])
    for column, (side, members) in zip(columns, turns, strict=False):
        member = next(members)
        edges.append((column, member) if side == "above" else (member, column))
    return edges


def random_edges(target: int, *, edge_probability: float, stream: np.random.Generator) -> list[Edge]:
    """Draw a random acyclic graph over the columns and the target.

    The nodes are put in a random order, then each pair is joined with the given probability, from the
    earlier to the later.

    Parameters
    ----------
    target : int
        Number of the target node, the last one.
    edge_probability : float
        Chance of an arc between two nodes.

    Returns
    -------
    list of (int, int)
        Arcs, from cause to effect.
    """
    order = stream.permutation(target + 1).tolist()
    pairs = list(combinations(order, 2))
    joined = stream.random(len(pairs)) < edge_probability
    return [pair for pair, join in zip(pairs, joined, strict=True) if join]
