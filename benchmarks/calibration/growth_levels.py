"""How often growth selects noise columns at levels of 5 %, 1 %, 0.1 % and 1e-4, by the t-test and by permutation.

    python benchmarks/calibration/growth_levels.py --tables 5

A cell is a number of rows, a kind of table and a model; a table has 2,000 columns that have nothing to do with the
target. One line per table goes to results/growth_levels.csv; what is there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from provenance import describe
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from ppfs import PPFS
from ppfs.independence import CrossFitPPI

RESULTS = Path(__file__).parent / "results" / "growth_levels.csv"
LEVELS = (0.05, 0.01, 0.001, 0.0001)
ROWS = (40, 80, 200, 1000)
KINDS = ("normal", "lognormal", "rare counts", "rare class", "three classes", "groups", "weights")
MODELS: dict[str, Callable[[], Any]] = {"logistic": LogisticRegression, "tree": lambda: None}
SEED, N_COLUMNS, GROUP = 13, 2000, 4
FIELDS = (
    "model",
    "kind",
    "n_rows",
    "table",
    *(f"{tail}_{level:g}" for tail in ("t", "exact") for level in LEVELS),
)

Key = tuple[str, str, int, int]


def draw(kind: str, n_rows: int, table: int) -> tuple[np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Draw columns, a target that depends on none of them, and what is passed to fit besides."""
    rng = np.random.default_rng([SEED, KINDS.index(kind), n_rows, table])
    shape = (n_rows, N_COLUMNS)
    X = rng.poisson(0.05, shape).astype(float) if kind == "rare counts" else rng.normal(size=shape)
    y = rng.permutation(np.arange(n_rows) % (3 if kind == "three classes" else 2))
    if kind == "lognormal":
        X = np.exp(X)
    if kind == "rare class":
        y = rng.permutation(np.arange(n_rows) < max(6, round(0.05 * n_rows))).astype(int)
    if kind == "weights":
        return X, y, {"sample_weight": rng.exponential(size=n_rows)}
    if kind == "groups":
        # Rows of a group are alike in the columns and equal in the target.
        groups = np.arange(n_rows) // GROUP
        X = 0.8 * rng.normal(size=(groups[-1] + 1, N_COLUMNS))[groups] + 0.6 * X
        y = rng.permutation(np.arange(groups[-1] + 1) % 2)[groups]
        return X, y, {"groups": groups}
    return X, y, {}


def called(key: Key) -> list[int]:
    """Return how many columns are called, by tail and level."""
    model, kind, n_rows, table = key
    X, y, params = draw(kind, n_rows, table)
    counts = []
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for tail, level in product(("t", "exact"), LEVELS):
            test = CrossFitPPI(MODELS[model](), exact_tail=tail == "exact", task="classification")
            # One question of shrink would be asked given thousands of columns: look at growth alone.
            counts.append(_n_candidates(test, X, y, params, level, table))
    return counts


def _n_candidates(
    test: CrossFitPPI, X: np.ndarray, y: np.ndarray, params: dict[str, np.ndarray], level: float, seed: int
) -> int:
    selector = _GrowthOnly(independence=test, alpha=level, random_state=seed).fit(X, y, **params)
    return int(selector.blanket_.size)


class _GrowthOnly(PPFS):
    """A search that ends with its candidates."""

    def _search(self, inquiry: Any) -> list[int]:
        from ppfs.blanket._steps.growth import grow_marginally

        return [x for x, _ in grow_marginally(inquiry, inquiry.candidates, None)]


def read(path: Path) -> dict[Key, list[int]]:
    """Return what is known."""
    if not path.exists():
        return {}
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {
        (row["model"], row["kind"], int(row["n_rows"]), int(row["table"])): [
            int(row[name]) for name in FIELDS[4:]
        ]
        for row in rows
    }


def run(path: Path, keys: list[Key]) -> None:
    """Run what is missing; each row is written as it comes."""
    known, is_new = read(path), not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        for key in keys:
            if key not in known:
                writer.writerow([*key, *called(key)])
                file.flush()


def table(path: Path = RESULTS) -> str:
    """Return the share of columns that were called, over the level: 1 is what is promised."""
    cells: dict[tuple[str, str, int], list[list[int]]] = defaultdict(list)
    for (model, kind, n_rows, _), counts in read(path).items():
        cells[model, kind, n_rows].append(counts)
    heads = " | ".join(f"{tail} {level:g}" for tail in ("t", "counted") for level in LEVELS)
    out = [
        f"| model, columns, rows | columns asked | {heads} |",
        "| --- |" + " --- |" * (1 + 2 * len(LEVELS)),
    ]
    places = {key: (list(MODELS).index(key[0]), KINDS.index(key[1]), key[2]) for key in cells}
    for model, kind, n_rows in sorted(cells, key=places.__getitem__):
        rows = cells[model, kind, n_rows]
        n = len(rows) * N_COLUMNS
        times = np.sum(rows, axis=0) / n / np.array([*LEVELS, *LEVELS])
        out.append(f"| {model}, {kind}, {n_rows} | {n} | {' | '.join(f'{one:.2f}' for one in times)} |")
    return "\n".join(out)


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=5)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--kinds", nargs="+", default=list(KINDS))
    parser.add_argument("--rows", nargs="+", type=int, default=list(ROWS))
    parser.add_argument("--only-show", action="store_true")
    options = parser.parse_args()
    if not options.only_show:
        cells = list(product(options.models, options.kinds, options.rows))
        run(RESULTS, [(*cell, table) for table in range(options.tables) for cell in cells])
    print(table())
    print(f"\n{describe()[0]} Seed {SEED}.")


if __name__ == "__main__":
    main()
