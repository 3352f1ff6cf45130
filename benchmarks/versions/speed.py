"""Time fits and kernels in two versions of the package, in one run.

    python benchmarks/versions/speed.py --before <older checkout>/src
    python benchmarks/versions/speed.py --before <older checkout>/src --only iamb kernels

Each version has its own process. They take turns, case by case and fit by fit, after a first fit that is not
counted. Times are processor times of one thread, the least of several, so that other work on the machine counts little.
Prints one table; docs/speed.md shows it. Needs the benchmark data (PPFS_DATA).
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve()
NOW = HERE.parents[2] / "src"
KERNELS = HERE.parents[1] / "kernels"

# Of the Alarm network: targets with small and large blankets.
TARGETS = (0, 4, 9, 14, 19, 24)

# Two runs of the same version differ by up to a tenth.
_AS_FAST = 0.9

Run = Callable[[], Any]


@dataclass(frozen=True)
class Case:
    """Something to time.

    Attributes
    ----------
    prepare : callable
        Reads or draws the data, and returns what is timed.

    n_turns : int
        How often each version has its turn.

    n_parts : int, default=1
        How often one run repeats it; the table shows the time of one.
    """

    prepare: Callable[[], Run]
    n_turns: int
    n_parts: int = 1


def by_t_test(test: Any) -> Any:
    """Return a test without counted p-values, which older versions do not have."""
    return test.set_params(exact_tail=False) if "exact_tail" in test.get_params(deep=False) else test


def three_class_logistic() -> Run:
    """Grow from 500 columns with logistic regression of three classes."""
    from sklearn.linear_model import LogisticRegression

    from ppfs import PPFS
    from ppfs.independence import CrossFitPPI

    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 500)), rng.integers(0, 3, 200)
    test = by_t_test(CrossFitPPI(LogisticRegression()))
    return lambda: PPFS(independence=test, correction="bh", random_state=0).fit(X, y)


def wide(search: str) -> Run:
    """Run a search with the likelihood ratio on 80 rows, 20,000 columns, nearly all of noise, and three classes."""
    from ppfs import blanket
    from ppfs.independence import LikelihoodRatio

    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    X = rng.normal(size=(80, 20_000))
    X[:, 0] += y
    X[:, 1] += 2 * (y == 1)
    make = getattr(blanket, search)
    make(independence=LikelihoodRatio()).fit(X[:, :20], y)
    return lambda: make(independence=LikelihoodRatio()).fit(X, y)


def uncorrected_arcene() -> Run:
    """Run growth and shrink with many candidates, found by the t-test; members are compared with permuted columns.

    Given other columns, versions test by other statistics otherwise.
    """
    from sklearn.tree import DecisionTreeClassifier

    from ppfs import PPFS
    from ppfs.datasets import load_dataset
    from ppfs.independence import CrossFitPPI

    data = load_dataset("arcene", download=False)
    test = by_t_test(CrossFitPPI(DecisionTreeClassifier(random_state=0), knockoff="permutation"))
    return lambda: PPFS(independence=test, random_state=0).fit(data.X, data.y)


def iamb(kind: str) -> Run:
    """Run IAMB with G-squared on 5,000 rows and 26 columns of categories: six targets of the Alarm network."""
    from ppfs.blanket import IAMB
    from ppfs.datasets import read_network
    from ppfs.independence import GSquared

    folder = Path(os.environ["PPFS_DATA"])
    frame = read_network(folder / "networks" / "alarm.bif.gz").sample(5000, random_state=0).iloc[:, :27]
    codes = frame.apply(lambda column: column.cat.codes).to_numpy()
    text = frame.astype(str)
    tables = []
    for number in TARGETS:
        name = frame.columns[number]
        if kind == "codes":
            tables.append((np.delete(codes, number, axis=1), codes[:, number]))
        else:
            table = frame if kind == "categories" else text
            tables.append((table.drop(columns=name), table[name]))
    return lambda: [IAMB(independence=GSquared(), alpha=0.01).fit(X, y) for X, y in tables]


def paper(name: str, n_splits: int) -> Run:
    """Run the paper's search on a data set that is also compared with PyImpetus."""
    from sklearn.tree import DecisionTreeClassifier

    from ppfs import PPFS
    from ppfs.datasets import load_dataset

    data = load_dataset(name, download=False)
    y = np.unique(data.y, return_inverse=True)[1]
    tree = DecisionTreeClassifier(random_state=0)
    return lambda: PPFS(tree, n_splits=n_splits, stratify=False, random_state=0).fit(data.X, y)


def kernel_cases() -> dict[str, Callable[[], Run]]:
    """Return the cases of `benchmarks/kernels`, whose functions read the engine only when they are called."""
    sys.path.insert(0, str(KERNELS))
    from kernel_problems import KERNEL_CASES

    return KERNEL_CASES


CASES: dict[str, Case] = {
    "logistic: three classes, growth of 200 x 500": Case(three_class_logistic, 5),
    "wide: FBED, likelihood ratio, 80 x 20,000, three classes": Case(lambda: wide("FBED"), 3),
    "wide: IAMBFDR, likelihood ratio, 80 x 20,000, three classes": Case(lambda: wide("IAMBFDR"), 3),
    "arcene: cross-fitted tree, t-test, permuted columns": Case(uncorrected_arcene, 3),
    "iamb: G-squared, codes, a target": Case(lambda: iamb("codes"), 10, n_parts=len(TARGETS)),
    "iamb: G-squared, categories, a target": Case(lambda: iamb("categories"), 10, n_parts=len(TARGETS)),
    "iamb: G-squared, text, a target": Case(lambda: iamb("text"), 3, n_parts=len(TARGETS)),
    "peers: ionosphere, B = 30": Case(lambda: paper("ionosphere", 30), 10),
    "peers: sonar, B = 10": Case(lambda: paper("sonar", 10), 10),
    "peers: wdbc, B = 30": Case(lambda: paper("wdbc", 30), 10),
    "peers: madelon, B = 5": Case(lambda: paper("madelon", 5), 5),
    "peers: arcene, B = 10": Case(lambda: paper("arcene", 10), 3),
    "peers: dexter, B = 5": Case(lambda: paper("dexter", 5), 3),
    "peers: dorothea, B = 5": Case(lambda: paper("dorothea", 5), 2),
    **{f"kernels: {name}": Case(prepare, 10) for name, prepare in kernel_cases().items()},
}


class Worker:
    """One version of the package in its own process, which times the cases it receives."""

    def __init__(self, source: Path, cache: str) -> None:
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join([str(source), *filter(None, [os.environ.get("PYTHONPATH")])]),
            "NUMBA_CACHE_DIR": cache,
            "OMP_NUM_THREADS": "1",
            "OPENBLAS_NUM_THREADS": "1",
        }
        self._process = subprocess.Popen(
            [sys.executable, str(HERE), "--worker"],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def seconds(self, case: str) -> float:
        """Prepare a case if it is a new one, or run it once more and return the processor time."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(case) + "\n")
        self._process.stdin.flush()
        answer = self._process.stdout.readline()
        if not answer:
            raise SystemExit(f"A worker ended in {case!r}.")
        return float(json.loads(answer))

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def work() -> None:
    """Answer the requests of `Worker` with seconds; the first one about a case prepares it and fits once."""
    answers, sys.stdout = sys.stdout, sys.stderr
    current, run = "", None
    for line in sys.stdin:
        case = json.loads(line)
        if case != current:
            run = None  # What was read before gives way first.
            current, run = case, CASES[case].prepare()
            if CASES[case].n_turns > 1:
                run()
        assert run is not None
        start = time.process_time()
        run()
        print(json.dumps(time.process_time() - start), file=answers, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--before", type=Path, help="the src folder of an older checkout")
    parser.add_argument("--only", nargs="+", help="cases whose names begin so, such as iamb or kernels")
    parser.add_argument(
        "--cache", help="where compiled kernels stay for the next run; a folder for each version"
    )
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    wanted = parser.parse_args()
    if wanted.worker:
        work()
        return
    if wanted.before is None:
        parser.error("say what to compare with: --before <older checkout>/src")
    chosen = [name for name in CASES if wanted.only is None or name.startswith(tuple(wanted.only))]
    print(f"Python {platform.python_version()}, NumPy {np.__version__}; processor time of one thread\n")
    print("| case | before | now | times faster | no slower |")
    print("| --- | ---: | ---: | ---: | --- |")
    now: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as passing:
        workers = [
            Worker(source, str(Path(wanted.cache or passing) / str(number)))
            for number, source in enumerate((wanted.before, NOW))
        ]
        for name in chosen:
            case = CASES[name]
            turns = [[worker.seconds(name) for worker in workers] for _ in range(case.n_turns)]
            before, now[name] = (min(times) / case.n_parts for times in zip(*turns, strict=True))
            ratio = before / now[name]
            is_met = "yes" if ratio >= _AS_FAST else "NO"
            print(
                f"| {name} | {_time(before)} | {_time(now[name])} | {ratio:.2f} | {is_met} |",
                flush=True,
            )
        for worker in workers:
            worker.close()
    codes, categories = (now.get(f"iamb: G-squared, {kind}, a target") for kind in ("codes", "categories"))
    if codes and categories:
        print(f"\nA frame of categories takes {categories / codes:.2f} times as long as its codes.")


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 1.0 else f"{1e3 * seconds:.2f} ms"


if __name__ == "__main__":
    main()
