"""Wilcoxon's signed-rank test, for many questions at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from ppfs._conventions import Floats
from ppfs._rows import Split

# SciPy's rules: the normal approximation beyond 50 pairs; with ties or zeros, beyond 13.
_MAX_EXACT = 50
_MAX_EXACT_TIED = 13

# Up to this many rows, looking up each row is faster than grouping the rows by their pattern of ties.
_FEW_ROWS = 32


def signed_rank(differences: Floats, splits: list[Split]) -> tuple[Floats, Floats]:
    """Compute Wilcoxon's signed-rank test, zeros split between the signs.

    Equal, row by row, to ``scipy.stats.wilcoxon(row, alternative="greater",
    zero_method="zsplit")`` of SciPy 1.15 and later, and p = 1 where all differences are zero.

    Parameters
    ----------
    differences : ndarray of shape (n_questions, n_splits)

    Returns
    -------
    pvalues, rank_sums : ndarray of shape (n_questions,)
    """
    n_pairs = differences.shape[1]
    magnitude = np.abs(differences)
    lowest, highest = _tied_ranks(magnitude)
    ranks = (lowest + highest) / 2.0
    zero_rank_sum = np.where(magnitude == 0, ranks, 0.0).sum(axis=1)
    rank_sums = np.where(differences > 0, ranks, 0.0).sum(axis=1) + zero_rank_sum / 2

    ordered = np.sort(ranks, axis=1)
    is_tied = (ordered != np.arange(1, n_pairs + 1)).any(axis=1) | (zero_rank_sum > 0)
    is_exact = (n_pairs <= _MAX_EXACT) & (~is_tied | (n_pairs <= _MAX_EXACT_TIED))
    pvalues = np.ones(len(differences))
    pvalues[is_exact] = _exact_tail(ordered[is_exact], zero_rank_sum[is_exact], rank_sums[is_exact])
    pvalues[~is_exact] = _normal_tail((highest - lowest + 1.0)[~is_exact], rank_sums[~is_exact])
    pvalues[(differences == 0).all(axis=1)] = 1.0
    return pvalues, rank_sums


def _tied_ranks(magnitude: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and the highest rank of the entries equal to each entry of a row.

    This is SciPy's ``rankdata`` with "min" and "max", which takes ten times as long on the few rows of a shrink
    question.
    """
    n_rows, n_pairs = magnitude.shape
    order = np.argsort(magnitude, axis=1)
    ascending = np.take_along_axis(magnitude, order, axis=1)
    places = np.arange(n_pairs)
    differs = ascending[:, 1:] != ascending[:, :-1]
    starts = np.column_stack([np.ones(n_rows, dtype=bool), differs])
    ends = np.column_stack([differs, np.ones(n_rows, dtype=bool)])
    first = np.maximum.accumulate(np.where(starts, places, 0), axis=1)
    last = np.minimum.accumulate(np.where(ends, places, n_pairs)[:, ::-1], axis=1)[:, ::-1]
    lowest, highest = np.empty_like(magnitude), np.empty_like(magnitude)
    np.put_along_axis(lowest, order, first + 1.0, axis=1)
    np.put_along_axis(highest, order, last + 1.0, axis=1)
    return lowest, highest


def _exact_tail(ordered: Floats, zero_rank_sum: Floats, rank_sums: Floats) -> Floats:
    """Return P(rank sum >= observed) when every sign is equally likely.

    The null distribution depends on the ranks alone, and few patterns of ties occur, so it is
    computed once per pattern. Ranks are doubled, because ties have half ranks.
    """
    if not len(ordered):
        return np.empty(0)
    keys = np.column_stack([ordered * 2, zero_rank_sum * 2]).astype(np.int64)
    if len(keys) <= _FEW_ROWS:
        patterns, which = keys, np.arange(len(keys))
    else:
        patterns, which = np.unique(keys, axis=0, return_inverse=True)
        which = which.reshape(-1)
    observed = np.rint(rank_sums * 2 - zero_rank_sum).astype(np.int64)
    tail = np.empty(len(ordered))
    for number, pattern in enumerate(patterns):
        mine = which == number
        survival = _sign_survival(tuple(int(rank) for rank in pattern[:-1]), int(pattern[-1]))
        tail[mine] = survival[observed[mine]]
    return tail


@lru_cache(maxsize=4096)
def _sign_survival(doubled_ranks: tuple[int, ...], doubled_zero_sum: int) -> Floats:
    """Return P(sum of randomly signed ranks >= s) for every doubled sum s.

    Zeros come first in `doubled_ranks`; half of their ranks goes to either side whatever
    the signs, so only the other ranks are signed.
    """
    signed = np.array(doubled_ranks, dtype=np.int64)
    signed = signed[np.cumsum(signed) > doubled_zero_sum]
    ways = np.zeros(int(signed.sum()) + 1)
    ways[0] = 1.0
    for rank in signed:
        ways[rank:] += ways[:-rank].copy()
    survival: Floats = ways[::-1].cumsum()[::-1] / 2.0 ** len(signed)
    return survival


def _normal_tail(n_tied: Floats, rank_sums: Floats) -> Floats:
    """Return the normal approximation, its variance reduced for ties.

    Parameters
    ----------
    n_tied : ndarray of shape (n_questions, n_splits)
        How many pairs share a pair's rank. A group of t pairs reduces the variance by t^3 - t, that is by
        t^2 - 1 per member.
    """
    n = n_tied.shape[1]
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - (n_tied**2 - 1.0).sum(axis=1) / 2.0) / 24.0
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (rank_sums - n * (n + 1.0) / 4.0) / np.sqrt(variance)
    tail: Floats = special.ndtr(-z)
    return tail


def smallest_signed_rank(n_splits: int) -> float:
    """Return the smallest p-value of `n_splits` pairs: every difference is positive."""
    every_pair_rises = np.arange(1.0, n_splits + 1.0)[np.newaxis]
    return float(signed_rank(every_pair_rises, [])[0][0])
