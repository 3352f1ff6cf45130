"""Categorical or numeric: one rule for every test and search, which the caller can override."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data.kinds import ColumnKinds, WholeColumns, can_be_levels, holds_few_whole_numbers
from ppfs._data.reading import read_table
from ppfs._fitting import Design
from ppfs.blanket import IAMB, InterIAMB, MixedMB
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI, GSquared, LikelihoodRatio
from ppfs.wrappers import Stepwise

N_ROWS = 120


def columns_of_all_kinds(n_rows=N_ROWS):
    """Two values, few integers close together and far apart, many, fractions, missing values, and one late surprise."""
    rng = np.random.default_rng(0)
    fifteen = rng.integers(0, 15, n_rows)
    late = rng.integers(0, 3, n_rows).astype(float)
    late[-1] = 0.5
    gaps = rng.integers(0, 4, n_rows).astype(float)
    gaps[::5] = np.nan
    columns = {
        "two": rng.integers(0, 2, n_rows) * 2 - 1,
        "few": fifteen,
        "far apart": fifteen * 1000,
        "many": rng.integers(0, 1000, n_rows),
        "fractions": rng.integers(0, 3, n_rows) / 2,
        "late": late,
        "gaps": gaps,
    }
    return np.column_stack(list(columns.values())).astype(float), list(columns)


def mask_of(X, *, from_values=True):
    return ColumnKinds(X, np.zeros(X.shape[1], dtype=np.intp), from_values=from_values).categorical_mask


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array], ids=["dense", "sparse"])
def test_few_whole_numbers_are_categories_unless_the_caller_said_otherwise(make):
    X, names = columns_of_all_kinds()
    assert [n for n, m in zip(names, mask_of(make(X)), strict=True) if m] == [
        "two",
        "few",
        "far apart",
        "gaps",
    ]
    assert [n for n, m in zip(names, mask_of(make(X), from_values=False), strict=True) if m] == ["two"]


@pytest.mark.parametrize(
    ("values", "few"),
    [([0, 1, 1], True), ([0.5, 1, 1], False), (list(range(20)), True), (list(range(21)), False)],
)
def test_the_target_is_read_by_the_same_rule_as_a_column(values, few):
    assert holds_few_whole_numbers(np.array(values)) is few
    assert holds_few_whole_numbers(np.array(values, dtype=float)) is few
    task = read_table(np.zeros((len(values), 1)), values, task="auto", owner="a test").task
    assert task == ("classification" if few else "regression")


def test_a_column_is_of_the_same_kind_in_every_fold():
    # 21 values in all, so numeric, although no fold contains more than 20 of them.
    values = np.repeat(np.arange(21.0), 2)[:, None]
    table = read_table(values, values.ravel() / 7, task="auto", owner="a test")
    assert not table.rows(np.arange(20)).categorical_mask([0])[0]


def test_models_of_draws_and_classical_tests_agree_on_the_kind():
    # Eleven to twenty integers were numeric to the one and categories to the others.
    X = np.random.default_rng(0).integers(0, 15, (N_ROWS, 2)).astype(float)
    table = read_table(X, X[:, 0] / 7, task="auto", owner="a test")
    assert Design.of(table, (0, 1)).categorical_mask.tolist() == [True, True]
    assert table.task_of(0) == "classification"


def u_shaped(n_rows=300):
    """A target that depends on codes 0, 1, 2, but not along a line."""
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 3, n_rows)
    y = (rng.random(n_rows) < np.where(codes == 1, 0.8, 0.2)).astype(int)
    return np.column_stack([codes, rng.normal(size=n_rows)]).astype(float), y


LISTINGS = ([0], ["x0"], 0, "x0", [True, False], np.array([True, False]), {0})


@pytest.mark.parametrize("listing", LISTINGS, ids=map(repr, LISTINGS))
def test_a_listed_column_is_categorical_to_a_linear_model(listing):
    X, y = u_shaped()
    test = PPI(LogisticRegression(), n_splits=10, random_state=0)
    assert test.evaluate(X, y, 0).pvalue > 0.05
    assert test.evaluate(X, y, 0, categorical_features=listing).pvalue < 0.05


@pytest.mark.parametrize("none", ["from_dtype", None, [], [1], np.zeros(2, dtype=bool)], ids=repr)
def test_a_column_that_is_not_listed_is_a_quantity_to_the_likelihood_ratio(none):
    X, y = u_shaped()
    assert LikelihoodRatio().evaluate(X, y, 0).pvalue < 1e-6
    assert LikelihoodRatio().evaluate(X, y, 0, categorical_features=none).pvalue > 0.01


@pytest.mark.parametrize(
    "selector",
    [
        PPFS(LogisticRegression(), n_splits=10, random_state=0),
        PPFS.calibrated(LogisticRegression(), random_state=0),
        IAMB(independence=CrossFitPPI(LogisticRegression()), random_state=0),
        Stepwise(LogisticRegression(), random_state=0),
    ],
    ids=["paper", "calibrated", "search", "wrapper"],
)
def test_every_selector_takes_the_callers_word(selector):
    X, y = u_shaped()
    assert not selector.fit(X, y).support_[0]
    assert selector.set_params(categorical_features=[0]).fit(X, y).support_[0]


def test_listed_numbers_are_the_same_as_a_frame_of_categories():
    X, y = u_shaped()
    frame = pd.DataFrame(X, columns=["code", "number"])
    typed = frame.assign(code=frame["code"].astype(int).astype("category"))
    for test in (LikelihoodRatio(), PPI(LogisticRegression(), n_splits=5, random_state=0)):
        listed = InterIAMB(independence=test, categorical_features=["code"]).fit(frame, y)
        np.testing.assert_array_equal(listed.pvalues_, InterIAMB(independence=test).fit(typed, y).pvalues_)


def test_a_typed_column_that_is_not_listed_is_the_numbers_it_stands_for():
    X, y = u_shaped()
    frame = pd.DataFrame(X, columns=["code", "number"])
    typed = frame.assign(code=frame["code"].astype("category"))
    as_numbers = LikelihoodRatio().evaluate(frame, y, "code", categorical_features=None)
    assert LikelihoodRatio().evaluate(typed, y, "code", categorical_features=None) == as_numbers


def test_gaps_of_a_listed_column_are_a_category():
    X, y = u_shaped()
    X[::7, 0] = np.nan
    assert LikelihoodRatio().evaluate(X, y, 0, categorical_features=[0]).pvalue < 1e-3
    table = read_table(X, y, task="auto", owner="a test", categorical_features=[0])
    assert table.categories[0] == ("0", "1", "2", "(missing)")


def test_the_caller_keeps_the_numbers_that_became_codes():
    X, y = u_shaped()
    before = X.copy()
    PPFS(DecisionTreeClassifier(), n_splits=5, categorical_features=[0]).fit(X * 1.0, y)
    read_table(X, y, task="auto", owner="a test", categorical_features=[0])
    np.testing.assert_array_equal(X, before)


def test_another_listing_asks_anew():
    X, y = u_shaped()
    search = IAMB(independence=LikelihoodRatio())
    assert search.fit(X, y).n_tests_ > 0
    assert search.set_params(categorical_features=None).fit(X, y).n_tests_ > 0
    assert search.fit(X, y).n_tests_ == 0


@pytest.mark.parametrize(
    ("listing", "message"),
    [
        (["colour"], "categorical_features: There is no column 'colour'"),
        ("from_dtypes", "did you mean one of 'auto', 'from_dtype'"),
        ([2], "categorical_features: There is no column 2"),
        ([True], "a mask of 1 booleans, but X has 2 columns"),
        ([0.5], "0.5 is neither the name nor the number"),
    ],
)
def test_a_wrong_listing_is_refused_with_the_reason(listing, message):
    X, y = u_shaped()
    with pytest.raises(InvalidInputError, match=message):
        LikelihoodRatio().evaluate(X, y, 0, categorical_features=listing)


def test_text_that_is_not_listed_and_sparse_columns_that_are_have_clear_errors():
    X, y = u_shaped()
    frame = pd.DataFrame({"town": np.where(X[:, 0] > 0, "Rome", "Oslo"), "number": X[:, 1]})
    with pytest.raises(InvalidInputError, match="'town' holds text, such as 'Oslo', so it is categorical"):
        IAMB(categorical_features=["number"]).fit(frame, y)
    with pytest.raises(InvalidInputError, match="sparse X are numbers"):
        IAMB(categorical_features=[0]).fit(sp.csr_array(X), y)


def test_a_test_that_counts_refuses_what_was_not_listed():
    X = np.random.default_rng(0).integers(0, 3, (60, 2))
    with pytest.raises(InvalidInputError, match="'x1' is not in categorical_features"):
        GSquared().evaluate(X, X[:, 0] % 2, 0, categorical_features=[0])


def test_the_trace_tells_the_kinds_and_why():
    X, y = u_shaped()
    frame = pd.DataFrame({"code": X[:, 0], "sex": X[:, 1] > 0, "town": np.where(X[:, 1] > 1, "Rome", "Oslo")})
    note = MixedMB().fit(frame.assign(number=X[:, 1]), y).trace_.notes[-1]
    assert note.startswith(
        "kinds of columns: 1 ('town') are categorical by their type; 2 ('code', 'sex') hold at most 20"
    )
    assert note.endswith("1 of 4 are numeric")
    listed = MixedMB(categorical_features=["code", "town"]).fit(frame, y).trace_.notes[-1]
    assert "2 ('code', 'town') are categorical by their type or categorical_features" in listed
    assert not any("kinds" in note for note in MixedMB().fit(X[:, 1:], y).trace_.notes)


@pytest.mark.parametrize("from_values", [True, False])
def test_kinds_do_not_depend_on_what_is_stored(from_values):
    rng = np.random.default_rng(0)
    X = np.zeros((60, 80))
    for column in range(80):
        rows = rng.choice(60, rng.integers(0, 60), replace=False)
        X[rows, column] = rng.integers(1, 1000, rows.size) + 0.5 * (column % 10 == 0)
    n_levels = np.zeros(80, dtype=np.intp)
    dense, sparse = (ColumnKinds(table, n_levels, from_values=from_values) for table in (X, sp.csc_array(X)))
    assert 0 < dense.categorical_mask.sum() < 80
    np.testing.assert_array_equal(sparse.categorical_mask, dense.categorical_mask)


def test_numbers_with_a_fraction_are_levels_only_if_most_of_them_repeat():
    halves = np.array([0.5, 1.5])
    assert can_be_levels(halves, n_rows=4, most=10)
    assert not can_be_levels(halves, n_rows=3, most=10)
    assert can_be_levels(halves[:1], n_rows=1, most=10)


def test_the_span_of_the_largest_floats_is_infinite_without_a_warning():
    most = np.array([1.7e308, 3.0])
    assert WholeColumns(np.array([True, True]), -most, most).spans.tolist() == [np.inf, 6.0]


def plain_mask(X, n_levels, most):
    """Rule by rule: declared, or no more than `most` distinct integers beside missing values."""
    found = []
    for column, n in zip(X.T, n_levels, strict=True):
        values = {value for value in column.tolist() if value == value}
        found.append(bool(n) or (all(value % 1 == 0 for value in values) and len(values) <= most))
    return found


def columns_at_the_limits():
    """Columns of 19 to 22 and of 2 and 3 distinct integers, near each other and far apart, with and without zero."""
    rng = np.random.default_rng(0)
    columns = [np.full(70, np.nan), np.zeros(70), np.full(70, 4.0), np.arange(70) % 2 + 0.5, np.arange(70.0)]
    for n_values in (2, 3, 19, 20, 21, 22):
        for step, first in ((1, 0), (1, 1), (1, -3), (50, 50), (50, 0)):
            columns.append(first + step * rng.permutation(np.arange(70) % n_values).astype(float))
            # Most of them zero, which a sparse table does not store.
            columns.append(np.where(np.arange(70) < n_values, 1.0 + step * np.arange(70), 0.0))
    X = np.column_stack(columns)
    holes = X.copy()
    holes[::9] = np.nan
    late = X.copy()
    late[-1] += 0.5
    return np.hstack([X, holes, late])


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csc_array], ids=["C", "F", "sparse"])
@pytest.mark.parametrize("at_once", [1, 150, 2**18])
def test_kinds_and_ranges_at_the_limits_are_those_of_the_rules(make, at_once, monkeypatch):
    monkeypatch.setattr("ppfs._data.kinds._VALUES_AT_ONCE", at_once)
    X = columns_at_the_limits()
    n_levels = np.arange(X.shape[1]) % 40 // 39 * 5
    for from_values, most in ((True, 20), (False, 2)):
        kinds = ColumnKinds(make(X), n_levels, from_values=from_values)
        assert kinds.categorical_mask.tolist() == plain_mask(X, n_levels, most)
    whole = kinds.whole_columns
    assert whole.is_whole.tolist() == plain_mask(X, 0 * n_levels, 10**6)
    known = whole.is_whole & ~np.isnan(X).all(axis=0)
    np.testing.assert_array_equal(whole.lowest[known], np.nanmin(X[:, known], axis=0))
    np.testing.assert_array_equal(whole.highest[known], np.nanmax(X[:, known], axis=0))
    assert kinds.for_part(None) is kinds


@pytest.mark.parametrize("dtype", [np.int8, np.uint16, bool, np.int64])
def test_integers_are_whole_and_of_the_kind_that_their_values_have(dtype):
    X = np.column_stack([np.arange(42) % n for n in (1, 2, 3, 20, 21)]).astype(dtype)
    kinds = ColumnKinds(X, np.zeros(5, dtype=np.intp), from_values=True)
    assert kinds.whole_columns.is_whole.all()
    np.testing.assert_array_equal(kinds.whole_columns.highest, X.max(axis=0))
    assert kinds.categorical_mask.tolist() == plain_mask(X, [0] * 5, 20)


def test_the_ranges_of_some_rows_are_looked_at_again():
    X = np.arange(12.0).reshape(6, 2)
    kinds = ColumnKinds(X, np.zeros(2, dtype=np.intp), from_values=True)
    assert kinds.whole_columns_of(X) is kinds.whole_columns
    assert kinds.whole_columns_of(X[:2]).highest.tolist() == [2.0, 3.0]


@pytest.mark.parametrize(
    ("n_levels", "from_values", "note"),
    [
        ([0] * 5, True, "2 ('b', 'c') hold at most 20 distinct integers, which models take as numbers and the other "
         "tests as categories; 3 of 5 are numeric"),
        ([0] * 5, False, "1 ('b') hold at most 2 distinct integers, which models take as numbers and the other tests "
         "as categories; 4 of 5 are numeric"),
        ([0, 2, 3, 0, 0], True, "2 ('b', 'c') are categorical by their type; 3 of 5 are numeric"),
        ([3, 2, 3, 0, 0], False, "3 ('a', 'b', 'c') are categorical by their type or categorical_features; 2 of 5 are "
         "numeric"),
        ([9, 2, 9, 9, 0], True, "4 ('a', 'b', 'c', ...) are categorical by their type; 1 of 5 are numeric"),
        ([9, 0, 0, 0, 0], True, "1 ('a') are categorical by their type; 2 ('b', 'c') hold at most 20 distinct integers,"
         " which models take as numbers and the other tests as categories; 2 of 5 are numeric"),
    ],
)  # fmt: skip
def test_the_whole_note_about_kinds(n_levels, from_values, note):
    rows = np.arange(60)
    X = np.column_stack([rows / 7, rows % 2, rows % 3, rows, rows / 3])
    kinds = ColumnKinds(X, np.array(n_levels), from_values=from_values)
    assert kinds.described("abcde") == f"kinds of columns: {note}"
    assert ColumnKinds(X[:, [0, 3]], np.zeros(2, dtype=int), from_values=True).described("ab") == ""


@pytest.mark.parametrize(
    ("n_distinct", "unit", "n_rows", "most", "expected"),
    [
        (20, 0.5, 40, 30, True),
        (20, 0.5, 39, 30, False),
        (21, 0.5, 100, 30, False),
        (6, 0.5, 100, 6, True),
        (6, 0.5, 100, 5, False),
        (1, 0.5, 1, 5, True),
        (30, 1.0, 30, 30, True),
        (31, 1.0, 300, 30, False),
        (30, 1, 3, 30, True),
    ],
)
def test_levels_are_few_and_those_with_a_fraction_repeat(n_distinct, unit, n_rows, most, expected):
    distinct = unit * (1 + np.arange(n_distinct))
    assert can_be_levels(distinct, n_rows, most) is bool(expected)


def test_missing_values_count_as_no_value_of_a_vector():
    twenty = np.append(np.arange(20.0), [np.nan, np.nan])
    assert holds_few_whole_numbers(twenty)
    assert not holds_few_whole_numbers(np.append(twenty, 20.0))
    assert not holds_few_whole_numbers(np.append(np.zeros(70), np.arange(21)))
    assert holds_few_whole_numbers(np.append(np.zeros(70), np.arange(20)).astype(np.int8))
    assert not holds_few_whole_numbers(np.append(np.zeros(70), 0.5))
