"""Blocks of replicates: the unit that is computed at once, recorded, and never computed again."""

from __future__ import annotations

import csv
import os
import time
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass, fields
from itertools import groupby, pairwise
from pathlib import Path

import numpy as np
from contenders import make
from numpy.typing import ArrayLike
from problems import draw, parse, replicate_seeds
from studies import Series
from threadpoolctl import threadpool_limits

from ppfs._data.table import Table

N_BINS = 20


@dataclass(frozen=True)
class Block:
    """Replicates ``first`` to ``first + n_replicates - 1`` of one contender in one cell."""

    contender: str
    cell: str
    effect: str
    first: int
    n_replicates: int

    @property
    def key(self) -> tuple[str, str, str]:
        """The series that the block is part of; see `Series.key`."""
        return self.contender, self.cell, self.effect


@dataclass(frozen=True)
class Record(Block):
    """What came out of a block.

    ``at_01``, ``at_05`` and ``at_10`` count p-values of at most 1, 5 and 10 %; the histogram counts them in 20 equal
    bins, each with its upper edge, so that its first entry is ``at_05``.
    """

    at_01: int
    at_05: int
    at_10: int
    histogram: str
    n_fits: int
    seconds: float


HEADER = [field.name for field in fields(Record)]


def measure(block: Block) -> Record:
    """Compute a block. What a model has to say about its convergence is not the question here."""
    problem = parse(block.cell)
    pvalues, n_fits, start = [], 0, time.perf_counter()
    with warnings.catch_warnings(), threadpool_limits(1):
        warnings.simplefilter("ignore")
        for replicate in range(block.first, block.first + block.n_replicates):
            of_data, seed = replicate_seeds(problem, replicate)
            table = Table.of(*draw(problem, float(block.effect), of_data), ["x", "z"], problem.task)
            # What `evaluate` does, with the bound test kept for its count of fits.
            bound = make(block.contender, problem.task, seed).bind(table)
            pvalues.append(bound.query(0, table.target, (1,)).pvalue)
            n_fits += bound.n_fits
    return summarise(block, pvalues, n_fits, time.perf_counter() - start)


def summarise(block: Block, pvalues: ArrayLike, n_fits: int, seconds: float) -> Record:
    """Count the p-values of a block."""
    pvalues = np.asarray(pvalues)
    counts = [int((pvalues <= level).sum()) for level in (0.01, 0.05, 0.10)]
    # Upper edges written as k / 20, so that a p-value of 0.15 is in the bin that ends there.
    bins = np.searchsorted(np.arange(1, N_BINS + 1) / N_BINS, pvalues)
    histogram = " ".join(map(str, np.bincount(bins, minlength=N_BINS)))
    return Record(*astuple(block), *counts, histogram, n_fits, round(seconds, 3))


def missing_blocks(series: Series, records: Iterable[Record], size: int) -> Iterator[Block]:
    """Yield the blocks of a series that none of its records covers."""
    covered = {
        replicate
        for record in records
        for replicate in range(record.first, record.first + record.n_replicates)
    }
    wanted = [replicate for replicate in range(series.n_replicates) if replicate not in covered]
    for _, run in groupby(wanted, key=lambda replicate: replicate // size):
        # A hole within a block is rare: one record per contiguous run keeps the records simple.
        for part in _contiguous(list(run)):
            yield Block(*series.key, part[0], len(part))


def _contiguous(numbers: list[int]) -> Iterator[list[int]]:
    """Cut a rising sequence wherever a number is left out.

    Examples
    --------
    >>> list(_contiguous([1, 2, 5]))
    [[1, 2], [5]]
    """
    cuts = [i + 1 for i, (a, b) in enumerate(pairwise(numbers)) if b != a + 1]
    for start, stop in pairwise([0, *cuts, len(numbers)]):
        yield numbers[start:stop]


def append(record: Record, path: Path) -> None:
    """Add a record in a single write, so that a run may be killed at any time and two runs may share a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = ",".join(map(str, astuple(record))) + "\n"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        is_new = os.fstat(descriptor).st_size == 0
        os.write(descriptor, ((",".join(HEADER) + "\n" if is_new else "") + line).encode())
    finally:
        os.close(descriptor)


def read(path: Path) -> list[Record]:
    """Return the records of a file, of which there may be none yet."""
    if not path.exists():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return [_record(row) for row in csv.DictReader(file)]


def _record(row: dict[str, str]) -> Record:
    texts = {"contender", "cell", "effect", "histogram"}
    values = {name: value if name in texts else float(value) for name, value in row.items()}
    counts = set(HEADER) - texts - {"seconds"}
    return Record(**{name: int(value) if name in counts else value for name, value in values.items()})


def by_series(records: Iterable[Record]) -> dict[tuple[str, str, str], list[Record]]:
    """Group records by the series they are part of, first replicates first."""
    groups: dict[tuple[str, str, str], list[Record]] = defaultdict(list)
    for record in sorted(records, key=lambda record: record.first):
        groups[record.key].append(record)
    return groups


def merged(records: Iterable[Record]) -> list[Record]:
    """Join the records that continue each other: few lines for version control, the same sums."""
    joined: list[Record] = []
    for _, parts in sorted(by_series(records).items()):
        last = parts[0]
        for record in parts[1:]:
            if record.first == last.first + last.n_replicates:
                last = _sum(last, record)
            else:
                joined.append(last)
                last = record
        joined.append(last)
    return joined


def _sum(first: Record, then: Record) -> Record:
    bins = zip(first.histogram.split(), then.histogram.split(), strict=True)
    return Record(
        *first.key,
        first.first,
        first.n_replicates + then.n_replicates,
        first.at_01 + then.at_01,
        first.at_05 + then.at_05,
        first.at_10 + then.at_10,
        " ".join(str(int(a) + int(b)) for a, b in bins),
        first.n_fits + then.n_fits,
        round(first.seconds + then.seconds, 3),
    )


def write(records: Iterable[Record], path: Path) -> None:
    """Replace a file by these records; no run may be adding to it."""
    lines = [",".join(HEADER), *(",".join(map(str, astuple(record))) for record in records)]
    beside = path.with_suffix(".new")
    beside.write_text("\n".join(lines) + "\n", encoding="utf-8")
    beside.replace(path)
