"""From B paired risks to a p-value, for many questions at once.

Every test here is one-sided: large differences (a higher risk with the knockoff) make
small p-values. Rows are questions, columns are splits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import special

from ppfs._conventions import Floats
from ppfs._rows import Split

# Two risks that are equal on paper differ in the last bits when their losses were added in
# another order. Relative to the largest risk, differences are therefore rounded to this grid: far above
# rounding error, far below anything a test could see.
_GRID = 2.0**-33

# SciPy's rules: beyond 50 pairs the normal approximation; with ties or zeros, exact up to 13 pairs.
_MAX_EXACT = 50
_MAX_EXACT_TIED = 13

# A p-value above this counts as this one when it is joined with others.
_LARGEST_VOTE = 0.9

# The saddlepoint: so close to the expected rise its formula is 0/0; so close is a rise the expected one; so often at
# most is a step made (five to ten are usual).
_NEAR_THE_MEAN = 0.01
_CLOSE_ENOUGH = 1e-9
_MAX_STEPS = 100

# Rows whose terms are tilted at once: they stay in the processor's cache.
_ROWS_AT_ONCE = 2**13

# So few rows are looked up faster one by one than they are grouped by their pattern of ties.
_FEW_ROWS = 32


@dataclass(frozen=True)
class Significance:
    """A way to turn paired differences into p-values.

    Attributes
    ----------
    name : str
        As users spell it.

    assess : callable
        ``assess(differences, splits)`` returns p-values and statistics, one a row.

    smallest : callable
        ``smallest(n_splits)`` is the smallest p-value it can return.

    min_splits : int
        Fewer pairs than this say nothing.
    """

    name: str
    assess: Callable[[Floats, list[Split]], tuple[Floats, Floats]]
    smallest: Callable[[int], float]
    min_splits: int


def risk_differences(base: Floats, replaced: Floats) -> Floats:
    """Return ``replaced - base`` with differences that are only rounding error set to zero.

    Parameters
    ----------
    base, replaced : ndarray of shape (n_questions, n_splits)
        Mean loss with the column, and with its knockoff.
    """
    scale = np.maximum(np.abs(base), np.abs(replaced)).max(axis=1, keepdims=True)
    # A power of two, so that the grid itself is the same when the largest risk differs in its last bits.
    step = np.ldexp(_GRID, np.frexp(scale)[1])
    rounded: Floats = np.rint((replaced - base) / step) * step
    return rounded


def signed_rank(differences: Floats, splits: list[Split]) -> tuple[Floats, Floats]:
    """Wilcoxon's signed-rank test, zeros split between the signs.

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
    """Return the lowest and the highest rank that each entry of a row shares with those equal to it.

    SciPy's ``rankdata`` with "min" and "max"; it takes ten times as long on the few rows of a shrink question.
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
    computed once a pattern. Ranks are doubled: ties have half ranks.
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

    Zeros stand first in `doubled_ranks`; they give half their ranks to either side whatever
    the signs, so only the others are counted.
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
        How many pairs share a pair's rank. A group of t pairs reduces by t^3 - t, that is by
        t^2 - 1 a member.
    """
    n = n_tied.shape[1]
    variance = (n * (n + 1.0) * (2.0 * n + 1.0) - (n_tied**2 - 1.0).sum(axis=1) / 2.0) / 24.0
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (rank_sums - n * (n + 1.0) / 4.0) / np.sqrt(variance)
    tail: Floats = special.ndtr(-z)
    return tail


def paired_t(differences: Floats, splits: list[Split]) -> tuple[Floats, Floats]:
    """Student's paired t-test over the splits, as if they were independent."""
    return t_tail(differences, variance_factor=1.0 / differences.shape[1])


def corrected_t(differences: Floats, splits: list[Split]) -> tuple[Floats, Floats]:
    """Nadeau and Bengio's t-test: splits that share rows agree more than independent ones would.

    The variance of the mean is taken to be (1/B + n_test / n_train) times that of one difference, with the true
    sizes of the parts; where these differ between splits, with the mean of the ratios.
    """
    shared = float(np.mean([split.test.size / split.train.size for split in splits]))
    return t_tail(differences, variance_factor=1.0 / differences.shape[1] + shared)


def t_tail(
    differences: Floats, variance_factor: float, freedom: Floats | None = None
) -> tuple[Floats, Floats]:
    """Return P(T >= mean / sqrt(variance_factor * s^2)), by default with one degree of freedom less than pairs."""
    mean = differences.mean(axis=1)
    spread = differences.std(axis=1, ddof=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = mean / np.sqrt(variance_factor * spread**2)
    statistic = np.where(mean == 0, 0.0, statistic)
    pvalues = special.stdtr(differences.shape[1] - 1 if freedom is None else freedom, -statistic)
    pvalues[(differences == 0).all(axis=1)] = 1.0
    return pvalues, statistic


def effective_freedom(differences: Floats) -> Floats:
    """Return the degrees of freedom of a t-test: how many rows carry the differences, less than there are.

    A spread that a handful of rows decide is known no better than from a handful of rows, however many others there are
    whose differences are near zero: rows with a rare value, or far out in a long tail. The number is
    (sum of squares)^2 / (sum of fourth powers), which is n where all differences are of one size and m where m of
    them are and the others zero (docs/decisions/0150-rows-that-carry-the-answer.md).

    Parameters
    ----------
    differences : ndarray of shape (n_questions, n_rows)

    Examples
    --------
    >>> effective_freedom(np.array([[1.0, -1.0, 1.0, 1.0, 1.0], [3.0, -3.0, 0.0, 0.0, 0.0]])).tolist()
    [4.0, 2.0]
    """
    largest = np.abs(differences).max(axis=1, keepdims=True)
    # In units of the largest, whose fourth power is a number.
    squares = np.square(differences / np.where(largest == 0.0, 1.0, largest))
    total, fourth = squares.sum(axis=1), np.square(squares).sum(axis=1)
    freedom: Floats = np.clip(total**2 / np.where(total == 0.0, 1.0, fourth), 1.0, differences.shape[1] - 1.0)
    return freedom


def seen_by_each_other(
    differences: Floats, n_coefficients: Floats, freedom: Floats | None = None
) -> tuple[Floats, Floats]:
    """Test the mean over rows, each of which was tested by a model that saw the other ones.

    A chance pattern that rows share shows twice, so their differences are not independent. To first order the
    t-statistic of a model with q coefficients for the feature is T = (U - q) / sqrt(U), where U is chi-squared with q
    degrees of freedom: U is solved for, and looked up (docs/decisions/0101-what-rows-share.md).

    Parameters
    ----------
    differences : ndarray of shape (n_questions, n_rows)

    n_coefficients : ndarray of shape (n_questions,)
        q; infinite where it is not known, which doubles the variance.

    freedom : ndarray of shape (n_questions,), default=None
        Degrees of freedom of the t-statistic; None is one less than rows.

    Returns
    -------
    pvalues, statistics : ndarray of shape (n_questions,)
        Where q is known, never below those of the plain t-test.
    """
    n_rows = differences.shape[1]
    as_if_independent, statistics = t_tail(differences, 1.0 / n_rows, freedom)
    doubled = t_tail(differences, 2.0 / n_rows, freedom)[0]
    return _with_shared_pattern(as_if_independent, doubled, n_coefficients), statistics


def trading_places(scores: Floats, n_coefficients: Floats) -> tuple[Floats, Floats]:
    """Test `exchange_scores` with the same allowance for rows that were tested by models that saw the other ones.

    Returns
    -------
    pvalues, statistics : ndarray of shape (n_questions,)
    """
    doubled = special.ndtr(-scores / np.sqrt(2.0))
    return _with_shared_pattern(special.ndtr(-scores), doubled, n_coefficients), scores


def _with_shared_pattern(as_if_independent: Floats, doubled: Floats, n_coefficients: Floats) -> Floats:
    """Return p-values that allow for shared patterns, from those without and those with twice the variance."""
    pvalues = doubled.copy()
    is_known = np.isfinite(n_coefficients)
    q, z = n_coefficients[is_known], -special.ndtri(as_if_independent[is_known])
    root = np.sqrt(z**2 + 4.0 * q)
    with np.errstate(invalid="ignore"):
        # The same number twice, each where it has all its digits.
        pattern = np.where(z > 0, (root + z) / 2.0, 2.0 * q / (root - z))
    pvalues[is_known] = np.maximum(special.chdtrc(q, pattern**2), as_if_independent[is_known])
    return pvalues


def exchange_scores(base: Floats, replaced: Floats) -> Floats:
    """Compare the rise of the risk with the rises if each row's own value traded places with one of its draws.

    Where the feature says nothing beyond the others, its value in a row and the draws of it are alike, and any of them
    could have been the one that was seen. The rise of all rows then has a law that is known exactly: it is a sum of
    independent terms, one a row, each of which takes the values of the row's losses with equal chances. That law knows
    how long the tails are and to which side, also from draws that no row of this table shows; a t-test knows the rows
    only (docs/decisions/0181-rows-trade-places-with-their-draws.md). Its tail is found by the saddlepoint
    approximation.

    Parameters
    ----------
    base : ndarray of shape (n_rows,)
        Losses of the rows as they are.

    replaced : ndarray of shape (n_questions, n_draws, n_rows)
        Losses with the draws.

    Returns
    -------
    ndarray of shape (n_questions,)
        Normal quantiles: where the rise stands in its law. 0 where nothing differs.

    References
    ----------
    Robinson, "Saddlepoint approximations for permutation tests and confidence intervals", Journal of the Royal
    Statistical Society B 44, 1982.
    """
    return np.array([_exchange_score(np.vstack([base, draws])) for draws in replaced])


def _exchange_score(losses: Floats) -> float:
    """Return where the rise stands; the first of the rows of ``losses`` is what was seen, the others are draws."""
    largest = np.abs(losses).max()
    if not np.isfinite(largest) or largest == 0.0:
        return 0.0  # Risks that are no numbers are refused where they are judged.
    # In place: with a million rows and ten draws every copy would be felt.
    losses /= largest
    terms = np.subtract(losses.mean(axis=0), losses, out=losses)
    deviation = np.sqrt(np.square(terms).mean(axis=0).sum())
    if deviation <= _GRID:
        return 0.0
    terms /= deviation
    rise = terms[0].sum()
    # Every row has its best, or its worst, already: the chance of that is known, and no saddlepoint is.
    for extreme, sign in ((terms.max(axis=0), 1.0), (terms.min(axis=0), -1.0)):
        if abs(extreme.sum() - rise) <= _GRID:
            n_ties = np.isclose(terms, extreme, rtol=0.0, atol=_GRID).mean(axis=0)
            return float(-sign * special.ndtri_exp(np.log(n_ties).sum()))
    tilt, cumulant, curvature = _saddlepoint(terms, rise)
    root = np.copysign(np.sqrt(max(0.0, 2.0 * (tilt * rise - cumulant))), tilt)
    if abs(root) < _NEAR_THE_MEAN:
        return float(rise - (terms**3).mean(axis=0).sum() / 6.0)
    return float(root + np.log(tilt * np.sqrt(curvature) / root) / root)


def _saddlepoint(terms: Floats, rise: float) -> tuple[float, float, float]:
    """Return the tilt that makes a rise the expected one, with the cumulant function and its curvature there."""
    tilt, low, high = 0.0, -np.inf, np.inf
    for _ in range(_MAX_STEPS):
        cumulant, expected, curvature = _cumulants(terms, tilt)
        excess = expected - rise
        if abs(excess) <= _CLOSE_ENOUGH:
            break
        low, high = (low, tilt) if excess > 0 else (tilt, high)
        # Newton's step, within what is known and not too far at once.
        step = np.clip(-excess / max(curvature, 1e-12), -2.0, 2.0)
        tilt = (
            tilt + step if low < tilt + step < high else (max(low, tilt - 2.0) + min(high, tilt + 2.0)) / 2.0
        )
    return tilt, cumulant, curvature


def _cumulants(terms: Floats, tilt: float) -> tuple[float, float, float]:
    """Return the cumulant function of the sum of the rows' terms at a tilt, its slope and its curvature."""
    found = np.zeros(3)
    for first in range(0, terms.shape[1], _ROWS_AT_ONCE):
        some = terms[:, first : first + _ROWS_AT_ONCE]
        tilted = tilt * some
        top = tilted.max(axis=0)
        shares = np.exp(tilted - top)
        totals = shares.sum(axis=0)
        shares /= totals
        means = (shares * some).sum(axis=0)
        spread = (shares * np.square(some)).sum(axis=0) - np.square(means)
        found += (top + np.log(totals / len(some))).sum(), means.sum(), spread.sum()
    return float(found[0]), float(found[1]), float(found[2])


def randomisation(risks: Floats, by_draw: Floats, stop_after: int) -> tuple[Floats, Floats]:
    """Compare each risk with those of random draws.

    Parameters
    ----------
    risks : ndarray of shape (n_questions,)

    by_draw : ndarray of shape (n_questions, n_draws)
        Not a number for draws that were not made.

    stop_after : int
        Draws end with this many that are no higher than the risk itself; 0 for never.

    Returns
    -------
    pvalues : ndarray of shape (n_questions,)
        (1 + count) / (n_draws + 1), or, where the draws ended early, count divided by the draws made (Besag
        and Clifford, 1991).

    counts : ndarray of shape (n_questions,)
        Draws that are no higher than the risk itself.
    """
    # Rounding is not a difference: sums of the same losses in another order differ in their last bits.
    is_as_good = by_draw <= risks[:, np.newaxis] + _GRID * np.abs(risks)[:, np.newaxis]
    counts = is_as_good.sum(axis=1).astype(np.float64)
    pvalues: Floats = (1.0 + counts) / (by_draw.shape[1] + 1.0)
    if stop_after:
        has_ended = counts >= stop_after
        so_far = np.cumsum(is_as_good[has_ended], axis=1)
        counts[has_ended] = stop_after
        pvalues[has_ended] = stop_after / (1.0 + np.argmax(so_far == stop_after, axis=1))
    return pvalues, counts


def cauchy_combination(pvalues: Floats, weights: Sequence[float] | None = None) -> tuple[Floats, Floats]:
    """Join the p-values of several tests of the same hypothesis, however they depend on each other.

    A p-value becomes a Cauchy variable, and the mean of these is Cauchy again: exactly where they are independent or
    equal, and in the tail whatever links them (Liu and Xie, 2020). One small p-value among K costs a factor of K at
    most, and several that agree cost less.

    Parameters
    ----------
    pvalues : ndarray of shape (n_questions, n_tests)

    weights : sequence of float, default=None
        How much each of the tests counts; None is all alike.

    Returns
    -------
    pvalues, statistics : ndarray of shape (n_questions,)

    Examples
    --------
    >>> cauchy_combination(np.array([[0.02, 0.02], [0.001, 0.5]]))[0].round(4).tolist()
    [0.02, 0.002]
    """
    # The Cauchy variable of p is cot(pi p): of 1 it would be minus infinity, and no other test would be heard.
    capped = np.minimum(pvalues, _LARGEST_VOTE)
    with np.errstate(divide="ignore"):
        statistics: Floats = np.average(1.0 / np.tan(np.pi * capped), axis=1, weights=weights)
        combined = np.arctan(1.0 / statistics) / np.pi
    combined = np.where(statistics < 0, 1.0 + combined, combined)
    return np.maximum(combined, pvalues.min(axis=1)), statistics


def _smallest_signed_rank(n_splits: int) -> float:
    every_pair_rises = np.arange(1.0, n_splits + 1.0)[np.newaxis]
    return float(signed_rank(every_pair_rises, [])[0][0])


SIGNIFICANCES = {
    test.name: test
    for test in (
        Significance("wilcoxon", signed_rank, _smallest_signed_rank, min_splits=5),
        Significance("paired-t", paired_t, lambda n_splits: 0.0, min_splits=2),
        Significance("corrected-t", corrected_t, lambda n_splits: 0.0, min_splits=2),
    )
}
