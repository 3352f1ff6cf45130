"""The same bits for any number of threads, any block size and any order of the columns."""

import numpy as np
import pytest
from scipy import sparse

from engine.grown_trees import tree_of
from engine.problems import CLASS_LOSSES, COLUMN_KINDS, draw_splits, single_column_risks
from ppfs._engine import SortedColumns, TreeRules, grow_tree_per_split


@pytest.fixture(params=[0, 3], ids=["numbers", "classes"])
def arguments(request):
    """Everything but the columns, for 40 rows and 4 splits."""
    rng = np.random.default_rng(0)
    n_classes = request.param
    y = rng.integers(0, 3, size=40) if n_classes else rng.normal(size=40)
    rules = TreeRules(loss=CLASS_LOSSES[0]) if n_classes else TreeRules("squared_error", loss="squared")
    return y, n_classes, draw_splits(rng, 40, 4), rules


@pytest.fixture(params=[SortedColumns.from_dense, SortedColumns.from_sparse], ids=["dense", "sparse"])
def build(request):
    return request.param


@pytest.fixture
def X():
    rng = np.random.default_rng(1)
    return np.column_stack([kind(rng, 40) for kind in COLUMN_KINDS * 4])


def test_single_column_risks_of_shuffled_columns(build, X, arguments):
    order = np.random.default_rng(2).permutation(X.shape[1])
    base, permuted = single_column_risks(build(X), *arguments)
    shuffled_base, shuffled_permuted = single_column_risks(build(X[:, order]), *arguments)
    np.testing.assert_array_equal(shuffled_base, base[order])
    np.testing.assert_array_equal(shuffled_permuted, permuted[order])


def test_single_column_risks_of_one_split_alone(build, X, arguments):
    """A split's risks do not depend on the other splits."""
    y, n_classes, splits, rules = arguments
    base, permuted = single_column_risks(build(X), *arguments)
    alone = type(splits)(splits.train[2:3], splits.test[2:3], splits.permutations[2:3])
    found = single_column_risks(build(X), y, n_classes, alone, rules)
    np.testing.assert_array_equal(found, (base[:, 2:3], permuted[:, 2:3]))


def test_order_of_the_train_rows_does_not_matter(build, X, arguments):
    y, n_classes, splits, rules = arguments
    backwards = type(splits)(
        tuple(rows[::-1].copy() for rows in splits.train), splits.test, splits.permutations
    )
    forest, other = (grow_tree_per_split(build(X), y, n_classes, each, rules) for each in (splits, backwards))
    every_column = np.arange(X.shape[1])
    np.testing.assert_array_equal(forest.permuted_risk(every_column), other.permuted_risk(every_column))


def test_forests_on_threads(monkeypatch, build, X, arguments):
    monkeypatch.setattr("ppfs._engine.many_columns.tree_per_split._ENTRIES_FOR_THREADS", 0)
    forests = [grow_tree_per_split(build(X), *arguments, n_threads=n_threads) for n_threads in (1, 2)]
    every_column = np.arange(X.shape[1])
    for column in np.flatnonzero(forests[0].used.any(axis=0))[:3].tolist():
        for split in range(4):
            one, two = (tree_of(forest, split) for forest in forests)
            np.testing.assert_array_equal(one.feature, two.feature)
            np.testing.assert_array_equal(one.threshold, two.threshold)
        np.testing.assert_array_equal(*(forest.permuted_risk(every_column) for forest in forests))
        forests = [forest.without(column)[0] for forest in forests]


def test_sparse_format_does_not_matter(X, arguments):
    expected = single_column_risks(SortedColumns.from_sparse(sparse.csc_array(X)), *arguments)
    for convert in (sparse.csr_array, sparse.coo_array, sparse.csc_matrix):
        found = single_column_risks(SortedColumns.from_sparse(convert(X)), *arguments)
        np.testing.assert_array_equal(found, expected)
