"""Questions given nothing, block by block: one pure function of a block of columns, wherever it runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Protocol

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray
from sklearn.utils.parallel import Parallel, delayed

from ppfs._block import Block
from ppfs._models import block_in_reach, reads_32_bits
from ppfs._sources import FileBlock
from ppfs._table import Table
from ppfs._types import Floats
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.independence._base import Answers
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.significance import risk_differences

# Every worker gets at least so many blocks, so that none waits long for the last one.
_BLOCKS_PER_WORKER = 4

# A problem of more bytes than this is sent to a worker of a cluster once, a smaller one with every block.
_WORTH_SHARING = 2**23


class Assessor(Protocol):
    """Whatever turns paired differences into p-values; see `PredictiveTest.assess`."""

    def assess(self, risks: PairedRisks, differences: Floats, problem: Problem) -> tuple[Floats, Floats]: ...


@dataclass(frozen=True)
class Grown:
    """The answers about the columns of a block, and how many models were fitted for them."""

    answers: Answers
    n_fits: int


@dataclass(frozen=True)
class Growth:
    """All that growth needs beside the columns, prepared once: a pure function of a block.

    In memory, on a file, in another process or on another machine, it is this function that answers.
    """

    test: Assessor
    problem: Problem
    grower: Grower

    def __call__(self, unread: Block | FileBlock) -> Grown:
        """Answer whether each column of a block is independent of the target."""
        block = unread.read()
        if reads_32_bits(self.problem.estimator):
            block = block_in_reach(block)
        answers = Answers.independent(block.n_columns)
        asked = np.flatnonzero(~block.facts.is_constant)
        if asked.size:
            some = block.take(asked)
            answers.put(asked, judged(self.test, self.problem, self.grower.risks(some), some.names))
        return Grown(answers, asked.size * len(self.problem.splits))

    def __sizeof__(self) -> int:
        """Tell schedulers how much there is to send: they send what is large once to each worker, not once a task.

        What is sent once is lost with the worker that holds it, so that a small problem better comes with every task.
        """
        parts = [self.problem.y, *(array for split in self.problem.splits for array in split.arrays)]
        n_bytes = sum(int(part.nbytes) for part in parts)
        return object.__sizeof__(self) + (n_bytes if n_bytes > _WORTH_SHARING else 0)


def judged(test: Assessor, problem: Problem, risks: PairedRisks, names: Sequence[str]) -> Answers:
    """Turn risks into answers: no difference in any pair is independence, whatever the test makes of it.

    Parameters
    ----------
    names : sequence of str
        What the features in question are called.
    """
    _require_finite(problem, risks, names)
    n = len(risks.unused)
    if risks.unused.all():
        return Answers(np.ones(n), np.zeros(n), np.zeros(n), np.ones(n, dtype=bool), np.ones(n, dtype=bool))
    differences = risk_differences(risks.base, risks.replaced)
    pvalues, statistics = test.assess(risks, differences, problem)
    is_equal = ~differences.any(axis=1)
    return Answers(
        np.where(is_equal, 1.0, pvalues),
        np.where(is_equal, 0.0, statistics),
        np.where(is_equal, 0.0, differences.mean(axis=1) * problem.loss_unit),
        np.ones(n, dtype=bool),
        is_equal & risks.unused,
    )


def _require_finite(problem: Problem, risks: PairedRisks, names: Sequence[str]) -> None:
    """Refuse risks that are no numbers: whatever is decided by them would be decided by nothing."""
    is_wrong = ~(np.isfinite(risks.base) & np.isfinite(risks.replaced))
    if not is_wrong.any():
        return
    question, pair = np.argwhere(is_wrong)[0]
    state = "replaced by its knockoff" if np.isfinite(risks.base[question, pair]) else "as it is"
    raise InvalidInputError(
        f"The {problem.loss.name} loss of {type(problem.estimator).__name__} with {names[question]!r} {state} is not a "
        f"finite number in split {problem.split_of_pair(int(pair))}, so nothing can be decided about the column. "
        "Values of the column, the target or the weights are beyond what 64 bits can square and add, or the loss "
        "function returned NaN: rescale them, or use another loss."
    )


def grow_blocks(
    growth: Growth, table: Table, xs: NDArray[np.intp], n_jobs: int | None
) -> Iterator[tuple[NDArray[np.intp], Grown]]:
    """Ask about variables of one column each, given nothing; yield them block by block with their answers."""
    n_workers = min(effective_n_jobs(n_jobs), len(xs))
    blocks = cut(xs, table.bytes_per_column, growth.grower.bytes_per_block, n_workers)
    growth.grower.prepare()
    run = Parallel(n_jobs=n_workers, prefer=growth.grower.prefers, return_as="generator")
    # As an argument and not as the function: schedulers send a large argument once to each worker.
    tasks = (delayed(_grown)(growth, table.block(block.tolist())) for block in blocks)
    found = run(tasks)
    for block in blocks:
        try:
            grown = next(found)
        except (ValueError, EstimatorFailedError, Warning):
            raise
        except Exception as error:
            first, last = (table.block([int(x)]).names[0] for x in (block[0], block[-1]))
            error.add_note(
                f"It happened with the block of {block.size} columns from {first!r} to {last!r}. What was answered "
                "before is kept where a checkpoint was given."
            )
            raise
        yield block, grown


def _grown(growth: Growth, block: Block | FileBlock) -> Grown:
    return growth(block)


def cut(
    xs: NDArray[np.intp], bytes_per_column: int, bytes_per_block: int, n_workers: int
) -> list[NDArray[np.intp]]:
    """Cut variables into blocks of about so many bytes, with work for every worker.

    Examples
    --------
    >>> [block.tolist() for block in cut(np.arange(5), 8, 16, n_workers=1)]
    [[0, 1], [2, 3], [4]]
    """
    most = max(1, bytes_per_block // max(1, bytes_per_column))
    if n_workers > 1:
        most = min(most, ceil(len(xs) / (_BLOCKS_PER_WORKER * n_workers)))
    return [xs[first : first + most] for first in range(0, len(xs), most)]
