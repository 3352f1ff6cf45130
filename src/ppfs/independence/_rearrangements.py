"""What it takes to count small p-values given nothing: how often a rearranged column does as well as the column."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Rearrangements:
    """Some rearrangements of some columns.

    Attributes
    ----------
    target : int
        The variable that the columns are compared with.

    xs : tuple of int
        The columns.

    first, end : int
        The numbers of the first draw and of the one after the last, in chunks.

    share : float
        See `ExactTail.n_as_extreme`.
    """

    target: int
    xs: tuple[int, ...]
    first: int
    end: int
    share: float


@dataclass(frozen=True)
class CountedRearrangements:
    """How many draws were as extreme as each of the columns themselves.

    Attributes
    ----------
    counts : ndarray of int, shape (n_columns,)

    n_refitted : int
        Rearranged columns that models were fitted to.
    """

    draws: Rearrangements
    counts: NDArray[np.intp]
    n_refitted: int


class ExactTail(Protocol):
    """Counts how often chance alone does as well as a column, given nothing.

    Attributes
    ----------
    draws_at_once : int
        The number of draws must be a multiple of this.

    n_refitted : int
        Rearranged columns that models were fitted to so far.
    """

    draws_at_once: ClassVar[int]
    n_refitted: int

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        """Return which columns can be rearranged."""

    def bounded_pvalues(self, xs: Sequence[int]) -> NDArray[np.float64]:
        """Return valid bounds on p-values so small that no draws are needed; 1 for other columns.

        Columns with a bound rank before all others, and draws that have one count as extreme.
        """

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int, share: float) -> NDArray[np.intp]:
        """Count, among draws ``first`` to ``end - 1`` of each column, those as extreme as the column itself.

        Models are fitted to about this share of the draws, those that stand out by a quick statistic.
        """
