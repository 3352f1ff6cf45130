"""Columns of all kinds, made from their names: of numbers, few values, codes, with missing values."""

import numpy as np

from ppfs.independence._predictive.residuals.regressors import GivenColumn


def numbers(n_rows, n_values=None, n_missing=0, seed=0):
    """Return a column of numbers: all different, or of a few values."""
    rng = np.random.default_rng([n_rows, n_values or 0, n_missing, seed])
    column = rng.normal(size=n_rows)
    if n_values:
        column = 0.5 * np.sort(rng.permutation(np.arange(n_rows) % n_values)[np.argsort(column)]) ** 1.5
        column = rng.permutation(column)
    column[rng.permutation(n_rows)[:n_missing]] = np.nan
    return column


def codes(n_rows, n_levels, n_missing=0):
    """Return a column of codes, the first ones the most frequent."""
    rng = np.random.default_rng([n_rows, n_levels, n_missing, 9])
    column = np.minimum(np.arange(n_rows) % n_levels, np.arange(n_rows) % (n_levels + 3)).astype(float)
    column = rng.permutation(column)
    column[rng.permutation(n_rows)[:n_missing]] = np.nan
    return column


def given_columns(kinds, n_rows):
    """Make columns of kinds: n(umbers), b (three values), t(wo values), c(odes), m(issing)."""
    make = {
        "n": lambda seed: (numbers(n_rows, seed=seed), False),
        "b": lambda seed: (numbers(n_rows, 3, seed=seed), False),
        "t": lambda seed: (numbers(n_rows, 2, seed=seed), False),
        "c": lambda seed: (codes(n_rows, 4 + seed), True),
        "m": lambda seed: (numbers(n_rows, n_missing=3, seed=seed), False),
    }
    return [GivenColumn.of(*make[kind](seed)) for seed, kind in enumerate(kinds)]
