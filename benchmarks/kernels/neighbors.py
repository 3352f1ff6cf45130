"""Full trees on one column: by neighbors, by leaves, and ``np.argsort`` of the same matrix, side by side.

    python benchmarks/kernels/neighbors.py

CPU seconds on one thread, the least of five runs; sorting is not part of the two kernels' time. One fit is one column
and one split.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np
from kernel_problems import Problem, dense_problem, single_columns

from ppfs._engine import SortedColumns

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "scale"))
from recording import describe_machine, machine_lines, markdown_table

N_ENTRIES = 400_000
LEVELS = (2, 20, 200)


def least_seconds(action: Callable[[], object]) -> float:
    """Return the least CPU time of five runs after a first one."""
    action()
    timings = []
    for _ in range(5):
        start = time.process_time()
        action()
        timings.append(time.process_time() - start)
    return min(timings)


def row_of(name: str, problem: Problem, values: np.ndarray) -> list[str]:
    """Time one problem."""
    n_columns, n_splits = problem.columns.n_columns, problem.splits.n_splits

    by_neighbors = single_columns(problem)

    def by_leaves() -> object:
        with patch("ppfs._engine.one_column.prepared_columns.make_neighbors", return_value=None):
            return by_neighbors()

    new, old = (least_seconds(action) / n_columns / n_splits * 1e6 for action in (by_neighbors, by_leaves))
    argsort = least_seconds(lambda: np.argsort(values, axis=0)) / n_columns * 1e6
    size = f"{problem.columns.n_rows} x {n_columns}"
    numbers = f"{new:.2f}", f"{old:.1f}", f"{old / new:.1f}", f"{argsort:.1f}", f"{new / argsort:.2f}"
    return [name, size, str(n_splits), *numbers]


def main() -> None:
    """Print the table."""
    rows = []
    for n_splits in (10, 30):
        for n_rows in (500, 2000):
            values = np.random.default_rng(0).normal(size=(n_rows, N_ENTRIES // n_rows))
            for name, n_classes in (("two classes", 2), ("five classes", 5), ("numbers", 0)):
                problem = dense_problem(n_rows, N_ENTRIES // n_rows, n_splits, n_classes=n_classes)
                rows.append(row_of(name, problem, values))
    for levels in LEVELS:
        values = np.random.default_rng(0).integers(0, levels, size=(500, N_ENTRIES // 500)).astype(float)
        problem = replace(dense_problem(500, N_ENTRIES // 500, 10), columns=SortedColumns.from_dense(values))
        rows.append(row_of(f"two classes, {levels} values", problem, values))
    header = [
        "target",
        "rows x columns",
        "B",
        "us a fit",
        "by leaves, us",
        "times faster",
        "np.argsort, us a column",
        "a fit / np.argsort",
    ]
    print(markdown_table(header, rows))
    print("\n".join(machine_lines(describe_machine())))


if __name__ == "__main__":
    main()
