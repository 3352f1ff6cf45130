"""The bins of a column, as scikit-learn's HistGradientBoosting makes them from a train part."""

from math import ceil, floor

import numpy as np

from ppfs._engine.boosting.rules import BoostingLimits
from ppfs._engine.jit.kernels import Float64s, int64, kernel_function, kernel_part

_EPSILON = float(np.finfo(np.float64).eps)

# scikit-learn reserves infinity for the edge above which there are only missing values.
_ALMOST_INFINITE = 1e300


@kernel_part
def _weighted_quantile(share: float, n_values: int, values: Float64s, running: Float64s) -> float:
    """Return a weighted quantile, computed as in scikit-learn."""
    rank = share * running[n_values - 1]
    low, high = 0, n_values - 1
    while low < high:
        middle = (low + high) // 2
        if running[middle] >= rank:
            high = middle
        else:
            low = middle + 1
    value: float = values[low]
    if running[low] - rank > _EPSILON:
        return value
    following: float = values[min(low + 1, n_values - 1)]
    return (value + following) / 2.0


@kernel_part
def _quantile(
    share: float, n_values: int, values: Float64s, running: Float64s | None, has_midpoints: bool
) -> float:
    """Return a quantile of the values, weighted if there are weights."""
    if running is not None:
        return _weighted_quantile(share, n_values, values, running)
    if has_midpoints:
        position = (n_values - 1) * share
        low, high = floor(position), ceil(position)
        is_between = low != high
    else:
        position = n_values * share - 1.0
        low = floor(position)
        high = low + 1
        is_between = position == low
        if not is_between:
            low = high
    edge: float = values[high]
    if is_between:
        edge = values[high] - (values[high] - values[low]) * 0.5
    return edge


@kernel_function
def find_edges(
    n_values: int, values: Float64s, running: Float64s | None, limits: BoostingLimits, edges: Float64s
) -> int:
    """Fill ``edges`` (at least max_bins,) with the upper edges of all bins but the last; return their number.

    Parameters
    ----------
    values : array of shape (at least n_values,)
        The non-missing values of the train part, in ascending order.
    running : array of the same shape, or None
        Cumulative weights of their rows.
    """
    n_distinct = 1
    for i in range(1, n_values):
        if values[i] != values[i - 1]:
            n_distinct += 1
    n_edges = int64(0)
    if n_distinct <= limits.max_bins:
        for i in range(1, n_values):
            if values[i] != values[i - 1]:
                n_edges = _add_edge((values[i - 1] + values[i]) / 2.0, n_edges, edges)
        return n_edges
    for part in range(1, limits.max_bins):
        # As NumPy computes linspace(0, 100, max_bins + 1) / 100.
        share = part * (100.0 / limits.max_bins) / 100.0
        edge = _quantile(share, n_values, values, running, limits.has_midpoints)
        n_edges = _add_edge(edge, n_edges, edges)
    return n_edges


@kernel_function
def _add_edge(edge: float, n_edges: int, edges: Float64s) -> int:
    """Add an edge unless it repeats the one before."""
    edge = min(edge, _ALMOST_INFINITE)
    if n_edges and edges[n_edges - 1] == edge:
        return n_edges
    edges[n_edges] = edge
    return n_edges + 1


@kernel_part
def bin_of(value: float, n_edges: int, edges: Float64s) -> int:
    """Return the bin of a value that is not missing: the number of edges below it."""
    low, high = 0, n_edges
    while low < high:
        middle = (low + high) // 2
        if value <= edges[middle]:
            high = middle
        else:
            low = middle + 1
    return low
