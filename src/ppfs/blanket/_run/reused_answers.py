"""Answers that a fit may use again, wherever they come from: one protocol for all sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ppfs._data import Table
from ppfs.blanket._run.circumstances import digest_of
from ppfs.independence import BoundTest


class AnswerSource(Protocol):
    """Answers that were found before, under the same circumstances."""

    def recall(self, bound: BoundTest, fold: int, rows: bytes) -> None:
        """Give a newly bound test the answers that it gave before, and keep those that it will find.

        Parameters
        ----------
        rows : bytes
            The digest of its table.
        """


class ReusedAnswers:
    """The bound tests of a fit, one per fold, each with the answers that are known already.

    Searches under the same circumstances may share one of these: then they share models too.

    Parameters
    ----------
    sources : sequence of AnswerSource
        What each new test is given.
    """

    def __init__(self, sources: Sequence[AnswerSource] = ()) -> None:
        self._sources = sources
        self._bound_tests: dict[tuple[int, bytes], BoundTest] = {}

    def bound(self, part: Table, fold: int, bind: Callable[..., BoundTest]) -> BoundTest:
        """Return the test of a fold's rows: the one that was bound before, or a new one."""
        key = fold, digest_of(part)
        if key not in self._bound_tests:
            bound = self._bound_tests[key] = bind(part, fold=fold)
            for source in self._sources:
                source.recall(bound, *key)
        return self._bound_tests[key]
