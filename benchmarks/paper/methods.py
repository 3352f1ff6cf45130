"""The selectors that are compared: each returns columns from the rows it is given. One rule for all sets.

Those of other projects with other requirements run in `peer_worker.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from lightgbm import LGBMClassifier, LGBMRegressor
from sets import judge
from sklearn.feature_selection import RFECV, SelectFromModel
from sklearn.linear_model import LassoCV, LogisticRegression, LogisticRegressionCV
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, PPFSCV
from ppfs.blanket import SGAI, MixedMB
from ppfs.blanket._cv.candidates import Candidate
from ppfs.blanket._cv.choice import Scored
from ppfs.wrappers import PermutationImportance, Stepwise

Columns = list[int]

# Selectors that look at the model which will judge them: they select once for each.
Aware = Callable[[Any, np.ndarray, str, int], Columns]
# Those that do not: they select once for all.
Unaware = Callable[[Any, np.ndarray, int], Columns]


def _support(selector: Any, X: Any, y: np.ndarray) -> Columns:
    return np.flatnonzero(selector.fit(X, y).get_support()).tolist()


def _is_regression(y: np.ndarray) -> bool:
    return y.dtype.kind == "f"


def rfecv(X: Any, y: np.ndarray, model: str, seed: int) -> Columns:
    """Recursive elimination by the tree's own importances; for the support vector machine by a linear model's."""
    if model == "tree":
        return _support(RFECV(DecisionTreeClassifier(random_state=seed), cv=5), X, y)
    scaled = StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)
    ranker = LassoCV(cv=5) if _is_regression(y) else LogisticRegression(max_iter=1000)
    step = 1 if X.shape[1] <= 100 else 0.1
    return _support(RFECV(ranker, cv=5, step=step), scaled, y)


def l1(X: Any, y: np.ndarray, seed: int) -> Columns:
    """Return the columns with a coefficient in a linear model with an L1 penalty, its strength by cross-validation."""
    scaled = StandardScaler(with_mean=not sp.issparse(X)).fit_transform(X)
    if _is_regression(y):
        return _support(SelectFromModel(LassoCV(cv=5, random_state=seed), threshold=1e-10), scaled, y)
    model = LogisticRegressionCV(
        Cs=np.logspace(-2, 1, 7),
        l1_ratios=(1.0,),
        solver="saga",
        cv=3,
        max_iter=500,
        tol=1e-3,
        random_state=seed,
        use_legacy_attributes=False,
    )
    return _support(SelectFromModel(model, threshold=1e-10), scaled, y)


def boosting(X: Any, y: np.ndarray, seed: int) -> Columns:
    """SelectFromModel with LightGBM and its default threshold, the mean importance."""
    make = LGBMRegressor if _is_regression(y) else LGBMClassifier
    model = make(random_state=seed, n_jobs=1, verbose=-1)
    return _support(
        SelectFromModel(model), X, y if _is_regression(y) else np.unique(y, return_inverse=True)[1]
    )


def by_rules(X: Any, y: np.ndarray, model: str, seed: int) -> dict[str, Columns]:
    """Return what PPFSCV selects by both rules: they differ in where the path ends, so one fit tells both."""
    fitted = PPFSCV(judge(model, sp.issparse(X)), random_state=seed).fit(X, y)
    scores, sizes = (
        np.column_stack([fitted.cv_results_[f"split{i}_{kind}"] for i in range(fitted.n_splits_)])
        for kind in ("test_score", "n_features")
    )
    params = fitted.cv_results_["params"][Scored(scores, sizes).best("one-se")]
    size = Candidate(params, 0, params["n_features"]).size(X.shape[1])
    chosen = fitted.best_params_.get("selector")
    if repr(params.get("selector")) != repr(chosen):
        # The two rules chose different searches: PPFSCV fitted only that of its own.
        other = {name: [value] for name, value in params.items()}
        only = PPFSCV(judge(model, sp.issparse(X)), candidates=other, random_state=seed, refit=False).fit(
            X, y
        )
        fewer = np.flatnonzero(only.support_)
    else:
        fewer = fitted.selector_.get_support(indices=True) if size is None else fitted.path_[:size]
    return {"PPFSCV": np.flatnonzero(fitted.support_).tolist(), "PPFSCV one-se": sorted(fewer.tolist())}


AWARE: dict[str, Aware] = {
    "PIFS": lambda X, y, model, seed: _support(
        PermutationImportance(judge(model, sp.issparse(X)), random_state=seed), X, y
    ),
    "SFS": lambda X, y, model, seed: _support(
        Stepwise(judge(model, sp.issparse(X)), random_state=seed), X, y
    ),
    "RFECV": rfecv,
}
UNAWARE: dict[str, Unaware] = {
    "All": lambda X, y, seed: list(range(X.shape[1])),
    "PPFS": lambda X, y, seed: _support(PPFS(random_state=seed), X, y),
    "PPFS calibrated": lambda X, y, seed: _support(PPFS.calibrated(random_state=seed), X, y),
    "Mixed-MB": lambda X, y, seed: _support(MixedMB(), X, y),
    "SGAI": lambda X, y, seed: _support(SGAI(), X, y),
    "L1": l1,
    "LightGBM": boosting,
}
# What one call of `by_rules` tells.
RULES = ("PPFSCV", "PPFSCV one-se")
# In a separate environment; see `peers.py`.
PEERS = ("PyImpetus", "Boruta", "mRMR", "hidimstat")
# Minutes where the others take seconds.
DEAR = ("SFS", "PPFS calibrated", "PPFSCV one-se", "PyImpetus", "RFECV", "Boruta")

METHODS = (
    "All",
    "PIFS",
    "SFS",
    "Mixed-MB",
    "SGAI",
    "PPFS",
    "PPFS calibrated",
    "PPFSCV",
    "PPFSCV one-se",
    "PyImpetus",
    "RFECV",
    "L1",
    "LightGBM",
    "Boruta",
    "mRMR",
    "hidimstat",
)


def looks_at_model(method: str) -> bool:
    """Return whether a method selects for the model that will judge it."""
    return method in AWARE or method in RULES


def select(method: str, X: Any, y: np.ndarray, model: str, seed: int) -> dict[str, Columns]:
    """Return the columns that a method of this environment selects, and those of others that it finds on the way."""
    if method in RULES:
        return by_rules(X, y, model, seed)
    return {method: AWARE[method](X, y, model, seed) if method in AWARE else UNAWARE[method](X, y, seed)}
