"""d-separation on graphs small enough to check by eye, and against the definition."""

import re
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from checks.graphs import empty_table, random_dag

from ppfs._data.reading import read_table
from ppfs.blanket import IAMB
from ppfs.datasets import BayesianNetwork
from ppfs.exceptions import InvalidInputError
from ppfs.independence import DSeparation, IndependenceResult

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
    with pytest.raises(InvalidInputError, match="must not form a cycle"):
        pvalue([(0, 1), (1, 0)], 0)
    with pytest.raises(InvalidInputError, match=r"Edge \(0, 3\) names a node that does not exist"):
        pvalue([(0, 3)], 0)


# Nodes by name -----------------------------------------------------------------------------------------

FRAME = pd.DataFrame(np.zeros((4, 3)), columns=["rain", "shoes", "sprinkler"])
GARDEN = [("rain", "wet"), ("sprinkler", "wet"), ("wet", "shoes")]


def test_edges_by_name_answer_as_edges_by_number():
    named = DSeparation(GARDEN, target="wet")
    numbered = DSeparation([(0, 3), (2, 3), (3, 1)])
    for x in range(3):
        for given in ([], [1], [0, 1]):
            if x not in given:
                by_name = named.evaluate(FRAME, Y, FRAME.columns[x], given=[FRAME.columns[z] for z in given])
                assert by_name == numbered.evaluate(FRAME, Y, x, given=given)
    # The order of the columns is nothing to names.
    turned = IAMB(independence=named).fit(FRAME[FRAME.columns[::-1]], Y)
    assert set(turned.get_feature_names_out()) == set(FRAME.columns)


@pytest.mark.parametrize("seed", range(3))
def test_a_network_gives_every_node_its_own_blanket(seed):
    n_nodes, edges = random_dag(seed)
    parents = {f"n{node}": [f"n{a}" for a, b in edges if b == node] for node in range(n_nodes)}
    tables = {node: np.full((2,) * (len(above) + 1), 0.5) for node, above in parents.items()}
    network = BayesianNetwork(dict.fromkeys(parents, ("no", "yes")), parents, tables)
    for node in network.nodes:
        frame = pd.DataFrame(
            np.zeros((4, n_nodes - 1)), columns=[name for name in network.nodes if name != node]
        )
        found = IAMB(independence=DSeparation(network, target=node)).fit(frame, Y).get_feature_names_out()
        assert set(found) == set(network.markov_blanket(node))


def test_nodes_of_a_network_that_are_no_columns_are_hidden():
    class Chain:
        nodes = ("a", "b", "t")
        edges = (("a", "b"), ("b", "t"))

    frame = pd.DataFrame(np.zeros((4, 2)), columns=["a", "noise"])
    oracle = DSeparation(Chain(), target="t")
    # Through the hidden b, which no one can condition on.
    assert oracle.evaluate(frame, Y, "a").pvalue == 0
    assert oracle.evaluate(frame, Y, "noise").pvalue == 1


@pytest.mark.parametrize(
    ("edges", "target", "message"),
    [
        ([("rain", "wet")], None, "names 'wet', which is not a column.*DSeparation(edges, target='wet')"),
        (
            [("rian", "wet")],
            "wet",
            "names 'rian', which is not a column.*Did you mean 'rain'? The target is 'wet'",
        ),
        (GARDEN, "shoes", "target='shoes' is also a column of X. Drop the column"),
        ([*GARDEN, ("shoes", "rain")], "wet", "must not form a cycle, but "),
        ([(0, 1, 2)], None, "An edge is a pair (cause, effect), but edges contains (0, 1, 2)"),
        (["ab"], None, "An edge is a pair (cause, effect), but edges contains 'ab'"),
        ([(0, 1.5)], None, "must hold names or numbers of columns, but 1.5 is neither"),
        ("rain", None, "edges must list arrows (cause, effect), or be a network"),
        (None, None, "edges must list arrows (cause, effect), or be a network"),
    ],
)
def test_edges_that_cannot_be_read(edges, target, message):
    pattern = re.escape(message).replace(r"\.\*", ".*")
    with pytest.raises(InvalidInputError, match=pattern):
        DSeparation(edges, target).evaluate(FRAME, Y, 0)


def test_a_network_needs_a_target_among_its_nodes():
    class Chain:
        nodes = ("rain", "wet")
        edges = (("rain", "wet"),)

    for target, message in (
        ("wett", "target='wett' is not a node.*Did you mean 'wet'"),
        (None, "target=None is not a node"),
    ):
        with pytest.raises(InvalidInputError, match=message):
            DSeparation(Chain(), target).evaluate(FRAME, Y, 0)


@pytest.mark.parametrize(
    ("edges", "target", "message"),
    [
        ([(0, 1), (1, 0)], None, "The edges must not form a cycle, but 0 -> 1 -> 0 does."),
        (
            [(0, 4)],
            None,
            "Edge (0, 4) names a node that does not exist: with 3 columns the nodes are 0 to 3, and 3 is the target.",
        ),
        (
            [(-1, 2)],
            None,
            "Edge (-1, 2) names a node that does not exist: with 3 columns the nodes are 0 to 3, and 3 is the target.",
        ),
        ([(0, 1.5)], None, "Edge (0, 1.5) must hold names or numbers of columns, but 1.5 is neither."),
        ([(0,)], None, "An edge is a pair (cause, effect), but edges contains (0,)."),
        ([7], None, "An edge is a pair (cause, effect), but edges contains 7."),
        (
            7,
            None,
            "edges must list arrows (cause, effect), or be a network with nodes and edges, but is 7.",
        ),
        (
            [["rain", "wett"]],
            "wet",
            "Edge ('rain', 'wett') names 'wett', which is not a column. The columns are 'rain', 'shoes', 'sprinkler'. "
            "The target is 'wet'.",
        ),
        (
            [("rain", "")],
            None,
            "Edge ('rain', '') names '', which is not a column. The columns are 'rain', 'shoes', 'sprinkler'. If it is "
            "the target, say so: DSeparation(edges, target='').",
        ),
        ([], "rain", "target='rain' is also a column of X. Drop the column: the target is what y holds."),
    ],
)
def test_what_is_wrong_with_edges_is_told_as_a_whole(edges, target, message):
    with pytest.raises(InvalidInputError) as raised:
        DSeparation(edges, target).evaluate(FRAME, Y, 0)
    assert str(raised.value) == message


def test_a_cycle_is_told_in_the_direction_of_its_arrows():
    with pytest.raises(InvalidInputError) as raised:
        DSeparation([("rain", "wet"), ("wet", "shoes"), ("shoes", "rain")], "wet").evaluate(FRAME, Y, 0)
    circle = str(raised.value).removeprefix("The edges must not form a cycle, but ").removesuffix(" does.")
    # It begins anywhere.
    assert circle in (
        "rain -> wet -> shoes -> rain",
        "wet -> shoes -> rain -> wet",
        "shoes -> rain -> wet -> shoes",
    )


class Hidden:
    """Two hidden variables: h acts on rain and wet, and i is an effect of both."""

    nodes = ("h", "rain", "wet", "i", "shoes")
    edges = (("h", "rain"), ("h", "wet"), ("rain", "i"), ("wet", "i"), ("i", "shoes"))


def test_hidden_nodes_get_numbers_after_the_target():
    oracle = DSeparation(Hidden(), target="wet")
    bound = oracle.bind(empty_table_of(FRAME))
    # Columns rain, shoes and sprinkler, the target, then h and i.
    assert bound._parents == [{4}, {5}, set(), {4}, set(), {0, 3}]
    assert bound._children == [{5}, set(), set(), {5}, {0, 3}, {1}]
    assert [bound.query(x, 3).pvalue for x in range(3)] == [0.0, 0.0, 1.0]
    assert bound.query(1, 3, (0,)).pvalue == 0.0
    with pytest.raises(InvalidInputError) as raised:
        DSeparation(Hidden(), target="wett").bind(empty_table_of(FRAME))
    assert str(raised.value) == (
        "target='wett' is not a node of the network, whose nodes are 'h', 'rain', 'wet', 'i', 'shoes'. Did you mean "
        "'wet'? Pass the name of the node that y holds as target."
    )
    with pytest.raises(
        InvalidInputError, match=r"^target=None is not a node of the network, whose nodes are 'h', "
    ):
        DSeparation(Hidden()).bind(empty_table_of(FRAME))


def empty_table_of(frame):
    return read_table(frame, Y, task="regression", owner=IAMB())


def test_the_oracle_answers_with_one_and_nothing():
    dependent, independent = DSeparation([(0, 3)]).bind(empty_table(4)).query_many([0, 1], 3)
    assert dependent == IndependenceResult(0.0, 1.0, 1.0)
    assert independent == IndependenceResult(1.0, 0.0, 0.0)
    assert DSeparation.reads_task is False


def test_numbers_may_be_those_of_numpy_and_names_may_mix_with_them():
    plain = DSeparation([(0, 1), (1, 3)]).bind(empty_table(4))._parents
    assert DSeparation([(np.int64(0), np.int8(1)), ("x1", 3)]).bind(empty_table(4))._parents == plain
