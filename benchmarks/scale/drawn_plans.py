"""Thirty tables and searches drawn at random, which played no part in the cost model: for plan.py."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS

DRAWN_WITH = 20261119
N_DRAWN = 30
MOST_VALUES = 200_000

Case = tuple[Callable[[], tuple[Any, Any]], Any]


def drawn_cases() -> dict[str, Case]:
    """Return the cases by what they are."""
    return dict(_drawn(number) for number in range(N_DRAWN))


def _drawn(number: int) -> tuple[str, Case]:
    rng = np.random.default_rng([DRAWN_WITH, number])
    n_rows = int(10 ** rng.uniform(1.9, 3.9))
    n_columns = int(min(10 ** rng.uniform(0.7, 3.3), MOST_VALUES / n_rows))
    n_classes = int(rng.choice([0, 0, 2, 2, 3, 5, 9]))
    share_of_text = float(rng.choice([0, 0, 0, 0.3, 1]))
    name, search = _search(rng, n_classes > 0)
    kind = f"{n_classes} classes" if n_classes else "numeric target"
    text = f", {share_of_text:.0%} text" if share_of_text else ""
    seed = int(rng.integers(2**31))
    return f"{number + 1}. {kind}{text}, {name}", (
        lambda: _table(np.random.default_rng(seed), n_rows, n_columns, n_classes, share_of_text),
        search,
    )


def _search(rng: np.random.Generator, has_classes: bool) -> tuple[str, Any]:
    linear = LogisticRegression() if has_classes else LinearRegression()
    forest = RandomForestClassifier if has_classes else RandomForestRegressor
    boosting = HistGradientBoostingClassifier if has_classes else HistGradientBoostingRegressor
    tree = DecisionTreeClassifier if has_classes else DecisionTreeRegressor
    n_splits = int(rng.choice([5, 10, 20]))
    searches = {
        "the preset": PPFS.calibrated(random_state=0),
        "the preset's forest": PPFS.calibrated(forest(random_state=0), random_state=0),
        "the preset's line": PPFS.calibrated(linear, random_state=0),
        "default": PPFS(random_state=0),
        f"{n_splits} splits, forests": PPFS(forest(25), n_splits=n_splits, random_state=0),
        f"{n_splits} splits, trees of depth 4": PPFS(tree(max_depth=4), n_splits=n_splits, random_state=0),
        "5 splits, boosting": PPFS(boosting(max_iter=15), n_splits=5, random_state=0),
        f"{n_splits} splits, linear": PPFS(linear, n_splits=n_splits, random_state=0),
    }
    # The preset is what most users call.
    shares = np.array([3, 1, 1, 2, 1, 1, 1, 1]) / 11
    name = str(rng.choice(list(searches), p=shares))
    return name, searches[name]


def _table(
    rng: np.random.Generator, n_rows: int, n_columns: int, n_classes: int, share_of_text: float
) -> tuple[pd.DataFrame, Any]:
    """Draw columns with common causes, and a target of a few of them, some by squares and some by their sign."""
    causes = rng.normal(size=(n_rows, 1 + n_columns // 10))
    shared = causes[:, rng.integers(causes.shape[1], size=n_columns)]
    correlation = rng.uniform(0, 0.9)
    values = np.sqrt(correlation) * shared + np.sqrt(1 - correlation) * rng.normal(size=(n_rows, n_columns))
    score = np.zeros(n_rows)
    for column in rng.choice(n_columns, size=min(n_columns, int(rng.integers(1, 15))), replace=False):
        one = values[:, column]
        score += rng.normal() * [one, one**2 - 1, np.sign(one)][rng.integers(3)]
    score += rng.uniform(0.3, 2) * score.std() * rng.normal(size=n_rows)
    frame = pd.DataFrame({f"c{i}": values[:, i] for i in range(n_columns)})
    for i in rng.choice(n_columns, size=round(share_of_text * n_columns), replace=False):
        levels = np.quantile(values[:, i], np.linspace(0, 1, int(rng.integers(3, 13)))[1:-1])
        frame[f"c{i}"] = np.array([f"level {j}" for j in range(len(levels) + 1)])[
            np.searchsorted(levels, values[:, i])
        ]
    if n_classes:
        cuts = np.quantile(score, np.sort(rng.uniform(0.08, 0.92, n_classes - 1)))
        return frame, np.searchsorted(cuts, score)
    return frame, score
