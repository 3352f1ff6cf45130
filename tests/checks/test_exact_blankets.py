"""With a d-separation oracle every sound search returns exactly the blanket of the graph."""

from functools import cache

import numpy as np
import pytest
from checks.graphs import empty_table, random_dag, true_blanket

from ppfs._trace import Trace
from ppfs.blanket import (
    FBED,
    HITONMB,
    IAMB,
    IAMBFDR,
    MMMB,
    FastIAMB,
    GrowShrink,
    IAMBnPC,
    InterIAMB,
    InterIAMBnPC,
    MixedMB,
    TIEStar,
)
from ppfs.blanket._steps.questions import Inquiry
from ppfs.independence import DSeparation

# The rarest fault that is known, sets of at most three columns to condition on, shows in two of them: 59 and 131.
N_GRAPHS = 100

SOUND = [
    GrowShrink(),
    IAMB(),
    InterIAMB(),
    FastIAMB(),
    IAMBFDR(),
    FBED(n_runs=1),
    MMMB(max_k=None),
    HITONMB(max_k=None),
]


@cache
def graph(seed):
    """Return a graph's arrows and an oracle, whose answers all searches share."""
    n_nodes, edges = random_dag(seed)
    return edges, DSeparation(edges).bind(empty_table(n_nodes))


def blankets_of_all_nodes(search, oracle):
    """Search around every node in turn."""
    names = oracle.table.names
    for target in range(len(names) + 1):
        found = search._search(Inquiry(oracle, target, 0.05, Trace(names), 0))
        assert len(found) == len(set(found))
        yield target, set(found)


@pytest.mark.parametrize("search", SOUND, ids=lambda search: type(search).__name__)
def test_sound_search_returns_the_blanket_of_every_node_of_random_graphs(search):
    for seed in range(N_GRAPHS):
        edges, oracle = graph(seed)
        for target, found in blankets_of_all_nodes(search, oracle):
            assert found == true_blanket(edges, target), (seed, target)


@pytest.mark.parametrize("search", [IAMBnPC(), InterIAMBnPC()], ids=lambda search: type(search).__name__)
def test_npc_search_returns_at_least_the_blanket_of_every_node(search):
    for seed in range(N_GRAPHS):
        edges, oracle = graph(seed)
        for target, found in blankets_of_all_nodes(search, oracle):
            assert found >= true_blanket(edges, target), (seed, target)


@pytest.mark.parametrize(
    "search",
    [*SOUND, MixedMB(), TIEStar()],
    ids=lambda search: type(search).__name__,
)
def test_the_same_holds_through_fit(search):
    for seed in range(20):
        n_nodes, edges = random_dag(seed)
        X, y = np.zeros((4, n_nodes - 1)), np.array([0.5, 1.5, 2.5, 3.5])
        X[:, 0] = y
        fitted = search.set_params(independence=DSeparation(edges)).fit(X, y)
        assert set(fitted.blanket_) == true_blanket(edges, n_nodes - 1)
