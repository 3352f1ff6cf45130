"""What `ppfs plan` estimates for searches that nobody chose, beside CPU seconds.

    python benchmarks/scale/plan_drawn.py --seed 1                # 30 cases
    python benchmarks/scale/plan_drawn.py --seed 1 --only 4 17    # two of them, which are not recorded

A seed draws tables (rows, columns, classes, candidates, columns of text, missing values) and searches (model, test,
splits, folds, growth, second looks, correction). A search of more than 30 s is cut short and counted as 30 s.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from lightgbm import LGBMClassifier, LGBMRegressor
from plan import cases_table, compared_with_a_run
from recording import describe_machine, load, machine_lines, save, say
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._planning import imagined_table

RESULTS = Path(__file__).resolve().parent / "results" / "plan_drawn.json"
N_CASES = 30
LIMIT = 30.0

#: Models of classes, of numbers, and whether they read missing values.
MODELS: dict[str, tuple[Any, Any, bool]] = {
    "panel": ("panel", "panel", True),
    "default": (None, None, True),
    "linear": (LogisticRegression(), LinearRegression(), False),
    "tree": (DecisionTreeClassifier(max_depth=4), DecisionTreeRegressor(max_depth=4), True),
    "forest": (RandomForestClassifier(20), RandomForestRegressor(20), True),
    "boosting": (
        HistGradientBoostingClassifier(max_iter=10),
        HistGradientBoostingRegressor(max_iter=10),
        True,
    ),
    "LightGBM": (
        LGBMClassifier(n_estimators=10, verbose=-1),
        LGBMRegressor(n_estimators=10, verbose=-1),
        True,
    ),
    "naive Bayes": (GaussianNB(), LinearRegression(), False),
    "neighbors": (KNeighborsClassifier(), KNeighborsRegressor(), False),
}


def drawn(seed: int, number: int) -> tuple[str, Any, Any, PPFS]:
    """Return a case: its description, table, target and search."""
    rng = np.random.default_rng([18, seed, number])
    n_rows, n_columns = (round(10 ** rng.uniform(*powers)) for powers in ((1.8, 3.2), (0.6, 2.3)))
    n_candidates = int(rng.integers(0, min(n_columns, 20) + 1))
    n_classes = int(rng.choice([0, 0, 2, 2, 3, 6]))
    name = str(rng.choice([*MODELS, "panel", "panel", "panel"]))
    of_labels, of_numbers, takes_missing = MODELS[name]
    n_text = int(rng.integers(1, n_columns + 1)) if rng.random() < 0.3 else 0
    is_missing = takes_missing and rng.random() < 0.3
    settings: dict[str, Any] = {
        "growth": str(rng.choice(["marginal", "auto", "joint"])),
        "second_look": bool(rng.random() < 0.5),
        "correction": [None, "bh"][int(rng.integers(2))],
        "n_folds": int(rng.choice([0, 0, 0, 3])),
        "random_state": number,
    }
    if name == "panel" or rng.random() < 0.4:
        settings["independence"] = "cross-fit-ppi"
    else:
        settings["n_splits"] = int(rng.integers(5, 31))
    task = {"task": "classification", "n_classes": n_classes} if n_classes else {}
    X, y = imagined_table(n_rows, n_columns, n_candidates, n_text=n_text, seed=number, **task)
    if is_missing:
        X = pd.DataFrame(X).mask(rng.random(X.shape) < 0.05)
    words = [
        name,
        f"{n_classes} classes" if n_classes else "numbers",
        f"{n_text} of text" if n_text else "",
        "missing values" if is_missing else "",
        f"{settings['n_splits']} splits" if "n_splits" in settings else "cross-fit",
        f"{settings['n_folds']} folds" if settings["n_folds"] else "",
        settings["growth"],
        "second look" if settings["second_look"] else "",
        settings["correction"] or "",
    ]
    title = f"{number}: {', '.join(filter(None, words))}"
    return title, X, y, PPFS(of_labels if n_classes else of_numbers, **settings)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--only", type=int, nargs="*")
    arguments = parser.parse_args()
    recorded: dict[str, Any] = load(RESULTS) if RESULTS.is_file() else {}
    cases: dict[str, Any] = {}
    machine = describe_machine()
    for number in range(N_CASES) if arguments.only is None else arguments.only:
        title, X, y, selector = drawn(arguments.seed, number)
        say(title)
        cases[title] = compared_with_a_run(X, y, selector, LIMIT)
        say(f"    {cases[title]}")
        if arguments.only is None:
            save({**recorded, str(arguments.seed): {"machine": machine, "cases": cases}}, RESULTS)
    print(cases_table(cases), *machine_lines(machine), sep="\n\n")


if __name__ == "__main__":
    main()
