"""The results of a search as a table, one row per column of X."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

from ppfs._trace import Trace, feature_results, results_table

# Standard errors between an importance and 0, below which their number does not tell how large one is.
_NEAREST = 0.5

# Smaller p-values are replaced by this: 0 has no finite distance.
_SMALLEST = 1e-300


def results_frame(
    trace: Trace,
    *,
    support: NDArray[np.bool_],
    pvalues: NDArray[np.float64],
    importances: NDArray[np.float64],
    level: float | None,
    backend: Any,
    further: Mapping[str, list[Any]],
) -> Any:
    """Return the table.

    Parameters
    ----------
    support : ndarray of bool, shape (n_columns,)
        Which columns were selected.

    pvalues, importances : ndarray of shape (n_columns,)
        Of the answers that decided.

    level : float or None
        One-sided level of the intervals; None for a test whose p-values do not depend on the sign of an effect.

    backend : str or None
        The library of the caller's frame; None takes one that is installed.

    further : mapping of str to list
        Further columns of the table.
    """
    by_feature = feature_results(trace)
    features = trace.features_of_columns()
    low, high = importance_interval(importances, pvalues, level, by_feature.root_effects[features])
    values: dict[str, list[Any]] = {
        "column": list(trace.column_names),
        "selected": support.tolist(),
        "importance": importances.tolist(),
        "importance_low": low.tolist(),
        "importance_high": high.tolist(),
        "pvalue": pvalues.tolist(),
        "adjusted_pvalue": [by_feature.adjusted_pvalues[feature] for feature in features],
        "stability": [by_feature.stability[feature] for feature in features],
        "phase": [by_feature.phases[feature] for feature in features],
        "reason": [by_feature.reasons[feature] for feature in features],
        "redundant_with": [by_feature.superseders[feature] for feature in features],
        "detectable": [by_feature.detectable[feature] for feature in features],
        **further,
    }
    return results_table(values, backend)


def importance_interval(
    importances: NDArray[np.float64],
    pvalues: NDArray[np.float64],
    level: float | None,
    root_effects: NDArray[np.float64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the interval of each importance, computed for its root and squared.

    The rise in risk grows with the square of a slope, so that its root is nearly normal. Where a test measured the root
    and its standard error, these are used. Elsewhere the interval is the test-based one, which excludes 0 where the
    p-value is below the level: an importance of m with a one-sided p-value p has a root that is z(p) standard errors
    above 0 (Miettinen, 1976). It is as good as the p-value, and NaN where sign and p-value contradict each other, or
    where the root is within half a standard error of 0: the ratio of two small numbers could be anything.

    Parameters
    ----------
    root_effects : ndarray of shape (n_columns, 2), default=None
        Roots and their standard errors; NaN where they were not measured.

    Examples
    --------
    >>> import numpy as np
    >>> low, high = importance_interval(np.array([1.0]), np.array([0.05]), 0.05)
    >>> bool(abs(low[0]) < 1e-12), float(high[0].round(6))
    (True, 4.0)
    """
    if level is None:
        nothing = np.full(len(importances), np.nan)
        return nothing, nothing.copy()
    with np.errstate(divide="ignore", invalid="ignore"):
        distance = norm.isf(np.maximum(pvalues, _SMALLEST))
        root = np.sqrt(importances)
        error = root / distance
        error[~(np.isfinite(error) & (error > 0) & (distance >= _NEAREST))] = np.nan
    if root_effects is not None:
        is_measured = np.isfinite(root_effects).all(axis=1)
        root = np.where(is_measured, root_effects[:, 0], root)
        error = np.where(is_measured, root_effects[:, 1], error)
    half = norm.isf(level) * error
    return np.maximum(root - half, 0.0) ** 2, (root + half) ** 2
