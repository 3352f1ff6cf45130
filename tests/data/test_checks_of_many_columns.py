"""Checks that decide by a few rows first, against checks of all rows of one column after the other."""

import numpy as np
import pytest
from reference.column_checks import copies, nearly_constant, runs_of_equal_length

from ppfs._data import Table
from ppfs._data.column_checks.blocks import some_rows
from ppfs._data.column_checks.check_columns import check_columns


def tables():
    """Yield tables of numbers, of few values, with copies, long runs and rare values among them."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(200, 40))
        X[:, 10:20] = rng.integers(0, 2 + seed, size=(200, 10))
        X[:, 20:23] = X[:, [0, 10, 11]]
        X[:, 23] = X[:, 1]
        X[199, 23] += 1e-9
        for place, length in enumerate((2, 4, 5, 8, 50)):
            X[:, 24 + place] = rng.permutation(200 // length).repeat(length)
        X[:, 29] = np.arange(200) // 8
        X[-1, 29] = -1
        for place, n_rare in enumerate((0, 1, 2, 3, 30)):
            X[:, 30 + place] = 7.0
            X[rng.permutation(200)[:n_rare], 30 + place] = 1.5
        yield X, rng.integers(0, 2, size=200)


@pytest.mark.parametrize(("X", "y"), list(tables()))
def test_the_same_columns_are_found(X, y):
    names = [f"c{column}" for column in range(X.shape[1])]
    found = {}
    for warning in check_columns(Table.of(X, y, names, "classification")):
        found.setdefault(warning.kind, []).append(names.index(warning.column))
    constant = nearly_constant(X, some_rows(200, 25))
    assert found["near-constant"] == constant
    assert found["repeated-unit"] == runs_of_equal_length(X)
    assert found["copy"] == [column for column in copies(X) if column not in constant]
