"""Columns that hide each other in a question given all others: near copies, and columns that the others determine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from ppfs._conventions import Floats, as_many_as_fit
from ppfs._data import Table
from ppfs.blanket._steps.column_values import numeric_columns

#: Columns whose correlation is at least this, in absolute value, are near copies.
NEAR_COPY = 0.95

#: Columns of whose variance the others explain at least this share, on left-out rows, are determined by them.
DETERMINED = 0.9

# Penalties of the regressions that measure this.
_PENALTIES = np.logspace(-3, 4, 15).tolist()

# Columns that are determined by others form one cluster if their correlation is at least this.
_LINKED = 0.3

# Correlations that are held at once: some megabytes.
_AT_ONCE = 2**22


def clusters_of(table: Table, features: Sequence[int]) -> list[tuple[int, ...]]:
    """Divide features into clusters of columns that hide each other; most have one member.

    Given its copy, a column adds nothing, and the copy adds nothing given it. The same holds for columns that others
    determine, such as a sum beside its summands. So near copies form a cluster, and after one of each is taken, so do
    columns that are determined by the others and correlated. Whatever else is copied, such as a column of categories,
    is in a cluster with its copies. Clusters are connected components: the order of the columns plays no part.

    Returns
    -------
    list of tuple of int
        In the order of their first members.
    """
    numeric, values = numeric_columns(table, features)
    labels = {feature: feature for feature in features}
    if numeric:
        found = _joined(_standardized(values))
        first = {
            label: numeric[int(np.flatnonzero(found == label)[0])] for label in np.unique(found).tolist()
        }
        labels.update(zip(numeric, (first[label] for label in found.tolist()), strict=True))
    by_key: dict[bytes, int] = {}
    others = set(features) - set(numeric)
    clusters: dict[int, list[int]] = {}
    for feature in features:
        if feature in others:
            labels[feature] = by_key.setdefault(table.order.key(feature), feature)
        clusters.setdefault(labels[feature], []).append(feature)
    return [tuple(members) for members in clusters.values()]


def near_copies(table: Table, features: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the groups of columns of numbers that are near copies of each other."""
    numeric, values = numeric_columns(table, features)
    if not numeric:
        return []
    found = _components(_standardized(values), NEAR_COPY)
    groups = [np.flatnonzero(found == label).tolist() for label in np.unique(found)]
    return [tuple(numeric[place] for place in group) for group in groups if len(group) > 1]


def _joined(unit: Floats) -> NDArray[np.intp]:
    """Return the number of the cluster of each column."""
    copies = _components(unit, NEAR_COPY)
    # Of each cluster of near copies one column, in their order.
    ones = np.unique(copies, return_index=True)[1]
    explained = _explained(unit[:, ones])
    determined = ones[np.round(explained, 9) >= DETERMINED]
    if determined.size:
        tangled = _components(unit[:, determined], _LINKED)
        for label in np.unique(tangled).tolist():
            members = copies[determined[tangled == label]]
            copies[np.isin(copies, members)] = members[0]
    return copies


def _explained(unit: Floats) -> Floats:
    """Return the share of each column's variance that ridge regression on all others explains of left-out rows.

    The regressions are those of scikit-learn's ``RidgeCV``, one per column, from one singular value decomposition
    X = U S V'. With P = (X'X + a I)^-1, the residuals of column j given the others are (X P)_j / P_jj, and the
    leverages of its regression are diag(X P X') - (X P)_j^2 / P_jj: both by the inverse of a matrix in blocks.

    Parameters
    ----------
    unit : ndarray of shape (n_rows, n_columns)
        Columns with mean 0 and length 1; a constant column is 0.
    """
    n_rows, n_columns = unit.shape
    U, sizes, Vt = np.linalg.svd(unit * np.sqrt(n_rows), full_matrices=False)
    outside = np.maximum(1.0 - (Vt**2).sum(axis=0), 0.0)
    best = np.full(n_columns, np.inf)
    for penalty in _PENALTIES:
        inverse = 1.0 / (sizes**2 + penalty)
        XP = (U * (sizes * inverse)) @ Vt
        residuals = XP / (inverse @ Vt**2 + outside / penalty)
        hat = ((U * sizes) ** 2 @ inverse)[:, np.newaxis] - XP * residuals
        # The mean of the rows is fitted too: it takes 1 / n of each row's weight.
        left_out = residuals / np.maximum(1.0 - 1.0 / n_rows - hat, 1e-12)
        best = np.minimum(best, (left_out**2).sum(axis=0))
    shares: Floats = 1.0 - best / n_rows
    return shares


def _standardized(values: Floats) -> Floats:
    """Return columns with mean 0 and length 1; missing values are at the mean."""
    known = ~np.isnan(values)
    means = np.where(known, values, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    centered = np.where(known, values - means, 0.0)
    length = np.sqrt((centered**2).sum(axis=0))
    standardized: Floats = np.divide(centered, length, out=np.zeros_like(centered), where=length > 0)
    return standardized


def _components(unit: Floats, bound: float) -> NDArray[np.intp]:
    """Return the connected component of each column; two are joined if their correlation is at least `bound`."""
    n = unit.shape[1]
    step = as_many_as_fit(_AT_ONCE, n)
    rows, columns = [], []
    for start in range(0, n, step):
        near = np.abs(unit[:, start : start + step].T @ unit)
        # Rounded, so that the last bit decides nothing.
        some, others = np.nonzero(np.round(near, 9) >= bound)
        rows.append(some + start)
        columns.append(others)
    places = np.concatenate(rows), np.concatenate(columns)
    graph = coo_array((np.ones(places[0].size, dtype=np.int8), places), shape=(n, n))
    found: NDArray[np.intp] = connected_components(graph.tocsr())[1].astype(np.intp)
    return found
