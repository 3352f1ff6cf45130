"""Answers that a fit may use again, wherever they come from: one protocol for all sources."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ppfs._data import Table
from ppfs.blanket._run.circumstances import digest_of
from ppfs.independence import BoundTest, KnownAnswers, Listener, OnError


class AnswerSource(Protocol):
    """Answers that were found before, under the same circumstances."""

    def recall(self, known: KnownAnswers, fold: int, rows: bytes) -> Listener | None:
        """Add the answers that a test gave before to those it is made with.

        Parameters
        ----------
        known : KnownAnswers
            The test adds its new answers to it.

        rows : bytes
            The digest of its table.

        Returns
        -------
        Listener or None
            What receives every new answer at once.
        """


class ReusedAnswers:
    """The bound tests of a fit, one per fold, each with the answers that are known already.

    Searches under the same circumstances may share one of these: then they share models too.

    Parameters
    ----------
    sources : sequence of AnswerSource
        What each new test is given.

    n_jobs : int, default=None
        Threads that read the rows.
    """

    def __init__(self, sources: Sequence[AnswerSource] = (), n_jobs: int | None = None) -> None:
        self._sources = sources
        self._n_jobs = n_jobs
        self._bound_tests: dict[tuple[int, bytes, OnError], BoundTest] = {}

    def bound(self, part: Table, fold: int, on_error: OnError, bind: Callable[..., BoundTest]) -> BoundTest:
        """Return the test of a fold's rows: the one that was bound before, or a new one."""
        rows = digest_of(part, self._n_jobs)
        key = fold, rows, on_error
        if key not in self._bound_tests:
            known = KnownAnswers(part.n_features + 1)
            listeners = [source.recall(known, fold, rows) for source in self._sources]
            listener = next(filter(None, listeners), None)
            self._bound_tests[key] = bind(part, fold=fold, on_error=on_error, known=known, listener=listener)
        return self._bound_tests[key]
