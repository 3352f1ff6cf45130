"""Columns that act only together: which searches find them, and what `interactions="pairs"` misses.

Each part prints one table, on which docs/searches.md rests:

    python benchmarks/interactions/pairs.py found     # planted pairs among 20 columns, and who finds both columns
    python benchmarks/interactions/pairs.py noise     # how often something is selected where there is nothing
    python benchmarks/interactions/pairs.py screen    # pairs among 500 columns that are not among the 1,000 asked about
    python benchmarks/interactions/pairs.py madelon   # which columns of Madelon are found

The last one reads Madelon from the directory in PPFS_DATA.
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable, Sequence
from math import comb
from typing import TypeVar

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import ppfs
from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket import FBED, BaseBlanketSelector
from ppfs.blanket._steps.pair_screen import most_promising_pairs
from ppfs.blanket._steps.pairs import MOST_PAIRS
from ppfs.datasets import load_dataset
from ppfs.independence import CrossFitPPI

Row = TypeVar("Row")

Sample = tuple[NDArray[np.float64], NDArray[np.float64]]

# From two columns and a generator to the target.
Law = Callable[[NDArray[np.float64], NDArray[np.float64], np.random.Generator], NDArray[np.float64]]


def _flipped(y: NDArray[np.bool_], share: float, rng: np.random.Generator) -> NDArray[np.float64]:
    return np.where(rng.random(y.size) < share, ~y, y).astype(np.float64)


LAWS: dict[str, Law] = {
    "exclusive-or, 10 % of the labels flipped": lambda a, b, rng: _flipped((a > 0) ^ (b > 0), 0.1, rng),
    "exclusive-or, 20 % flipped": lambda a, b, rng: _flipped((a > 0) ^ (b > 0), 0.2, rng),
    "exclusive-or of unequal parts, 10 % flipped": lambda a, b, rng: _flipped(
        (a > 0.8) ^ (b > -0.5), 0.1, rng
    ),
    "product, plus noise of half its spread": lambda a, b, rng: a * b + 0.5 * rng.normal(size=a.size),
    "ring: in or out of a circle, 10 % flipped": lambda a, b, rng: _flipped(a**2 + b**2 > 1.4, 0.1, rng),
}


def planted(law: str, seed: int, n_rows: int, n_columns: int) -> Sample:
    """Draw a table of normal columns, the first two of which make the target."""
    rng = np.random.default_rng([list(LAWS).index(law), seed])
    X = rng.normal(size=(n_rows, n_columns))
    return X, LAWS[law](X[:, 0], X[:, 1], rng)


def calibrated(y: NDArray[np.float64], seed: int, interactions: str | None = None) -> PPFS:
    """Return the calibrated search with a full tree."""
    return PPFS.calibrated(tree_for(y), interactions=interactions, random_state=seed)


def tree_for(y: NDArray[np.float64]) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """Return a tree for labels of two kinds, or for a numeric target."""
    return DecisionTreeClassifier() if np.unique(y).size == 2 else DecisionTreeRegressor()


SEARCHES: dict[str, Callable[[NDArray[np.float64], int], BaseBlanketSelector]] = {
    'PPFS.calibrated(tree, interactions="pairs")': lambda y, seed: calibrated(y, seed, "pairs"),
    "PPFS.calibrated(tree)": calibrated,
    "FBED(independence=CrossFitPPI(tree))": lambda y, seed: FBED(
        independence=CrossFitPPI(tree_for(y)), random_state=seed
    ),
}


def found(cases: Sequence[int] | None, n_tables: int) -> None:
    """Count the tables in which both columns are selected, and what is selected beside them."""
    print(
        f"{n_tables} tables of 500 rows and 20 columns, seeds 0 to {n_tables - 1}: both columns selected "
        "(others a table)\n"
    )
    print("| the target is | " + " | ".join(f"`{name}`" for name in SEARCHES) + " |")
    print("| --- |" + " --- |" * len(SEARCHES))
    for law in chosen(list(LAWS), cases):
        cells = []
        for search in SEARCHES.values():
            samples = [planted(law, seed, 500, 20) for seed in range(n_tables)]
            blankets = [
                set(search(y, seed).fit(X, y).blanket_.tolist()) for seed, (X, y) in enumerate(samples)
            ]
            n_both = sum({0, 1} <= blanket for blanket in blankets)
            n_others = sum(len(blanket - {0, 1}) for blanket in blankets)
            cells.append(f"{n_both} of {n_tables} ({n_others / n_tables:.2g})")
        print(f"| {law} | " + " | ".join(cells) + " |", flush=True)


# What the target is made of where the other columns are noise.
NULLS: dict[str, Callable[[NDArray[np.float64], np.random.Generator], NDArray[np.float64]]] = {
    "noise alone": lambda X, rng: (rng.random(len(X)) < 0.5).astype(np.float64),
    "one strong column": lambda X, rng: _flipped(X[:, 0] > 0, 0.1, rng),
    "a line of three columns": lambda X, rng: X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=len(X)),
}
N_TRUE = {"noise alone": 0, "one strong column": 1, "a line of three columns": 3}


def noise(cases: Sequence[int] | None, n_tables: int) -> None:
    """Count the tables in which a column of noise is selected."""
    print("Share of tables in which a column of noise is selected, seeds from 0\n")
    print("| the target is made of | rows x columns | tables | without pairs | with pairs |")
    print("| --- | --- | --- | --- | --- |")
    for null, n_rows, n_columns in chosen(
        [*((null, 100, 8) for null in NULLS), ("noise alone", 100, 60)], cases
    ):
        shares = []
        for interactions in (None, "pairs"):
            n_wrong = 0
            for seed in range(n_tables):
                rng = np.random.default_rng([list(NULLS).index(null), seed, n_columns])
                X = rng.normal(size=(n_rows, n_columns))
                y = NULLS[null](X, rng)
                selector = calibrated(y, seed, interactions).fit(X, y)
                n_wrong += bool((selector.blanket_ >= N_TRUE[null]).any())
            shares.append(f"{n_wrong / n_tables:.1%}")
        print(f"| {null} | {n_rows} x {n_columns} | {n_tables} | {shares[0]} | {shares[1]} |", flush=True)


def screen(cases: Sequence[int] | None, n_tables: int) -> None:
    """Count the tables in which the pair would pass if it were asked about, and those in which it is not."""
    n_columns = 500
    n_all = comb(n_columns, 2)
    print(
        f"{n_tables} tables of {n_columns} columns, seeds 0 to {n_tables - 1}: {n_all:,} pairs, of which "
        f"{MOST_PAIRS:,} are asked about\n"
    )
    print("| the target is | rows | the pair passes if asked | of these, not asked | not asked, of all |")
    print("| --- | --- | --- | --- | --- |")
    laws_and_rows = [(law, n_rows) for law in LAWS for n_rows in (100, 200, 500)]
    for law, n_rows in chosen(laws_and_rows, cases):
        passes, is_asked = np.zeros((2, n_tables), dtype=bool)
        for seed in range(n_tables):
            X, y = planted(law, seed, n_rows, n_columns)
            test = CrossFitPPI(tree_for(y), random_state=seed)
            pvalue = max(test.evaluate(X[:, :2], y, a, given=b).pvalue for a, b in ((0, 1), (1, 0)))
            passes[seed] = pvalue * n_all <= 0.05
            task = "classification" if np.unique(y).size == 2 else "regression"
            table = read_table(X, y, task=task, owner=test)
            is_asked[seed] = (0, 1) in most_promising_pairs(
                table, range(n_columns), frozenset(), MOST_PAIRS, None
            )
        print(
            f"| {law} | {n_rows} | {passes.sum()} of {n_tables} | {(passes & ~is_asked).sum()} | "
            f"{(~is_asked).sum()} |",
            flush=True,
        )


def madelon(_: Sequence[int] | None, __: int) -> None:
    """Print which columns of Madelon are found: 20 of its 500 are correlated with each other, the others are noise."""
    data = load_dataset("madelon")
    X = np.asarray(data.X, dtype=np.float64)
    correlations = np.abs(np.corrcoef(X, rowvar=False)) - np.eye(X.shape[1])
    linked = set(np.flatnonzero(correlations.max(axis=1) > 0.2).tolist())
    print(
        f"Madelon, {X.shape[0]} x {X.shape[1]}, random_state=0; {len(linked)} columns are correlated with another "
        "above 0.2\n"
    )
    print("| search | entered alone | entered in pairs | selected | of these linked | CPU seconds |")
    print("| --- | --- | --- | --- | --- | --- |")
    for interactions in (None, "pairs"):
        start = time.process_time()
        selector = PPFS.calibrated(DecisionTreeClassifier(), interactions=interactions, random_state=0).fit(
            X, data.y
        )
        seconds = time.process_time() - start
        by_phase = {
            phase: {
                step.feature
                for step in selector.trace_
                if step.phase == phase and step.decision == "candidate"
            }
            for phase in ("growth", "pairs")
        }
        selected = set(selector.blanket_.tolist())
        alone, together = by_phase["growth"], by_phase["pairs"] - by_phase["growth"]
        print(
            f"| `PPFS.calibrated(tree, interactions={interactions!r})` | {len(alone)} ({len(alone & linked)} linked) | "
            f"{len(together)} ({len(together & linked)} linked) | {len(selected)} | {len(selected & linked)} | "
            f"{seconds:.0f} |",
            flush=True,
        )


def chosen(rows: Sequence[Row], cases: Sequence[int] | None) -> list[Row]:
    """Return the rows of a table that are wanted."""
    return [row for number, row in enumerate(rows) if cases is None or number in cases]


PARTS = {"found": found, "noise": noise, "screen": screen, "madelon": madelon}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("part", choices=list(PARTS))
    parser.add_argument("--tables", type=int, default=20)
    parser.add_argument(
        "--cases", type=int, nargs="*", help="rows of the table to compute, from 0; default all"
    )
    arguments = parser.parse_args()
    print(
        f"ppfs {ppfs.__version__}, Python {platform.python_version()}, NumPy {np.__version__}, "
        f"scikit-learn {sklearn.__version__}"
    )
    PARTS[arguments.part](arguments.cases, arguments.tables)


if __name__ == "__main__":
    main()
