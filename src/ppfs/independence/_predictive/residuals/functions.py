"""The functions of x that a question is asked with: x itself, curves, products with other columns, steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ppfs._conventions import Floats
from ppfs.independence._predictive.residuals.regressors import (
    Filled,
    GivenColumn,
    cosines,
    indicators,
    normal_scores,
    unit,
)

#: The number of each member in the default panel, and its weight in the combination: most links are nearly linear.
LINE, CURVES, PRODUCTS, STEPS = range(4)
WEIGHTS = {LINE: 8.0, CURVES: 2.0, PRODUCTS: 1.5, STEPS: 0.3}

#: The same for a target with a response of its own given the other columns, a survival time.
WEIGHTS_OF_SURVIVAL = {LINE: 14.0, CURVES: 2.4, PRODUCTS: 2.5, STEPS: 0.3}

#: The share of the line among them.
SHARE_OF_THE_LINE = WEIGHTS[LINE] / sum(WEIGHTS.values())

# A column of at most this many values has curves of their ranks, and no steps.
_FEW_VALUES = 6

# Cosines of these frequencies are curves: the lowest is nearly a line, which is asked about by itself.
_FIRST_CURVE, _LAST_CURVE = 2, 4

# Steps are at these quantiles.
_QUANTILES = (0.125, 0.25, 0.5, 0.75, 0.875)

# Products are made with this many factors of the other columns; groups of more columns than _WIDE have lines only.
_MOST_FACTORS, _WIDE = 10, 5

# A product with a column that the target depends on has up to this many times the weight of one with another column.
_MOST_INTEREST = 5.0


def functions_of(
    columns: Sequence[tuple[Floats, bool]], given: Sequence[GivenColumn]
) -> list[tuple[int, Floats]]:
    """Return the functions of a feature by member, each of shape (n_rows, n_functions).

    Parameters
    ----------
    columns : sequence of (ndarray of shape (n_rows,), bool)
        The columns of the feature, and whether they hold codes of categories.
    """
    made: dict[int, list[Floats]] = {LINE: [], CURVES: [], PRODUCTS: [], STEPS: []}
    is_wide = len(columns) > _WIDE
    for column, is_category in columns:
        filled = Filled.of(column)
        if is_category:
            made[LINE].append(indicators(np.where(filled.is_missing, -1.0, column)))
            continue
        made[LINE] += [filled.values[:, np.newaxis], filled.missing_column]
        if is_wide:
            continue
        n_values = np.unique(filled.values).size
        if 2 < n_values <= _FEW_VALUES:
            ranks = np.unique(filled.values, return_inverse=True)[1].astype(np.float64)
            made[CURVES].append(cosines(ranks, _FIRST_CURVE, n_values - 1))
        elif n_values > _FEW_VALUES:
            made[CURVES].append(cosines(normal_scores(filled.values), _FIRST_CURVE, _LAST_CURVE))
            steps = np.unique(np.quantile(filled.values, _QUANTILES))
            made[STEPS].append((filled.values[:, np.newaxis] > steps).astype(np.float64))
    # The smoothest curve of every column first.
    made[CURVES] = [part[:, :1] for part in made[CURVES]] + [part[:, 1:] for part in made[CURVES]]
    lines = unit(np.hstack(made[LINE]))
    if not is_wide:
        factors = _first_factors(given)
        made[PRODUCTS] = [line[:, np.newaxis] * factors for line in lines.T[:_WIDE]]
    joined = {member: unit(np.hstack(parts)) for member, parts in made.items() if parts}
    varied = {
        # The weights of products depend on their positions, so empty ones are kept.
        member: values if member == PRODUCTS and values.any() else values[:, values.any(axis=0)]
        for member, values in joined.items()
    }
    return [(member, values) for member, values in varied.items() if values.shape[1]]


def _first_factors(given: Sequence[GivenColumn]) -> Floats:
    """Return what products are made with; every column has at least one factor."""
    return np.hstack([column.factors for column in given[:_MOST_FACTORS]])[:, :_MOST_FACTORS]


def n_smoothest(columns: Sequence[tuple[Floats, bool]]) -> int:
    """Return how many of a feature's curves are the smoothest of their column: they come first."""
    if len(columns) > _WIDE:
        return 0
    return sum(
        not is_category and np.unique(column[~np.isnan(column)]).size > 2 for column, is_category in columns
    )


def weights_of_products(
    n_products: int, given: Sequence[GivenColumn], outputs: Floats, roots: Floats
) -> Floats:
    """Return the weights of a feature's products with other columns, in their order.

    Most interactions are with columns that the target also depends on by itself. The weight is 1 plus the statistic of
    that dependence, whose mean is 1 without any, up to a bound. It does not depend on the feature.

    Parameters
    ----------
    outputs : ndarray of shape (n_rows, n_outputs)
        The target, centered, times the roots.

    roots : ndarray of shape (n_rows,)
        The roots of the rows' weights.
    """
    factors = _first_factors(given) * roots[:, np.newaxis]
    sizes = np.outer((factors**2).sum(axis=0), (outputs**2).sum(axis=0))
    shares = (factors.T @ outputs) ** 2 / np.where(sizes > 0.0, sizes, np.inf)
    weights = np.minimum(1.0 + len(outputs) * shares.max(axis=1), _MOST_INTEREST)
    return np.tile(weights, n_products // weights.size)
