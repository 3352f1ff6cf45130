"""Growth's small p-values, counted instead of approximated, as far as the correction needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil, log1p

import numpy as np
from numpy.typing import NDArray
from scipy import special

from ppfs._types import Floats
from ppfs.blanket._correction import adjust, level_of
from ppfs.independence import ExactTail

# The anytime p-value is called at p-hat = sharpness * level. A sharper one needs more draws without any
# that is as extreme: 1.4 / level for 0.5, 2 / level for 0.8, 3.2 / level for 0.95.
_SHARPNESS = 0.8
_SHARPNESS_UNCORRECTED = 0.95

# A column is given up when so many exceedances would be this rare if it could still be called.
_FUTILE = 0.01

# Nor is it followed further than so many times the draws that a column without exceedance needs.
_TIMES_NEEDED = 3

# Nor are all columns together given more draws than this over alpha for each column of the table, or than so many.
# Clear cases take 2 over alpha with Benjamini and Hochberg's correction, however many they are; with Bonferroni's each
# one does.
_BUDGET = 3
_LEAST_BUDGET = 2**17


@dataclass(frozen=True)
class Counted:
    """P-values that were counted.

    Attributes
    ----------
    places : ndarray of int, shape (n_counted,)
        Whose they are.

    pvalues : ndarray of shape (n_counted,)

    n_draws, n_as_extreme : ndarray of int, shape (n_counted,)
        How many rearrangements of the column were looked at, and how many looked at least as dependent.

    is_unresolved : ndarray of bool, shape (n_counted,)
        Whether draws ended before it was clear on which side of the level the p-value is.
    """

    places: NDArray[np.intp]
    pvalues: Floats
    n_draws: NDArray[np.intp]
    n_as_extreme: NDArray[np.intp]
    is_unresolved: NDArray[np.bool_]

    @property
    def note(self) -> str:
        """What was done, for the trace."""
        said = (
            f"exact growth: {self.places.size} small p-values counted by refitting rearranged columns, "
            f"{int(self.n_draws.sum())} in all"
        )
        if not self.is_unresolved.any():
            return said
        finest = float(self.pvalues[self.is_unresolved].min())
        return f"{said}; {int(self.is_unresolved.sum())} not resolved within the budget (p <= {finest:.2g} at best)"


def anytime_pvalues(n_as_extreme: NDArray[np.intp], n_draws: int, sharpness: float) -> Floats:
    """Return p-values that hold whenever, and for whatever reason, the draws end.

    Fischer and Ramdas' binomial mixture: under independence the share of as extreme draws is uniform, or
    larger. Against the alternative that it is uniform on (0, c), the likelihood ratio of g such draws among N is
    P(B <= c) / c with B from Beta(g + 1, N + 1 - g), a martingale that exceeds 1/u at any time with
    probability u at most (Ville). With c = sharpness * u for every level u, the smallest u that is reached is
    the `sharpness` quantile of B over `sharpness`.

    Examples
    --------
    >>> anytime_pvalues(np.array([0, 10]), 1000, 0.8).round(4).tolist()
    [0.002, 0.017]
    """
    quantiles = special.betaincinv(n_as_extreme + 1.0, n_draws + 1.0 - n_as_extreme, sharpness)
    pvalues: Floats = np.minimum(1.0, quantiles / sharpness)
    return pvalues


def draws_needed(level: float, sharpness: float) -> int:
    """Return how many draws, none of them as extreme, bring the p-value down to a level."""
    return max(1, ceil(log1p(-sharpness) / log1p(-sharpness * level)) - 1)


def count_small_pvalues(
    tail: ExactTail,
    columns: Sequence[int],
    approximate: Floats,
    correction: str | None,
    alpha: float,
    on_round: Callable[[int], None] = lambda n_active: None,
) -> Counted:
    """Replace p-values that matter by counted ones.

    Those that the approximation would call are counted; the others keep theirs, which is too large to be called even if
    all counted ones are. So whoever is called has a valid p-value below the corrected level, whatever the approximation
    was worth. Draws of a column end when it is called, when it cannot be called any more, or with the budget.

    Parameters
    ----------
    tail : ExactTail
        Counts rearrangements that are as extreme.

    columns : sequence of int
        All that were asked about.

    approximate : ndarray of shape (n_columns,)
        Their p-values.

    on_round : function of int, default=nothing
        Told after every round of draws how many columns are still drawn.
    """
    sharpness = _SHARPNESS_UNCORRECTED if correction is None else _SHARPNESS
    places = np.flatnonzero(adjust(approximate, correction) <= alpha)
    places = places[tail.can_refine([columns[place] for place in places.tolist()])]
    places = places[np.lexsort((places, approximate[places]))]
    n = places.size
    n_draws, n_as_extreme = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    counted, pvalues = np.ones(n), approximate.copy()
    pvalues[places] = 1.0
    is_called, is_active = np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    is_unresolved = np.zeros(n, dtype=bool)
    done, budget = 0, max(_LEAST_BUDGET, ceil(_BUDGET * len(columns) / alpha))
    while is_active.any():
        level = level_of(alpha, correction, len(columns), int((is_active | is_called).sum()))
        needed = draws_needed(level, sharpness)
        step = tail.draws_at_once
        wanted = min(max(2 * done, step), needed) if done < needed else 2 * done
        end = step * ceil(max(wanted, done + 1) / step)
        if end > max(_TIMES_NEEDED * needed, step * ceil(needed / step)):
            is_unresolved |= is_active
            break
        # The strongest first: a column is begun only if what it needs is there.
        given_up = np.flatnonzero(is_active)[budget // (max(end, needed) - done) :]
        is_active[given_up], is_unresolved[given_up] = False, True
        active = np.flatnonzero(is_active)
        if not active.size:
            break
        asked = [columns[place] for place in places[active].tolist()]
        n_as_extreme[active] += tail.n_as_extreme(asked, done, end)
        n_draws[active] = end
        budget -= active.size * (end - done)
        done = end
        counted[active] = np.minimum(counted[active], anytime_pvalues(n_as_extreme[active], done, sharpness))
        pvalues[places] = counted
        is_called = adjust(pvalues, correction)[places] <= alpha
        hits = n_as_extreme[active]
        chance = special.betainc(np.maximum(hits, 1), done - hits + 1.0, sharpness * level)
        is_active[active] = ~((hits > 0) & (chance < _FUTILE))
        is_active &= ~is_called
        on_round(int(is_active.sum()))
    return Counted(places, counted, n_draws, n_as_extreme, is_unresolved & ~is_called)
