"""Select with another project's method in every fold; runs in their environment, and prints one JSON object."""

from __future__ import annotations

import json
import sys
import warnings
from importlib.metadata import version

import numpy as np
import pandas as pd

warnings.simplefilter("ignore")

ALPHA = 0.05
N_SPLITS = 30


def pyimpetus(X, y, is_regression, seed):
    """PyImpetus with the same tree, B and alpha as PPFS."""
    from PyImpetus import PPIMBC, PPIMBR
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    make, tree = (PPIMBR, DecisionTreeRegressor) if is_regression else (PPIMBC, DecisionTreeClassifier)
    selector = make(
        tree(random_state=seed),
        p_val_thresh=ALPHA,
        num_simul=N_SPLITS,
        random_state=seed,
        n_jobs=1,
        verbose=0,
    )
    selector.fit(pd.DataFrame(X), y)
    return sorted(int(name) for name in selector.MB)


def boruta(X, y, is_regression, seed):
    """Boruta as its own page shows it, with 30 rounds."""
    from boruta import BorutaPy
    from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor

    make = RandomForestRegressor if is_regression else RandomForestClassifier
    forest = make(max_depth=5, n_jobs=1, random_state=seed)
    selector = BorutaPy(forest, n_estimators=100, max_iter=30, random_state=seed)
    return np.flatnonzero(selector.fit(X, y).support_).tolist()


def mrmr(X, y, is_regression, seed):
    """Return ten columns of maximum relevance and minimum redundancy, or half of them where there are fewer."""
    from mrmr import mrmr_classif, mrmr_regression

    n_wanted = min(10, X.shape[1] // 2)
    run = mrmr_regression if is_regression else mrmr_classif
    chosen = run(pd.DataFrame(X), pd.Series(y), K=n_wanted, show_progress=False, n_jobs=1)
    return sorted(int(name) for name in chosen)


def hidimstat(X, y, is_regression, seed):
    """Model-X knockoffs with the lasso, false discovery rate 0.1; labels as numbers."""
    from hidimstat import ModelXKnockoff

    scaled = (X - X.mean(axis=0)) / np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    importance = ModelXKnockoff(random_state=seed)
    importance.fit_importance(scaled, y.astype(float))
    return np.flatnonzero(np.asarray(importance.fdr_selection(fdr=0.1)) > 0).tolist()


METHODS = {"PyImpetus": pyimpetus, "Boruta": boruta, "mRMR": mrmr, "hidimstat": hidimstat}
PACKAGES = {"PyImpetus": "PyImpetus", "Boruta": "Boruta", "mRMR": "mrmr_selection", "hidimstat": "hidimstat"}


def main() -> None:
    method, path, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
    with np.load(path, allow_pickle=False) as archive:
        X, y, is_regression = archive["X"], archive["y"], bool(archive["is_regression"])
        trains = [archive[f"train{i}"] for i in range(int(archive["n_folds"]))]
    columns = [METHODS[method](X[train], y[train], is_regression, seed) for train in trains]
    versions = {PACKAGES[method]: version(PACKAGES[method]), "scikit-learn": version("scikit-learn")}
    print(json.dumps({"columns": columns, "versions": versions}))


if __name__ == "__main__":
    main()
