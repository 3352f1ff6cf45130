"""Which selected column carries what a dropped one would have told."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._data import Table

# Numbers are compared in this many classes of about equal size.
_N_CLASSES = 6
_MOST_ROWS = 1000
# A correlation of 0.85 between normal columns has about this association. Below it, or where another member is at
# least half as close, no single member can be named: see decision 201.
_CLOSE = 0.2
_MARGIN = 2.0


def closest_members(table: Table, dropped: Collection[int], members: Sequence[int]) -> dict[int, int]:
    """Return the member that each dropped feature is most strongly associated with, where one clearly stands out.

    The association is Cramér's V squared, corrected for chance (Bergsma, 2013). It sees links of any shape between
    columns of any kind. Nothing is tested: that a feature adds nothing to all members does not tell which of them it
    would be missed without, and asking without each of them would cost more than the search.

    Parameters
    ----------
    dropped : collection of int
        Features that were not selected.

    members : sequence of int
        The selected ones.

    Returns
    -------
    dict of int to int
    """
    if len(members) < 2 or not dropped:
        return {}
    n_rows = min(table.n_rows, _MOST_ROWS)
    rows = np.linspace(0, table.n_rows - 1, n_rows).astype(np.intp)
    of_members = [_classes(table, member, rows) for member in members]
    closest: dict[int, int] = {}
    for feature in dropped:
        own = _classes(table, feature, rows)
        links = np.array([max(_association(a, b) for a in own for b in other) for other in of_members])
        best = int(links.argmax())
        if links[best] >= _CLOSE and links[best] >= _MARGIN * np.delete(links, best).max():
            closest[feature] = members[best]
    return closest


def _classes(table: Table, feature: int, rows: NDArray[np.intp]) -> list[Floats]:
    """Return the class of each row, one column per class, for every column of a feature."""
    values = table.values(feature)
    return [_indicators(column[rows]) for column in (values.T if values.ndim > 1 else [values])]


def _indicators(values: NDArray[np.float64]) -> Floats:
    is_known = ~np.isnan(values)
    known = np.sort(values[is_known])
    codes = np.zeros(len(values))
    # Halfway between the first and the last of equal values, so that the sign of the column does not matter.
    middle = np.searchsorted(known, values, "left") + np.searchsorted(known, values, "right")
    is_few = np.unique(known).size <= _N_CLASSES
    codes[is_known] = 1 + (middle if is_few else middle * _N_CLASSES // (2 * max(known.size, 1)))[is_known]
    return np.asarray(codes[:, None] == np.unique(codes), dtype=np.float64)


def _association(one: Floats, other: Floats) -> float:
    """Return Cramér's V squared of two columns, corrected for chance."""
    n_rows = len(one)
    counts = one.T @ other
    expected = np.outer(one.sum(axis=0), other.sum(axis=0))
    freedom = (one.shape[1] - 1) * (other.shape[1] - 1) / (n_rows - 1)
    shared = (counts**2 / expected).sum() - 1 - freedom
    largest = min(k - (k - 1) ** 2 / (n_rows - 1) for k in (one.shape[1], other.shape[1])) - 1
    return max(0.0, float(shared / largest)) if largest > 0 else 0.0
