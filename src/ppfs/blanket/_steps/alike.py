"""Columns that are nearly copies of each other, found by their correlation."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.sparse.csgraph import connected_components

from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs.blanket._steps.column_values import numeric_columns

#: Columns whose correlation is at least this, in absolute value, are alike.
ALIKE = 0.95

# Rows of the matrix of correlations that are held at once: some megabytes.
_AT_ONCE = 2**22


def clusters_of(table: Table, features: Sequence[int], bound: float = ALIKE) -> list[tuple[int, ...]]:
    """Divide features into clusters of columns that are alike; most have one member.

    Two columns of numbers are alike if their correlation is at least `bound` in absolute value; whatever else is
    copied is alike if it is equal. Clusters are the connected components, so that the order of the columns plays no
    part.

    Returns
    -------
    list of tuple of int
        In the order of their first members. Within a cluster the column with the largest mean correlation with the
        others comes first: it represents the cluster best.
    """
    numeric, values = numeric_columns(table, features)
    place = {feature: number for number, feature in enumerate(features)}
    labels = np.arange(len(features))
    clusters: dict[int, list[int]] = {}
    central = np.zeros(len(features))
    if len(numeric) > 1:
        found, weights = _components(_standardized(values), bound)
        where = np.array([place[feature] for feature in numeric])
        # The label of a component is the place of its first column.
        first = {label: where[np.flatnonzero(found == label)[0]] for label in np.unique(found).tolist()}
        labels[where] = [first[label] for label in found.tolist()]
        central[where] = weights
    by_key: dict[bytes, int] = {}
    others = set(features) - set(numeric)
    for number, feature in enumerate(features):
        if feature in others:
            labels[number] = by_key.setdefault(table.order.key(feature), number)
        clusters.setdefault(int(labels[number]), []).append(number)
    return [
        tuple(
            features[number]
            for number in sorted(members, key=lambda i: (-central[i], table.order.key(features[i])))
        )
        for members in clusters.values()
    ]


def _standardized(values: Floats) -> Floats:
    """Return columns with mean 0 and length 1; missing values are at the mean."""
    centered = values - np.nanmean(values, axis=0)
    centered = np.nan_to_num(centered)
    length = np.sqrt((centered**2).sum(axis=0))
    standardized: Floats = centered / np.where(length > 0, length, 1.0)
    return standardized


def _components(unit: Floats, bound: float) -> tuple[np.ndarray, Floats]:
    """Return the component of each column, and its mean correlation with the others that it is alike to."""
    n = unit.shape[1]
    rows: list[np.ndarray] = []
    columns: list[np.ndarray] = []
    weights = np.zeros(n)
    step = max(1, _AT_ONCE // n)
    for start in range(0, n, step):
        near = np.abs(unit[:, start : start + step].T @ unit)
        # Rounded, so that the last bit decides nothing.
        a, b = np.nonzero(np.round(near, 9) >= bound)
        rows.append(a + start)
        columns.append(b)
        weights[start : start + step] = np.where(near >= bound, near, 0.0).sum(axis=1)
    graph = _adjacency(np.concatenate(rows), np.concatenate(columns), n)
    return connected_components(graph, directed=False)[1], np.round(weights, 9)


def _adjacency(rows: np.ndarray, columns: np.ndarray, n: int) -> object:
    from scipy.sparse import coo_array

    return coo_array((np.ones(rows.size, dtype=np.int8), (rows, columns)), shape=(n, n)).tocsr()
