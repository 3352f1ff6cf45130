"""Rank sums of paired differences, row by row."""

from typing import NamedTuple

import numpy as np

from ppfs._engine.jit.kernels import Float64s, kernel


class SignedRanks(NamedTuple):
    """What Wilcoxon's test needs of the ranks of absolute differences, each of shape (n_rows,).

    Attributes
    ----------
    positive : ndarray
        The sum of the ranks of positive differences; tied ones share their mean rank.
    zero : ndarray
        The sum of the ranks of zeros.
    tied : ndarray
        The sum over all differences of t^2 - 1, where t of them are tied.
    """

    positive: Float64s
    zero: Float64s
    tied: Float64s


def signed_ranks(differences: Float64s) -> SignedRanks:
    """Rank the absolute values of each row, and add up ranks by sign.

    Examples
    --------
    >>> [sums.tolist() for sums in signed_ranks(np.array([[0.0, -1.0, 2.0, 2.0]]))]
    [[7.0], [1.0], [6.0]]
    """
    sums = np.empty((3, len(differences)))
    _add_ranks(np.ascontiguousarray(differences, dtype=np.float64), sums)
    return SignedRanks(*sums)


@kernel
def _add_ranks(differences: Float64s, sums: Float64s) -> None:
    """Count, for each difference, the smaller and the equal ones: for a few dozen that is faster than sorting."""
    n_rows, n_pairs = differences.shape
    for number in range(n_rows):
        row = differences[number]
        positive = zero = tied = 0.0
        for i in range(n_pairs):
            size = abs(row[i])
            n_below = n_equal = 0
            for j in range(n_pairs):
                other = abs(row[j])
                n_below += other < size
                n_equal += other == size
            rank = n_below + (n_equal + 1) / 2.0
            positive += rank if row[i] > 0.0 else 0.0
            zero += rank if size == 0.0 else 0.0
            tied += n_equal * n_equal - 1.0
        sums[0, number], sums[1, number], sums[2, number] = positive, zero, tied
