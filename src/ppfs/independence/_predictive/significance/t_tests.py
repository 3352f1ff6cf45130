"""One-sided t-tests of paired differences, for many questions at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ppfs._conventions import Floats
from ppfs._rows import Split


def paired_t(differences: Floats, splits: list[Split]) -> tuple[Floats, Floats]:
    """Compute Student's paired t-test over the splits, as if they were independent."""
    return t_tail(differences, variance_factor=1.0 / differences.shape[1])


def corrected_t(differences: Floats, splits: list[Split]) -> tuple[Floats, Floats]:
    """Compute Nadeau and Bengio's t-test, which allows for the rows that splits share.

    The variance of the mean is (1/B + n_test / n_train) times that of one difference, with the true
    sizes of the parts; where these differ between splits, with the mean of the ratios.
    """
    shared = float(np.mean([split.test.size / split.train.size for split in splits]))
    return t_tail(differences, variance_factor=1.0 / differences.shape[1] + shared)


def t_tail(
    differences: Floats, variance_factor: float, freedom: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return P(T >= mean / sqrt(variance_factor * s^2)) and T, by default with n_pairs - 1 degrees of freedom."""
    n_pairs = differences.shape[1]
    is_zero = np.asarray(~differences.any(axis=1))
    mean, spread = differences.mean(axis=1), differences.std(axis=1, ddof=1)
    return t_tail_of(mean, spread, is_zero, variance_factor, n_pairs - 1 if freedom is None else freedom)


def t_tail_of(
    mean: Floats, spread: Floats, is_zero: NDArray[np.bool_], variance_factor: float, freedom: Floats | int
) -> tuple[Floats, Floats]:
    """Return what `t_tail` does, from the mean and the standard deviation of the differences."""
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = mean / np.sqrt(variance_factor * spread**2)
    statistic = np.where(mean == 0, 0.0, statistic)
    pvalues = special.stdtr(freedom, -statistic)
    pvalues[is_zero] = 1.0
    return pvalues, statistic


def moments_of(differences: Floats) -> Floats:
    """Return what a t-test needs of differences, shape (n_questions, 3).

    These are the mean, the standard deviation, which is -1 where no pair differs, and the `effective_freedom`.
    """
    spread = np.where(differences.any(axis=1), differences.std(axis=1, ddof=1), -1.0)
    return np.column_stack([differences.mean(axis=1), spread, effective_freedom(differences)])


def effective_freedom(differences: Floats) -> Floats:
    """Return the degrees of freedom of a t-test: the effective number of rows with a difference.

    Where a few rows determine the variance, such as rows with a rare value or far out in a long tail, its estimate is
    no better than one from these rows alone. The effective number is (sum of squares)^2 / (sum of fourth powers):
    n where all differences have the same size, and m where m of them do and the others are zero
    (docs/decisions/0150-rows-that-carry-the-answer.md).

    Parameters
    ----------
    differences : ndarray of shape (n_questions, n_rows)

    Examples
    --------
    >>> effective_freedom(np.array([[1.0, -1.0, 1.0, 1.0, 1.0], [3.0, -3.0, 0.0, 0.0, 0.0]])).tolist()
    [4.0, 2.0]
    """
    largest = np.abs(differences).max(axis=1, keepdims=True)
    # In units of the largest, so that fourth powers do not overflow.
    squares = np.square(differences / np.where(largest == 0.0, 1.0, largest))
    total, fourth = squares.sum(axis=1), np.square(squares).sum(axis=1)
    freedom: Floats = np.clip(total**2 / np.where(total == 0.0, 1.0, fourth), 1.0, differences.shape[1] - 1.0)
    return freedom
