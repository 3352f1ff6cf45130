"""Ranks of values."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions.types import Floats


def mean_ranks(values: NDArray[Any]) -> Floats:
    """Return the rank of each value from 1 on, equal values sharing their mean rank; none may be NaN.

    The same as SciPy's `rankdata`, which takes 2 to 4 times as long.

    Examples
    --------
    >>> mean_ranks(np.array([3.0, 1.0, 3.0])).tolist()
    [2.5, 1.0, 2.5]
    """
    order = np.argsort(values)
    ordered = values[order]
    starts = np.flatnonzero(np.concatenate(([True], ordered[1:] != ordered[:-1])))
    counts = np.diff(starts, append=values.size)
    ranks = np.empty(values.size)
    ranks[order] = np.repeat(starts + (counts + 1) / 2, counts)
    return ranks
