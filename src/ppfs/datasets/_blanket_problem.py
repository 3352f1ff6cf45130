"""Problems whose Markov blanket is known because we made them."""

from typing import Any

import numpy as np

from ppfs.datasets._checks import check_choice, check_count, check_family, check_noise, check_probability
from ppfs.datasets._graph import markov_blanket
from ppfs.datasets._mechanisms import Mechanism, simulate
from ppfs.datasets._seeds import RandomState, SeedTree
from ppfs.datasets._structures import Edge, planted_edges, random_edges


def make_blanket_problem(
    n_samples: int = 500,
    *,
    n_features: int = 20,
    n_parents: int = 2,
    n_children: int = 2,
    n_spouses: int = 1,
    n_relatives: int = 5,
    task: str = "regression",
    mechanism: str = "linear",
    n_classes: int = 2,
    noise: float = 0.5,
    structure: str = "planted",
    edge_probability: float = 0.15,
    shuffle: bool = True,
    random_state: RandomState = None,
    return_edges: bool = False,
) -> tuple[Any, ...]:
    """Make a regression or classification problem with a known Markov blanket.

    A random structural model is drawn around the target: some columns cause it, some are caused by it,
    some are spouses (other causes of its children, independent of the target until the child is
    known). Relatives depend on the target but add nothing once the blanket is known; a good search
    drops them. The remaining columns have nothing to do with it.

    Parameters
    ----------
    n_samples : int, default=500
        Number of rows. With the same seed, a smaller problem is the head of a larger one.
    n_features : int, default=20
        Number of columns.
    n_parents, n_children, n_spouses : int, default=2, 2, 1
        Members of the blanket. Spouses need a child. Only for ``structure="planted"``.
    n_relatives : int, default=5
        Columns that depend on the target from outside the blanket: grandparents, grandchildren and
        siblings in turn. Only for ``structure="planted"``.
    task : {"regression", "classification"}, default="regression"
        Kind of target: continuous, or classes 0 to `n_classes` - 1.
    mechanism : {"linear", "nonlinear", "mixed"}, default="linear"
        How columns act on each other.

        - "linear": weighted sums plus Gaussian noise.
        - "nonlinear": each cause acts through a sine, cosine, absolute value or step; two of these
          leave no correlation.
        - "mixed": as "linear", but every second column is categorical with 2 to 4 levels in no
          meaningful order. Categorical columns hold the codes 0, 1, ...; they are the columns with
          whole numbers only: ``np.flatnonzero((X == X.round()).all(axis=0))``.
    n_classes : int, default=2
        Number of classes of a classification target.
    noise : float, default=0.5
        Standard deviation of each column's own noise, that of its causes being 1. Positive: without
        noise columns determine each other, and the blanket is no longer unique.
    structure : {"planted", "random"}, default="planted"
        The wanted family, or a random acyclic graph over all columns and the target, whose blanket is
        whatever comes out (it may be empty).
    edge_probability : float, default=0.15
        Chance of an arc between two nodes. Only for ``structure="random"``.
    shuffle : bool, default=True
        Whether columns come in random order. Otherwise a planted problem has parents, children,
        spouses, relatives and irrelevant columns in this order.
    random_state : int, Generator, RandomState or None
        Seed. Every column has its own stream.
    return_edges : bool, default=False
        Whether to return the graph too.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Floats for regression, integers for classification.
    blanket : ndarray of int
        Columns of the Markov blanket, ascending.
    edges : list of (int, int)
        Arcs from cause to effect, columns being 0 to n_features - 1 and the target n_features, as
        ``DSeparation`` takes them. Only with ``return_edges=True``.

    Examples
    --------
    >>> from ppfs.datasets import make_blanket_problem
    >>> X, y, blanket = make_blanket_problem(200, n_features=8, n_relatives=1, shuffle=False, random_state=0)
    >>> X.shape, blanket.tolist()
    ((200, 8), [0, 1, 2, 3, 4])
    >>> *_, edges = make_blanket_problem(n_features=8, n_relatives=1, shuffle=False, return_edges=True)
    >>> edges
    [(0, 8), (1, 8), (4, 2), (5, 0), (8, 2), (8, 3)]
    """
    check_count("n_samples", n_samples, at_least=1)
    check_count("n_features", n_features, at_least=1)
    check_count("n_classes", n_classes, at_least=2)
    check_choice("task", task, ("regression", "classification"))
    check_choice("mechanism", mechanism, ("linear", "nonlinear", "mixed"))
    check_choice("structure", structure, ("planted", "random"))
    check_noise(noise)
    check_probability("edge_probability", edge_probability)
    seeds = SeedTree(random_state)
    if structure == "planted":
        family = {
            "n_parents": n_parents,
            "n_children": n_children,
            "n_spouses": n_spouses,
            "n_relatives": n_relatives,
        }
        check_family(n_features, **family)
        edges = planted_edges(n_features, **family)
    else:
        edges = random_edges(n_features, edge_probability=edge_probability, stream=seeds.stream(1))
    parents = _parents_of(edges, n_features + 1)
    n_levels = _level_counts(n_features, mechanism, n_classes if task == "classification" else 0)
    rules = Mechanism(curved=mechanism == "nonlinear", nominal=mechanism == "mixed", noise=noise)
    values = simulate(parents, n_levels, rules, n_samples, seeds)
    # order[k] is the node that becomes column k; the target stays last.
    order = seeds.stream(2).permutation(n_features) if shuffle else np.arange(n_features)
    column = np.append(np.argsort(order), n_features)
    X = np.ascontiguousarray(values[:, order])
    y = values[:, n_features].astype(np.int64 if task == "classification" else np.float64)
    blanket = np.sort(column[list(markov_blanket(parents, n_features))])
    if not return_edges:
        return X, y, blanket
    return X, y, blanket, sorted((int(column[cause]), int(column[effect])) for cause, effect in edges)


def _parents_of(edges: list[Edge], n_nodes: int) -> dict[int, list[int]]:
    parents: dict[int, list[int]] = {node: [] for node in range(n_nodes)}
    for cause, effect in edges:
        parents[effect].append(cause)
    return parents


def _level_counts(n_features: int, mechanism: str, target_levels: int) -> dict[int, int]:
    # Every second node, so that each role of a planted problem has both kinds.
    counts = {
        node: 2 + node // 2 % 3 if mechanism == "mixed" and node % 2 == 0 else 0 for node in range(n_features)
    }
    return {**counts, n_features: target_levels}
