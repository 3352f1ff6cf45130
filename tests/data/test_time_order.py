"""The order of rows in time, against plain twins: blocks, rows that are left out, autocorrelation, and what warns."""

import re
import warnings
from datetime import date

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from scipy.signal import lfilter
from scipy.special import ndtri
from scipy.stats import rankdata

from ppfs import RowsInTime
from ppfs._data.reading import read_table
from ppfs._data.reading.time import (
    _is_sorted,
    as_rows_in_time,
    target_series,
    time_order,
    time_values,
    warn_if_neighbors_are_alike,
    with_numbers_for_times,
)
from ppfs._data.time_order import TimeOrder, are_neighbors_alike, autocorrelation_time, chosen_block_length
from ppfs.exceptions import DependentRowsWarning, InvalidInputError


def refused(text):
    return pytest.raises(InvalidInputError, match=re.escape(text))


def autoregressive(seed, n, phi):
    return lfilter([1.0], [1.0, -phi], np.random.default_rng(seed).normal(size=n + 100))[100:]


def table_of(X, y, **options):
    return read_table(X, y, task=options.pop("task", "auto"), owner="a test", **options)


def test_what_is_passed_as_time_is_checked_and_put_in_its_long_form():
    assert as_rows_in_time("day") == RowsInTime("day", gap=0, block_length=None, lags=(), lags_together=True)
    for given in (RowsInTime(gap=0), RowsInTime(gap=np.int64(3)), RowsInTime(block_length=1)):
        assert as_rows_in_time(given) is given
    for gap in (-1, 0.5, None):
        with refused(f"RowsInTime(gap={gap!r}) must be a number of rows"):
            as_rows_in_time(RowsInTime(gap=gap))
    for length in (0, 2.0, "3"):
        with refused(f"RowsInTime(block_length={length!r}) must be a number of rows"):
            as_rows_in_time(RowsInTime(block_length=length))


FRAME = pd.DataFrame({"day": [3.0, 1.0, 2.0], "x": [1, 2, 3]})


@pytest.mark.parametrize(
    ("order", "X", "expected"),
    [
        ("index", np.zeros((3, 1)), [0, 1, 2]),
        ("index", FRAME, [0, 1, 2]),
        ("index", FRAME.set_axis([5, 9, 7]), [5, 9, 7]),
        ("index", FRAME.set_axis(np.array([5, 9, 7], dtype=np.uint8)), [5, 9, 7]),
        ("index", FRAME.set_axis([0.5, 9, 7]), [0.5, 9, 7]),
        ("index", FRAME.set_axis(["c", "b", "a"]), [0, 1, 2]),
        ("day", FRAME, [3, 1, 2]),
        ("day", lambda: pl.from_pandas(FRAME), [3, 1, 2]),
        ("index", lambda: pl.from_pandas(FRAME), [0, 1, 2]),
        ([4, 6, 5], FRAME, [4, 6, 5]),
        (pd.Series([4, 6, 5], index=[2, 1, 0]), FRAME, [4, 6, 5]),
    ],
)
def test_times_come_from_an_array_a_column_or_the_index(order, X, expected):
    X = X() if callable(X) else X
    assert time_values(RowsInTime(order), X, 3).tolist() == expected


@pytest.mark.parametrize(
    "order",
    [
        ["2024-01-02", "2024-01-01"],
        [date(2024, 1, 2), date(2024, 1, 1)],
        np.array(["2024-01-02", "2024-01-01"], dtype="datetime64[D]"),
    ],
)
def test_texts_and_dates_are_read_as_dates(order):
    found = time_values(RowsInTime(order), None, 2)
    assert found.astype("datetime64[D]").astype(str).tolist() == ["2024-01-02", "2024-01-01"]


def test_an_index_of_dates_gives_the_order():
    frame = FRAME.set_axis(pd.to_datetime(["2024-01-03", "2024-01-01", "2024-01-02"]))
    assert np.argsort(time_values(RowsInTime(), frame, 3)).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("order", "X", "said"),
    [
        ("when", FRAME, "time='when' must name a column of X, which has no column 'when'."),
        ("when", np.eye(3), "time='when' must name a column of X, which has no column names."),
        ([1, 2], FRAME, "shape (3,), but its shape is (2,)."),
        (np.eye(3), FRAME, "shape (3,), but its shape is (3, 3)."),
        ([1, np.nan, np.nan], FRAME, "time is missing in 2 of 3 rows, the first in row 1."),
        (["2024-01-01", None, "2024-01-02"], FRAME, "time is missing in 1 of 3 rows, the first in row 1."),
        (["soon", "late", "now"], FRAME, "which is neither: text is read as a date in the form 2024-01-31."),
    ],
)
def test_times_that_sort_nothing_are_refused(order, X, said):
    with refused(said):
        time_values(RowsInTime(order), X, 3)


def order_of(times, **options):
    target = table_of(np.zeros((len(times), 1)), np.arange(len(times)) / 3)._target
    return time_order(RowsInTime(**options), np.asarray(times), target, None, None)


def test_rows_of_the_same_time_have_the_place_of_the_first_of_them():
    order = order_of([7, 3, 7, 1, 3, 9], gap=2, block_length=4)
    assert order.positions.tolist() == [3, 1, 3, 0, 1, 5]
    assert (order.gap, order.block_length, order.autocorrelation_time) == (2, 4, None)
    chosen = order_of(np.arange(40), gap=1)
    assert (chosen.gap, chosen.block_length) == (1, 4)
    assert chosen.autocorrelation_time == autocorrelation_time(np.arange(40) / 3)


def test_groups_beside_times_are_refused():
    with refused("Both groups and time were passed."):
        time_order(RowsInTime(), np.arange(3), None, None, [1, 2, 3])


@pytest.mark.parametrize(
    ("n_places", "length", "sizes"),
    [(22, 5, [5, 5, 5, 7]), (23, 5, [5, 5, 5, 5, 3]), (3, 10, [3]), (20, 5, [5, 5, 5, 5]), (6, 1, [1] * 6)],
)
def test_a_remainder_of_half_a_block_is_a_block(n_places, length, sizes):
    assert np.bincount(TimeOrder(np.arange(n_places), 0, length).blocks).tolist() == sizes


@pytest.mark.parametrize("gap", [0, 1, 2, 5])
@pytest.mark.parametrize("seed", range(6))
def test_rows_apart_are_farther_than_the_gap_from_every_tested_row(gap, seed):
    rng = np.random.default_rng(seed)
    order = TimeOrder(rng.integers(0, 30, size=20), gap, 5)
    rows = rng.permutation(20)
    train, test = rows[6:], rows[: 1 + seed]
    places = order.positions
    expected = [
        row for row in train if gap == 0 or min(abs(places[row] - places[other]) for other in test) > gap
    ]
    assert order.apart(train, test).tolist() == expected
    part = order.of_rows(np.array([4, 2]))
    assert part.positions.tolist() == places[[4, 2]].tolist()
    assert (part.gap, part.block_length) == (gap, 5)


@pytest.mark.parametrize(
    ("order", "note"),
    [
        (TimeOrder(np.arange(20), 0, 5), "rows in time: 4 blocks of 5 neighboring rows"),
        (
            TimeOrder(np.arange(20), 3, 5),
            "rows in time: 4 blocks of 5 neighboring rows, 3 rows around each test part left out of training",
        ),
        (
            TimeOrder(np.arange(20), 0, 6, 2.0),
            "rows in time: 3 blocks of 6 neighboring rows; the autocorrelation time is 2.0 rows",
        ),
        (
            TimeOrder(np.arange(20), 1, 6, 2.01),
            "rows in time: 3 blocks of 6 neighboring rows, 1 rows around each test part left out of training; the "
            "autocorrelation time is 2.0 rows, which asks for blocks of 7: there are too few rows for that, and few of "
            "them are independent",
        ),
    ],
)
def test_the_note_for_the_trace(order, note):
    assert order.described == note


@pytest.mark.parametrize(
    ("n_rows", "length"),
    [(9, 1), (10, 1), (129, 12), (140, 13), (699, 13), (700, 14), (1299, 25), (1300, 26), (10_000, 26)],
)
def test_a_block_is_three_to_six_autocorrelation_times_long(n_rows, length):
    series = autoregressive(5, 400, 0.66)
    # Three of them are 12.6 rows, six of them 25.1.
    assert autocorrelation_time(series) == pytest.approx(4.19, abs=0.01)
    noise = np.tile([1.0, -1.0], 30)
    assert chosen_block_length([noise, series, noise], n_rows) == (length, autocorrelation_time(series))


def plain_autocorrelation_time(series):
    centered = series - np.mean(series)
    total = sum(value * value for value in centered)
    if total <= 0:
        return 1.0
    found, lag = 1.0, 1
    while lag + 1 < len(centered):
        pair = sum(centered[k:] @ centered[:-k] for k in (lag, lag + 1)) / total
        if pair <= 1e-12:
            break
        found, lag = found + 2.0 * pair, lag + 2
    return max(1.0, found)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 6, 7, 12, 41, 100])
def test_the_autocorrelation_time_is_that_of_the_sums(n):
    for series in (np.arange(float(n)), np.ones(n), autoregressive(n, n, 0.8), autoregressive(n, n, -0.5)):
        assert autocorrelation_time(series) == pytest.approx(plain_autocorrelation_time(series), rel=1e-9)


def plainly_alike(series):
    n = len(series)
    if n < 30:
        return False
    scores = ndtri(rankdata(series) / (n + 1))
    scores -= scores.mean()
    if scores[1:] @ scores[:-1] / (scores @ scores) <= 3.7 / n**0.5:
        return False
    steps = np.diff(scores)
    width = 2 * 1.4826 * np.median(np.abs(steps))
    if width > 0:
        steps = np.minimum(np.maximum(steps, -width), width)
    return steps[1:] @ steps[:-1] / (steps @ steps) > max(0.13, 2.33 * (0.5 / n) ** 0.5) - 0.5


def test_neighbors_are_alike_where_the_plain_twin_says_so():
    rng = np.random.default_rng(0)
    made = [autoregressive(seed, 20 + 7 * (seed % 60), (seed % 9) / 10) for seed in range(180)]
    made += [np.sort(rng.normal(size=90)) + scale * rng.normal(size=90) for scale in np.linspace(0.02, 1, 40)]
    made += [rng.normal(size=5).repeat(20) + 0.4 * rng.normal(size=100) for _ in range(20)]
    # Outliers, and values of which most repeat.
    made += [np.where(rng.random(80) < 0.1, 1e6, autoregressive(seed, 80, 0.6)) for seed in range(20)]
    made += [np.round(autoregressive(seed, 80, 0.7) / 2) for seed in range(20)]
    expected = [bool(plainly_alike(series)) for series in made]
    assert 80 < sum(expected) < 200
    assert [are_neighbors_alike(series) for series in made] == expected


def test_a_constant_series_and_a_short_one_are_not_alike():
    assert not are_neighbors_alike(np.ones(60))
    line = np.cumsum(np.random.default_rng(0).normal(size=60))
    assert are_neighbors_alike(line[:30])
    assert not are_neighbors_alike(line[:29])


def plain_residuals(y, X):
    """Ridge regression of one series on its most correlated columns, each of mean 0 and variance 1."""
    n = len(y)
    if X.shape[1] > 200:
        X = X[:, [int(place) for place in np.linspace(0, X.shape[1] - 1, 200)]]
    X = X[:, [np.isfinite(column).all() and column.std() > 0 for column in X.T]]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = y - y.mean()
    best = sorted(range(X.shape[1]), key=lambda column: -abs(y @ X[:, column]))[: min(50, n // 5)]
    X = X[:, best]
    return (
        y
        - X
        @ np.linalg.lstsq(
            np.vstack([X, np.sqrt(n * 1e-3) * np.eye(X.shape[1])]),
            np.r_[y, np.zeros(X.shape[1])],
            rcond=None,
        )[0]
    )


@pytest.mark.parametrize("shape", [(40, 3), (40, 9), (60, 30), (300, 60), (120, 230), (4, 2)])
def test_residuals_are_those_of_a_ridge_regression_on_the_most_correlated_columns(shape):
    rng = np.random.default_rng(0)
    X = rng.normal(loc=3, scale=2, size=shape)
    if shape[1] == 9:
        X[:, 2], X[3, 4], X[5, 6] = 7.0, np.inf, np.nan
    y = X[:, -1] + rng.normal(size=shape[0])
    table = table_of(X, np.column_stack([y, -(X[:, 0] ** 2)]))
    series = target_series(table._target, table._columns)
    assert len(series) == 4
    np.testing.assert_array_equal(series[:2], table.y.T)
    for found, one in zip(series[2:], table.y.T, strict=True):
        np.testing.assert_allclose(found, plain_residuals(one, X), rtol=1e-6, atol=1e-9)


def test_labels_are_indicators_and_of_two_only_the_second():
    X = np.zeros((6, 1))
    three = table_of(X, ["b", "a", "c", "c", "a", "b"])._target
    two = table_of(X, ["b", "a", "b", "b", "a", "b"])._target
    assert [one.tolist() for one in target_series(three, None)] == [
        [0, 1, 0, 0, 1, 0],
        [1, 0, 0, 0, 0, 1],
        [0, 0, 1, 1, 0, 0],
    ]
    rows = np.array([1, 0, 5])
    (only,) = target_series(two, None, rows)
    assert only.tolist() == [0, 1, 1]
    assert only.dtype == np.float64
    assert target_series(table_of(X, np.arange(6) / 3)._target, None, rows)[0].tolist() == (rows / 3).tolist()


def test_the_first_twenty_thousand_rows_are_enough_and_sparse_columns_are_left_out():
    long = table_of(np.zeros((20_002, 1)), np.arange(20_002) / 3)
    assert [one.size for one in target_series(long._target, long._columns)] == [20_000, 20_000]
    backwards = np.arange(20_002)[::-1]
    assert target_series(long._target, None, backwards)[0][[0, -1]].tolist() == [20_001 / 3, 2 / 3]
    sparse = table_of(sp.csc_array(np.eye(6)), np.arange(6) / 3)
    assert len(target_series(sparse._target, sparse._columns)) == 1


def test_only_a_column_of_dates_that_gives_the_order_becomes_days():
    days = np.array(["2024-01-03T12", "2024-01-01T00"], dtype="datetime64[h]")
    for library in (pd.DataFrame, pl.DataFrame):
        frame = library({"when": days.astype("datetime64[ms]"), "x": [1.0, 2.0]})
        changed = with_numbers_for_times(frame, RowsInTime("when"), days)
        assert list(changed.columns) == ["when", "x"]
        assert changed["when"].to_list() == [2.5, 0.0]
        assert changed["x"].to_list() == [1.0, 2.0]
        for order, times in (("index", days), (days, days), ("x", np.arange(2))):
            assert with_numbers_for_times(frame, RowsInTime(order), times) is frame


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([0, 1, 1, 2], True),
        ([2, 1, 1, 0], True),
        ([1, 1, 0, 0, 2, 2], True),
        ([1, 1, 0, 0, 2], False),
        ([1, 1, 0, 0, 1, 1], False),
        ([1, 0, 2, 3], False),
        ([[0], [1], [2]], False),
        ([4, 4, 4], True),
    ],
)
def test_rows_are_sorted_by_numbers_or_in_runs_of_labels(codes, expected):
    assert _is_sorted(np.array(codes, dtype=float)) is expected


def warns(table):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn_if_neighbors_are_alike(table)
    assert all(one.category is DependentRowsWarning for one in heard)
    return len(heard) == 1


def test_dependent_rows_warn_unless_something_explains_them(tmp_path):
    noise = np.random.default_rng(0).normal(size=(200, 2))
    series = autoregressive(1, 200, 0.9)
    assert warns(table_of(noise, series))
    assert warns(table_of(noise, np.column_stack([noise[:, 0] + 1, series])))
    assert not warns(table_of(noise, noise[::-1, 0].copy()))
    assert not warns(table_of(noise, series, groups=np.arange(200) // 2))
    assert not warns(table_of(noise, series, time="index"))
    assert not warns(table_of(noise[np.argsort(series)], np.sort(series)))
    np.save(tmp_path / "X.npy", noise)
    assert not warns(table_of(tmp_path / "X.npy", series))


def test_labels_warn_by_their_residuals_only_and_those_beside_a_sparse_table_by_themselves():
    rng = np.random.default_rng(0)
    runs = rng.integers(0, 2, size=200).repeat(3)
    # The first two classes come in runs, the last two anywhere.
    mixed = np.where(rng.random(600) < 0.1, 2, np.where(rng.random(600) < 0.1, 3, runs))
    assert [are_neighbors_alike(mixed == label) for label in range(4)] == [True, True, False, False]
    assert warns(table_of(sp.csc_array(rng.normal(size=(600, 2))), mixed))
    drifts = np.column_stack([autoregressive(seed, 300, 0.9) for seed in range(5)])
    assert warns(table_of(drifts[:, 1:], drifts[:, 0] > 0))
