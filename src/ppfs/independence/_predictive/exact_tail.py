"""Questions given nothing, asked again of rearranged columns: how often chance alone looks as good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.utils.parallel import Parallel, delayed

from ppfs._block import Block
from ppfs._random import stream
from ppfs._rows import Exchange
from ppfs._table import Table, dense_column
from ppfs._types import Floats
from ppfs.independence._predictive.glance import Glance, rearranged
from ppfs.independence._predictive.growth import BlockFunction

# A stream of random numbers serves so many rearrangements, which are glanced at together.
DRAWS_AT_ONCE = 64

# So many bytes of rearranged columns are asked about together.
_BYTES_AT_ONCE = 2**20

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
    the column itself. See `Glance`.

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

    n_asked : int
        Rearranged columns that models were fitted to so far.
    """

    draws_at_once: ClassVar[int] = DRAWS_AT_ONCE

    growth: BlockFunction
    table: Table
    outputs: Floats | None
    exchange: Exchange
    entropy: int
    fold: int
    n_jobs: int | None
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
        n_workers = min(effective_n_jobs(self.n_jobs), len(xs))
        self.growth.prepare()
        run = Parallel(n_jobs=n_workers, prefer=self.growth.prefers, return_as="generator")
        counts = np.zeros(len(xs), dtype=np.intp)
        bounds = self._observed(xs) * (1.0 + _ROUNDING)
        draws = range(first // DRAWS_AT_ONCE, end // DRAWS_AT_ONCE)
        tasks = self._tasks(xs, draws, share, counts)
        for answer in run(delayed(_asked)(self.growth, *task) for task in tasks):
            self.n_fits += answer.n_fits
            self.n_asked += answer.owners.size
            counts += np.bincount(answer.owners[answer.pvalues <= bounds[answer.owners]], minlength=len(xs))
        return counts

    def _observed(self, xs: Sequence[int]) -> Floats:
        """Return the statistics of the columns as they are."""
        new = [x for x in xs if x not in self._statistics]
        for start in range(0, len(new), _COLUMNS_AT_ONCE):
            some = new[start : start + _COLUMNS_AT_ONCE]
            grown = self.growth(self.table.block(some))
            self.n_fits += grown.n_fits
            self._statistics.update(zip(some, grown.answers.pvalues.tolist(), strict=True))
        return np.array([self._statistics[x] for x in xs])

    def _tasks(
        self, xs: Sequence[int], chunks: range, share: float, counts: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Block]]:
        """Yield rearranged columns that models have to be fitted to, with the places of their columns in `xs`.

        Columns that do not stand out themselves are as extreme as any draw; they are entered into `counts`.
        """
        fitting = _BYTES_PER_GLANCE // (_BYTES_PER_ROW * self.table.n_rows)
        at_once = max(1, min(_COLUMNS_AT_ONCE, fitting))
        for start in range(0, len(xs), at_once):
            some = np.arange(start, min(start + at_once, len(xs)))
            block = self.table.block([xs[place] for place in some.tolist()]).read()
            columns = np.stack([dense_column(block.X, column) for column in range(block.n_columns)])
            trades = np.array([self.exchange.trades_values(column) for column in columns])
            for by_value in np.unique(trades).tolist():
                own = np.flatnonzero(trades == by_value)
                part = _Part(some[own], block.take(own), columns[own], by_value)
                yield from self._tasks_of(part, chunks, share, counts)

    def _tasks_of(
        self, part: _Part, chunks: range, share: float, counts: NDArray[np.intp]
    ) -> Iterator[tuple[NDArray[np.intp], Block]]:
        is_close = np.ones(part.places.size, dtype=bool)
        if self.outputs is not None:
            glance = Glance.of(part.columns, self.exchange.n_units(by_value=part.by_value))
            bounds = glance.bounds(share, len(self.outputs))
            is_close = glance.is_plain(self.outputs[:, np.newaxis], bounds)[:, 0]
            counts[part.places[~is_close]] += len(chunks) * DRAWS_AT_ONCE
        if not is_close.any():
            return
        owners: list[NDArray[np.intp]] = []
        copies: list[NDArray[np.generic]] = []
        n_waiting, enough = 0, max(1, _BYTES_AT_ONCE // (8 * self.table.n_rows))
        for chunk in chunks:
            generator = stream(self.entropy, _PURPOSE, self.fold, int(part.by_value), chunk)
            sources = self.exchange.sources(generator, DRAWS_AT_ONCE, by_value=part.by_value)
            is_asked = np.repeat(is_close[:, np.newaxis], DRAWS_AT_ONCE, axis=1)
            if self.outputs is not None:
                is_asked &= glance.is_plain(rearranged(self.outputs, sources), bounds)
            column, draw = np.nonzero(is_asked)
            owners.append(column)
            copies.append(part.columns[column[:, np.newaxis], sources[draw]])
            n_waiting += column.size
            if n_waiting >= enough or chunk == chunks[-1]:
                yield from part.tasks(np.concatenate(owners), np.concatenate(copies), enough)
                owners, copies, n_waiting = [], [], 0


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

    def tasks(
        self, owners: NDArray[np.intp], copies: NDArray[np.generic], most: int
    ) -> Iterator[tuple[NDArray[np.intp], Block]]:
        """Cut rearranged columns into blocks of a bounded size."""
        for start in range(0, owners.size, most):
            own = owners[start : start + most]
            X = copies[start : start + most].T
            if sp.issparse(self.block.X):
                X = type(self.block.X)(X)
            names = tuple(self.block.names[column] for column in own.tolist())
            yield self.places[own], Block(X, self.block.n_levels[own], names)


@dataclass(frozen=True)
class _Answer:
    """What was found about rearranged columns, and where the columns themselves are."""

    owners: NDArray[np.intp]
    pvalues: Floats
    n_fits: int


def _asked(growth: BlockFunction, owners: NDArray[np.intp], block: Block) -> _Answer:
    grown = growth(block)
    return _Answer(owners, grown.answers.pvalues, grown.n_fits)
