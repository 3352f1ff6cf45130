"""Time searches with classical tests, now and in an older checkout, in one run.

    python benchmarks/classical/speed.py --before <older checkout>/src
    python benchmarks/classical/speed.py --before <older checkout>/src --columns 2000   # quicker

Both take turns in processes of their own. Times are processor times, the least of several fits in warm processes, so
that other work on the machine counts little. Needs the benchmark data (PPFS_DATA) for the Alarm network.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
NOW = HERE.parents[2] / "src"
TARGETS = (0, 4, 9, 14, 19, 24)


def network_fits(n_repeats: int) -> dict[str, float]:
    """Milliseconds a target of IAMB with G-squared on 5,000 rows and 26 columns of categories."""
    from ppfs.blanket import IAMB
    from ppfs.datasets import read_network
    from ppfs.independence import GSquared

    folder = Path(os.environ.get("PPFS_DATA", NOW.parents[1] / "shared" / "data"))
    frame = read_network(folder / "networks" / "alarm.bif.gz").sample(5000, random_state=0).iloc[:, :27]
    codes = frame.apply(lambda column: column.cat.codes)
    texts = frame.astype(str)
    times: dict[str, list[float]] = {"codes": [], "categories": [], "text": []}
    for number in TARGETS:
        name = frame.columns[number]
        inputs = {"codes": codes.to_numpy(), "categories": frame, "text": texts}
        for kind, table in inputs.items():
            if kind == "codes":
                X, y = np.delete(table, number, axis=1), table[:, number]
            else:
                X, y = table.drop(columns=name), table[name]
            fit = _fit(lambda: IAMB(independence=GSquared(), alpha=0.01), X, y)
            times[kind].append(_least(fit, n_repeats))
    return {f"IAMB, G-squared, {kind}, ms a target": 1e3 * float(np.mean(t)) for kind, t in times.items()}


def wide_fits(n_columns: int) -> dict[str, float]:
    """Seconds of FBED and IAMBFDR with the likelihood ratio on 80 rows of noise and three classes."""
    from ppfs.blanket import FBED, IAMBFDR
    from ppfs.independence import LikelihoodRatio

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    X = rng.normal(size=(80, n_columns))
    X[:, 0] += y
    X[:, 1] += 2 * (y == 1)
    found = {}
    for search in (FBED, IAMBFDR):
        search(independence=LikelihoodRatio()).fit(X[:, :20], y)
        fit = _fit(lambda search=search: search(independence=LikelihoodRatio()), X, y)
        found[f"{search.__name__}, likelihood ratio, 80 x {n_columns}, s"] = _least(fit, 1)
    return found


def _fit(make: Callable[[], Any], X: Any, y: Any) -> Callable[[], Any]:
    # A new search each time: one that was fitted before remembers its answers.
    return lambda: make().fit(X, y)


def _least(fit: Callable[[], Any], n_repeats: int) -> float:
    times = []
    for _ in range(n_repeats):
        start = time.process_time()
        fit()
        times.append(time.process_time() - start)
    return min(times)


def measured(source: Path, columns: int, repeats: int) -> dict[str, float]:
    """Run this file as a worker on one version of the package."""
    command = [sys.executable, str(HERE), "--worker", "--columns", str(columns), "--repeats", str(repeats)]
    environment = {
        **os.environ,
        "PYTHONPATH": str(source),
        "OMP_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }
    finished = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    times: dict[str, float] = json.loads(finished.stdout)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="the src folder of an older checkout")
    parser.add_argument("--columns", type=int, default=20_000, help="columns of the wide table")
    parser.add_argument("--repeats", type=int, default=20, help="fits of each target")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.worker:
        print(json.dumps({**network_fits(wanted.repeats), **wide_fits(wanted.columns)}))
        return
    if wanted.before is None:
        parser.error("say what to compare with: --before <older checkout>/src")
    before, now = (measured(path, wanted.columns, wanted.repeats) for path in (wanted.before, NOW))
    print(f"| {'':<48} | {'before':>8} | {'now':>8} | {'times faster':>12} |")
    print(f"| {'-' * 48} | {'-' * 7}: | {'-' * 7}: | {'-' * 11}: |")
    for name, then in before.items():
        print(f"| {name:<48} | {then:8.2f} | {now[name]:8.2f} | {then / now[name]:12.1f} |")
    codes, categories = (now[f"IAMB, G-squared, {kind}, ms a target"] for kind in ("codes", "categories"))
    print(f"\nA frame of categories takes {categories / codes:.2f} times as long as its codes.")


if __name__ == "__main__":
    main()
