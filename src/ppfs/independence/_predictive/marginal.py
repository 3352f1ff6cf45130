"""Questions given nothing, block by block: one pure function of a block of columns, in any process."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from ppfs._conventions import Floats, as_many_as_fit
from ppfs._data import AnyBlock, Block, Table
from ppfs._fitting import block_for_float32, reads_float32
from ppfs._parallel import can_fork, count_workers, run_tasks, tasks_are_sent
from ppfs._printable import listed
from ppfs.exceptions import EstimatorFailedError, UnusableColumnError
from ppfs.independence._answers import CANNOT_TELL, Answers
from ppfs.independence._bound import OnError
from ppfs.independence._predictive.combined_models import PanelMembers
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.cuda_panel import uploaded
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.significance import risk_differences

# Every worker gets at least this many blocks, so that none is idle for long at the end.
_BLOCKS_PER_WORKER = 4

# Blocks per task that is sent to another process: a task costs Dask and Ray about 12 ms of CPU, as much as hundreds
# of columns of quick models.
_BLOCKS_PER_TASK = 16

# The first block is so much smaller where all workers wait for it.
_PARTS_OF_FIRST = 4

# Errors caused by one column; `on_error` decides whether they end the search.
COLUMN_ERRORS = (EstimatorFailedError, UnusableColumnError)


class Assessor(Protocol):
    """Turns paired differences into p-values; see `PredictiveTest.assess`."""

    def assess(
        self, risks: PairedRisks, differences: Floats, problem: Problem, is_screened: bool
    ) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True)
class Grown:
    """The answers about the columns of a block, and the number of models fitted for them.

    Attributes
    ----------
    failures : dict of int to str
        The errors of columns that models could not be fitted to, by their position in the block.
    """

    answers: Answers
    n_fits: int
    failures: dict[int, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Growth:
    """A pure function of a block of columns: all that growth needs beside the columns, prepared once.

    The same function is used in memory, on files, in other processes and on other machines. Several models read the
    columns of a block once.

    Attributes
    ----------
    growers : tuple of Grower
        One per model.

    members : PanelMembers
        Which models of a panel they are.

    of_categories : Growth or None
        What answers about columns of categories, if that is not this.
    """

    test: Assessor
    growers: tuple[Grower, ...]
    members: PanelMembers
    of_categories: Growth | None = None

    def __call__(self, unread: AnyBlock) -> Grown:
        """Answer whether each column of a block is independent of the target; raise if a model fails on one.

        A task for another process may have more columns than are best processed together.
        """
        block = unread.read()
        bytes_per_column = block.nbytes // max(1, block.n_columns)
        pieces = cut(np.arange(block.n_columns), bytes_per_column, self.bytes_per_block, n_workers=1)
        if len(pieces) > 1:
            return _joined(pieces, [self(block.take(piece)) for piece in pieces], self.n_models)
        if self.of_categories is not None and block.n_levels.any():
            return self._by_kind(block, self.of_categories)
        if self.is_on_device and len(self.growers) > 1:
            block = uploaded(block)
        answers, n_fits = [], 0
        for grower in self.growers:
            problem = grower.problem
            own = block_for_float32(block) if reads_float32(problem.estimator) else block
            answers.append(Answers.independent(block.n_columns))
            varied = np.flatnonzero(~own.facts.is_constant)
            if varied.size:
                some = own.take(varied)
                risks = grower.risks(some)
                answers[-1].put(varied, judged(self.test, problem, risks, some.names, is_screened=True))
            n_fits += varied.size * len(problem.splits)
        return Grown(self.members.joined(answers), n_fits)

    def _by_kind(self, block: Block, of_categories: Growth) -> Grown:
        """Answer about numbers with all models, and about categories with some of them."""
        places = [np.flatnonzero(is_asked) for is_asked in (block.n_levels == 0, block.n_levels > 0)]
        asked = [
            (own, growth(block.take(own)))
            for own, growth in zip(places, (self, of_categories), strict=True)
            if own.size
        ]
        return _joined([own for own, _ in asked], [grown for _, grown in asked], self.n_models)

    @property
    def n_models(self) -> int:
        """How many p-values of single models an answer holds."""
        return self.members.n_models

    @property
    def bytes_per_block(self) -> int:
        """How many bytes of columns are best processed together."""
        return min(grower.bytes_per_block for grower in self.growers)

    @property
    def least_columns(self) -> int:
        """The fewest columns that a block should have."""
        return max(grower.least_columns for grower in self.growers)

    @property
    def prefers(self) -> Literal["threads"] | None:
        """The kind of workers that suits all models."""
        return "threads" if all(grower.prefers == "threads" for grower in self.growers) else None

    @property
    def most_threads(self) -> int | None:
        """How many threads are of use; None if there is no limit."""
        return min((g.most_threads for g in self.growers if g.most_threads is not None), default=None)

    @property
    def takes_views(self) -> bool:
        """Whether blocks may be views of the caller's array."""
        return all(grower.takes_views for grower in self.growers)

    @property
    def is_on_device(self) -> bool:
        """Whether models are fitted on a GPU."""
        return any(grower.is_on_device for grower in self.growers)

    def is_worth_threads(self, n_columns: int) -> bool:
        """Return whether the models of this many columns take longer than threads take to start."""
        return any(grower.is_worth_threads(n_columns) for grower in self.growers)

    def prepare(self) -> None:
        """Make what all blocks share, before several threads need it at once."""
        for grower in self.growers:
            grower.prepare()

    def quick_part(self) -> Growth | None:
        """Return the models that are refitted quickly; None if none is, or if scikit-learn fits some."""
        quick = [number for number, grower in enumerate(self.growers) if grower.is_quick]
        if not quick or self.prefers != "threads":
            return None
        # A line through the dummies of a column takes any shape, so that it sees what slower models see.
        always = [number for number in quick if self.growers[number].is_quick_with_categories]
        of_categories = self._some(always) if 0 < len(always) < len(quick) else None
        return replace(self._some(quick), of_categories=of_categories)

    def for_many_columns(self) -> Growth:
        """Return the same models, up to rounding, as they are best fitted to many columns."""
        others = None if self.of_categories is None else self.of_categories.for_many_columns()
        growers = tuple(grower.for_many_columns() for grower in self.growers)
        return replace(self, growers=growers, of_categories=others)

    def _some(self, numbers: Sequence[int]) -> Growth:
        return Growth(
            self.test, tuple(self.growers[number] for number in numbers), self.members.some(numbers)
        )


def without_failures(growth: Growth, unread: AnyBlock) -> Grown:
    """Answer about the columns of a block that models can be fitted to."""
    try:
        return growth(unread)
    except COLUMN_ERRORS as error:
        if unread.n_columns == 1:
            nothing = Answers.of([CANNOT_TELL], growth.n_models)
            return Grown(nothing, 0, {0: f"{type(error).__name__}: {error}"})
    halves = np.array_split(np.arange(unread.n_columns), 2)
    found = [without_failures(growth, unread.take(half)) for half in halves]
    return _joined(halves, found, growth.n_models)


def _joined(places: Sequence[NDArray[np.intp]], parts: Sequence[Grown], n_models: int) -> Grown:
    """Combine answers about parts of the columns."""
    answers = Answers.independent(sum(own.size for own in places), n_models)
    failures = {}
    for own, part in zip(places, parts, strict=True):
        answers.put(own, part.answers)
        failures.update({int(own[place]): what for place, what in part.failures.items()})
    return Grown(answers, sum(part.n_fits for part in parts), failures)


def judged(
    test: Assessor, problem: Problem, risks: PairedRisks, names: Sequence[str], *, is_screened: bool = False
) -> Answers:
    """Turn risks into answers. Where no pair differs, the answer is independence, whatever the test.

    Parameters
    ----------
    names : sequence of str
        The names of the features in question.

    is_screened : bool, default=False
        Whether small p-values are counted later, as in growth.
    """
    _require_finite(problem, risks, names)
    n = len(risks.unused)
    if risks.unused.all():
        inert = Answers.independent(n)
        inert.is_inert[:] = True
        return inert
    if risks.moments is None:
        differences = risk_differences(risks.base, risks.replaced)
        is_equal, mean = ~differences.any(axis=1), differences.mean(axis=1)
    else:
        differences, is_equal, mean = risks.base, risks.moments[:, 1] < 0, risks.moments[:, 0]
    pvalues, statistics = test.assess(risks, differences, problem, is_screened)
    return Answers(
        np.where(is_equal, 1.0, pvalues),
        np.where(is_equal, 0.0, statistics),
        np.where(is_equal, 0.0, mean * problem.loss_unit),
        np.ones(n, dtype=bool),
        is_equal & risks.unused,
        np.empty((n, 0)),
        np.zeros(n, dtype=bool),
        np.full((n, 2), np.nan),
        np.full((n, 2), np.nan),
    )


def _require_finite(problem: Problem, risks: PairedRisks, names: Sequence[str]) -> None:
    """Raise if a risk is NaN or infinite: no decision can rest on it."""
    if risks.moments is None:
        is_wrong = ~(np.isfinite(risks.base) & np.isfinite(risks.replaced))
    else:
        is_wrong = ~np.isfinite(risks.moments[:, :1])
    if not is_wrong.any():
        return
    question, pair = np.argwhere(is_wrong)[0]
    state, where = "", ""
    if risks.moments is None:
        state = " replaced by its knockoff" if np.isfinite(risks.base[question, pair]) else " as it is"
        where = f" in split {problem.split_of_pair(int(pair))}"
    raise UnusableColumnError(
        f"The {problem.loss.name} loss of {type(problem.estimator).__name__} with {names[question]!r}{state} is not a "
        f"finite number{where}, so the column cannot be tested. Values "
        "of the column, the target or the weights are too large for sums of squares in 64 bits, or the loss function "
        "returned NaN: rescale them, use another loss, or leave such columns out with on_error='drop'."
    )


def grow_blocks(
    growth: Growth, table: Table, xs: NDArray[np.intp], n_jobs: int | None, on_error: OnError = "raise"
) -> Iterator[tuple[NDArray[np.intp], Grown]]:
    """Answer about single columns, given nothing; yield them block by block with their answers."""
    n_workers = min(count_workers(n_jobs), len(xs))
    bytes_per_task = growth.bytes_per_block
    are_sent = tasks_are_sent(n_workers, growth.prefers)
    if not are_sent and not growth.is_worth_threads(len(xs)):
        n_workers = 1
    is_limited = not are_sent and growth.most_threads is not None
    are_forked = is_limited and _can_fork(growth, table, n_workers)
    if is_limited and not are_forked:
        n_workers = min(n_workers, growth.most_threads or n_workers)
    if are_sent:
        bytes_per_task = _BLOCKS_PER_TASK * max(bytes_per_task, table.storage.bytes_per_column)
    # The Python steps of a block take the same time whatever its size: copies of a process are given larger ones.
    n_cut = n_workers // 2 if are_forked else n_workers
    blocks = cut(xs, table.storage.bytes_per_column, bytes_per_task, n_cut, growth.least_columns)
    n_first = blocks[0].size // _PARTS_OF_FIRST
    if are_forked and n_first >= growth.least_columns:
        # The first block tells how long the others take, and all copies wait for it.
        blocks = [blocks[0][:n_first], blocks[0][n_first:], *blocks[1:]]
    growth.prepare()
    found = run_tasks(
        Growth.__call__ if on_error == "raise" else without_failures,
        growth,
        blocks,
        n_jobs=n_workers,
        prefer=growth.prefers,
        are_forked=are_forked,
        prepare=lambda block: table.block(block.tolist(), as_view=growth.takes_views),
        describe=lambda block: f"the block of {block.size} columns {listed(_names(table, block))}",
    )
    yield from zip(blocks, found, strict=True)


def _can_fork(growth: Growth, table: Table, n_workers: int) -> bool:
    """Return whether copies of this process may answer about blocks."""
    return table.is_in_memory and not growth.is_on_device and can_fork(n_workers, table.n_rows)


def _names(table: Table, block: NDArray[np.intp]) -> list[str]:
    return [table.names[int(x)] for x in block]


def cut(
    xs: NDArray[np.intp], bytes_per_column: int, bytes_per_block: int, n_workers: int, least: int = 1
) -> list[NDArray[np.intp]]:
    """Cut variables into blocks of about `bytes_per_block`, of `least` columns or more, with work for every worker.

    Examples
    --------
    >>> [block.tolist() for block in cut(np.arange(5), 8, 16, n_workers=1)]
    [[0, 1], [2, 3], [4]]
    """
    most = as_many_as_fit(bytes_per_block, bytes_per_column)
    if n_workers > 1:
        most = min(most, max(least, ceil(len(xs) / (_BLOCKS_PER_WORKER * n_workers))))
    return [xs[first : first + most] for first in range(0, len(xs), most)]
