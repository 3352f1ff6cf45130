"""Columns one by one: codes of categories, numbers, lists of them, and the caller's frame."""

import re
from datetime import date, time, timedelta
from decimal import Decimal
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ppfs._data.frames import CallersFrame, backend_of, new_frame
from ppfs._data.reading import NewRows, column_names, read_table, require_one_type_of_names
from ppfs._data.reading.categories import (
    as_numbers,
    coded,
    coded_numbers,
    converts,
    is_missing,
    kind_of,
    recoded,
)
from ppfs._data.reading.columns import _has_compact_numbers, _parts_of, _tidy_sparse, read_columns
from ppfs._data.reading.library_codes import held_codes, library_codes, pandas_categories, pandas_labels
from ppfs._data.reading.readable import require_values
from ppfs.exceptions import InvalidInputError

NAN = float("nan")


def refused(text):
    return pytest.raises(InvalidInputError, match=re.escape(text))


def read(X, y=(0, 1, 0, 1), **options):
    return read_table(X, np.asarray(y), task="auto", owner="a test", **options)


# Categories --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [None, NAN, np.float32("nan"), pd.NA, pd.NaT])
def test_missing_values_of_every_library(value):
    assert is_missing(value) is True


@pytest.mark.parametrize(
    "value", ["", 0, 0.0, False, "nan", np.float64(1), np.datetime64("NaT"), Decimal("NaN")]
)
def test_other_values_are_there(value):
    assert is_missing(value) is False


@pytest.mark.parametrize(
    ("values", "declared", "codes", "labels"),
    [
        (["b", "a", "b"], None, [1, 0, 1], ("a", "b")),
        (["b", None, "a", NAN], None, [1, 2, 0, 2], ("a", "b", "(missing)")),
        ([1, True, "1", 10, 9], None, [0, 3, 0, 1, 2], ("1", "10", "9", "True")),
        (["b", "a", "b"], ["c", "b", "a"], [0, 1, 0], ("b", "a")),
        (["b", None, "a"], ["c", "b", "a"], [0, 2, 1], ("b", "a", "(missing)")),
        ([10, 9, 10], [9, 10, 11], [1, 0, 1], ("9", "10")),
        ([None, None], None, [0, 0], ("(missing)",)),
    ],
)
def test_categories_are_numbered_by_their_texts_or_as_declared(values, declared, codes, labels):
    found = coded(values, declared)
    assert (found.codes.tolist(), found.labels) == (codes, labels)
    assert found.codes.dtype == np.int8


@pytest.mark.parametrize("dtype", [np.int8, np.int64])
@pytest.mark.parametrize(
    ("codes", "values", "declared", "expected", "labels"),
    [
        ([1, 0, 1], ["a", "b"], None, [1, 0, 1], ("a", "b")),
        ([1, 0, 1], ["b", "a"], None, [0, 1, 0], ("a", "b")),
        ([1, -1, 1], ["a", "b"], None, [0, 1, 0], ("b", "(missing)")),
        ([1, 0, 1], ["a", "b", "c"], None, [1, 0, 1], ("a", "b")),
        ([2, 0, 1], ["b", None, "a"], None, [0, 1, 2], ("a", "b", "(missing)")),
        ([2, 0], ["b", None, "a"], None, [0, 1], ("a", "b")),
        ([0, 1, 2], [2, 10, 1], [1, 2, 10], [1, 2, 0], ("1", "2", "10")),
        ([0, 1], [2, 10, 1], [1, 2, 10], [0, 1], ("2", "10")),
        ([0, 1, -1], [2, 10], [2, 10], [0, 1, 2], ("2", "10", "(missing)")),
    ],
)
def test_codes_of_a_library_become_those_of_the_texts(codes, values, declared, expected, labels, dtype):
    found = recoded(np.array(codes, dtype=dtype), values, declared)
    assert (found.codes.tolist(), found.labels, found.codes.dtype) == (expected, labels, np.int8)


@pytest.mark.parametrize("dtype", [np.int8, np.int16])
@pytest.mark.parametrize(
    ("codes", "n", "held"),
    [([0, 2], 3, [True, False, True, False]), ([-1, 1], 2, [False, True, True]), ([], 1, [False, False])],
)
def test_codes_that_occur(codes, n, held, dtype):
    assert held_codes(np.array(codes, dtype=dtype), n) == held


def test_numbers_as_categories_are_in_their_order_and_shown_with_fifteen_digits():
    found = coded_numbers(np.array([[2.0], [0.1 + 0.2], [-1.0], [np.nan], [2.0], [np.nan]]))
    assert found.codes.tolist() == [2, 1, 0, 3, 2, 3]
    assert found.labels == ("-1", "0.3", "2", "(missing)")


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1, 2.5, None], "numbers"),
        (["1", "2.5"], "numbers"),
        (["1", Decimal("2"), pd.NA], "numbers"),
        ([1, pd.NA], "numbers"),
        (["1", "x"], "text"),
        ([1, "x", None], "text"),
        ([np.bool_(True), "x"], "text"),
        ([[1], "x"], "other"),
        (["x", 1j], "other"),
        ([date(2020, 1, 1), None], "other"),
        ([None, None], "numbers"),
        ([pd.NA, pd.NA], "numbers"),
    ],
)
def test_what_a_column_of_objects_holds(values, kind):
    vector = np.empty(len(values), dtype=object)
    vector[:] = values
    assert kind_of(vector) == kind


def test_numbers_are_read_from_any_type():
    assert converts(np.array(["1", "2.5"]))
    assert not converts(np.array(["1", "x"]))
    assert not converts(np.array([[1], None], dtype=object))
    assert as_numbers(np.array([2**60 + 1, 2**60])).tolist() == [1.0, 0.0]
    assert as_numbers(np.array([1.5, 2.0], dtype=np.float32)).dtype == np.float64
    objects = np.array([2**60 + 1, None, 2**60], dtype=object)
    np.testing.assert_array_equal(as_numbers(objects), [1.0, NAN, 0.0])
    np.testing.assert_array_equal(
        as_numbers(np.array([None, "1.5", 2, Fraction(1, 4)], dtype=object)), [NAN, 1.5, 2, 0.25]
    )
    np.testing.assert_array_equal(as_numbers(np.array([None, pd.NA], dtype=object)), [NAN, NAN])


# Codes of data frame libraries -------------------------------------------------------------------------


def test_only_frames_of_categories_alone_are_read_without_narwhals():
    frame = pd.DataFrame({"a": pd.Categorical(["y", "x"]), "b": pd.Categorical([2, 1], ordered=True)})
    first, second = pandas_categories(frame)
    assert (first.codes.tolist(), first.values, first.declared) == ([1, 0], ["x", "y"], None)
    assert (second.codes.tolist(), second.values, second.declared) == ([1, 0], [1, 2], [1, 2])
    for other in (frame.assign(c=1.0), frame[[]], np.eye(2), None):
        assert pandas_categories(other) is None


@pytest.mark.parametrize(
    ("series", "labels"),
    [
        (pd.Series(["b", "a", "b"], dtype="category"), ["b", "a", "b"]),
        (pd.Series(pd.Categorical(["b", "a"], ["a very long one", "a", "b"])), ["b", "a"]),
        (pd.Series(pd.Categorical(["b", "a"], [7, "a", "b"])), ["b", "a"]),
        (pd.Series(["b", None], dtype="category"), None),
        (pd.Series([2, 1], dtype="category"), None),
        (pd.Series(pd.Categorical(["b", 1])), None),
        (pd.Series(["b", "a"]), None),
        (pd.Series([], dtype="category"), None),
        (["b", "a"], None),
    ],
)
def test_text_categories_of_pandas_are_labels(series, labels):
    found = pandas_labels(series)
    assert (None if found is None else found.tolist()) == labels
    assert found is None or found.dtype == "<U1"


@pytest.mark.parametrize(
    "make",
    [
        lambda values: pd.Series(values),
        lambda values: pd.Series(values, dtype="category"),
        lambda values: pl.Series(values),
        lambda values: pl.Series(values, dtype=pl.Categorical),
        lambda values: pa.chunked_array([values[:2], values[2:]]),
        lambda values: pa.chunked_array([pa.array(values)]),
    ],
)
@pytest.mark.parametrize("values", [["b", "a", None, "b"], ["c", "a", "b", "a"]])
def test_the_codes_of_a_library_mean_the_values(make, values):
    found = library_codes(nw.from_native(make(values), series_only=True))
    assert [None if code < 0 else found.values[code] for code in found.codes.tolist()] == values
    assert found.declared is None


def test_a_column_of_arrow_without_rows_has_no_codes():
    found = library_codes(nw.from_native(pa.chunked_array([], type=pa.string()), series_only=True))
    assert (found.codes.tolist(), list(found.values)) == ([], [])


# The matrix --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        (np.zeros((2, 2), dtype=np.int8), True),
        (np.zeros((2, 2)), False),
        (pd.DataFrame(np.zeros((2, 2), dtype=np.int8)), True),
        (pd.DataFrame({"a": np.zeros(2, dtype=np.int8), "b": np.zeros(2, dtype=np.int16)}), False),
        (pd.DataFrame({"a": np.zeros(2, dtype=np.int8), "b": [0.5, 1]}), False),
        (pd.DataFrame({"a": pd.array([1, 2], dtype="Int8")}), False),
        (pd.DataFrame(index=range(2)), False),
        ([[1, 2]], False),
    ],
)
def test_small_numbers_of_one_type_stay_small(X, expected):
    assert _has_compact_numbers(X) is expected


def test_names_are_those_of_a_frame_and_occur_once():
    assert column_names(np.eye(2)) is None
    assert column_names(pd.DataFrame({"a": [1], 5: [2]})) == ["a", "5"]
    with refused("X has more than one column named '1', 'b'. Rename"):
        column_names(pd.DataFrame(np.zeros((1, 5)), columns=["b", "a", 1, "b", "1"]))


@pytest.mark.parametrize(
    ("X", "expected"),
    [
        ([["1.5", "b"], ["2", "a"]], [[1.5, 1], [2, 0]]),
        ((("x", 1), ("y", 2)), [[0, 1], [1, 2]]),
        (np.array([["x", "b"], ["y", "a"]]), [[0, 1], [1, 0]]),
        (np.array([[b"x", b"2"], [b"y", b"4"]]), [[0, 2], [1, 4]]),
        (pl.DataFrame({"a": ["x", "y"], "b": [None, 2]}), [[0, NAN], [1, 2]]),
        (pl.DataFrame({"a": [Decimal("1.5"), None], "b": [1, 2]}), [[1.5, 1], [NAN, 2]]),
        (pl.DataFrame({"a": [True, None], "b": ["x", None]}), [[1, 0], [NAN, 1]]),
        (pd.DataFrame({"a": [2**60 + 3, 2**60], "b": [0.5, 1]}), [[3, 0.5], [0, 1]]),
        (pl.DataFrame({"a": [2**60 + 3, 2**60], "b": [1, 2]}), [[3, 1], [0, 2]]),
        (pd.DataFrame({"a": np.array([2**63 + 5, 2**63], dtype=np.uint64)}), [[5], [0]]),
        (pd.DataFrame({"a": [None, None], "b": ["x", "y"]}), [[0, 0], [0, 1]]),
        (pd.DataFrame({"a": [None, None], "b": [1, 2]}), [[0, 1], [0, 2]]),
        (pd.DataFrame({"a": pd.Series([1, "2"], dtype=object), "b": ["x", "y"]}), [[1, 0], [2, 1]]),
    ],
)
def test_columns_of_every_kind_in_one_matrix(X, expected):
    found = read_columns(X, owner="a test")
    np.testing.assert_array_equal(found.storage.matrix, expected)
    assert found.has_names == hasattr(X, "columns")
    assert found.names == (
        tuple(map(str, X.columns)) if found.has_names else tuple(f"x{i}" for i in range(len(expected[0])))
    )


def test_tables_that_scikit_learn_reads_are_left_to_it():
    for X in (
        np.eye(2),
        [[1, 2], [3, 4]],
        pd.DataFrame(np.eye(2)),
        [[1, 2], [3]],
        np.eye(2)[0],
        sp.eye_array(2),
    ):
        assert _parts_of(X) is None
    for X, said in (
        ([[1, 2], [3]], "inhomogeneous"),
        (np.eye(2)[0], "Expected 2D array"),
        (np.empty((2, 0)), "0 feature"),
        (np.eye(3)[:1], "1 sample"),
    ):
        with pytest.raises(ValueError, match=said):
            read_columns(X, owner="a test")
    assert read_columns(np.eye(3)[:1], owner="a test", min_rows=1).storage.shape == (1, 3)
    with pytest.raises(ValueError, match="minimum of 2 is required by a test"):
        read_columns(np.eye(3)[:1], owner="a test")
    with pytest.raises(ValueError, match="Complex data not supported"):
        read_columns(np.eye(2) * 1j, owner="a test")


def objects(*columns):
    made = np.empty((len(columns[0]), len(columns)), dtype=object)
    for place, column in enumerate(columns):
        for row, value in enumerate(column):
            made[row, place] = value
    return made


@pytest.mark.parametrize(
    ("X", "said"),
    [
        (pd.DataFrame({"a": pd.date_range("2020", periods=2)}), "but 'a' holds dates or times. Convert"),
        (pl.DataFrame({"a": [date(2020, 1, 1)], "b": [timedelta(1)]}), "but 'a', 'b' hold dates or times. Convert"),
        (objects(["x", "y"], [time(1), None]), "but 'column 1' holds dates or times."),
        (objects(["x", "y"], [None, date(2020, 1, 1)], [timedelta(1), 1]), "but 'column 1', 'column 2' hold dates"),
        (objects(["x", "y"], [1, [2]]), "but 'column 1' holds values of type list."),
        (objects([(1,), 2], ["x", "y"], [{3}, 4]), "but 'column 0', 'column 2' hold values of type tuple."),
        (np.array([["2020-01-01"]], dtype="M8[D]"), "but 'column 0' holds dates or times."),
        (np.array([[b"x", b"\xff"], [b"y", b"z"]]), "but column 1 holds bytes that are not ASCII text, such"),
        (pd.DataFrame({"x": list("ab"), "odd": [[1], [2]]}), "but 'odd' holds values of type list."),
        (pd.DataFrame({"x": list("ab"), "odd": [1j, 2.0]}), "but 'odd' holds values of type complex."),
        (pl.DataFrame({"x": ["a"], "odd": [[1]]}), "but 'odd' holds values of type list."),
    ],
)  # fmt: skip
def test_columns_that_are_neither_numbers_nor_categories_are_named(X, said):
    with refused("X must hold numbers or"):
        read_columns(X, owner="a test")
    with refused(said):
        read_columns(X, owner="a test")


def test_sparse_matrices_are_tidied_without_touching_the_callers():
    doubled = sp.csc_array(
        (np.array([1.0, 2.0, 0.0, 5.0]), np.array([0, 0, 1, 1]), np.array([0, 2, 4])), shape=(2, 2)
    )
    tidy = _tidy_sparse(doubled)
    assert tidy.toarray().tolist() == [[3.0, 0.0], [0.0, 5.0]]
    assert (tidy.nnz, doubled.nnz, tidy.format) == (2, 4, "csc")
    stored_zero = sp.csc_array((np.array([0.0, 2.0]), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    assert _tidy_sparse(stored_zero).nnz == 1
    assert stored_zero.nnz == 2
    wide = sp.csr_array(np.eye(3))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    short = _tidy_sparse(wide)
    assert (short.indices.dtype, short.indptr.dtype) == (np.int32, np.int32)
    clean = sp.csc_array(np.eye(3))
    assert np.shares_memory(_tidy_sparse(clean).data, clean.data)


# Columns that the caller lists -------------------------------------------------------------------------


FRAME = pd.DataFrame({"n": [3.0, 1.0, NAN, 3.0], "t": ["9", "10", None, "9"], "c": ["u", "v", "u", "u"]})


@pytest.mark.parametrize(
    ("listing", "first", "second", "categories"),
    [
        ("auto", [3, 1, NAN, 3], [1, 0, 2, 1], {1: ("10", "9", "(missing)"), 2: ("u", "v")}),
        ("from_dtype", [3, 1, NAN, 3], [1, 0, 2, 1], {1: ("10", "9", "(missing)"), 2: ("u", "v")}),
        (["c"], [3, 1, NAN, 3], [9, 10, NAN, 9], {2: ("u", "v")}),
        ([2, "n"], [1, 0, 2, 1], [9, 10, NAN, 9], {0: ("1", "3", "(missing)"), 2: ("u", "v")}),
        ([True] * 3, [1, 0, 2, 1], [1, 0, 2, 1], {0: ("1", "3", "(missing)"), 1: ("10", "9", "(missing)"),
         2: ("u", "v")}),
        (np.array([False, True, True]), [3, 1, NAN, 3], [1, 0, 2, 1], {1: ("10", "9", "(missing)"), 2: ("u", "v")}),
    ],
)  # fmt: skip
def test_listed_columns_are_categories_and_all_others_numbers(listing, first, second, categories):
    frame = FRAME.assign(t=FRAME["t"].astype("category"))
    table = read(frame, categorical_features=listing)
    np.testing.assert_array_equal(table.X[:, :2].T, [first, second])
    assert table.categories == categories
    assert table.n_levels.tolist() == [len(categories.get(column, ())) for column in range(3)]
    assert table.kinds.from_values is (isinstance(listing, str) and listing == "auto")
    made = table.frame.columns.frame(table.X, ["n", "t", "c"])
    assert made["c"].tolist() == ["u", "v", "u", "u"]
    if 0 not in categories:
        np.testing.assert_array_equal(made["n"], first)
    assert frame["n"].tolist()[0] == 3.0


@pytest.mark.parametrize(
    ("listing", "said"),
    [
        ([True], "categorical_features is a mask of 1 booleans, but X has 3 columns."),
        (["n"], "'c' holds text, such as 'u', so it is categorical, but categorical_features does not list it."),
        (None, "'c' holds text, such as 'u'"),
        ([], "'c' holds text, such as 'u'"),
        (["z"], "categorical_features: There is no column 'z'. The columns are 'n', 't', 'c'. Or did you mean one of "
         "'auto', 'from_dtype'?"),
        (["z", "n"], "categorical_features: There is no column 'z'. The columns are 'n', 't', 'c'."),
        (7, "categorical_features: There is no column 7: columns are numbered 0 to 2. Or did you mean"),
    ],
)  # fmt: skip
def test_lists_that_do_not_fit_are_refused(listing, said):
    with refused(said) as raised:
        read(FRAME, categorical_features=listing)
    assert ("did you mean one of" in str(raised.value)) == ("did you mean" in said)


def test_a_sparse_table_has_no_categories_and_an_array_of_small_numbers_keeps_the_callers():
    sparse = sp.csc_array(np.eye(4))
    assert read(sparse, categorical_features=None).is_sparse
    with refused("categorical_features lists 'x1', but the columns of a sparse X are numbers."):
        read(sparse, categorical_features=[1])
    small = np.array([[5, 1], [3, 0], [5, 1], [4, 1]], dtype=np.int8)
    table = read(small, categorical_features=[0])
    assert table.X[:, 0].tolist() == [2, 0, 2, 1]
    assert table.X.dtype == np.float64
    assert small[:, 0].tolist() == [5, 3, 5, 4]
    assert table.frame is None
    assert not read(small, categorical_features=None).kinds.from_values


# New rows ----------------------------------------------------------------------------------------------


def test_new_rows_have_the_codes_of_the_fit():
    table = read(
        pd.DataFrame({"a": ["x", "y", None, "x"], "n": [1.0, 2, 3, 4], "m": [5, 6, 5, 6]}),
        categorical_features=["a", "m"],
    )
    rows = NewRows.like(table, [2, 0, 1])
    assert rows.columns == (2, 0, 1)
    assert rows.names == ("m", "a", "n")
    assert rows.labels == (("5", "6"), ("x", "y", "(missing)"), ())
    assert rows.n_levels.tolist() == [3, 4, 0]
    new = pd.DataFrame({"a": [None, "z", "y"], "n": [NAN, 0.5, 1], "m": [6.0, 7, NAN]})
    np.testing.assert_array_equal(rows.read(new, "a test"), [[1, 2, NAN], [2, 3, 0.5], [2, 1, 1]])
    assert rows.read(new, "a test").flags.c_contiguous
    np.testing.assert_array_equal(rows.read(pl.from_pandas(new), "a test"), rows.read(new, "a test"))
    assert rows.read(new.iloc[:1], "a test").shape == (1, 3)
    with refused("'n' held numbers in fit and holds text now, such as 'p'."):
        rows.read(new.assign(n=["p", "q", "p"]), "a test")
    with refused("'n' holds integers beyond 2**53"):
        rows.read(new.assign(n=[2**60, 1, 2]), "a test")


def test_new_rows_of_arrays_and_sparse_matrices():
    rows = NewRows((1, 0), ("x1", "x0"), ((), ()))
    X = np.array([[1.0, 2.0, 3.0]])
    for given in (X, X.tolist(), sp.csr_array(X)):
        found = rows.read(given, "a test")
        assert (found.toarray() if sp.issparse(found) else found).tolist() == [[2.0, 1.0]]
    assert rows.read(sp.csc_array(X), "a test").format == "csr"
    text = NewRows((1,), ("x1",), (("a", "b"),))
    for given in (
        np.array([["1", "b"], ["2", "c"]]),
        [["1", "b"], ["2", "c"]],
        np.array([[1, "b"], [2, "c"]], dtype=object),
    ):
        assert text.read(given, "a test").tolist() == [[1.0], [2.0]]
    with refused("'x1' holds integers beyond 2**53"):
        rows.read(np.array([[1, 2**60]]), "a test")


# Frames ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow", None])
def test_a_frame_of_every_library(backend):
    made = new_frame({"a": [1, 2]}, {"a": nw.Int64}, backend)
    assert backend_of(made) == (backend or "pandas")
    empty = new_frame({"a": []}, {"a": nw.String}, "polars")
    assert empty.schema == {"a": pl.String}


def test_only_frames_have_a_library():
    assert backend_of(np.eye(2)) is None
    assert backend_of([[1]]) is None
    assert backend_of(pl.DataFrame({"a": [1]})) == "polars"
    assert backend_of(pa.table({"a": [1]})) == "pyarrow"
    assert CallersFrame.of(np.eye(2), ["a", "b"], None, None) is None
    assert CallersFrame.of(pd.DataFrame({"a": [1]}), None, None, None) is None


@pytest.mark.parametrize("make", [lambda frame: frame, pl.from_pandas, pa.Table.from_pandas])
def test_frames_like_the_callers_hold_its_categories(make):
    frame = pd.DataFrame({"n": [1.5, 2, 3], "t": ["b", "a", "b"]}, index=[9, 8, 7])
    table = read(make(frame), y=[0, 1, 0])
    like = table.frame.columns
    made = like.frame(np.array([[1.0, 0.5], [0.0, 7.0]]), ["t", "other"])
    plain = nw.from_native(made, eager_only=True)
    assert plain.columns == ["t", "other"]
    assert plain["t"].to_list() == ["b", "a"]
    assert plain["other"].to_list() == [0.5, 7.0]
    assert backend_of(made) == backend_of(make(frame))


def test_names_that_are_no_text_are_those_of_the_callers_frame():
    table = read(pd.DataFrame({10: [1.0, 2.0], "a": ["x", "y"]}), y=[0, 1])
    made = table.frame.columns.frame(np.array([[1.0, 3.0]]), ["a", "10"])
    assert made.columns.tolist() == ["a", 10]
    assert made["a"].tolist() == ["y"]


# What is no table --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("values", "name", "said"),
    [
        ({"a": 1}, "X", "but is of type dict. Pass pandas.DataFrame(X)."),
        ({"a": 1}, "y", "but is of type dict. Pass list(y.values())."),
        ([{"a": 1}], "X", "but is of type list and holds dicts. Pass pandas.DataFrame(X)."),
        (([1], {"a": 1}), "y", "but is of type tuple and holds dicts. Pass one value per row."),
        (iter([1]), "y", "but is of type list_iterator. Pass list(y)."),
        ({1}, "X", "but is of type set. Pass list(X)."),
        (3, "y", "but is of type int. Pass one of these."),
        (b"ab", "X", "but is of type bytes. Pass one of these."),
        (bytearray(b"ab"), "X", "but is of type bytearray. Pass one of these."),
        (list, "X", "but is of type type. Pass one of these."),
    ],
)
def test_the_way_out_fits_what_was_passed(values, name, said):
    kind = {
        "X": "an array, a sparse matrix, a data frame, a list of rows or a path",
        "y": "an array, a series or a list with one value per row",
    }
    with pytest.raises(InvalidInputError, match=f"^{re.escape(f'{name} must be {kind[name]}, {said}')}$"):
        require_values(values, name)
    for good in (np.eye(1), [1], (1,), "text", pd.Series([1]), sp.dok_array((1, 1))):
        require_values(good, name)


def test_names_of_one_type_only():
    for columns in (["a", "b"], [1, 2], [1, 2.5]):
        require_one_type_of_names(pd.DataFrame(np.eye(2), columns=columns))
    require_one_type_of_names(np.eye(2))
    with refused("X has names of the types 'float', 'int', 'str', such as 3."):
        require_one_type_of_names(pd.DataFrame(np.eye(3), columns=["a", 3, 2.5]))


def test_a_column_of_one_text_that_is_not_listed_is_refused():
    with refused("'c' holds text, such as 'u'"):
        read(FRAME.assign(c="u"), categorical_features=["n", "t"])
