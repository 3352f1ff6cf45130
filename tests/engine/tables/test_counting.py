import numpy as np
import pytest
from reference import contingency

from ppfs._engine import count_cells, likelihood_ratios, rank_levels
from ppfs._engine.tables.counting import _numpy_sum, kernel

N_ROWS = 150


@kernel
def numpy_sum(values, n):
    return _numpy_sum(values, n)


@pytest.mark.parametrize("n", [0, 1, 7, 8, 9, 127, 128, 129, 130, 255, 256, 257, 1000, 1031, 4099])
def test_sums_have_the_bits_of_numpys_as_of_its_slow_twin(n):
    values = np.random.default_rng(n).normal(size=n) * 10.0 ** np.random.default_rng(1).integers(-9, 9, n)
    assert numpy_sum(values, n) == values.sum()


def sample(n_strata, widths, *, n_rows=N_ROWS, dtype=np.uint8):
    rng = np.random.default_rng(0)
    stratum, classes = rng.integers(0, n_strata, n_rows), rng.integers(0, 3, n_rows)
    codes = np.stack([rng.integers(0, width, n_rows) for width in widths]).astype(dtype)
    # Each number occurs, so that the twin sees as many as the kernel is told.
    stratum[:n_strata], classes[:3] = range(n_strata), range(3)
    for row, width in zip(codes, widths, strict=True):
        row[-width:] = range(width)
    return stratum, classes, codes


def counted(stratum, classes, codes, columns, n_levels):
    n_levels = np.array(n_levels, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(n_levels * 3 * (stratum.max() + 1))]).astype(np.int64)
    cells = np.zeros(starts[-1], dtype=np.int64)
    count_cells(stratum * 3 + classes, codes, np.array(columns, dtype=np.int64), n_levels, starts, cells)
    return n_levels, starts, cells


@pytest.mark.parametrize("n_columns", [1, 4, 6])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_tables_and_their_sums_are_those_of_the_slow_twin(n_columns, dtype):
    widths = [2, 5, 3, 7, 2, 4]
    stratum, classes, codes = sample(9, widths, dtype=dtype)
    columns = [5, 1, 0, 3, 4, 2][:n_columns]
    n_levels, starts, cells = counted(stratum, classes, codes, columns, [widths[c] for c in columns])
    shown = np.array([len(set(classes[stratum == s])) - 1 for s in range(9)], dtype=np.int64)
    k = np.arange(1, N_ROWS + 1)
    k_log_k = np.concatenate([[0.0], k * np.log(k)])
    sums, freedom = np.empty((n_columns, 2)), np.empty(n_columns, dtype=np.int64)
    likelihood_ratios(cells, starts, n_levels, shown, k_log_k, sums, freedom)
    for position, column in enumerate(columns):
        expected = contingency.table_of(stratum, classes, codes[column].astype(np.intp))
        np.testing.assert_array_equal(cells[starts[position] : starts[position + 1]], expected.ravel())
        of_cells, _, of_levels, _ = contingency.sums_of_k_log_k(expected)
        assert sums[position].tolist() == [of_cells, of_levels]
        assert freedom[position] == contingency.degrees_of_freedom(expected)


def test_ranks_are_those_of_sorting_its_slow_twin():
    rng = np.random.default_rng(0)
    columns = np.stack([rng.integers(-3, 4, 60), rng.choice([5, 9, 260], 60), np.full(60, 7)]).astype(float)
    codes, counts = np.zeros((5, 60), dtype=np.uint8), np.zeros(5, dtype=np.int64)
    rank_levels(columns, columns.min(axis=1), np.array([3, 0, 1]), codes, counts)
    for number, column in zip((3, 0, 1), columns, strict=True):
        levels, expected = np.unique(column, return_inverse=True)
        assert counts[number] == levels.size
        np.testing.assert_array_equal(codes[number], expected)
    assert not codes[[2, 4]].any()
