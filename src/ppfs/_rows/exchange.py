"""Which rows of a column can be exchanged if the column is independent of the target."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from ppfs import _engine


@dataclass(frozen=True)
class Exchange:
    """How the values of a column are rearranged so that its distribution stays the same under independence.

    Independent rows are exchanged freely. With groups, a column that is constant within groups, such as a patient's
    sex, exchanges the values of groups. Any other column exchanges whole groups of the same number of rows, in the
    order of their rows, because rows of one group may depend on each other in any way.

    Attributes
    ----------
    groups : ndarray of shape (n_rows,) or None
        The number of the group that each row belongs to.
    """

    n_rows: int
    groups: NDArray[np.intp] | None = None

    def moves(self, column: NDArray[Any]) -> float:
        """Return the share of the rows that can be exchanged."""
        if self.trades_values(column):
            return 1.0
        return sum(rows.size for rows in self._equally_large if len(rows) > 1) / self.n_rows

    def trades_values(self, column: NDArray[Any]) -> bool:
        """Return whether any two rows, or groups, can exchange the values of the column.

        They can without groups, and if all rows of a group have the same value; missing values count as equal.
        """
        if self.groups is None:
            return True
        mine = column[self._first_rows][self._numbers]
        return bool(((mine == column) | ((mine != mine) & (column != column))).all())

    def n_units(self, *, by_value: bool) -> int:
        """Return the number of units that are exchanged: rows or groups."""
        if self.groups is None:
            return self.n_rows
        return self._first_rows.size if by_value else sum(map(len, self._equally_large))

    def sources(self, generator: Generator, n_draws: int, *, by_value: bool) -> NDArray[np.intp]:
        """Draw the row that each row takes its value from, shape (n_draws, n_rows).

        Parameters
        ----------
        by_value : bool
            The result of `trades_values` for the column.
        """
        if self.groups is None:
            return _shuffled(self.n_rows, generator, n_draws)
        if by_value:
            return self._first_rows[_shuffled(self._first_rows.size, generator, n_draws)][:, self._numbers]
        drawn = np.tile(np.arange(self.n_rows), (n_draws, 1))
        for rows in self._equally_large:
            order = _shuffled(len(rows), generator, n_draws)
            drawn[:, rows.ravel()] = rows[order].reshape(n_draws, -1)
        return drawn

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
        """For each group size, the rows of the groups of this size, shape (n_groups, size)."""
        by_group = np.argsort(self._numbers, kind="stable")
        sizes = np.bincount(self._numbers)
        parts = np.split(by_group, np.cumsum(sizes)[:-1])
        return [np.array([part for part in parts if part.size == size]) for size in np.unique(sizes).tolist()]


def _shuffled(n: int, generator: Generator, n_draws: int) -> NDArray[np.intp]:
    """Draw permutations of n numbers, shape (n_draws, n)."""
    return _engine.random_permutations(n, draw_seed(generator), n_draws)


def draw_seed(generator: Generator) -> int:
    """Draw the seed of permutations."""
    return int(generator.integers(2**64, dtype=np.uint64))
