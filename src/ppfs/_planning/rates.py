"""Time and fits of each phase of a search, estimated from short runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import log, sqrt

import numpy as np

from ppfs._conventions import Phase
from ppfs.blanket import expected_refits, most_looked_at, n_asked_jointly, suits_joint_growth
from ppfs.independence import MOST_ROWS_COUNTED

#: If nothing else is known: a model of twice as many columns takes nearly three times as long.
EXPONENT = 1.5
# Rounds of a second look that are expected: often the first finds nothing.
_LOOKS = 1.5
# The range of exponents that short measurements may show.
_LOW, _HIGH = 0.5, 3.0
# The shortest time that a clock can show, in seconds.
_SMALLEST = 1e-6


@dataclass(frozen=True)
class Line:
    """Seconds that are partly the same for any number of rows, and partly proportional to it."""

    fixed: float
    per_row: float

    @classmethod
    def through(cls, n: int, seconds: float, fewer: int, fewer_seconds: float) -> Line:
        """Return the line through two measurements; at least half of the larger one is proportional to the rows."""
        slope = (seconds - fewer_seconds) / (n - fewer) if n > fewer else 0.0
        per_row = min(max(slope, seconds / n / 2), seconds / n)
        return cls(seconds - per_row * n, per_row)

    def at(self, n_rows: int) -> float:
        """Return the seconds for a number of rows."""
        return self.fixed + self.per_row * n_rows


@dataclass(frozen=True)
class Shrinkage:
    """What the shrink phase took.

    Attributes
    ----------
    n_candidates : int
        How many columns it began with.

    seconds : float
        CPU seconds.

    n_fits : float
        Models fitted.

    n_sets : float
        How often models were fitted to the columns that were left: at the start, and after each column that was
        dropped and that models had used.

    exponent : float
        By which power of the number of columns the time of one set grows.
    """

    n_candidates: int
    seconds: float
    n_fits: float
    n_sets: float
    exponent: float = EXPONENT

    @classmethod
    def of(cls, phases: Sequence[Phase], n_folds: int, exponent: float = EXPONENT) -> Shrinkage | None:
        """Return what the phases show of a run that may have been cut short; None where they show nothing."""
        seen = [_one(phase, exponent) for phase in phases if phase.marks and phase.marks[-1].n_done]
        if not seen:
            return None
        times = max(1, n_folds) / len(seen)
        return cls(
            max(one.n_candidates for one in seen),
            times * sum(one.seconds for one in seen),
            times * sum(one.n_fits for one in seen),
            times * sum(one.n_sets for one in seen),
            exponent,
        )

    @property
    def seconds_per_set(self) -> float:
        """Of one set of models, on average; never 0, which a run that only compiles may show."""
        return max(self.seconds, _SMALLEST) / self.n_sets

    def exponent_from(self, smaller: Shrinkage) -> float:
        """Return by which power of the number of columns the time of one set grows, seen from a smaller run."""
        if self.n_candidates <= smaller.n_candidates:
            return self.exponent
        rise = log(self.seconds_per_set / smaller.seconds_per_set)
        return float(np.clip(rise / log(self.n_candidates / smaller.n_candidates), _LOW, _HIGH))

    def sets_for(self, n_candidates: int) -> float:
        """Return how many sets of models a number of candidates needs.

        Of more candidates a smaller share is kept: rows limit how many columns can be distinguished.
        """
        ratio = n_candidates / self.n_candidates
        if ratio == 1:
            return self.n_sets
        kept_share = max(0.0, 1 - (self.n_sets - 1) / self.n_candidates)
        return 1 + max(0.0, n_candidates * (1 - kept_share / sqrt(max(ratio, 1.0))))

    def seconds_for(self, n_candidates: int) -> float:
        """Return the CPU seconds for a number of candidates."""
        larger: float = (n_candidates / self.n_candidates) ** self.exponent
        return self.seconds_per_set * larger * self.sets_for(n_candidates)

    def fits_for(self, n_candidates: int) -> float:
        """Return how many models are fitted for a number of candidates."""
        return self.n_fits / self.n_sets * self.sets_for(n_candidates)


def _one(phase: Phase, exponent: float) -> Shrinkage:
    """Return what a shrink phase took, or would have taken if it had been completed.

    Columns are asked about weakest first. So of those that were not asked about, half as large a share is assumed to
    be dropped as of those that were.
    """
    last = phase.marks[-1]
    fits = [0, *(mark.n_fits for mark in phase.marks)]
    rises = sum(after > before for before, after in pairwise(fits))
    # Tests without models count none: every question is one.
    n_sets = rises or last.n_done
    ahead = 0 if phase.is_complete else phase.total - last.n_done
    sets_ahead = ahead * n_sets / last.n_done / 2
    # Sets become smaller as columns are dropped.
    size_ahead = 1 - (n_sets + sets_ahead / 2) / phase.total
    more = sets_ahead / n_sets * max(size_ahead, 0.1) ** exponent
    return Shrinkage(
        phase.total,
        last.seconds * (1 + more),
        last.n_fits * (1 + sets_ahead / n_sets),
        n_sets + sets_ahead,
        exponent,
    )


@dataclass(frozen=True)
class PerQuestion:
    """The cost of a question: CPU seconds, and models fitted."""

    seconds: float = 0.0
    fits: float = 0.0


@dataclass(frozen=True)
class Rates:
    """What short runs took.

    Attributes
    ----------
    startup : float
        CPU seconds before any work: libraries and kernels are loaded.

    n_rows : int
        Of the table that was measured.

    growth : Line
        CPU seconds per column, by the rows.

    fits_per_column : float
        Models fitted in growth.

    shrink : Shrinkage or None
        The shrink phase; None where there was no candidate.

    shrink_by_rows : Line
        CPU seconds of a shrink phase, by the rows.

    shrink_rows : int
        With how many rows `shrink` was measured.

    n_splits : int
        Splits, which the shrink phase of a model outside the engine may spread over workers.

    seconds_per_refit, fits_per_refit : float
        Of counting small p-values, where rows are few; 0 where they are not counted.

    n_candidates : int
        How many candidates the whole table seems to have.

    correction, alpha
        What decides how often p-values are counted: parameters of the search.

    joint, look : PerQuestion
        A question of joint growth, and of a second look; nothing where the search does neither.

    mode : str
        The search's parameter `growth`.

    share_counted : float
        The share of the candidates whose p-values are counted; those of the others are bounded.
    """

    startup: float
    n_rows: int
    growth: Line
    fits_per_column: float
    shrink: Shrinkage | None
    shrink_by_rows: Line
    shrink_rows: int
    n_splits: int
    seconds_per_refit: float = 0.0
    fits_per_refit: float = 0.0
    n_candidates: int = 20
    correction: str | None = None
    alpha: float = 0.05
    joint: PerQuestion = PerQuestion()
    look: PerQuestion = PerQuestion()
    mode: str = "marginal"
    share_counted: float = 1.0

    def n_beside(self, n_rows: int, n_columns: int) -> tuple[int, int]:
        """Return how many questions joint growth asks, and how many a second look."""
        is_small = suits_joint_growth(n_rows, n_columns) or self.mode != "auto"
        n_joint = n_asked_jointly(n_rows, n_columns) if is_small else 0
        return n_joint, round(_LOOKS * min(n_columns, most_looked_at(n_rows)))

    def n_refits(self, n_rows: int, n_columns: int, n_candidates: int) -> float:
        """Return how many rearranged columns models are fitted to, to count small p-values."""
        if (
            not self.seconds_per_refit
            or n_rows > MOST_ROWS_COUNTED
            or not n_candidates
            or self.mode == "joint"
        ):
            return 0.0
        return self.share_counted * expected_refits(n_candidates, n_columns, self.correction, self.alpha)

    def growth_ratio(self, n_rows: int) -> float:
        """Return how many times as long growth takes as in the table that was measured."""
        return self.growth.at(n_rows) / self.growth.at(self.n_rows)

    def shrink_ratio(self, n_rows: int) -> float:
        """Return how many times as long the shrink phase takes as in the table that was measured."""
        return self.shrink_by_rows.at(n_rows) / self.shrink_by_rows.at(self.shrink_rows)
