"""Columns as screens read them."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data.reading import read_table
from ppfs.blanket._steps import column_values
from ppfs.blanket._steps.column_values import (
    dense_blocks,
    dense_values,
    feature_blocks,
    in_reach,
    numeric_columns,
)
from ppfs.independence import FisherZ


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


@pytest.mark.parametrize(
    ("largest", "factor"),
    [
        (2.0**300, 1.0),
        (np.nextafter(2.0**300, np.inf), 2.0**-301),
        (2.0**-300, 1.0),
        (np.nextafter(2.0**-300, 0.0), 2.0**300),
        (0.0, 1.0),
        (-(2.0**301), 2.0**-302),
    ],
)
def test_columns_are_scaled_beyond_the_300th_power_of_two(largest, factor):
    columns = np.array([[largest, 1.0], [0.0, np.nan], [np.nan, 2.0]])
    np.testing.assert_array_equal(in_reach(columns), columns * [factor, 1.0])


def test_a_column_without_values_is_not_scaled():
    columns = np.array([[np.nan, 1e200], [np.nan, 1.0]])
    np.testing.assert_array_equal(
        in_reach(columns), np.array([[np.nan, 1e200], [np.nan, 1.0]]) * [1.0, 2.0**-665]
    )


@pytest.mark.parametrize(
    ("n_rows", "n_features", "widths"),
    [(2**16, 9, [4, 4, 1]), (2**16 + 1, 4, [3, 1]), (2**18, 2, [1, 1]), (2**18 + 1, 2, [1, 1])],
)
def test_columns_of_two_megabytes_are_read_at_once(n_rows, n_features, widths):
    features = range(5, 5 + n_features)
    blocks = feature_blocks(SimpleNamespace(n_rows=n_rows), features)
    assert [len(block) for block in blocks] == widths
    assert [feature for block in blocks for feature in block] == list(features)


@pytest.mark.parametrize("form", [np.asarray, sp.csc_array])
@pytest.mark.parametrize("at_once", [8, 16, 2**18])
def test_values_are_those_of_single_numeric_columns(form, at_once, monkeypatch):
    monkeypatch.setattr(column_values, "_ENTRIES_AT_ONCE", at_once)
    X = np.arange(56.0).reshape(8, 7) % 11
    X[:, 1] *= 1e200
    is_dense = form is np.asarray
    table = read_table(
        form(X),
        np.arange(8.0),
        task="regression",
        owner=FisherZ(),
        categorical_features=np.arange(7) == 3 if is_dense else "auto",
        feature_groups={"pair": [4, 5]},
    )
    number = {name: place for place, name in enumerate(table.names)}
    numeric, values = numeric_columns(
        table, [number[name] for name in ("x6", "x3", "pair", "x1", "x0") if is_dense or name != "x3"]
    )
    assert numeric == [number[name] for name in ("x6", "x1", "x0")]
    np.testing.assert_array_equal(values, np.column_stack([X[:, 6], in_reach(X[:, [1]]), X[:, 0]]))
    for none in ([number["pair"]], [number["x3"]] * is_dense, []):
        numeric, values = numeric_columns(table, none)
        assert numeric == []
        assert values.shape == (8, 0)
    np.testing.assert_array_equal(dense_values(table, [number["pair"], number["x0"]]), X[:, [4, 5, 0]])
    pieces = list(dense_blocks(table, [number["x0"], number["x6"]]))
    assert [block for block, _ in pieces] == (
        [[number["x0"]], [number["x6"]]] if at_once == 8 else [[number["x0"], number["x6"]]]
    )
    np.testing.assert_array_equal(np.column_stack([values for _, values in pieces]), X[:, [0, 6]])
