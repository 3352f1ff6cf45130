import warnings
from datetime import date
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._data.reading.categories import coded, recoded
from ppfs._data.reading.library_codes import library_codes
from ppfs.exceptions import InvalidInputError

Y = np.array([0, 1, 0, 1])


def read(X, y=Y, *, task="auto", **options):
    return read_table(X, y, task=task, owner="PPFS", **options)


def column(values, **options):
    """The one column of a pandas frame, as the table holds it."""
    return read(pd.DataFrame({"c": values}), **options).X[:, 0].tolist()


# Columns -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", pd.ArrowDtype(pa.string())])
def test_pandas_text_is_coded_in_the_order_of_its_texts(dtype):
    table = read(pd.DataFrame({"c": pd.Series(["red", "blue", "red", "green"], dtype=dtype)}))
    assert table.X[:, 0].tolist() == [2, 0, 2, 1]
    assert table.n_levels.tolist() == [3]
    assert table.categories == {0: ("blue", "green", "red")}
    assert table.is_mixed


@pytest.mark.parametrize("dtype", [pl.String, pl.Categorical])
def test_polars_text_has_the_same_codes(dtype):
    table = read(pl.DataFrame({"c": pl.Series(["red", "blue", "red", "green"], dtype=dtype)}))
    assert table.X[:, 0].tolist() == [2, 0, 2, 1]
    assert table.categories == {0: ("blue", "green", "red")}


@pytest.mark.parametrize("dtype", [object, "str", "string", "category", pd.ArrowDtype(pa.string())])
def test_gap_in_text_is_the_last_category(dtype):
    table = read(pd.DataFrame({"c": pd.Series(["z", None, "a", "z"], dtype=dtype)}))
    assert table.X[:, 0].tolist() == [1, 2, 0, 1]
    assert table.categories == {0: ("a", "z", "(missing)")}
    assert table.n_levels.tolist() == [3]


def test_gap_in_polars_text_is_the_last_category():
    enum = pl.Enum(["z", "a"])
    frame = pl.DataFrame(
        {
            "t": ["z", None, "a", "z"],
            "e": pl.Series(["z", None, "a", "z"], dtype=enum),
            "o": [1.0, None, 2.0, 3.0],
        }
    )
    table = read(frame)
    assert table.X[:, :2].T.tolist() == [[1, 2, 0, 1], [0, 2, 1, 0]]
    np.testing.assert_array_equal(table.X[:, 2], [1, np.nan, 2, 3])
    assert table.n_levels.tolist() == [3, 3, 0]


def test_declared_order_is_kept_and_absent_categories_have_no_code():
    order = ["low", "middle", "high"]
    ordered = pd.Categorical(["high", "low", "high", "low"], categories=order, ordered=True)
    enum = pl.Series(["high", "low", "high", "low"], dtype=pl.Enum(order))
    for table in (read(pd.DataFrame({"c": ordered})), read(pl.DataFrame({"c": enum}))):
        assert table.X[:, 0].tolist() == [1, 0, 1, 0]
        assert table.categories == {0: ("low", "high")}


def test_categories_that_are_no_text():
    assert column(pd.Categorical([10, 9, 10, 2])) == [0, 2, 0, 1]  # "10" < "2" < "9"
    assert column(pd.Categorical([10, None, 10, 2], ordered=True)) == [1, 2, 1, 0]
    assert column(pd.cut([1.0, 9.0, 2.0, 10.0], 2)) == [0, 1, 0, 1]


TEXT = ["b", None, "a", "c", "b", "\u00e9", "10", "9", None, "a"]


@pytest.mark.parametrize(
    "column",
    [
        pd.Series(TEXT, dtype=object),
        pd.Series(TEXT, dtype="category"),
        pd.Series(TEXT, dtype="string"),
        pd.Series(TEXT, dtype="string[pyarrow]"),
        pd.Series(pd.Categorical(TEXT, ["z", "9", "c", "b", "a", "\u00e9", "10"], ordered=True)),
        pd.Series(pd.Categorical([1, "1", 2, None, 2, 1], [2, "1", 1, 3])),
        pl.Series(TEXT),
        pl.Series(TEXT, dtype=pl.Categorical),
        pl.Series(TEXT, dtype=pl.Enum(["z", "9", "c", "b", "a", "\u00e9", "10"])),
        pa.chunked_array([TEXT[:4], TEXT[4:]]),
        pa.chunked_array([pa.array(TEXT[:4]).dictionary_encode(), pa.array(TEXT[4:]).dictionary_encode()]),
    ],
    ids=lambda column: f"{type(column).__module__.split('.')[0]}",
)
def test_codes_of_the_library_are_those_that_are_found_value_by_value(column):
    series = nw.from_native(column, series_only=True)
    declared = series.dtype.categories if isinstance(series.dtype, nw.Enum) else None
    known = library_codes(series)
    fast, slow = recoded(known.codes, known.values, declared), coded(series.to_list(), declared)
    assert fast.labels == slow.labels
    np.testing.assert_array_equal(fast.codes, slow.codes)


@pytest.mark.parametrize(
    ("n_categories", "dtype"), [(3, np.int8), (128, np.int8), (129, np.int16), (2**15 + 1, np.int32)]
)
def test_categories_alone_take_as_few_bytes_as_they_can(n_categories, dtype):
    codes = np.arange(n_categories)[::-1]
    names = np.array([f"{code:05}" for code in range(n_categories)])
    frame = pd.DataFrame({"c": pd.Categorical(names[codes]), "d": pd.Categorical(names[codes][::-1])})
    y = np.arange(n_categories) % 2
    table = read_table(frame, y, task="auto", owner=None)
    assert table.X.dtype == dtype
    np.testing.assert_array_equal(table.X[:, 0], codes)
    beside = read_table(frame.assign(e=0.5), y, task="auto", owner=None)
    assert beside.X.dtype == np.float64
    np.testing.assert_array_equal(beside.X[:, :2], table.X)


@pytest.mark.parametrize(
    "categories",
    [
        pd.Categorical(["b", "a", "b", "c"]),
        pd.Categorical(["b", "a", "b", "c"], ["much longer", "c", "b", "a"]),
        pd.Categorical(["b", "a", "b", "c"], ["c", "b", "a", 7]),
        pd.Categorical([2, 1, 2, 3]),
        pd.Categorical(["2", 1, "2", 3]),
        pd.Categorical(["b", "a", "b", "c"], ["c", "b", "a"], ordered=True),
    ],
    ids=repr,
)
def test_a_target_of_categories_is_read_as_its_values_are(categories):
    by_type = read_table(np.eye(4), pd.Series(categories), task="classification", owner=None)
    objects = np.array(categories.tolist(), dtype=object)
    by_value = read_table(np.eye(4), objects, task="classification", owner=None)
    assert by_type.y.dtype == by_value.y.dtype
    assert by_type.y.tolist() == by_value.y.tolist()
    assert by_type.classes.tolist() == by_value.classes.tolist()


def test_a_gap_in_a_target_of_categories_is_refused():
    with pytest.raises(InvalidInputError, match="1 of 4 rows, the first in row 2"):
        read_table(np.eye(4), pd.Series(["a", "b", None, "a"], dtype="category"), task="auto", owner=None)


@pytest.mark.parametrize("name", ["boolean", "bool[pyarrow]", object])
def test_truth_values_are_numbers_and_their_gaps_nan(name):
    table = read(pd.DataFrame({"c": pd.Series([True, None, False, True], dtype=name)}))
    np.testing.assert_array_equal(table.X[:, 0], [1, np.nan, 0, 1])
    assert not table.is_mixed
    both = pd.DataFrame({"c": [True, False, True, False], "t": list("abab")})
    assert read(both).X[:, 0].tolist() == [1, 0, 1, 0]


@pytest.mark.parametrize("name", ["Int64", "Float32", "int32[pyarrow]", "double[pyarrow]"])
@pytest.mark.parametrize("beside_text", [False, True])
def test_gaps_in_nullable_numbers_are_nan(name, beside_text):
    frame = pd.DataFrame({"c": pd.Series([1, None, 3, 4], dtype=name)})
    table = read(frame.assign(t=list("abab")) if beside_text else frame)
    np.testing.assert_array_equal(table.X[:, 0], [1, np.nan, 3, 4])
    assert table.n_levels[0] == 0


def test_polars_numbers_truth_values_and_decimals():
    frame = pl.DataFrame(
        {
            "i": [1, None, 3, 4],
            "b": [True, None, False, True],
            "d": [Decimal("1.5"), None, Decimal("2"), Decimal("0")],
        }
    )
    for table in (read(frame), read(frame.with_columns(t=pl.Series(list("abab"))))):
        expected = [[1, np.nan, 3, 4], [1, np.nan, 0, 1], [1.5, np.nan, 2, 0]]
        np.testing.assert_array_equal(table.X[:, :3].T, expected)
        assert not table.n_levels[:3].any()


@pytest.mark.parametrize(
    "values",
    [[1, 2.5, None, 0], ["1", 2.5, None, "0"], [1, Decimal("2.5"), pd.NA, np.False_]],
    ids=["numbers", "numeric text", "pandas' NA"],
)
def test_objects_that_are_numbers_stay_numbers(values):
    table = read(pd.DataFrame({"c": pd.Series(values, dtype=object)}))
    np.testing.assert_array_equal(table.X[:, 0], [1, 2.5, np.nan, 0])
    assert not table.is_mixed


def test_numbers_among_text_are_categories():
    table = read(pd.DataFrame({"c": pd.Series([7, "?", 7, 10], dtype=object)}))
    assert table.categories == {0: ("10", "7", "?")}


def test_column_of_gaps_only_is_constant():
    for frame in (
        pd.DataFrame({"c": [None] * 4, "x": range(4)}),
        pl.DataFrame({"c": [None] * 4, "x": range(4)}),
    ):
        table = read(frame)
        assert table.constant_mask.tolist() == [True, False]
        assert table.n_levels.tolist() == [1, 0]


def test_plain_numbers_are_read_as_before():
    X = np.arange(8.0, dtype=np.float32).reshape(4, 2)
    table = read(X)
    assert table.X.dtype == np.float32
    assert table.names == ("x0", "x1") == table.column_names
    assert table.columns == ((0,), (1,))
    assert not table.is_mixed
    assert not table.has_feature_groups
    assert (table.weights, table.groups, table.kept_rows) == (None, None, None)


@pytest.mark.parametrize("dtype", [object, str, bytes])
def test_text_columns_of_arrays_are_categories(dtype):
    array = np.array([["1.5", "b"], ["2", "a"], ["3", "b"], ["4", "c"]], dtype=str).astype(dtype)
    table = read(array)
    assert table.X.tolist() == [[1.5, 1], [2, 0], [3, 1], [4, 2]]
    assert table.n_levels.tolist() == [0, 3]
    assert table.names == ("x0", "x1")


def test_lists_with_text_keep_their_gaps():
    table = read([[1.5, "b"], [None, "a"], [3, None], [4, "c"]])
    np.testing.assert_array_equal(table.X, [[1.5, 1], [np.nan, 0], [3, 3], [4, 2]])


def test_identifiers_are_allowed():
    frame = pd.DataFrame({"id": [f"row {i}" for i in range(100)]})
    assert read(frame, np.arange(100) % 2).n_levels.tolist() == [100]


def test_pandas_and_polars_frames_give_the_same_table():
    data = {
        "text": ["b", None, "a", "b"],
        "flag": [True, False, True, True],
        "number": [1.5, None, 2.0, 0.0],
        "count": [3, 1, 2, 2],
    }
    one, other = read(pd.DataFrame(data)), read(pl.DataFrame(data))
    np.testing.assert_array_equal(one.X, other.X)
    np.testing.assert_array_equal(one.n_levels, other.n_levels)
    assert (one.names, one.categories) == (other.names, other.categories)
    assert [one.order.key(i) for i in range(4)] == [other.order.key(i) for i in range(4)]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": range(4), "when": pd.date_range("2024-01-01", periods=4)}),
        pd.DataFrame({"x": range(4), "when": pd.to_timedelta(range(4), unit="D")}),
        pl.DataFrame({"x": range(4), "when": [date(2024, 1, day) for day in range(1, 5)]}),
    ],
    ids=["datetime", "duration", "polars date"],
)
def test_dates_say_what_to_make_of_them(frame):
    with pytest.raises(InvalidInputError, match=r"'when' holds dates or times.*days since a date, the month"):
        read(frame)


def test_array_of_dates():
    with pytest.raises(InvalidInputError, match="'column 0' holds dates"):
        read(np.array(["2024-01-01"] * 4, dtype="datetime64[D]")[:, np.newaxis])


@pytest.mark.parametrize("value", [[1, 2], {"a": 1}, 1j], ids=["list", "dict", "complex"])
def test_other_objects_are_named_with_their_type(value):
    odd = np.array([None] * 4, dtype=object)
    odd[1] = value
    frame = pd.DataFrame({"x": list("abab"), "odd": pd.Series(odd, dtype=object)})
    with pytest.raises(
        InvalidInputError, match=rf"'odd' holds values of type {type(value).__name__}\. Convert"
    ):
        read(frame)
    with pytest.raises(InvalidInputError, match=rf"'column 1' holds values of type {type(value).__name__}"):
        read(np.column_stack([list("abab"), odd]).astype(object))


def test_objects_without_text_are_scikit_learns_to_refuse():
    array = np.ones((4, 2), dtype=object)
    array[0, 0] = {"a": 1}
    with pytest.raises(TypeError, match="argument must be a string or a real number"):
        read(array)


def test_columns_named_by_numbers():
    table = read(pd.DataFrame({3: list("abab"), 0: range(4)}))
    assert table.names == ("3", "0")
    assert table.n_levels.tolist() == [2, 0]


def test_sparse_frame_stays_sparse():
    frame = pd.DataFrame.sparse.from_spmatrix(sp.eye_array(4, format="csc"))
    assert read(frame).is_sparse


# Features ----------------------------------------------------------------------------------------------


def test_groups_stand_where_their_first_columns_stood():
    frame = pd.DataFrame(np.arange(20.0).reshape(4, 5) ** 2, columns=list("abcde"))
    table = read(frame, feature_groups={"late": ["e", 1], "alone": ["d"]})
    assert table.names == ("a", "late", "c", "alone")
    assert [set(group) for group in table.columns] == [{0}, {1, 4}, {2}, {3}]
    assert table.column_names == tuple("abcde")
    assert table.n_features == table.target == 4
    assert table.has_feature_groups


def test_groups_of_one_column_are_columns():
    table = read(np.eye(4), feature_groups={"first": [0]})
    assert not table.has_feature_groups
    assert table.names == ("first", "x1", "x2", "x3")


def test_group_may_have_the_name_of_one_of_its_columns():
    assert read(np.eye(4), feature_groups={"x1": [0, 1]}).names == ("x1", "x2", "x3")


def test_order_of_columns_within_a_group_does_not_matter():
    X = np.random.default_rng(0).normal(size=(4, 3))
    one = read(X, feature_groups={"g": [0, 2]})
    other = read(X[:, [2, 1, 0]], feature_groups={"g": [2, 0]})
    np.testing.assert_array_equal(one.take([0]), other.take([0]))
    assert one.order.key(0) == other.order.key(0)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"a": ["street"]}, r"feature_groups\['a'\]: There is no column 'street'. The columns are 'x0'"),
        ({"a": [9]}, r"feature_groups\['a'\]: There is no column 9"),
        ({"a": []}, r"feature_groups\['a'\] is empty"),
        ({"x3": [0, 1]}, r"group 'x3' of feature_groups has the name of a column that is not in it"),
        ({"a": [0, 0]}, r"lists 'x0' more than once"),
        ({"a": None}, r"feature_groups\['a'\] must name columns, but is None. Write a name"),
        ({"a": {"x0": 1}}, r"feature_groups\['a'\] must name columns, but is \{'x0': 1\}"),
        ({"a": [None]}, r"feature_groups\['a'\]: None is neither the name nor the number"),
        ([["x0", "x1"]], r"feature_groups must map the name of a group"),
    ],
)
def test_wrong_feature_groups(groups, message):
    with pytest.raises(InvalidInputError, match=message):
        read(np.eye(4), feature_groups=groups)


# Rows --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_rows_of_weight_zero_are_as_if_left_out(make):
    data = {"t": ["c", "b", "a", "b", "d"], "x": [1.0, 2.0, 3.0, 4.0, 5.0]}
    y, weights, groups = ["u", "v", "u", "v", "w"], [1.0, 2.0, 1.0, 3.0, 0.0], list("pqqps")
    table = read(make(data), y, sample_weight=weights, groups=groups)
    left = read(
        make({name: values[:4] for name, values in data.items()}),
        y[:4],
        sample_weight=weights[:4],
        groups=groups[:4],
    )
    np.testing.assert_array_equal(table.X, left.X)
    np.testing.assert_array_equal(table.classes, ["u", "v"])
    assert table.categories == left.categories == {0: ("a", "b", "c")}
    assert table.weights.tolist() == left.weights.tolist() == [1, 2, 1, 3]
    assert table.groups.tolist() == left.groups.tolist() == [0, 1, 1, 0]
    assert table.kept_rows.tolist() == [0, 1, 2, 3]
    assert left.kept_rows is None


def test_text_only_in_rows_that_do_not_count():
    X = np.array([["1"], ["2"], ["3"], ["?"]], dtype=object)
    assert not read(X, sample_weight=[1, 1, 1, 0]).is_mixed


@pytest.mark.parametrize("make", [np.asarray, sp.csr_array, sp.csc_array, list])
def test_every_kind_of_X_and_y_loses_its_rows(make):
    X = np.array([[1.0, 0], [0, 2], [3, 1], [4, 0]])
    table = read(
        make(X), pd.Series(Y, index=list("zyxw")), sample_weight=pd.Series([0, 1, 1, 1], index=list("abcd"))
    )
    np.testing.assert_array_equal(table.take([0, 1]).toarray() if table.is_sparse else table.X, X[1:])
    assert table.y.tolist() == [1, 0, 1]


def test_equal_weights_are_no_weights():
    assert read(np.eye(4), sample_weight=[2, 2, 2, 2]).weights is None
    table = read(np.eye(4), sample_weight=[0, 2, 2, 2])
    assert table.weights is None
    assert table.kept_rows.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], r"one number per row, shape \(4,\), but its shape is \(3,\)"),
        (np.ones((4, 1)), r"its shape is \(4, 1\)"),
        ([1, -1, 1, 1], r"sample_weight\[1\] is -1.0"),
        ([1, 1, np.nan, 1], r"sample_weight\[2\] is nan"),
        ([1, 1, np.inf, 1], r"sample_weight\[2\] is inf"),
        ([0, 0, 0, 0], "zero in every row"),
        (["a", 1, 1, 1], "sample_weight must hold numbers"),
    ],
)
def test_wrong_weights(weights, message):
    with pytest.raises(InvalidInputError, match=message):
        read(np.eye(4), sample_weight=weights)


@pytest.mark.parametrize(
    "groups",
    [
        ["b", "a", "b", "c"],
        np.array([20, 3, 20, 30]),
        pd.Series(["b", "a", "b", "c"], dtype="category"),
        pl.Series(["b", "a", "b", "c"]),
        np.array(["1", 1, "1", "2"], dtype=object),
        ["1", 1, "1", "2"],
    ],
    ids=["list", "numbers", "category", "polars", "objects", "mixed list"],
)
def test_groups_are_numbered(groups):
    assert read(np.eye(4), groups=groups).groups.tolist() == [1, 0, 1, 2]


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (["a", "b"], r"shape \(4,\), but its shape is \(2,\)"),
        (np.ones((4, 2)), r"its shape is \(4, 2\)"),
        (["a", None, "b", "b"], "missing in 1 of 4 rows, the first in row 1"),
        ([1, 2, np.nan, 2], "missing in 1 of 4 rows, the first in row 2"),
    ],
)
def test_wrong_groups(groups, message):
    with pytest.raises(InvalidInputError, match=message):
        read(np.eye(4), groups=groups)


def test_groups_of_another_length_with_weights():
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        read(np.eye(4), groups=["a", "b"], sample_weight=[0, 1, 1, 1])


# Target ------------------------------------------------------------------------------------------------

TWO = np.array([[1, 2.5], [2, 0], [3, 1], [4, 1]])


@pytest.mark.parametrize(
    "y",
    [
        TWO,
        TWO.tolist(),
        pd.DataFrame(TWO, columns=["a", "b"]),
        pl.DataFrame(TWO, schema=["a", "b"]),
        TWO.astype(object),
    ],
    ids=["array", "list", "pandas", "polars", "objects"],
)
@pytest.mark.parametrize("task", ["auto", "regression"])
def test_several_columns_of_numbers_are_several_outputs(y, task):
    table = read(np.eye(4), y, task=task)
    assert table.task == "regression"
    assert table.y.dtype == np.float64
    np.testing.assert_array_equal(table.y, TWO)


def test_several_columns_of_labels_are_indicators():
    text = np.array([["a", "x"], ["b", "x"], ["c", "y"], ["a", "y"]])
    table = read(np.eye(4), text)
    assert table.task_name == "classification"
    np.testing.assert_array_equal(table.y, [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1]])
    np.testing.assert_array_equal(table.rows(np.array([2])).labels.values, [["c", "y"]])
    assert read(np.eye(4), np.eye(4)[:, :2]).task_name == "classification"
    with pytest.raises(InvalidInputError, match=r"it holds numbers with a fraction"):
        read(np.eye(4), TWO, task="classification")
    with pytest.raises(InvalidInputError, match=r"numeric targets, but y contains 'a'"):
        read(np.eye(4), text, task="regression")
    with pytest.raises(InvalidInputError, match=r"one class only"):
        read(np.eye(4), np.ones((4, 2)))


def test_gaps_in_one_output():
    y = TWO.copy()
    y[2, 1] = np.nan
    with pytest.raises(ValueError, match="Input y contains NaN"):
        read(np.eye(4), y)
    with pytest.raises(InvalidInputError, match="1 of 4 rows, the first in row 2"):
        read(np.eye(4), pd.DataFrame(y).astype(object).where(~np.isnan(y), None))


def test_one_column_is_one_target_with_scikit_learns_warning():
    with pytest.warns(UserWarning, match="column-vector y was passed"):
        assert read(np.eye(4), pd.DataFrame({"y": Y})).y.tolist() == Y.tolist()


def survival(time=(1.0, 2.0, 3.0, 4.0)):
    y = np.empty(4, dtype=[("event", bool), ("time", float)])
    y["event"], y["time"] = [True, False, True, True], time
    return y


@pytest.mark.parametrize("task", ["auto", "regression"])
def test_structured_target_passes_untouched(task):
    y = survival()
    table = read(np.eye(4), y, task=task)
    assert table.task == "regression"
    assert np.array_equal(table.y, y)
    assert read(np.eye(4), y, sample_weight=[1, 1, 0, 1]).y.dtype == y.dtype


def test_wrong_structured_targets():
    with pytest.raises(
        InvalidInputError, match=r"y\['time'\] is NaN or infinite in 1 of 4 rows, the first in row 1"
    ):
        read(np.eye(4), survival([1, np.nan, 2, 3]))
    with pytest.raises(InvalidInputError, match="y is a structured array"):
        read(np.eye(4), survival(), task="classification")
    with pytest.raises(InvalidInputError, match="field 'who' is of type <U3"):
        read(np.eye(4), np.array([("Ann", 1.0)] * 4, dtype=[("who", "U3"), ("time", float)]))
    with pytest.raises(InvalidInputError, match=r"its shape is \(4, 1\)"):
        read(np.eye(4), survival()[:, np.newaxis])


def test_gap_in_nullable_target():
    with pytest.raises(InvalidInputError, match="1 of 4 rows, the first in row 1"):
        read(np.eye(4), pd.Series([1, None, 0, 1], dtype="Int64").astype(object))


def test_reading_neither_warns_nor_changes_the_frame():
    frame = pd.DataFrame({"t": list("abab"), "x": [1.0, None, 2.0, 3.0]})
    before = frame.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read(frame, sample_weight=[1, 0, 2, 2], groups=list("ppqq"), feature_groups={"g": ["t", "x"]})
    pd.testing.assert_frame_equal(frame, before)


# What cannot be read ------------------------------------------------------------------------------------


def test_frames_without_columns_or_values_are_refused():
    with pytest.raises(InvalidInputError, match=r"0 feature\(s\)"):
        read(pd.DataFrame(index=range(4)))
    with pytest.raises(InvalidInputError, match=r"X is a LazyFrame.*X\.collect\(\)"):
        read(pl.LazyFrame({"a": [1.0, 2, 3, 4]}))
    with pytest.raises(InvalidInputError, match=r"structured array with the fields 'a', 'b'"):
        read(np.zeros(4, dtype=[("a", float), ("b", int)]))


def test_python_dates_are_refused_as_dates():
    with pytest.raises(InvalidInputError, match="'day' holds dates or times"):
        read(pd.DataFrame({"day": [date(2020, 1, day) for day in (1, 2, 3, 4)]}))


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(pd.date_range("2020", periods=4)),
        pd.to_timedelta([1, 2, 3, 4], unit="h"),
        [date(2020, 1, day) for day in (1, 2, 3, 4)],
    ],
)
def test_a_target_of_dates_is_refused(y):
    with pytest.raises(InvalidInputError, match=r"y holds dates or times.*days since a date"):
        read(np.eye(4), y)


def test_a_target_of_decimals_is_a_quantity():
    table = read(np.eye(4), [Decimal("0.5"), Decimal("1.5"), Decimal(2), Decimal("0.25")])
    assert table.task == "regression"
    assert table.y.tolist() == [0.5, 1.5, 2.0, 0.25]


def test_a_target_of_other_objects_is_refused():
    with pytest.raises(InvalidInputError, match="of type Interval"):
        read(np.eye(4), pd.cut([1.0, 2, 3, 4], 2))


@pytest.mark.parametrize(
    "y",
    [
        [1.5, 2.5, np.nan, np.nan],
        pd.Series([1, 2, None, None], dtype="Int64"),
        [[1.5, 1.0], [2.5, 1.0], [np.nan, 1.0], [1.0, np.nan]],
    ],
)
def test_gaps_in_a_numeric_target_are_counted(y):
    with pytest.raises(
        InvalidInputError,
        match="Input y contains NaN or other missing values in 2 of 4 rows, the first in row 2",
    ):
        read(np.eye(4), y)


@pytest.mark.parametrize(
    ("make", "kind"), [(sp.csr_array, "csr"), (sp.csc_array, "csc"), (sp.csr_matrix, "csr")]
)
def test_entries_stored_twice_are_added_up(make, kind):
    """A matrix may hold several entries for one place, which stand for their sum; nothing of it is changed."""
    rng = np.random.default_rng(0)
    X = sp.random_array((60, 3), density=0.5, random_state=rng, format=kind)
    doubled = make((np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape)
    assert not doubled.has_canonical_format
    before = doubled.data.copy()
    y = (X.toarray()[:, 0] + 0.1 * rng.normal(size=60) > 0.2).astype(int)
    table = read_table(doubled, y, task="auto", owner="test")
    np.testing.assert_array_equal(table.X.toarray(), X.toarray())
    assert table.X.nnz == X.nnz
    expected = PPFS(n_splits=6, random_state=0).fit(X, y).pvalues_
    np.testing.assert_array_equal(PPFS(n_splits=6, random_state=0).fit(doubled, y).pvalues_, expected)
    np.testing.assert_array_equal(doubled.data, before)
