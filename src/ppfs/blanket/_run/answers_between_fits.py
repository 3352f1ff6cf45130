"""Answers that are kept after a fit, so that fitting again with another alpha repeats no test."""

from __future__ import annotations

from ppfs.blanket._run.circumstances import Circumstances
from ppfs.independence import KnownAnswers


class Memory:
    """The answers of a search's last fit, fold by fold.

    Answers are used again only under the same circumstances and for the same rows, value for value. The data are not
    kept, only their digest. A search that failed has a memory too: fitting again goes on where it stopped.

    Parameters
    ----------
    circumstances : Circumstances
        Of this fit.

    last : Memory or None
        The memory of the fit before.
    """

    def __init__(self, circumstances: Circumstances, last: Memory | None = None) -> None:
        self.circumstances = circumstances
        self._answers: dict[tuple[int, bytes], KnownAnswers] = {}
        self._last: dict[tuple[int, bytes], KnownAnswers] = {}
        if last is not None and last.circumstances.serves(circumstances):
            self._last = {**last._last, **last._answers}

    @property
    def n_answers(self) -> int:
        """How many questions of this fit have an answer so far."""
        return sum(map(len, self._answers.values()))

    def recall(self, known: KnownAnswers, fold: int, rows: bytes) -> None:
        """Add the answers of the last fit to the same rows, and keep those that will be added."""
        last = self._last.get((fold, rows))
        if last is not None:
            known.update(last)
        self._answers[fold, rows] = known

    def forget_the_last(self) -> None:
        """Drop the answers of earlier fits that this one did not need, now that it is complete."""
        self._last = {}
