"""Whether three genes among 20,000 are found, in 80 rows of three classes, and what counting costs.

    python benchmarks/calibration/genes.py --tables 3 --models logistic panel

Each class has one gene that is shifted by 3 standard deviations; a line a table is printed as it comes.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from provenance import describe
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

from ppfs import PPFS

SEED, N_ROWS, N_COLUMNS = 13, 80, 20_000
MODELS: dict[str, Callable[[], Any]] = {"logistic": LogisticRegression, "panel": lambda: "panel"}


def draw(table: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw 20,000 columns, the first three of them with a shift in one class each."""
    rng = np.random.default_rng([SEED, table])
    y = rng.permutation(np.arange(N_ROWS) % 3)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    X[:, :3] += 3.0 * (y[:, np.newaxis] == np.arange(3))
    return X, y


def main() -> None:
    """Search every table with every model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=3)
    parser.add_argument("--models", nargs="+", default=list(MODELS))
    options = parser.parse_args()
    print(
        "| model | table | genes found | false | CPU seconds | counted |\n| --- | --- | --- | --- | --- | --- |"
    )
    for model in options.models:
        for table in range(options.tables):
            X, y = draw(table)
            start = time.process_time()
            with warnings.catch_warnings(), threadpool_limits(1):
                warnings.simplefilter("ignore")
                selector = PPFS.calibrated(MODELS[model](), random_state=table).fit(X, y)
            seconds = time.process_time() - start
            found = selector.blanket_
            counted = next(
                (note for note in selector.trace_.notes if note.startswith("exact growth")), "nothing"
            )
            print(
                f"| {model} | {table} | {(found < 3).sum()} of 3 | {(found >= 3).sum()} | {seconds:.0f} | {counted} |",
                flush=True,
            )
    print(f"\n{describe()[0]} Seed {SEED}.")


if __name__ == "__main__":
    main()
