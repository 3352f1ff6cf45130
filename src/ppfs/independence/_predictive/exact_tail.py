"""Exact small p-values given nothing: how often a rearranged column does as well as the column itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats
from ppfs._data import Table, dense_column
from ppfs._parallel import run_tasks
from ppfs._printable import listed
from ppfs._rows import Exchange
from ppfs.independence._predictive.marginal import Growth
from ppfs.independence._predictive.rearranged_columns import (
    DRAWS_AT_ONCE,
    ROUNDING,
    Drawing,
    Part,
    columns_at_once,
    counts_of,
)
from ppfs.independence._predictive.screening import EFFECTIVE_VIEWS, Screening
from ppfs.independence._predictive.tail_bound import TailBound
from ppfs.independence._rearrangements import CountedRearrangements, Rearrangements

# Blocks of rearranged columns per task.
_BLOCKS_PER_TASK = 4

# Chunks of draws per task on a GPU, at most.
_MOST_CHUNKS_ON_DEVICE = 512

# Columns that are screened together: this many, or as many as take this many bytes with twenty directions each.
_COLUMNS_AT_ONCE = 256
_BYTES_PER_SCREENING = 2**25
_BYTES_PER_ROW = 20 * 8

# If the first count needs more refits than this, kernels are worth compiling where NumPy fits the models of a small
# table. Later counts make three times as many draws.
_REFITS_IN_NUMPY = 150

# The key of this module's random streams, so that no other module draws the same numbers.
_PURPOSE = 0x7A11

# If fewer rows than this share can be exchanged, rearranged columns are too similar to the column itself.
_ENOUGH_MOVE = 0.5


@dataclass
class PermutationTail:
    """Counts the rearrangements of a column that look at least as dependent on the target as the column itself.

    A rearranged column is tested exactly like the column: the same folds, the same models refitted, the same
    statistic (the p-value of the growth phase, or of those models of a panel that are refitted quickly). If the
    column is independent of the target, it is exchangeable with its rearrangements, so that its rank among
    them is uniform: exactly, for any model, any number of rows and any distribution. Target, folds, weights and groups
    are not rearranged.

    Nearly all rearrangements show no dependence at all. So they are screened first, and models are fitted only to those
    that stand out. The screening is part of the statistic: arrangements that do not stand out rank last, including the
    column itself. See `Screening`.

    Arrangements that differ between classes, or between large and small numbers of the target, by far more than chance
    allows rank first, by a bound on their p-value: they need no draws. See `TailBound`.

    All columns are rearranged in the same way: a draw is an order of the rows, and depends only on its number.

    Attributes
    ----------
    growth : Growth
        Answers questions about a block of columns.

    outputs : ndarray of shape (n_outputs, n_rows) or None
        The target, for the screening; None where it is not numeric, and models are fitted to all rearrangements.

    entropy, fold : int
        The key of the random streams.

    n_fits : int
        Models fitted so far.

    target : int
        The variable that columns are compared with.

    known : mapping of Rearrangements to CountedRearrangements
        Earlier counts.

    remember : function of CountedRearrangements
        Called with every new count, which adds it to `known`.

    contrasts : sequence of ndarray of int
        Sets of rows that are compared with all others; empty where p-values cannot be bounded. See `TailBound`.

    n_refitted : int
        Rearranged columns that models were fitted to so far, including those of earlier counts.
    """

    draws_at_once: ClassVar[int] = DRAWS_AT_ONCE

    growth: Growth
    table: Table
    outputs: Floats | None
    exchange: Exchange
    entropy: int
    fold: int
    n_jobs: int | None
    target: int
    known: Mapping[Rearrangements, CountedRearrangements]
    remember: Callable[[CountedRearrangements], None]
    contrasts: Sequence[NDArray[np.intp]] = ()
    n_fits: int = 0
    n_refitted: int = 0
    _statistics: dict[int, float] = field(default_factory=dict)
    _is_begun: bool = False

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        """Return which variables can be rearranged: single columns in which enough rows can be exchanged."""
        single = [self.table.is_single(x) for x in xs]
        if self.exchange.groups is None:
            return np.array(single, dtype=bool)
        return np.array(
            [
                one and self.exchange.moves(dense_column(self.table.block([x]).read().X, 0)) >= _ENOUGH_MOVE
                for x, one in zip(xs, single, strict=True)
            ],
            dtype=bool,
        )

    def bounded_pvalues(self, xs: Sequence[int]) -> Floats:
        """Return bounds on tiny p-values of columns, by which they rank before all others; 1 for other columns."""
        bounds = np.ones(len(xs))
        if self._is_bounded:
            for part in self._parts(xs):
                own = np.arange(part.places.size)
                as_it_is = np.broadcast_to(np.arange(self.table.n_rows), (own.size, self.table.n_rows))
                bounds[part.places] = self._bound(part).pvalues(own, as_it_is)
        return bounds

    @property
    def _is_bounded(self) -> bool:
        return self.outputs is not None and len(self.contrasts) > 0

    def _bound(self, part: Part) -> TailBound:
        assert self.outputs is not None
        return TailBound.of(part.columns, self.contrasts, self.outputs, self.table.n_features)

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int, share: float) -> NDArray[np.intp]:
        """Count the draws that rank no lower than the column itself.

        Parameters
        ----------
        xs : sequence of int
            The columns.

        first, end : int
            The numbers of the draws; multiples of `DRAWS_AT_ONCE`.

        share : float
            Models are fitted to about this share of the rearrangements, those that stand out.

        Returns
        -------
        ndarray of int, shape (n_columns,)
        """
        if not self._is_begun:
            # The statistic of a column must not change later.
            self._is_begun = True
            if len(xs) * (end - first) * self._share_refitted(share) > _REFITS_IN_NUMPY:
                self.growth = self.growth.for_many_columns()
        counts = np.zeros(len(xs), dtype=np.intp)
        chunks = range(first // DRAWS_AT_ONCE, end // DRAWS_AT_ONCE)
        for part in self._parts(xs):
            counts[part.places] = self._counted(part, [xs[place] for place in part.places], chunks, share)
        return counts

    def _counted(self, part: Part, xs: Sequence[int], chunks: range, share: float) -> NDArray[np.intp]:
        """Count the draws of some columns that rank no lower than the columns themselves."""
        at_once = self._chunks_per_task(len(xs), share)
        tasks = [chunks[start : start + at_once] for start in range(0, len(chunks), at_once)]
        draws = {task: Rearrangements(self.target, tuple(xs), task.start, task.stop, share) for task in tasks}
        fresh = [task for task in tasks if draws[task] not in self.known]
        if fresh:
            self.growth.prepare()
            drawing = self._drawing(part, self._observed(xs), share)
            if drawing.is_on_device:
                _ = drawing.on_devices  # Before several threads need it at once.
            names = listed([self.table.names[x] for x in xs])
            answers = run_tasks(
                counts_of,
                drawing,
                fresh,
                n_jobs=self.n_jobs,
                prefer=self.growth.prefers,
                describe=lambda task: f"draws {task.start} to {task.stop} of columns {names}",
            )
            for task, answer in zip(fresh, answers, strict=True):
                self.n_fits += answer.n_fits
                self.remember(CountedRearrangements(draws[task], answer.counts, answer.n_refitted))
        found = [self.known[draws[task]] for task in tasks]
        self.n_refitted += sum(one.n_refitted for one in found)
        total: NDArray[np.intp] = np.sum([one.counts for one in found], axis=0)
        return total

    def _chunks_per_task(self, n_columns: int, share: float) -> int:
        """Return how many chunks of draws make a task; the same for any n_jobs."""
        at_once = columns_at_once(self.table.n_rows, is_on_device=self.growth.is_on_device)
        enough = at_once if self.growth.is_on_device else _BLOCKS_PER_TASK * at_once
        # Screening takes longer than refits on a GPU: every worker should get some of it.
        most = _MOST_CHUNKS_ON_DEVICE if self.growth.is_on_device else np.inf
        return max(1, int(min(most, enough / (self._share_refitted(share) * n_columns * DRAWS_AT_ONCE))))

    def _share_refitted(self, share: float) -> float:
        """Return to about which share of the draws models are fitted."""
        return 1.0 if self.outputs is None else min(1.0, EFFECTIVE_VIEWS * share)

    def _observed(self, xs: Sequence[int]) -> Floats:
        """Return the statistics of the original columns."""
        new = [x for x in xs if x not in self._statistics]
        for start in range(0, len(new), _COLUMNS_AT_ONCE):
            some = new[start : start + _COLUMNS_AT_ONCE]
            grown = self.growth(self.table.block(some))
            self.n_fits += grown.n_fits
            self._statistics.update(zip(some, grown.answers.pvalues.tolist(), strict=True))
        return np.array([self._statistics[x] for x in xs])

    def _parts(self, xs: Sequence[int]) -> Iterator[Part]:
        """Yield the columns, grouped by how their rows are exchanged."""
        fitting = _BYTES_PER_SCREENING // (_BYTES_PER_ROW * self.table.n_rows)
        at_once = max(1, min(_COLUMNS_AT_ONCE, fitting))
        for start in range(0, len(xs), at_once):
            some = np.arange(start, min(start + at_once, len(xs)))
            block = self.table.block([xs[place] for place in some.tolist()]).read()
            columns = np.stack([dense_column(block.X, column) for column in range(block.n_columns)])
            trades = np.array([self.exchange.trades_values(column) for column in columns])
            for by_value in np.unique(trades).tolist():
                own = np.flatnonzero(trades == by_value)
                yield Part(some[own], block.take(own), columns[own], by_value)

    def _drawing(self, part: Part, observed: Floats, share: float) -> Drawing:
        """Prepare the comparison of some columns with their draws."""
        screening = bounds = None
        stands_out = np.ones(part.places.size, dtype=bool)
        if self.outputs is not None:
            n_units = self.exchange.n_units(by_value=part.by_value)
            screening = Screening.of(part.columns, n_units, part.block.n_levels)
            bounds = screening.bounds(share, len(self.outputs))
            stands_out = screening.stands_out(self.outputs[:, np.newaxis], bounds)[:, 0]
        return Drawing(
            self.growth,
            part,
            self.exchange,
            self.outputs,
            screening,
            bounds,
            stands_out,
            observed * (1.0 + ROUNDING),
            self._bound(part) if self._is_bounded else None,
            (self.entropy, _PURPOSE, self.fold, int(part.by_value)),
        )
