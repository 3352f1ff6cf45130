"""Lagged copies of columns, in `ppfs.lagged` and in ``fit``."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from ppfs import PPFS, RowsInTime, lagged
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
