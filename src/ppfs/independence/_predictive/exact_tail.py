"""Questions given nothing, asked again of rearranged columns: how often chance alone looks as good."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from scipy import sparse as sp
from sklearn.utils.parallel import Parallel, delayed

from ppfs._block import Block
from ppfs._random import stream
from ppfs._rows import Exchange
from ppfs._table import Table, column_digest, dense_column
from ppfs._types import Floats
from ppfs.independence._predictive.growth import BlockFunction, Grown

# A stream of random numbers serves so many rearrangements: opening one takes as long as drawing these.
DRAWS_AT_ONCE = 32

# So many bytes of rearranged columns are asked about together.
_BYTES_AT_ONCE = 2**19

_COLUMNS_AT_ONCE = 256

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

    The draws of a column depend on its content and their number alone.

    Attributes
    ----------
    growth : BlockFunction
        What answers about a block of columns.

    entropy, fold : int
        What the random streams grow from.

    n_fits : int
        Models fitted so far.
    """

    draws_at_once: ClassVar[int] = DRAWS_AT_ONCE

    growth: BlockFunction
    table: Table
    exchange: Exchange
    entropy: int
    fold: int
    n_jobs: int | None
    n_fits: int = 0
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

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int) -> NDArray[np.intp]:
        """Count the draws whose p-value is no larger than that of the column itself.

        Parameters
        ----------
        xs : sequence of int
            The columns.

        first, end : int
            The numbers of the draws; multiples of `DRAWS_AT_ONCE`.

        Returns
        -------
        ndarray of int, shape (n_columns,)
        """
        n_workers = min(effective_n_jobs(self.n_jobs), len(xs))
        self.growth.prepare()
        run = Parallel(n_jobs=n_workers, prefer=self.growth.prefers, return_as="generator")
        counts = np.zeros(len(xs), dtype=np.intp)
        bounds = self._observed(xs) * (1.0 + _ROUNDING)
        tasks = list(self._tasks(xs, first, end))
        found = run(
            delayed(_asked)(self.growth, self.exchange, self.entropy, self.fold, task) for task in tasks
        )
        for task, drawn in zip(tasks, found, strict=True):
            self.n_fits += drawn.n_fits
            of_draws = drawn.answers.pvalues.reshape(len(task.places), -1)
            counts[task.places] += (of_draws <= bounds[task.places, np.newaxis]).sum(axis=1)
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

    def _tasks(self, xs: Sequence[int], first: int, end: int) -> Iterator[_Task]:
        """Cut the work into parts of a bounded size: several columns, or some of the draws of one."""
        most = max(1, _BYTES_AT_ONCE // (8 * DRAWS_AT_ONCE * self.table.n_rows))
        chunks = range(first // DRAWS_AT_ONCE, end // DRAWS_AT_ONCE)
        n_columns = max(1, most // len(chunks))
        for start in range(0, len(xs), n_columns):
            places = list(range(start, min(start + n_columns, len(xs))))
            block = self.table.block([xs[place] for place in places]).read()
            for low in range(0, len(chunks), most):
                yield _Task(places, block, chunks[low : low + most])


@dataclass(frozen=True)
class _Task:
    """Some draws of some columns.

    Attributes
    ----------
    places : list of int
        Which of the columns in question these are.

    chunks : range
        The numbers of the streams.
    """

    places: list[int]
    block: Block
    chunks: range


def _asked(growth: BlockFunction, exchange: Exchange, entropy: int, fold: int, task: _Task) -> Grown:
    """Answer about the draws of each column, those of the first column first."""
    block = task.block
    copies = [
        _copies(block, column, exchange, entropy, fold, task.chunks) for column in range(block.n_columns)
    ]
    n_draws = len(copies[0])
    X: Any = np.concatenate(copies).T
    if sp.issparse(block.X):
        X = type(block.X)(X)
    names = tuple(name for name in block.names for _ in range(n_draws))
    return growth(Block(X, np.repeat(block.n_levels, n_draws), names))


def _copies(
    block: Block, column: int, exchange: Exchange, entropy: int, fold: int, chunks: range
) -> NDArray[Any]:
    """Return rearranged copies of a column, shape (n_draws, n_rows)."""
    values = dense_column(block.X, column)
    digest = blake2b(column_digest(block.X, column, int(block.n_levels[column])), digest_size=8).digest()
    key = int.from_bytes(digest[:4]), int.from_bytes(digest[4:])
    drawn = [
        exchange.draw(values, stream(entropy, _PURPOSE, fold, *key, chunk), DRAWS_AT_ONCE) for chunk in chunks
    ]
    return np.concatenate(drawn)
