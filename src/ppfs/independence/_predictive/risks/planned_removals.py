"""Trees grown ahead of the removals that a search is likely to make.

The shrink phase asks about one feature after the other and removes nearly all of them. Only the decisions are a chain:
which trees a split has after some removals does not depend on the other splits. So the next few features are assumed to
go, every split grows its own sequence of trees on its own thread, and the decisions are read in order. The plan is cut
at the first feature that stays.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from itertools import islice, takewhile
from typing import TYPE_CHECKING

from ppfs import _engine

if TYPE_CHECKING:
    AnyForest = _engine.TreePerSplit | _engine.ForestPerSplit


class PlannedRemovals:
    """Removes features from the trees of all splits, growing trees ahead where there are threads for it.

    The trees and the number of fits are those of one removal at a time.

    Parameters
    ----------
    is_ahead : bool
        Whether to grow trees ahead of the removals. With one thread nothing would be gained.
    """

    def __init__(self, *, is_ahead: bool) -> None:
        self._is_ahead = is_ahead
        self._planned: list[int] = []
        self._forests: Iterator[tuple[AnyForest, int]] = iter(())
        # Doubled when all of a plan was used; after a plan that was cut, as many as were used of it.
        self._length = 1

    def forget(self) -> None:
        """Drop the plan: the trees it began with are gone."""
        self._planned, self._forests = [], iter(())

    def apply(
        self, forest: AnyForest, gone: Set[int], places: Mapping[int, slice], expected: Sequence[int]
    ) -> tuple[AnyForest, int]:
        """Remove features.

        Parameters
        ----------
        forest : TreePerSplit or ForestPerSplit
            The current trees.

        gone : set of int
            The features.

        places : mapping of int to slice
            The columns of each feature.

        expected : sequence of int
            The features that are likely to be removed next, in order.

        Returns
        -------
        forest : TreePerSplit or ForestPerSplit
            The trees without them.

        n_refits : int
            Trees that had to be grown again.
        """
        if not self._is_next(forest, gone, places):
            self._plan(forest, gone, places, expected)
        n_refits = 0
        for _ in range(sum(places[x].stop - places[x].start for x in gone)):
            forest, n_more = next(self._forests)
            n_refits += n_more
        del self._planned[: len(gone)]
        return forest, n_refits

    def _is_next(self, forest: AnyForest, gone: Set[int], places: Mapping[int, slice]) -> bool:
        """Return whether these features are the next of the plan, and their order does not matter.

        It does not if no tree uses any but the last of them.
        """
        following = self._planned[: len(gone)]
        if set(following) != gone:
            return False
        return not any(forest.used[:, places[x]].any() for x in following[:-1])

    def _plan(
        self, forest: AnyForest, gone: Set[int], places: Mapping[int, slice], expected: Sequence[int]
    ) -> None:
        """Begin a new plan with these features, and grow the trees of all of it."""
        # Columns that no tree uses are removed first: that costs nothing, and no new tree can use them then.
        first = [position for x in gone for position in range(places[x].start, places[x].stop)]
        if len(first) > 1:
            first.sort(key=forest.used.sum(axis=0).tolist().__getitem__)
        # A plan whose last features went together with others was not cut.
        n_unused = 0 if gone >= set(self._planned) else len(self._planned)
        wanted = max(1, self._length - n_unused) if n_unused else 2 * self._length
        self._length = min(wanted, forest.most_ahead)
        # The columns of one feature are removed by their use, which is not known ahead.
        is_ahead = self._is_ahead and len(first) == len(gone)
        others = (x for x in expected if x not in gone)
        ahead = list(islice(others, self._length - 1)) if is_ahead else []
        ahead = list(takewhile(lambda x: places[x].stop == places[x].start + 1, ahead))
        self._planned = [*gone, *ahead]
        self._forests = forest.without_each([*first, *(places[x].start for x in ahead)])
