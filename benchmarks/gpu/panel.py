"""The calibrated panel with its exact tail on a GPU: a wide table with true columns, and tables of pure noise.

python benchmarks/gpu/panel.py                       # 500 x 1,000,000, some minutes
python benchmarks/gpu/panel.py --columns 20000 --device cpu
python benchmarks/gpu/panel.py --tables kernels draws wide noise

The wide table is that of benchmarks/scale/wide.py: the target is the sum of 20 columns, correlated 0.2 among each
other, and noise of variance 4, or whether this is above its median; all other columns are independent noise. `grown`
counts true columns that pass the growth phase and its counted p-values, `found` those that the shrink phase, on the
CPU, keeps. `kernels` times each model of the panel with the columns on the card, beside all cores of the same machine.
`noise` counts tables of pure noise in which a column is selected: one of twenty may be.
"""

import argparse
import os
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ppfs import PPFS, __version__, _engine
from ppfs._data import Table
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.screening import Screening

SEED = 0
N_ROWS, N_TRUE, CORRELATION, NOISE = 500, 20, 0.2, 2.0


def wide_table(n_columns: int, n_rows: int = N_ROWS) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Return columns, a target and the numbers of the columns that make it."""
    generator = np.random.default_rng([SEED, 0])
    X = generator.standard_normal((n_rows, n_columns), dtype=np.float32)
    common = generator.standard_normal(n_rows)
    own = generator.standard_normal((N_TRUE, n_rows))
    parents = np.sqrt(CORRELATION) * common + np.sqrt(1 - CORRELATION) * own
    true = np.linspace(0, n_columns - 1, N_TRUE).astype(int)
    X[:, true] = parents.T
    return X, parents.sum(axis=0) + NOISE * generator.standard_normal(n_rows), true.tolist()


def print_wide(n_columns: int, device: str, n_jobs: int) -> None:
    print(
        f"\n| PPFS.calibrated on {N_ROWS} x {n_columns:,}, device={device!r} | s | CPU s | grown | found | others |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    X, y, true = wide_table(n_columns)
    for kind, target in (("numbers", y), ("two classes", (y > np.median(y)).astype(int))):
        selector = PPFS.calibrated(random_state=SEED, n_jobs=n_jobs, device=device)
        PPFS.calibrated(random_state=SEED, n_jobs=n_jobs, device=device).fit(X[:, :2000], target)
        start, cpu = perf_counter(), process_time()
        selector.fit(X, target)
        seconds, cpu = perf_counter() - start, process_time() - cpu
        found = set(selector.blanket_.tolist())
        n_grown = len(selector.trace_.once_favored(0) & set(true))
        print(
            f"| {kind} | {seconds:.1f} | {cpu:.0f} | {n_grown} of {N_TRUE} | {len(found & set(true))} of {N_TRUE} "
            f"| {len(found - set(true))} |",
            flush=True,
        )
        for note in selector.trace_.notes:
            if "exact growth" in note or "device" in note:
                print(f"  {note}")


def print_kernels(n_columns: int, n_cores: int, kinds: list[str]) -> None:
    """Time each model of the panel on the card and on all cores."""
    device = _engine.cuda_device()
    X, y, _ = wide_table(n_columns)
    print(
        f"\n| {N_ROWS} x {n_columns:,}, on the card | model | s | ns a fit | {n_cores} cores, ns | ratio |\n"
        "| --- | --- | --- | --- | --- | --- |"
    )
    targets = {
        "numbers": y,
        "two classes": (y > np.median(y)).astype(int),
        "three classes": np.digitize(y, np.quantile(y, [1 / 3, 2 / 3])),
    }
    for kind in kinds:
        target = targets[kind]
        # Splines of three classes take a CPU long.
        some = min(n_columns, 2_000 if kind == "three classes" else 20_000)
        task = "regression" if kind == "numbers" else "classification"
        table = Table.of(X[:, :some], target, [f"x{column}" for column in range(some)], task)
        for name, growths in _growths(table, n_cores).items():
            on_cpu, on_gpu = growths
            on_card = _engine.columns_on(device, X)
            on_gpu.prepare()
            (grower,) = on_gpu.growers
            run, panel, n_splits = grower._pairs, grower._panels[0], len(grower.problem.splits)
            width = 125_000
            pieces = [
                _engine.columns_on(device, on_card[:, at : at + width]) for at in range(0, n_columns, width)
            ]
            seconds = []
            for _ in range(3):
                device.xp.cuda.Device().synchronize()
                start = perf_counter()
                for piece in pieces:
                    run(panel, piece).moments()
                device.xp.cuda.Device().synchronize()
                seconds.append(perf_counter() - start)
            n_fits = n_columns * n_splits
            start = perf_counter()
            _on_all_cores(on_cpu, table, n_cores)
            cpu = 1e9 * (perf_counter() - start) / (some * n_splits)
            per_fit = 1e9 * min(seconds) / n_fits
            print(
                f"| {kind} | {name} | {min(seconds):.2f} | {per_fit:.0f} | {cpu:,.0f} | {cpu / per_fit:,.0f} |",
                flush=True,
            )
            del on_card, pieces
            device.xp.get_default_memory_pool().free_all_blocks()


def print_draws(n_draws: int = 2**15) -> None:
    """Time the draws of the exact tail: to make them, and to look which of two columns stands out."""
    device = _engine.cuda_device()
    xp, generator = device.xp, np.random.default_rng(SEED)
    columns, output = generator.standard_normal((2, N_ROWS)), generator.standard_normal((1, N_ROWS))
    output -= output.mean()
    output /= np.linalg.norm(output)
    screening = Screening.of(columns, N_ROWS)
    shared = screening.directions, screening.starts, screening.bounds(0.01, 1), output
    draws = _engine.DeviceDraws.of(device, columns, *shared, np.zeros((0, N_ROWS)), np.empty(0))
    seeds = xp.asarray(generator.integers(2**63, size=n_draws // 64).astype(np.uint64))
    orders, flags = xp.empty((N_ROWS, n_draws), dtype=np.int32), xp.empty((2, n_draws), dtype=np.uint8)
    launches = {
        "draw_orders": (n_draws, (seeds, np.int64(64), np.int32(N_ROWS), np.int64(n_draws), orders)),
        "screen_draws": (flags.size, (draws.record, orders, np.int64(n_draws), np.int64(2), flags)),
    }
    for kernel, (size, arguments) in launches.items():
        for _ in range(2):  # The first time it is compiled.
            xp.cuda.Device().synchronize()
            start = perf_counter()
            device.launch_over(kernel, size, arguments)
            xp.cuda.Device().synchronize()
            seconds = perf_counter() - start
        print(f"{kernel}: {1000 * seconds:.2f} ms for {n_draws:,} draws of {N_ROWS} rows, two columns")


def _growths(table: Table, n_cores: int) -> dict[str, tuple[Any, Any]]:
    bound = [
        CrossFitPPI("panel", device=device, n_jobs=n_cores).bind(table, random_state=SEED)
        for device in ("cpu", "cuda")
    ]
    growths = [one._growth(table.target) for one in bound]
    parts = [[growth._some([number]) for number in range(len(growth.growers))] for growth in growths]
    names = ("line", "splines", "line and boosted trees")
    return dict(zip(names, zip(*parts, strict=True), strict=True))


def _on_all_cores(growth: Any, table: Table, n_cores: int) -> None:
    from ppfs.independence._predictive.marginal import grow_blocks

    for _ in grow_blocks(growth, table, np.arange(200), n_cores):
        pass
    for _ in grow_blocks(growth, table, np.arange(table.n_features), n_cores):
        pass


def print_noise(n_tables: int, n_columns: int, n_rows: int, device: str, n_jobs: int) -> None:
    n_called, start = 0, perf_counter()
    for number in range(n_tables):
        generator = np.random.default_rng([SEED, 2, number])
        X = generator.standard_normal((n_rows, n_columns), dtype=np.float32)
        y = generator.integers(0, 2, size=n_rows) if number % 2 else generator.standard_normal(n_rows)
        n_called += (
            PPFS.calibrated(random_state=number, n_jobs=n_jobs, device=device).fit(X, y).blanket_.size > 0
        )
    print(
        f"\nPure noise, {n_rows} x {n_columns:,}, half of the tables with two classes: a column is selected in "
        f"{n_called} of {n_tables} tables ({perf_counter() - start:.0f} s)."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, default=1_000_000)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--noise-tables", type=int, default=100)
    parser.add_argument("--targets", nargs="*", default=["numbers", "two classes", "three classes"])
    parser.add_argument("--tables", nargs="*", default=["kernels", "draws", "wide", "noise"])
    arguments = parser.parse_args()
    n_cores = len(os.sched_getaffinity(0))
    print(f"ppfs {__version__}, NumPy {np.__version__}, {n_cores} cores, seed {SEED}")
    if "kernels" in arguments.tables:
        print_kernels(arguments.columns, n_cores, arguments.targets)
    if "wide" in arguments.tables:
        print_wide(arguments.columns, arguments.device, n_cores)
    if "draws" in arguments.tables:
        print_draws()
    if "noise" in arguments.tables:
        print_noise(arguments.noise_tables, 5_000, 200, arguments.device, n_cores)


if __name__ == "__main__":
    main()
