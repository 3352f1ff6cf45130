"""Rows in time: blocks of neighbors, a gap around test parts, and the warning about dependent rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.signal import lfilter

from ppfs import PPFS, PPFSCV, RowsInTime, compare
from ppfs._data import read_table
from ppfs._data.time_order import TimeOrder, are_neighbors_alike, autocorrelation_time
from ppfs._rows import divide_into_folds
from ppfs.blanket import IAMB, StabilitySelection
from ppfs.exceptions import DependentRowsWarning, InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.wrappers import Stepwise

pytestmark = pytest.mark.usefixtures("small_forests")


def autoregressive(rng: np.random.Generator, n: int, phi: float) -> np.ndarray:
    return lfilter([1.0], [1.0, -phi], rng.normal(size=n + 500))[500:]


def series(
    n: int = 200, phi: float = 0.9, seed: int = 0, n_columns: int = 2
) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return np.column_stack([autoregressive(rng, n, phi) for _ in range(n_columns)]), autoregressive(
        rng, n, phi
    )


def table_of(X: object, y: object, **rows: object) -> object:
    return read_table(X, y, task="regression", owner="test", **rows)


def test_autocorrelation_time_of_an_autoregressive_series() -> None:
    rng = np.random.default_rng(0)
    for phi in (0.0, 0.5, 0.9):
        expected = (1 + phi) / (1 - phi)
        found = autocorrelation_time(autoregressive(rng, 50_000, phi))
        assert found == pytest.approx(expected, rel=0.15)


def test_blocks_are_three_autocorrelation_times_long_and_at_least_ten() -> None:
    X, y = series(2_000)
    order = table_of(X, y, time="index").time
    assert order.block_length == int(np.ceil(3 * order.autocorrelation_time))
    assert 30 < order.block_length < 90
    short = table_of(X[:100], y[:100], time="index").time
    assert short.block_length <= 10
    assert np.unique(short.blocks).size >= 10


def test_residuals_count_where_the_target_itself_hides_the_autocorrelation() -> None:
    rng = np.random.default_rng(1)
    X = 5 * rng.normal(size=(1_000, 1))
    y = X[:, 0] + autoregressive(rng, 1_000, 0.9)
    assert autocorrelation_time(y) < 8
    assert table_of(X, y, time="index").time.autocorrelation_time > 10


def test_folds_are_runs_of_neighbors_and_keep_the_gap() -> None:
    X, y = series(200)
    table = table_of(X, y, time=RowsInTime(gap=7, block_length=10))
    parts = divide_into_folds(200, None, table.groups, 5, seed=0, time=table.time)
    assert [test.tolist() for _, test in parts] == [list(range(i, i + 40)) for i in range(0, 200, 40)]
    for train, test in parts:
        assert np.abs(train[:, None] - test[None]).min() == 8
        assert train.size == 200 - 40 - 7 * (int(test[0] > 0) + int(test[-1] < 199))


def test_rows_between_two_tested_rows_keep_the_gap_to_both() -> None:
    order = TimeOrder(positions=np.arange(12), gap=2, block_length=4)
    train = np.array([0, 3, 4, 5, 6, 7, 11])
    assert order.apart(train, np.array([8, 1])).tolist() == [4, 5, 11]


def test_the_order_comes_from_times_not_from_rows() -> None:
    X, y = series(200)
    shuffled = np.random.default_rng(0).permutation(200)
    as_is = table_of(X, y, time="index")
    again = table_of(X[shuffled], y[shuffled], time=shuffled)
    assert again.time.block_length == as_is.time.block_length
    np.testing.assert_array_equal(again.groups, as_is.groups[shuffled])


def test_rows_of_the_same_time_are_in_one_block() -> None:
    X, y = series(120)
    days = np.repeat(np.arange(40), 3)
    table = table_of(X, y, time=RowsInTime(days, block_length=5))
    assert all(np.unique(table.groups[days == day]).size == 1 for day in range(40))


@pytest.mark.parametrize("library", [pd.DataFrame, pl.DataFrame])
def test_a_column_of_dates_gives_the_order_and_becomes_days(library: type) -> None:
    X, y = series(60)
    dates = np.datetime64("2024-01-01") + np.arange(60)
    frame = library({"a": X[:, 0], "day": dates, "b": X[:, 1]})
    table = table_of(frame, y, time="day")
    np.testing.assert_array_equal(table.time.positions, np.arange(60))
    np.testing.assert_array_equal(table.values(1), np.arange(60.0))
    texts = table_of(X, y, time=dates.astype(str))
    np.testing.assert_array_equal(texts.time.positions, np.arange(60))


def test_index_of_a_frame_sorts_its_rows() -> None:
    X, y = series(60)
    frame = pd.DataFrame(X, columns=["a", "b"], index=pd.date_range("2024-01-01", periods=60)).iloc[::-1]
    np.testing.assert_array_equal(table_of(frame, y, time="index").time.positions, np.arange(60)[::-1])


@pytest.mark.parametrize(
    ("time", "said"),
    [
        ("when", "must name a column of X, which has no column names"),
        (np.arange(5), r"shape \(60,\), but its shape is \(5,\)"),
        (np.where(np.arange(60) == 3, np.nan, np.arange(60)), "missing in 1 of 60 rows, the first in row 3"),
        (np.array(["soon"] * 60), "'soon'.* which is neither"),
        (RowsInTime(gap=-1), r"gap=-1\) must be a number of rows"),
        (RowsInTime(block_length=0), r"block_length=0\) must be"),
    ],
)
def test_wrong_times_are_errors(time: object, said: str) -> None:
    X, y = series(60)
    with pytest.raises(InvalidInputError, match=said):
        PPFS(random_state=0).fit(X, y, time=time)


def test_groups_and_time_together_are_an_error() -> None:
    X, y = series(60)
    with pytest.raises(InvalidInputError, match="Both groups and time"):
        PPFS().fit(X, y, time="index", groups=np.arange(60) // 6)


def test_a_gap_that_leaves_no_training_rows_is_an_error() -> None:
    X, y = series(60)
    with pytest.raises(InvalidInputError, match=r"gap=60\) leaves no rows"):
        PPFS.calibrated(random_state=0).fit(X, y, time=RowsInTime(gap=60))


def test_classical_tests_refuse_rows_in_time() -> None:
    X, y = series(60)
    with pytest.raises(InvalidInputError, match="does not support time"):
        IAMB(independence="fisher-z").fit(X, y, time="index")


def test_independent_series_are_called_dependent_as_rarely_as_promised() -> None:
    """Without time more than half of these tables are called dependent; 20 tables, so at most 4 by chance."""
    test = CrossFitPPI("panel", random_state=0)
    tables = [series(300, 0.9, seed) for seed in range(20)]
    blind = sum(test.evaluate(X, y, 0).pvalue < 0.05 for X, y in tables)
    in_time = sum(test.evaluate(X, y, 0, time="index").pvalue < 0.05 for X, y in tables)
    given = sum(test.evaluate(X, y, 0, given=[1], time="index").pvalue < 0.05 for X, y in tables)
    assert blind >= 8
    assert in_time <= 4
    assert given <= 4


def test_every_selector_finds_a_cause_in_a_series() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(300, 3))
    y = X[:, 1] + 0.5 * autoregressive(rng, 300, 0.8)
    test = PPI(n_splits=10, random_state=0)
    for selector in (
        PPFS.calibrated(random_state=0),
        PPFS.calibrated(n_folds=2, random_state=0),
        PPFSCV(selector=PPFS(n_splits=10), cv=3, random_state=0),
        StabilitySelection(PPFS.calibrated(), n_pairs=2, random_state=0),
        IAMB(independence=test, random_state=0),
        Stepwise(cv=3, min_features=1),
    ):
        assert 1 in selector.fit(X, y, time="index").blanket_, selector


def test_the_trace_tells_the_blocks() -> None:
    X, y = series(200)
    selector = PPFS.calibrated(random_state=0).fit(X, y, time="index")
    (note,) = [note for note in selector.trace_.notes if note.startswith("rows in time")]
    assert "10 blocks of 20 neighboring rows" in note
    assert "too few rows" in note


def test_compare_and_report_take_time() -> None:
    X, y = series(120)
    result = compare(X, y, methods=["all"], cv=3, time="index", random_state=0)
    assert result.methods[0].name == "all"
    selector = PPFS.calibrated(random_state=0).fit(X, y, time="index")
    assert "rows in time" in selector.report(X, y, time="index").html()


def test_a_file_takes_the_time_from_a_column(tmp_path: Path) -> None:
    X, y = series(100)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(t=np.arange(100)[::-1], y=y)
    frame.to_parquet(tmp_path / "rows.parquet")
    table = table_of(tmp_path / "rows.parquet", "y", time="t")
    assert list(table.names) == ["a", "b"]
    np.testing.assert_array_equal(table.time.positions, np.arange(100)[::-1])


def test_a_checkpoint_of_other_times_is_not_used(tmp_path: Path) -> None:
    from ppfs.exceptions import CheckpointError

    X, y = series(100)
    selector = PPFS.calibrated(random_state=0, checkpoint=tmp_path / "kept")
    selector.fit(X, y, time=RowsInTime(block_length=10))
    with pytest.raises(CheckpointError):
        selector.fit(X, y, time=RowsInTime(block_length=10, gap=3))


@pytest.mark.parametrize("phi", [0.5, 0.8, 0.95])
def test_the_warning_fires_for_autoregressive_targets(phi: float) -> None:
    fires = [are_neighbors_alike(autoregressive(np.random.default_rng([s, 7]), 200, phi)) for s in range(100)]
    assert sum(fires) >= 95


def test_the_warning_is_silent_for_other_rows() -> None:
    kinds = {
        "independent": lambda rng: rng.normal(size=200),
        "heavy tails": lambda rng: rng.standard_t(2, size=200),
        "labels": lambda rng: (rng.random(200) < 0.3).astype(float),
        "sorted by a column": lambda rng: 2 * np.sort(rng.normal(size=200)) + rng.normal(size=200),
        "sorted by four sites": lambda rng: (
            2 * rng.normal(size=4)[np.arange(200) // 50] + rng.normal(size=200)
        ),
    }
    for name, make in kinds.items():
        fires = [are_neighbors_alike(make(np.random.default_rng([s, 8]))) for s in range(150)]
        assert sum(fires) <= 3, name


def test_fit_warns_of_a_series_and_names_the_remedy() -> None:
    X, y = series(200)
    with pytest.warns(DependentRowsWarning, match='pass time="index"'):
        PPFS(n_splits=5, random_state=0).fit(X, y)
    PPFS(n_splits=5, random_state=0).fit(X, y, time="index")
    PPFS(n_splits=5, random_state=0).fit(X, y, groups=np.arange(200) // 20)
    by_target = np.argsort(y)
    PPFS(n_splits=5, random_state=0).fit(X[by_target], y[by_target])


def test_the_last_rows_join_the_last_block() -> None:
    order = TimeOrder(np.arange(22), 0, 5)
    assert np.bincount(order.blocks).tolist() == [5, 5, 5, 7]


def test_the_note_names_the_gap_where_there_is_one():
    order = TimeOrder(np.arange(20), gap=0, block_length=5)
    assert order.described == "rows in time: 4 blocks of 5 neighboring rows"
    with_gap = replace(order, gap=3)
    assert with_gap.described.endswith("neighboring rows, 3 rows around each test part left out of training")


def test_labels_in_runs_do_not_warn_where_the_columns_explain_them() -> None:
    """As in a file that was put together from several files, each sorted by its class."""
    rng = np.random.default_rng(0)
    labels = np.concatenate([np.sort(rng.integers(0, 2, size=60)) for _ in range(5)])
    X = rng.normal(size=(300, 4))
    X[:, 0] += labels
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        PPFS(n_splits=5, random_state=0).fit(X, labels)
    series = lfilter([1.0], [1.0, -0.9], rng.normal(size=(300, 5)), axis=0)
    with pytest.warns(DependentRowsWarning):
        PPFS(n_splits=5, random_state=0).fit(series[:, 1:], series[:, 0] > 0)


def test_labels_in_any_unit_are_alike() -> None:
    runs = np.repeat(np.arange(40) % 2, 5)
    noise = np.random.default_rng(0).permutation(runs)
    for unit in (1e-9, 1.0, 1e9):
        assert are_neighbors_alike(runs * unit)
        assert not are_neighbors_alike(noise * unit)


@pytest.mark.parametrize(
    "rows",
    [
        {"time": "t"},
        {"time": RowsInTime("t", gap=3, block_length=7), "sample_weight": "w"},
        {"groups": "g", "sample_weight": "w"},
        {"sample_weight": "w"},
        {"groups": "g"},
        {"time": "index"},
    ],
)
def test_rows_of_a_file_are_those_of_the_same_table_in_memory(
    tmp_path: Path, rows: dict[str, object]
) -> None:
    X, y = series(120)
    frame = pd.DataFrame(X, columns=["a", "b"]).assign(y=y, t=np.arange(120)[::-1], g=np.arange(120) // 4)
    # Rows of weight 0 are left out.
    frame["w"] = np.arange(120.0) % 5
    frame.to_parquet(tmp_path / "rows.parquet")
    read = table_of(tmp_path / "rows.parquet", "y", **rows)
    named = [name for name in rows.values() if isinstance(name, str) and name in frame]
    if isinstance(rows.get("time"), RowsInTime):
        named.append("t")
    given = {
        name: replace(value, order=frame["t"]) if isinstance(value, RowsInTime) else frame.get(value, value)
        for name, value in rows.items()
    }
    held = table_of(frame.drop(columns=["y", *named]), frame["y"], **given)
    assert list(read.names) == list(held.names)
    for part in ("y", "groups", "weights", "kept_rows", "n_callers_rows"):
        np.testing.assert_equal(getattr(read, part), getattr(held, part), err_msg=part)
    assert (read.time is None) == (held.time is None) == ("time" not in rows)
    if read.time is not None:
        np.testing.assert_equal(vars(read.time), vars(held.time))
