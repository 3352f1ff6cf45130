"""How columns are called: by name, by position, one or several, and as features of several columns."""

import re

import numpy as np
import pytest

from ppfs._data.callers_columns import CallersColumns
from ppfs._data.features import Features
from ppfs._data.naming import IntegerName, as_names, column_index, one_or_more
from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError


def refused(text):
    return pytest.raises(InvalidInputError, match=f"^{re.escape(text)}$")


def test_integers_that_are_no_positions_are_names_by_themselves():
    names = as_names(["age", 1, 20, np.int64(3), 2.5])
    assert names == ["age", "1", "20", "3", "2.5"]
    assert [type(name) is IntegerName for name in names] == [False, False, True, False, False]


NAMES = as_names(["a", "b", 7, 0])


@pytest.mark.parametrize(
    ("column", "place"),
    [
        ("a", 0),
        ("0", 3),
        ("7", 2),
        (1, 1),
        (-1, 3),
        (-4, 0),
        (3, 3),
        (7, 2),
        (np.int8(2), 2),
        (np.uint8(7), 2),
    ],
)
def test_a_column_is_found_by_its_name_or_its_position(column, place):
    assert column_index(column, NAMES) == place


@pytest.mark.parametrize(
    ("column", "names", "said"),
    [
        ("B", NAMES, "There is no column 'B'. Did you mean 'b'? The columns are 'a', 'b', '7', '0'."),
        ("q", ["a"], "There is no column 'q'. The columns are 'a'."),
        (
            0,
            NAMES,
            "0 is the name of one column and the position of another, 'a'. Write the name as text: '0'.",
        ),
        (
            4,
            NAMES,
            "There is no column 4: columns are numbered 0 to 3. None is named 4; the names are 'a', 'b', '7', '0'.",
        ),
        (-5, ["a", "b"], "There is no column -5: columns are numbered 0 to 1."),
        (2, ["a", "b"], "There is no column 2: columns are numbered 0 to 1."),
        *(
            (
                column,
                NAMES,
                f"{column!r} is neither the name nor the number of a column. Use a name or an integer; "
                "np.flatnonzero(mask) turns a mask into numbers.",
            )
            for column in (True, np.True_, 1.0, None, ("a",))
        ),
    ],
)
def test_what_calls_no_column_is_refused(column, names, said):
    with refused(said):
        column_index(column, names)


@pytest.mark.parametrize(
    ("columns", "listed"),
    [
        ("ab", ["ab"]),
        (3, [3]),
        (np.int64(3), [3]),
        (np.array("ab"), ["ab"]),
        (np.array([1, 2]), [1, 2]),
        (["a", 1], ["a", 1]),
        (("a",), ["a"]),
        ([], []),
        ({5}, [5]),
    ],
)
def test_one_column_is_a_list_of_one(columns, listed):
    assert one_or_more(columns, "always_keep") == listed


@pytest.mark.parametrize("columns", [None, {"a": 1}, 1.5])
def test_what_lists_no_columns_is_refused(columns):
    with refused(
        f"always_keep must name columns, but is {columns!r}. Write a name, a number, or a list of them."
    ):
        one_or_more(columns, "always_keep")


COLUMNS = tuple("abcde")
PLAIN = Features(COLUMNS, COLUMNS)
GROUPED = Features.of(["a", "one", "two"], COLUMNS, [(0,), (1, 2), (2, 3, 4)])


def test_features_of_one_column_each():
    for features in (
        PLAIN,
        Features.of(COLUMNS, COLUMNS, None),
        Features.of(COLUMNS, COLUMNS, [(j,) for j in range(5)]),
    ):
        assert features.groups is None
        assert features.target == 5
        assert features.columns == ((0,), (1,), (2,), (3,), (4,))
        assert not features.overlap
        assert features.columns_of([3, 1]) == [3, 1]
        assert features.width(2) == 1
        assert features.index("c") == 2
        assert features.numbers(["c", 0], "always_keep") == [2, 0]


def test_features_of_several_columns():
    assert GROUPED.target == 3
    assert GROUPED.columns == ((0,), (1, 2), (2, 3, 4))
    assert GROUPED.overlap
    assert not Features.of(["p", "q"], COLUMNS, [(0, 1), (2, 3)]).overlap
    assert GROUPED.columns_of([2, 0]) == [2, 3, 4, 0]
    assert [GROUPED.width(feature) for feature in range(3)] == [1, 2, 3]
    assert [GROUPED.index(column) for column in ("one", "a", "b", "e", 1, -1, 0)] == [1, 0, 1, 2, 1, 2, 0]


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("z", "There is no column or group 'z'. The features are 'a', 'one', 'two'."),
        (2, "Column 'c' is in 2 groups, 'one', 'two'. Name one of them instead."),
        ("c", "Column 'c' is in 2 groups, 'one', 'two'. Name one of them instead."),
    ],
)
def test_a_column_of_several_features_names_none(column, said):
    with refused(said):
        GROUPED.index(column)
    with refused(f"always_keep: {said}"):
        GROUPED.numbers([column], "always_keep")


def test_features_that_overlap_are_set_apart_for_a_question():
    names = ("p", "q", "r", "s")
    features = Features(names, COLUMNS, ((0, 1), (1, 2), (2, 3), (0, 1, 2, 3, 4)))
    apart = features.apart(0, [1, 2])
    assert (apart.names, apart.groups) == (("p", "q", "r"), ((0,), (1, 2), (3,)))
    assert apart.column_names == COLUMNS
    assert features.apart(1, [0, 2]) is None
    assert features.apart(0, [3, 1]) is None
    # What the first of the others has is not in the next one.
    whole = features.apart(3, [0, 1])
    assert (whole.names, whole.groups) == (("s", "p", "q"), ((3, 4), (0, 1), (2,)))
    assert features.apart(0, []).groups == ((0, 1),)


def test_the_columns_of_features_are_listed_once_and_get_the_values_of_their_features():
    table = read_table(
        np.eye(5),
        np.arange(5) % 2,
        task="auto",
        owner="a test",
        feature_groups={"one": [2, 1], "two": [2, 3]},
    )
    found = CallersColumns.of(table)
    assert found == CallersColumns(5, ((0,), (1, 2), (2, 3), (4,)))
    assert found.numbers([2, 1, 0]) == [2, 3, 1, 0]
    values = np.array([0.1, 0.2, 0.3, 0.4])
    assert found.spread(values).tolist() == [0.1, 0.2, 0.2, 0.3, 0.4]
    assert found.spread(values, [2]).tolist() == [0.1, 0.2, 0.3, 0.3, 0.4]
    assert found.spread(values, [2, 1]).tolist() == [0.1, 0.2, 0.3, 0.3, 0.4]
    assert found.spread(values, [1, 2]).tolist() == [0.1, 0.2, 0.2, 0.3, 0.4]
    plain = CallersColumns(3, None)
    assert plain.numbers([2, 0]) == [2, 0]
    assert plain.spread(values) is values
    assert CallersColumns.of(read_table(np.eye(3), [0, 1, 0], task="auto", owner="a test")) == plain


@pytest.mark.parametrize(
    ("groups", "names", "columns"),
    [
        (None, ("x0", "x1", "x2", "x3"), ((0,), (1,), (2,), (3,))),
        ({}, ("x0", "x1", "x2", "x3"), ((0,), (1,), (2,), (3,))),
        ({"g": [3, 1]}, ("x0", "g", "x2"), ((0,), (1, 3), (2,))),
        ({"g": 2}, ("x0", "x1", "g", "x3"), ((0,), (1,), (2,), (3,))),
        ({"h": [1, 2], "g": [1, 0]}, ("g", "h", "x3"), ((0, 1), (1, 2), (3,))),
        ({5: ["x1", "x0"]}, ("5", "x2", "x3"), ((0, 1), (2,), (3,))),
        ({"x1": [0, 1]}, ("x1", "x2", "x3"), ((0, 1), (2,), (3,))),
    ],
)
def test_groups_become_features_where_their_first_columns_are(groups, names, columns):
    # Equal columns are ordered by number.
    table = read_table(np.ones((3, 4)), [0, 1, 0], task="auto", owner="a test", feature_groups=groups)
    assert (table.features.names, table.features.columns) == (names, columns)


def test_columns_of_a_group_are_ordered_by_content():
    X = np.array([[1.0, 5.0, 2.0], [2.0, 5.0, 7.0], [4.0, 6.0, 1.0]])
    orders = set()
    for moved in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        table = read_table(
            X[:, moved], [0, 1, 0], task="auto", owner="a test", feature_groups={"g": [0, 1, 2]}
        )
        orders.add(tuple(moved[column] for column in table.columns[0]))
    assert len(orders) == 1
    with refused("feature_groups['g'] lists 'x0', 'x2' more than once. Once is enough."):
        read_table(X, [0, 1, 0], task="auto", owner="a test", feature_groups={"g": [2, 0, 1, 0, 2]})
