import gzip
import os

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ppfs.datasets import BayesianNetwork, _bif, read_network
from ppfs.datasets._bif import parse_network

SPRINKLER = """network sprinkler {
}
variable cloudy {
  type discrete [ 2 ] { yes, no };
}
variable sprinkler {
  type discrete [ 3 ] { off, low, high };
}
variable wet {
  type discrete [ 2 ] { yes, no };
}
probability ( cloudy ) {
  table 0.5, 0.5;
}
probability ( sprinkler | cloudy ) {
  (yes) 0.8, 0.1, 0.1;
  (no) 0.2, 0.3, 0.5;
}
probability ( wet | cloudy, sprinkler ) {
  (yes, off) 0.6, 0.4;
  (no, off) 0.1, 0.9;
  (yes, low) 0.8, 0.2;
  (no, low) 0.7, 0.3;
  (yes, high) 0.95, 0.05;
  (no, high) 0.9, 0.1;
}
"""

# The dog problem in the dialect of JavaBayes: quotes, no commas, no bar, comments, properties.
DOG = """// Bayesian network
network "Dog-Problem" { //2 variables
    property "credal-set constant-density-bounded 1.1" ;
}
variable "light-on" { //2 values
    type discrete[2] { "true" "false" };
    property "position = (218, 195); // no comment" ;
}
/* a comment
   over two lines */
variable "family-out" {
    type discrete[2] { "true" "false" };
}
probability ( "light-on" "family-out" ) {
    table 0.6 0.05 0.4 0.95 ;
}
probability ( "family-out" ) {
    table 0.15 0.85 ;
}
"""


def change(old, new):
    assert SPRINKLER.count(old) == 1
    return SPRINKLER.replace(old, new)


def test_nodes_states_and_parents_are_read_in_file_order():
    network = parse_network(SPRINKLER)
    assert network.nodes == ("cloudy", "sprinkler", "wet")
    assert network.states("sprinkler") == ("off", "low", "high")
    assert network.parents("wet") == ("cloudy", "sprinkler")
    assert network.parents("cloudy") == ()


def test_table_has_one_axis_for_each_parent_then_the_states():
    table = parse_network(SPRINKLER).table("wet")
    assert table.shape == (2, 3, 2)
    np.testing.assert_array_equal(table[1, 2], [0.9, 0.1])  # cloudy = no, sprinkler = high
    np.testing.assert_array_equal(table[0, 0], [0.6, 0.4])


def test_full_table_lists_the_own_state_slowest():
    # P(light-on | family-out) = 0.6 if the family is out, else 0.05.
    np.testing.assert_array_equal(parse_network(DOG).table("light-on"), [[0.6, 0.4], [0.05, 0.95]])


def test_quotes_comments_and_properties_are_understood():
    network = parse_network(DOG)
    assert network.nodes == ("light-on", "family-out")
    assert network.parents("light-on") == ("family-out",)


def test_default_fills_the_rows_that_are_not_listed():
    text = change("  (no) 0.2, 0.3, 0.5;\n", "  default 0.0, 0.0, 1.0;\n")
    np.testing.assert_array_equal(parse_network(text).table("sprinkler"), [[0.8, 0.1, 0.1], [0, 0, 1]])


@pytest.mark.parametrize("name", ["plain.bif", "packed.bif.gz", "packed.bif"])
def test_file_may_be_gzipped_whatever_its_name(name, tmp_path):
    content = SPRINKLER.encode()
    (tmp_path / name).write_bytes(gzip.compress(content) if "packed" in name else content)
    assert read_network(tmp_path / name).nodes == ("cloudy", "sprinkler", "wet")


def test_truncated_gzip_is_named(tmp_path):
    path = tmp_path / "cut.bif.gz"
    path.write_bytes(gzip.compress(SPRINKLER.encode())[:-20])
    with pytest.raises(ValueError, match=r"cut\.bif\.gz' is neither BIF text nor gzipped BIF text"):
        read_network(path)


def test_error_names_the_file(tmp_path):
    path = tmp_path / "bad.bif"
    path.write_text("nonsense", encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.bif, line 1: expected 'network'.* found 'nonsense'"):
        read_network(path)


def test_empty_file_is_no_network():
    with pytest.raises(ValueError, match="no 'variable' block"):
        parse_network("")


def test_lines_behind_comments_are_counted_right():
    text = "/* one\ntwo */ // two\n// three\nvariable x { kind; }"
    with pytest.raises(ValueError, match="line 4: unexpected 'kind; }'"):
        parse_network(text)


@pytest.mark.parametrize(
    ("old", "new", "line", "problem"),
    [
        ("  (no) 0.2, 0.3, 0.5;\n", "", 15, r"table of 'sprinkler' has no entry for \(no\)"),
        ("(no, low) 0.7, 0.3;\n", "", 19, r"table of 'wet' has no entry for \(no, low\)"),
        ("(no) 0.2, 0.3, 0.5", "(no) 0.2, 0.3, 0.4", 17, r"row \(no\) of 'sprinkler' sums to 0\.9; "),
        ("table 0.5, 0.5", "table 0.5, 0.6", 12, "probabilities of 'cloudy' are 0.5, 0.6 and sum to 1.1; they must"),
        ("table 0.5, 0.5", "table 1.5, -0.5", 13, "'table' of 'cloudy': -0.5 is not a probability"),
        ("table 0.5, 0.5", "table nan, 0.5", 13, "'table' of 'cloudy': nan is not a probability"),
        ("(no) 0.2, 0.3, 0.5", "(no) 0.2, 0.8", 17, r"row \(no\) of 'sprinkler' has 2 probabilities, expected 3"),
        ("(no) 0.2, 0.3, 0.5", "(no) 0.2, x, 0.5", 17, "could not convert string to float: 'x'"),
        ("(no) 0.2", "(maybe) 0.2", 17, r"'cloudy' has no state 'maybe', only \('yes', 'no'\)"),
        ("(no) 0.2", "(yes) 0.2", 17, r"table of 'sprinkler' has two entries for \(yes\)"),
        ("(yes, low)", "(yes)", 22, "'wet' has 2 parents, but this row names 1 states"),
        ("( sprinkler | cloudy )", "( sprinkler | sunny )", 15, "unknown variable 'sunny'"),
        ("( sprinkler | cloudy )", "( sprinkler | sprinkler )", 15, "appears twice"),
        ("( sprinkler | cloudy )", "( cloudy )", 15, "'cloudy' has two 'probability' blocks"),
        ("( sprinkler | cloudy )", "( )", 15, "names no variable"),
        ("variable sprinkler {", "variable cloudy {", 6, "'cloudy' is defined twice"),
        ("[ 3 ]", "[ 4 ]", 7, "'sprinkler' declares 4 states but lists 3"),
        ("{ off, low, high }", "{ off, low, low }", 7, "distinct states"),
        ("  type discrete [ 3 ] { off, low, high };\n", "", 6, "no 'type discrete' statement"),
        ("type discrete [ 3 ] { off, low, high }", "type continuous", 7, "only 'type discrete'"),
        ("variable sprinkler", "variabel sprinkler", 6, "expected 'network', .* found 'variabel'"),
        ("variable sprinkler {", "variable { sprinkler", 6, "expected a variable's name, found '{"),
        ("(no, high) 0.9, 0.1;\n}", "(no, high) 0.9, 0.1;", 26, "the file ends where '}' is missing"),
        ("(no, high) 0.9, 0.1;\n}", "(no, high) 0.9, 0.1", 25, "';' is missing"),
    ],
)  # fmt: skip
def test_mistakes_are_found_with_their_line(old, new, line, problem):
    with pytest.raises(ValueError, match=rf"BIF text, line {line}: .*({problem})"):
        parse_network(change(old, new))


def test_variable_without_probabilities_is_found():
    text = SPRINKLER[: SPRINKLER.index("probability ( wet")]
    with pytest.raises(ValueError, match="line 9: variable 'wet' has no 'probability' block"):
        parse_network(text)


def test_cycle_is_spelled_out():
    text = change(
        "probability ( cloudy ) {\n  table 0.5, 0.5;", "probability ( cloudy | wet ) {\n  default 0.5, 0.5;"
    )
    with pytest.raises(
        ValueError, match=r"line \d+: the arcs form a cycle, (\w+ -> )+\w+; a Bayesian network has none"
    ):
        parse_network(text)


def test_sums_within_rounding_are_accepted():
    parse_network(change("(no) 0.2, 0.3, 0.5", "(no) 0.2, 0.3, 0.500009"))


@pytest.mark.parametrize("text", [SPRINKLER, DOG], ids=["sprinkler", "dog"])
def test_a_file_cut_anywhere_is_refused(text):
    complete = len(text.rstrip())
    for end in range(complete):
        with pytest.raises(ValueError, match=r"BIF text, line \d+: "):
            parse_network(text[:end])


@pytest.mark.parametrize(
    "text",
    [
        "/*" * 500_000,
        "/* one */\n" * 50_000 + "/*",
        SPRINKLER + "\n/* " + "* /" * 300_000,
        SPRINKLER.replace("}", "  property " + "a" * 1_000_000 + "\n}", 1),
        SPRINKLER.replace("}", "  property " + '"b" ' * 300_000 + '"\n}', 1),
    ],
    ids=["nested comments", "many comments", "stars", "long property", "quoted property"],
)
def test_reading_takes_time_in_proportion_to_the_text(text):
    """A quadratic reader would take hours for each of these."""
    with pytest.raises(ValueError, match=r"BIF text, line \d+: "):
        parse_network(text)


def test_a_comment_that_is_not_closed_is_found_with_its_line():
    with pytest.raises(ValueError, match=r"line 3: this comment is not closed"):
        parse_network("\n\n/* open\n" + SPRINKLER)


def _many_states(n_states: int) -> str:
    states = ", ".join(f"s{i}" for i in range(n_states))
    rows = "".join(f"(s{i}) 0.5, 0.5;\n" for i in range(n_states))
    return (
        f"variable a {{ type discrete [ {n_states} ] {{ {states} }}; }}\n"
        "variable b { type discrete [ 2 ] { yes, no }; }\n"
        f"probability ( a ) {{ table {', '.join([str(1 / n_states)] * n_states)}; }}\n"
        f"probability ( b | a ) {{ {rows} }}\n"
    )


def test_a_node_may_have_very_many_states():
    """Looking states up one by one would take minutes."""
    assert parse_network(_many_states(60_000)).table("b").shape == (60_000, 2)


def test_a_small_file_that_expands_without_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_bif, "MAX_BYTES", 10_000)
    path = tmp_path / "bomb.bif.gz"
    path.write_bytes(gzip.compress(SPRINKLER.encode() + b" " * 100_000))
    assert path.stat().st_size < 1000
    with pytest.raises(ValueError, match=r"bomb\.bif\.gz' holds more than 10,000 bytes of text"):
        read_network(path)


def test_a_long_plain_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(_bif, "MAX_BYTES", 10_000)
    path = tmp_path / "long.bif"
    path.write_text(SPRINKLER + " " * 10_000, encoding="utf-8")
    with pytest.raises(ValueError, match="holds more than 10,000 bytes"):
        read_network(path)


def _binary_nodes(n: int) -> str:
    return "".join(f"variable v{i} {{ type discrete [ 2 ] {{ 0, 1 }}; }}\n" for i in range(n))


def test_a_table_that_no_memory_holds_is_refused():
    given_nodes = ", ".join(f"v{i}" for i in range(1, 24))
    text = _binary_nodes(31) + f"probability ( v0 | {given_nodes} ) {{ default 0.5, 0.5; }}"
    with pytest.raises(
        ValueError, match=r"line 32: the table of 'v0' has 16,777,216 entries, but at most 4,194,304"
    ):
        parse_network(text)


def test_many_parents_are_refused():
    given_nodes = ", ".join(f"v{i}" for i in range(1, 70))
    text = _binary_nodes(70).replace("[ 2 ] { 0, 1 }", "[ 1 ] { 0 }")
    with pytest.raises(ValueError, match="line 71: 'v0' has 69 parents, but at most 24 are read"):
        parse_network(text + f"probability ( v0 | {given_nodes} ) {{ default 1; }}")


def test_many_large_tables_together_are_refused(monkeypatch):
    monkeypatch.setattr("ppfs.datasets._bif_parser.MAX_ENTRIES", 2**14)
    given_nodes = ", ".join(f"v{i}" for i in range(8, 18))
    blocks = "".join(f"probability ( v{i} | {given_nodes} ) {{ default 0.5, 0.5; }}\n" for i in range(9))
    with pytest.raises(ValueError, match="the tables have 18,432 entries, but at most 16,384"):
        parse_network(_binary_nodes(30) + blocks.replace("v8 | v8,", "v28 | v8,"))


_PIECES = st.sampled_from(
    [
        "network",
        "variable",
        "probability",
        "type",
        "discrete",
        "property",
        "table",
        "default",
        "{",
        "}",
        "[",
        "]",
        "(",
        ")",
        "|",
        ",",
        ";",
        '"',
        "/*",
        "*/",
        "//",
        "2",
        "3",
        "1e999",
        "nan",
        "-1",
        "0.5",
        "1.0",
        "cloudy",
        "wet",
        "yes",
        "no",
        "off",
        "\x00",
        "�",
        "é",
        "99999999999",
    ]
)
_EDITS = st.lists(
    st.tuples(st.floats(0, 1), st.integers(0, 40), st.lists(_PIECES, max_size=4)), min_size=1, max_size=6
)


# A longer run: PPFS_FUZZ_EXAMPLES=50000 pytest tests/datasets/test_bif.py -k edited
@settings(max_examples=int(os.environ.get("PPFS_FUZZ_EXAMPLES", "300")), deadline=None)
@given(original=st.sampled_from([SPRINKLER, DOG]), edits=_EDITS)
def test_an_edited_file_is_a_network_or_an_error_with_a_line(original, edits):
    text = original
    for place, n_removed, pieces in edits:
        start = int(place * len(text))
        text = text[:start] + " ".join(pieces) + text[start + n_removed :]
    outcome = _network_or_message(text)
    if isinstance(outcome, str):
        assert outcome.startswith("BIF text, line ")
    else:
        assert outcome.sample_codes(5, random_state=0).shape == (5, len(outcome.nodes))


def _network_or_message(text: str) -> BayesianNetwork | str:
    try:
        return parse_network(text)
    except ValueError as error:
        return str(error)


@settings(max_examples=int(os.environ.get("PPFS_FUZZ_EXAMPLES", "300")), deadline=None)
@given(content=st.binary(max_size=300), is_cut_gzip=st.booleans())
def test_any_bytes_are_a_network_or_an_error(content, is_cut_gzip, tmp_path_factory):
    path = tmp_path_factory.getbasetemp() / "any.bif"
    path.write_bytes(gzip.compress(content)[:-9] if is_cut_gzip else content)
    with pytest.raises(ValueError, match=r"any\.bif"):
        read_network(path)
