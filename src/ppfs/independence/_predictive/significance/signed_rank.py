"""Wilcoxon's signed-rank test, for many questions at once."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from scipy import special

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._rows import Split

# SciPy's rules: the normal approximation beyond 50 pairs; with ties or zeros, beyond 13.
_MAX_EXACT = 50
MAX_EXACT_TIED = 13


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
    sums = _engine.signed_ranks(differences)
    pvalues, rank_sums = tails_of(sums, n_pairs)
    if n_pairs <= MAX_EXACT_TIED:
        is_tied = ((sums.tied > 0) | (sums.zero > 0)) & (pvalues < 1.0)
        pvalues[is_tied] = _exact_tail(differences[is_tied], sums.zero[is_tied], rank_sums[is_tied])
    return pvalues, rank_sums


def tails_of(sums: _engine.SignedRanks, n_pairs: int) -> tuple[Floats, Floats]:
    """Return what `signed_rank` does from the sums of ranks; the normal approximation for all ties."""
    rank_sums = sums.positive + sums.zero / 2
    is_tied = (sums.tied > 0) | (sums.zero > 0)
    pvalues = np.empty(len(rank_sums))
    pvalues[is_tied] = _normal_tail(n_pairs, sums.tied[is_tied], rank_sums[is_tied])
    if n_pairs <= _MAX_EXACT:
        survival = _sign_survival(tuple(range(2, 2 * n_pairs + 1, 2)), 0)
        pvalues[~is_tied] = survival[(2 * rank_sums[~is_tied]).astype(np.intp)]
    else:
        pvalues[~is_tied] = _normal_tail(n_pairs, 0.0, rank_sums[~is_tied])
    pvalues[sums.zero == n_pairs * (n_pairs + 1) / 2] = 1.0
    return pvalues, rank_sums


def _exact_tail(differences: Floats, zero_rank_sum: Floats, rank_sums: Floats) -> Floats:
    """Return P(rank sum >= observed) when every sign is equally likely.

    The null distribution depends on the ranks alone, and few patterns of ties occur, so it is computed once per
    pattern: a number with a bit for each place where the sorted magnitudes differ, and one for zeros.
    """
    ordered = np.sort(np.abs(differences), axis=1)
    n_pairs = ordered.shape[1]
    differ = ordered[:, 1:] != ordered[:, :-1]
    patterns = differ @ (1 << np.arange(1, n_pairs)) + (ordered[:, 0] == 0)
    observed = np.rint(rank_sums * 2 - zero_rank_sum).astype(np.int64)
    tail = np.empty(len(differences))
    for pattern in set(patterns.tolist()):
        mine = patterns == pattern
        tail[mine] = _tied_survival(pattern, n_pairs)[observed[mine]]
    return tail


@lru_cache(maxsize=4096)
def _tied_survival(pattern: int, n_pairs: int) -> Floats:
    """Return P(sum of randomly signed ranks >= s) for every doubled sum s; see `_exact_tail` for the pattern.

    Ranks are doubled, because ties have half ranks.
    """
    starts = np.array([0, *(place for place in range(1, n_pairs) if pattern >> place & 1)])
    sizes = np.diff(starts, append=n_pairs)
    doubled = np.repeat(2 * starts + sizes + 1, sizes)
    n_zeros = sizes[0] if pattern & 1 else 0
    return _sign_survival(tuple(doubled.tolist()), int(doubled[:n_zeros].sum()))


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


def _normal_tail(n: int, tied: Floats | float, rank_sums: Floats) -> Floats:
    """Return the normal approximation, its variance reduced for ties.

    Parameters
    ----------
    tied : ndarray of shape (n_questions,)
        See `SignedRanks`: a group of t pairs reduces the variance by t^3 - t, that is by t^2 - 1 per member.
    """
    # It is positive even if all pairs are tied.
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - tied / 2.0) / 24.0
    z = (rank_sums - n * (n + 1.0) / 4.0) / np.sqrt(variance)
    tail: Floats = special.ndtr(-z)
    return tail


@lru_cache
def smallest_signed_rank(n_splits: int) -> float:
    """Return the smallest p-value of `n_splits` pairs: every difference is positive."""
    every_pair_rises = np.arange(1.0, n_splits + 1.0)[np.newaxis]
    return float(signed_rank(every_pair_rises, [])[0][0])
