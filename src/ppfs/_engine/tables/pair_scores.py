"""Scores for pairs of columns that measure how much each adds to the other about the target.

Columns are discretized into four levels, so the table of a pair has 16 cells per class, and scoring is mostly counting.
"""

import numpy as np

from ppfs._engine.jit.kernels import Float64s, Int64s, Uint8s, allocating_kernel, int64, uint64

#: Levels of a column: the quarter of the sorted values to which a value belongs.
N_QUARTERS = 4

# k log k is rounded to integer multiples of this unit: their sums do not depend on the order of the terms, so the score
# of a pair does not depend on which of the two columns comes first.
_FINENESS = 2.0**24


@allocating_kernel
def score_pairs(
    quarters: Uint8s,
    n_levels: Int64s,
    labels: Int64s,
    n_classes: int,
    k_log_k: Int64s,
    first: int,
    scores: Float64s,
) -> None:
    """Score some columns with all those after them.

    The score of a pair is the smaller of two likelihood ratios, "a given b" and "b given a", on the scale of a standard
    normal (Wilson and Hilferty's cube root), so that columns of few and of many levels can be compared.

    Parameters
    ----------
    quarters : array of shape (n_columns, n_rows), uint8
        Levels from 0 to 3.
    n_levels : array of shape (n_columns,), int64
        How many levels occur in each column.
    labels : array of shape (n_rows,), int64
    k_log_k : array of shape (n_rows + 1,), int64
    first : int
        The first of the columns to score.
    scores : array of shape (n_scored, n_columns), float64
        Filled with the scores, and with minus infinity where a column is constant or does not come after the other.
    """
    n_columns, n_rows = quarters.shape
    places = np.empty(n_rows, dtype=np.int64)
    cells = np.empty((N_QUARTERS * n_classes, N_QUARTERS), dtype=np.int64)
    flat = cells.reshape(-1)
    for row in range(scores.shape[0]):
        a = first + row
        for i in range(n_rows):
            places[i] = (int64(quarters[a, i]) * n_classes + labels[i]) * N_QUARTERS
        for b in range(n_columns):
            scores[row, b] = -np.inf
            if b <= a or n_levels[a] < 2 or n_levels[b] < 2:
                continue
            for cell in range(flat.size):
                flat[cell] = 0
            column = quarters[b]
            for i in range(n_rows):
                flat[uint64(places[i]) + uint64(column[i])] += 1
            together = int64(0)
            alone_a, alone_b = int64(0), int64(0)
            for level in range(N_QUARTERS):
                n_a, n_b = int64(0), int64(0)
                for other in range(N_QUARTERS):
                    n_both = int64(0)
                    for k in range(n_classes):
                        together += k_log_k[cells[level * n_classes + k, other]]
                        n_both += cells[level * n_classes + k, other]
                    together -= k_log_k[n_both]
                for k in range(n_classes):
                    n_ak, n_bk = int64(0), int64(0)
                    for other in range(N_QUARTERS):
                        n_ak += cells[level * n_classes + k, other]
                        n_bk += cells[other * n_classes + k, level]
                    alone_a += k_log_k[n_ak]
                    alone_b += k_log_k[n_bk]
                    n_a += n_ak
                    n_b += n_bk
                alone_a -= k_log_k[n_a]
                alone_b -= k_log_k[n_b]
            score = np.inf
            for alone, n_given, n_new in (
                (alone_a, n_levels[a], n_levels[b]),
                (alone_b, n_levels[b], n_levels[a]),
            ):
                ratio = 2.0 * float(together - alone) / _FINENESS
                freedom = float((n_classes - 1) * n_given * (n_new - 1))
                spread = 2.0 / (9.0 * freedom)
                score = min(score, (np.cbrt(max(ratio, 0.0) / freedom) - (1.0 - spread)) / np.sqrt(spread))
            scores[row, b] = score


def whole_k_log_k(n_rows: int) -> Int64s:
    """Return k log k for the counts up to ``n_rows``, as integers."""
    k = np.arange(n_rows + 1)
    whole: Int64s = np.rint(k * np.log(np.maximum(k, 1)) * _FINENESS).astype(np.int64)
    return whole
