"""Protocol (a): PPFS with a tree selects once on all rows, the columns are cross-validated, the best setting counts.

The columns and the setting are chosen on the same rows that are scored. The score is not an estimate for new rows, but
it is how the published figures arise.
"""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from sets import SEED, SETS, folds, load, score
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS

# With four seeds 120 settings: B, alpha and K. A cell holds those of one seed.
SETTINGS = {"n_splits": (10, 20, 30, 50, 100), "alpha": (0.01, 0.05, 0.1), "n_folds": (0, 5)}
SEEDS = (0, 1, 2, 3)

# With two seeds 16 settings where there are thousands of columns; B and K are the paper's, or next to them.
WIDE_SETTINGS = {"n_splits": (5, 10), "alpha": (0.05, 0.1), "n_folds": (0, 5)}
WIDE_SEEDS = (0, 1)


def seeds_of(key: str) -> tuple[int, ...]:
    """Return the seeds of a set."""
    return WIDE_SEEDS if SETS[key].is_wide else SEEDS


def all_settings(key: str, seed: int) -> dict[str, Any]:
    """Return the scores and sizes of all settings with one seed, for each model."""
    X, y = load(key)
    one = SETS[key]
    divisions = folds(key, SEED)
    tree = DecisionTreeRegressor if one.is_regression else DecisionTreeClassifier
    grid = WIDE_SETTINGS if one.is_wide else SETTINGS
    known: dict[tuple[int, ...], dict[str, float]] = {}
    records = []
    for n_folds, n_splits in product(grid["n_folds"], grid["n_splits"]):
        # One selector for all levels: it remembers its answers.
        selector = PPFS(tree(random_state=seed), n_splits=n_splits, n_folds=n_folds, random_state=seed)
        for alpha in grid["alpha"]:
            columns = tuple(sorted(selector.set_params(alpha=alpha).fit(X, y).blanket_.tolist()))
            if columns not in known:
                known[columns] = {
                    model: float(np.mean([score(model, X, y, list(columns), *part) for part in divisions]))
                    for model in one.models
                }
            setting = {"n_splits": n_splits, "alpha": alpha, "n_folds": n_folds, "seed": seed}
            records.append({**setting, "size": len(columns), **known[columns]})
    names = list(records[0])
    return {"columns": names, "settings": [[_short(record[name]) for name in names] for record in records]}


def _short(value: float) -> float:
    return round(value, 6) if isinstance(value, float) else value
