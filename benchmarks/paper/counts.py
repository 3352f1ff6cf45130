"""Which model gives the columns of the paper's table 6: PPFS on all rows of the wide sets, with several models.

    python benchmarks/paper/counts.py [--sets arcene] [--models tree linear]

B is the paper's; K is 0, and for Arcene, where the paper has 5, the largest of five folds' blankets is about as large.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

from published import SIZES
from records import COUNTS
from sets import WIDE, load
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS

# For growth alone: the level of the search, and stricter ones.
LEVELS = (0.05, 0.01, 0.002)
N_SPLITS = {"arcene": 10, "dexter": 5, "dorothea": 5, "madelon": 5}
MODELS: dict[str, dict[str, Any]] = {
    "tree": {"estimator": DecisionTreeClassifier(random_state=0)},
    "tree, paired t": {"estimator": DecisionTreeClassifier(random_state=0), "significance": "paired-t"},
    "tree of depth 3": {"estimator": DecisionTreeClassifier(max_depth=3, random_state=0)},
    "linear": {"estimator": LogisticRegression()},
    "linear, paired t": {"estimator": LogisticRegression(), "significance": "paired-t"},
    "forest": {"estimator": RandomForestClassifier(n_estimators=20, random_state=0)},
    "boosting": {"estimator": HistGradientBoostingClassifier(max_iter=20, random_state=0)},
    "naive Bayes": {"estimator": GaussianNB()},
}
# Models that do not take sparse columns, and the sets that have them.
DENSE_ONLY, SPARSE = ("boosting", "naive Bayes"), ("dexter", "dorothea")


def count(key: str, model: str) -> dict[str, Any]:
    """Return how many columns grow and how many stay."""
    X, y = load(key)
    start = time.process_time()
    fitted = PPFS(**MODELS[model], n_splits=N_SPLITS[key], random_state=0).fit(X, y)
    seconds = round(time.process_time() - start, 1)
    # The first answer about a column is that of the growth phase.
    alone: dict[int, float] = {}
    for step in fitted.trace_:
        alone.setdefault(step.feature, step.pvalue)
    grown = {str(level): sum(pvalue <= level for pvalue in alone.values()) for level in LEVELS}
    return {"set": key, "model": model, "grown": grown, "kept": len(fitted.blanket_), "seconds": seconds}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sets", nargs="+", default=[one.key for one in WIDE])
    parser.add_argument("--models", nargs="+", default=list(MODELS), choices=list(MODELS))
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    for key in arguments.sets:
        for model in arguments.models:
            if key in SPARSE and model in DENSE_ONLY:
                continue
            if (key, model) not in COUNTS:
                COUNTS.add(count(key, model))
            print(COUNTS.read()[key, model], "published:", SIZES[key]["PPFS"], flush=True)


if __name__ == "__main__":
    main()
