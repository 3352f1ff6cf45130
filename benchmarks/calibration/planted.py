"""What `PPFS.calibrated()` finds in planted problems: three effects among 20 columns, and three genes among 20,000.

python benchmarks/calibration/planted.py effects --tables 10
python benchmarks/calibration/planted.py genes --tables 3
"""

from __future__ import annotations

import argparse
import time

import numpy as np
from provenance import describe

from ppfs import PPFS


def effects(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw 200 rows of 20 normal columns, of which the first three act along lines of the same slope."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(200, 20))
    return X, 0.5 * X[:, :3].sum(axis=1) + rng.normal(size=200)


def genes(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw 80 rows of 20,000 normal columns and three classes, each of which shifts one column by 3 deviations."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(80, 20_000)), rng.integers(0, 3, size=80)
    X[np.arange(80), y] += 3.0
    return X, y


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["effects", "genes"])
    parser.add_argument("--tables", type=int, default=3)
    arguments = parser.parse_args()
    print("| table | found of the first three | others | seconds (CPU) |\n| --- | --- | --- | --- |")
    total = 0
    for seed in range(arguments.tables):
        X, y = effects(seed) if arguments.what == "effects" else genes(seed)
        began = time.process_time()
        selector = PPFS.calibrated(random_state=0).fit(X, y)
        seconds = time.process_time() - began
        n_found, n_all = int(selector.support_[:3].sum()), int(selector.support_.sum())
        total += n_found
        print(f"| {seed} | {n_found} | {n_all - n_found} | {seconds:.1f} |", flush=True)
    print(f"\n{total} of {3 * arguments.tables} found. {' '.join(describe()[:1])}")


if __name__ == "__main__":
    main()
