"""Which rows of a column may trade places where the column has nothing to do with the target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray


@dataclass(frozen=True)
class Exchange:
    """How the values of a column are rearranged without changing its law, if it is independent of the target.

    Rows that are independent of each other trade places freely. Rows of one group do not: a column that is constant
    within groups, such as a patient's sex, trades the groups' values; any other column trades whole groups of the same
    number of rows, value by value in their order, because what happens inside a group may be alike in many ways.

    Attributes
    ----------
    n_rows : int

    groups : ndarray of shape (n_rows,) or None
        The number of the group that each row belongs to.
    """

    n_rows: int
    groups: NDArray[np.intp] | None = None

    def moves(self, column: NDArray[Any]) -> float:
        """Return the share of the rows that can change places."""
        if self.groups is None or self._is_constant_within(column):
            return 1.0
        return sum(rows.size for rows in self._equally_large if len(rows) > 1) / self.n_rows

    def draw(self, column: NDArray[Any], generator: Generator, n_draws: int) -> NDArray[Any]:
        """Return rearranged copies of a column, shape (n_draws, n_rows)."""
        if self.groups is None:
            return generator.permuted(np.broadcast_to(column, (n_draws, self.n_rows)), axis=1)
        if self._is_constant_within(column):
            values = column[self._first_rows]
            traded = generator.permuted(np.broadcast_to(values, (n_draws, values.size)), axis=1)
            return np.ascontiguousarray(traded[:, self._numbers])
        copies = np.repeat(column[np.newaxis], n_draws, axis=0)
        for rows in self._equally_large:
            order = generator.permuted(np.broadcast_to(np.arange(len(rows)), (n_draws, len(rows))), axis=1)
            copies[:, rows.ravel()] = column[rows[order].reshape(n_draws, -1)]
        return copies

    def _is_constant_within(self, column: NDArray[Any]) -> bool:
        """Tell whether the rows of every group have the same value; a gap is a value like others."""
        mine = column[self._first_rows][self._numbers]
        return bool(((mine == column) | ((mine != mine) & (column != column))).all())

    @cached_property
    def _numbers(self) -> NDArray[np.intp]:
        """The number of each row's group, counted from 0."""
        assert self.groups is not None
        return np.unique(self.groups, return_inverse=True)[1].ravel()

    @cached_property
    def _first_rows(self) -> NDArray[np.intp]:
        return np.unique(self._numbers, return_index=True)[1]

    @cached_property
    def _equally_large(self) -> list[NDArray[np.intp]]:
        """For each size of a group the rows of such groups, shape (n_groups, size)."""
        by_group = np.argsort(self._numbers, kind="stable")
        sizes = np.bincount(self._numbers)
        parts = np.split(by_group, np.cumsum(sizes)[:-1])
        return [np.array([part for part in parts if part.size == size]) for size in np.unique(sizes).tolist()]
