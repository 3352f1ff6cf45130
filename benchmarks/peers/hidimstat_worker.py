"""Ask hidimstat about the tables of benchmarks/calibration/links.py, in a separate environment.

python hidimstat_worker.py RESULTS.csv REPLICATES
"""

from __future__ import annotations

import csv
import sys
import time
import warnings
from pathlib import Path

import numpy as np
from hidimstat import CFI, CFICV, D0CRT
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.model_selection import KFold, train_test_split

sys.path.append(str(Path(__file__).resolve().parents[1] / "calibration"))

from links import POWER, draw


def cficv(model, X, y, seed):
    """Measure conditional feature importance over five folds, with its corrected t-test."""
    test = CFICV(model, KFold(5, shuffle=True, random_state=seed), random_state=seed)
    test.fit_importance(X, y)
    return test


def cfi(model, X, y, seed):
    """Measure conditional feature importance (CPI in earlier versions) on one held-out fifth, with its t-test."""
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=seed)
    test = CFI(model.fit(X_train, y_train), random_state=seed)
    test.fit(X_train, y_train)
    test.importance(X_test, y_test)
    return test


def d0crt(model, X, y, seed):
    """Run the distilled conditional randomisation test."""
    test = D0CRT(model, screening_threshold=None, random_state=seed)
    test.fit_importance(X, y)
    return test


def contenders(seed):
    """Return what to run by name."""
    boosting = HistGradientBoostingRegressor(max_iter=50, random_state=seed)
    return {
        "CFICV, boosting": (cficv, boosting),
        "CFICV, ridge": (cficv, RidgeCV()),
        "CFI on one split, boosting": (cfi, boosting),
        "D0CRT, lasso": (d0crt, LassoCV(alphas=10)),
    }


def main() -> None:
    path, n_replicates = Path(sys.argv[1]), int(sys.argv[2])
    done = set()
    if path.exists():
        with path.open(newline="") as file:
            done = {(line["test"], line["link"], int(line["replicate"])) for line in csv.DictReader(file)}
    with path.open("a", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        if not done:
            writer.writerow(["test", "link", "replicate", "pvalue", "seconds"])
        for replicate in range(n_replicates):
            for cell in (one for one in POWER if one.target == "quantity"):
                sample = draw(cell, replicate)
                for name, (method, model) in contenders(replicate).items():
                    if (name, cell.link, replicate) in done:
                        continue
                    began = time.process_time()
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")
                        # x is the first column.
                        pvalue = float(np.ravel(method(model, sample.X, sample.y, replicate).pvalues_)[0])
                    seconds = time.process_time() - began
                    writer.writerow([name, cell.link, replicate, f"{pvalue:.6g}", f"{seconds:.4f}"])
                    file.flush()


if __name__ == "__main__":
    main()
