"""d-separation on graphs small enough to check by eye, and against the definition."""

from itertools import chain, combinations

import numpy as np
import pytest
from checks.graphs import empty_table, random_dag

from ppfs.exceptions import InvalidInputError
from ppfs.independence import DSeparation

X, Y = np.zeros((4, 2)), np.arange(4)


def pvalue(edges, x, given=()):
    return DSeparation(edges).evaluate(X, Y, x, given=given).pvalue


def test_chain_is_blocked_in_the_middle():
    chain_of_three = [(0, 1), (1, 2)]
    assert pvalue(chain_of_three, 0) == 0
    assert pvalue(chain_of_three, 0, given=[1]) == 1


def test_common_cause_is_blocked_by_the_cause():
    fork = [(1, 0), (1, 2)]
    assert pvalue(fork, 0) == 0
    assert pvalue(fork, 0, given=[1]) == 1


def test_collider_is_opened_by_itself_and_by_its_descendants():
    assert pvalue([(0, 1), (2, 1)], 0) == 1
    assert pvalue([(0, 1), (2, 1)], 0, given=[1]) == 0
    wide = DSeparation([(0, 1), (3, 1), (1, 2)]).bind(empty_table(4))
    assert wide.query(0, 3).pvalue == 1
    assert wide.query(0, 3, (2,)).pvalue == 0


def moral_graph_separates(edges, x, target, given):
    """Ask the classical criterion: separation in the moral graph of the ancestors."""
    nodes = {x, target, *given}
    while True:
        upstream = {cause for cause, effect in edges if effect in nodes} | nodes
        if upstream == nodes:
            break
        nodes = upstream
    kept = [(a, b) for a, b in edges if a in nodes and b in nodes]
    married = [(a, b) for (a, child), (b, other) in combinations(kept, 2) if child == other]
    reached, frontier = {x}, [x]
    while frontier:
        node = frontier.pop()
        near = {b if a == node else a for a, b in chain(kept, married) if node in (a, b)}
        frontier += near - reached - set(given)
        reached |= near - set(given)
    return target not in reached


@pytest.mark.parametrize("seed", range(10))
def test_agrees_with_the_moral_graph_criterion(seed):
    n_nodes, edges = random_dag(seed)
    oracle = DSeparation(edges).bind(empty_table(n_nodes))
    rng = np.random.default_rng(seed)
    for _ in range(100):
        x, target, *others = rng.permutation(n_nodes).tolist()
        given = others[: rng.integers(0, len(others) + 1)]
        is_separated = oracle.query(x, target, given).pvalue == 1
        assert is_separated == moral_graph_separates(edges, x, target, given)


def test_cycles_and_unknown_nodes_are_refused():
    with pytest.raises(InvalidInputError, match="must form no cycle"):
        pvalue([(0, 1), (1, 0)], 0)
    with pytest.raises(InvalidInputError, match=r"Edge \(0, 3\) names a node that does not exist"):
        pvalue([(0, 3)], 0)
