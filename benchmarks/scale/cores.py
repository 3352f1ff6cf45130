"""What more threads gain, and how much of a fit only one thread works on.

python benchmarks/scale/cores.py                                # one and two threads, all fits; about three minutes
python benchmarks/scale/cores.py --threads 1 2 4 8 16
python benchmarks/scale/cores.py --fits tree forest --size 0.1  # tables with a tenth of the columns, or of the rows

It needs what ppfs needs, and no other library. The table goes to stdout, followed by one line of JSON; progress, with
the seconds of every fit, to stderr. Results of full size are kept fit by fit.

Tasks run on threads of their own, or in copies of the process, so what the main thread computes is serial, or done
while they run. Its share is the CPU time of the main thread over that of all: it does not depend on how busy the
machine is, as seconds and speed-up do. With one thread everything runs on the main thread.

On Linux another process looks a thousand times a second at how many threads could run: a thread that waits for the
interpreter's lock, or for a task that others work on, could not. "Alone" is the share of the CPU time in which no more
than one could. Where so many of CPU seconds pass with so many threads that could run, the same work takes so long on as
many cores: from this follows what sixteen cores would give. Both hold for an idle machine; on a busy one a thread may
be stopped while it holds the lock, so that others seem to wait longer than they would.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from recording import REPOSITORY, describe_machine, load, machine_lines, markdown_table, save, say, verdict
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

from ppfs import PPFS

PLOT = REPOSITORY / "docs" / "images" / "cores.png"
WATCH = Path(__file__).resolve().with_name("watch.py")
SEED = 0
MOST_SERIAL = 0.04
N_CORES = 16


class Fit(NamedTuple):
    """A selector and the size of its table; `grows` says which side --size changes."""

    label: str
    make: Callable[..., PPFS]
    n_rows: int
    n_columns: int
    grows: str = "columns"


FITS = {
    "panel-wide": Fit("PPFS.calibrated()", PPFS.calibrated, 500, 5_000),
    "panel-tall": Fit("PPFS.calibrated()", PPFS.calibrated, 20_000, 40, "rows"),
    "tree": Fit("PPFS()", PPFS, 500, 20_000),
    "forest": Fit(
        "PPFS(RandomForestClassifier(100), n_splits=10)",
        lambda **parameters: PPFS(RandomForestClassifier(100), n_splits=10, **parameters),
        300,
        2_000,
    ),
    "logistic": Fit(
        "PPFS.calibrated(LogisticRegression())",
        lambda **parameters: PPFS.calibrated(LogisticRegression(), **parameters),
        500,
        20_000,
    ),
}


@dataclass(frozen=True)
class Measured:
    """The times of one fit, and what it selected."""

    n_threads: int
    seconds: float
    cpu_seconds: float
    serial_seconds: float
    by_runnable: dict[int, float]
    selected: list[int]
    n_fits: int


def results_path(n_cores: int) -> Path:
    """Return where the results of a machine with this many cores are kept."""
    return Path(__file__).resolve().parent / "results" / f"cores-{n_cores}.json"


def shape_of(fit: Fit, size: float) -> tuple[int, int]:
    """Return the numbers of rows and columns of a table of this size."""
    n_rows = max(60, round(fit.n_rows * (size if fit.grows == "rows" else 1.0)))
    return n_rows, max(5, round(fit.n_columns * (size if fit.grows == "columns" else 1.0)))


def problem(n_rows: int, n_columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return columns of noise and two classes that depend on the first two."""
    generator = np.random.default_rng(SEED)
    X = generator.standard_normal((n_rows, n_columns))
    return X, (X[:, 0] + X[:, 1] + generator.standard_normal(n_rows) > 0).astype(int)


def measure(fit: Fit, X: np.ndarray, y: np.ndarray, n_threads: int) -> Measured:
    """Fit once and take the times: of the clock, of the process with its copies, and of the main thread."""
    selector = fit.make(random_state=SEED, n_jobs=n_threads)
    by_runnable: dict[int, float] = {}
    with watched(by_runnable):
        clock, process, thread = time.perf_counter(), cpu_seconds(), time.thread_time()
        selector.fit(X, y)
        serial, cpu, seconds = (
            time.thread_time() - thread,
            cpu_seconds() - process,
            time.perf_counter() - clock,
        )
    selected = np.flatnonzero(selector.support_).tolist()
    return Measured(n_threads, seconds, cpu, serial, by_runnable, selected, selector.n_fits_)


def cpu_seconds() -> float:
    """Return the CPU time of this process, and of those that it made and that have ended."""
    copies = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + copies.ru_utime + copies.ru_stime


@contextmanager
def watched(by_runnable: dict[int, float]) -> Iterator[None]:
    """Note how many CPU seconds pass with so many threads that could run; nothing where there is no /proc."""
    if not Path("/proc/self/task").is_dir():
        yield
        return
    command = [sys.executable, str(WATCH), str(os.getpid())]
    watching = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    watching.stdout.readline()
    yield
    watching.send_signal(signal.SIGTERM)
    found = json.loads(watching.communicate()[0])
    by_runnable.update({int(n_threads): seconds for n_threads, seconds in found.items()})


def alone_share(by_runnable: Mapping[Any, float]) -> float:
    """Return the share of the CPU time in which no more than one thread could run.

    Examples
    --------
    >>> alone_share({"1": 1.0, "2": 3.0})
    0.25
    """
    return sum(seconds for n, seconds in by_runnable.items() if int(n) <= 1) / sum(by_runnable.values())


def gain_on(by_runnable: Mapping[Any, float], n_cores: int = N_CORES) -> float:
    """Return how many times faster the work is on this many cores than on one.

    Examples
    --------
    >>> gain_on({"1": 1.0, "16": 16.0})
    8.5
    """
    seconds = sum(one / min(max(int(n), 1), n_cores) for n, one in by_runnable.items())
    return sum(by_runnable.values()) / seconds


def measure_all(name: str, threads: list[int], size: float) -> list[Measured]:
    """Measure one fit with each number of threads, after others that compile the kernels."""
    fit = FITS[name]
    n_rows, n_columns = shape_of(fit, size)
    X, y = problem(n_rows, n_columns)
    # Enough columns for removals that change trees. Other kernels are for the first trees of a process, and for tables
    # of many columns: what is measured compiles nothing after this.
    for some in (X[:150, :100], X[:, :100], X):
        fit.make(random_state=SEED).fit(some, y[: len(some)])
    measured = []
    for n_threads in threads:
        one = measure(fit, X, y, n_threads)
        measured.append(one)
        say(
            f"{name}: {n_rows} x {n_columns}, {n_threads} threads: {one.seconds:.1f} s, {one.cpu_seconds:.1f} CPU s, "
            f"{one.serial_seconds:.1f} CPU s on the main thread"
        )
    answers = {(tuple(one.selected), one.n_fits) for one in measured}
    if len(answers) > 1:
        raise SystemExit(f"{name}: the answers differ between {threads} threads: {sorted(answers)}")
    return measured


def report(results: Mapping[str, Any]) -> str:
    """Lay out the results."""
    rows = []
    for name, fits in results["fits"].items():
        first = fits[0]
        for one in fits:
            is_watched, is_shared = bool(one.get("by_runnable")), one["n_threads"] > 1
            rows.append(
                [
                    FITS[name].label,
                    one["n_threads"],
                    f"{one['seconds']:.1f}",
                    f"{one['cpu_seconds']:.1f}",
                    f"{first['seconds'] / one['seconds']:.2f}",
                    f"{one['serial_seconds'] / one['cpu_seconds']:.1%}" if is_shared else "",
                    f"{alone_share(one['by_runnable']):.1%}" if is_watched and is_shared else "",
                    f"{gain_on(one['by_runnable']):.1f}" if is_watched and is_shared else "",
                ]
            )
    header = ["fit", "threads", "s", "CPU s", "speed-up", "main thread", "alone", f"on {N_CORES} cores"]
    return "\n".join([*machine_lines(results["machine"]), "", markdown_table(header, rows)])


def table_of(results: Mapping[str, Any]) -> str:
    """Lay out the results with one row per fit; without seconds of the clock where other work was running."""
    is_idle = results["machine"]["load before"] < results["machine"]["cores"]
    threads = [one["n_threads"] for one in next(iter(results["fits"].values()))]
    rows = []
    for name, fits in results["fits"].items():
        n_rows, n_columns = shape_of(FITS[name], results["size"])
        seconds = [one["seconds"] for one in fits]
        few, many = _with_several_threads(fits)
        share = few["serial_seconds"] / few["cpu_seconds"]
        alone = alone_share(few["by_runnable"]) if few.get("by_runnable") else None
        rows.append(
            [
                f"`{FITS[name].label}`",
                f"{n_rows:,} x {n_columns:,}",
                *(f"{one:.1f}" for one in seconds if is_idle),
                *([f"{seconds[0] / min(seconds):.1f}"] if is_idle else []),
                f"{fits[0]['cpu_seconds']:.1f}",
                f"{few['cpu_seconds']:.1f}",
                f"{share:.1%}",
                "-" if alone is None else f"{alone:.1%}",
                verdict((share if alone is None else min(share, alone)) <= MOST_SERIAL),
                f"{gain_on(many['by_runnable']):.1f}" if many.get("by_runnable") else "-",
            ]
        )
    few, many = (one["n_threads"] for one in _with_several_threads(next(iter(results["fits"].values()))))
    header = [
        "fit",
        "rows x columns",
        *(f"s, {number} thread{'s' * (number > 1)}" for number in threads if is_idle),
        *(["most gained"] if is_idle else []),
        "1 thread, CPU s",
        f"{few} threads, CPU s",
        "main thread",
        "alone",
        "at most 4 %",
        f"{many} threads, gain on {N_CORES} cores",
    ]
    return markdown_table(header, rows)


def dates_of(results: Mapping[str, Any]) -> str:
    """Say when each fit was measured, where it was not in the run that the machine's lines are about."""
    last = results["machine"]["date"]
    earlier = {name: date for name, date in results.get("measured", {}).items() if date != last}
    return "; ".join(
        f"{FITS[name].label} of {FITS[name].n_rows:,} rows: {date}" for name, date in earlier.items()
    )


def _with_several_threads(fits: Sequence[Mapping[str, Any]]) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the fits with the fewest and with the most threads of those with several."""
    several = sorted((one for one in fits if one["n_threads"] > 1), key=lambda one: one["n_threads"])
    return several[0], several[-1]


def draw(results: Mapping[str, Any], path: Path) -> None:
    """Plot the speed-up of each fit against the number of threads."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, fits in results["fits"].items():
        n_rows, n_columns = shape_of(FITS[name], results["size"])
        threads = [one["n_threads"] for one in fits]
        gains = [fits[0]["seconds"] / one["seconds"] for one in fits]
        axes.plot(threads, gains, marker="o", label=f"{FITS[name].label}, {n_rows:,} x {n_columns:,}")
    axes.plot(threads, threads, color="gray", linestyle=":", label="as many times as threads")
    axes.set(xscale="log", yscale="log", xlabel="threads", ylabel="times as fast as one thread")
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_ticks(threads, [str(number) for number in threads])
        axis.set_ticks([], minor=True)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def main() -> None:
    """Measure, print and keep."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--fits", nargs="+", choices=list(FITS), default=list(FITS))
    parser.add_argument(
        "--size", type=float, default=1.0, help="of the tables, as a share of their full size"
    )
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    machine = describe_machine()
    results: dict[str, Any] = {"machine": machine, "size": asked.size, "fits": {}, "measured": {}}
    path = results_path(machine["cores"])
    if path.is_file() and (before := load(path))["size"] == asked.size:
        dates = dict.fromkeys(before["fits"], before["machine"]["date"]) | before.get("measured", {})
        results |= {"fits": before["fits"], "measured": dates}
    for name in asked.fits:
        results["measured"][name] = machine["date"]
        results["fits"][name] = [asdict(one) for one in measure_all(name, asked.threads, asked.size)]
        if asked.size == 1.0:
            save(results, path)
    print(report(results))
    print()
    print(json.dumps(results))
    if asked.size == 1.0 and machine["cores"] > 2 and len(asked.threads) > 2:
        draw(results, PLOT)


if __name__ == "__main__":
    main()
