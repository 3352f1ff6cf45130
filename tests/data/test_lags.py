"""Lagged copies of columns, in `ppfs.lagged` and in ``fit``."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp

from ppfs import PPFS, RowsInTime, lagged
from ppfs._data.reading import FitData, Lags, with_lags
from ppfs._data.reading.lags import _read_lags
from ppfs.exceptions import InvalidInputError

pytestmark = pytest.mark.usefixtures("small_forests")


def series(n=120, seed=0):
    """Three columns and a target that follows the first by two rows."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 3)), columns=["rain", "wind", "sun"])
    return frame, frame["rain"].shift(2).fillna(0.0) + 0.3 * rng.normal(size=n)


def test_copies_are_those_of_shift():
    frame, _ = series()
    frame["day"] = np.where(frame["sun"] > 0, "dry", "wet")
    expected = pd.concat([frame, *(frame.shift(k).add_suffix(f"_lag{k}") for k in (1, 3))], axis=1)
    pd.testing.assert_frame_equal(lagged(frame, [3, 1]), expected)


@pytest.mark.parametrize("make", [pl.from_pandas, lambda frame: frame, lambda frame: frame.to_numpy()])
def test_every_kind_of_table_has_the_same_copies(make):
    frame, _ = series()
    copied = lagged(make(frame), [2])
    assert list(copied.columns)[3:] == [f"{name}_lag2" for name in list(copied.columns)[:3]]
    np.testing.assert_allclose(np.asarray(copied)[2:, 3:], frame.to_numpy()[:-2])


def test_the_order_is_that_of_time():
    frame, _ = series()
    frame["date"] = pd.date_range("2024-01-01", periods=len(frame))
    mixed = frame.sample(frac=1, random_state=0)
    expected = lagged(frame, [1, 2], "date").loc[mixed.index]
    pd.testing.assert_frame_equal(lagged(mixed, [1, 2], "date"), expected)
    assert "date_lag1" not in expected.columns


def test_a_column_and_its_copies_are_one_feature():
    frame, y = series()
    selector = PPFS.calibrated(random_state=0).fit(frame, y, time="index", lags=[1, 2])
    assert selector.get_feature_names_out().tolist() == ["rain", "rain_lag1", "rain_lag2"]
    assert selector.trace_.names == ("rain", "wind", "sun")
    shown = selector.set_output(transform="pandas").transform(frame)
    pd.testing.assert_frame_equal(shown, lagged(frame[["rain"]], [1, 2]))


def test_a_report_makes_the_copies_of_the_fit():
    frame, y = series()
    selector = PPFS.calibrated(random_state=0).fit(frame, y, time="index", lags=[1, 2])
    with pytest.raises(TypeError, match="report takes no lags"):
        selector.report(frame, y, time="index", lags=[1, 2])


def test_each_copy_is_a_feature():
    frame, y = series()
    in_time = RowsInTime(lags=[1, 2], lags_together=False)
    selector = PPFS.calibrated(random_state=0).fit(frame, y, time=in_time)
    assert selector.get_feature_names_out().tolist() == ["rain_lag2"]
    assert selector.transform(frame).shape == (120, 1)


def test_a_fit_is_that_of_a_table_with_copies():
    frame, y = series()
    by_fit = PPFS.calibrated(random_state=0).fit(
        frame, y, time=RowsInTime(lags=[1, 3], lags_together=False), sample_weight=np.arange(120) + 1.0
    )
    by_hand = PPFS.calibrated(random_state=0).fit(
        lagged(frame, [1, 3]).iloc[3:], y.iloc[3:], time="index", sample_weight=np.arange(3, 120) + 1.0
    )
    np.testing.assert_array_equal(by_fit.pvalues_, by_hand.pvalues_)


def test_groups_of_columns_have_their_copies():
    frame, y = series()
    selector = PPFS.calibrated(feature_groups={"air": ["wind", "sun"]}, random_state=0)
    assert selector.fit(frame, y, time="index", lags=[2]).trace_.names == ("rain", "air")
    selector.fit(frame, y, time=RowsInTime(lags=[2], lags_together=False))
    assert selector.trace_.names == ("rain", "air", "rain_lag2", "air_lag2")


@pytest.mark.usefixtures("two_repeats")
def test_sufficiency_and_report_use_the_copies():
    frame, y = series()
    selector = PPFS.calibrated(random_state=0).fit(frame, y, time="index", lags=[2])
    assert selector.sufficiency_.scores["r2"]["selected"] > 0.5
    assert selector.measure_sufficiency(frame, y, time="index").n_rows == 118
    with pytest.raises(InvalidInputError, match="Fit again with the new rows"):
        selector.update(frame, y)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"lags": [0, 1]}, "numbers of rows from 1 on"),
        ({"lags": [1.5]}, "but has 1.5"),
        ({"lags": [70]}, "leave 50 of 120 rows"),
        ({"lags": [1], "time": np.repeat(np.arange(60), 2)}, "one row per time"),
    ],
)
def test_wrong_lags_are_explained(arguments, said):
    frame, y = series()
    with pytest.raises(InvalidInputError, match=said):
        PPFS.calibrated(random_state=0).fit(frame, y, **arguments)


def test_what_cannot_make_copies_says_so(tmp_path):
    frame, y = series()
    np.save(tmp_path / "x.npy", frame.to_numpy())
    with pytest.raises(InvalidInputError, match="X is a path"):
        PPFS.calibrated().fit(tmp_path / "x.npy", y, lags=[1])
    with pytest.raises(InvalidInputError, match="already has a column 'rain_lag1'"):
        lagged(frame.assign(rain_lag1=0.0), [1])
    test = PPFS.calibrated()._independence_test()
    with pytest.raises(InvalidInputError, match="has an effect in fit only"):
        test.evaluate(frame, y, "rain", time=RowsInTime(lags=[1]))


def test_columns_whose_names_are_alike_are_copied():
    frame, _ = series(8)
    frame.columns = ["a", "a_known", "a_known_known"]
    for table in (frame, pl.from_pandas(frame)):
        copied = np.asarray(lagged(table, [1], np.arange(8)[::-1]))
        np.testing.assert_array_equal(copied[:-1, 3:], frame.to_numpy()[1:])
        assert np.isnan(copied[-1, 3:].astype(float)).all()


NAMES = ("rain", "wind", "when")


@pytest.mark.parametrize(
    ("lags", "given", "groups"),
    [
        (
            Lags((1, 3), True, "when", NAMES),
            None,
            {"rain": ["rain", "rain_lag1", "rain_lag3"], "wind": ["wind", "wind_lag1", "wind_lag3"]},
        ),
        (
            Lags((2,), True, "index", NAMES),
            {"air": ["wind", 2]},
            {"air": ["wind", "when", "wind_lag2", "when_lag2"], "rain": ["rain", "rain_lag2"]},
        ),
        (
            Lags((1, 2), True, "when", NAMES),
            {7: ["when", 0]},
            {"7": ["when", "rain", "rain_lag1", "rain_lag2"], "wind": ["wind", "wind_lag1", "wind_lag2"]},
        ),
        (Lags((1, 3), False, "when", NAMES), None, None),
        (Lags((1, 3), False, "when", NAMES), {}, None),
        (
            Lags((1, 3), False, "when", NAMES),
            {"air": ["wind", "when"], "date": "when"},
            {"air": ["wind", "when"], "date": ["when"], "air_lag1": ["wind_lag1"], "air_lag3": ["wind_lag3"]},
        ),
    ],
)
def test_groups_of_a_table_with_copies(lags, given, groups):
    assert lags.groups(given) == groups


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame])
def test_copies_of_a_few_rows_by_hand(make):
    frame = make({"t": [3.0, 1.0, 2.0], "x": [30.0, 10.0, 20.0], "s": ["c", "a", "b"]})
    found = lagged(frame, [2, 1], "t")
    assert list(found.columns) == ["t", "x", "s", "x_lag1", "s_lag1", "x_lag2", "s_lag2"]
    values = {name: np.asarray(found[name]).astype(object).tolist() for name in found.columns}
    shown = {name: [None if value != value else value for value in column] for name, column in values.items()}
    assert shown == {
        "t": [3.0, 1.0, 2.0],
        "x": [30.0, 10.0, 20.0],
        "s": ["c", "a", "b"],
        "x_lag1": [20.0, None, 10.0],
        "s_lag1": ["b", None, "a"],
        "x_lag2": [10.0, None, None],
        "s_lag2": ["a", None, None],
    }
    assert list(lagged(frame, 5, "t").columns)[3:] == ["x_lag5", "s_lag5"]
    assert Lags((1,), True, "t", ("t", "x", "s")).added(frame).shape == (3, 5)


@pytest.mark.parametrize(
    ("lags", "read"),
    [([2, 1, 2], (1, 2)), (3, (3,)), (np.array([4, 1]), (1, 4)), ((np.int64(2),), (2,)), ([], ())],
)
def test_lags_are_sorted_and_occur_once(lags, read):
    assert _read_lags(lags) == read


@pytest.mark.parametrize("lags", ["12", [0], [1, 0], [1.0], [-1], None, [None]])
def test_lags_are_numbers_of_rows_from_one_on(lags):
    with pytest.raises(
        InvalidInputError, match=r"lags must list numbers of rows from 1 on, such as \[1, 2, 7\]"
    ):
        _read_lags(lags)


def test_the_data_of_a_fit_lose_the_rows_without_a_past():
    frame = pd.DataFrame({"t": [5, 3, 4, 1, 2], "x": [50.0, 30, 40, 10, 20]}, index=list("abcde"))
    data = FitData(frame, [1, 2, 3, 4, 5], [9, 8, 7, 6, 5], RowsInTime("t", gap=3), [1, 1, 2, 2, 3])
    made, copied = with_lags(data, [1, 2])
    assert made == Lags((1, 2), True, "t", ("t", "x"))
    assert copied.X.to_dict("list") == {
        "t": [5, 3, 4], "x": [50.0, 30, 40], "x_lag1": [40.0, 20, 30], "x_lag2": [30.0, 10, 20],
    }  # fmt: skip
    assert copied.X.index.tolist() == ["a", "b", "c"]
    assert (copied.y, copied.groups, copied.sample_weight) == ([1, 2, 3], [9, 8, 7], [1, 1, 2])
    assert copied.time == RowsInTime("t", gap=3)
    made, copied = with_lags(
        data._replace(time=RowsInTime([5, 3, 4, 1, 2], lags=[2], lags_together=False)), None
    )
    assert made == Lags((2,), False, "index", ("t", "x"))
    assert copied.time.order.tolist() == [4, 2, 3]
    assert (copied.time.lags, copied.time.lags_together) == ((), False)
    made, copied = with_lags(data._replace(time=None, groups=None, sample_weight=None), [1])
    assert made == Lags((1,), True, "index", ("t", "x"))
    assert copied.X["t_lag1"].tolist() == [5, 3, 4, 1]
    assert copied.time.order.tolist() == [1, 2, 3, 4]
    assert (copied.y, copied.groups, copied.sample_weight) == ([2, 3, 4, 5], None, None)
    for same in (data, data._replace(time=None), data._replace(time=RowsInTime())):
        assert with_lags(same, None) == (None, same)
    assert with_lags(data, []) == (None, data)


@pytest.mark.parametrize(
    ("n_rows", "lags", "said"),
    [
        (5, [2], None),
        (4, [2], "leave 2 of 4 rows, because the first 2"),
        (3, [1, 7], "leave 0 of 3 rows, because the"),
    ],
)
def test_lags_leave_more_rows_than_they_take(n_rows, lags, said):
    data = FitData(np.arange(n_rows)[:, None], list(range(n_rows)))
    if said is None:
        assert with_lags(data, lags)[1].y == [2, 3, 4]
        return
    with pytest.raises(InvalidInputError, match=re.escape(f"lags={lags} {said}")):
        with_lags(data, lags)


@pytest.mark.parametrize(
    ("X", "order", "said"),
    [
        (sp.eye_array(3), "index", "lags need dense columns, but X is sparse."),
        ("a.csv", "index", "lags need X in memory, but X is a path."),
        (pd.DataFrame({1: [1, 2]}), "index", "lags need columns that are named by text"),
        (pd.DataFrame({"x": [1, 2, 3, 4]}), [1, 2, 2, 2], "lags need one row per time, but 3 rows or more share one, "
         "such as 2."),
        (pd.DataFrame({"x": [1, 2], "x_lag2": [1, 2]}), "index", "X already has a column 'x_lag2'"),
    ],
)  # fmt: skip
def test_tables_without_copies(X, order, said):
    with pytest.raises(InvalidInputError, match=re.escape(said)):
        lagged(X, [2], order)
    assert list(lagged(np.eye(2), [1]).columns) == ["x0", "x1", "x0_lag1", "x1_lag1"]
    assert lagged([[1, 2], [3, 4]], [1])["x1_lag1"].tolist()[1] == 2
