"""Growth on a GPU: seconds against rows, columns and splits, beside all cores of the same machine.

Run it on a machine with an NVIDIA GPU and CuPy:

    python benchmarks/gpu/growth.py             # all tables, some minutes
    python benchmarks/gpu/growth.py --quick     # a tenth of the columns

Every time is the median of five runs after a warm-up, waiting for the GPU before the clock is read.
"""

import argparse
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from ppfs import PPFS, __version__
from ppfs._engine import (
    DeviceTrees,
    SortedColumns,
    Splits,
    TreeRules,
    column_risks_on,
    cuda_device,
    missing_for_cuda,
    prepare_columns,
    prepare_forest,
    prepared_column_risks,
    prepared_forest_risks,
)
from ppfs._engine.cuda.columns import sort_on_device
from ppfs._engine.cuda.pieces import pieces_on
from ppfs._engine.cuda.tree_risks import device_column_risks

SEED = 0
N_RUNS = 5
N_FITS = 5

# Fits that are timed on the CPU for a ratio; more would take minutes and tell the same.
_FITS_ON_CPU = 600_000


def splits_of(n_rows: int, n_splits: int) -> Splits:
    """Draw splits with a fifth of the rows in the test part, as the paper's test has them."""
    rng = np.random.default_rng(SEED)
    n_test = n_rows // 5
    orders = [rng.permutation(n_rows) for _ in range(n_splits)]
    return Splits.from_sequences(
        [order[n_test:] for order in orders],
        [order[:n_test] for order in orders],
        [rng.permutation(n_test) for _ in orders],
    )


def columns_on(xp: Any, kind: str, n_rows: int, n_columns: int) -> Any:
    """Draw columns in the memory of the GPU."""
    draw = xp.random.default_rng(SEED)
    if kind == "genotypes":
        return draw.integers(0, 3, size=(n_rows, n_columns), dtype=np.int32).astype(np.float32)
    return draw.standard_normal((n_rows, n_columns), dtype=np.float32)


def timed(run: Callable[[], object], wait: Callable[[], object], n_runs: int = N_RUNS) -> float:
    """Return the median seconds of several runs."""
    run()
    wait()
    seconds = []
    for _ in range(n_runs):
        start = perf_counter()
        run()
        wait()
        seconds.append(perf_counter() - start)
    return median(seconds)


CASES = [
    # What is measured, rows, columns, B, classes (0: numbers), kind of columns, rules.
    ("two classes", 100, 1_000_000, 30, 2, "distinct", {}),
    ("two classes", 500, 100_000, 30, 2, "distinct", {}),
    ("two classes", 500, 1_000_000, 30, 2, "distinct", {}),
    ("two classes", 1_000, 1_000_000, 30, 2, "distinct", {}),
    ("two classes", 10_000, 50_000, 30, 2, "distinct", {}),
    ("two classes", 100_000, 2_000, 30, 2, "distinct", {}),
    ("two classes, B = 10", 500, 1_000_000, 10, 2, "distinct", {}),
    ("two classes, B = 100", 500, 1_000_000, 100, 2, "distinct", {}),
    ("ten classes", 500, 1_000_000, 30, 10, "distinct", {}),
    ("genotypes", 500, 1_000_000, 30, 2, "genotypes", {}),
    ("genotypes", 10_000, 50_000, 30, 2, "genotypes", {}),
    ("numbers", 500, 1_000_000, 30, 0, "distinct", {"criterion": "squared_error", "loss": "squared"}),
    ("forest of 100 trees", 500, 100_000, 10, 2, "distinct", {"n_trees": 100}),
    ("depth 3", 500, 100_000, 30, 2, "distinct", {"max_depth": 3}),
]


def prepared_for(n_rows: int, n_splits: int, n_classes: int, rules: dict[str, Any]) -> Any:
    rng = np.random.default_rng(SEED)
    y = rng.integers(0, n_classes, size=n_rows) if n_classes else rng.normal(size=n_rows)
    splits, limits = (
        splits_of(n_rows, n_splits),
        {name: rule for name, rule in rules.items() if name != "n_trees"},
    )
    if "n_trees" not in rules:
        return prepare_columns(y, n_classes, splits, TreeRules(**limits))
    n_train, n_trees = splits.train[0].size, rules["n_trees"]
    samples = [
        np.array([np.bincount(rng.integers(0, n_train, n_train), minlength=n_train) for _ in range(n_trees)])
        for _ in range(n_splits)
    ]
    return prepare_forest(y, n_classes, splits, TreeRules(**limits), samples)


def print_cases(device: Any, share: float, n_cores: int, wanted: list[str] | None) -> None:
    xp = device.xp
    wait = xp.cuda.Device().synchronize
    print(
        "| trees of | rows x columns, B | sort, s | trees, s | with answers on the host, s | ns a fit "
        "| CPU, ns | ratio | bandwidth |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, n_rows, n_columns, n_splits, n_classes, kind, rules in CASES:
        if wanted and name not in wanted:
            continue
        n_columns = int(n_columns * share)
        X = columns_on(xp, kind, n_rows, n_columns)
        prepared = prepared_for(n_rows, n_splits, n_classes, rules)
        n_trees = rules.get("n_trees", 1)
        upload, on_cores = (
            (DeviceTrees.of_forest, prepared_forest_risks)
            if "n_trees" in rules
            else (DeviceTrees.of, prepared_column_risks)
        )
        trees = upload(device, prepared)
        is_bad = xp.zeros(1, dtype=np.int32)
        pieces = list(pieces_on(device, X))

        def sort(pieces=pieces, is_bad=is_bad):
            for piece in pieces:
                sort_on_device(device, piece, is_bad)

        def grow(pieces=pieces, is_bad=is_bad, trees=trees):
            for piece in pieces:
                device_column_risks(sort_on_device(device, piece, is_bad), trees)

        sorting, both = timed(sort, wait), timed(grow, wait)
        whole = timed(lambda X=X, trees=trees: column_risks_on(device, X, [trees]), wait, 3)
        n_fits = n_columns * n_splits * n_trees
        per_fit = 1e9 * both / n_fits
        some = min(n_columns, max(n_cores, _FITS_ON_CPU // (n_splits * n_trees) * 500 // n_rows))
        on_host = device.to_host(X[:, :some])
        on_cores(SortedColumns.from_dense(on_host[:, :2]), prepared)  # Compiles.

        def on_one_core(part, on_cores=on_cores, prepared=prepared):
            return on_cores(SortedColumns.from_dense(part), prepared)

        start = perf_counter()
        with ThreadPoolExecutor(n_cores) as pool:
            parts = list(pool.map(on_one_core, np.array_split(on_host, min(some, 4 * n_cores), axis=1)))
        expected = [np.concatenate(risks) for risks in zip(*parts, strict=True)]
        on_cpu = 1e9 * (perf_counter() - start) / (some * n_splits * n_trees)
        found = column_risks_on(device, on_host, [trees])
        is_same = all(np.allclose(a, b, rtol=1e-12, atol=0) for a, b in zip(found, expected, strict=True))
        moved = X.nbytes * 5 + 16 * n_fits  # Read, written sorted with rows, read again; risks written.
        print(
            f"| {name} | {n_rows:,} x {n_columns:,}, {n_splits} | {sorting:.3f} | {both - sorting:.3f} | {whole:.3f} "
            f"| {per_fit:.2f} | {on_cpu:,.0f} | {on_cpu / per_fit:,.0f} | {moved / both / 1e12:.2f} TB/s |"
            + ("" if is_same else " ANSWERS DIFFER"),
            flush=True,
        )
        del X, pieces, trees
        xp.get_default_memory_pool().free_all_blocks()


def print_transfer(device: Any, share: float) -> None:
    xp = device.xp
    wait = xp.cuda.Device().synchronize
    n_rows, n_columns, n_splits = 500, int(1_000_000 * share), 30
    trees = DeviceTrees.of(device, prepared_for(n_rows, n_splits, 2, {}))
    on_card = columns_on(xp, "distinct", n_rows, n_columns)
    memory = xp.cuda.alloc_pinned_memory(4 * n_rows * n_columns)
    pinned = np.frombuffer(memory, dtype=np.float32, count=n_rows * n_columns).reshape(n_rows, n_columns)
    pinned[:] = device.to_host(on_card)
    plain = np.array(pinned)
    places = {"the card": on_card, "pinned memory": pinned, "plain memory": plain, "plain, by column": None}
    print(
        f"\n| {n_rows} x {n_columns:,} float32 numbers, B = {n_splits}, lie in | s | GB/s |\n| --- | --- | --- |"
    )
    for name, X in places.items():
        if X is None:
            X = np.asfortranarray(plain)
        seconds = timed(lambda X=X: column_risks_on(device, X, [trees]), wait, 3)
        print(f"| {name} | {seconds:.3f} | {X.nbytes / seconds / 1e9:.1f} |", flush=True)
    empty = xp.empty_like(on_card)
    copying = timed(lambda: xp.copyto(empty, on_card), wait)
    print(f"\nA copy on the card moves {2 * on_card.nbytes / copying / 1e12:.2f} TB/s, read and written.")
    uploading = timed(lambda: empty.set(pinned), wait)
    print(f"A copy from pinned memory moves {pinned.nbytes / uploading / 1e9:.1f} GB/s.")


def print_fits(xp: Any, share: float, n_cores: int) -> None:
    rng = np.random.default_rng(SEED)
    n_rows, n_columns = 500, int(1_000_000 * share)
    plain = rng.standard_normal((n_rows, n_columns), dtype=np.float32)
    y = (plain[:, :3].sum(axis=1) + rng.normal(size=n_rows) > 0).astype(int)
    memory = xp.cuda.alloc_pinned_memory(plain.nbytes)
    pinned = np.frombuffer(memory, dtype=np.float32, count=plain.size).reshape(plain.shape)
    pinned[:] = plain
    print(
        f"\n| PPFS.fit on {n_rows} x {n_columns:,}, bonferroni | s, median of {N_FITS} | all, s | blanket |\n"
        "| --- | --- | --- | --- |"
    )
    places = {
        "cuda, pinned memory": pinned,
        "cuda, plain memory": plain,
        "cuda, on the card": xp.asarray(plain),
    }
    if n_columns <= 200_000:
        places["cpu"] = plain
    for name, X in places.items():
        seconds = []
        # A new selector each time: one that is fitted again reuses its answers.
        for n_fitted in (2000, *[n_columns] * N_FITS):
            selector = PPFS(
                correction="bonferroni", random_state=0, n_jobs=n_cores, device=name.split(",")[0]
            )
            start = perf_counter()
            selector.fit(X[:, :n_fitted], y)
            seconds.append(perf_counter() - start)
        told = ", ".join(f"{one:.2f}" for one in seconds[1:])
        print(f"| {name} | {median(seconds[1:]):.2f} | {told} | {selector.blanket_.tolist()} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--cases", nargs="*")
    parser.add_argument("--tables", nargs="*", default=["cases", "transfer", "fits"])
    arguments = parser.parse_args()
    missing = missing_for_cuda()
    if missing is not None:
        raise SystemExit(f"This benchmark needs an NVIDIA GPU: {missing}.")
    device, n_cores = cuda_device(), len(os.sched_getaffinity(0))
    share = 0.1 if arguments.quick else 1.0
    print(
        f"ppfs {__version__}, NumPy {np.__version__}, CuPy {device.xp.__version__}, {device.name}, {n_cores} cores, "
        f"seed {SEED}\n"
    )
    if "cases" in arguments.tables:
        print_cases(device, share, n_cores, arguments.cases)
    if "transfer" in arguments.tables:
        print_transfer(device, share)
    if "fits" in arguments.tables:
        print_fits(device.xp, share, n_cores)


if __name__ == "__main__":
    main()
