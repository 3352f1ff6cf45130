"""What two worker processes gain, and what sending work to them costs: growth of 100 rows and 100,000 columns.

The gain is a ratio of wall-clock seconds within one run, and means little on a busy machine. So the CPU seconds that
this process and the busiest worker used are given too, which is how long the run takes on idle cores if the two never
work at the same time. The overhead is a ratio of CPU seconds of all processes against one thread. Each is measured
with models that take long and with the quickest that there are, whose growth is over in seconds, and with the table in
memory and in a file that workers read themselves.
"""

import argparse
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from joblib import parallel_config
from recording import describe_machine, load, machine_lines, markdown_table, save, say, verdict
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS

RESULTS = Path(__file__).resolve().parent / "results" / "workers.json"
SEED = 0
N_ROWS, N_COLUMNS, N_SPLITS = 100, 100_000, 30
SPEEDUP, OVERHEAD = 1.7, 0.15

# No Wilcoxon p-value of thirty splits is this small: the fit ends after growth.
UNREACHABLE = 1e-40

#: The models, and whether the table is in a file.
WORK: dict[str, tuple[Any, bool]] = {
    "forests of 25 trees": (RandomForestClassifier(25), False),
    "forests of 25 trees, .npy": (RandomForestClassifier(25), True),
    "trees of depth 5": (DecisionTreeClassifier(max_depth=5), False),
    "full trees": (DecisionTreeClassifier(), False),
}


@contextmanager
def one_thread() -> Iterator[None]:
    with parallel_config(backend="sequential"):
        yield


@contextmanager
def two_processes() -> Iterator[None]:
    with parallel_config(backend="loky", n_jobs=2):
        yield


@contextmanager
def dask_workers() -> Iterator[None]:
    from dask.distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, memory_limit=0) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        yield


@contextmanager
def ray_workers() -> Iterator[None]:
    import ray
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False)
    register_ray()
    with parallel_config(backend="ray"):
        yield
    ray.shutdown()


@contextmanager
def two_threads() -> Iterator[None]:
    with parallel_config(backend="threading", n_jobs=2):
        yield


WAYS: dict[str, Callable[[], Any]] = {
    "one thread": one_thread,
    "two threads": two_threads,
    "two processes": two_processes,
    "two Dask workers": dask_workers,
    "two Ray workers": ray_workers,
}


def cpu_seconds() -> dict[int, float]:
    """Return the CPU seconds of this process, the first, and of all that it started."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    times = {process.pid: process.cpu_times() for process in processes if process.is_running()}
    return {pid: one.user + one.system for pid, one in times.items()}


def grow(model: Any, X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PPFS(model, n_splits=N_SPLITS, alpha=UNREACHABLE, random_state=SEED).fit(X, y)


def measure(work: str, way: str, X: Any, y: Any) -> dict[str, float]:
    say(f"{work}, {way} ...")
    model, is_file = WORK[work]
    with tempfile.TemporaryDirectory() as folder, WAYS[way]():
        table = X
        if is_file:
            table = Path(folder) / "X.npy"
            np.save(table, X)
        # Starts the workers, which import and load what was compiled before.
        grow(model, X[:, :2000], y)
        before, clock = cpu_seconds(), time.monotonic()
        grow(model, table, y)
        clock = time.monotonic() - clock
        own, *others = [seconds - before.get(pid, 0.0) for pid, seconds in cpu_seconds().items()]
        return {"clock": clock, "cpu": own + sum(others), "longest": own + max(others, default=0.0)}


def table_of(measured: dict[str, dict[str, dict[str, float]]]) -> str:
    rows = []
    for work, ways in measured.items():
        alone = ways["one thread"]
        for way, found in ways.items():
            # Earlier runs did not distinguish processes.
            longest = found.get("longest")
            times, more = alone.get("longest", 0.0) / (longest or np.inf), found["cpu"] / alone["cpu"] - 1
            is_judged = longest is not None and way != "one thread"
            by_clock = alone["clock"] / found["clock"]
            # Threads are all in this process: only the clock tells what they gain.
            gain = by_clock if way == "two threads" else times
            rows.append(
                [
                    work,
                    way,
                    f"{found['clock']:.1f}",
                    f"{by_clock:.2f}",
                    "-" if longest is None else f"{longest:.1f}",
                    "-" if longest is None else f"{times:.2f}",
                    verdict(gain >= SPEEDUP) if is_judged else "",
                    f"{found['cpu']:.1f}",
                    f"{more:+.0%}",
                    "" if way == "one thread" else verdict(more < OVERHEAD),
                ]
            )
    header = [
        "growth with",
        "on",
        "wall-clock, s",
        "times faster",
        "this process and the busiest worker, CPU s",
        "times faster",
        f"at least {SPEEDUP}",
        "CPU s",
        "CPU against one thread",
        f"under {OVERHEAD:.0%}",
    ]
    return markdown_table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, default=N_COLUMNS)
    parser.add_argument("--work", nargs="+", choices=WORK, default=list(WORK))
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    arguments = parser.parse_args()
    generator = np.random.default_rng(SEED)
    X = np.asfortranarray(generator.standard_normal((N_ROWS, arguments.columns)))
    y = generator.integers(2, size=N_ROWS)
    is_kept = arguments.columns == N_COLUMNS
    results: dict[str, Any] = load(RESULTS) if is_kept and RESULTS.is_file() else {"work": {}}
    results |= {"machine": describe_machine(), "seed": SEED}
    for work in arguments.work:
        # All ways in one run: what is compared is measured side by side.
        ways = dict.fromkeys(["one thread", *arguments.ways])
        results["work"][work] = {way: measure(work, way, X, y) for way in ways}
        if is_kept:
            save(results, RESULTS)
    print(table_of(results["work"]), "", *machine_lines(results["machine"]), sep="\n")


if __name__ == "__main__":
    main()
