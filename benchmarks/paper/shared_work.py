"""What 24 candidates of `PPFSCV` cost, compared with the most expensive one alone. Prints the table of docs/paper.md.

python benchmarks/paper/shared_work.py
"""

from __future__ import annotations

import time
import warnings
from typing import Any

from records import SHARED_WORK
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFSCV

GRID = {"n_splits": [10, 30, 50], "n_folds": [0, 5], "alpha": [0.01, 0.05], "correction": [None, "bh"]}
AT_MOST = 4.0


def seconds(X: Any, y: Any, candidates: Any) -> float:
    """Return the CPU seconds of a fit."""
    start = time.process_time()
    PPFSCV(DecisionTreeClassifier(random_state=0), candidates=candidates, cv=3, random_state=0).fit(X, y)
    return time.process_time() - start


def main() -> None:
    warnings.simplefilter("ignore")
    problems = {
        "wine": load_wine(return_X_y=True),
        "breast cancer": load_breast_cancer(return_X_y=True),
        "200 x 300, made up": make_classification(200, 300, n_informative=5, random_state=0),
    }
    for name, (X, y) in problems.items():
        seconds(X, y, {"n_splits": [6]})  # Compiles.
        whole = seconds(X, y, GRID)
        # More splits and folds are more work, and a lenient level without correction keeps more columns.
        dearest = seconds(X, y, {"n_splits": [50], "n_folds": [5], "alpha": [0.05], "correction": [None]})
        record = {
            "problem": name,
            "all": round(whole, 2),
            "dearest": round(dearest, 2),
            "ratio": round(whole / dearest, 2),
        }
        SHARED_WORK.add(record)
        print(record, flush=True)


if __name__ == "__main__":
    main()
