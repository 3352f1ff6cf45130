"""Columns in an array, in a sparse matrix and in a block: sizes, parts, digests and views."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data.block import Block, dense_column
from ppfs._data.combinations import number_combinations
from ppfs._data.storage import DenseColumns, SparseColumns, storage_of, vector_digest

X = np.array([[0.0, 1.5, 2.0, 0.0], [3.0, 0.0, -1.0, 0.0], [0.0, 0.0, 4.0, 7.0]])
STORES = {
    "C": lambda: storage_of(X),
    "F": lambda: storage_of(np.asfortranarray(X)),
    "sparse": lambda: storage_of(sp.csc_array(X)),
    "small": lambda: storage_of((2 * X).astype(np.int8)),
}


def dense(values):
    return values.toarray() if sp.issparse(values) else values


@pytest.mark.parametrize("name", STORES)
def test_every_store_gives_the_same_columns(name):
    storage, values = STORES[name](), 2 * X if name == "small" else X
    assert storage.shape == (3, 4)
    assert list(storage.loaded) == [0, 1, 2, 3]
    assert storage.n_more is None
    assert storage.is_in_memory
    assert storage.is_sparse is (name == "sparse")
    np.testing.assert_array_equal(dense(storage.take([3, 0])), values[:, [3, 0]])
    assert storage.take([3, 0]).dtype == np.float64
    for column in range(4):
        np.testing.assert_array_equal(storage.column(column), values[:, column])
        assert storage.digest(column, 0) == vector_digest(values[:, column], 0)
        assert storage.digest(column, 3) == vector_digest(values[:, column], 3) != storage.digest(column, 0)
    block = storage.block([2, 1], np.array([0, 5]), ("c", "b"))
    np.testing.assert_array_equal(dense(block.X), values[:, [2, 1]])
    assert (block.names, block.n_levels.tolist(), block.n_columns) == (("c", "b"), [0, 5], 2)
    part = storage.of_rows(np.array([2, 0]))
    assert type(part) is type(storage)
    np.testing.assert_array_equal(dense(part.take(range(4))), values[[2, 0]])
    np.testing.assert_array_equal(storage.facts.low, values.min(axis=0))


@pytest.mark.parametrize(
    ("make", "n_bytes"),
    [
        (lambda: storage_of(np.zeros((100, 3))), 1 + 800),
        (lambda: storage_of(np.zeros((100, 3), dtype=np.float32)), 1 + 400),
        (lambda: storage_of(np.zeros((100, 3), dtype=np.int8)), 800),
        (lambda: storage_of(sp.csc_array(X)), 1 + (6 * 8 + 6 * 4) // 4),
    ],
)
def test_the_size_of_a_column_when_it_is_read(make, n_bytes):
    assert make().bytes_per_column == n_bytes


def test_digests_stay_as_they_were():
    """They decide in which order equal columns come, so that another one changes answers."""
    values = np.array([0.0, 1.5, -2.0])
    assert vector_digest(values, 0).hex() == "12296eaf62df720af934147406f8188b"
    assert vector_digest(values, 3).hex() == "f56725face6a1bb03d075e0cc3c0cba0"
    assert vector_digest(values.astype(np.float32), 3).hex() == "f56725face6a1bb03d075e0cc3c0cba0"
    assert vector_digest(np.array([0.0, -2.0, 1.5]), 0) != vector_digest(values, 0)
    assert vector_digest(np.array([1.5, 0.0, -2.0]), 0) != vector_digest(values, 0)


def test_what_identifies_a_table_is_all_that_it_stores():
    matrix = sp.csc_array(X)
    assert all(one is other for one, other in zip(
        SparseColumns(matrix).content, (matrix.indptr, matrix.indices, matrix.data), strict=True))  # fmt: skip
    (whole,) = DenseColumns(X).content
    assert whole is X


def test_a_view_has_the_facts_and_the_columns_on_the_device_if_they_are_there():
    on_device = X + 10
    storage = storage_of(np.asfortranarray(X), on_device)
    n_levels = np.zeros(2, dtype=np.intp)
    assert storage.view([1, 2], n_levels, ("b", "c")).known_facts is None
    high = storage.facts.high
    view = storage.view([1, 2], n_levels, ("b", "c"))
    assert view.known_facts.high.tolist() == high[1:3].tolist()
    assert view.facts is view.known_facts
    np.testing.assert_array_equal(view.on_device, on_device[:, 1:3])
    assert storage.view([1, 3], n_levels, ("b", "d")).on_device is None
    assert storage.view([2, 1], n_levels, ("c", "b")).known_facts is None
    np.testing.assert_array_equal(storage.of_rows(np.array([2, 0])).on_device, on_device[[2, 0]])
    assert storage_of(X).of_rows(np.array([0])).on_device is None
    assert storage_of(X).view([0, 1], n_levels, ("a", "b")).on_device is None
    small = storage_of((2 * X).astype(np.int8))
    assert small.view([0, 1], n_levels, ("a", "b")).X.dtype == np.float64


@pytest.mark.parametrize("make", [np.asarray, sp.csc_array, sp.csr_array, lambda X: (2 * X).astype(np.int8)])
def test_one_column_of_any_matrix_is_a_dense_vector(make):
    matrix = make(X)
    for column in range(4):
        found = dense_column(matrix, column)
        np.testing.assert_array_equal(found, dense(matrix)[:, column])
        assert found.dtype == np.float64
        assert found.shape == (3,)


def test_some_columns_of_a_block():
    block = Block(X, np.array([0, 2, 0, 4]), tuple("abcd"), on_device=X + 1)
    assert block.read() is block
    assert block.nbytes == 96
    assert Block(sp.csc_array(X), block.n_levels, block.names).nbytes == 48
    assert block.take(np.arange(4)) is block
    part = block.take(np.array([3, 1]))
    assert (part.names, part.n_levels.tolist()) == (("d", "b"), [4, 2])
    np.testing.assert_array_equal(part.X, X[:, [3, 1]])
    np.testing.assert_array_equal(part.on_device, X[:, [3, 1]] + 1)
    assert Block(X, block.n_levels, block.names).take(np.array([1])).on_device is None
    assert block.facts.high.tolist() == [3.0, 1.5, 4.0, 7.0]


@pytest.mark.parametrize(
    ("at_most", "numbers", "n"), [(0, [1, 2, 0, 2], 3), (5, [1, 2, 0, 2], 3), (6, [2, 5, 0, 5], 6)]
)
def test_combinations_are_numbered_in_the_order_of_the_codes(at_most, numbers, n):
    columns = [(np.array([0, 1, 0, 1]), 2), (np.array([2, 2, 0, 2]), 3)]
    found, n_found = number_combinations(columns, 4, at_most=at_most)
    assert (found.tolist(), n_found) == (numbers, n)
    assert number_combinations(columns, 4)[1] == 3
    none, one = number_combinations([], 2)
    assert (none.tolist(), one) == ([0, 0], 1)
