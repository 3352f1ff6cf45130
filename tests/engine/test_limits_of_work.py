"""What is sorted, looked up and computed at once: the limits at their natural size."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppfs._engine import SortedColumns, spline_values
from ppfs._engine.inputs import sorted_columns
from ppfs._engine.inputs.sorted_columns import ValueTable
from ppfs._engine.linear import spline_bases
from ppfs._engine.many_columns import forest_per_split
from ppfs._engine.many_columns.forest_per_split import ForestPerSplit
from ppfs._engine.many_columns.tree_per_split import TreePerSplit


def tall(n_rows, n_columns):
    return np.broadcast_to(np.float32(0), (n_rows, n_columns))


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "sizes"), [(2**16, 3, [2, 1]), (2**16 + 1, 3, [1] * 3), (2**17 + 1, 2, [1] * 2)]
)
def test_columns_are_sorted_a_few_at_a_time(monkeypatch, n_rows, n_columns, sizes):
    sorted_together = []

    def keys(numbers, rows):
        sorted_together.append(len(numbers))
        return np.zeros(numbers.shape, dtype=np.uint64)

    monkeypatch.setattr(sorted_columns, "_sort_keys", keys)
    SortedColumns.from_dense(tall(n_rows, n_columns))
    assert sorted_together == sizes


@pytest.mark.parametrize(("n_rows", "n_columns", "is_known"), [(2**15, 4, True), (2**15, 5, False)])
def test_values_of_few_columns_are_looked_up_at_once(monkeypatch, n_rows, n_columns, is_known):
    added = []
    monkeypatch.setattr(ValueTable, "add", lambda self, columns: added.append(columns.tolist()))
    table = ValueTable(SimpleNamespace(n_rows=n_rows, n_columns=n_columns))
    assert added == ([list(range(n_columns))] if is_known else [])
    assert table.slots.tolist() == [-1] * (n_columns + 1)


@pytest.mark.parametrize(("n_rows", "is_compiled"), [(2**14, False), (2**14 + 1, True)])
def test_splines_of_few_numbers_need_no_kernel(monkeypatch, n_rows, is_compiled):
    called = []
    monkeypatch.setattr(spline_bases, "_fill", lambda *given: called.append("NumPy"))
    monkeypatch.setattr(spline_bases, "_fill_splines", lambda *given: called.append("kernel"))
    made = spline_values(np.zeros((n_rows, 2)), np.arange(22.0).reshape(2, 11), 3, 6)
    assert called == ["kernel" if is_compiled else "NumPy"]
    assert made.shape == (n_rows, 2, 6)


@pytest.mark.parametrize(("n_leaves", "n_threads"), [(4000, 1), (4001, 4)])
def test_forests_are_asked_on_threads_if_they_have_many_leaves(monkeypatch, n_leaves, n_threads):
    used = []
    monkeypatch.setattr(
        forest_per_split, "run_tasks", lambda function, splits, n_threads: used.append(n_threads)
    )
    part = SimpleNamespace(trees=SimpleNamespace(leaf_of=SimpleNamespace(size=n_leaves)))
    forest = SimpleNamespace(
        _forests=[SimpleNamespace(parts=[part, part])] * 3 + [SimpleNamespace(parts=[part])],
        _data=SimpleNamespace(n_threads=4),
    )
    ForestPerSplit._over_splits(forest, len, [0, 1, 3])
    assert used == [n_threads]


def test_so_many_removals_are_planned_ahead():
    assert TreePerSplit.most_ahead.fget(None) == 256
    assert ForestPerSplit.most_ahead.fget(None) == 1
