"""How much memory a fit takes, measured by the system: the largest resident size of a separate process.

For dense data a child process makes the data, loads the engine with a small fit, resets the peak, and
fits: the peak above the resident size before the fit is compared with the size of the data. For
Dorothea, sparse, everything counts: interpreter, libraries, compiling, data and fit.
"""

import argparse
import ctypes
import json
import os
import sys
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from recording import (
    data_folder,
    describe_machine,
    machine_lines,
    markdown_table,
    run_child,
    save,
    say,
    verdict,
)

RESULTS = Path(__file__).resolve().parent / "results" / "memory.json"
SEED = 0
MEBIBYTE = 2**20

#: What is allowed: a multiple of dense data above them, and MiB in all for Dorothea.
MOST_ABOVE_INPUT = 2.0
MOST_FOR_DOROTHEA = 500.0

Problem = tuple[Any, np.ndarray]


@dataclass(frozen=True)
class Case:
    """Dense data, and the number of splits to fit them with."""

    title: str
    n_splits: int
    make: Callable[[], Problem]


def planted(n_rows: int, n_columns: int) -> Problem:
    """Draw noise in which the first five columns decide between two classes."""
    generator = np.random.default_rng(SEED)
    X = generator.standard_normal((n_rows, n_columns))
    return X, (X[:, :5].sum(axis=1) > 0).astype(int)


def planted_frame(n_rows: int, n_columns: int) -> Problem:
    import pandas as pd

    X, y = planted(n_rows, n_columns)
    return pd.DataFrame(X, columns=[f"x{i}" for i in range(n_columns)]), y


def planted_float32(n_rows: int, n_columns: int) -> Problem:
    X, y = planted(n_rows, n_columns)
    return X.astype(np.float32), y


def with_probes(name: str, times: int) -> Problem:
    """Return a data set with `times` as many columns: the new ones are its own, each shuffled over the rows."""
    from ppfs.datasets import load_dataset

    dataset = load_dataset(name, download=False)
    generator = np.random.default_rng(SEED)
    probes = [generator.permuted(dataset.X, axis=0) for _ in range(times - 1)]
    return np.hstack([dataset.X, *probes]), dataset.y


CASES = {
    "noise": Case("2000 x 5000 noise, float64", 30, lambda: planted(2000, 5000)),
    "noise-float32": Case("the same, float32", 30, lambda: planted_float32(2000, 5000)),
    "noise-frame": Case("the same, pandas", 30, lambda: planted_frame(2000, 5000)),
    "madelon": Case("madelon, 2000 x 500", 5, lambda: with_probes("madelon", 1)),
    "arcene": Case("arcene, 100 x 10000", 10, lambda: with_probes("arcene", 1)),
    "madelon-probes": Case("madelon and 9 shuffled copies", 5, lambda: with_probes("madelon", 10)),
    "arcene-probes": Case("arcene and 9 shuffled copies", 10, lambda: with_probes("arcene", 10)),
}


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--cases", nargs="+", choices=[*CASES, "dorothea"], default=[*CASES, "dorothea"], metavar="CASE"
    )
    parser.add_argument("--child", choices=[*CASES, "dorothea"], help=argparse.SUPPRESS)
    return parser.parse_args()


def status_mib(text: str, field: str) -> float:
    """Read one field of ``/proc/self/status``, which counts in kibibytes.

    Examples
    --------
    >>> status_mib("VmHWM:     2048 kB", "VmHWM")
    2.0
    """
    for line in text.splitlines():
        if line.startswith(f"{field}:"):
            return int(line.split()[1]) / 1024
    raise ValueError(f"There is no {field} in /proc/self/status.")


def resident_mib(field: str = "VmRSS") -> float:
    """Return the resident size now, or with "VmHWM" the largest so far."""
    return status_mib(Path("/proc/self/status").read_text(encoding="ascii"), field)


def forget_highest_mark() -> None:
    """Make ``VmHWM`` start again from the resident size of now, with freed memory given back to the system."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def nbytes_of(X: Any) -> int:
    return int(X.nbytes if isinstance(X, np.ndarray) else X.memory_usage(index=False).sum())


def fit(X: Any, y: np.ndarray, n_splits: int) -> Any:
    from ppfs import PPFS

    return PPFS(n_splits=n_splits, random_state=SEED, n_jobs=-1).fit(X, y)


def measure_dense(case: Case) -> dict[str, Any]:
    """Return the input's size and what the fit takes above it; runs in a child process."""
    X, y = case.make()
    small = X.iloc[:, :10] if hasattr(X, "iloc") else X[:, :10]
    loaded = resident_mib()
    fit(small, y, case.n_splits)
    forget_highest_mark()
    before = resident_mib()
    selector = fit(X, y, case.n_splits)
    peak = resident_mib("VmHWM")
    after = resident_mib()
    size = nbytes_of(X) / MEBIBYTE
    return {
        "input": size,
        "engine": before - loaded,
        "peak above": peak - before,
        "kept": after - before,
        "multiple": (peak - before) / size,
        "in all": peak,
        "rows": X.shape[0],
        "columns": X.shape[1],
        "n_splits": case.n_splits,
        "n_selected": len(selector.blanket_),
    }


def measure_dorothea() -> dict[str, Any]:
    """Return the largest resident size of a process that loads Dorothea and fits; runs in a child process."""
    from ppfs.datasets import load_dataset

    dataset = load_dataset("dorothea", download=False)
    X = dataset.X
    loaded = resident_mib()
    selector = fit(X, dataset.y, 5)
    return {
        "input": (X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) / MEBIBYTE,
        "loaded": loaded,
        "in all": resident_mib("VmHWM"),
        "rows": X.shape[0],
        "columns": X.shape[1],
        "n_splits": 5,
        "n_selected": len(selector.blanket_),
    }


def run_case(name: str, cache: Path) -> dict[str, Any]:
    """Measure a case in a child process that finds its kernels compiled."""
    say(f"{name} ...")
    return run_child([sys.executable, __file__, "--child", name], NUMBA_CACHE_DIR=cache)


def run_cases(names: Collection[str]) -> dict[str, dict[str, Any]]:
    """Measure Dorothea first, twice, so that every other case finds the kernels compiled."""
    with tempfile.TemporaryDirectory() as folder:
        compiling = run_case("dorothea", Path(folder))
        cases = {name: run_case(name, Path(folder)) for name in names}
    if "dorothea" in cases:
        cases["dorothea"]["in all, compiling"] = compiling["in all"]
    return cases


def dense_table(cases: Mapping[str, Mapping[str, Any]]) -> str:
    header = ["dense data", "B", "input, MiB", "peak above it, MiB", "times the input", "at most", "met"]
    rows = [
        [
            CASES[name].title,
            case["n_splits"],
            f"{case['input']:.0f}",
            f"{case['peak above']:.0f}",
            f"{case['multiple']:.2f}",
            f"{MOST_ABOVE_INPUT:.0f}",
            verdict(case["multiple"] <= MOST_ABOVE_INPUT),
        ]
        for name, case in cases.items()
        if name in CASES
    ]
    return markdown_table(header, rows)


def dorothea_table(case: Mapping[str, Any]) -> str:
    header = ["Dorothea, 800 x 100000 sparse, B = 5", "whole process, MiB", "less than", "met"]
    rows = [
        [when, f"{case[field]:.0f}", f"{MOST_FOR_DOROTHEA:.0f}", verdict(case[field] < MOST_FOR_DOROTHEA)]
        for when, field in (
            ("first fit of an installation, compiling", "in all, compiling"),
            ("compiled before", "in all"),
        )
    ]
    return markdown_table(header, rows)


def tables_of(cases: Mapping[str, Mapping[str, Any]]) -> list[str]:
    tables = [dense_table(cases)] if set(cases) & set(CASES) else []
    if "dorothea" in cases:
        tables.append(dorothea_table(cases["dorothea"]))
    return tables


def main() -> None:
    arguments = read_arguments()
    if not Path("/proc/self/clear_refs").exists():
        sys.exit("Peak memory is read from /proc/self, which this system lacks: run this benchmark on Linux.")
    if arguments.child:
        answer = (
            measure_dorothea() if arguments.child == "dorothea" else measure_dense(CASES[arguments.child])
        )
        print(json.dumps(answer))
        return
    os.environ["PPFS_DATA"] = str(data_folder())
    machine = describe_machine()
    cases = run_cases(arguments.cases)
    print(*tables_of(cases), "\n".join(machine_lines(machine)), sep="\n\n")
    if set(arguments.cases) == {*CASES, "dorothea"}:
        save({"machine": machine, "cases": cases}, RESULTS)


if __name__ == "__main__":
    main()
