"""How long the first answer takes: importing, compiling once, and loading what was compiled.

Every number comes from fresh interpreters. Kernels are compiled into an empty folder, as on a new
installation, and loaded from that folder afterwards. Python's own bytecode is kept in a folder too, whatever the
caller's settings: an installed library has it.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from recording import describe_machine, machine_lines, markdown_table, run_child, save, say, verdict

RESULTS = Path(__file__).resolve().parent / "results" / "startup.json"

#: What is allowed.
MOST_IMPORTS = 1.2  # times `import sklearn`
MOST_COMPILING = 8.0  # seconds of CPU in the first fit
MOST_STARTING = 1.0  # seconds from the import to the end of a small fit, compiled before
MOST_FIRST = (  # seconds of wall-clock time of the first fit ever: family, kind, call, at most
    ("fits", "classification", "`PPFS()`", 3.0),
    ("preset", "the preset", "`PPFS.calibrated()`", 8.0),
)
MOST_SECOND = 1.0  # seconds of wall-clock time of the preset's second fit

IMPORTS = ("import sklearn", "import ppfs", "from ppfs import PPFS")

_TIMED_IMPORT = """
import json, time
start = time.perf_counter()
{statement}
print(json.dumps({{"seconds": time.perf_counter() - start}}))
"""


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--repeats", type=int, default=11, help="fresh interpreters for each import")
    parser.add_argument("--why", action="store_true", help="also list what makes `import ppfs` slow")
    parser.add_argument("--child", choices=["trees", "preset"], help=argparse.SUPPRESS)
    return parser.parse_args()


def kept_bytecode(folder: Path) -> dict[str, str]:
    """Return the environment variables that keep bytecode in a folder."""
    return {"PYTHONPYCACHEPREFIX": str(folder / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}


def time_imports(n_repeats: int, folder: Path) -> dict[str, float]:
    """Return the median seconds of each import, taken in turns so that a busy moment meets all of them."""
    timings: dict[str, list[float]] = {statement: [] for statement in IMPORTS}
    for i in range(n_repeats + 1):
        say(f"imports, round {i + 1} of {n_repeats + 1} ...")
        for statement in IMPORTS:
            command = [sys.executable, "-c", _TIMED_IMPORT.format(statement=statement)]
            child = run_child(command, **kept_bytecode(folder))
            timings[statement].append(child["seconds"])
    # The first round writes the bytecode.
    return {statement: statistics.median(seconds[1:]) for statement, seconds in timings.items()}


def clocked(action: Callable[[], object]) -> dict[str, float]:
    """Return the seconds by the wall clock and of CPU, over all threads, that an action takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    action()
    return {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}


def first_fits(family: str) -> dict[str, Any]:
    """Time a first and a second fit of each kind, one after the other; runs in a child process.

    What the kinds share is compiled with the first of them.
    """
    start = time.perf_counter()
    from ppfs import PPFS

    imported = time.perf_counter()
    import numpy as np
    from scipy import sparse
    from sklearn.datasets import load_breast_cancer
    from sklearn.tree import DecisionTreeClassifier

    X, y = load_breast_cancer(return_X_y=True)
    above = np.where(np.median(X, axis=0) < X, X, 0.0)
    limited = DecisionTreeClassifier(max_depth=3)
    kinds = {
        "classification": lambda: PPFS(random_state=0).fit(X, y),
        "sparse columns": lambda: PPFS(random_state=0).fit(sparse.csr_matrix(above), y),
        "limited depth": lambda: PPFS(limited, random_state=0).fit(X, y),
        "regression": lambda: PPFS(random_state=0).fit(X[:, 1:], X[:, 0]),
    }
    if family == "preset":
        kinds = {
            "the preset": lambda: PPFS.calibrated(random_state=0).fit(X, y),
            "the preset, regression": lambda: PPFS.calibrated(random_state=0).fit(X[:, 1:], X[:, 0]),
        }
    answer: dict[str, Any] = {"import": imported - start, "fits": {}}
    for kind, fit in kinds.items():
        answer["fits"][kind] = {"first": clocked(fit), "second": clocked(fit)}
    return answer


def measure_fits(folder: Path, family: str) -> dict[str, Any]:
    """Run `first_fits` with an empty cache, then with what that run compiled (the median of three)."""
    kernels = folder / f"kernels of {family}"
    command = [sys.executable, __file__, "--child", family]
    environment = {"NUMBA_CACHE_DIR": str(kernels), **kept_bytecode(folder)}
    say(f"first fits with an empty cache, {family} ...")
    compiling = run_child(command, **environment)
    say("the same, compiled before ...")
    cached = [run_child(command, **environment) for _ in range(3)]
    cached.sort(key=lambda child: next(iter(child["fits"].values()))["first"]["wall"])
    size = sum(path.stat().st_size for path in kernels.rglob("*") if path.is_file())
    return {"compiling": compiling, "cached": cached[1], "cache MiB": size / 2**20}


def compile_cpu(fits: Mapping[str, Mapping[str, Any]], kind: str) -> float:
    """Return the CPU seconds of the first fit that the second does not need."""
    return float(fits[kind]["first"]["cpu"] - fits[kind]["second"]["cpu"])


def first_rows(results: Mapping[str, Any]) -> list[list[str]]:
    """Return the rows about the wall-clock time of first fits; none if that of the preset is not on record."""
    if "preset" not in results:
        return []
    timed = [
        (f"first fit ever, {call}, s", results[family]["compiling"]["fits"][kind]["first"]["wall"], most)
        for family, kind, call, most in MOST_FIRST
    ]
    second = results["preset"]["cached"]["fits"]["the preset"]["second"]["wall"]
    timed.append(("second fit, `PPFS.calibrated()`, s", second, MOST_SECOND))
    return [
        [what, f"{seconds:.2f}", f"{most:.0f}", verdict(seconds <= most)] for what, seconds, most in timed
    ]


def requirements_table(results: Mapping[str, Any]) -> str:
    imports, fits = results["imports"], results["fits"]
    ratio = imports["import ppfs"] / imports["import sklearn"]
    compiling = compile_cpu(fits["compiling"]["fits"], "classification")
    starting = fits["cached"]["fits"]["classification"]["first"]["wall"]
    rows = [
        [
            "`import ppfs`, times `import sklearn`",
            f"{ratio:.2f}",
            f"{MOST_IMPORTS}",
            verdict(ratio < MOST_IMPORTS),
        ],
        [
            "first fit ever, CPU s to load and compile the engine",
            f"{compiling:.1f}",
            f"{MOST_COMPILING:.0f}",
            verdict(compiling <= MOST_COMPILING),
        ],
        [
            "compiled before: s from the import to the end of the same fit",
            f"{starting:.2f}",
            f"{MOST_STARTING:.0f}",
            verdict(starting < MOST_STARTING),
        ],
        *first_rows(results),
    ]
    return markdown_table(["start-up", "measured", "at most", "met"], rows)


def imports_table(imports: Mapping[str, float]) -> str:
    reference = imports["import sklearn"]
    rows = [
        [f"`{statement}`", f"{seconds:.3f}", f"{seconds / reference:.2f}"]
        for statement, seconds in imports.items()
    ]
    return markdown_table(["fresh interpreter", "s", "times `import sklearn`"], rows)


def kinds_table(fits: Mapping[str, Any]) -> str:
    compiling, cached = fits["compiling"]["fits"], fits["cached"]["fits"]
    header = [
        "first fit of a kind, in this order",
        "compiling: wall s",
        "CPU s",
        "compiled before: wall s",
        "second fit: wall s",
    ]
    rows = [
        [
            kind,
            f"{fit['first']['wall']:.2f}",
            f"{compile_cpu(compiling, kind):.1f}",
            f"{cached[kind]['first']['wall']:.2f}",
            f"{cached[kind]['second']['wall']:.3f}",
        ]
        for kind, fit in compiling.items()
    ]
    return markdown_table(header, rows)


def tables_of(results: Mapping[str, Any]) -> list[str]:
    return [
        requirements_table(results),
        imports_table(results["imports"]),
        *(kinds_table(results[family]) for family in ("fits", "preset") if family in results),
    ]


def parse_import_times(report: str) -> dict[str, float]:
    """Read milliseconds of each module's own code from what ``python -X importtime`` prints.

    Examples
    --------
    >>> parse_import_times("import time:      1500 |       2000 |   numpy")
    {'numpy': 1.5}
    """
    found = {}
    for line in report.splitlines():
        parts = line.removeprefix("import time:").split("|")
        if len(parts) == 3 and parts[0].strip().isdigit():
            found[parts[2].strip()] = int(parts[0]) / 1000
    return found


def explain_import(folder: Path, n_shown: int = 15) -> str:
    """Return which packages `import ppfs` loads that `import sklearn` does not, slowest first."""
    environment = os.environ | kept_bytecode(folder)
    reports = {}
    for module in ("sklearn", "ppfs"):
        command = [sys.executable, "-X", "importtime", "-c", f"import {module}"]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        reports[module] = parse_import_times(done.stderr)
    extra: dict[str, float] = {}
    for module, milliseconds in reports["ppfs"].items():
        if module not in reports["sklearn"]:
            package = ".".join(module.split(".")[:2])
            extra[package] = extra.get(package, 0.0) + milliseconds
    slowest = sorted(extra.items(), key=lambda item: -item[1])
    rows = [[package, f"{milliseconds:.0f}"] for package, milliseconds in slowest[:n_shown]]
    rows.append(["all of them", f"{sum(extra.values()):.0f}"])
    return markdown_table(["loaded by ppfs, not by sklearn", "ms"], rows)


def main() -> None:
    arguments = read_arguments()
    if arguments.child:
        print(json.dumps(first_fits(arguments.child)))
        return
    machine = describe_machine()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        results = {
            "machine": machine,
            "imports": time_imports(arguments.repeats, folder),
            "fits": measure_fits(folder, "trees"),
            "preset": measure_fits(folder, "preset"),
        }
        print(*tables_of(results), "\n".join(machine_lines(machine)), sep="\n\n")
        if arguments.why:
            print("", explain_import(folder), sep="\n")
    save(results, RESULTS)


if __name__ == "__main__":
    main()
