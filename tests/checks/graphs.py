"""Random graphs whose blankets are read off the arrows."""

import numpy as np

from ppfs._data.table import Table


def random_dag(seed):
    """Draw 5 to 15 nodes and arrows between them, at most about one for each node; return (n_nodes, edges)."""
    rng = np.random.default_rng(seed)
    n_nodes = int(rng.integers(5, 16))
    order = rng.permutation(n_nodes).tolist()
    chance = rng.uniform(0.8, 2.0) / n_nodes
    edges = [
        (order[i], order[j]) for i in range(n_nodes) for j in range(i + 1, n_nodes) if rng.random() < chance
    ]
    return n_nodes, edges


def true_blanket(edges, node):
    """Return parents, children and the children's other parents."""
    children = {effect for cause, effect in edges if cause == node}
    parents = {cause for cause, effect in edges if effect == node}
    spouses = {cause for cause, effect in edges if effect in children}
    return (parents | children | spouses) - {node}


def empty_table(n_nodes):
    """Return a table of that many variables, the last one the target, for oracles that ignore values."""
    rng = np.random.default_rng(0)
    names = [f"x{i}" for i in range(n_nodes - 1)]
    return Table.of(rng.normal(size=(2, n_nodes - 1)), np.array([0.0, 1.0]), names, "regression")
