"""Slow ways to the same answers: models one by one through scikit-learn's interface, tests in plain NumPy."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.stats import chi2, norm
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))

from reference.contingency import degrees_of_freedom, g_squared, table_of
from reference.twin_tree import TwinTreeClassifier, TwinTreeRegressor

from ppfs.independence._predictive import bound_predictive
from ppfs.independence._predictive.risks.any_model import ModelRisks


@contextmanager
def engine_off() -> Iterator[None]:
    """Fit every model through scikit-learn's interface, one by one."""
    fast = bound_predictive.risk_source
    bound_predictive.risk_source = lambda table, problem, n_jobs: ModelRisks(
        table, problem, n_jobs, "the engine is off"
    )
    try:
        yield
    finally:
        bound_predictive.risk_source = fast


def disagreement(case: Any, fitted: Any) -> str:
    """Say what the slow path finds otherwise; "" if nothing."""
    if case.kind in ("fisher-z", "g2"):
        return _steps_that_differ(case, fitted)
    return _fit_that_differs(case, fitted)


def _fit_that_differs(case: Any, fitted: Any) -> str:
    slow, X = clone(case.search), case.X
    # Trees break ties by chance in scikit-learn; the twin as the engine does. It reads plain numbers only.
    is_twin = case.kind == "trees" and not case.fault
    if is_twin:
        tree = case.search.estimator
        twin = TwinTreeClassifier if isinstance(tree, DecisionTreeClassifier) else TwinTreeRegressor
        slow.set_params(estimator=twin(tree.max_depth, tree.min_samples_leaf))
        X = _numbers(X) if case.plain is None else case.plain
    weights = {} if case.weights is None else {"sample_weight": case.weights}
    with engine_off():
        slow.fit(X, case.y, **weights)
    if case.has_ties:
        growth = [
            {
                (step.fold, step.feature): step.pvalue
                for step in one.trace_
                if step.phase == "growth" and not step.given
            }
            for one in (fitted, slow)
        ]
        fast, other = ([answers[key] for key in sorted(growth[0])] for answers in growth)
        return _difference(fast, other, "p-values of growth")
    if fitted.support_.tolist() != slow.support_.tolist():
        return f"selected {np.flatnonzero(fitted.support_)}, slowly {np.flatnonzero(slow.support_)}"
    return _difference(fitted.pvalues_, slow.pvalues_, "p-values") or _difference(
        fitted.importances_, slow.importances_, "importances", absolute=1e-5
    )


def _numbers(X: Any) -> np.ndarray:
    """Return dense numbers, text as the places of its values in their order."""
    columns = np.array(X.toarray() if sp.issparse(X) else X, dtype=object).T
    is_text = [any(isinstance(value, str) for value in column) for column in columns]
    return np.column_stack(
        [
            np.unique(column.astype(str), return_inverse=True)[1] if text else column.astype(float)
            for column, text in zip(columns, is_text, strict=True)
        ]
    )


def _difference(fast: Any, slow: Any, name: str, absolute: float = 1e-9) -> str:
    same = np.allclose(fast, slow, rtol=1e-4, atol=absolute)
    return "" if same else f"{name} {np.round(fast, 6)}, slowly {np.round(slow, 6)}"


def _steps_that_differ(case: Any, fitted: Any) -> str:
    """Ask every question of the search again, by hand."""
    labels = np.unique(np.asarray(case.y), return_inverse=True)[1] if case.kind == "g2" else case.y
    data = np.column_stack([_numbers(case.X), np.asarray(labels, dtype=float)])
    by_hand = _fisher_z if case.kind == "fisher-z" else _g2
    for step in fitted.trace_:
        if not step.is_reliable or step.feature in step.given:
            continue
        target = data.shape[1] - 1 if step.target is None else step.target
        expected = by_hand(data, step.feature, target, sorted(step.given))
        if expected is not None and not np.isclose(step.pvalue, expected, rtol=1e-5, atol=1e-9):
            return f"p = {step.pvalue:.6g} of {step.feature} given {step.given}, slowly {expected:.6g}"
    return ""


def _fisher_z(data: np.ndarray, x: int, target: int, given: list[int]) -> float | None:
    """Partial correlation from residuals; None where columns are constant, empty or repeat each other."""
    chosen = data[:, [x, target, *given]]
    if (np.ptp(np.nan_to_num(chosen), axis=0) == 0).any():
        return None
    chosen = chosen / np.abs(chosen).max(axis=0)
    scaled = (chosen - chosen.mean(axis=0)) / chosen.std(axis=0)
    if np.linalg.svd(scaled, compute_uv=False)[-1] < 1e-6:
        return None
    others = scaled[:, 2:]
    rest = (
        scaled[:, :2] - others @ np.linalg.lstsq(others, scaled[:, :2], rcond=None)[0]
        if given
        else scaled[:, :2]
    )
    r = np.clip(rest[:, 0] @ rest[:, 1] / np.sqrt((rest[:, 0] ** 2).sum() * (rest[:, 1] ** 2).sum()), -1, 1)
    return float(2 * norm.sf(abs(np.arctanh(min(abs(r), 1 - 1e-16))) * np.sqrt(len(data) - len(given) - 3)))


def _g2(data: np.ndarray, x: int, target: int, given: list[int]) -> float:
    codes = [np.unique(data[:, column], return_inverse=True)[1].ravel() for column in (target, x)]
    strata = (
        np.unique(data[:, given], axis=0, return_inverse=True)[1].ravel()
        if given
        else np.zeros(len(data), int)
    )
    cells = table_of(strata, *codes)
    return float(chi2.sf(g_squared(cells), degrees_of_freedom(cells)))
