"""The seam to the compiled engine that single trees and forests share: sorted columns, splits, and growth from them."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from ppfs import _engine
from ppfs._conventions import Floats
from ppfs._data import Block, Matrix
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.grower import Grower
from ppfs.independence._predictive.risks.paired import PairedRisks

Prepared = TypeVar("Prepared")


@dataclass(frozen=True)
class EngineGrower(Grower, Generic[Prepared]):
    """Grows trees on each column of a block, in every split, from the column's sorted order."""

    problem: Problem
    prefers = "threads"

    def risks(self, block: Block) -> PairedRisks:
        """Return the risks of questions about the columns of a block."""
        columns = sorted_columns(block.X)
        return self._by_row(columns) if self.problem.is_by_row else self._by_split(columns)

    def prepare(self) -> None:
        """Read the problem as kernels like it."""
        _ = self._prepared
        if self.problem.is_by_row:
            _ = self._draws

    def _by_split(self, columns: _engine.SortedColumns) -> PairedRisks:
        base = np.empty(0)
        replaced = np.zeros((columns.n_columns, len(self.problem.splits)))
        for prepared in self._prepared:
            base, permuted = self._risks_of(columns, prepared)
            replaced += permuted
        unused = np.zeros(columns.n_columns, dtype=bool)
        return PairedRisks(base, replaced / self.problem.n_draws, unused)

    def _by_row(self, columns: _engine.SortedColumns) -> PairedRisks:
        base, replaced, totals = self._row_losses_of(columns, self._prepared[0], self._draws)
        tested = np.concatenate([split.test for split in self.problem.splits])
        # Row after row in memory: NumPy adds up rows that lie otherwise in another order, unless there is only one,
        # and a column's answer must not depend on its neighbours.
        base, replaced = (np.ascontiguousarray(by_row[:, tested]) for by_row in (base, replaced))
        return PairedRisks(base, replaced, np.zeros(columns.n_columns, dtype=bool), totals / tested.size)

    @cached_property
    def _prepared(self) -> list[Prepared]:
        """What all columns share; without rows of their own, one for each shuffle of the test parts."""
        return self._prepare(1 if self.problem.is_by_row else self.problem.n_draws)

    @cached_property
    def _draws(self) -> _engine.DrawnRows:
        splits = self._splits_of(self._prepared[0])
        return _engine.make_draws(splits, [split.permutations for split in self.problem.splits])

    @abstractmethod
    def _prepare(self, n_draws: int) -> list[Prepared]:
        """Return what the kernels read, for each of so many shuffles."""

    @abstractmethod
    def _splits_of(self, prepared: Prepared) -> _engine.Splits:
        """Return the splits of what was prepared."""

    @abstractmethod
    def _risks_of(self, columns: _engine.SortedColumns, prepared: Prepared) -> tuple[Floats, Floats]:
        """Return risks before and after a shuffle, each of shape (n_columns, n_splits)."""

    @abstractmethod
    def _row_losses_of(
        self, columns: _engine.SortedColumns, prepared: Prepared, draws: _engine.DrawnRows
    ) -> tuple[Floats, Floats, Floats]:
        """Return losses of rows before and after, each of shape (n_columns, n_rows), and the totals of the draws."""

    def __getstate__(self) -> dict[str, Any]:
        # What was prepared is as large as the problem, and quickly made anew.
        return {name: value for name, value in self.__dict__.items() if name not in ("_prepared", "_draws")}


def sorted_columns(X: Matrix) -> _engine.SortedColumns:
    """Return the columns in the order of their values."""
    return _engine.SortedColumns.from_sparse(X) if sp.issparse(X) else _engine.SortedColumns.from_dense(X)


def engine_splits(problem: Problem, draw: int) -> _engine.Splits:
    """Return the splits as the engine reads them, with the shuffles of one draw."""
    return _engine.Splits.from_sequences(
        [split.train for split in problem.splits],
        [split.test for split in problem.splits],
        [split.permutations[draw] for split in problem.splits],
    )
