"""``ppfs select`` on tables too wide for memory: seconds, peak memory and the columns found, by the number of columns.

The target is the sum of 20 columns, correlated 0.2 among each other, and noise of variance 4, in 500 rows; all other
columns are independent noise. A file is written column block by column block, searched by a separate process, and
deleted. CPU seconds are counted, which other work on the machine changes little; the peak is the largest resident set
of the process.
"""

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from growth import exponent
from recording import describe_machine, load, machine_lines, markdown_table, save, say, verdict

RESULTS = Path(__file__).resolve().parent / "results" / "wide.json"
SEED = 0
N_ROWS, N_TRUE, CORRELATION, NOISE = 500, 20, 0.2, 2.0
SIZES = (10_000, 100_000, 1_000_000)
PEAK_GIB = 2.0

# A Parquet footer describes every column, and is read for every block: shards are kept small.
COLUMNS_PER_SHARD = 2_000
VALUES_AT_ONCE = 5_000_000

_LINEAR = ["--estimator", "sklearn.linear_model:LinearRegression"]
_TREE = [
    "--growth-estimator",
    'sklearn.tree:DecisionTreeRegressor{"max_depth": 3, "min_samples_leaf": 20}',
]

#: How each case is searched: file format, and flags beside the target.
CASES: dict[str, tuple[str, list[str]]] = {
    "linear, .npy": ("npy", _LINEAR),
    "tree, then linear, .npy": ("npy", _LINEAR + _TREE),
    "linear, column shards": ("shards", _LINEAR),
    "linear, one Parquet file": ("parquet", _LINEAR),
    "the default panel, .npy": ("npy", []),
}

#: A footer describes every column: one file of a million columns is beyond what Parquet is made for.
MOST_COLUMNS = {"parquet": 100_000}


def blocks(n_columns: int, n_rows: int):
    """Yield the first number and the values of some columns after the other; column 0 is the target."""
    generator = np.random.default_rng([SEED, 0])
    common = generator.standard_normal(n_rows)
    own = generator.standard_normal((N_TRUE, n_rows))
    parents = np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own
    target = parents.sum(axis=0) + NOISE * generator.standard_normal(n_rows)
    true = dict(zip(true_columns(n_columns), parents, strict=True))
    at_once = max(1, VALUES_AT_ONCE // n_rows)
    for first in range(0, n_columns, at_once):
        generator = np.random.default_rng([SEED, 1, first])
        X = generator.standard_normal((min(at_once, n_columns - first), n_rows))
        for place in range(len(X)):
            if first + place in true:
                X[place] = true[first + place]
        if first == 0:
            X[0] = target
        yield first, X.astype(np.float32)


def true_columns(n_columns: int) -> list[int]:
    """Return the numbers of the columns that make the target, spread over the table."""
    return np.linspace(1, n_columns - 1, N_TRUE).astype(int).tolist()


def write_npy(folder: Path, n_columns: int, n_rows: int) -> Path:
    path = folder / "table.npy"
    X = np.lib.format.open_memmap(path, "w+", np.float32, (n_rows, n_columns), fortran_order=True)
    for first, block in blocks(n_columns, n_rows):
        X[:, first : first + len(block)] = block.T
    X.flush()
    return path


def write_shards(folder: Path, n_columns: int, n_rows: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "shards"
    path.mkdir(exist_ok=True)
    for first, block in blocks(n_columns, n_rows):
        for start in range(0, len(block), COLUMNS_PER_SHARD):
            part = block[start : start + COLUMNS_PER_SHARD]
            names = [f"x{first + start + place}" for place in range(len(part))]
            pq.write_table(
                pa.table(dict(zip(names, part, strict=True))),
                path / f"columns-{first + start:09d}.parquet",
                compression="none",
                use_dictionary=False,
                write_statistics=False,
            )
    return path


def write_parquet(folder: Path, n_columns: int, n_rows: int) -> Path:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = folder / "table.parquet"
    columns = {
        f"x{first + place}": values
        for first, block in blocks(n_columns, n_rows)
        for place, values in enumerate(block)
    }
    pq.write_table(pa.table(columns), path, compression="none", use_dictionary=False, write_statistics=False)
    return path


WRITERS = {"npy": write_npy, "shards": write_shards, "parquet": write_parquet}


def search(path: Path, flags: list[str], n_columns: int, n_jobs: int) -> dict[str, Any]:
    """Run the command on a file and return what it cost and found.

    The search has a checkpoint beside the file, and so has this: what a run that was killed had used is added to that
    of the run that goes on from there.
    """
    used_before = path.parent / "used.json"
    flags = [*flags, "--seed", str(SEED), "--checkpoint", str(path.parent / "run.ppfs")]
    command = [sys.executable, "-m", "ppfs", "select", str(path), "--target", "x0", "--stream"]
    command += ["--task", "regression", "--format", "names", "--quiet", "--jobs", str(n_jobs), *flags]
    before = (
        load(used_before) if used_before.is_file() else {"cpu": 0.0, "clock": 0.0, "peak_gib": 0.0, "runs": 0}
    )
    started = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    # Who ends this process early ends the search too, and both leave what they know behind.
    signal.signal(signal.SIGTERM, lambda *_: process.kill())
    names = process.stdout.read().split()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    used = {
        "cpu": before["cpu"] + usage.ru_utime + usage.ru_stime,
        "clock": before["clock"] + time.monotonic() - started,
        "peak_gib": max(before["peak_gib"], usage.ru_maxrss / 2**20),
        "runs": before["runs"] + 1,
    }
    used_before.write_text(json.dumps(used), encoding="utf-8")
    if process.returncode:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}, after {used}")
    true = {f"x{column}" for column in true_columns(n_columns)}
    return {
        "n_columns": n_columns,
        "n_jobs": n_jobs,
        **used,
        "n_found": len(true & set(names)),
        "n_others": len(set(names) - true),
    }


def measure(
    case: str,
    how: tuple[str, list[str]],
    n_columns: int,
    folder: Path,
    n_jobs: int,
    n_rows: int = N_ROWS,
) -> dict[str, Any]:
    """Write a table, search it, delete it, and return what that took."""
    kind, flags = how
    # Where it was left by a run that was killed, it goes on.
    place = folder / re.sub(r"\W+", "-", f"ppfs-{case}-{n_rows}-{n_columns}")
    say(f"{case}: {n_rows:,} rows, {n_columns:,} columns ...")
    if not (place / "path").is_file():
        place.mkdir(exist_ok=True)
        # In a separate process: a child inherits the peak of the process that starts it.
        writing = [sys.executable, __file__, "--write", kind, str(n_columns), str(n_rows), str(place)]
        path = subprocess.run(writing, check=True, capture_output=True, text=True).stdout.strip()
        (place / "path").write_text(path, encoding="utf-8")
    found = search(Path((place / "path").read_text(encoding="utf-8")), flags, n_columns, n_jobs)
    shutil.rmtree(place)
    return found


def table_of(cases: dict[str, list[dict[str, Any]]]) -> str:
    header = [
        "search",
        "columns",
        "threads",
        "CPU s",
        "wall-clock, s",
        "peak, GiB",
        "under 2",
        "true found",
        "others",
    ]
    rows = [
        [
            case,
            f"{point['n_columns']:,}",
            point.get("n_jobs", "1, before"),
            f"{point['cpu']:.1f}" + (f" in {point['runs']} runs" if point.get("runs", 1) > 1 else ""),
            f"{point['clock']:.1f}",
            "-" if point["peak_gib"] is None else f"{point['peak_gib']:.2f}",
            "-" if point["peak_gib"] is None else verdict(point["peak_gib"] < PEAK_GIB),
            f"{point['n_found']} of {N_TRUE}",
            point["n_others"],
        ]
        for case, points in cases.items()
        for point in points
    ]
    return markdown_table(header, rows)


def notes_of(cases: dict[str, list[dict[str, Any]]]) -> list[str]:
    """Say which lines are of an earlier version."""
    if all("n_jobs" in point for points in cases.values() for point in points):
        return []
    return [
        'Lines with threads "1, before" are of an earlier version, whose count of small p-values took less. Now it '
        "refits about five columns for each column of the table, and `ppfs plan` tells what that takes."
    ]


def exponents_table(cases: dict[str, list[dict[str, Any]]], axis: str = "columns") -> str:
    rows = [
        [case, f"{exponent([p[f'n_{axis}'] for p in points], [p['cpu'] for p in points]):.2f}"]
        for case, points in cases.items()
        if len(points) > 1
    ]
    return markdown_table(["search", f"exponent of CPU seconds in {axis}"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where files go")
    parser.add_argument("--quick", action="store_true", help="2,000 columns; nothing is written")
    parser.add_argument("--write", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        kind, n_columns, n_rows, place = arguments.write
        print(WRITERS[kind](Path(place), int(n_columns), int(n_rows)))
        return
    if arguments.fresh:
        RESULTS.unlink(missing_ok=True)
    sizes = [2_000] if arguments.quick else arguments.sizes
    results = {"machine": describe_machine(), "seed": SEED, "n_rows": N_ROWS, "cases": {}}
    if RESULTS.is_file() and not arguments.quick:
        results["cases"] = load(RESULTS)["cases"]
    cases = results["cases"]
    for n_columns in sizes:
        for case in arguments.cases:
            points = cases.setdefault(case, [])
            is_done = any(point["n_columns"] == n_columns for point in points)
            if is_done or n_columns > MOST_COLUMNS.get(CASES[case][0], n_columns):
                continue
            points.append(measure(case, CASES[case], n_columns, arguments.folder, arguments.jobs))
            points.sort(key=lambda point: point["n_columns"])
            if not arguments.quick:
                save(results, RESULTS)
    print(
        table_of(cases),
        "",
        *notes_of(cases),
        exponents_table(cases),
        "",
        *machine_lines(results["machine"]),
        sep="\n",
    )


if __name__ == "__main__":
    main()
