"""Growth's small p-values, counted instead of approximated, as far as the correction needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs.blanket._steps.correction import adjust, level_of
from ppfs.independence import EFFECTIVE_VIEWS, ExactTail

# With so many draws over the level, about so many are as extreme as a column whose p-value is at the level.
_MOST_PER_LEVEL = 10
_LEAST_PER_LEVEL = 2

# A column with so many draws as extreme is given up: its p-value is twice the level or more.
_TOO_MANY = 2 * _MOST_PER_LEVEL

# Draws are looked at closely if they stand out, at a glance, from all but this share: so many times the level, within
# bounds, but twice the level at least.
_TIMES_LEVEL = 5
_SHARES = (0.01, 0.1)

# All columns together have this many draws looked at closely for each column of the table, and glanced at, over alpha.
# Small tables have more: they take no time.
_CLOSE_LOOKS = 5
_LEAST_CLOSE_LOOKS = 4096
_GLANCES = 100


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
        Whether more draws could have brought the p-value below the level, but there were too many columns for that.

    n_refitted : int
        To how many rearrangements models were fitted.
    """

    places: NDArray[np.intp]
    pvalues: Floats
    n_draws: NDArray[np.intp]
    n_as_extreme: NDArray[np.intp]
    is_unresolved: NDArray[np.bool_]
    n_refitted: int = 0

    @property
    def note(self) -> str:
        """What was done, for the trace."""
        said = (
            f"exact growth: {self.places.size} small p-values counted by rearranging columns, "
            f"{int(self.n_draws.sum())} times in all, models refitted to {self.n_refitted} of them"
        )
        if not self.is_unresolved.any():
            return said
        return (
            f"{said}; {int(self.is_unresolved.sum())} columns could not be resolved within the budget and are not "
            "called: correction='bh' needs far fewer draws than 'bonferroni'"
        )


@dataclass(frozen=True)
class Effort:
    """How many draws, and how many of them closely looked at, a number of columns is worth.

    Attributes
    ----------
    n_draws : int
        For each column.

    share : float
        See `ExactTail.n_as_extreme`.

    n_columns : int
        How many columns this can be done for.
    """

    n_draws: int
    share: float
    n_columns: int

    @classmethod
    def of(
        cls, n_candidates: int, n_columns: int, level: float, alpha: float, share: float | None = None
    ) -> Effort:
        """Weigh precision against work.

        A p-value at the level is counted to a third of itself with 10 / level draws. Fewer are made if these
        would take more than the work of growth some five times over, and a sharper glance is taken if even two are too
        many, unless the share is given: the statistic of a column must not change on the way.

        Examples
        --------
        755 of 10,000 columns may be dependent, and p-values below 755 times 0.05 / 10,000 are called:

        >>> Effort.of(755, 10_000, level=0.003775, alpha=0.05)
        Effort(n_draws=1595, share=0.018875, n_columns=755)
        """
        wanted = share or min(1.0, max(2 * level, float(np.clip(_TIMES_LEVEL * level, *_SHARES))))
        affordable = max(_CLOSE_LOOKS * n_columns, _LEAST_CLOSE_LOOKS) / (EFFECTIVE_VIEWS * n_candidates)
        per_level = float(np.clip(affordable * level / wanted, _LEAST_PER_LEVEL, _MOST_PER_LEVEL))
        glances = _GLANCES * n_columns / alpha
        n_draws = ceil(max(_LEAST_PER_LEVEL / level, min(per_level / level, glances / n_candidates)))
        sharp = share or min(wanted, max(_TIMES_LEVEL * level, affordable / n_draws))
        return cls(n_draws, sharp, min(n_candidates, max(1, int(glances / n_draws))))


def expected_refits(n_candidates: int, n_columns: int, correction: str | None, alpha: float) -> float:
    """Return to how many rearranged columns models are fitted when all candidates are called in the end.

    Examples
    --------
    Some five for each column of the table:

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
    """Replace p-values that matter by counted ones.

    Those that the approximation would call are counted; the others keep theirs, which is too large to be called even if
    all counted ones are. So whoever is called has a valid p-value below the corrected level, whatever the approximation
    was worth.

    The correction's level depends on how many columns are called. So it is found from above: with K columns left, all
    of them are drawn as often as the level of K called ones needs, and those above that level leave. When none does,
    the rest is called. How often a column is drawn depends on the other columns alone, as long as it stays; so its
    p-value, (1 + draws as extreme) / (1 + draws), is exact.

    Parameters
    ----------
    tail : ExactTail
        Counts rearrangements that are as extreme.

    columns : sequence of int
        All that were asked about.

    approximate : ndarray of shape (n_columns,)
        Their p-values.

    on_progress : function of int, default=nothing
        Told now and then how many columns' worth of work is ahead.
    """
    called = np.flatnonzero(adjust(approximate, correction) <= alpha)
    places = called[tail.can_refine([columns[place] for place in called.tolist()])]
    places = places[np.lexsort((places, approximate[places]))]
    n, n_kept = places.size, called.size - places.size
    n_draws, n_as_extreme = np.zeros(n, dtype=np.intp), np.zeros(n, dtype=np.intp)
    counted = np.ones(n)
    is_left, is_beyond = np.ones(n, dtype=bool), np.zeros(n, dtype=bool)
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
        counted = np.where(n_draws > 0, (1.0 + n_as_extreme) / (1.0 + n_draws), 1.0)
        is_left &= counted <= level
        if is_left.sum() == n_left:
            break
    return Counted(places, counted, n_draws, n_as_extreme, is_beyond, tail.n_refitted - n_refitted)
