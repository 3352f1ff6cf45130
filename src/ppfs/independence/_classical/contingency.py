"""Tests of contingency tables: observed counts against those expected under independence."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import prod
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy.special import chdtrc, gammaincc

from ppfs._conventions import Floats, Interval, as_many_as_fit
from ppfs._data import Table, require_finite
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT, IndependenceResult
from ppfs.independence._bound import Binding
from ppfs.independence._classical.batched import BatchedTest
from ppfs.independence._classical.levels import Levels, read_levels
from ppfs.independence._classical.plain_rows import require_plain_rows
from ppfs.independence._classical.strata import (
    Counts,
    Moments,
    Statistics,
    Strata,
    Tables,
    chi_squared,
    chi_squared_moments,
    degrees_of_freedom,
    g_squared,
)
from ppfs.independence._test import IndependenceTest

# P-value, statistic and effect of each column, shape (n_columns, 3).
Judgment = Floats

# Table cells counted at once.
_MAX_CELLS = 2**20


@dataclass(kw_only=True, eq=False, repr=False)
class GSquared(IndependenceTest):
    """The G-squared (log-likelihood ratio) test of categorical columns.

    One contingency table of x and the target for each combination of the given columns' levels; G-squared
    compares the counts with those expected under independence within each. All candidates
    are counted in one pass, so a search over a thousand columns takes seconds.

    Parameters
    ----------
    min_rows_per_cell : float, default=5
        With fewer rows than this per cell of the full table the answer is "cannot tell"
        (``is_reliable=False``). 0 always gives an answer.

    max_levels : int, default=100
        A column with more levels raises an error.

    See Also
    --------
    ChiSquared : Pearson's statistic instead of the likelihood ratio.
    LikelihoodRatio : for columns of both kinds.

    Notes
    -----
    The degrees of freedom are (r_x - 1)(r_y - 1) summed over the strata, where r counts the levels that occur in the
    stratum, and at least 1. `effect` is the statistic per degree of freedom.

    With many strata of few rows the p-values are too small, even if the table as a whole has enough rows:
    use ``ChiSquared(exact_moments=True)`` then.

    A column that is constant, or determined by the given columns, is independent (p = 1). Given a
    copy of the target, every other column is. The levels of a group of columns are their combinations.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.independence import GSquared
    >>> smoker, ill = np.repeat([0, 1], 50), np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    >>> round(GSquared().evaluate(ill.reshape(-1, 1), smoker, 0).statistic, 2)
    38.55
    """

    is_random = False
    reads_task = False

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "min_rows_per_cell": [Interval(Real, 0, None, closed="left")],
        "max_levels": [Interval(Integral, 2, None, closed="left")],
    }

    min_rows_per_cell: float = 5
    max_levels: int = 100

    def _bind(self, table: Table, binding: Binding) -> BoundContingency:
        name = type(self).__name__
        require_plain_rows(table, user=name)
        require_finite(table, allow_missing=False, user=name)
        levels = read_levels(table, self.max_levels, user=name)
        return BoundContingency(table, binding, levels, self._judge, self.min_rows_per_cell)

    def _judge(self, tables: Tables) -> Judgment:
        return _against_chi_squared(g_squared(tables))


@dataclass(kw_only=True, eq=False, repr=False)
class ChiSquared(GSquared):
    """Pearson's chi-squared test of categorical columns.

    Parameters
    ----------
    exact_moments : bool, default=False
        Compare the statistic with the gamma distribution that has its exact mean and variance given
        the margins, instead of chi-squared. With many strata of few rows chi-squared, and
        G-squared even more, rejects a true null too often; this keeps the level.

    min_rows_per_cell : float, default=5
        With fewer rows than this per cell of the full table the answer is "cannot tell"
        (``is_reliable=False``). 0 always gives an answer.

    max_levels : int, default=100
        A column with more levels raises an error.

    See Also
    --------
    GSquared : the likelihood ratio; its notes apply here.

    References
    ----------
    Haldane, "The mean and variance of chi-squared, when used as a test of homogeneity, when expectations
    are small", Biometrika 31, 1940.

    Examples
    --------
    >>> import numpy as np
    >>> from ppfs.independence import ChiSquared
    >>> smoker, ill = np.repeat([0, 1], 50), np.repeat([0, 1, 0, 1], [40, 10, 10, 40])
    >>> ChiSquared().evaluate(ill.reshape(-1, 1), smoker, 0).statistic
    36.0
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **GSquared._parameter_constraints,
        "exact_moments": ["boolean"],
    }

    exact_moments: bool = False

    def _judge(self, tables: Tables) -> Judgment:
        judgment = np.empty((tables.n_levels.size, 3))
        for positions, counts in tables.by_width():
            judgment[positions] = self._judge_one_width(counts)
        return judgment

    def _judge_one_width(self, counts: Counts) -> Judgment:
        if self.exact_moments:
            return _against_gamma(chi_squared_moments(counts))
        return _against_chi_squared(Statistics(chi_squared(counts), degrees_of_freedom(counts)))


def _against_chi_squared(found: Statistics) -> Judgment:
    # The upper tail; 1 - cdf would be 0 beyond a statistic of about 70.
    pvalues = chdtrc(found.freedom, found.values)
    return np.column_stack([pvalues, found.values, found.values / found.freedom])


def _against_gamma(moments: Moments) -> Judgment:
    """Compare with the gamma distribution of the same mean and variance, of which chi-squared is a special case."""
    is_empty = moments.variance <= 0.0
    variance = np.where(is_empty, 1.0, moments.variance)
    mean = np.where(is_empty, 1.0, moments.mean)
    pvalues = np.where(is_empty, 1.0, gammaincc(mean**2 / variance, moments.statistic * mean / variance))
    return np.column_stack([pvalues, moments.statistic, moments.statistic / mean])


class BoundContingency(BatchedTest):
    """The test of one table: its columns as codes."""

    values_for_free = 2**17

    def __init__(
        self,
        table: Table,
        binding: Binding,
        levels: Levels,
        judge: Callable[[Tables], Judgment],
        min_rows_per_cell: float,
    ) -> None:
        super().__init__(table, binding)
        self._levels = levels
        self._counts: list[int] = levels.counts.tolist()
        self._judge = judge
        self._min_rows_per_cell = min_rows_per_cell
        # Searches ask many consecutive questions with the same target and conditioning set.
        self._strata = lru_cache(maxsize=2)(self._divide)

    def has_rows_for(self, target: int, given: Collection[int]) -> bool:
        """Return whether there are enough rows for the cells of the target and these columns."""
        return self.table.n_rows >= self._rows_for([target, *given])

    def _rows_for(self, variables: Sequence[int]) -> float:
        return self._min_rows_per_cell * prod(self._counts[variable] for variable in variables)

    def _batch(self, xs: Sequence[int], target: int, given: tuple[int, ...]) -> list[IndependenceResult]:
        rows_needed = self._rows_for([target, *given])
        results: dict[int, IndependenceResult] = {}
        countable: list[int] = []
        for x in xs:
            if self._counts[x] < 2:
                results[x] = INDEPENDENT
            elif rows_needed * self._counts[x] > self.table.n_rows:
                results[x] = CANNOT_TELL
            else:
                countable.append(x)
        for some in self._batches_of(countable, target, given):
            tables = Tables.count(self._strata(target, given), self._levels, some)
            for x, answer in zip(some, self._judge(tables).tolist(), strict=True):
                results[x] = IndependenceResult(*answer)
        return [results[x] for x in xs]

    def _batches_of(self, xs: list[int], target: int, given: tuple[int, ...]) -> Iterator[list[int]]:
        """Cut columns into batches whose tables have a bounded number of cells."""
        if not xs:
            return
        strata = self._strata(target, given)
        widest = max(self._counts[x] for x in xs)
        at_once = as_many_as_fit(_MAX_CELLS, strata.n_strata * strata.n_classes * widest)
        for start in range(0, len(xs), at_once):
            yield xs[start : start + at_once]

    def _divide(self, target: int, given: tuple[int, ...]) -> Strata:
        return Strata.of(self._levels, target, self.table.order.canonical(given))
