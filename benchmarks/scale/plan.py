"""What the cost model predicts: for the tables of wide.py and tall.py, beside what was measured, and for large ones."""

import argparse
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from recording import describe_machine, load, machine_lines, markdown_table, save, say
from sklearn.ensemble import RandomForestRegressor
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor
from tall import N_COLUMNS
from tall import RESULTS as TALL
from wide import N_ROWS, N_TRUE
from wide import RESULTS as WIDE

from ppfs import PPFS
from ppfs._planning.cost import Line, Rates, duration, measure_rates, predict_cost, size

RESULTS = Path(__file__).resolve().parent / "results" / "plan.json"
SEED = 0

_TREE = DecisionTreeRegressor(max_depth=3, min_samples_leaf=20)

#: What is planned: as in wide.py and tall.py, and the paper's search with ten splits: trees of depth 5, forests of 25.
SEARCHES = {
    "linear": PPFS.calibrated(LinearRegression(), random_state=SEED),
    "the default panel": PPFS.calibrated(random_state=SEED),
    "tree, then linear": PPFS.calibrated(LinearRegression(), growth_estimator=_TREE, random_state=SEED),
    "the paper's, linear": PPFS(LinearRegression(), n_splits=10, random_state=SEED),
    "the paper's, trees of depth 3": PPFS(DecisionTreeRegressor(max_depth=3), n_splits=10, random_state=SEED),
    "trees": PPFS(DecisionTreeRegressor(max_depth=5), n_splits=10, random_state=SEED),
    "forests": PPFS(RandomForestRegressor(25), n_splits=10, random_state=SEED),
}

#: The cases of tall.py.
PLANNED_AS = {
    "linear": "the paper's, linear",
    "trees of depth 3": "the paper's, trees of depth 3",
    "linear, calibrated": "linear",
}

#: Rows, columns and workers of the tables that are worked out in docs/scale.md.
LARGE = [
    (500, 10_000_000, 1),
    (500, 10_000_000, 64),
    (1_000_000, 200, 1),
    (1_000_000, 200, 64),
    (1_000_000, 10_000_000, 1_000),
]


def rates_of(name: str, startup: float) -> dict[str, Any]:
    """Return the rates of a search in a separate process: this one has measured others before."""
    say(f"{name} ...")
    y = np.random.default_rng(SEED).normal(size=5000)
    return asdict(replace(measure_rates(SEARCHES[name], y, is_labels=False), startup=startup))


def loaded(rates: dict[str, Any]) -> Rates:
    """Return rates as they were before they were saved."""
    return Rates(**{**rates, "growth": Line(**rates["growth"]), "shrink": Line(**rates["shrink"])})


def compared(rates: dict[str, Any]) -> str:
    """Return predictions beside the measurements of wide.py and tall.py."""
    measured = [
        (case, case.rpartition(", ")[0], N_ROWS, point["n_columns"], point["cpu"])
        for case, points in load(WIDE)["cases"].items()
        for point in points
    ]
    measured += [
        (f"{case}, many rows", PLANNED_AS.get(case, ""), point["n_rows"], N_COLUMNS, point["cpu"])
        for case, points in load(TALL)["cases"].items()
        for point in points
    ]
    rows = []
    for case, name, n_rows, n_columns, cpu in measured:
        if name in rates:
            cost = predict_cost(loaded(rates[name]), n_rows, n_columns, n_candidates=N_TRUE)
            numbers = [f"{cost.seconds:.1f}", f"{cpu:.1f}", f"{cost.seconds / cpu:.2f}"]
            rows.append([case, f"{n_rows:,}", f"{n_columns:,}", *numbers])
    return markdown_table(["search", "rows", "columns", "predicted, s", "measured, CPU s", "ratio"], rows)


def worked_out(rates: dict[str, Any]) -> str:
    """Return what very large tables would cost."""
    rows = []
    for n_rows, n_columns, n_workers in LARGE:
        for name in ("trees", "forests"):
            if name not in rates:
                continue
            cost = predict_cost(loaded(rates[name]), n_rows, n_columns, n_workers=n_workers)
            rows.append(
                [
                    f"{n_rows:,} x {n_columns:,}",
                    name,
                    f"{n_workers:,}",
                    f"{cost.growth_fits:,.0f}",
                    duration(cost.growth_seconds),
                    duration(cost.shrink_seconds),
                    size(cost.memory),
                    size(cost.network) if n_workers > 1 else "-",
                    size(cost.disk),
                ]
            )
    header = ["rows x columns", "model", "workers", "fits", "growth", "shrink", "memory", "network", "file"]
    return markdown_table(header, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--searches", nargs="+", choices=SEARCHES, default=list(SEARCHES))
    arguments = parser.parse_args()
    results: dict[str, Any] = load(RESULTS) if RESULTS.is_file() else {"rates": {}}
    results["machine"] = describe_machine()
    startup = time.process_time()
    for name in arguments.searches:
        results["rates"][name] = rates_of(name, startup)
        save(results, RESULTS)
    if WIDE.is_file():
        print(compared(results["rates"]), "", sep="\n")
    print(worked_out(results["rates"]), "", *machine_lines(results["machine"]), sep="\n")


if __name__ == "__main__":
    main()
