"""Trees on few single columns, by the builder of larger trees: the risks of the kernels of single columns."""

import numpy as np
import pytest
from hypothesis import given, settings
from numba import njit

from engine.problems import problems, single_column_risks
from ppfs._engine import SortedColumns, Splits, TreeRules, few_column_risks
from ppfs._engine.jit.disk_cache import is_compiled
from ppfs._engine.many_columns import few_columns
from ppfs._engine.many_columns.forest_search import _sort_turns


@settings(derandomize=True, deadline=None, max_examples=100)
@given(problems(is_classification=True))
def test_risks_of_classes_are_those_of_the_kernels_bit_for_bit(problem):
    expected = single_column_risks(problem.columns, *problem.arguments)
    np.testing.assert_array_equal(few_column_risks(problem.columns, *problem.arguments), expected)


@settings(derandomize=True, deadline=None, max_examples=30)
@given(problems(is_classification=True))
def test_so_are_those_with_weights_of_classes(problem):
    weights = 1.0 + np.arange(problem.n_classes) / 3.0
    expected = single_column_risks(problem.columns, *problem.arguments, weights)
    np.testing.assert_array_equal(few_column_risks(problem.columns, *problem.arguments, weights), expected)


class _Kernel:
    """Stands for a kernel that is compiled, in the cache, or neither."""

    def __init__(self, signatures=(), has_files=False):
        self.signatures = signatures
        self._cache = type("Cache", (), {"has_files": lambda _: has_files})()


@pytest.mark.parametrize(
    ("kernel", "expected"),
    [
        (_Kernel(), False),
        (_Kernel(signatures=["int64"]), True),
        (_Kernel(has_files=True), True),
        (len, True),  # Compilation is switched off.
    ],
)
def test_a_kernel_is_compiled_here_or_in_the_cache(kernel, expected):
    assert is_compiled(kernel) is expected


def test_only_the_first_trees_of_a_process_are_grown_without_the_kernels(monkeypatch):
    monkeypatch.setattr(few_columns, "class_risks", _Kernel())
    monkeypatch.setattr(few_columns, "_n_rows_grown", [0])
    assert few_columns.is_sooner_grown(few_columns._MOST_ROWS)
    few_columns._n_rows_grown[0] = 1
    assert not few_columns.is_sooner_grown(few_columns._MOST_ROWS)
    monkeypatch.setattr(few_columns, "class_risks", _Kernel(has_files=True))
    assert not few_columns.is_sooner_grown(1)


@njit
def _in_turn(turns, columns):
    _sort_turns(turns.size, turns, columns)


def test_any_number_of_columns_is_sorted_by_turn_and_then_by_number():
    rng = np.random.default_rng(0)
    for n in range(1, 60):
        turns = rng.integers(0, n, n).astype(np.uint64)
        columns = rng.permutation(n).astype(np.int32)
        order = np.lexsort((columns, turns))
        expected = turns[order], columns[order]
        _in_turn(turns, columns)
        np.testing.assert_array_equal((turns, columns), expected)


def test_the_rows_of_all_trees_are_counted(monkeypatch):
    monkeypatch.setattr(few_columns, "_n_rows_grown", [5])
    X, y = np.arange(24.0).reshape(8, 3) % 7, np.arange(8) % 2
    splits = Splits.from_sequences([[0, 1, 2, 3, 4], [2, 3, 4, 5]], [[5, 6], [0, 1]], [[1, 0], [0, 1]])
    few_column_risks(SortedColumns.from_dense(X), y, 2, splits, TreeRules())
    assert few_columns._n_rows_grown == [5 + 3 * (5 + 4)]
