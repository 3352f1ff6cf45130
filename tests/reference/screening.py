"""Slow twin of the screening of a column: shares of explained variance, one view after the other."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2, rankdata


def stands_out(column: NDArray[Any], y: NDArray[Any], share: float, *, is_class: bool) -> bool:
    """Return whether a line, the ranks or steps of the column explain more of the target than chance mostly does."""
    outputs = np.column_stack([y == label for label in np.unique(y)[1:]]) if is_class else y[:, np.newaxis]
    scale = len(y) - 1
    steps = column if np.unique(column).size <= 16 else _intervals(column)
    indicators = (steps[:, np.newaxis] == np.unique(steps)).astype(float)
    views = [column[:, np.newaxis], rankdata(column)[:, np.newaxis], indicators]
    free = [1, 1, indicators.shape[1] - 1]
    return any(
        scale * _pillai(view, outputs.astype(float)) >= chi2.isf(share, n * outputs.shape[1])
        for view, n in zip(views, free, strict=True)
    )


def _intervals(column: NDArray[Any]) -> NDArray[np.intp]:
    return np.searchsorted(np.unique(np.quantile(column, np.arange(1, 8) / 8)), column)


def _pillai(x: NDArray[np.float64], y: NDArray[np.float64]) -> float:
    """Return the sum of the squared canonical correlations."""
    projections = [part @ np.linalg.pinv(part) for part in (x - x.mean(axis=0), y - y.mean(axis=0))]
    return float(np.trace(projections[0] @ projections[1]))
