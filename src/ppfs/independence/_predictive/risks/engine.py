"""The interface to the engine that single trees and forests share: sorted columns, splits, growth."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Block, Matrix
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks


class Kernels(NamedTuple):
    """The functions of the engine that compute the risks of models of single columns.

    Attributes
    ----------
    risks : callable
        ``risks(columns, prepared)`` returns risks before and after a permutation, each of shape (n_columns, n_splits).

    row_losses : callable
        ``row_losses(columns, prepared, draws)`` returns losses of rows before and after, each of shape
        (n_columns, n_rows), and the totals of the draws.
    """

    risks: Callable[..., tuple[Floats, Floats]]
    row_losses: Callable[..., tuple[Floats, Floats, Floats]]


@dataclass(frozen=True)
class EngineGrower(Grower):
    """Grows trees on each column of a block, in every split, from the column's sorted order."""

    problem: Problem
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        columns = sorted_columns(block.X)
        unused = np.zeros(columns.n_columns, dtype=bool)
        kernels = self._kernels()
        if not self.problem.is_by_row:
            replaced = np.zeros((columns.n_columns, len(self.problem.splits)))
            for prepared in self._prepared:
                base, permuted = kernels.risks(columns, prepared)
                replaced += permuted
            return PairedRisks(base, replaced / self.problem.n_draws, unused)
        base, replaced, totals = kernels.row_losses(columns, self._prepared[0], self._draws)
        tested = np.concatenate([split.test for split in self.problem.splits])
        # C order: NumPy adds up rows of other layouts in another order, unless there is only one, and a column's answer
        # must not depend on the other columns of its block.
        base, replaced = (np.ascontiguousarray(by_row[:, tested]) for by_row in (base, replaced))
        return PairedRisks(base, replaced, unused, totals / tested.size)

    def prepare(self) -> None:
        """Convert the problem to the arrays that kernels read."""
        _ = self._prepared
        if self.problem.is_by_row:
            _ = self._draws

    @cached_property
    def _prepared(self) -> list[Any]:
        """What all columns share: one for all draws if losses are compared by row, else one per draw."""
        return self._prepare(1 if self.problem.is_by_row else self.problem.n_draws)

    @cached_property
    def _draws(self) -> _engine.DrawnRows:
        splits = engine_splits(self.problem, draw=0)
        return _engine.make_draws(splits, [split.permutations for split in self.problem.splits])

    @abstractmethod
    def _prepare(self, n_draws: int) -> list[Any]:
        """Return what the kernels read, one per draw."""

    @abstractmethod
    def _kernels(self) -> Kernels:
        """Return the functions that read what `_prepare` returns."""


def sorted_columns(X: Matrix) -> _engine.SortedColumns:
    """Return the columns in the order of their values."""
    return _engine.SortedColumns.from_sparse(X) if sp.issparse(X) else _engine.SortedColumns.from_dense(X)


def engine_splits(problem: Problem, draw: int) -> _engine.Splits:
    """Return the splits as the engine reads them, with the permutations of one draw."""
    return _engine.Splits.from_sequences(
        [split.train for split in problem.splits],
        [split.test for split in problem.splits],
        [split.permutations[draw] for split in problem.splits],
    )
