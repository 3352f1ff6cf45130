"""Which selected column carries the information of a dropped one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Table
from ppfs._fitting import dense
from ppfs.blanket._steps.column_values import feature_blocks

# Numbers are compared in this many classes of about equal size.
_N_CLASSES = 6
# Those of numbers, and missing values.
_CLASSES = np.arange(_N_CLASSES + 1, dtype=np.int8)
_MOST_ROWS = 1000
_AT_ONCE = 100
# A correlation of 0.85 between normal columns has about this association. Below it, or where another member is at
# least half as close, no single member can be named: see decision 201.
_CLOSE = 0.2
_MARGIN = 2.0


def closest_members(
    table: Table, dropped: Sequence[int], members: Sequence[int], n_jobs: int | None = None
) -> dict[int, int]:
    """Return the member that each dropped feature is most strongly associated with, where one clearly stands out.

    The association is Cramér's V squared, corrected for chance (Bergsma, 2013). It sees links of any shape between
    columns of any kind. Nothing is tested: that a feature adds nothing to all members does not tell which of them it
    would be missed without, and asking without each of them would cost more than the search.

    Parameters
    ----------
    dropped : sequence of int
        Features that were not selected.

    members : sequence of int
        The selected ones.

    n_jobs : int, default=None
        Threads; the result does not depend on it.
    """
    closest: dict[int, int] = {}
    if len(members) < 2:
        return closest
    rows = np.linspace(0, table.n_rows - 1, min(table.n_rows, _MOST_ROWS)).astype(np.intp)
    of_members, owners = _indicators(table, members, rows)

    def close(some: Sequence[int]) -> dict[int, int]:
        of_some, places = _indicators(table, some, rows)
        links = np.zeros((len(some), len(members)))
        np.maximum.at(links, (places[:, np.newaxis], owners), _associations(of_some, of_members))
        best = links.argmax(axis=1)
        second, highest = np.partition(links, -2)[:, -2:].T
        stands_out = (highest >= _CLOSE) & (highest >= _MARGIN * second)
        return {some[place]: members[best[place]] for place in np.flatnonzero(stands_out).tolist()}

    blocks = [dropped[first : first + _AT_ONCE] for first in range(0, len(dropped), _AT_ONCE)]
    # A file is read by one thread.
    n_threads = int(effective_n_jobs(n_jobs)) if table.is_in_memory else 1
    for found in _engine.run_tasks(close, blocks, n_threads):
        closest.update(found)
    return closest


def _indicators(
    table: Table, features: Sequence[int], rows: NDArray[np.intp]
) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Return the class of each row in each column of some features.

    Returns
    -------
    indicators : ndarray of float32, shape (n_rows, n_columns, n_classes)
        1 for the class of the row: a sixth of the ranks, or the class of missing values.

    owners : ndarray of int, shape (n_columns,)
        The place of each column's feature.
    """
    widths = [len(table.features.columns_of([feature])) for feature in features]
    parts = [dense(table.take(some))[rows] for some in feature_blocks(table, features)]
    codes = _sixths(np.concatenate(parts, axis=1))
    indicators = np.asarray(codes[:, :, np.newaxis] == _CLASSES, dtype=np.float32)
    return indicators, np.repeat(np.arange(len(features)), widths)


def _sixths(values: Floats) -> NDArray[np.int8]:
    """Return the sixth of the ranks that each value is in, from 0; equal values have their mean rank. NaN is in none.

    The ranks of a column increase with its values, so a sixth is a range of values. Where one begins, its neighbors in
    the sorted column are looked at, and no other rank is computed.
    """
    turned = np.ascontiguousarray(values.T)
    ascending = np.sort(turned, axis=1)
    is_missing = np.isnan(turned)
    n_missing = is_missing.sum(axis=1).tolist()
    lowest = np.full((_N_CLASSES - 1, len(turned), 1), np.nan)
    for column, known in enumerate(ascending):
        begins = _beginnings(known[: known.size - n_missing[column]])
        lowest[: begins.size, column, 0] = known[begins]
    codes = np.zeros(turned.shape, dtype=np.int8)
    for of_columns in lowest:
        codes += turned >= of_columns
    codes[is_missing] = _N_CLASSES
    return codes.T


def _beginnings(ascending: Floats) -> NDArray[np.intp]:
    """Return the first place of each sixth but the first in a sorted column. The last sixths may be empty: no place."""
    n, numbers = ascending.size, np.arange(1, _N_CLASSES)
    # Where a sixth would begin if no values were equal: rank r is in the sixth (6 r) // n.
    places = np.maximum(0, -((3 - numbers * n) // _N_CLASSES))
    numbers, places = numbers[places < n], places[places < n]
    first = ascending.searchsorted(ascending[places])
    end = ascending.searchsorted(ascending[places], side="right")
    begins = np.where(3 * (first + end) < numbers * n, end, first)
    return begins[begins < n]


def _associations(ones: NDArray[np.float32], others: NDArray[np.float32]) -> Floats:
    """Return Cramér's V squared of all pairs of columns, corrected for chance."""
    n_rows = len(ones)
    # Counts of up to a thousand rows are exact in 32 bits.
    counts = np.tensordot(ones, others, (0, 0)).astype(np.float64)
    row_sums, column_sums = (some.sum(axis=0, dtype=np.float64) for some in (ones, others))
    expected = row_sums[:, :, np.newaxis, np.newaxis] * column_sums
    shared = np.divide(counts**2, expected, out=np.zeros_like(counts), where=expected > 0).sum(axis=(1, 3))
    k, other_k = (row_sums > 0).sum(axis=1)[:, np.newaxis], (column_sums > 0).sum(axis=1)
    by_chance = (k - 1) * (other_k - 1) / (n_rows - 1)
    largest = np.minimum(k - (k - 1) ** 2 / (n_rows - 1), other_k - (other_k - 1) ** 2 / (n_rows - 1)) - 1
    corrected: Floats = np.divide(
        shared - 1 - by_chance, largest, out=np.zeros_like(shared), where=largest > 0
    )
    np.maximum(corrected, 0.0, out=corrected)
    return corrected
