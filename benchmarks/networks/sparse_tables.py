"""How often the tests of categorical columns reject a true null when tables are sparse.

    python benchmarks/networks/sparse_tables.py

In every stratum x and the target are drawn independently, with probabilities from a Dirichlet distribution: the
smaller its concentration, the more uneven the levels. Prints the share of p-values of at most 1 %.
"""

from __future__ import annotations

import argparse

import numpy as np

from ppfs._data.table import Table
from ppfs.independence import ChiSquared, GSquared

LEVEL = 0.01
# Rows, levels of x and of the target, strata.
SHAPES = ((500, 2, 4), (500, 3, 8), (5000, 3, 12), (5000, 4, 48), (5000, 4, 150), (5000, 4, 300))
CONCENTRATIONS = (3.0, 1.0, 0.5, 0.1)
ANSWER_ALWAYS = {"min_rows_per_cell": 0, "max_levels": 1000}
TESTS = {
    "GSquared": GSquared(**ANSWER_ALWAYS),
    "ChiSquared": ChiSquared(**ANSWER_ALWAYS),
    "ChiSquared, exact moments": ChiSquared(exact_moments=True, **ANSWER_ALWAYS),
}


def sample(
    rng: np.random.Generator, n_rows: int, n_levels: int, n_strata: int, concentration: float
) -> Table:
    """Draw x, the stratum and the target; x and target are independent within each stratum."""
    stratum = rng.choice(n_strata, size=n_rows, p=rng.dirichlet(np.ones(n_strata)))

    def within_strata() -> np.ndarray:
        shares = rng.dirichlet(np.full(n_levels, concentration), size=n_strata).cumsum(axis=1)
        return np.minimum((rng.random(n_rows)[:, None] > shares[stratum]).sum(axis=1), n_levels - 1)

    X = np.column_stack([within_strata(), stratum]).astype(float)
    return Table.of(X, within_strata(), ["x", "stratum"], "classification")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeats", type=int, default=1000, help="tables of each kind")
    repeats = parser.parse_args().repeats
    rng = np.random.default_rng(20)
    print(f"| rows | table | rows per cell | concentration | {' | '.join(TESTS)} |")
    print("| " + "--- | " * (4 + len(TESTS)))
    for n_rows, n_levels, n_strata in SHAPES:
        for concentration in CONCENTRATIONS:
            rejected = dict.fromkeys(TESTS, 0)
            for _ in range(repeats):
                table = sample(rng, n_rows, n_levels, n_strata, concentration)
                for name, test in TESTS.items():
                    rejected[name] += test.bind(table).query(0, table.target, (1,)).is_dependent(LEVEL)
            cells = n_levels * n_levels * n_strata
            shares = " | ".join(f"{100 * count / repeats:.1f} %" for count in rejected.values())
            shape = f"{n_levels} x {n_levels} x {n_strata}"
            print(f"| {n_rows} | {shape} | {n_rows / cells:.1f} | {concentration:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
