"""Which candidates and which rule `PPFSCV` should have by default: on planted problems and scikit-learn's own sets.

    python benchmarks/paper/defaults.py           # runs what is missing and prints the table
    python benchmarks/paper/defaults.py --table   # prints the table of what is there

None of the paper's data sets is used. Every problem is divided into rows for choosing and rows for judging the choice;
all candidates are scored inside the former by cross-validation and on the latter, so that any subset of candidates and
any rule can be compared afterwards.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from records import DEFAULTS, Record
from sklearn.datasets import load_diabetes, load_digits, load_wine
from sklearn.model_selection import ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFSCV
from ppfs.datasets import make_blanket_problem

SIZES = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64]
CV, N_REPEATS = 5, 4

# Families of candidates, each with the grid that makes it.
FAMILIES: dict[str, list[dict[str, list[Any]]]] = {
    "blankets": [{"alpha": [0.01, 0.05, 0.2]}],
    "path": [{"n_features": SIZES}],
}

# For comparison: the best on the rows to judge by.
KNOWN = "if it were known"

Problem = tuple[np.ndarray, np.ndarray, list[tuple[np.ndarray, np.ndarray]]]

# Planted: a few columns that tell much, and many that tell little. Rows to judge by cost nothing there.
PLANTED = {
    "few": {"n_features": 40},
    "many": {
        "n_features": 40,
        "n_parents": 8,
        "n_children": 6,
        "n_spouses": 3,
        "n_relatives": 8,
        "noise": 1.0,
    },
}
N_TRAIN, N_TEST = 200, 1500


def problems() -> Iterator[tuple[str, Callable[[], Problem]]]:
    """Yield names and makers of the problems: columns, target, and rows to choose in and to judge by."""
    for seed in range(4):
        for mechanism in ("linear", "nonlinear", "mixed"):
            for kind in PLANTED:
                name = f"{kind}-{mechanism}-{seed}"
                yield name, lambda mechanism=mechanism, kind=kind, seed=seed: planted(mechanism, kind, seed)
        yield f"wine-{seed}", lambda seed=seed: divided(*load_wine(return_X_y=True), 107, seed)
        yield f"digits-{seed}", lambda seed=seed: divided(*load_digits(return_X_y=True), 300, seed)
        yield f"diabetes-{seed}", lambda seed=seed: divided(*load_diabetes(return_X_y=True), 265, seed)


def planted(mechanism: str, kind: str, seed: int) -> Problem:
    X, y, _ = make_blanket_problem(
        N_TRAIN + N_TEST, mechanism=mechanism, task="classification", random_state=seed, **PLANTED[kind]
    )
    return X, y, [(np.arange(N_TRAIN), np.arange(N_TRAIN, N_TRAIN + N_TEST))]


def divided(X: np.ndarray, y: np.ndarray, n_train: int, seed: int) -> Problem:
    return X, y, list(ShuffleSplit(1, train_size=n_train, random_state=seed).split(X))


def models(is_regression: bool) -> dict[str, Any]:
    if is_regression:
        return {
            "tree": DecisionTreeRegressor(random_state=0),
            "svm": make_pipeline(StandardScaler(), SVR(C=100)),
        }
    return {"tree": DecisionTreeClassifier(random_state=0), "svm": make_pipeline(StandardScaler(), SVC())}


def measure(name: str, make: Callable[[], Problem]) -> None:
    """Score all candidates of one problem with each model."""
    X, y, divisions = make()
    for label, model in models(is_regression=y.dtype.kind == "f").items():
        if (name, label) not in DEFAULTS:
            start = time.process_time()
            DEFAULTS.add({"problem": name, "model": label, **score_all(X, y, model, divisions)})
            print(f"{name}, {label}: {time.process_time() - start:.0f} s", file=sys.stderr, flush=True)


def score_all(
    X: np.ndarray, y: np.ndarray, model: Any, divisions: list[tuple[np.ndarray, np.ndarray]]
) -> dict[str, Any]:
    """Return the scores of all candidates inside the rows to choose in, and on the others."""
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
    """Return the candidate that a rule chooses; see `PPFSCV`, which has no rule "paired", and cannot know."""
    if rule == KNOWN:
        return max(subset, key=lambda i: run["outer"][i])
    scores = np.array(run["inner"])[:, :n_parts]
    means, sizes = scores.mean(axis=1).round(12), run["inner sizes"]
    top = min(subset, key=lambda i: (-means[i], sizes[i]))
    if rule == "best":
        return top
    # By how much each is behind the best, and the error of that: of the best's own mean, or of the difference.
    behind = scores[top] - (scores if rule == "paired" else means[:, np.newaxis])
    allowed = behind.std(axis=1, ddof=1) / np.sqrt(n_parts)
    enough = [i for i in subset if means[top] - means[i] <= allowed[i] + 1e-12]
    return min(enough, key=lambda i: (sizes[i], -means[i]))


def subsets() -> dict[str, list[int]]:
    """Return sets of families, as numbers of candidates."""
    numbers, first = {}, 0
    for name, grids in FAMILIES.items():
        count = sum(int(np.prod([len(values) for values in grid.values()])) for grid in grids)
        numbers[name] = list(range(first, first + count))
        first += count
    return {**numbers, "blankets + path": numbers["blankets"] + numbers["path"]}


def table() -> str:
    """Return mean gains over all columns, in points of the score, and the share of the columns."""
    header = ["candidates", "rule", "repeats"]
    for group in ("tree", "support vector machine", "diabetes, R²"):
        header += [f"{group}: points over all columns", "share"]
    lines = [f"| {' | '.join(header)} |", f"|{' --- |' * len(header)}"]
    for name, subset in subsets().items():
        for rule in ("best", "paired", "one-se"):
            for repeats in (1, 2, 4):
                cells = [figures(records, subset, rule, CV * repeats) for records in groups()]
                lines.append(f"| {name} | {rule} | {repeats} | {' | '.join(cells)} |")
    cells = [figures(records, subsets()["path"], KNOWN, 0) for records in groups()]
    lines.append(f"| path | {KNOWN} | - | {' | '.join(cells)} |")
    return "\n".join(lines)


def groups() -> list[list[Record]]:
    """Return the classification problems judged by a tree, by a support vector machine, and those of regression."""
    there = DEFAULTS.in_order()
    is_regression = [record["problem"].startswith("diabetes") for record in there]
    kinds = [
        None if regression else record["model"]
        for record, regression in zip(there, is_regression, strict=True)
    ]
    return [
        [record for record, kind in zip(there, kinds, strict=True) if kind == wanted]
        for wanted in ("tree", "svm", None)
    ]


def figures(records: list[Record], subset: list[int], rule: str, n_parts: int) -> str:
    """Return the mean gain over all columns with its standard error, and the mean share of the columns."""
    everything = subsets()["path"][-1]
    gains, shares = [], []
    for record in records:
        for run in record["runs"]:
            best = chosen(run, subset, rule, n_parts)
            gains.append(run["outer"][best] - run["outer"][everything])
            shares.append(run["outer sizes"][best] / record["n_features"])
    error = np.std(gains, ddof=1) / np.sqrt(len(gains))
    return f"{100 * np.mean(gains):+.2f} ± {100 * error:.2f} | {100 * np.mean(shares):.0f} %"


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
