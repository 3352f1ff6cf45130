"""Columns as screens read them."""

import numpy as np

from ppfs.blanket._steps.column_values import in_reach


def test_far_columns_are_scaled_by_a_power_of_two():
    columns = np.array([[1.7e308, 1e-200, 3.0, 0.0], [-2.0, 3e-201, -1.0, 0.0]])
    scaled = in_reach(columns)
    assert 0.25 <= np.abs(scaled[0, :2]).min() <= np.abs(scaled[0, :2]).max() <= 1.0
    np.testing.assert_array_equal(scaled[:, 2:], columns[:, 2:])
    # Powers of two change no digit.
    np.testing.assert_array_equal(np.frexp(scaled[:, 1])[0], np.frexp(columns[:, 1])[0])
    assert np.isfinite(scaled**2).all()


def test_ordinary_columns_are_not_copied():
    columns = np.array([[1.0, 1e90], [2.0, -1e-90]])
    assert in_reach(columns) is columns
