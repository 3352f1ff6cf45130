"""Rows in time: how often independent series are called dependent, with and without `time`, and what is still found.

Each part prints one table, on which docs/your-data.md and decision 280 rest:

    python benchmarks/targets/rows_in_time.py size      # two independent series; a third one as the condition
    python benchmarks/targets/rows_in_time.py power     # beside as many independent rows as the series is worth
    python benchmarks/targets/rows_in_time.py warning   # how often `fit` warns

Seeds are 0 to the number of tables minus one (`--tables`).
"""

from __future__ import annotations

import argparse
import platform
import warnings

import numpy as np
import sklearn
from numpy.typing import NDArray
from scipy.signal import lfilter

import ppfs
from ppfs import PPFS
from ppfs.exceptions import DependentRowsWarning
from ppfs.independence import CrossFitPPI

Floats = NDArray[np.float64]

# Rows, the coefficient of the target, and that of the columns; 1 is a random walk.
CELLS = [
    (200, 0.5, 0.5),
    (200, 0.9, 0.9),
    (200, 0.95, 0.95),
    (200, 0.9, 1.0),
    (500, 0.5, 0.95),
    (500, 0.9, 0.9),
    (1000, 0.5, 1.0),
    (1000, 0.95, 0.95),
    (2000, 0.9, 0.9),
    (2000, 0.95, 1.0),
]


def autoregressive(rng: np.random.Generator, n_rows: int, phi: float) -> Floats:
    """Draw a series with unit innovations; phi = 1 is a random walk."""
    noise = rng.normal(size=n_rows + 1000)
    if phi >= 1:
        return np.cumsum(noise[:n_rows])
    return np.asarray(lfilter([1.0], [1.0, -phi], noise)[1000:])


def size(n_tables: int) -> None:
    print("\n| rows | phi of y | phi of x | without time | with time | given a series |")
    print("| --- | --- | --- | --- | --- | --- |")
    test = CrossFitPPI("panel", random_state=0)
    for n_rows, of_target, of_columns in CELLS:
        calls = np.zeros(3)
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, n_rows])
            X = np.column_stack([autoregressive(rng, n_rows, of_columns) for _ in range(2)])
            y = autoregressive(rng, n_rows, of_target)
            calls += [
                test.evaluate(X, y, 0).pvalue < 0.05,
                test.evaluate(X, y, 0, time="index").pvalue < 0.05,
                test.evaluate(X, y, 0, given=[1], time="index").pvalue < 0.05,
            ]
        shares = " | ".join(f"{share:.3f}" for share in calls / n_tables)
        print(f"| {n_rows} | {of_target} | {of_columns} | {shares} |", flush=True)


def power(n_tables: int) -> None:
    """Compare with independent rows, as many as the product of the two series is worth."""
    print("\n| rows | phi | effective rows | effect | in time | independent rows |")
    print("| --- | --- | --- | --- | --- | --- |")
    test = CrossFitPPI("panel", random_state=0)
    for n_rows, phi in [(1000, 0.5), (1000, 0.8), (2000, 0.9)]:
        worth = round(n_rows * (1 - phi**2) / (1 + phi**2))
        effect = 3.0 / np.sqrt(worth)
        found = np.zeros(2)
        for seed in range(n_tables):
            rng = np.random.default_rng([seed, n_rows, 1])
            x, noise = autoregressive(rng, n_rows, phi), autoregressive(rng, n_rows, phi)
            found[0] += test.evaluate(x[:, None], effect * x + noise, 0, time="index").pvalue < 0.05
            x, noise = rng.normal(size=(2, worth))
            found[1] += test.evaluate(x[:, None], effect * x + noise, 0).pvalue < 0.05
        shares = " | ".join(f"{share:.2f}" for share in found / n_tables)
        print(f"| {n_rows} | {phi} | {worth} | {effect:.2f} | {shares} |", flush=True)


def warning(n_tables: int) -> None:
    def walk(phi: float):
        return lambda rng, n_rows: autoregressive(rng, n_rows, phi)

    rows = {
        "independent": lambda rng, n_rows: rng.normal(size=n_rows),
        "independent, t with 2 degrees of freedom": lambda rng, n_rows: rng.standard_t(2, size=n_rows),
        "sorted by the target": lambda rng, n_rows: np.sort(rng.normal(size=n_rows)),
        "sorted by a column": lambda rng, n_rows: (
            2 * np.sort(rng.normal(size=n_rows)) + rng.normal(size=n_rows)
        ),
        "sorted by four groups": lambda rng, n_rows: (
            2 * rng.normal(size=4)[np.arange(n_rows) * 4 // n_rows] + rng.normal(size=n_rows)
        ),
        "series, phi = .5": walk(0.5),
        "series, phi = .7": walk(0.7),
        "series, phi = .9": walk(0.9),
        "series, phi = .95": walk(0.95),
    }
    print("\n| rows | 200 | 500 | 2000 |")
    print("| --- | --- | --- | --- |")
    for name, make in rows.items():
        shares = []
        for n_rows in (200, 500, 2000):
            fired = 0
            for seed in range(n_tables):
                rng = np.random.default_rng([seed, n_rows, 2])
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    PPFS(n_splits=5, random_state=0).fit(rng.normal(size=(n_rows, 3)), make(rng, n_rows))
                fired += any(issubclass(one.category, DependentRowsWarning) for one in caught)
            shares.append(f"{fired / n_tables:.3f}")
        print(f"| {name} | {' | '.join(shares)} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=["size", "power", "warning"])
    parser.add_argument("--tables", type=int, default=200)
    given = parser.parse_args()
    print(f"ppfs {ppfs.__version__}, scikit-learn {sklearn.__version__}, Python {platform.python_version()}")
    print(
        f"{given.tables} tables per cell; one standard error of a share of .05 is {np.sqrt(0.0475 / given.tables):.3f}"
    )
    {"size": size, "power": power, "warning": warning}[given.part](given.tables)


if __name__ == "__main__":
    main()
