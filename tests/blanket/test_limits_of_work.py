"""How much is read, hashed and compared at once: the limits at their natural size."""

from types import SimpleNamespace

import numpy as np
import pytest

from ppfs.blanket._run import circumstances
from ppfs.blanket._steps import pair_screen
from ppfs.blanket._steps.column_values import feature_blocks


@pytest.mark.parametrize(
    ("n_rows", "blocks"),
    [
        (2**17, [[7, 3], [5, 1], [2]]),
        (2**17 + 1, [[7], [3], [5], [1], [2]]),
        (2**18, [[7], [3], [5], [1], [2]]),
    ],
)
def test_two_megabytes_of_columns_are_read_together(n_rows, blocks):
    assert feature_blocks(SimpleNamespace(n_rows=n_rows), [7, 3, 5, 1, 2]) == blocks


@pytest.mark.parametrize(
    ("shape", "dtype", "n_parts"),
    [
        ((2**19, 1), np.float64, 1),
        ((2**19 + 1, 1), np.float64, 2),
        ((2**18, 2), np.float64, 1),
        ((2**18 + 1, 2), np.float64, 2),
        ((2**22 + 1, 1), np.int8, 2),
        ((3, 2**20), np.float64, 3),
    ],
)
def test_four_megabytes_of_rows_are_hashed_together(monkeypatch, shape, dtype, n_parts):
    monkeypatch.setattr(circumstances, "sha256", lambda part: SimpleNamespace(digest=lambda: part.size))
    array = np.broadcast_to(np.array(0.5).astype(dtype), shape)
    sizes = circumstances._digests(array, np.dtype(dtype), 1)
    assert (len(sizes), sum(sizes)) == (n_parts, array.nbytes)


@pytest.mark.parametrize(
    ("n_columns", "n_threads", "firsts"),
    [(1024, 1, [0]), (1025, 1, [0, 1023]), (512, 4, [0]), (513, 4, [0, 511])],
)
def test_a_million_scores_of_pairs_are_computed_together(monkeypatch, n_columns, n_threads, firsts):
    asked = []

    def scores_of(quarters, n_levels, labels, n_classes, k_log_k, first, scores):
        asked.append(first)
        scores[:] = -np.inf

    monkeypatch.setattr(pair_screen._engine, "score_pairs", scores_of)
    quarters = np.zeros((n_columns, 4), dtype=np.int8)
    pair_screen._highest(
        quarters, np.zeros(4, dtype=np.int64), 2, np.arange(n_columns), frozenset(), 3, n_threads
    )
    assert sorted(asked) == firsts
