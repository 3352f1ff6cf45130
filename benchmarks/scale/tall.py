"""``ppfs select`` on tables of many rows: seconds, peak memory and how busy the cores are, by the number of rows.

The table is that of wide.py with 200 columns, in a ``.npy`` file, searched with two threads.
"""

import argparse
import tempfile
from pathlib import Path
from typing import Any

from recording import describe_machine, load, machine_lines, markdown_table, save, verdict
from wide import N_TRUE, SEED, exponents_table, measure

RESULTS = Path(__file__).resolve().parent / "results" / "tall.json"
N_COLUMNS, N_JOBS = 200, 2
SIZES = (10_000, 100_000, 1_000_000)
PEAK_GIB = 4.0

_PAPER = ["--test", "paper", "--splits", "10"]
_LINEAR = ["--estimator", "sklearn.linear_model:LinearRegression"]
_TREE = 'sklearn.tree:DecisionTreeRegressor{"max_depth": 3}'

#: How each case is searched: the paper's test with ten splits, and the calibrated one.
CASES: dict[str, tuple[str, list[str]]] = {
    "linear": ("npy", [*_PAPER, *_LINEAR]),
    "trees of depth 3": ("npy", [*_PAPER, "--estimator", _TREE]),
    "linear, calibrated": ("npy", _LINEAR),
}


def table_of(cases: dict[str, list[dict[str, Any]]]) -> str:
    header = [
        "search",
        "rows",
        "CPU s",
        "wall-clock, s",
        "cores busy",
        "peak, GiB",
        "under 4",
        "true found",
        "others",
    ]
    rows = [
        [
            case,
            f"{point['n_rows']:,}",
            f"{point['cpu']:.1f}" + (f" in {point['runs']} runs" if point.get("runs", 1) > 1 else ""),
            f"{point['clock']:.1f}",
            f"{point['cpu'] / point['clock']:.2f}",
            f"{point['peak_gib']:.2f}",
            verdict(point["peak_gib"] < PEAK_GIB),
            f"{point['n_found']} of {N_TRUE}",
            point["n_others"],
        ]
        for case, points in cases.items()
        for point in points
    ]
    return markdown_table(header, rows)


def known() -> dict[str, list[dict[str, Any]]]:
    """Return what was measured before, in the order of the cases."""
    cases = load(RESULTS)["cases"] if RESULTS.is_file() else {}
    return {case: cases[case] for case in CASES if case in cases}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=list(CASES))
    parser.add_argument("--fresh", action="store_true", help="forget what was measured before")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="where files go")
    arguments = parser.parse_args()
    machine = describe_machine()
    if arguments.fresh:
        RESULTS.unlink(missing_ok=True)
    for n_rows in arguments.sizes:
        for case in arguments.cases:
            if any(point["n_rows"] == n_rows for point in known().get(case, [])):
                continue
            found = measure(case, CASES[case], N_COLUMNS, arguments.folder, N_JOBS, n_rows)
            # Read again: another run may have added its own meanwhile.
            cases = known()
            points = [*cases.get(case, []), {"n_rows": n_rows, **found}]
            cases[case] = sorted(points, key=lambda point: point["n_rows"])
            save({"machine": machine, "seed": SEED, "n_columns": N_COLUMNS, "cases": cases}, RESULTS)
    print(table_of(known()), "", exponents_table(known(), "rows"), "", *machine_lines(machine), sep="\n")


if __name__ == "__main__":
    main()
