"""Small p-values of the growth phase by permutation instead of approximation, as precise as the correction needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.blanket._steps.correction import adjust, level_of
from ppfs.independence import EFFECTIVE_VIEWS, ExactTail

# For a column whose p-value equals the level, the expected number of draws that are as extreme.
_MOST_PER_LEVEL = 10
_LEAST_PER_LEVEL = 2

# A column with this many draws as extreme is not called: its p-value is at least twice the level.
_TOO_MANY = 2 * _MOST_PER_LEVEL

# Models are fitted to this share of the draws, those that a quick screening ranks highest: a multiple of the level,
# within bounds, and at least twice the level.
_TIMES_LEVEL = 5
_SHARES = (0.01, 0.1)

# The budget of all columns together, per column of the table: draws that models are fitted to, and draws that are
# screened, divided by alpha. Small tables get more, because they take no time.
_REFITS = 5
_LEAST_REFITS = 4096
_SCREENINGS = 100


@dataclass(frozen=True)
class Counted:
    """P-values computed by permutation.

    Attributes
    ----------
    places : ndarray of int, shape (n_counted,)
        The positions of the columns.

    pvalues : ndarray of shape (n_counted,)

    n_draws, n_as_extreme : ndarray of int, shape (n_counted,)
        The number of permutations of the column, and of those that were at least as extreme.

    is_unresolved : ndarray of bool, shape (n_counted,)
        Whether more draws could have brought the p-value below the level, but the budget was used up.

    n_refitted : int
        The number of permutations that models were fitted to.
    """

    places: NDArray[np.intp]
    pvalues: Floats
    n_draws: NDArray[np.intp]
    n_as_extreme: NDArray[np.intp]
    is_unresolved: NDArray[np.bool_]
    is_bounded: NDArray[np.bool_]
    n_refitted: int = 0

    @property
    def note(self) -> str:
        """A description of what was done, for the trace."""
        n_bounded = int(self.is_bounded.sum())
        said = (
            f"exact growth: {self.places.size - n_bounded} small p-values counted by rearranging columns, "
            f"{int(self.n_draws.sum())} times in all, models refitted to {self.n_refitted} of them"
        )
        if n_bounded:
            said += f"; {n_bounded} still smaller p-values certified by a bound, without draws"
        if not self.is_unresolved.any():
            return said
        return (
            f"{said}; {int(self.is_unresolved.sum())} columns could not be resolved within the budget and are not "
            "called: correction='bh' needs far fewer draws than 'bonferroni'"
        )


@dataclass(frozen=True)
class Effort:
    """How many draws a number of columns gets, and to which share of them models are fitted.

    Attributes
    ----------
    n_draws : int
        For each column.

    share : float
        See `ExactTail.n_as_extreme`.

    n_columns : int
        For how many columns the budget suffices.
    """

    n_draws: int
    share: float
    n_columns: int

    @classmethod
    def of(
        cls, n_candidates: int, n_columns: int, level: float, alpha: float, share: float | None = None
    ) -> Effort:
        """Choose the effort that the budget allows.

        With 10 / level draws, the relative standard error of a p-value at the level is about a third. Fewer draws are
        made if these would take more than about five times the work of growth, and the screening becomes stricter if
        even 2 / level draws are too many. A share that is given stays: a column's statistic must not change between
        rounds.

        Examples
        --------
        755 of 10,000 columns may be dependent, so p-values below 755 times 0.05 / 10,000 are called:

        >>> Effort.of(755, 10_000, level=0.003775, alpha=0.05)
        Effort(n_draws=1595, share=0.018875, n_columns=755)
        """
        wanted = share or min(1.0, max(2 * level, float(np.clip(_TIMES_LEVEL * level, *_SHARES))))
        affordable = max(_REFITS * n_columns, _LEAST_REFITS) / (EFFECTIVE_VIEWS * n_candidates)
        per_level = float(np.clip(affordable * level / wanted, _LEAST_PER_LEVEL, _MOST_PER_LEVEL))
        screenings = _SCREENINGS * n_columns / alpha
        n_draws = ceil(max(_LEAST_PER_LEVEL / level, min(per_level / level, screenings / n_candidates)))
        sharp = share or min(wanted, max(_TIMES_LEVEL * level, affordable / n_draws))
        return cls(n_draws, sharp, min(n_candidates, max(1, int(screenings / n_draws))))


def expected_refits(n_candidates: int, n_columns: int, correction: str | None, alpha: float) -> float:
    """Return to how many permuted columns models are fitted if all candidates are called in the end.

    Examples
    --------
    About five per column of the table:

    >>> round(expected_refits(20, 1_000_000, "bh", 0.05) / 1_000_000, 1)
    4.4
    """
    level = level_of(alpha, correction, n_columns, n_candidates)
    effort = Effort.of(n_candidates, n_columns, level, alpha)
    return effort.n_columns * effort.n_draws * min(1.0, EFFECTIVE_VIEWS * effort.share)


def count_small_pvalues(
    tail: ExactTail,
    columns: Sequence[int],
    approximate: Floats,
    correction: str | None,
    alpha: float,
    on_progress: Callable[[int], None] = lambda n_ahead: None,
) -> Counted:
    """Replace small approximate p-values by permutation p-values.

    Columns that the approximation would call get a permutation p-value. The others keep theirs, which are too large to
    be called even if all of the former are. So every column that is called has a valid p-value below the corrected
    level, however good the approximation is.

    The correction's level depends on how many columns are called, so it is found from above: with K columns left, each
    gets as many draws as the level for K calls needs, and those above that level are removed. When none is removed, the
    remaining ones are called. While a column remains, its number of draws depends only on the other columns, so its
    p-value, (1 + draws as extreme) / (1 + draws), is exact. Columns whose p-value has a tiny bound are not drawn: they
    rank before all others.

    Parameters
    ----------
    tail : ExactTail
        Counts permutations that are as extreme.

    columns : sequence of int
        All columns that were tested.

    approximate : ndarray of shape (n_columns,)
        Their p-values.

    on_progress : function of int, default=nothing
        Called from time to time with the number of columns' worth of work that remains.
    """
    called = np.flatnonzero(adjust(approximate, correction) <= alpha)
    places = called[tail.can_refine([columns[place] for place in called.tolist()])]
    places = places[np.lexsort((places, approximate[places]))]
    bounds = tail.bounded_pvalues([columns[place] for place in places.tolist()])
    is_bounded = bounds < 1.0
    n, n_kept = places.size, called.size - places.size + int(is_bounded.sum())
    n_draws, n_as_extreme = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    counted = bounds
    is_left, is_beyond = ~is_bounded, np.zeros(n, dtype=bool)
    done, n_refitted = 0, tail.n_refitted
    share: float | None = None
    while is_left.any():
        n_left = int(is_left.sum())
        level = level_of(alpha, correction, len(columns), n_left + n_kept)
        effort = Effort.of(n_left, len(columns), level, alpha, share)
        share = effort.share
        # The strongest first.
        too_many = np.flatnonzero(is_left)[effort.n_columns :]
        is_left[too_many], is_beyond[too_many] = False, True
        for part in (4, 2, 1):
            end = tail.draws_at_once * ceil(effort.n_draws / part / tail.draws_at_once)
            active = np.flatnonzero(is_left)
            if end > done and active.size:
                asked = [columns[place] for place in places[active].tolist()]
                n_as_extreme[active] += tail.n_as_extreme(asked, done, end, effort.share)
                n_draws[active] = done = end
                is_left[active] = n_as_extreme[active] < _TOO_MANY
                on_progress(int(is_left.sum()) * (part - 1) // part)
        counted = np.where(n_draws > 0, (1.0 + n_as_extreme) / (1.0 + n_draws), bounds)
        is_left &= counted <= level
        if is_left.sum() == n_left:
            break
    return Counted(
        places, counted, n_draws, n_as_extreme, is_beyond, is_bounded, tail.n_refitted - n_refitted
    )
