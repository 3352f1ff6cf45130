"""Numbers for combinations of the values of several columns."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray


def number_combinations(
    columns: Iterable[tuple[NDArray[Any], int]], n_rows: int, *, at_most: int = 0
) -> tuple[NDArray[np.int64], int]:
    """Return a number for each combination of the codes of several columns, in the order of the codes.

    Parameters
    ----------
    columns : iterable of (codes, n_codes)
        The codes of a column, from 0, shape (n_rows,), and the number of codes.

    at_most : int, default=0
        Up to this number of combinations, those that occur in no row are numbered too.

    Returns
    -------
    numbers : ndarray of shape (n_rows,)
        The combination of each row.

    n_combinations : int
        The number of combinations.

    Examples
    --------
    >>> import numpy as np
    >>> numbers, n = number_combinations([(np.array([0, 1, 1]), 2), (np.array([2, 0, 2]), 3)], 3)
    >>> numbers.tolist(), n
    ([0, 1, 2], 3)
    """
    numbers = np.zeros(n_rows, dtype=np.int64)
    n_combinations = 1
    for codes, n_codes in columns:
        numbers = numbers * n_codes + codes
        n_combinations *= int(n_codes)
        # After every column, so that the product cannot overflow.
        if n_combinations > at_most:
            present, numbers = np.unique(numbers, return_inverse=True)
            n_combinations = present.size
    return numbers.ravel(), n_combinations
