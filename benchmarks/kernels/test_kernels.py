"""Timings of each kernel: ``pytest benchmarks/kernels`` with pytest-benchmark installed.

``--benchmark-autosave`` keeps a run, ``--benchmark-compare`` sets the next one against it, and
``--benchmark-compare-fail=mean:20%`` turns a slow-down into a failure. Each case names its size; one fit is one
column and one split. Compilation is left out: every kernel is called once before it is timed.
"""

import numpy as np
import pytest
from kernel_problems import FOREST_CASES, SINGLE_COLUMN_CASES, dense_problem, single_columns, sparse_problem
from scipy import sparse

from ppfs._engine import SortedColumns, grow_tree_per_split

pytest.importorskip("pytest_benchmark", reason="pip install pytest-benchmark to time the kernels")


@pytest.fixture(params=SINGLE_COLUMN_CASES.values(), ids=SINGLE_COLUMN_CASES)
def single_column_problem(request):
    return request.param()


@pytest.fixture(params=FOREST_CASES.values(), ids=FOREST_CASES)
def forest_problem(request):
    return request.param()


def test_sort_dense(benchmark):
    X = np.random.default_rng(0).normal(size=(1000, 1000))
    benchmark(SortedColumns.from_dense, X)


def test_argsort_for_comparison(benchmark):
    X = np.random.default_rng(0).normal(size=(1000, 1000))
    benchmark(np.argsort, X, axis=0, kind="stable")


def test_sort_sparse(benchmark):
    X = sparse.random_array((800, 50000), density=0.01, format="csc", random_state=np.random.default_rng(0))
    benchmark(SortedColumns.from_sparse, X)


def test_take(benchmark):
    columns = sparse_problem(800, 50000, 1).columns
    benchmark(columns.take, np.arange(0, 50000, 5))


def test_single_column_risks(benchmark, single_column_problem):
    grow = single_columns(single_column_problem)
    grow()
    benchmark(grow)


def test_grow_tree_per_split(benchmark, forest_problem):
    grow_tree_per_split(*forest_problem.arguments)
    benchmark(grow_tree_per_split, *forest_problem.arguments)


def test_remove_a_used_column(benchmark, forest_problem):
    """The column that most trees use."""
    forest = grow_tree_per_split(*forest_problem.arguments)
    column = int(forest.used.sum(axis=0).argmax())
    benchmark(forest.without, column)


def test_remove_an_unused_column(benchmark):
    forest = grow_tree_per_split(*dense_problem(100, 2000, 10).arguments)
    column = int(np.flatnonzero(~forest.used.any(axis=0))[0])
    benchmark(forest.without, column)


def test_permuted_risk_of_used_columns(benchmark, forest_problem):
    """Every round asks a forest that has not been asked before."""

    def new_forest():
        forest = grow_tree_per_split(*forest_problem.arguments)
        return (forest, np.flatnonzero(forest.used.any(axis=0))), {}

    benchmark.pedantic(lambda forest, columns: forest.permuted_risk(columns), setup=new_forest, rounds=5)


def test_permuted_risk_of_an_unused_column(benchmark):
    forest = grow_tree_per_split(*dense_problem(100, 2000, 10).arguments)
    column = int(np.flatnonzero(~forest.used.any(axis=0))[0])
    benchmark(forest.permuted_risk, [column])
