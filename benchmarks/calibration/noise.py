"""How often something is selected from wide tables of pure noise: 5,000 columns, 40 or 80 rows.

    python benchmarks/calibration/noise.py --tables 30

One line per table goes to results/noise.csv; tables that are there are not run again. The summary shows in how many
tables something was selected (one in twenty is expected), with the t-test ("t") and with permutations ("exact").
"""

from __future__ import annotations

import argparse
import csv
import time
import warnings
from collections import defaultdict
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from provenance import describe
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from threadpoolctl import threadpool_limits

from ppfs import PPFS
from ppfs.independence import CrossFitPPI

RESULTS = Path(__file__).parent / "results" / "noise.csv"
FIELDS = ("model", "columns", "n_rows", "tail", "table", "n_selected", "seconds")
SEED, N_COLUMNS = 13, 5000

MODELS: dict[str, Callable[[], Any]] = {
    "panel": lambda: "panel",
    "tree": lambda: None,
    "logistic": LogisticRegression,
    "ridge": Ridge,
    "forest, 10 trees": lambda: RandomForestClassifier(10),
    "boosting, 10 rounds": lambda: HistGradientBoostingClassifier(max_iter=10),
}
COLUMNS = ("normal", "lognormal", "rare counts")
ROWS = (40, 80)

Key = tuple[str, str, int, str, int]


def draw(model: str, columns: str, n_rows: int, table: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw columns and a target that depends on none of them."""
    rng = np.random.default_rng([SEED, COLUMNS.index(columns), n_rows, table])
    shape = (n_rows, N_COLUMNS)
    X = rng.poisson(0.05, shape).astype(float) if columns == "rare counts" else rng.normal(size=shape)
    if columns == "lognormal":
        X = np.exp(X)
    y = rng.normal(size=n_rows) if model == "ridge" else rng.permutation(np.arange(n_rows) % 2)
    return X, y


def select(key: Key) -> tuple[int, float]:
    """Return how many columns were selected, and the seconds."""
    model, columns, n_rows, tail, table = key
    X, y = draw(model, columns, n_rows, table)
    task = "regression" if model == "ridge" else "classification"
    test = CrossFitPPI(MODELS[model](), exact_tail=tail == "exact", task=task)
    start = time.process_time()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        selector = PPFS(independence=test, correction="bh", random_state=table).fit(X, y)
    return int(selector.blanket_.size), time.process_time() - start


def read(path: Path) -> dict[Key, int]:
    """Return what is known."""
    if not path.exists():
        return {}
    with path.open() as file:
        rows = list(csv.DictReader(file))
    return {
        (row["model"], row["columns"], int(row["n_rows"]), row["tail"], int(row["table"])): int(
            row["n_selected"]
        )
        for row in rows
    }


def run(path: Path, keys: list[Key]) -> None:
    """Run what is missing; each row is written as it comes."""
    known = read(path)
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        for key in keys:
            if key not in known:
                n_selected, seconds = select(key)
                writer.writerow([*key, n_selected, f"{seconds:.2f}"])
                file.flush()


def table(path: Path = RESULTS) -> str:
    """Return in how many tables something was selected, of those that were tried."""
    counts: dict[tuple[str, str, str, int], list[int]] = defaultdict(list)
    for (model, columns, n_rows, tail, _), n_selected in read(path).items():
        counts[model, columns, tail, n_rows].append(n_selected > 0)
    out = [
        f"| model, columns, tail | {' | '.join(f'n = {n}' for n in ROWS)} |",
        "| --- |" + " --- |" * len(ROWS),
    ]
    for model, columns, tail in dict.fromkeys(key[:3] for key in sorted(counts)):
        cells = [counts[model, columns, tail, n] for n in ROWS]
        shown = [
            f"{sum(cell)} of {len(cell)}{' NO' if sum(cell) > 0.09 * max(100, len(cell)) else ''}"
            for cell in cells
        ]
        out.append(f"| {model}, {columns}, {tail} | {' | '.join(shown)} |")
    hits = [hit for cell in counts.values() for hit in cell]
    out += ["", f"Something was selected in {sum(hits)} of {len(hits)} tables."]
    return "\n".join(out)


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=30)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    parser.add_argument("--columns", nargs="+", default=list(COLUMNS))
    parser.add_argument("--tails", nargs="+", default=["exact"])
    parser.add_argument("--only-show", action="store_true")
    options = parser.parse_args()
    cells = list(product(options.models, options.columns, ROWS, options.tails))
    if not options.only_show:
        run(RESULTS, [(*cell, table) for table in range(options.tables) for cell in cells])
    print(table())
    print(f"\n{describe()[0]} Seed {SEED}.")


if __name__ == "__main__":
    main()
