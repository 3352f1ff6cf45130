"""How the values of a target are read, one rule after the other, and where each limit lies."""

import re
from datetime import date
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ppfs._data.reading import read_table
from ppfs._data.reading.target import (
    in_order,
    is_categorical,
    read_target,
    read_typed,
    require_repeated_labels,
    require_two_classes,
    typed_target,
)
from ppfs.exceptions import InvalidInputError


def refused(text):
    return pytest.raises(InvalidInputError, match=re.escape(text))


def typed(y, task="auto"):
    return read_typed(y, task, owner="a test")[0]


def chosen(y, task="auto"):
    return typed(y, task).choice


@pytest.mark.parametrize("owner", ["PPFS", type("PPFS", (), {})()])
def test_a_missing_target_is_reported_with_the_name_of_its_owner(owner):
    with refused("PPFS requires y to be passed, but the target y is None."):
        read_target(None, owner=owner)


@pytest.mark.parametrize("dtype", [float, object, int])
def test_a_target_without_rows_is_read(dtype):
    assert read_target(np.empty(0, dtype=dtype), owner="a test").shape == (0,)


def test_what_scikit_learn_refuses_is_refused_in_its_words():
    with pytest.raises(ValueError, match="Input y contains infinity"):
        read_target([1.0, np.inf], owner="a test")
    with pytest.raises(ValueError, match="Complex data not supported"):
        read_target([1j, 2.0], owner="a test")


def test_rows_with_missing_outputs_are_counted_once():
    y = np.array([[1.5, 2.5], [np.nan, np.nan], [1.0, np.nan], [0.5, 1.0]])
    for target in (y, y.astype(object)):
        with refused("missing values in 2 of 4 rows, the first in row 1."):
            read_target(target, owner="a test")


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["b", "a"], np.array(["b", "a"])),
        ([np.str_("b"), "a"], np.array(["b", "a"])),
        ([1, 2.5], np.array([1.0, 2.5])),
        ([True, False], np.array([True, False])),
        ([np.bool_(True), False], np.array([True, False])),
        ([3, 4], np.array([3, 4])),
        ([Decimal("0.5"), 2], np.array([0.5, 2.0])),
        ([Fraction(1, 4), 2], np.array([0.25, 2.0])),
        ([2**70, 1], np.array([2.0**70, 1.0])),
        (["ill", 1], np.array(["ill", "1"])),
        (["ill", 1.5, True], np.array(["ill", "1.5", "True"])),
        (["ill", Decimal("1.5")], np.array(["ill", "1.5"])),
        (["ill", Fraction(1, 2)], np.array(["ill", "1/2"])),
    ],
    ids=repr,
)
def test_objects_are_read_in_the_type_of_their_values(values, expected):
    found = read_target(np.array(values, dtype=object), owner="a test")
    assert found.dtype.kind == expected.dtype.kind
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize(
    ("values", "said"),
    [
        (["a", None, "b", None], "missing values in 2 of 4 rows, the first in row 1."),
        ([1, 2, (3, 4)], "contains (3, 4) of type tuple."),
        (["a", 1j], "contains 1j of type complex."),
        ([date(2020, 1, 1), "a"], "y holds dates or times"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "y holds dates or times"),
        (np.array([5], dtype="timedelta64[h]"), "y holds dates or times"),
        (np.array([b"x", b"y"]), "y holds bytes, such as b'x'."),
        ("price", "y is the text 'price'"),
        ([10**400, 1], "y holds an integer that is too large for a float."),
    ],
    ids=repr,
)
def test_values_that_are_no_target_are_refused(values, said):
    y = values
    if isinstance(values, list):
        y = np.empty(len(values), dtype=object)
        y[:] = values
    with refused(said):
        read_target(y, owner="a test")


def test_fields_of_a_structured_target_hold_one_finite_number_each():
    good = np.array([(True, 1.5), (False, 2.5)], dtype=[("event", bool), ("time", float)])
    assert read_target(good, owner="a test") is good
    with refused("its shape is (2, 1). Pass y.ravel()."):
        read_target(good[:, None], owner="a test")
    with refused("its field 'pair' is of type ('<f8', (2,))."):
        read_target(np.zeros(3, dtype=[("time", float), ("pair", float, (2,))]), owner="a test")
    bad = np.array([(1, 1.5), (0, np.inf), (1, np.nan)], dtype=[("event", int), ("time", float)])
    with refused("y['time'] is NaN or infinite in 2 of 3 rows, the first in row 1."):
        read_target(bad, owner="a test")


def test_one_class_is_refused_and_weights_are_named_where_they_leave_one():
    X = np.arange(4.0)[:, None]
    with refused("y has one class only, 'a': there is nothing to predict."):
        require_two_classes(read_table(X, ["a"] * 4, task="auto", owner="a test"))
    table = read_table(X, ["a", "a", "b", "a"], task="auto", owner="a test", sample_weight=[1, 1, 0, 1])
    with refused("y has one class only, 'a', in the rows whose sample_weight is not 0: there is"):
        require_two_classes(table)
    require_two_classes(read_table(X, ["a", "a", "b", "a"], task="auto", owner="a test"))
    require_two_classes(read_table(X, np.ones(4), task="regression", owner="a test"))


EVENTS = np.array([(True, 1.0), (False, 2.0)], dtype=[("event", bool), ("time", float)])
FIELDS = np.array([(1.0, 1.0), (2.5, 2.0)], dtype=[("one", float), ("two", float)])
PAIRS = np.array([[0, 1], [1, 1], [1, 0]])
SAID = "the task or the estimator was given"


@pytest.mark.parametrize(
    ("y", "task", "expected", "reason"),
    [
        (EVENTS, "auto", "regression", "y has an event and a time; this package's own models predict the log-rank"),
        (EVENTS, "survival", "regression", "the task was given; this package's own models predict the log-rank"),
        ([0, 3, 1], "count", "regression", "the task was given; this package's own models predict twice the root"),
        ([[0, 2], [3, 1]], "count", "regression", "the task was given; this package's own models predict the count"),
        ([0, 2, 1], "ordinal", "classification", "the task was given; this package's own models predict the mean rank"),
        (FIELDS, "auto", "regression", "y is a structured array"),
        (FIELDS, "regression", "regression", SAID),
        ([0, 1, 0], "classification", "classification", SAID),
        ([0, 1, 0], "regression", "regression", SAID),
        (PAIRS, "auto", "regression", "y has 2 columns of labels; probabilities of 2 labels are predicted"),
        (PAIRS, "classification", "regression", SAID + "; probabilities of 2 labels are predicted"),
        (PAIRS, "regression", "regression", SAID),
        (2 * PAIRS, "auto", "regression", "y has 2 columns"),
        (2**60 + np.arange(3), "auto", "classification", "y holds 3 distinct integers"),
        ([0.5, 1.0, 2.0], "auto", "regression", "y holds numbers with a fraction"),
        (pd.Series([1, 2, 1]).astype("category"), "auto", "classification", "y has a categorical type"),
        (pd.Series([1, 2, 1]).astype("category"), "regression", "regression", SAID),
    ],
)  # fmt: skip
def test_the_task_and_its_reason(y, task, expected, reason):
    choice = chosen(y, task)
    assert choice.task == expected
    assert choice.reason.startswith(reason)
    assert choice.doubt == "" or y is FIELDS or np.ndim(y) == 2


@pytest.mark.parametrize(
    ("values", "labels"),
    [([0.5, 1.0, 1.0], ["0.5", "1.0"]), ([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]), ([4, 7, 7], [4, 7])],
)
def test_categories_with_a_fraction_are_labels_by_their_text(values, labels):
    assert typed(pd.Series(values).astype("category")).classes.tolist() == labels


def test_categories_are_labels_only_if_most_of_them_repeat():
    with refused("y holds 21 classes in 21 rows"):
        typed(pd.Series(np.arange(21)).astype("category"))


@pytest.mark.parametrize(
    ("y", "are_labels"),
    [
        ([[0, 1], [1, 0], [1, 1]], True),
        ([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], True),
        ([[True, False], [False, True], [True, True]], True),
        ([["a", "b"], ["c", "b"], ["a", "d"]], True),
        ([[0, 1], [1, 0], [1, 2]], False),
        ([[0, 2], [2, 0], [2, 2]], False),
        ([[1, 2], [2, 1], [1, 1]], False),
        ([[0.5, 1], [1, 0], [1, 1]], False),
    ],
    ids=repr,
)
def test_columns_of_zero_and_one_or_of_text_are_labels_unless_regression_was_said(y, are_labels):
    assert (typed(np.array(y)).labels is not None) == are_labels
    if np.array(y).dtype.kind in "if":
        assert typed(np.array(y), "regression").labels is None


def test_columns_of_labels_are_kept_as_integers_and_one_of_them_may_be_constant():
    target = typed(np.array([[1.0, 5.0], [1.0, 7.0], [1.0, 5.0]]), "classification")
    assert [classes.tolist() for classes in target.labels.classes] == [[1], [5, 7]]
    assert target.labels.values.dtype == np.int64
    assert target.values.tolist() == [[1, 0], [1, 1], [1, 0]]
    with refused("Each column of y has one class only"):
        typed(np.ones((3, 2)), "classification")


def test_what_no_task_fits_is_refused():
    with refused("Classification needs labels, but y is a structured array."):
        typed(FIELDS, "classification")
    with refused("Regression needs numeric targets, but y contains 'a'."):
        typed(np.array([["a", "b"], ["c", "d"]]), "regression")
    with refused("Regression needs a numeric target, but y contains 'x'."):
        typed(["1", "x", "2"], "regression")
    with refused("it holds numbers with a fraction, such as 2.5."):
        typed([1.0, 3.0, 2.5, 0.5], "classification")
    with refused("y holds 1.8e+16: floats beyond 2**53"):
        typed([1.0, 2.0**54, 3.0], "classification")


def test_labels_may_be_floats_up_to_the_largest_that_is_exact():
    assert typed([1.0, -(2.0**53), 1.0], "classification").classes.tolist() == [-(2.0**53), 1.0]
    assert typed(["1", "2.5"], "regression").values.tolist() == [1.0, 2.5]
    assert typed(2**60 + np.array([3, 0, 1]), "regression").values.tolist() == [3.0, 0.0, 1.0]


def test_numbers_as_text_are_refused_beyond_twenty_of_them():
    texts = [f"{number}.5" for number in range(10, 31)]
    assert typed(np.repeat(texts[:20], 3)).task == "classification"
    assert typed(np.repeat([*texts[:20], "none"], 3)).task == "classification"
    assert typed(np.repeat(texts, 3), "classification").classes.size == 21
    with refused("y holds text that looks like numbers, such as '10.5'."):
        typed(np.repeat(texts, 3))


@pytest.mark.parametrize(
    ("n_classes", "n_rows", "is_refused"),
    [(10, 10, False), (20, 20, False), (21, 42, False), (21, 41, True), (22, 42, True), (30, 60, False)],
)
def test_half_of_the_rows_may_have_a_class_of_their_own_or_twenty(n_classes, n_rows, is_refused):
    labels = np.arange(n_rows) % n_classes
    if not is_refused:
        require_repeated_labels(labels)
        return
    with refused(f"y holds {n_classes} classes in {n_rows} rows, such as 0: most"):
        require_repeated_labels(labels)
    with refused(f"y holds {n_classes} classes in {n_rows} rows, such as 'row 5': most"):
        require_repeated_labels(np.roll(labels, 5), [f"row {row}" for row in range(n_rows)])


@pytest.mark.parametrize(
    ("y", "expected"),
    [
        (pd.Series(["a"]).astype("category"), True),
        (pd.Series(["a"]), False),
        (pl.Series(["a"], dtype=pl.Categorical), True),
        (pl.Series(["a"], dtype=pl.Enum(["a"])), True),
        (pl.Series(["a"]), False),
        (np.array(["a"]), False),
        (["a"], False),
    ],
)
def test_only_series_have_a_categorical_type(y, expected):
    assert is_categorical(y) is expected


def test_ordered_categories_become_their_numbers_and_nothing_else_is_touched():
    ordered = pd.Categorical(["lo", "hi", None], ["lo", "hi"], ordered=True)
    for y in (ordered, pd.Series(ordered)):
        np.testing.assert_array_equal(in_order(y), [0.0, 1.0, np.nan])
    assert in_order(pl.Series(["hi", "lo"], dtype=pl.Enum(["lo", "hi"]))).tolist() == [1, 0]
    for y in (pd.Series(["a"]).astype("category"), pl.Series(["a"]), [1, 2], np.array([3])):
        assert in_order(y) is y


def test_rows_are_compared_before_the_values_are_split():
    with pytest.raises(ZeroDivisionError):
        read_typed([1, 2], "count", owner="a test", require_rows=lambda n: 1 // (n - 2))
    target, exposure = read_typed([[2, 4], [9, 3]], "count", owner="a test")
    assert target.values.tolist() == [0.5, 3.0]
    assert exposure.tolist() == [4.0, 3.0]
    assert target.task == "regression"
    assert read_typed([2, 4], "count", owner="a test")[1] is None


def test_a_rate_is_read_as_it_is_and_a_count_is_checked():
    assert typed_target(
        np.array([0.5, 3.0]), "count", is_categorical=False, is_rate=True
    ).values.tolist() == [0.5, 3]
    with refused("integers from 0 on"):
        typed_target(np.array([0.5, 3.0]), "count", is_categorical=False)
