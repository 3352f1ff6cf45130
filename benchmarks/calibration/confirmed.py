"""False columns among the selected and among the confirmed: 10 true and 190 false columns.

    python benchmarks/calibration/confirmed.py --tables 100

Growth is not corrected, so that many false columns are selected and the rows aside have something to sort out. False
columns are noise, half of them correlated among each other. (A noisy copy of a true column that was not selected would
not be false: given those that were, the target depends on it.) One line per table goes to results/confirmed.csv; tables
that are there are not run again.
"""

from __future__ import annotations

import argparse
import csv
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from provenance import describe
from sklearn.linear_model import Ridge
from threadpoolctl import threadpool_limits

from ppfs import PPFS

RESULTS = Path(__file__).parent / "results" / "confirmed.csv"
FIELDS = ("model", "table", "true_selected", "false_selected", "true_confirmed", "false_confirmed")
SEED, N_ROWS, N_TRUE, N_FALSE, SHARE = 13, 400, 10, 190, 0.4
MODELS = {"ridge": Ridge, "panel": lambda: "panel"}


def draw(table: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw ten causes, noise, and the target."""
    rng = np.random.default_rng([SEED, table])
    causes = rng.normal(size=(N_ROWS, N_TRUE))
    y = causes.sum(axis=1) / 2 + rng.normal(size=N_ROWS)
    noise = rng.normal(size=(N_ROWS, N_FALSE))
    shared = rng.normal(size=(N_ROWS, 5))[:, np.arange(N_FALSE // 2) % 5]
    noise[:, : N_FALSE // 2] = 0.6 * shared + 0.8 * noise[:, : N_FALSE // 2]
    return np.column_stack([causes, noise]), y


def select(model: str, table: int) -> tuple[int, int, int, int]:
    """Return how many true and false columns were selected, and confirmed."""
    X, y = draw(table)
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        selector = PPFS.calibrated(MODELS[model](), correction=None, confirm=SHARE, random_state=table).fit(
            X, y
        )
    found = selector.confirmed_
    columns = np.array([column for (column,) in found.columns], dtype=int)
    is_true = columns < N_TRUE
    kept = found.is_confirmed
    return (
        int(is_true.sum()),
        int((~is_true).sum()),
        int((is_true & kept).sum()),
        int((~is_true & kept).sum()),
    )


def read(path: Path) -> dict[tuple[str, int], tuple[int, ...]]:
    """Return what is known."""
    if not path.exists():
        return {}
    with path.open() as file:
        return {
            (row["model"], int(row["table"])): tuple(int(row[name]) for name in FIELDS[2:])
            for row in csv.DictReader(file)
        }


def run(path: Path, models: list[str], n_tables: int) -> None:
    """Run what is missing; each row is written as it comes."""
    known, is_new = read(path), not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.writer(file)
        if is_new:
            writer.writerow(FIELDS)
        for model, table in ((model, table) for model in models for table in range(n_tables)):
            if (model, table) not in known:
                writer.writerow([model, table, *select(model, table)])
                file.flush()


def table(path: Path = RESULTS) -> str:
    """Return the share of false columns, mean over tables, and how many true ones were found."""
    by_model = defaultdict(list)
    for (model, _), counts in read(path).items():
        by_model[model].append(counts)
    out = [
        "| model | tables | false among selected | false among confirmed | true selected | true confirmed |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for model, rows in by_model.items():
        counts = np.array(rows, dtype=float)
        shares = [
            (counts[:, false] / np.maximum(1, counts[:, true] + counts[:, false])).mean()
            for true, false in ((0, 1), (2, 3))
        ]
        missed = " NO" if shares[1] > 0.05 else ""
        out.append(
            f"| {model} | {len(rows)} | {shares[0]:.1%} | {shares[1]:.1%}{missed} "
            f"| {counts[:, 0].mean():.1f} | {counts[:, 2].mean():.1f} |"
        )
    return "\n".join(out)


def main() -> None:
    """Run what is missing and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    options = parser.parse_args()
    run(RESULTS, options.models, options.tables)
    print(table())
    print(f"\n{describe()[0]} Seed {SEED}.")


if __name__ == "__main__":
    main()
