from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from scipy import sparse

from engine.problems import problems
from ppfs._engine import SortedColumns, fits_float32


def _dense(columns):
    return columns.look_up(np.arange(columns.n_columns)).T


@settings(derandomize=True, deadline=None, max_examples=50)
@given(problems())
def test_stored_entries_are_sorted_by_value_then_row(problem):
    columns = problem.columns
    indptr, rows, values = columns.arrays
    for start, stop in pairwise(indptr):
        order = np.lexsort((rows[start:stop], values[start:stop]))
        np.testing.assert_array_equal(order, np.arange(stop - start))
    np.testing.assert_array_equal(_dense(columns), problem.X.astype(np.float32))


def test_order_is_numpys_stable_order():
    X = np.random.default_rng(0).integers(-3, 4, size=(50, 7)) * 0.1
    columns = SortedColumns.from_dense(X)
    expected = np.argsort(X.astype(np.float32), axis=0, kind="stable")
    np.testing.assert_array_equal(columns.arrays.rows.reshape(7, 50).T, expected)


def test_blocks_of_any_size_give_the_same_columns(monkeypatch):
    X = np.random.default_rng(0).normal(size=(20, 11))
    whole = SortedColumns.from_dense(X)
    monkeypatch.setattr("ppfs._engine.inputs.sorted_columns._ENTRIES_PER_BLOCK", 60)
    for part, expected in zip(SortedColumns.from_dense(X).arrays, whole.arrays, strict=True):
        np.testing.assert_array_equal(part, expected)


def test_stored_zeros_mean_the_same_as_missing_entries():
    matrix = sparse.csc_array(np.array([[0.0, -1.0], [2.0, 0.0], [1.0, 3.0]]))
    with_zeros = matrix.copy()
    with_zeros.data[0] = 0.0
    columns = SortedColumns.from_sparse(with_zeros)
    assert columns.n_stored.tolist() == [1, 2]
    assert columns.arrays.values.tolist() == [1.0, -1.0, 3.0]


def test_negative_zero_is_zero():
    columns = SortedColumns.from_dense([[0.0], [-0.0], [-1.0]])
    assert columns.arrays.rows.tolist() == [2, 0, 1]


def test_sparse_input_is_not_changed():
    matrix = sparse.csc_array(np.array([[3.0], [1.0], [2.0]]))
    before = matrix.copy()
    columns = SortedColumns.from_sparse(matrix)
    assert columns.arrays.values.tolist() == [1.0, 2.0, 3.0]
    np.testing.assert_array_equal(matrix.toarray(), before.toarray())


@pytest.mark.parametrize("is_sparse", [False, True])
def test_take_equals_building_from_the_chosen_columns(is_sparse):
    X = np.random.default_rng(0).integers(-1, 2, size=(12, 6)).astype(float)
    build = SortedColumns.from_sparse if is_sparse else SortedColumns.from_dense
    chosen = [4, 0, 5]
    taken, expected = build(X).take(chosen), build(X[:, chosen])
    for array, other in zip(taken.arrays, expected.arrays, strict=True):
        np.testing.assert_array_equal(array, other)


@pytest.mark.parametrize("bad", [1e39, -1e39, np.inf, np.nan])
def test_values_beyond_float32_are_refused(bad):
    X = np.array([[1.0], [bad]])
    assert not fits_float32(X)
    with pytest.raises(ValueError, match="finite float32"):
        SortedColumns.from_dense(X)
    with pytest.raises(ValueError, match="finite float32"):
        SortedColumns.from_sparse(sparse.csc_array(X))


def test_ordinary_values_fit_float32():
    assert fits_float32([[3.4e38, -3.4e38]])
    assert fits_float32(np.array([2**62, -1]))
    assert fits_float32([])
