"""What two worker processes gain, and what sending work to them costs: growth of 100 rows and 100,000 columns.

The gain is a ratio of seconds by the clock within one run, and means little on a busy machine. The overhead is a ratio
of CPU seconds, workers included, which other work changes less: what the workers and this process used, against one
thread.
"""

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from joblib import parallel_config
from recording import describe_machine, machine_lines, markdown_table, save, say

from ppfs import PPFS

RESULTS = Path(__file__).resolve().parent / "results" / "workers.json"
SEED = 0
N_ROWS, N_COLUMNS, N_SPLITS = 100, 100_000, 10
SPEEDUP, OVERHEAD = 1.7, 0.15

# No Wilcoxon p-value of ten splits is this small: the fit ends after growth.
UNREACHABLE = 1e-40


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


WAYS: dict[str, Callable[[], Any]] = {
    "one thread": one_thread,
    "two processes": two_processes,
    "two Dask workers": dask_workers,
    "two Ray workers": ray_workers,
}


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and all that it started."""
    processes = [psutil.Process(), *psutil.Process().children(recursive=True)]
    times = [process.cpu_times() for process in processes if process.is_running()]
    return sum(one.user + one.system for one in times)


def grow(X: Any, y: Any) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PPFS(n_splits=N_SPLITS, alpha=UNREACHABLE, random_state=SEED).fit(X, y)


def measure(way: str, X: Any, y: Any) -> dict[str, float]:
    say(f"{way} ...")
    with WAYS[way]():
        # Starts the workers, which import and load what was compiled before.
        grow(X[:, :2000], y)
        cpu, clock = cpu_seconds(), time.monotonic()
        grow(X, y)
        return {"clock": time.monotonic() - clock, "cpu": cpu_seconds() - cpu}


def table_of(ways: dict[str, dict[str, float]]) -> str:
    alone = ways["one thread"]
    rows = [
        [
            way,
            f"{found['clock']:.1f}",
            f"{alone['clock'] / found['clock']:.2f}",
            f"{found['cpu']:.1f}",
            f"{found['cpu'] / alone['cpu'] - 1:+.0%}",
        ]
        for way, found in ways.items()
    ]
    header = ["growth on", "by the clock, s", "times faster", "CPU s", "CPU against one thread"]
    return markdown_table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, default=N_COLUMNS)
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    arguments = parser.parse_args()
    generator = np.random.default_rng(SEED)
    X = np.asfortranarray(generator.standard_normal((N_ROWS, arguments.columns)))
    y = generator.integers(2, size=N_ROWS)
    machine = describe_machine()
    ways = {way: measure(way, X, y) for way in ["one thread", *arguments.ways] if way in WAYS}
    print(table_of(ways), "", *machine_lines(machine), sep="\n")
    if arguments.columns == N_COLUMNS:
        save({"machine": machine, "seed": SEED, "ways": ways}, RESULTS)


if __name__ == "__main__":
    main()
