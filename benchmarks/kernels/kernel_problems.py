"""Problems of fixed size and seed that kernels are timed with."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from ppfs import _engine
from ppfs._engine import SortedColumns, Splits, TreeRules

# Older versions, which `benchmarks/versions/speed.py` compares with, have other names.
grow_tree_per_split = getattr(_engine, "grow_tree_per_split", None) or _engine.grow_forest
grow_forest_per_split = getattr(_engine, "grow_forest_per_split", None) or _engine.grow_bagged_forest


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


def tied_problem(n_rows, n_columns, n_splits, **rules):
    """Draw columns of five values."""
    problem = dense_problem(n_rows, n_columns, n_splits, **rules)
    X = np.random.default_rng(1).integers(0, 5, size=(n_rows, n_columns)).astype(float)
    return replace(problem, columns=SortedColumns.from_dense(X))


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


Run = Callable[[], Any]


def single_columns(problem):
    """Grow one tree per column and split."""
    columns, *rest = problem.arguments
    return lambda: _engine.prepared_column_risks(columns, _engine.prepare_columns(*rest))


def many_columns(problem):
    """Grow one tree per split on all columns."""
    return lambda: grow_tree_per_split(*problem.arguments)


def many_weighted_columns(problem):
    """Grow one tree per split on all columns, whose rows have weights."""
    weights = np.random.default_rng(1).uniform(0.5, 2.0, problem.columns.n_rows)
    return lambda: grow_tree_per_split(*problem.arguments, fit_weights=weights)


def weighted_columns(problem, n_trees, share_missing=0.0):
    """Grow trees on rows with weights per column, in one split."""
    rng = np.random.default_rng(1)
    n_rows, n_columns = problem.columns.n_rows, problem.columns.n_columns
    X = rng.normal(size=(n_rows, n_columns))
    X[rng.random(X.shape) < share_missing] = np.nan
    train, test = problem.splits.train[0], problem.splits.test[0]
    weights = np.zeros((n_trees, n_rows))
    weights[:, train] = rng.uniform(0.5, 2.0, (n_trees, train.size))
    columns = _engine.order_columns(X)
    return lambda: _engine.tree_predictions(
        columns, problem.y, problem.n_classes, weights, train.size, test, problem.rules
    )


def _forest(problem, n_trees, is_random=False):
    rng = np.random.default_rng(1)
    samples = [
        np.stack(
            [np.bincount(rng.integers(0, rows.size, rows.size), minlength=rows.size) for _ in range(n_trees)]
        )
        for rows in problem.splits.train
    ]
    keys = rng.integers(0, 2**63, (problem.splits.n_splits, n_trees)).astype(np.uint64)
    prepared = _engine.prepare_forest(
        problem.y, problem.n_classes, problem.splits, problem.rules, samples, keys if is_random else None
    )
    return prepared, keys


def forest_columns(problem, n_trees, is_random=False):
    """Grow one forest per column and split."""
    prepared, _ = _forest(problem, n_trees, is_random)
    return lambda: _engine.prepared_forest_risks(problem.columns, prepared)


def forests(problem, n_trees, is_random=False):
    """Grow one forest per split on all columns, the square root of which are tried in a node."""
    prepared, keys = _forest(problem, n_trees, is_random)
    rules = _engine.ForestRules(lambda n: max(1, int(np.sqrt(n))), keys, is_random)
    return lambda: grow_forest_per_split(problem.columns, prepared, rules)


def _boosting(n_rows, n_columns, n_splits, n_classes):
    problem = dense_problem(n_rows, n_columns, n_splits, n_classes)
    X = np.random.default_rng(0).normal(size=(n_rows, n_columns))
    rules = _engine.BoostingRules(max_iter=20, min_samples_leaf=5, loss=problem.rules.loss)
    splits = problem.splits
    draws = [order[np.newaxis] for order in splits.permutations]
    return X, _engine.prepare_boosting(problem.y, n_classes, [*splits.train], [*splits.test], draws, rules)


def boosted_columns(n_rows, n_columns, n_splits, n_classes):
    """Boost trees per column and split."""
    X, problem = _boosting(n_rows, n_columns, n_splits, n_classes)
    return lambda: _engine.boosted_column_losses(X, problem)


def boosted_models(n_rows, n_columns, n_splits, n_classes):
    """Boost trees per split on all columns."""
    X, problem = _boosting(n_rows, n_columns, n_splits, n_classes)
    columns = _engine.bin_columns(X, problem)
    return lambda: _engine.grow_models(columns, problem)


#: What `benchmarks/versions/speed.py` times, by name: a function that prepares the problem and returns what is timed.
KERNEL_CASES: dict[str, Callable[[], Run]] = {
    **{
        f"one tree per column, {name}": lambda make=make: single_columns(make())
        for name, make in SINGLE_COLUMN_CASES.items()
    },
    "one tree per column, depth-3-ties-400x500x10": lambda: single_columns(
        tied_problem(400, 500, 10, max_depth=3)
    ),
    **{f"tree, {name}": lambda make=make: many_columns(make()) for name, make in FOREST_CASES.items()},
    "tree, weighted-classes-400x30x10": lambda: many_weighted_columns(dense_problem(400, 30, 10)),
    "tree, weighted-numbers-400x30x10": lambda: many_weighted_columns(
        dense_problem(400, 30, 10, n_classes=0)
    ),
    "weighted trees per column, classes-400x200": lambda: weighted_columns(dense_problem(400, 200, 1), 10),
    "weighted trees per column, numbers-400x200": lambda: weighted_columns(
        dense_problem(400, 200, 1, n_classes=0), 10
    ),
    "weighted trees per column, missing-400x200": lambda: weighted_columns(
        dense_problem(400, 200, 1), 10, 0.1
    ),
    "forest per column, classes-400x200x5": lambda: forest_columns(dense_problem(400, 200, 5), 50),
    "forest per column, depth-3-200x100x5": lambda: forest_columns(
        dense_problem(200, 100, 5, max_depth=3), 50
    ),
    "forest per column, extra-trees-200x100x5": lambda: forest_columns(dense_problem(200, 100, 5), 50, True),
    "forest, classes-400x100x5": lambda: forests(dense_problem(400, 100, 5), 20),
    "forest, numbers-400x100x5": lambda: forests(dense_problem(400, 100, 5, n_classes=0), 20),
    "forest, entropy-400x100x5": lambda: forests(dense_problem(400, 100, 5, criterion="entropy"), 20),
    "forest, extra-trees-400x100x5": lambda: forests(dense_problem(400, 100, 5), 20, True),
    "forest, sparse-800x5000x2": lambda: forests(sparse_problem(800, 5000, 2), 5),
    "boosting per column, classes-400x100x5": lambda: boosted_columns(400, 100, 5, 2),
    "boosting per column, numbers-400x100x5": lambda: boosted_columns(400, 100, 5, 0),
    "boosting, classes-400x30x5": lambda: boosted_models(400, 30, 5, 2),
    "boosting, numbers-400x30x5": lambda: boosted_models(400, 30, 5, 0),
}
