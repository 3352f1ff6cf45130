"""How often a selector selects nothing when no column is relevant: 200 columns of noise, a random target.

    python benchmarks/calibration/all_null.py --jobs 2

One line for each data set and selector goes to results/all_null.csv; what is there is not run again.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from problems import SEED, TASKS
from provenance import describe
from threadpoolctl import threadpool_limits

from ppfs import PPFS

RESULTS = Path(__file__).parent / "results" / "all_null.csv"
N_ROWS, N_COLUMNS, N_DATA_SETS = 200, 200, 100

SELECTORS: dict[str, Callable[[int], Any]] = {
    "PPFS()": lambda seed: PPFS(random_state=seed),
    'PPFS(correction="bh")': lambda seed: PPFS(correction="bh", random_state=seed),
    "PPFS.calibrated(None)": lambda seed: PPFS.calibrated(None, random_state=seed),
}


@dataclass(frozen=True)
class Row:
    """What a selector did with one data set."""

    task: str
    selector: str
    data_set: int
    n_selected: int
    seconds: float

    @property
    def key(self) -> tuple[str, str, int]:
        """The values that identify a row."""
        return self.task, self.selector, self.data_set


def draw_noise(task: str, data_set: int) -> tuple[np.ndarray, np.ndarray]:
    """Draw independent normal columns and a target that depends on none of them."""
    rng = np.random.default_rng([SEED, TASKS.index(task), data_set])
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = rng.normal(size=N_ROWS) if task == "regression" else rng.integers(2, size=N_ROWS)
    return X, y


def select(task: str, name: str, data_set: int) -> Row:
    """Let one selector loose on one data set."""
    X, y = draw_noise(task, data_set)
    start = time.perf_counter()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        n_selected = SELECTORS[name](data_set).fit(X, y).blanket_.size
    return Row(task, name, data_set, int(n_selected), round(time.perf_counter() - start, 3))


def run(path: Path, names: list[str], n_data_sets: int, n_jobs: int) -> None:
    """Run what is missing; each row is written as it comes."""
    known = {row.key for row in read(path)}
    wanted = [key for key in product(TASKS, names, range(n_data_sets)) if key not in known]
    pool = Parallel(n_jobs, return_as="generator_unordered", pre_dispatch=n_jobs, batch_size=1)
    for n_done, row in enumerate(pool(delayed(select)(*key) for key in wanted), start=1):
        append(row, path)
        print(f"[{n_done}/{len(wanted)}] {row.task:<16}{row.selector:<36}{row.n_selected:>4} selected "
              f"{row.seconds:8.2f} s", file=sys.stderr, flush=True)  # fmt: skip


def append(row: Row, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    is_new = not path.exists()
    with path.open("a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)], lineterminator="\n")
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(row))


def read(path: Path) -> list[Row]:
    """Return the rows of a file, of which there may be none yet."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [
            Row(
                row["task"],
                row["selector"],
                int(row["data_set"]),
                int(row["n_selected"]),
                float(row["seconds"]),
            )
            for row in csv.DictReader(file)
        ]


def table_of(rows: list[Row]) -> str:
    """Show how many data sets came out empty, and how much was selected from the others."""
    lines = [
        "| task | selector | data sets | nothing selected | selected, mean | selected, most | seconds per fit |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    frame = pd.DataFrame([asdict(row) for row in rows])
    for (task, selector), part in frame.groupby(["task", "selector"], sort=False):
        n_empty, counts = int((part["n_selected"] == 0).sum()), part["n_selected"]
        lines.append(
            f"| {task} | `{selector}` | {len(part)} | {n_empty} | {counts.mean():.1f} | {counts.max()} | "
            f"{part['seconds'].median():.2f} |"
        )
    return "\n".join(lines)


def runnable(names: list[str]) -> list[str]:
    """Leave out the preset where the library does not have it."""
    missing = [name for name in names if ".calibrated" in name and not hasattr(PPFS, "calibrated")]
    if missing:
        print(f"Left out, because PPFS has no preset 'calibrated': {', '.join(missing)}", file=sys.stderr)
    return [name for name in names if name not in missing]


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data-sets", type=int, default=N_DATA_SETS, help="of each task")
    parser.add_argument(
        "--selectors", nargs="+", choices=SELECTORS, default=list(SELECTORS), help="only these"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    options = parser.parse_args(arguments)
    print("\n".join(describe()), file=sys.stderr)
    run(options.results, runnable(options.selectors), options.data_sets, options.jobs)
    print(table_of(read(options.results)))


if __name__ == "__main__":
    main()
