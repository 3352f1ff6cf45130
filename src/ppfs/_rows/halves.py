"""Complementary halves of the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


def complementary_halves(
    n_rows: int, labels: NDArray[Any] | None, groups: NDArray[Any] | None, generator: Generator
) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Divide the rows into two halves at random.

    Parameters
    ----------
    labels : ndarray of shape (n_rows,) or None
        Classes whose rows are divided evenly.

    groups : ndarray of shape (n_rows,) or None
        Rows of one group go to the same half; `labels` are then ignored.
    """
    if groups is not None:
        numbers = np.unique(groups, return_inverse=True)[1].ravel()
        chosen = generator.permutation(numbers.max() + 1)[: (numbers.max() + 1) // 2]
        is_first = np.isin(numbers, chosen)
    else:
        kinds = (
            np.zeros(n_rows, dtype=np.intp) if labels is None else np.unique(labels, return_inverse=True)[1]
        )
        # Every other row, class by class in random order: classes of odd size alternate in which half has one row more.
        order = np.lexsort((generator.permutation(n_rows), kinds.ravel()))
        is_first = np.zeros(n_rows, dtype=bool)
        is_first[order[generator.integers(2) :: 2]] = True
    return np.flatnonzero(is_first), np.flatnonzero(~is_first)
