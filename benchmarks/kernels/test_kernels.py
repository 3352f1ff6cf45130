"""Timings of each kernel: ``pytest benchmarks/kernels`` with pytest-benchmark installed.

``--benchmark-autosave`` keeps a run, ``--benchmark-compare`` sets the next one against it, and
``--benchmark-compare-fail=mean:20%`` turns a slow-down into a failure. Each case names its size; one fit is one
column and one split. Compilation is left out: every kernel is called once before it is timed.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy import sparse

from ppfs._engine import SortedColumns, Splits, TreeRules, grow_forest, single_column_risks

pytest.importorskip("pytest_benchmark", reason="pip install pytest-benchmark to time the kernels")


@dataclass(frozen=True)
class Problem:
    """A problem of fixed size and seed, so that timings can be compared from one day to the next."""

    columns: SortedColumns
    y: np.ndarray
    n_classes: int
    splits: Splits
    rules: TreeRules

    @property
    def arguments(self):
        """What the engine's functions take."""
        return self.columns, self.y, self.n_classes, self.splits, self.rules


def draw_splits(rng, n_rows, n_splits):
    """Hold out a fifth of the rows, ``n_splits`` times."""
    orders = [rng.permutation(n_rows) for _ in range(n_splits)]
    n_test = n_rows // 5
    return Splits.from_sequences(
        [order[n_test:] for order in orders],
        [order[:n_test] for order in orders],
        [rng.permutation(n_test) for _ in orders],
    )


def dense_problem(n_rows, n_columns, n_splits, n_classes=2, **rules):
    """Draw independent normal columns, of which the first three decide about y."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_columns))
    score = X[:, :3].sum(axis=1) + rng.normal(size=n_rows)
    y = np.digitize(score, np.quantile(score, np.arange(1, n_classes) / n_classes)) if n_classes else score
    if not n_classes:
        rules = {"criterion": "squared_error", "loss": "squared", **rules}
    splits = draw_splits(rng, n_rows, n_splits)
    return Problem(SortedColumns.from_dense(X), y, n_classes, splits, TreeRules(**rules))


def sparse_problem(n_rows, n_columns, n_splits, density=0.01):
    """Draw binary columns with few ones, like those of Dorothea."""
    rng = np.random.default_rng(0)
    X = sparse.random_array((n_rows, n_columns), density=density, format="csc", random_state=rng)
    X.data[:] = 1.0
    y = (rng.random(n_rows) < 0.1).astype(int)
    return Problem(SortedColumns.from_sparse(X), y, 2, draw_splits(rng, n_rows, n_splits), TreeRules())


SINGLE_COLUMN_CASES = {
    "classes-100x2000x10": lambda: dense_problem(100, 2000, 10),
    "classes-1000x500x5": lambda: dense_problem(1000, 500, 5),
    "classes-500x800x10": lambda: dense_problem(500, 800, 10),
    "classes-2000x200x10": lambda: dense_problem(2000, 200, 10),
    "numbers-2000x200x10": lambda: dense_problem(2000, 200, 10, n_classes=0),
    "five-classes-100x2000x10": lambda: dense_problem(100, 2000, 10, n_classes=5),
    "depth-3-100x2000x10": lambda: dense_problem(100, 2000, 10, max_depth=3),
    "entropy-depth-3-100x500x10": lambda: dense_problem(100, 500, 10, criterion="entropy", max_depth=3),
    "numbers-100x2000x10": lambda: dense_problem(100, 2000, 10, n_classes=0),
    "numbers-depth-3-100x2000x10": lambda: dense_problem(100, 2000, 10, n_classes=0, max_depth=3),
    "sparse-800x20000x5": lambda: sparse_problem(800, 20000, 5),
}

FOREST_CASES = {
    "classes-100x2000x10": lambda: dense_problem(100, 2000, 10),
    "classes-2000x100x5": lambda: dense_problem(2000, 100, 5),
    "entropy-400x30x10": lambda: dense_problem(400, 30, 10, criterion="entropy"),
    "numbers-400x30x10": lambda: dense_problem(400, 30, 10, n_classes=0),
    "sparse-800x10000x5": lambda: sparse_problem(800, 10000, 5),
}


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
    single_column_risks(*single_column_problem.arguments)
    benchmark(single_column_risks, *single_column_problem.arguments)


def test_grow_forest(benchmark, forest_problem):
    grow_forest(*forest_problem.arguments)
    benchmark(grow_forest, *forest_problem.arguments)


def test_remove_a_used_column(benchmark, forest_problem):
    """The column that most trees use."""
    forest = grow_forest(*forest_problem.arguments)
    column = int(forest.used.sum(axis=0).argmax())
    benchmark(forest.without, column)


def test_remove_an_unused_column(benchmark):
    forest = grow_forest(*dense_problem(100, 2000, 10).arguments)
    column = int(np.flatnonzero(~forest.used.any(axis=0))[0])
    benchmark(forest.without, column)


def test_permuted_risk_of_used_columns(benchmark, forest_problem):
    """Every round asks a forest that has not been asked before."""

    def new_forest():
        forest = grow_forest(*forest_problem.arguments)
        return (forest, np.flatnonzero(forest.used.any(axis=0))), {}

    benchmark.pedantic(lambda forest, columns: forest.permuted_risk(columns), setup=new_forest, rounds=5)


def test_permuted_risk_of_an_unused_column(benchmark):
    forest = grow_forest(*dense_problem(100, 2000, 10).arguments)
    column = int(np.flatnonzero(~forest.used.any(axis=0))[0])
    benchmark(forest.permuted_risk, [column])
