"""Forests take no memory that grows with trees times rows times columns."""

import tracemalloc

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from ppfs._data.reading import read_table
from ppfs.independence import PPI

N_ROWS, N_TREES, N_SPLITS = 200, 100, 5


def _bound(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, n_columns))
    y = (X[:, 0] + rng.normal(size=N_ROWS) > 0).astype(int)
    test = PPI(RandomForestClassifier(N_TREES, random_state=0), n_splits=N_SPLITS, random_state=0)
    return test.bind(read_table(X, y, task="auto", owner="test"))


def _peak(action):
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_growth_of_forests_takes_twice_its_input_at_most():
    few, bound = _bound(4), _bound(1500)
    list(few.marginal_answers(range(4), 4))  # Compiles, or loads what was compiled.
    peak = _peak(lambda: list(bound.marginal_answers(range(1500), 1500)))
    # One byte per tree, row and column would be 30 MB, and the input is 2.4 MB.
    assert peak < 2 * bound.table.X.nbytes


def test_shrinkage_of_forests_takes_less_than_a_number_a_tree_row_and_column():
    few, bound = _bound(4), _bound(150)
    few.query(0, 4, {1, 2, 3})
    peak = _peak(lambda: bound.query(0, 150, set(range(1, 150))))
    # 8 bytes per tree, train row and column would be 19 MB per split, and 96 MB for all.
    assert peak < 8 * N_TREES * 0.8 * N_ROWS * 150
