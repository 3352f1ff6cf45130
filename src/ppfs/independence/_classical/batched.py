"""Bound tests that answer many questions in one pass over the data."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence

from ppfs._conventions import as_many_as_fit
from ppfs.independence._answers import IndependenceResult
from ppfs.independence._bound import BoundTest, growing_batches


class BatchedTest(BoundTest):
    """A bound test whose questions with the same conditioning set are answered together.

    A subclass implements `_batch`. It must compute the numbers of each x without those of the other
    x of its batch, element by element or row by row, so that an answer is the same, bit for bit, in
    every batch. Matrix products do not do that: BLAS sums in another order for another shape.

    Attributes
    ----------
    values_for_free : int
        How many values are processed in the time that a call takes. The first batch has as many columns as
        hold them, and at least one.
    """

    values_for_free: int = 0

    def _answers(self, xs: Sequence[int], target: int, given: frozenset[int]) -> Iterator[IndependenceResult]:
        ordered = tuple(sorted(given))
        for batch in growing_batches(xs, as_many_as_fit(self.values_for_free, self.table.n_rows)):
            outside = [x for x in batch if x not in given]
            found = dict(zip(outside, self._batch(outside, target, ordered), strict=True)) if outside else {}
            for x in batch:
                yield found[x] if x in found else self._one_of(x, target, ordered)

    def _one_of(self, member: int, target: int, given: tuple[int, ...]) -> IndependenceResult:
        """Answer about a member of the conditioning set, given the rest of it."""
        return self._batch([member], target, tuple(other for other in given if other != member))[0]

    @abstractmethod
    def _batch(self, xs: Sequence[int], target: int, given: tuple[int, ...]) -> list[IndependenceResult]:
        """Answer about each of `xs`, none of which is in `given`."""
