"""How often new rows raise a false alarm, and how soon they report a column whose effect has vanished.

    python benchmarks/verdicts/updates.py --tables 100

The fit has 500 rows: three true columns and 7 of noise. Without a change, 50 batches of 20 rows follow: an alarm is a
selected column that is called no longer needed or drifting, or another one that is called newly needed. With a change,
the third column has no effect in 20 batches of 50 rows.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from threadpoolctl import threadpool_limits

from ppfs import PPFS

EFFECTS = np.array([0.8, 0.6, 0.5, *[0.0] * 7])
ALARMS = {"no longer needed", "drifting", "newly needed"}


def draw(n: int, rng: np.random.Generator, effects: np.ndarray, task: str) -> tuple[np.ndarray, np.ndarray]:
    X = rng.normal(size=(n, len(effects)))
    if task == "regression":
        return X, X @ effects + rng.normal(size=n)
    return X, (2 * X @ effects + rng.logistic(size=n) > 0).astype(int)


def fitted(task: str, table: int, rng: np.random.Generator) -> PPFS:
    return PPFS.calibrated(random_state=table).fit(*draw(500, rng, EFFECTS, task))


def unchanged(task: str, table: int) -> bool:
    """Return whether 50 batches raised an alarm."""
    rng = np.random.default_rng([41, table])
    selector = fitted(task, table, rng)
    for _ in range(50):
        found = selector.update(*draw(20, rng, EFFECTS, task))
    return bool(ALARMS & set(found.statuses))


def vanished(task: str, table: int) -> float:
    """Return after how many rows the vanished column is reported; NaN where it never is, or was not selected."""
    rng = np.random.default_rng([43, table])
    selector = fitted(task, table, rng)
    after = np.where(np.arange(len(EFFECTS)) == 2, 0.0, EFFECTS)
    for _ in range(20):
        found = selector.update(*draw(50, rng, after, task))
        if found["x2"] in ("no longer needed", "drifting"):
            return found.n_new
    return float("nan")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tables", type=int, default=100, help="per task and case")
    parser.add_argument("--tasks", nargs="*", default=["regression", "classification"])
    args = parser.parse_args()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for task in args.tasks:
            rows = np.array([vanished(task, table) for table in range(args.tables)])
            seen = np.isfinite(rows)
            print(
                f"{task}, vanished, {args.tables} tables: reported within 1,000 rows in {seen.mean():.0%}, median "
                f"{np.median(rows[seen]) if seen.any() else float('nan'):.0f} rows",
                flush=True,
            )
            alarms = np.mean([unchanged(task, table) for table in range(args.tables)])
            print(f"{task}, unchanged, {args.tables} tables: alarm in 50 batches in {alarms:.1%}", flush=True)


if __name__ == "__main__":
    main()
