"""How well each search recovers known blankets, and at what cost.

    python benchmarks/networks/run.py                         # everything, 40 minutes or so on one core
    python benchmarks/networks/run.py --problems asia child --rows 500 --samples 1    # a quick look
    python benchmarks/networks/run.py --table                 # the tables of what is there

Means over all targets of a sample go to results/networks.csv, one row for each problem, number of
rows, sample, search and test. What is there is not run again, so an interrupted run continues.
"""

from __future__ import annotations

import argparse
import csv
import platform
import time
import warnings
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np
import scipy
import sklearn
from contenders import ALPHA, contenders
from problems import GRAPHS, NETWORKS, Problem, draw
from tables import print_tables

import ppfs

RESULTS = Path(__file__).parent / "results" / "networks.csv"

# A range that nothing in the library was tried out on.
FIRST_SEED = 1000


@dataclass(frozen=True)
class Row:
    """Means over the targets of one sample."""

    problem: str
    n_rows: int
    seed: int
    search: str
    test: str
    n_targets: int
    precision: float
    recall: float
    f1: float
    n_tests: float
    seconds: float

    @property
    def key(self) -> tuple[str, ...]:
        """The values that identify a row."""
        return self.problem, str(self.n_rows), str(self.seed), self.search, self.test


def score(found: frozenset[int], true: frozenset[int]) -> tuple[float, float, float]:
    """Return precision, recall and F1; finding nothing where nothing is counts as right."""
    common = len(found & true)
    precision = common / len(found) if found else float(not true)
    recall = common / len(true) if true else 1.0
    f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0.0
    return precision, recall, f1


def measure(problems: list[Problem], make) -> np.ndarray:
    """Return the mean of precision, recall, F1, number of tests and seconds."""
    rows = []
    for problem in problems:
        start = time.perf_counter()
        fitted = make().fit(problem.X, problem.y)
        seconds = time.perf_counter() - start
        found = frozenset(fitted.blanket_.tolist())
        rows.append((*score(found, problem.blanket), fitted.n_tests_, seconds))
    return np.mean(rows, axis=0)


def run(name: str, n_rows: int, seed: int, results: Path, searches: set[str] | None) -> None:
    """Run whatever is missing for one sample and append it to the results."""
    known = read_keys(results)
    problems: list[Problem] = []
    for (search, test), make in contenders(name).items():
        key = (name, str(n_rows), str(seed), search, test)
        if key in known or (searches and search not in searches):
            continue
        problems = problems or list(draw(name, n_rows, seed))
        precision, recall, f1, n_tests, seconds = measure(problems, make).round(5).tolist()
        row = Row(name, n_rows, seed, search, test, len(problems), precision, recall, f1, n_tests, seconds)
        append(row, results)
        print(f"{name:<11}{n_rows:>6}{seed:>6}  {search:<13}{test:<17} F1 {f1:.3f}  "
              f"{n_tests:9.1f} tests {seconds:8.3f} s", flush=True)  # fmt: skip


def append(row: Row, results: Path) -> None:
    results.parent.mkdir(exist_ok=True)
    is_new = not results.exists()
    with results.open("a", newline="") as file:
        writer = csv.DictWriter(file, [field.name for field in fields(Row)])
        if is_new:
            writer.writeheader()
        writer.writerow(asdict(row))


def read_keys(results: Path) -> set[tuple[str, ...]]:
    if not results.exists():
        return set()
    with results.open(newline="") as file:
        return {
            (row["problem"], row["n_rows"], row["seed"], row["search"], row["test"])
            for row in csv.DictReader(file)
        }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--problems", nargs="+", default=[*NETWORKS, *GRAPHS], help="networks and graphs")
    parser.add_argument("--rows", nargs="+", type=int, default=[500, 5000], help="sizes of the samples")
    parser.add_argument("--samples", type=int, default=5, help="samples of each")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED, help="seed of the first sample")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where the results are kept")
    parser.add_argument("--searches", nargs="+", help="only these")
    parser.add_argument("--table", action="store_true", help="print the tables of what is there, run nothing")
    arguments = parser.parse_args()
    if arguments.table:
        print_tables(arguments.results)
        return
    seeds = range(arguments.first_seed, arguments.first_seed + arguments.samples)
    print(
        f"ppfs {ppfs.__version__}, python {platform.python_version()}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}, scikit-learn {sklearn.__version__}; alpha {ALPHA}, "
        f"seeds {seeds[0]} to {seeds[-1]}"
    )
    warnings.simplefilter("ignore")
    searches = set(arguments.searches) if arguments.searches else None
    for name in arguments.problems:
        for n_rows in arguments.rows:
            for seed in seeds:
                run(name, n_rows, seed, arguments.results, searches)


if __name__ == "__main__":
    main()
