"""What the cost model predicts for thirty tables and those of wide.py and tall.py, beside measurements.

The thirty tables differ in classes, categories, candidates, rows and columns, and in the search. Each is planned and
then searched in the same process. CPU seconds, without those of loading and compiling, and numbers of fits are
compared. An estimate counts as good within a factor of 3, or within half a second.
"""

import argparse
import re
import time
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, replace
from math import inf
from pathlib import Path
from typing import Any

from recording import describe_machine, load, machine_lines, markdown_table, save, say
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_digits, load_iris, load_wine
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeRegressor
from tall import N_COLUMNS
from tall import RESULTS as TALL
from wide import N_ROWS, N_TRUE
from wide import RESULTS as WIDE

from ppfs import PPFS
from ppfs._conventions import OutOfTimeError, Phase, watched_phases
from ppfs._engine import compile_seconds
from ppfs._planning import (
    Line,
    PerQuestion,
    Rates,
    Shrinkage,
    duration,
    imagined_table,
    measure_rates,
    predict_cost,
    size,
)
from ppfs.datasets import load_dataset

RESULTS = Path(__file__).resolve().parent / "results" / "plan.json"
SEED = 0

#: Rows of the tables that the rates of tables with many rows are taken from.
MANY_ROWS = 5000

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


_PAPER: dict[str, Any] = {"n_splits": 10, "random_state": SEED}


def _named(name: str, n_rows: int | None = None) -> tuple[Any, Any]:
    data = load_dataset(name)
    frame = data.to_frame()
    y = frame.pop(data.target_name)
    return frame.iloc[:n_rows], y.iloc[:n_rows]


def _digits(n_rows: int) -> tuple[Any, Any]:
    X, y = load_digits(return_X_y=True)
    return X[:n_rows], y[:n_rows]


def _imagined(*shape: int, **kind: Any) -> tuple[Any, Any]:
    return imagined_table(*shape, seed=SEED, **kind)


def _labels(n_classes: int) -> dict[str, Any]:
    return {"task": "classification", "n_classes": n_classes}


#: Tables and searches: classes, categories and candidates, few and many.
CASES: dict[str, tuple[Callable[[], tuple[Any, Any]], Any]] = {
    "digits, 10 classes, 300 rows": (lambda: _digits(300), PPFS.calibrated(random_state=SEED)),
    "digits, 10 classes, linear": (
        lambda: _digits(300),
        PPFS.calibrated(LogisticRegression(), random_state=SEED),
    ),
    "digits, 10 classes, trees": (lambda: _digits(600), PPFS(**_PAPER)),
    "digits, 10 classes, forests": (lambda: _digits(300), PPFS(RandomForestClassifier(25), **_PAPER)),
    "ecoli, 8 classes": (lambda: _named("ecoli"), PPFS.calibrated(random_state=SEED)),
    "wine, 3 classes": (lambda: load_wine(return_X_y=True), PPFS.calibrated(random_state=SEED)),
    "wdbc": (lambda: _named("wdbc"), PPFS.calibrated(random_state=SEED)),
    "wdbc, the paper's": (lambda: _named("wdbc"), PPFS(**_PAPER)),
    "wdbc, 3 folds": (lambda: _named("wdbc"), PPFS(n_folds=3, **_PAPER)),
    "wdbc, boosting": (
        lambda: _named("wdbc", 300),
        PPFS(HistGradientBoostingClassifier(max_iter=20), n_splits=5, random_state=SEED),
    ),
    "heart": (lambda: _named("heart"), PPFS.calibrated(random_state=SEED)),
    "ionosphere": (lambda: _named("ionosphere"), PPFS.calibrated(random_state=SEED)),
    "sonar": (lambda: _named("sonar"), PPFS.calibrated(random_state=SEED)),
    "sonar, naive Bayes": (lambda: _named("sonar"), PPFS(GaussianNB(), **_PAPER)),
    "credit, text": (lambda: _named("credit"), PPFS.calibrated(random_state=SEED)),
    "credit, text, the paper's": (lambda: _named("credit"), PPFS(**_PAPER)),
    "desharnais": (lambda: _named("desharnais"), PPFS.calibrated(random_state=SEED)),
    "diabetes": (lambda: load_diabetes(return_X_y=True), PPFS.calibrated(random_state=SEED)),
    "madelon, 500 rows": (lambda: _named("madelon", 500), PPFS.calibrated(random_state=SEED)),
    "5 classes, 200 columns": (
        lambda: _imagined(400, 200, 20, **_labels(5)),
        PPFS.calibrated(random_state=SEED),
    ),
    "26 classes, 20 columns": (
        lambda: _imagined(600, 20, 12, **_labels(26)),
        PPFS.calibrated(random_state=SEED),
    ),
    "26 classes, trees": (lambda: _imagined(1000, 60, 30, **_labels(26)), PPFS(**_PAPER)),
    "60 candidates of 80": (lambda: _imagined(400, 80, 60), PPFS.calibrated(random_state=SEED)),
    "100 candidates of 200, linear": (
        lambda: _imagined(1000, 200, 100),
        PPFS.calibrated(LinearRegression(), random_state=SEED),
    ),
    "2,000 columns": (lambda: _imagined(300, 2000, 20), PPFS.calibrated(random_state=SEED)),
    "10,000 columns, linear": (
        lambda: _imagined(300, 10_000, 20),
        PPFS.calibrated(LinearRegression(), random_state=SEED),
    ),
    "5,000 rows": (lambda: _imagined(5000, 40, 15), PPFS.calibrated(random_state=SEED)),
    "20,000 rows, linear": (
        lambda: _imagined(20_000, 40, 15),
        PPFS.calibrated(LinearRegression(), random_state=SEED),
    ),
    "half text, 30 columns": (
        lambda: _imagined(400, 30, 15, n_text=15, **_labels(2)),
        PPFS.calibrated(random_state=SEED),
    ),
    "all text, 4 classes": (
        lambda: _imagined(500, 24, 12, n_text=24, **_labels(4)),
        PPFS.calibrated(random_state=SEED),
    ),
}


def _iris() -> tuple[Any, Any]:
    X, y = load_iris(return_X_y=True)
    return X, y


def _odd_digits() -> tuple[Any, Any]:
    X, y = _digits(1000)
    return X, y % 2


#: Ten more, drawn after the cost model was last changed: they played no part in it.
FRESH: dict[str, tuple[Callable[[], tuple[Any, Any]], Any]] = {
    "iris": (_iris, PPFS.calibrated(random_state=SEED)),
    "odd digits, 1,000 rows": (_odd_digits, PPFS.calibrated(random_state=SEED)),
    "maxwell": (lambda: _named("maxwell"), PPFS.calibrated(random_state=SEED)),
    "heart, forests": (lambda: _named("heart"), PPFS(RandomForestClassifier(25), **_PAPER)),
    "ionosphere, the paper's, 5 folds": (lambda: _named("ionosphere"), PPFS(n_folds=5, **_PAPER)),
    "sonar, nearest neighbors": (
        lambda: _named("sonar"),
        PPFS(KNeighborsClassifier(), n_splits=5, random_state=SEED),
    ),
    "7 classes, 30 columns": (
        lambda: _imagined(350, 30, 10, **_labels(7)),
        PPFS.calibrated(random_state=SEED),
    ),
    "40 columns of text, 3 classes": (
        lambda: _imagined(600, 40, 8, n_text=40, **_labels(3)),
        PPFS(**_PAPER),
    ),
    "150 rows, 600 columns": (lambda: _imagined(150, 600, 10), PPFS.calibrated(random_state=SEED)),
    "8,000 rows, 15 columns": (lambda: _imagined(8000, 15, 9), PPFS.calibrated(random_state=SEED)),
}


def planned_and_run(name: str) -> dict[str, Any]:
    """Return what was predicted for a case, and what it took."""
    say(f"{name} ...")
    make, selector = {**CASES, **FRESH}[name]
    case = compared_with_a_run(*make(), selector)
    say(f"    {case}")
    return case


def compared_with_a_run(X: Any, y: Any, selector: Any, limit: float = inf) -> dict[str, Any]:
    """Return what is predicted for a search, and what it takes; after `limit` CPU seconds it is cut short."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        started = time.process_time()
        rates = measure_rates(selector, X, y)
        planning = time.process_time() - started
        cost = predict_cost(rates, *X.shape)
        compiled, started = compile_seconds()[1], time.process_time()
        with watched_phases(limit) as phases, suppress(OutOfTimeError):
            clone(selector).fit(X, y)
        seconds = time.process_time() - started - (compile_seconds()[1] - compiled)
    shrink = [phase for phase in phases if phase.label.endswith("shrink")]
    return {
        "shape": list(X.shape),
        "candidates": [rates.n_candidates, sum(phase.total for phase in shrink)],
        "seconds": [cost.seconds - cost.startup, seconds],
        "growth_fits": [cost.growth_fits, _fits(phases, "growth")],
        "count_fits": [cost.count_fits, _fits(phases, "exact growth")],
        "shrink_fits": [cost.shrink_fits, _fits(phases, "shrink")],
        "planning": planning,
    }


def _fits(phases: Sequence[Phase], name: str) -> int:
    return sum(phase.n_fits for phase in phases if re.sub(r"^fold \d+ ", "", phase.label) == name)


def is_good(case: dict[str, Any]) -> bool:
    """Return whether an estimate is within a factor of 3, or within half a second."""
    predicted, measured = case["seconds"]
    return 1 / 3 <= predicted / measured <= 3 or abs(predicted - measured) <= 0.5


def cases_table(cases: dict[str, dict[str, Any]]) -> str:
    """Return predictions and measurements of the cases, and how many estimates are good."""
    rows = []
    for name, case in cases.items():
        predicted, measured = case["seconds"]
        fits = [
            "{:,.0f} / {:,.0f}".format(*case[key]) for key in ("growth_fits", "count_fits", "shrink_fits")
        ]
        rows.append(
            [
                name,
                "{:,} x {:,}".format(*case["shape"]),
                "{:,} / {:,}".format(*case["candidates"]),
                *fits,
                f"{predicted:.1f} / {measured:.1f}",
                f"{predicted / measured:.2f}" + ("" if is_good(case) else " **NO**"),
            ]
        )
    header = [
        "table and search",
        "rows x columns",
        "candidates",
        "fits: growth",
        "count",
        "shrink",
        "CPU s",
        "ratio",
    ]
    n_good = sum(map(is_good, cases.values()))
    return f"{markdown_table(header, rows)}\n\n{n_good} of {len(cases)} within a factor of 3."


def rates_of(name: str, n_rows: int, startup: float) -> dict[str, Any]:
    """Return the rates of a search on a table with this many rows, with the start-up time of a process."""
    say(f"{name}, {n_rows} rows ...")
    X, y = imagined_table(n_rows, 400, N_TRUE, seed=SEED)
    return asdict(replace(measure_rates(SEARCHES[name], X, y, n_candidates=N_TRUE), startup=startup))


def loaded(rates: dict[str, Any]) -> Rates:
    """Return rates as they were before they were saved."""
    parts: dict[str, Any] = {name: Line(**rates[name]) for name in ("growth", "shrink_by_rows")}
    parts |= {name: PerQuestion(**rates[name]) for name in ("joint", "look") if name in rates}
    parts["shrink"] = None if rates["shrink"] is None else Shrinkage(**rates["shrink"])
    return Rates(**{**rates, **parts})


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
            known = loaded(rates[name][str(min(n_rows, MANY_ROWS))])
            cost = predict_cost(known, n_rows, n_columns, n_candidates=N_TRUE)
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
            known = loaded(rates[name][str(min(n_rows, MANY_ROWS))])
            cost = predict_cost(known, n_rows, n_columns, n_candidates=N_TRUE, n_workers=n_workers)
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
    parser.add_argument("--searches", nargs="*", choices=SEARCHES, default=list(SEARCHES))
    parser.add_argument("--cases", nargs="*", choices=CASES, default=list(CASES))
    parser.add_argument("--fresh", nargs="*", choices=FRESH, default=list(FRESH))
    arguments = parser.parse_args()
    results: dict[str, Any] = load(RESULTS) if RESULTS.is_file() else {"rates": {}}
    results.setdefault("cases", {})
    results.setdefault("fresh", {})
    results["machine"] = describe_machine()
    startup = time.process_time()
    for name in arguments.searches:
        results["rates"][name] = {str(n): rates_of(name, n, startup) for n in (N_ROWS, MANY_ROWS)}
        save(results, RESULTS)
    for name in arguments.cases:
        results["cases"][name] = planned_and_run(name)
        save(results, RESULTS)
    for name in arguments.fresh:
        results["fresh"][name] = planned_and_run(name)
        save(results, RESULTS)
    print(cases_table(results["cases"]), cases_table(results["fresh"]), "", sep="\n\n")
    if WIDE.is_file():
        print(compared(results["rates"]), "", sep="\n")
    print(worked_out(results["rates"]), "", *machine_lines(results["machine"]), sep="\n")


if __name__ == "__main__":
    main()
