import copy
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ppfs.datasets import BayesianNetwork
from ppfs.datasets._graph import CycleError
from ppfs.datasets._network import _draw, shorten

YES_NO = ("yes", "no")


@pytest.fixture
def cancer():
    """Two causes of cancer, two signs of it; probabilities of Korb and Nicholson's textbook example."""
    return BayesianNetwork(
        states={"pollution": ("low", "high"), "smoker": YES_NO, "cancer": YES_NO, "xray": YES_NO, "breath": YES_NO},
        parents={"cancer": ("pollution", "smoker"), "xray": ("cancer",), "breath": ("cancer",)},
        tables={
            "pollution": [0.9, 0.1],
            "smoker": [0.3, 0.7],
            "cancer": [[[0.03, 0.97], [0.001, 0.999]], [[0.05, 0.95], [0.02, 0.98]]],
            "xray": [[0.9, 0.1], [0.2, 0.8]],
            "breath": [[0.65, 0.35], [0.3, 0.7]],
        },
    )  # fmt: skip


def test_family_of_a_node(cancer):
    assert cancer.children("cancer") == ("xray", "breath")
    assert cancer.edges == (
        ("pollution", "cancer"),
        ("smoker", "cancer"),
        ("cancer", "xray"),
        ("cancer", "breath"),
    )


def test_blanket_is_parents_children_and_spouses(cancer):
    assert cancer.markov_blanket("cancer") == ("pollution", "smoker", "xray", "breath")
    assert cancer.markov_blanket("smoker") == ("pollution", "cancer")  # pollution is a spouse
    assert cancer.markov_blanket("xray") == ("cancer",)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda network: pickle.loads(pickle.dumps(network))])  # noqa: S301
def test_a_network_can_be_copied_and_pickled(cancer, copied):
    other = copied(cancer)
    assert (other.nodes, other.edges) == (cancer.nodes, cancer.edges)
    np.testing.assert_array_equal(
        other.sample_codes(20, random_state=0), cancer.sample_codes(20, random_state=0)
    )


def test_unknown_node_is_named(cancer):
    for method in (cancer.parents, cancer.children, cancer.markov_blanket, cancer.states, cancer.table):
        with pytest.raises(KeyError, match="no node 'age'; the nodes are pollution, smoker"):
            method("age")


def test_tables_cannot_be_changed_from_outside(cancer):
    with pytest.raises(ValueError, match="read-only"):
        cancer.table("smoker")[0] = 1


def test_constructor_checks_shapes():
    with pytest.raises(ValueError, match=r"table of 'x' has shape \(3,\).* ask for \(2,\)"):
        BayesianNetwork({"x": YES_NO}, {}, {"x": [0.2, 0.3, 0.5]})


def test_constructor_checks_cycles():
    table = [[0.5, 0.5], [0.5, 0.5]]
    with pytest.raises(CycleError, match="cycle"):
        BayesianNetwork({"x": YES_NO, "y": YES_NO}, {"x": ["y"], "y": ["x"]}, {"x": table, "y": table})


def test_sample_frequencies_follow_the_tables(cancer):
    n = 200_000
    codes = cancer.sample_codes(n, random_state=0)
    pollution, smoker, sick, xray, _ = codes.T
    # Four standard deviations of a frequency are at most 4 x 0.5 / sqrt(rows).
    assert np.mean(pollution == 0) == pytest.approx(0.9, abs=2 / np.sqrt(n))
    exposed = (pollution == 0) & (smoker == 0)
    assert np.mean(sick[exposed] == 0) == pytest.approx(0.03, abs=2 / np.sqrt(exposed.sum()))
    assert np.mean(xray[sick == 0] == 0) == pytest.approx(0.9, abs=2 / np.sqrt((sick == 0).sum()))


def test_impossible_states_are_never_drawn():
    states = {"x": ("a", "b", "c", "d")}
    network = BayesianNetwork(states, {}, {"x": [0.0, 0.3, 0.7, 0.0]})
    assert set(network.sample_codes(10_000, random_state=1).ravel()) == {1, 2}


def test_node_with_one_state_is_constant():
    network = BayesianNetwork({"x": ("only",)}, {}, {"x": [1.0]})
    assert set(network.sample_codes(10, random_state=1).ravel()) == {0}


def test_same_seed_same_sample(cancer):
    np.testing.assert_array_equal(cancer.sample_codes(50, 3), cancer.sample_codes(50, 3))
    assert (cancer.sample_codes(50, 3) != cancer.sample_codes(50, 4)).any()


def test_fewer_rows_are_a_prefix(cancer):
    np.testing.assert_array_equal(cancer.sample_codes(10, 3), cancer.sample_codes(50, 3)[:10])


def test_stream_of_a_node_depends_on_its_position_alone():
    table = [[0.5, 0.5], [0.5, 0.5]]
    forward = BayesianNetwork({"x": YES_NO, "y": YES_NO}, {"y": ["x"]}, {"x": [0.5, 0.5], "y": table})
    backward = BayesianNetwork({"x": YES_NO, "y": YES_NO}, {"x": ["y"]}, {"x": table, "y": [0.5, 0.5]})
    # The order of evaluation is reversed; the tables ignore the parents, so nothing may change.
    np.testing.assert_array_equal(forward.sample_codes(100, 0), backward.sample_codes(100, 0))


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_generators_seed_and_advance(cancer, make):
    first, second = make(0), make(0)
    np.testing.assert_array_equal(cancer.sample_codes(50, first), cancer.sample_codes(50, second))
    assert (cancer.sample_codes(50, first) != cancer.sample_codes(50, make(0))).any()


def test_global_state_is_left_alone(cancer):
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    cancer.sample_codes(10)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_pandas_sample_keeps_states_that_were_not_drawn(cancer):
    frame = cancer.sample(5, random_state=0)
    assert isinstance(frame, pd.DataFrame)
    assert tuple(frame.columns) == cancer.nodes
    assert tuple(frame["pollution"].cat.categories) == ("low", "high")
    codes = np.column_stack([frame[name].cat.codes for name in frame])
    np.testing.assert_array_equal(codes, cancer.sample_codes(5, random_state=0))


def test_polars_sample_holds_the_same(cancer):
    frame = cancer.sample(20, random_state=0, backend="polars")
    assert frame.schema["smoker"] == pl.Enum(YES_NO)
    assert frame["smoker"].to_list() == cancer.sample(20, random_state=0)["smoker"].tolist()


def test_sample_needs_rows(cancer):
    with pytest.raises(ValueError, match="n is 0"):
        cancer.sample(0)


@pytest.mark.parametrize("seed", [-1, 1.5, "seed"])
def test_bad_seed_is_shown(cancer, seed):
    with pytest.raises(ValueError, match=rf"random_state is {seed!r}; it must be"):
        cancer.sample_codes(3, random_state=seed)


def test_a_state_of_probability_zero_is_never_drawn_though_the_rest_is_rounded_down():
    """Published tables add up to 0.999999 or so; a uniform number above it must not fall through to the end."""
    table = np.array([[0.3, 0.699995, 0.0], [0.5, 0.5, 0.0]])
    above = (np.array([0, 0, 0, 1]),)
    uniform = np.array([0.2999, 0.3001, 0.999999, 0.999999])
    assert _draw(table, above, uniform).tolist() == [0, 1, 1, 1]


def test_the_shares_of_a_rounded_table_are_those_of_its_sum():
    # 0.4 of 0.9999 is 0.40004: a uniform number between the two is still the first state.
    assert _draw(np.array([[0.4, 0.5999]]), (np.array([0, 0]),), np.array([0.40003, 0.40005])).tolist() == [
        0,
        1,
    ]


def message(**tables):
    states = {"a": ["x", "y"], "b": ["u", "v", "w"], "c": ["s", "t"]}
    usual = {"a": [0.5, 0.5], "b": [[0.5, 0.5, 0]] * 2, "c": np.full((3, 2, 2), 0.5)}
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        BayesianNetwork(states, {"b": ["a"], "c": ["b", "a"]}, {**usual, **tables})
    return str(raised.value)


AND_SUM = "they must be non-negative and sum to 1 within 1e-05"


@pytest.mark.parametrize(
    ("tables", "said"),
    [
        ({"a": [0.5, 0.6]}, f"the probabilities of 'a' are 0.5, 0.6 and sum to 1.1; {AND_SUM}"),
        ({"a": [0.5, 0.50002]}, f"the probabilities of 'a' are 0.5, 0.50002 and sum to 1.00002; {AND_SUM}"),
        ({"a": [1.5, -0.5]}, f"the probabilities of 'a' are 1.5, -0.5 and sum to 1; {AND_SUM}"),
        ({"a": [np.nan, 1]}, f"the probabilities of 'a' are nan, 1.0 and sum to nan; {AND_SUM}"),
        (
            {"b": [[0.5, 0.5, 0], [0.5, 0.5, 0.1]]},
            f"the probabilities of 'b' given (y) are 0.5, 0.5, 0.1 and sum to 1.1; {AND_SUM}",
        ),
        (
            {"c": np.where(np.arange(6).reshape(3, 2, 1) == 3, 0.25, np.full((3, 2, 2), 0.5))},
            f"the probabilities of 'c' given (v, y) are 0.25, 0.25 and sum to 0.5; {AND_SUM}",
        ),
        (
            {"b": [[0.5, 0.5], [0.5, 0.5]]},
            "the table of 'b' has shape (2, 2); parents and states ask for (2, 3)",
        ),
    ],
)
def test_tables_that_are_no_distributions_are_refused_word_for_word(tables, said):
    assert message(**tables) == said


@pytest.mark.parametrize("excess", [0.0, 9e-6, -9e-6])
def test_rounded_tables_are_taken(excess):
    network = BayesianNetwork({"a": ["x", "y"]}, {}, {"a": [0.5, 0.5 + excess]})
    assert repr(network) == "BayesianNetwork(1 nodes, 0 arcs)"


@pytest.mark.parametrize(
    ("n", "shown"), [(8, "0, 1, 2, 3, 4, 5, 6, 7"), (9, "0, 1, 2, 3, 4, 5, 6, 7, ... (9 in all)"), (0, "")]
)
def test_eight_values_are_shown(n, shown):
    assert shorten(range(n)) == shown


def test_one_row_is_a_sample(cancer):
    assert cancer.sample_codes(1, 0).shape == (1, len(cancer.nodes))
    assert cancer.sample_codes(3, 0).flags.f_contiguous


def test_states_are_drawn_at_the_edges_of_their_intervals():
    table = np.array([[0.25, 0.5, 0.25], [0.0, 0.0, 1.0]])
    above = np.zeros(5, dtype=np.intp)
    uniform = np.array([0.0, 0.2499, 0.25, 0.7499, 0.75])
    assert _draw(table, (above,), uniform).tolist() == [0, 0, 1, 1, 2]
    assert _draw(table, (above + 1,), uniform).tolist() == [2] * 5
    assert _draw(table[0], (), uniform).tolist() == [0, 0, 1, 1, 2]
