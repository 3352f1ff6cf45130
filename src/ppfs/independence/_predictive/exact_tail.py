"""Questions given nothing, asked again of rearranged columns: how often chance alone looks as good."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from ppfs._conventions import Floats, stream
from ppfs._data import Block, Table, dense_column, listed
from ppfs._parallel import run_tasks
from ppfs._rows import Exchange
from ppfs.independence._predictive.marginal import BlockFunction
from ppfs.independence._predictive.screening import VIEWS_APART, Screening, rearranged
from ppfs.independence._rearrangements import CountedRearrangements, Rearrangements

# A stream of random numbers serves so many rearrangements, which are glanced at together.
DRAWS_AT_ONCE = 64

# So many bytes of rearranged columns are asked about together, and so many times as many are a task.
_BYTES_AT_ONCE = 2**20
_BLOCKS_PER_TASK = 4

# So many columns are glanced at together, or as many as take so many bytes, twenty directions each.
_COLUMNS_AT_ONCE = 256
_BYTES_PER_GLANCE = 2**25
_BYTES_PER_ROW = 20 * 8

# Equal arrangements give equal p-values but for rounding, and an equal one is as extreme.
_ROUNDING = 1e-7

# What the streams of this module are for, so that none is drawn twice.
_PURPOSE = 0x7A11

# If fewer rows than this share can trade places, the rearranged columns are too much like the column itself.
_ENOUGH_MOVE = 0.5


@dataclass
class PermutationTail:
    """Tells how many rearrangements of a column look at least as dependent on the target as the column itself.

    A rearranged column is asked about exactly like the column: the same folds, the same models fitted anew, the same
    statistic (the p-value of the growth phase, or of those models of a panel that are refitted quickly). If the
    column is independent of the target, it is one of its rearrangements, none of them special, so that its rank among
    them is uniform: exactly, for any model, any number of rows and any distribution. Target, folds, weights and groups
    stay where they are.

    Nearly all rearrangements show no link at all. So there is a glance first, and models are fitted only where it shows
    something. That is part of the statistic: what does not stand out at a glance comes last, be it a rearrangement or
    the column itself. See `Screening`.

    All columns are rearranged alike: a draw is an order of the rows, and depends on its number alone.

    Attributes
    ----------
    growth : BlockFunction
        What answers about a block of columns.

    outputs : ndarray of shape (n_outputs, n_rows) or None
        The target, for the glance; None where it is no numbers, and all rearrangements are looked at closely.

    entropy, fold : int
        What the random streams grow from.

    n_fits : int
        Models fitted so far.

    target : int
        Whose tail it is.

    known : mapping of Rearrangements to CountedRearrangements
        What was counted before.

    remember : function of CountedRearrangements
        Told what is counted, so that it is known later.

    n_asked : int
        Rearranged columns that models were fitted to so far, those of draws that were known included.
    """

    draws_at_once: ClassVar[int] = DRAWS_AT_ONCE

    growth: BlockFunction
    table: Table
    outputs: Floats | None
    exchange: Exchange
    entropy: int
    fold: int
    n_jobs: int | None
    target: int
    known: Mapping[Rearrangements, CountedRearrangements]
    remember: Callable[[CountedRearrangements], None]
    n_fits: int = 0
    n_asked: int = 0
    _statistics: dict[int, float] = field(default_factory=dict)

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        """Tell of which variables the rows can trade places: of single columns, if enough rows have a like."""
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

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int, share: float) -> NDArray[np.intp]:
        """Count the draws that rank no lower than the column itself.

        Parameters
        ----------
        xs : sequence of int
            The columns.

        first, end : int
            The numbers of the draws; multiples of `DRAWS_AT_ONCE`.

        share : float
            What does not stand out from about this share of the rearrangements, at a glance, is not looked at closely.

        Returns
        -------
        ndarray of int, shape (n_columns,)
        """
        counts = np.zeros(len(xs), dtype=np.intp)
        chunks = range(first // DRAWS_AT_ONCE, end // DRAWS_AT_ONCE)
        for part in self._parts(xs):
            counts[part.places] = self._counted(part, [xs[place] for place in part.places], chunks, share)
        return counts

    def _counted(self, part: _Part, xs: Sequence[int], chunks: range, share: float) -> NDArray[np.intp]:
        """Count the draws of some columns that rank no lower than the columns themselves."""
        at_once = self._chunks_per_task(len(xs), share)
        tasks = [chunks[start : start + at_once] for start in range(0, len(chunks), at_once)]
        draws = {task: Rearrangements(self.target, tuple(xs), task.start, task.stop, share) for task in tasks}
        fresh = [task for task in tasks if draws[task] not in self.known]
        if fresh:
            self.growth.prepare()
            drawing = self._drawing(part, self._observed(xs), share)
            names = listed([self.table.names[x] for x in xs])
            answers = run_tasks(
                _asked,
                drawing,
                fresh,
                n_jobs=self.n_jobs,
                prefer=self.growth.prefers,
                describe=lambda task: f"draws {task.start} to {task.stop} of columns {names}",
            )
            for task, answer in zip(fresh, answers, strict=True):
                self.n_fits += answer.n_fits
                self.remember(CountedRearrangements(draws[task], answer.counts, answer.n_asked))
        found = [self.known[draws[task]] for task in tasks]
        self.n_asked += sum(one.n_asked for one in found)
        total: NDArray[np.intp] = np.sum([one.counts for one in found], axis=0)
        return total

    def _chunks_per_task(self, n_columns: int, share: float) -> int:
        """Return how many chunks of draws have a few blocks of columns to be asked about; the same for any n_jobs."""
        stand_out = 1.0 if self.outputs is None else min(1.0, VIEWS_APART * share)
        enough = _BLOCKS_PER_TASK * columns_at_once(self.table.n_rows)
        return max(1, int(enough / (stand_out * n_columns * DRAWS_AT_ONCE)))

    def _observed(self, xs: Sequence[int]) -> Floats:
        """Return the statistics of the columns as they are."""
        new = [x for x in xs if x not in self._statistics]
        for start in range(0, len(new), _COLUMNS_AT_ONCE):
            some = new[start : start + _COLUMNS_AT_ONCE]
            grown = self.growth(self.table.block(some))
            self.n_fits += grown.n_fits
            self._statistics.update(zip(some, grown.answers.pvalues.tolist(), strict=True))
        return np.array([self._statistics[x] for x in xs])

    def _parts(self, xs: Sequence[int]) -> Iterator[_Part]:
        """Yield the columns, those together whose rows trade places in the same way."""
        fitting = _BYTES_PER_GLANCE // (_BYTES_PER_ROW * self.table.n_rows)
        at_once = max(1, min(_COLUMNS_AT_ONCE, fitting))
        for start in range(0, len(xs), at_once):
            some = np.arange(start, min(start + at_once, len(xs)))
            block = self.table.block([xs[place] for place in some.tolist()]).read()
            columns = np.stack([dense_column(block.X, column) for column in range(block.n_columns)])
            trades = np.array([self.exchange.trades_values(column) for column in columns])
            for by_value in np.unique(trades).tolist():
                own = np.flatnonzero(trades == by_value)
                yield _Part(some[own], block.take(own), columns[own], by_value)

    def _drawing(self, part: _Part, observed: Floats, share: float) -> _Drawing:
        """Prepare what draws of some columns are compared with."""
        glance = bounds = None
        is_close = np.ones(part.places.size, dtype=bool)
        if self.outputs is not None:
            glance = Screening.of(part.columns, self.exchange.n_units(by_value=part.by_value))
            bounds = glance.bounds(share, len(self.outputs))
            is_close = glance.is_plain(self.outputs[:, np.newaxis], bounds)[:, 0]
        return _Drawing(
            self.growth,
            part,
            self.exchange,
            self.outputs,
            glance,
            bounds,
            is_close,
            observed * (1.0 + _ROUNDING),
            (self.entropy, _PURPOSE, self.fold, int(part.by_value)),
        )


def columns_at_once(n_rows: int) -> int:
    """Return how many rearranged columns are asked about together."""
    return max(1, _BYTES_AT_ONCE // (8 * n_rows))


@dataclass(frozen=True)
class _Part:
    """Some columns whose rows trade places in the same way.

    Attributes
    ----------
    places : ndarray of int, shape (n_columns,)
        Which of the columns in question these are.

    columns : ndarray of shape (n_columns, n_rows)

    by_value : bool
        See `Exchange.sources`.
    """

    places: NDArray[np.intp]
    block: Block
    columns: NDArray[np.generic]
    by_value: bool

    def rearranged(self, owners: NDArray[np.intp], sources: NDArray[np.intp]) -> Block:
        """Return columns whose rows take the values of others.

        Parameters
        ----------
        owners : ndarray of int, shape (n_copies,)
            Which column each of them is a rearrangement of.

        sources : ndarray of int, shape (n_copies, n_rows)
        """
        X = self.columns[owners[:, np.newaxis], sources].T
        if sp.issparse(self.block.X):
            X = type(self.block.X)(X)
        names = tuple(self.block.names[column] for column in owners.tolist())
        return Block(X, self.block.n_levels[owners], names)


@dataclass(frozen=True)
class _Drawing:
    """What all draws of some columns share: a function of the numbers of draws, wherever it runs.

    Attributes
    ----------
    glance, bounds
        See `Screening`; None where all draws are looked at closely.

    is_close : ndarray of bool, shape (n_columns,)
        Columns that do not stand out themselves are no more extreme than any draw.

    observed : ndarray of shape (n_columns,)
        The statistics of the columns as they are.

    key : tuple of int
        What the random streams of the draws grow from.
    """

    growth: BlockFunction
    part: _Part
    exchange: Exchange
    outputs: Floats | None
    glance: Screening | None
    bounds: Floats | None
    is_close: NDArray[np.bool_]
    observed: Floats
    key: tuple[int, ...]

    def standing_out(self, chunks: range) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield which columns stand out in some draws, and from which rows they then take their values."""
        for chunk in chunks:
            generator = stream(*self.key, chunk)
            sources = self.exchange.sources(generator, DRAWS_AT_ONCE, by_value=self.part.by_value)
            is_asked = np.repeat(self.is_close[:, np.newaxis], DRAWS_AT_ONCE, axis=1)
            if self.glance is not None:
                assert self.outputs is not None
                assert self.bounds is not None
                is_asked &= self.glance.is_plain(rearranged(self.outputs, sources), self.bounds)
            column, draw = np.nonzero(is_asked)
            yield column, sources[draw]

    def blocks(self, chunks: range) -> Iterator[tuple[NDArray[np.intp], Block]]:
        """Yield rearranged columns that models have to be fitted to, with the numbers of their columns."""
        most = columns_at_once(self.part.columns.shape[1])
        owners: list[NDArray[np.intp]] = []
        sources: list[NDArray[np.intp]] = []
        n_waiting = 0
        for own, source in self.standing_out(chunks):
            owners.append(own)
            sources.append(source)
            n_waiting += own.size
            if n_waiting >= most:
                yield from self._cut(owners, sources, most)
                owners, sources, n_waiting = [], [], 0
        yield from self._cut(owners, sources, most)

    def _cut(
        self, owners: list[NDArray[np.intp]], sources: list[NDArray[np.intp]], most: int
    ) -> Iterator[tuple[NDArray[np.intp], Block]]:
        if not owners:
            return
        all_owners, all_sources = np.concatenate(owners), np.concatenate(sources)
        for start in range(0, all_owners.size, most):
            own = all_owners[start : start + most]
            yield own, self.part.rearranged(own, all_sources[start : start + most])


@dataclass(frozen=True)
class _Answer:
    """How many draws of each column were as extreme, and what it took to tell."""

    counts: NDArray[np.intp]
    n_asked: int
    n_fits: int


def _asked(drawing: _Drawing, chunks: range) -> _Answer:
    """Look at some draws of all columns."""
    counts = np.where(drawing.is_close, 0, len(chunks) * DRAWS_AT_ONCE)
    n_asked = n_fits = 0
    if drawing.is_close.any():
        for owners, block in drawing.blocks(chunks):
            grown = drawing.growth(block)
            n_asked, n_fits = n_asked + owners.size, n_fits + grown.n_fits
            is_extreme = grown.answers.pvalues <= drawing.observed[owners]
            counts += np.bincount(owners[is_extreme], minlength=counts.size)
    return _Answer(counts, n_asked, n_fits)
