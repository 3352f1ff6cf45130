"""Which of many columns are worth a question beside the selected ones: those that explain what these leave."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from joblib import effective_n_jobs
from scipy import special

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs.blanket._steps.column_values import dense_blocks, dense_values, feature_blocks, in_reach

# Categories with fewer rows than this are not distinguished: a column of many rare ones explains anything.
_ROWS_PER_LEVEL = 5
# Products with more members than this are not looked at.
_MOST_PRODUCTS = 20


def most_promising_beside(
    table: Table,
    target: int,
    members: Sequence[int],
    rest: Sequence[int],
    at_most: int,
    n_jobs: int | None = None,
) -> list[int]:
    """Return the columns that explain most of what a linear model of the members leaves of the target.

    The model has the members, their squares and their categories. A column of numbers scores by itself, by its square
    and by its products with the members; one of categories by its groups' means. Where there are no more than `at_most`
    columns, all are returned.
    """
    if len(rest) <= at_most or at_most <= 0:
        return list(rest) if at_most > 0 else []
    residuals, basis, factors = _left(table, target, members)
    single = (
        rest if table.has_single_columns_only else [feature for feature in rest if table.is_single(feature)]
    )

    def scored(features: Sequence[int]) -> Floats:
        own = np.empty(len(features))
        has_levels = table.n_levels_of(features) > 0
        values = dense_values(table, features)
        own[~has_levels] = _scores(
            values if not has_levels.any() else values[:, ~has_levels], residuals, basis, factors
        )
        for number in np.flatnonzero(has_levels).tolist():
            own[number] = _score_of_groups(values[:, number], residuals)
        return own

    # A file is read by one thread.
    n_threads = int(effective_n_jobs(n_jobs)) if table.is_in_memory else 1
    found = _engine.run_tasks(scored, feature_blocks(table, single), n_threads)
    # Groups of columns are few, and always asked about.
    scores = np.full(len(rest), np.inf)
    is_single = np.ones(len(rest), dtype=bool)
    if len(single) < len(rest):
        is_single = np.array([table.is_single(feature) for feature in rest])
    scores[is_single] = np.concatenate(found) if found else ()
    # By content, so that the order of the columns plays no part; columns of a file would have to be read for that.
    key = table.order.by_content if table.is_in_memory else int
    last = np.partition(scores, len(rest) - at_most)[len(rest) - at_most]
    order = sorted(np.flatnonzero(scores >= last).tolist(), key=lambda i: (-scores[i], key(rest[i])))
    return [rest[i] for i in order[:at_most]]


def _left(table: Table, target: int, members: Sequence[int]) -> tuple[Floats, Floats, Floats]:
    """Return what a linear model leaves of the target, an orthonormal basis of its design, and what makes products."""
    y = table.codes if target == table.target else table.take([target])[:, 0]
    if target == table.target and table.task == "classification" and y.ndim == 1:
        outcomes = (y[:, np.newaxis] == np.unique(y)[1:]).astype(np.float64)
    else:
        outcomes = in_reach(np.asarray(y, dtype=np.float64).reshape(table.n_rows, -1))
    outcomes = outcomes - outcomes.mean(axis=0)
    design = [np.ones((table.n_rows, 1))]
    factors = []
    single = [feature for feature in members if table.is_single(feature)]
    for features, values in dense_blocks(table, single):
        for number, n_levels in enumerate(table.n_levels_of(features).tolist()):
            column = values[:, number]
            if n_levels:
                design.append(_indicators(column))
            else:
                unit = _units(column[:, np.newaxis])
                design += [unit, unit**2]
                factors.append(unit)
    basis = np.linalg.qr(np.column_stack(design))[0]
    residuals = outcomes - basis @ (basis.T @ outcomes)
    scale = np.sqrt((residuals**2).sum(axis=0))
    residuals = residuals / np.where(scale > 0, scale, 1.0)
    products = np.hstack(factors[:_MOST_PRODUCTS]) if factors else np.empty((table.n_rows, 0))
    return residuals, basis, products


def _scores(columns: Floats, residuals: Floats, basis: Floats, factors: Floats) -> Floats:
    """Return the largest chi-squared statistic of each column, its square and its products with the members.

    The residuals are orthogonal to the basis, so only the lengths of the views have to be corrected for it. Those of
    products are corrected for their mean only: they are rarely close to the members, and there are many of them.
    """
    n_rows = len(columns)
    units = _units(columns)
    squares = units**2
    explained = np.zeros(columns.shape[1])
    for views in (units, squares):
        lengths = (views**2).sum(axis=0) - ((basis.T @ views) ** 2).sum(axis=0)
        explained = np.maximum(explained, _explained(residuals.T @ views, lengths, n_rows))
    lengths = (factors**2).T @ squares - (factors.T @ units) ** 2 / n_rows
    crossed = (factors[:, :, np.newaxis] * residuals[:, np.newaxis]).reshape(n_rows, -1)
    products = (crossed.T @ units).reshape(len(lengths), residuals.shape[1], columns.shape[1])
    for own, length in zip(products, lengths, strict=True):
        explained = np.maximum(explained, _explained(own, length, n_rows))
    # One degree of freedom per outcome: the same for all columns of numbers.
    scores: Floats = -_log_tail(n_rows * explained, residuals.shape[1])
    return scores


def _explained(products: Floats, lengths: Floats, n_rows: int) -> Floats:
    explained: Floats = (products**2).sum(axis=0) / np.where(lengths > 1e-9 * n_rows, lengths, np.inf)
    return explained


def _score_of_groups(column: Floats, residuals: Floats) -> float:
    indicators = _indicators(column)
    counts = indicators.sum(axis=0)
    if len(counts) < 2:
        return 0.0
    explained = ((indicators.T @ residuals) ** 2 / counts[:, np.newaxis]).sum()
    return float(-_log_tail(len(column) * explained, (len(counts) - 1) * residuals.shape[1]))


def _indicators(column: Floats) -> Floats:
    """Return one column per category with enough rows; a missing value is a category too."""
    known = np.where(np.isnan(column), -1.0, column)
    levels, counts = np.unique(known, return_counts=True)
    indicators: Floats = (known[:, np.newaxis] == levels[counts >= _ROWS_PER_LEVEL]).astype(np.float64)
    return indicators


def _units(columns: Floats) -> Floats:
    """Return columns with mean 0 and variance 1; missing values are at the mean, constants are 0."""
    if not np.isnan(columns).any():
        centered = columns - columns.mean(axis=0)
        return _of_variance_1(centered)
    known = ~np.isnan(columns)
    means = np.where(known, columns, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    centered = np.where(known, columns - means, 0.0)
    return _of_variance_1(centered)


def _of_variance_1(centered: Floats) -> Floats:
    spread = centered.std(axis=0)
    units: Floats = centered / np.where(spread > 0, spread, 1.0)
    return units


def _log_tail(statistics: Floats, freedom: int) -> Floats:
    """Return log P(chi-squared >= statistic); SciPy's own `chi2.logsf` takes many small steps that hold the GIL."""
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(special.chdtrc(freedom, statistics)))
