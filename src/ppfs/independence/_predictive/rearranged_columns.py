"""Rearranged columns that models are fitted to: drawn and screened on the CPU, or on a GPU."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse as sp

from ppfs import _engine
from ppfs._conventions import Floats, as_many_as_fit, stream
from ppfs._data import Block
from ppfs._fitting import is_sharp
from ppfs._rows import Exchange, draw_seed
from ppfs.independence._predictive.marginal import Growth
from ppfs.independence._predictive.screening import Screening, rearranged
from ppfs.independence._predictive.tail_bound import TailBound

# One random stream makes this many rearrangements, which are screened together.
DRAWS_AT_ONCE = 64

# Bytes of rearranged columns to which models are fitted together.
_BYTES_AT_ONCE, _BYTES_AT_ONCE_ON_DEVICE = 2**20, 2**26

# Chunks of draws that are screened in one step, where their results are few.
_NUMBERS_PER_SCREENING, _MOST_CHUNKS_AT_ONCE = 2**18, 16

# Equal arrangements have equal p-values up to rounding, and count as extreme.
ROUNDING = 1e-7


def columns_at_once(n_rows: int, *, is_on_device: bool = False) -> int:
    """Return how many rearranged columns are tested together: a GPU is busy with many of them."""
    n_bytes = _BYTES_AT_ONCE_ON_DEVICE if is_on_device else _BYTES_AT_ONCE
    return as_many_as_fit(n_bytes, 8 * n_rows)


@dataclass(frozen=True)
class Part:
    """Some columns whose rows are exchanged in the same way.

    Attributes
    ----------
    places : ndarray of int, shape (n_columns,)
        The positions of these columns among those in question.

    columns : ndarray of shape (n_columns, n_rows)

    by_value : bool
        See `Exchange.sources`.
    """

    places: NDArray[np.intp]
    block: Block
    columns: NDArray[np.generic]
    by_value: bool

    def rearranged(self, owners: NDArray[np.intp], sources: NDArray[np.intp]) -> Block:
        """Return rearranged columns.

        Parameters
        ----------
        owners : ndarray of int, shape (n_copies,)
            The column of which each is a rearrangement.

        sources : ndarray of int, shape (n_copies, n_rows)
        """
        X = self.columns[owners[:, np.newaxis], sources].T
        if sp.issparse(self.block.X):
            X = type(self.block.X)(X)
        names = tuple(self.block.names[column] for column in owners.tolist())
        return Block(X, self.block.n_levels[owners], names)


@dataclass(frozen=True)
class Drawing:
    """What all draws of some columns share: the argument of a task, in this process or another.

    Attributes
    ----------
    screening, bounds
        See `Screening`; None where models are fitted to all draws.

    stands_out : ndarray of bool, shape (n_columns,)
        The columns that stand out themselves; the others are no more extreme than any draw.

    observed : ndarray of shape (n_columns,)
        The statistics of the original columns.

    tail_bound : TailBound or None
        Draws with a bounded p-value are extreme.

    key : tuple of int
        The key of the random streams.
    """

    growth: Growth
    part: Part
    exchange: Exchange
    outputs: Floats | None
    screening: Screening | None
    bounds: Floats | None
    stands_out: NDArray[np.bool_]
    observed: Floats
    tail_bound: TailBound | None
    key: tuple[int, ...]

    def standing_out(self, chunks: range) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """Yield which columns stand out in some draws, and the rows that their values come from."""
        n_directions = 1 if self.screening is None else len(self.screening.directions)
        at_once = int(
            np.clip(_NUMBERS_PER_SCREENING // (n_directions * DRAWS_AT_ONCE), 1, _MOST_CHUNKS_AT_ONCE)
        )
        for start in range(0, len(chunks), at_once):
            some = chunks[start : start + at_once]
            parts = [
                self.exchange.sources(stream(*self.key, chunk), DRAWS_AT_ONCE, by_value=self.part.by_value)
                for chunk in some
            ]
            sources = parts[0] if len(parts) == 1 else np.concatenate(parts)
            is_refitted = np.repeat(self.stands_out[:, np.newaxis], len(sources), axis=1)
            if self.screening is not None:
                assert self.outputs is not None
                assert self.bounds is not None
                is_refitted &= self.screening.stands_out(rearranged(self.outputs, sources), self.bounds)
            column, draw = np.nonzero(is_refitted)
            yield column, sources[draw]

    def copies(self, chunks: range) -> Iterator[_Copies]:
        """Yield the rearranged columns that models are fitted to."""
        if self.is_on_device:
            yield self._copies_on_device(chunks)
            return
        most = columns_at_once(self.part.columns.shape[1], is_on_device=self.growth.is_on_device)
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
    ) -> Iterator[_Copies]:
        if not owners:
            return
        all_owners, all_sources = np.concatenate(owners), np.concatenate(sources)
        for start in range(0, all_owners.size, most):
            own, rows = all_owners[start : start + most], all_sources[start : start + most]
            yield _Copies(own, self.part.rearranged(own, rows), np.arange(own.size), rows)

    @property
    def is_on_device(self) -> bool:
        """Whether a GPU makes and screens the draws: of independent rows, and of columns that it fits models to."""
        block = self.part.block
        is_made_there = self.screening is not None and self.exchange.groups is None
        is_fitted_there = self.growth.is_on_device and not (sp.issparse(block.X) or block.n_levels.any())
        return is_made_there and is_fitted_there and block.facts.is_plain and is_sharp(block)

    def _copies_on_device(self, chunks: range) -> _Copies:
        """Make the draws on a GPU, and leave the rearranged columns there."""
        seeds = np.array([draw_seed(stream(*self.key, chunk)) for chunk in chunks], dtype=np.uint64)
        with _engine.device_in_turn() as device, device.own_stream():
            found = self.on_devices[device.number].standing_out(seeds, DRAWS_AT_ONCE)
        block = self.part.block
        names = tuple(block.names[column] for column in found.owners.tolist())
        facts = block.facts.of(found.owners)
        copies = Block(found.X, block.n_levels[found.owners], names, found.X, facts)
        return _Copies(found.owners, copies, found.may_be_bounded, found.sources)

    @cached_property
    def on_devices(self) -> dict[int, _engine.DeviceDraws]:
        """What draws are compared with, in the memory of the GPUs, by their numbers."""
        assert self.screening is not None
        assert self.bounds is not None
        assert self.outputs is not None
        members = np.zeros(
            (0 if self.tail_bound is None else len(self.tail_bound.contrasts), self.exchange.n_rows)
        )
        least = np.empty(0)
        if self.tail_bound is not None:
            for row, rows in zip(members, self.tail_bound.contrasts, strict=True):
                row[rows] = 1.0
            least = self.tail_bound.least_squares * (1.0 - ROUNDING)
        bounds = np.where(
            np.repeat(self.stands_out, self.bounds.size // self.stands_out.size), self.bounds, np.inf
        )
        shared = self.screening.directions, self.screening.starts, bounds, self.outputs, members, least
        found = {}
        for device in _engine.cuda_devices():
            with device.current():
                found[device.number] = _engine.DeviceDraws.of(device, self.part.columns, *shared)
        return found

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "on_devices"}


@dataclass(frozen=True)
class _Copies:
    """Rearranged columns.

    Attributes
    ----------
    owners : ndarray of int, shape (n_copies,)
        The column of which each is a rearrangement.

    may_be_bounded : ndarray of int
        Positions of copies whose p-value may have a bound; the others have none.

    sources : ndarray of int, shape (n_bounded, n_rows)
        The rows that the values of these come from.
    """

    owners: NDArray[np.intp]
    block: Block
    may_be_bounded: NDArray[np.intp]
    sources: NDArray[np.intp]


@dataclass(frozen=True)
class CountedCopies:
    """How many draws of each column were as extreme, and the work it took."""

    counts: NDArray[np.intp]
    n_refitted: int
    n_fits: int


def counts_of(drawing: Drawing, chunks: range) -> CountedCopies:
    """Count among some draws of all columns."""
    counts = np.where(drawing.stands_out, 0, len(chunks) * DRAWS_AT_ONCE)
    n_refitted = n_fits = 0
    if drawing.stands_out.any():
        for copies in drawing.copies(chunks):
            owners, bounded = copies.owners, copies.may_be_bounded
            if not owners.size:
                continue
            grown = drawing.growth(copies.block)
            n_refitted, n_fits = n_refitted + owners.size, n_fits + grown.n_fits
            is_extreme = grown.answers.pvalues <= drawing.observed[owners]
            if drawing.tail_bound is not None and bounded.size:
                is_extreme[bounded] |= drawing.tail_bound.pvalues(owners[bounded], copies.sources) < 1.0
            counts += np.bincount(owners[is_extreme], minlength=counts.size)
    return CountedCopies(counts, n_refitted, n_fits)
