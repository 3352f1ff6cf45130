"""The protocol between independence tests and whoever asks them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ppfs._random import RandomStateLike
from ppfs._reading import read_table
from ppfs._table import Table, Task, column_index
from ppfs.exceptions import InvalidInputError


@dataclass(frozen=True, slots=True)
class IndependenceResult:
    """The answer to one question "is x independent of the target given these columns?".

    Attributes
    ----------
    pvalue : float
        Small values speak against independence.

    statistic : float
        What the p-value was computed from, for example Wilcoxon's rank sum.

    effect : float
        How strong the link is, on a scale that does not saturate when the p-value does:
        for predictive tests the mean rise in risk when x is replaced by its knockoff.
    """

    pvalue: float
    statistic: float
    effect: float

    def is_dependent(self, alpha: float) -> bool:
        """Tell whether independence is rejected at level `alpha`."""
        return self.pvalue <= alpha


class BoundTest(ABC):
    """A test together with the data it is asked about.

    A subclass implements `_answers`. Every answer is remembered, so a question asked
    twice costs nothing the second time.

    Attributes
    ----------
    n_fits : int
        Models fitted so far.
    """

    n_fits: int = 0

    def __init__(self, table: Table) -> None:
        self.table = table
        self._known: dict[tuple[int, bytes, int], IndependenceResult] = {}

    @property
    def smallest_pvalue(self) -> float:
        """The smallest p-value this test can return, whatever the data."""
        return 0.0

    def query(self, x: int, target: int, given: Collection[int] = ()) -> IndependenceResult:
        """Answer whether `x` is independent of `target` given the columns `given`."""
        return next(self.answers([x], target, given))

    def query_many(
        self, xs: Sequence[int], target: int, given: Collection[int] = ()
    ) -> list[IndependenceResult]:
        """Answer the same question for each of `xs`; see `answers`."""
        return list(self.answers(xs, target, given))

    def answers(
        self, xs: Sequence[int], target: int, given: Collection[int] = ()
    ) -> Iterator[IndependenceResult]:
        """Answer lazily, in order, whether each x is independent of `target` given the other `given`.

        A member of `given` is tested given the rest of it. So the growth phase asks about
        all columns given the blanket, the shrink phase about the blanket's members given
        the blanket, and both stop listening as soon as an answer changes the blanket.

        Yields
        ------
        IndependenceResult
            One for each of `xs`.
        """
        members = np.unique(np.fromiter(given, dtype=np.int64, count=len(given)))
        conditioning = members.tobytes()
        unknown = [x for x in xs if (target, conditioning, x) not in self._known]
        fresh = self._answers(unknown, target, tuple(members.tolist())) if unknown else iter(())
        for x in xs:
            question = (target, conditioning, x)
            if question not in self._known:
                self._known[question] = next(fresh)
            yield self._known[question]

    @abstractmethod
    def _answers(
        self, xs: Sequence[int], target: int, given: tuple[int, ...]
    ) -> Iterator[IndependenceResult]:
        """Answer questions never asked before; `given` is sorted."""


class IndependenceTest(ABC, BaseEstimator):
    """A test's parameters: clonable, comparable, usable in a grid search.

    `bind` joins them with data.
    """

    @abstractmethod
    def bind(
        self, table: Table, *, fold: int = 0, random_state: RandomStateLike = None, n_jobs: int | None = None
    ) -> BoundTest:
        """Return the test of these data.

        Parameters
        ----------
        table : Table
            Columns and target.

        fold : int, default=0
            Which fold the rows belong to: random draws are keyed by it.

        random_state, n_jobs
            Used where the test leaves its own at None.
        """

    def declared_task(self) -> Task | None:
        """Tell the task that the parameters imply, or None when the target decides."""
        return None

    def evaluate(self, X: Any, y: Any, x: int | str, given: Collection[int | str] = ()) -> IndependenceResult:
        """Answer one question about arrays or data frames.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_rows, n_features)
            The columns.

        y : array-like of shape (n_rows,)
            The target.

        x : int or str
            The column in question, by number or name.

        given : collection of int or str, default=()
            The columns to condition on.

        Returns
        -------
        IndependenceResult
        """
        self._validate_params()
        table = read_table(X, y, task=self.declared_task() or "auto", owner=self)
        candidate = column_index(x, table)
        conditioning = [column_index(column, table) for column in given]
        if candidate in conditioning:
            raise InvalidInputError(
                f"Column {table.names[candidate]!r} is both x and in given: it would be tested given itself. "
                "Leave it out of given."
            )
        return self.bind(table).query(candidate, table.target, conditioning)
