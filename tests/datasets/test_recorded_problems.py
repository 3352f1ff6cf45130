"""Simulated problems and samples of networks: what a seed draws is on record, value for value."""

import numpy as np
import pandas as pd
import pytest
from checks.recorded import Record

from ppfs.datasets import make_blanket_problem
from ppfs.datasets._bif import parse_network
from ppfs.datasets._mechanisms import CURVES, Mechanism, _cut, _level_names, _level_scores
from ppfs.datasets._presentation import harmless_gaps
from ppfs.datasets._seeds import SeedTree
from ppfs.datasets._structures import planted_edges, random_edges

RECORD = Record(__file__)
CLASSES = {"task": "classification"}
PROBLEMS = {
    "defaults": {},
    "not shuffled": {"shuffle": False},
    "classes": CLASSES,
    "five classes": {**CLASSES, "n_classes": 5},
    "nonlinear": {"mechanism": "nonlinear", "n_features": 12},
    "mixed": {"mechanism": "mixed", "n_features": 11},
    "mixed classes": {"mechanism": "mixed", "n_classes": 3, **CLASSES},
    "little noise": {"noise": 0.01, "n_relatives": 0},
    "random": {"structure": "random", "n_features": 8},
    "dense": {"structure": "random", "n_features": 6, "edge_probability": 0.7},
    "large family": {"n_parents": 4, "n_children": 3, "n_spouses": 5, "n_relatives": 7},
    "no children": {"n_children": 0, "n_spouses": 0, "n_relatives": 4, "n_features": 8},
    "no parents": {"n_parents": 0, "n_relatives": 3, "n_features": 8},
    "text": {"n_categorical": 3, "n_features": 10, "n_relatives": 2},
    "text in all columns": {"n_categorical": 6, "n_features": 6, "n_relatives": 1},
    "groups": {"n_grouped": 2, "n_features": 8, "n_relatives": 1},
    "missing values": {"missing": 0.4, "n_features": 9, "n_relatives": 3},
    "all": {"n_categorical": 3, "n_grouped": 2, "missing": 0.3, "n_features": 9, "n_relatives": 2, **CLASSES},
    "all in order": {
        "n_categorical": 2,
        "n_grouped": 3,
        "missing": 0.5,
        "n_features": 7,
        "n_relatives": 0,
        "shuffle": False,
    },
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_problems_are_those_on_record(name):
    X, y, blanket, *more = make_blanket_problem(9, random_state=5, return_edges=True, **PROBLEMS[name])
    frame = pd.DataFrame(X)
    values = frame.astype(object).where(frame.notna(), None)
    found = {
        "columns": list(map(str, frame.columns)),
        "values": values.to_numpy().tolist(),
        "kinds": sorted({str(dtype) for dtype in frame.dtypes if dtype.kind in "fi"}),
        "y": y,
        "kind of y": str(y.dtype),
        "blanket": blanket,
        "more": more,
    }
    RECORD.check(name, found)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_features": 10}, None),
        (
            {"n_features": 9},
            "n_features is 9, but n_parents=2, n_children=2, n_spouses=1, n_relatives=5 need 10 columns.",
        ),
        ({"n_children": 0}, "n_spouses is 1 with n_children=0"),
        ({"n_children": 0, "n_spouses": 0}, None),
        ({"n_parents": 0, "n_children": 0, "n_spouses": 0}, "n_relatives is 5 without parents and children"),
        ({"n_parents": 0, "n_children": 0, "n_spouses": 0, "n_relatives": 0}, None),
        ({"n_parents": -1}, "n_parents is -1; it must be an integer of at least 0."),
        ({"n_samples": 0}, "n_samples is 0; it must be an integer of at least 1."),
        ({"n_features": 1, "structure": "random"}, None),
        ({"n_features": 0}, "n_features is 0; it must be an integer of at least 1."),
        ({"n_features": True}, "n_features is True; it must be an integer"),
        ({"n_classes": 1}, "n_classes is 1; it must be an integer of at least 2."),
        ({"noise": 0}, "noise is 0; it must be positive and finite."),
        ({"noise": float("inf")}, "noise is inf; it must be positive and finite."),
        ({"edge_probability": -0.1}, "edge_probability is -0.1; it must lie between 0 and 1."),
        ({"edge_probability": 1.1}, "edge_probability is 1.1; it must lie between 0 and 1."),
        ({"edge_probability": 0, "structure": "random"}, None),
        ({"edge_probability": 1, "structure": "random"}, None),
        ({"task": "a"}, "task is 'a'; choose one of: regression, classification."),
        ({"missing": 1}, "missing is 1; it must be at least 0 and less than 1."),
        ({"missing": -0.1}, "missing is -0.1; it must be at least 0 and less than 1."),
        ({"missing": 0.99}, None),
        ({"n_categorical": -1}, "n_categorical is -1; it must be an integer of at least 0."),
        ({"n_grouped": -1}, "n_grouped is -1; it must be an integer of at least 0."),
        ({"n_categorical": 1, "mechanism": "mixed"}, "n_categorical is 1 with mechanism='mixed'"),
        ({"n_categorical": 20}, None),
        ({"n_categorical": 21}, "n_categorical=21 and n_grouped=0 do not fit into n_features=20"),
        ({"n_categorical": 15, "n_grouped": 5}, None),
        (
            {"n_categorical": 15, "n_grouped": 6},
            "n_categorical=15 and n_grouped=6 do not fit into n_features=20",
        ),
        ({"mechanism": "mixed", "n_grouped": 10}, None),
        (
            {"mechanism": "mixed", "n_grouped": 11},
            "groups are made of continuous features, of which there are 10.",
        ),
    ],
)
def test_limits_of_what_can_be_made(settings, message):
    if message is None:
        make_blanket_problem(**{"n_samples": 3, "random_state": 0, **settings})
    else:
        with pytest.raises(ValueError) as raised:  # noqa: PT011
            make_blanket_problem(**{"n_samples": 3, "random_state": 0, **settings})
        assert message in str(raised.value)


def test_planted_edges():
    assert planted_edges(9, n_parents=2, n_children=2, n_spouses=3, n_relatives=2) == (
        [(0, 9), (1, 9), (9, 2), (9, 3), (4, 2), (5, 3), (6, 2), (7, 0), (2, 8)]
    )
    assert planted_edges(9, n_parents=1, n_children=0, n_spouses=0, n_relatives=3) == [
        (0, 9),
        (1, 0),
        (0, 2),
        (3, 0),
    ]


@pytest.mark.parametrize(("probability", "n_edges"), [(0.0, 0), (1.0, 10)])
def test_random_edges(probability, n_edges):
    edges = random_edges(4, edge_probability=probability, stream=np.random.default_rng(0))
    assert len(set(edges)) == n_edges


def test_gaps_are_harmless_outside_the_blanket_and_where_nothing_is_behind_a_member():
    # 0 -> 1 -> target 4 -> 2, and 3 alone.
    parents = {0: [], 1: [0], 2: [4], 3: [], 4: [1]}
    assert harmless_gaps(parents, 4) == {0, 2, 3}


def test_curves_have_mean_0_and_variance_1():
    # The midpoints of 20,000 equally likely parts of a normal distribution.
    from scipy.stats import norm

    x = norm.ppf((np.arange(20_000) + 0.5) / 20_000)
    for curve in CURVES:
        np.testing.assert_allclose([curve(x).mean(), curve(x).var()], [0, 1], atol=2e-3)
    assert [round(float(curve(np.array([0.5]))[0]), 6) for curve in CURVES] == [
        0.969382,
        0.643456,
        -0.49416,
        1.0,
    ]
    assert CURVES[3](np.array([0.0]))[0] == -1.0


def test_levels_are_equally_likely_and_in_order_unless_they_are_nominal():
    assert _cut(np.array([-1.0, -0.4, 0.0, 0.4, 1.0]), 3).tolist() == [0, 1, 1, 1, 2]
    plain, nominal = (Mechanism(curved=False, nominal=flag, noise=0.5) for flag in (False, True))
    stream = np.random.default_rng(0)
    np.testing.assert_allclose(_level_scores(3, plain, stream), np.array([-1, 0, 1]) * np.sqrt(1.5))
    assert _level_names(3, plain, stream).tolist() == [0, 1, 2]
    assert sorted(_level_scores(3, nominal, np.random.default_rng(1))) == sorted(
        _level_scores(3, plain, stream)
    )
    assert _level_names(4, nominal, np.random.default_rng(2)).tolist() != [0, 1, 2, 3]


@pytest.mark.parametrize(
    ("root", "first"),
    [
        (3, 3),
        (np.int64(3), 3),
        (np.random.default_rng(3), int(np.random.default_rng(3).integers(2**63))),
        (
            np.random.RandomState(3),
            int(np.random.RandomState(3).randint(2**31, size=2) @ [1, 2**31]),
        ),
    ],
)
def test_seeds_of_problems(root, first):
    expected = np.random.default_rng(np.random.SeedSequence(first, spawn_key=(4, 2))).random(3)
    assert SeedTree(root).stream(4, 2).random(3).tolist() == expected.tolist()


@pytest.mark.parametrize("root", [-1, 1.5, "a"])
def test_seeds_that_are_refused(root):
    with pytest.raises(ValueError, match=r"random_state is .*it must be a non-negative integer"):
        SeedTree(root)
    SeedTree(0)


HEAD = "variable a { type discrete [ 2 ] { yes, no }; }\nvariable b { type discrete [ 3 ] { x, y, z }; }\n"
BOTH = "probability ( a ) { table 0.25, 0.75; }\n"


def test_samples_of_a_network_are_those_on_record():
    network = parse_network(
        HEAD + BOTH + "probability ( b | a ) { (yes) 0.5, 0.5, 0; default 0.1, 0.2, 0.7; property p; }\n"
    )
    found = {
        "codes": network.sample_codes(12, 3),
        "b": network.table("b"),
        "edges": network.edges,
        "children": network.children("a"),
        "blanket": network.markov_blanket("b"),
        "frame": network.sample(4, 3).astype(str).to_numpy().tolist(),
    }
    RECORD.check("network", found)
    whole = parse_network(HEAD + BOTH + "probability ( b | a ) { table 0.5 0.1, 0.5 0.2, 0 0.7; }\n")
    np.testing.assert_array_equal(whole.table("b"), network.table("b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: no 'variable' block: this is not a BIF network."),
        ("\nnode a { }", "line 2: expected 'network', 'variable' or 'probability', found 'node'."),
        ("network { } ;", "line 1: expected 'network', 'variable' or 'probability', found ';'."),
        ("network a b", "line 1: expected '{', found 'b'."),
        ("network a {", "line 1: the file ends where '}' is missing."),
        ("network a { x; }", "line 1: unexpected 'x; }'."),
        ("network a {\n /* }", "line 2: this comment is not closed: '*/' is missing."),
        (HEAD, "line 1: variable 'a' has no 'probability' block."),
        (HEAD + BOTH, "line 2: variable 'b' has no 'probability' block."),
        ("variable a { }", "line 1: variable 'a' has no 'type discrete' statement."),
        ("variable a { type real; }", "line 1: variable 'a': only 'type discrete' is supported."),
        (
            "variable a { type discrete [ 3 ] { x, y }; }",
            "line 1: variable 'a' declares 3 states but lists 2.",
        ),
        (
            "variable a { type discrete [ 2 ] { x, x }; }",
            "line 1: variable 'a' must have distinct states, found x, x.",
        ),
        (
            "variable a { type discrete [ 0 ] { }; }",
            "line 1: variable 'a' must have distinct states, found none.",
        ),
        ("variable a { type discrete [ 2 { x, y }; }", "line 1: ']' is missing."),
        (HEAD + "variable a { }", "line 3: variable 'a' is defined twice."),
        (HEAD + "probability ( ) { }", "line 3: 'probability' names no variable."),
        (
            HEAD + "\nprobability ( c ) { }",
            "line 4: unknown variable 'c': no 'variable' block before this line.",
        ),
        (HEAD + BOTH + BOTH, "line 4: variable 'a' has two 'probability' blocks."),
        (
            HEAD + "probability ( b | a a ) { }",
            "line 3: a variable appears twice in 'probability' of b, a, a.",
        ),
        (
            HEAD + "probability ( a ) { table 0.5; }",
            "line 3: 'table' of 'a' has 1 probabilities, expected 2.",
        ),
        (
            HEAD + "probability ( a ) { table 0.5, 0.5, 0; }",
            "line 3: 'table' of 'a' has 3 probabilities, expected 2.",
        ),
        (
            HEAD + "probability ( a ) { table 1.5, -0.5; }",
            "line 3: 'table' of 'a': -0.5 is not a probability.",
        ),
        (HEAD + "probability ( a ) { table nan, 1; }", "line 3: 'table' of 'a': nan is not a probability."),
        (
            HEAD + "probability ( a ) { table 0.5, x; }",
            "line 3: 'table' of 'a': could not convert string to float: 'x'.",
        ),
        (
            HEAD + "probability ( a ) { table 0.5, 0.51; }",
            "line 3: the probabilities of 'a' are 0.5, 0.51 and sum to 1.01; they must be non-negative and sum to 1",
        ),
        (
            HEAD + "probability ( b | a ) { (yes) 0.5, 0.5, 0; }",
            "line 3: the table of 'b' has no entry for (no).",
        ),
        (
            HEAD + "probability ( b | a ) {\n(yes) 0.5, 0.5, 0; (yes) 0.5, 0.5, 0; }",
            "line 4: the table of 'b' has two entries for (yes).",
        ),
        (
            HEAD + "probability ( b | a ) { (yes, no) 1, 0, 0; }",
            "line 3: 'b' has 1 parents, but this row names 2 states.",
        ),
        (
            HEAD + "probability ( b | a ) { () 1, 0, 0; }",
            "line 3: 'b' has 1 parents, but this row names 0 states.",
        ),
        (
            HEAD + "probability ( b | a ) { (oh) 1, 0, 0; }",
            "line 3: 'a' has no state 'oh', only ('yes', 'no').",
        ),
        (
            HEAD + "probability ( b | a ) { (no) 0.5, 0.5, 0.1; }",
            "line 3: row (no) of 'b' sums to 1.1; probabilities must sum to 1 within",
        ),
        (
            HEAD + "probability ( b | a ) { default 0.5, 0.5, 0.1; }",
            "line 3: the probabilities of 'b' given (yes) are 0.5, 0.5, 0.1 and sum to 1.1;",
        ),
        (
            HEAD
            + "probability ( a | b ) { default 0.5, 0.5; }\nprobability ( b | a ) { default 0.5, 0.5, 0; }",
            "line ",
        ),
    ],
)
def test_mistakes_in_a_file_are_named_with_their_line(text, message):
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        parse_network(text, source="f")
    assert str(raised.value).startswith(f"f, {message}")


def network_of(n_parents, n_states):
    """Return the text of variables p0 to p(n - 1) and of a child of them, whose table is not written."""
    states = " ".join(f"s{number}" for number in range(n_states))
    parents = "".join(
        f"variable p{number} {{ type discrete [{n_states}] {{ {states} }}; }}\n"
        for number in range(n_parents)
    )
    names = " ".join(f"p{number}" for number in range(n_parents))
    return f"{parents}variable c {{ type discrete [1] {{ s }}; }}\nprobability ( c {names} ) {{ }}"


@pytest.mark.parametrize(
    ("n_parents", "n_states", "message"),
    [
        (24, 1, "the table is read"),
        (25, 1, "'c' has 25 parents, but at most 24 are read"),
        (22, 2, "the table is read"),
        (23, 2, "the table of 'c' has 8,388,608 entries, but at most 4,194,304 are read"),
    ],
)
def test_tables_larger_than_any_published_one_are_refused(monkeypatch, n_parents, n_states, message):
    def table(*_):
        raise ValueError("line 0: the table is read")

    monkeypatch.setattr("ppfs.datasets._bif_parser.BIFParser.table", table)
    with pytest.raises(ValueError, match="line") as raised:
        parse_network(network_of(n_parents, n_states))
    assert message in str(raised.value)


def test_all_tables_together_are_limited(monkeypatch):
    text = "".join(f"variable v{number} {{ type discrete [2] {{ a b }}; }}\n" for number in range(3))
    monkeypatch.setattr("ppfs.datasets._bif_parser.MAX_ENTRIES", 4)
    blocks = [f"probability ( v{number} ) {{ table 0.5 0.5; }}\n" for number in range(3)]
    with pytest.raises(ValueError, match=r"with 'v2' the tables have 6 entries, but at most 4 are read"):
        parse_network(text + "".join(blocks))


def test_comments_and_quotes_keep_the_lines():
    text = '// one\n/* two\nthree */ variable "a b" { type discrete [ 1 ] { "//x" }; } /* end */\nwrong'
    with pytest.raises(ValueError, match=r"^f, line 4: expected 'network'"):
        parse_network(text, source="f")
    network = parse_network(text.replace("wrong", 'probability ( "a b" ) { table 1; }'))
    assert (network.nodes, network.states("a b")) == (("a b",), ("//x",))
