"""Which candidates and which rule `PPFSCV` should have by default: on planted problems and scikit-learn's own sets.

    python benchmarks/paper/defaults.py           # runs what is missing and prints the table
    python benchmarks/paper/defaults.py --table   # prints the table of what is there

None of the paper's sets is looked at. Every problem is divided into rows to choose in and rows to judge the choice by;
all candidates are scored inside the former by cross-validation and on the latter, so that any subset of candidates and
any rule can be compared afterwards.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFSCV
from ppfs.datasets import make_blanket_problem

RESULTS = Path(__file__).parent / "results" / "defaults"
SIZES = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64]
CV, N_REPEATS, N_DIVISIONS = 5, 2, 2

# Families of candidates, each with the grid that makes it.
FAMILIES: dict[str, list[dict[str, list[Any]]]] = {
    "blankets": [{"n_splits": [10, 30], "alpha": [0.01, 0.05, 0.2]}],
    "path": [{"n_splits": [30], "alpha": [0.05], "n_features": SIZES}],
}


def problems() -> Iterator[tuple[str, Callable[[], tuple[np.ndarray, np.ndarray]]]]:
    """Yield names and makers of the problems."""
    for mechanism in ("linear", "nonlinear"):
        for seed in (0, 1):
            yield (
                f"{mechanism}-{seed}",
                lambda mechanism=mechanism, seed=seed: make_blanket_problem(
                    250, n_features=40, mechanism=mechanism, task="classification", random_state=seed
                )[:2],
            )
    yield "wine", lambda: load_wine(return_X_y=True)
    yield "digits", lambda: tuple(part[:400] for part in load_digits(return_X_y=True))
    yield "diabetes", lambda: load_diabetes(return_X_y=True)


def models(is_regression: bool) -> dict[str, Any]:
    if is_regression:
        return {
            "tree": DecisionTreeRegressor(random_state=0),
            "svm": make_pipeline(StandardScaler(), SVR(C=100)),
        }
    return {"tree": DecisionTreeClassifier(random_state=0), "svm": make_pipeline(StandardScaler(), SVC())}


def measure(name: str, make: Callable[[], tuple[np.ndarray, np.ndarray]]) -> None:
    """Score all candidates of one problem with each model."""
    X, y = make()
    for label, model in models(is_regression=y.dtype.kind == "f").items():
        path = RESULTS / f"{name}-{label}.json"
        if not path.exists():
            start = time.process_time()
            RESULTS.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(score_all(X, y, model)) + "\n", encoding="utf-8")
            print(f"{path.stem}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)


def score_all(X: np.ndarray, y: np.ndarray, model: Any) -> dict[str, Any]:
    """Return the scores of all candidates inside the rows to choose in, and on the others."""
    divisions = list(ShuffleSplit(N_DIVISIONS, test_size=0.4, random_state=0).split(X))
    grids = [grid for family in FAMILIES.values() for grid in family]
    outer = PPFSCV(model, candidates=grids, cv=divisions, refit=False, random_state=0).fit(X, y).cv_results_
    runs = []
    for i, (train, _) in enumerate(divisions):
        inner = PPFSCV(model, candidates=grids, cv=CV, n_repeats=N_REPEATS, refit=False, random_state=0)
        results = inner.fit(X[train], y[train]).cv_results_
        scores = [results[f"split{j}_test_score"] for j in range(CV * N_REPEATS)]
        runs.append(
            {
                "inner": np.round(np.column_stack(scores), 5).tolist(),
                "inner sizes": results["mean_n_features"].tolist(),
                "outer": np.round(outer[f"split{i}_test_score"], 5).tolist(),
                "outer sizes": outer[f"split{i}_n_features"].tolist(),
            }
        )
    return {"n_features": X.shape[1], "runs": runs}


def chosen(run: dict[str, Any], subset: list[int], rule: str, n_parts: int) -> int:
    """Return the candidate that a rule chooses; see `PPFSCV`."""
    scores = np.array(run["inner"])[:, :n_parts]
    means, sizes = scores.mean(axis=1).round(12), run["inner sizes"]
    top = min(subset, key=lambda i: (-means[i], sizes[i]))
    if rule == "best":
        return top
    enough = means[top] - scores[top].std(ddof=1) / np.sqrt(n_parts)
    return min((i for i in subset if means[i] >= enough), key=lambda i: (sizes[i], -means[i]))


def subsets() -> dict[str, list[int]]:
    """Return sets of families, as numbers of candidates."""
    numbers, first = {}, 0
    for name, grids in FAMILIES.items():
        count = sum(int(np.prod([len(values) for values in grid.values()])) for grid in grids)
        numbers[name] = list(range(first, first + count))
        first += count
    return {
        **numbers,
        "blankets + path": numbers["blankets"] + numbers["path"],
    }


def table() -> str:
    """Return mean gains over all columns, in points of the score, and the share of the columns."""
    lines = [
        "| candidates | rule | repeats | score, all columns = 0 | standard error | share of columns |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    records = [json.loads(path.read_text()) for path in sorted(RESULTS.glob("*.json"))]
    everything = subsets()["path"][-1]
    for name, subset in subsets().items():
        for rule in ("best", "one-se"):
            for repeats in (1, 2):
                gains, shares = [], []
                for record in records:
                    for run in record["runs"]:
                        best = chosen(run, subset, rule, CV * repeats)
                        gains.append(run["outer"][best] - run["outer"][everything])
                        shares.append(run["outer sizes"][best] / record["n_features"])
                error = np.std(gains, ddof=1) / np.sqrt(len(gains))
                figures = f"{100 * np.mean(gains):+.2f} | {100 * error:.2f} | {100 * np.mean(shares):.0f} %"
                lines.append(f"| {name} | {rule} | {repeats} | {figures} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--table", action="store_true", help="run nothing")
    warnings.simplefilter("ignore")
    if not parser.parse_args().table:
        for name, make in problems():
            measure(name, make)
    print(table())


if __name__ == "__main__":
    main()
