"""What columns explain of residuals, and by how much they would move predictions, against plain twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._data import Table
from ppfs._verdicts import rivals
from ppfs._verdicts.rivals import _explained, _means_by_level, _scaled, moves_of, rank_rivals

RNG = np.random.default_rng(0)
N = 30
NUMBERS = RNG.normal(3.0, 2.0, size=(N, 3))
NUMBERS[4, 1] = np.nan
CODES = np.column_stack([np.arange(N) % 3, np.arange(N) // 2])
X = np.column_stack([NUMBERS, CODES, np.ones(N)])
N_LEVELS = np.array([0, 0, 0, 3, 15, 0])
RESIDUALS = RNG.normal(size=(N, 2))
RESIDUALS -= RESIDUALS.mean(axis=0)


def plain_scaled(x, like=None):
    like = x if like is None else like
    known = like[np.isfinite(like)]
    spread = known.std() if known.size else 0.0
    return (
        np.where(np.isfinite(x), x - (known.mean() if known.size else 0), 0.0) / spread
        if spread > 0
        else 0 * x
    )


def plainly_explained(x, n_levels, residuals):
    if n_levels:
        found = -(len(set(x)) - 2) * (residuals**2).sum() / len(x)
        for level in set(x):
            found += (residuals[x == level].sum(axis=0) ** 2).sum() / (x == level).sum()
        return found
    line = plain_scaled(x)
    parabola = plain_scaled(line**2)
    return max(((one @ residuals) ** 2).sum() for one in (line, parabola)) / len(x)


def test_numbers_and_categories_explain_what_the_twin_says():
    expected = [plainly_explained(X[:, j], N_LEVELS[j], RESIDUALS) for j in range(6)]
    np.testing.assert_allclose(_explained(X, N_LEVELS, RESIDUALS), expected)
    assert expected[5] == 0.0


def test_sparse_columns_explain_by_lines():
    dense = np.where(RNG.random((N, 4)) < 0.3, RNG.normal(size=(N, 4)), 0.0)
    dense[:, 2] = 0.0
    found = _explained(sp.csr_array(dense), np.zeros(4, dtype=int), RESIDUALS)
    expected = [((plain_scaled(x) @ RESIDUALS) ** 2).sum() / N for x in dense.T]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    shifted = _explained(sp.csr_array(dense), np.zeros(4, dtype=int), RESIDUALS + 1.0)
    expected = [((plain_scaled(x) @ (RESIDUALS + 1.0)) ** 2).sum() / N for x in dense.T]
    np.testing.assert_allclose(shifted, expected, atol=1e-12)


@pytest.mark.parametrize("at_once", [1, 2, 1000])
def test_features_are_ranked_by_their_best_column_and_ties_by_number(at_once, monkeypatch):
    monkeypatch.setattr(rivals, "_AT_ONCE", at_once)
    table = Table.of(X, RESIDUALS[:, 0], "abcdef", "regression", n_levels=N_LEVELS)
    scores = [plainly_explained(X[:, j], N_LEVELS[j], RESIDUALS) for j in range(6)]
    expected = sorted(range(6), key=lambda j: (-scores[j], j))
    assert rank_rivals(table, range(6), RESIDUALS) == expected
    assert rank_rivals(table, [4, 1, 3], RESIDUALS + 7.0) == [j for j in expected if j in (1, 3, 4)]
    groups = Table.of(
        X, RESIDUALS[:, 0], "pqr", "regression", n_levels=N_LEVELS, columns=[(5, 0), (3, 4), (1, 2)]
    )
    best = [max(scores[5], scores[0]), max(scores[3], scores[4]), max(scores[1], scores[2])]
    assert rank_rivals(groups, [2, 1, 0], RESIDUALS) == sorted(range(3), key=lambda j: -best[j])
    twice = Table.of(X[:, [0, 0, 0]], RESIDUALS[:, 0], "abc", "regression")
    # In blocks of several widths the last digits of sums differ.
    assert at_once == 2 or rank_rivals(twice, [2, 0, 1], RESIDUALS) == [0, 1, 2]


@pytest.mark.parametrize("at_once", [1, 2, 1000])
@pytest.mark.parametrize("make", [np.asarray, sp.csc_array])
def test_lines_of_the_training_rows_move_the_others(at_once, make, monkeypatch):
    monkeypatch.setattr(rivals, "_AT_ONCE", at_once)
    train, test = np.arange(20), np.arange(20, N)
    values = np.nan_to_num(X, nan=-1.0) if make is sp.csc_array else X
    n_levels = 0 * N_LEVELS if make is sp.csc_array else N_LEVELS
    residuals = RESIDUALS[train]
    columns = np.empty((2, len(test), 6))
    for j in range(6):
        of_train, of_test = values[train, j], values[test, j]
        for output in range(2):
            if n_levels[j]:
                means = {
                    level: residuals[of_train == level, output].sum() / ((of_train == level).sum() + 10)
                    for level in set(of_train)
                }
                columns[output, :, j] = [means.get(level, 0.0) for level in of_test]
            else:
                slope = plain_scaled(of_train) @ residuals[:, output] / 20
                columns[output, :, j] = plain_scaled(of_test, of_train) * slope
    table = Table.of(make(values), RESIDUALS[:, 0], "abcdef", "regression", n_levels=n_levels)
    for found, expected in zip(moves_of(table, [5, 3, 0, 4], train, test, residuals), columns, strict=True):
        np.testing.assert_allclose(found, expected[:, [5, 3, 0, 4]], atol=1e-12)
    groups = Table.of(
        make(values), RESIDUALS[:, 0], "pq", "regression", n_levels=n_levels, columns=[(0, 3), (1, 4, 2)]
    )
    for found, expected in zip(moves_of(groups, [1, 0], train, test, residuals), columns, strict=True):
        by_feature = np.column_stack([expected[:, [1, 4, 2]].sum(axis=1), expected[:, [0, 3]].sum(axis=1)])
        np.testing.assert_allclose(found, by_feature, atol=1e-12)
    assert [one.shape for one in moves_of(table, [], train, test, residuals)] == [(10, 0), (10, 0)]


def test_columns_are_scaled_by_what_is_known_of_others():
    values = np.array([[1.0, np.nan, 4.0, np.inf], [3.0, np.nan, 4.0, 2.0], [np.nan, np.nan, 4.0, 6.0]])
    np.testing.assert_array_equal(_scaled(values), [[-1, 0, 0, 0], [1, 0, 0, -1], [0, 0, 0, 1]])
    np.testing.assert_array_equal(_scaled(np.array([[5.0, 1.0, 9.0, np.nan]]), like=values), [[3, 0, 0, 0]])


def test_a_single_value_has_no_spread():
    assert _scaled(np.array([[5.0], [np.nan]])).tolist() == [[0.0], [0.0]]


def test_levels_of_few_rows_move_little_and_unknown_ones_nothing():
    train, residual = np.array([2.0, 2.0, 5.0]), np.array([6.0, 6.0, 11.0])
    found = _means_by_level(train, np.array([2.0, 5.0, 1.0, 3.0, 9.0]), residual)
    assert found.tolist() == [1.0, 1.0, 0.0, 0.0, 0.0]
