"""Simulated problems with a known Markov blanket."""

from typing import Any

import numpy as np

from ppfs.datasets._checks import check_choice, check_count, check_family, check_noise, check_probability
from ppfs.datasets._graph import markov_blanket
from ppfs.datasets._mechanisms import Mechanism, simulate
from ppfs.datasets._presentation import Presentation, harmless_gaps
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
    n_categorical: int = 0,
    n_grouped: int = 0,
    missing: float = 0.0,
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
          integers only: ``np.flatnonzero((X == X.round()).all(axis=0))``.
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
    n_categorical : int, default=0
        Number of features that hold text: 2 to 4 categories in no meaningful order. X is then a data
        frame, of pandas if installed, else of polars. Every second feature of the unshuffled order is
        one until there are enough, so each role gets some.
    n_grouped : int, default=0
        Number of features that are two columns, like hours and minutes: the first continuous ones of the
        unshuffled order. Only both columns together determine the feature's value.
    missing : float, default=0.0
        Share of values that are missing, by chance, in every feature where this leaves the blanket as it
        is: outside the blanket, and in members with no relatives (when a parent is missing, a
        grandparent is informative about the target). With ``n_relatives=0`` that is everywhere.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features + n_grouped), or a data frame
    y : ndarray of shape (n_samples,)
        Floats for regression, integers for classification.
    blanket : ndarray of int
        Features of the Markov blanket, ascending. Without groups a feature is a column; a group is one
        feature, counted where its first column stands.
    feature_groups : dict of str to list
        The columns of each group, as ``feature_groups`` of a search takes them: numbers, or names if X is
        a data frame. Only with ``n_grouped > 0``.
    edges : list of (int, int)
        Arcs from cause to effect, features being 0 to n_features - 1 and the target n_features, as
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

    A realistic table: text, missing values, and features of two columns.

    >>> X, y, blanket, feature_groups = make_blanket_problem(
    ...     200, n_features=6, n_relatives=0, n_categorical=2, n_grouped=1, missing=0.1, shuffle=False, random_state=0
    ... )
    >>> list(X.columns), feature_groups
    (['x0', 'x1_coarse', 'x1_fine', 'x2', 'x3', 'x4', 'x5'], {'group0': ['x1_coarse', 'x1_fine']})
    >>> blanket.tolist()  # the group is feature 1
    [0, 1, 2, 3, 4]
    """
    check_count("n_samples", n_samples, at_least=1)
    check_count("n_features", n_features, at_least=1)
    check_count("n_classes", n_classes, at_least=2)
    check_choice("task", task, ("regression", "classification"))
    check_choice("mechanism", mechanism, ("linear", "nonlinear", "mixed"))
    check_choice("structure", structure, ("planted", "random"))
    check_noise(noise)
    check_probability("edge_probability", edge_probability)
    _check_presentation(n_features, mechanism, n_categorical, n_grouped, missing)
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
    categorical = _categorical_nodes(n_features, mechanism, n_categorical)
    n_levels = {node: 2 + node // 2 % 3 if node in categorical else 0 for node in range(n_features)}
    n_levels[n_features] = n_classes if task == "classification" else 0
    rules = Mechanism(curved=mechanism == "nonlinear", nominal=bool(categorical), noise=noise)
    values = simulate(parents, n_levels, rules, n_samples, seeds)
    # order[k] is the node that becomes feature k; the target stays last.
    order = seeds.stream(2).permutation(n_features) if shuffle else np.arange(n_features)
    feature = np.append(np.argsort(order), n_features)
    continuous = [node for node in range(n_features) if node not in categorical]
    presentation = Presentation(
        categorical=frozenset(categorical if n_categorical else ()),
        grouped=frozenset(continuous[:n_grouped]),
        with_gaps=harmless_gaps(parents, n_features) if missing else frozenset(),
        missing=missing,
    )
    X, groups = presentation.table(values, order.tolist(), seeds)
    y = values[:, n_features].astype(np.int64 if task == "classification" else np.float64)
    blanket = np.sort(feature[list(markov_blanket(parents, n_features))])
    arcs = sorted((int(feature[cause]), int(feature[effect])) for cause, effect in edges)
    return X, y, blanket, *([groups] if n_grouped else []), *([arcs] if return_edges else [])


def _parents_of(edges: list[Edge], n_nodes: int) -> dict[int, list[int]]:
    parents: dict[int, list[int]] = {node: [] for node in range(n_nodes)}
    for cause, effect in edges:
        parents[effect].append(cause)
    return parents


def _categorical_nodes(n_features: int, mechanism: str, n_categorical: int) -> list[int]:
    # Every second node first, so that each role of a planted problem has both kinds.
    even = list(range(0, n_features, 2))
    return even if mechanism == "mixed" else [*even, *range(1, n_features, 2)][:n_categorical]


def _check_presentation(
    n_features: int, mechanism: str, n_categorical: int, n_grouped: int, missing: float
) -> None:
    check_count("n_categorical", n_categorical, at_least=0)
    check_count("n_grouped", n_grouped, at_least=0)
    if mechanism == "mixed" and n_categorical:
        raise ValueError(
            f"n_categorical is {n_categorical} with mechanism='mixed', whose categories are codes in every second "
            "column. Use mechanism='linear' or 'nonlinear' with n_categorical, or leave n_categorical at 0."
        )
    n_continuous = n_features - len(_categorical_nodes(n_features, mechanism, n_categorical))
    if n_categorical > n_features or n_grouped > n_continuous:
        raise ValueError(
            f"n_categorical={n_categorical} and n_grouped={n_grouped} do not fit into n_features={n_features}: groups "
            f"are made of continuous features, of which there are {n_continuous}. Raise n_features or ask for fewer."
        )
    if not 0 <= missing < 1:
        raise ValueError(f"missing is {missing!r}; it must be at least 0 and less than 1.")
