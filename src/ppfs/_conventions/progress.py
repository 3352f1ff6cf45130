"""A progress bar on stderr, in terminals and notebooks; with "log", a line every ten seconds elsewhere.

Written by hand because it is short, and because libraries need a widget extension in notebooks, where a carriage return
is enough.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from math import inf
from types import TracebackType
from typing import Literal, NamedTuple

# False: nothing. True: a bar in terminals and notebooks. "log": lines elsewhere too.
Progress = bool | Literal["log"]

_WIDTH = 30
_SECONDS_BETWEEN_UPDATES = 0.1
_SECONDS_BETWEEN_LINES = 10.0


class Mark(NamedTuple):
    """The progress of a phase at some time: steps, CPU seconds and fits since its start."""

    n_done: int
    seconds: float
    n_fits: int


@dataclass
class Phase:
    """The cost of a part of the work.

    Attributes
    ----------
    label : str
        What was done.

    total : int
        How many steps there are.

    marks : list of Mark
        The progress after each step, and at the end. The seconds do not include compilation.

    is_complete : bool
        Whether it was completed.
    """

    label: str
    total: int
    marks: list[Mark] = field(default_factory=list)
    is_complete: bool = False

    @property
    def seconds(self) -> float:
        """CPU seconds of this process."""
        return self.marks[-1].seconds if self.marks else 0.0

    @property
    def n_fits(self) -> int:
        """Models fitted."""
        return self.marks[-1].n_fits if self.marks else 0


class OutOfTimeError(Exception):
    """Watched work took longer than its limit."""


@dataclass
class _Watch:
    phases: list[Phase]
    end: float


_watching: ContextVar[_Watch | None] = ContextVar("watching", default=None)


@contextmanager
def watched_phases(limit: float = inf) -> Iterator[list[Phase]]:
    """Collect the costs of the phases that start in this context.

    Parameters
    ----------
    limit : float, default=inf
        CPU seconds after which the work ends with `OutOfTimeError`, at the next step of a phase.

    Examples
    --------
    >>> with watched_phases() as phases, ProgressBar("growth", total=2, progress=False):
    ...     pass
    >>> [phase.label for phase in phases]
    ['growth']
    """
    phases: list[Phase] = []
    token = _watching.set(_Watch(phases, time.process_time() + limit))
    try:
        yield phases
    finally:
        _watching.reset(token)


class ProgressBar:
    """One line that is drawn again as work proceeds.

    Parameters
    ----------
    label : str
        What is being done.

    total : int
        How many steps there are.

    progress : bool or "log"
        False draws nothing. True draws a bar in a terminal or notebook, and nothing elsewhere; there "log" writes a
        line every ten seconds, and one at the end.

    n_fits : function that returns an int, default=one that returns 0
        How many models have been fitted so far.

    compiling : function that returns two floats, default=one that returns 0
        How many seconds compilation has taken so far, in wall-clock and in CPU time. The predicted time leaves them
        out.

    Examples
    --------
    >>> with ProgressBar("growth", total=2, progress=False) as bar:
    ...     bar.advance()
    """

    def __init__(
        self,
        label: str,
        total: int,
        progress: Progress,
        n_fits: Callable[[], int] = lambda: 0,
        compiling: Callable[[], tuple[float, float]] = lambda: (0.0, 0.0),
    ) -> None:
        self._label = label
        self._total = total
        is_watched = bool(progress) and total > 0 and _someone_watches()
        self._is_drawn = is_watched
        self._is_logged = progress == "log" and total > 0 and not is_watched
        self._n_fits, self._compiling = n_fits, compiling
        self._fits_before, self._compiled_before = n_fits(), compiling()
        self._watch = _watching.get()
        self._cpu_before = time.process_time() if self._watch is not None else 0.0
        self._phase = Phase(label, total)
        if self._watch is not None:
            self._watch.phases.append(self._phase)
        self._done = 0
        self._logged = -1
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> ProgressBar:
        if self._is_drawn:
            self._draw()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._mark()
        self._phase.is_complete = kind is None
        if self._is_drawn:
            self._draw()
            print(file=sys.stderr, flush=True)
        elif self._is_logged and self._done != self._logged:
            self._log()

    def advance(self, n: int = 1) -> None:
        """Count steps, and draw the bar if the last time was a while ago."""
        self._done += n
        self._mark()
        if self._watch is not None and time.process_time() > self._watch.end:
            raise OutOfTimeError(self._label)
        if not (self._is_drawn or self._is_logged):
            return
        pause = _SECONDS_BETWEEN_UPDATES if self._is_drawn else _SECONDS_BETWEEN_LINES
        if time.monotonic() - self._shown > pause:
            self._shown = time.monotonic()
            if self._is_drawn:
                self._draw()
            else:
                self._log()

    def _mark(self) -> None:
        if self._watch is not None:
            seconds = time.process_time() - self._cpu_before - self._compiled()[1]
            self._phase.marks.append(Mark(self._done, max(0.0, seconds), self._n_fits() - self._fits_before))

    def advance_to_remaining(self, n: int) -> None:
        """Count steps so that `n` remain."""
        self.advance(self._total - n - self._done)

    def expect(self, n: int) -> None:
        """Change how many steps remain to `n`."""
        self._total = self._done + n

    def _draw(self) -> None:
        filled = min(_WIDTH, _WIDTH * self._done // max(1, self._total))
        line = f"{self._label} [{'#' * filled:-<{_WIDTH}}] {self._so_far()}"
        print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)

    def _log(self) -> None:
        self._logged = self._done
        print(f"{self._label}: {self._so_far()}", file=sys.stderr, flush=True)

    def _so_far(self) -> str:
        seconds, compiled = time.monotonic() - self._started, self._compiled()[0]
        ahead = self._total - self._done
        parts = [f"{self._done}/{self._total} in {seconds:.1f} s"]
        if compiled >= 1:
            parts.append(f"{compiled:.0f} s of it to compile, once")
        if self._done and ahead > 0:
            parts.append(f"{max(0.0, seconds - compiled) / self._done * ahead:.0f} s left")
        if self._n_fits():
            parts.append(f"{self._n_fits():,} fits")
        return ", ".join(parts)

    def _compiled(self) -> tuple[float, float]:
        """Return the seconds of compilation since the start, in wall-clock and in CPU time."""
        (clock, cpu), (clock_before, cpu_before) = self._compiling(), self._compiled_before
        return clock - clock_before, cpu - cpu_before


def _someone_watches() -> bool:
    """Return whether stderr is a terminal, or the stream of a Jupyter kernel."""
    return sys.stderr.isatty() or "ipykernel" in type(sys.stderr).__module__
