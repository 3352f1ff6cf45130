"""Scores of pairs of columns against likelihood ratios that are computed cell by cell."""

import numpy as np
import pytest

from ppfs._engine import score_pairs, whole_k_log_k


def log_likelihood(labels, *given):
    """Return the log-likelihood of the labels, with the shares of each cell of the given columns."""
    cells = np.unique(np.column_stack(given), axis=0, return_inverse=True)[1].ravel()
    total = 0.0
    for cell in np.unique(cells):
        counts = np.unique(labels[cells == cell], return_counts=True)[1]
        total += (counts * np.log(counts / counts.sum())).sum()
    return total


def slow_score(a, b, labels):
    """Return the smaller of "a given b" and "b given a", on the scale of a standard normal."""
    n_classes, n_a, n_b = (np.unique(values).size for values in (labels, a, b))
    both = log_likelihood(labels, a, b)
    found = []
    for given, n_given, n_new in ((a, n_a, n_b), (b, n_b, n_a)):
        ratio = 2.0 * (both - log_likelihood(labels, given))
        freedom = (n_classes - 1) * n_given * (n_new - 1)
        spread = 2.0 / (9.0 * freedom)
        found.append(((max(ratio, 0.0) / freedom) ** (1 / 3) - (1 - spread)) / spread**0.5)
    return min(found)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_scores_equal_likelihood_ratios(n_classes):
    rng = np.random.default_rng(n_classes)
    quarters = rng.integers(0, 4, size=(4, 40), dtype=np.uint8)
    quarters[1] %= 2
    quarters[3] = 2
    labels = rng.integers(0, n_classes, size=40)
    n_levels = np.array([np.unique(column).size for column in quarters])
    scores = np.full((2, 4), np.nan)
    score_pairs(quarters, n_levels, labels, n_classes, whole_k_log_k(40), 1, scores)
    # The first scored column is the second of the table; each is scored with the columns after it.
    expected = np.full((2, 4), -np.inf)
    expected[0, 2] = slow_score(quarters[1], quarters[2], labels)
    np.testing.assert_allclose(scores, expected, rtol=1e-5, atol=1e-5)


def test_both_columns_of_a_pair_have_to_add_something():
    labels = np.arange(64) % 2
    noise = (np.arange(64) // 2 % 4).astype(np.uint8)
    first = (np.arange(64) // 8 % 2).astype(np.uint8)
    hidden = ((labels + first) % 2).astype(np.uint8)
    quarters = np.array([labels.astype(np.uint8), noise, first, hidden])
    scores = np.empty((4, 4))
    score_pairs(quarters, np.array([2, 4, 2, 2]), labels, 2, whole_k_log_k(64), 0, scores)
    assert scores[0, 1] < 0.0  # The target itself needs nothing beside it.
    assert scores[2, 3] > 5.0  # Exclusive-or: neither says anything alone.
    assert scores[2, 3] == np.max(scores)


def test_k_log_k_of_counts():
    np.testing.assert_allclose(
        whole_k_log_k(3) / 2.0**24, [0.0, 0.0, 2 * np.log(2), 3 * np.log(3)], rtol=1e-6
    )
