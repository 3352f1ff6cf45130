"""Weights, groups and parts of the caller's rows, rule by rule."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ppfs import RowsInTime
from ppfs._data.reading import FitData, read_table, weights_among
from ppfs._data.reading.large_integers import as_floats, beyond_floats, exact_columns
from ppfs._data.reading.masked import unmasked
from ppfs._data.reading.rows import exposed, only_rows, read_groups, read_weights
from ppfs._data.table import CallersRows
from ppfs.exceptions import InvalidInputError


def refused(text):
    return pytest.raises(InvalidInputError, match=re.escape(text))


X = np.zeros((4, 1))


def test_fit_takes_weights_and_no_other_argument():
    assert weights_among({"sample_weight": 3}, X) == 3
    assert weights_among({}, X) is None
    with pytest.raises(TypeError, match=r"ndarray\.fit\(\) got an unexpected argument 'a'\. Beside"):
        weights_among({"b": 1, "a": 2, "sample_weight": 1}, X)


@pytest.mark.parametrize(
    ("given", "weights", "kept"),
    [
        (None, None, None),
        ([2, 2, 2, 2], None, None),
        ([1, 2, 2, 2], [1, 2, 2, 2], None),
        ([0, 2, 2, 2], None, [1, 2, 3]),
        ([3, 0, 2, 0], [3, 2], [0, 2]),
        ([True, False, True, True], None, [0, 2, 3]),
        (np.ldexp([1.0, 1.5, 1.0, 1.0], 499), np.ldexp([1.0, 1.5, 1.0, 1.0], 499), None),
        (np.ldexp([1.0, 1.5, 1.0, 1.0], 500), np.ldexp([1.0, 1.5, 1.0, 1.0], -1), None),
        (np.ldexp([1.0, 1.5, 1.0, 1.0], -501), np.ldexp([1.0, 1.5, 1.0, 1.0], -501), None),
        (np.ldexp([1.0, 1.5, 1.0, 1.0], -502), np.ldexp([1.0, 1.5, 1.0, 1.0], -1), None),
        ([2.0**250, 1, 1, 2.0**-250], [2.0**250, 1, 1, 2.0**-250], None),
    ],
)
def test_weights_are_kept_in_range_and_equal_ones_are_none(given, weights, kept):
    found, rows = read_weights(given, X, None)
    assert (None if found is None else found.tolist()) == (
        None if weights is None else list(map(float, weights))
    )
    assert (None if rows is None else rows.tolist()) == kept


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([1, 1, 1], "shape (4,), but its shape is (3,)"),
        ([1, -1, np.nan, 1], "sample_weight[1] is -1.0"),
        ([1, np.inf, 1, 1], "sample_weight[1] is inf"),
        ([0, 0, 0, 0], "sample_weight is zero in every row"),
        (["a", 1, 1, 1], "sample_weight must hold numbers: "),
        ([2.0**251, 1, 1, 2.0**-250], "The weights range from 5.53e-76 to 3.62e+75"),
    ],
)
def test_weights_that_cannot_be_used_are_refused(given, said):
    with refused(said):
        read_weights(given, X, None)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        read_weights([1, 1, 1, 1], X, [0, 1])


def test_exposures_are_weights_or_multiply_them():
    rows, exposure = CallersRows(3, np.array([0, 2])), np.array([2.0, 5.0])
    assert exposed(rows, None) is rows
    assert exposed(rows, exposure).weights is exposure
    weighted = CallersRows(3, np.array([0, 2]), np.array([3.0, 1.0]), np.array([7, 8]))
    assert exposed(weighted, exposure).weights.tolist() == [6.0, 5.0]
    assert exposed(weighted, exposure).groups.tolist() == [7, 8]


@pytest.mark.parametrize(
    ("given", "numbers"),
    [
        ([30, 10, 30, 20], [2, 0, 2, 1]),
        (["b", "a", "b", "c"], [1, 0, 1, 2]),
        (np.array(["b", "a", "b", "c"]), [1, 0, 1, 2]),
        (["1", 1, "1", 2], [2, 0, 2, 1]),
        (np.array([2.5, "x", 2.5, 1], dtype=object), [0, 2, 0, 1]),
        (pd.Series([7, 5, 7, 6], index=[3, 2, 1, 0]), [2, 0, 2, 1]),
        (pl.Series(["b", "a", "b", "c"]), [1, 0, 1, 2]),
        ([(1, 2)] * 2 + [(0, 1)] * 2, None),
    ],
)
def test_groups_are_numbered_in_the_order_of_their_labels(given, numbers):
    if numbers is None:
        with refused("shape (4,), but its shape is (4, 2)"):
            read_groups(given, 4)
        return
    found = read_groups(given, 4)
    assert found.tolist() == numbers
    assert found.dtype == np.intp
    with refused("shape (5,), but its shape is (4,)"):
        read_groups(given, 5)


def test_missing_groups_are_counted():
    assert read_groups(None, 4) is None
    with refused("groups is missing in 2 of 4 rows, the first in row 1."):
        read_groups(["a", None, "b", float("nan")], 4)


PARTS = {
    "array": (np.arange(8).reshape(4, 2), lambda part: part.tolist(), [[6, 7], [2, 3]]),
    "list": (["a", "b", "c", "d"], list, ["d", "b"]),
    "pandas": (
        pd.DataFrame({"a": list("pqrs")}, index=list("wxyz")),
        lambda part: part.index.tolist(),
        ["z", "x"],
    ),
    "series": (pd.Series(list("pqrs"), index=list("wxyz")), lambda part: part.index.tolist(), ["z", "x"]),
    "polars": (pl.DataFrame({"a": list("pqrs")}), lambda part: part["a"].to_list(), ["s", "q"]),
    "sparse": (sp.coo_array(np.eye(4)), lambda part: part.toarray().tolist(), [[0, 0, 0, 1], [0, 1, 0, 0]]),
    "masked": (
        np.ma.array([1, 2, 3, 4], mask=[0, 1, 0, 0]),
        lambda part: [part[0], str(part[1])],
        [4, "nan"],
    ),
}


@pytest.mark.parametrize("kind", PARTS)
def test_some_rows_of_what_the_caller_passed(kind):
    part, shown, expected = PARTS[kind]
    assert shown(only_rows(part, np.array([3, 1]))) == expected
    assert only_rows(None, np.array([3, 1])) is None


def test_the_data_of_a_fit_are_parted_together():
    data = FitData(
        np.arange(4)[:, None], list("abcd"), [1, 2, 3, 4], RowsInTime([9, 8, 7, 6], gap=2), [5, 6, 7, 8]
    )
    part = data.of_rows(np.array([2, 0]))
    assert (part.X.tolist(), part.y, part.groups, part.sample_weight) == (
        [[2], [0]],
        ["c", "a"],
        [3, 1],
        [7, 5],
    )
    assert part.time == RowsInTime([7, 9], gap=2)
    assert FitData(X, X, time="day").of_rows(np.array([1])).time == "day"
    assert FitData(X, X, time=[4, 3, 2, 1]).of_rows(np.array([1])).time == [3]
    assert FitData(X, X, time=RowsInTime("day")).of_rows(np.array([1])).time == RowsInTime("day")
    assert FitData(X, X).about_rows == {}
    assert FitData(X, X, groups=[1], sample_weight=[2]).about_rows == {"groups": [1], "sample_weight": [2]}


LIMIT = 2**53


@pytest.mark.parametrize(
    ("values", "beyond"),
    [
        ([LIMIT, -LIMIT], False),
        ([LIMIT + 1, 0], True),
        ([-LIMIT - 1, 0], True),
        ([LIMIT + 1, LIMIT + 5], True),
        ([], False),
        ([1.5, 2.0**60], False),
        (np.array([LIMIT + 1], dtype=np.uint64), True),
        (np.array([2**31 - 1], dtype=np.int32), False),
    ],
)
def test_integers_beyond_floats_are_noticed_at_the_limit(values, beyond):
    given = np.asarray(values) if len(values) else np.zeros(0, dtype=np.int64)
    assert bool(beyond_floats(given)) is beyond
    assert as_floats(given).tolist() == [float(value - beyond * given.min()) for value in given.tolist()]
    assert beyond_floats(np.column_stack([given, given])).tolist() == [beyond, beyond]


def test_only_columns_beyond_floats_are_shifted():
    small = np.array([[1, 2], [3, 4]])
    assert exact_columns(small) is small
    mixed = np.array([[1, LIMIT + 2], [3, LIMIT + 1]])
    assert exact_columns(mixed).tolist() == [[1.0, 1.0], [3.0, 0.0]]
    wide = np.array([np.iinfo(np.int64).min, np.iinfo(np.int64).max])
    assert as_floats(wide).tolist() == [0.0, 2.0**64]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ([1, 2], [1, 2]),
        ([np.ma.array([1, 2], mask=[0, 1]), [3, 4]], [[1.0, "nan"], [3.0, 4.0]]),
        ((np.ma.array([1, 2], mask=[0, 1]),), [[1.0, "nan"]]),
        (np.ma.array([True, False], mask=[0, 1]), [1.0, "nan"]),
        (np.ma.array(["a", "b"], mask=[1, 0]), ["None", "b"]),
        (np.ma.array([1.5, 2.5], mask=[1, 0]), ["nan", 2.5]),
        (np.ma.array([[1, 9], [2, 7]], mask=[[1, 0], [1, 0]]), [["nan", 9.0], ["nan", 7.0]]),
        (np.ma.array([LIMIT + 9, LIMIT + 3, LIMIT + 4, 0], mask=[0, 0, 0, 1]), [6.0, 0.0, 1.0, "nan"]),
        (np.ma.array([3, 4], mask=False), [3, 4]),
        (np.ma.array(["2020-01-01"], dtype="M8[D]", mask=True), ["NaT"]),
        (np.ma.array([5], dtype="m8[h]", mask=True), ["NaT"]),
    ],
)
def test_masked_entries_are_missing_values_of_their_type(given, expected):
    def shown(value):
        if isinstance(value, list | tuple | np.ndarray) and np.ndim(value):
            return [shown(one) for one in value]
        return value if isinstance(value, int | float | np.number) and value == value else str(value)

    assert shown(unmasked(given)) == expected


def test_fields_of_a_masked_record_are_unmasked_one_by_one():
    record = np.ma.array(
        [(True, 1.5), (False, 2.5)], mask=[(0, 0), (0, 1)], dtype=[("event", "?"), ("time", "f8")]
    )
    plain = unmasked(record)
    assert plain.dtype.names == ("event", "time")
    assert plain["event"].tolist() == [True, False]
    assert np.isnan(plain["time"]).tolist() == [False, True]
    before = np.ma.array([1.0, 2.0], mask=[0, 1])
    unmasked(before)
    assert before.data.tolist() == [1.0, 2.0]


def test_rows_of_weight_zero_leave_every_argument():
    table = read_table(
        pd.DataFrame({"a": list("pqrs"), "x": [1.0, 2, 3, 4]}),
        [[2, 4], [9, 3], [1, 1], [8, 2]],
        task="count",
        owner="a test",
        sample_weight=[0, 3, 1, 2],
        groups=["u", "v", "u", "w"],
    )
    assert table.y.tolist() == [3.0, 1.0, 4.0]
    assert table.weights.tolist() == [9.0, 1.0, 4.0]
    assert table.groups.tolist() == [1, 0, 2]
    assert table.categories == {0: ("q", "r", "s")}
    assert (table.n_callers_rows, table.kept_rows.tolist()) == (4, [1, 2, 3])
    whole = read_table(X, [0, 1, 0, 1], task="auto", owner="a test")
    assert (whole.n_callers_rows, whole.kept_rows) == (4, None)
    in_time = read_table(
        X, [0, 1, 0, 1], task="auto", owner="a test", sample_weight=[1, 0, 1, 1], time=[4, 3, 2, 1]
    )
    assert in_time.time.positions.tolist() == [2, 1, 0]
    assert in_time.groups.tolist() == in_time.time.blocks.tolist()
