"""A progress bar on stderr, in terminals and notebooks; in a log a line now and then, for those who ask.

Written by hand because it is short, and because the libraries for it need a widget extension in
notebooks where a carriage return does.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from types import TracebackType
from typing import Literal

# False: nothing. True: a bar where someone looks. "log": also lines where no one does.
Progress = bool | Literal["log"]

_WIDTH = 30
_SECONDS_BETWEEN_UPDATES = 0.1
_SECONDS_BETWEEN_LINES = 10.0


class ProgressBar:
    """One line that is drawn again as work proceeds.

    Parameters
    ----------
    label : str
        What is being done.

    total : int
        How many steps there are.

    progress : bool or "log"
        False draws nothing; neither does True where nobody looks, such as a log file. There "log" writes a line every
        ten seconds, and one at the end.

    note : function that returns text, default=one that returns ""
        What else to show, such as a number that grows.

    Examples
    --------
    >>> with ProgressBar("growth", total=2, progress=False) as bar:
    ...     bar.advance()
    """

    def __init__(
        self, label: str, total: int, progress: Progress, note: Callable[[], str] = lambda: ""
    ) -> None:
        self._label = label
        self._total = total
        is_watched = bool(progress) and total > 0 and _someone_watches()
        self._is_drawn = is_watched
        self._is_logged = progress == "log" and total > 0 and not is_watched
        self._note = note
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
        if self._is_drawn:
            self._draw()
            print(file=sys.stderr, flush=True)
        elif self._is_logged and self._done != self._logged:
            self._log()

    def advance(self, n: int = 1) -> None:
        """Count steps, and show it if the last time was a while ago."""
        self._done += n
        if not (self._is_drawn or self._is_logged):
            return
        pause = _SECONDS_BETWEEN_UPDATES if self._is_drawn else _SECONDS_BETWEEN_LINES
        if time.monotonic() - self._shown > pause:
            self._shown = time.monotonic()
            if self._is_drawn:
                self._draw()
            else:
                self._log()

    def advance_to_remaining(self, n: int) -> None:
        """Count steps so that `n` remain."""
        self.advance(self._total - n - self._done)

    def _draw(self) -> None:
        filled = min(_WIDTH, _WIDTH * self._done // self._total)
        line = f"{self._label} [{'#' * filled:-<{_WIDTH}}] {self._so_far()}"
        print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)

    def _log(self) -> None:
        self._logged = self._done
        print(f"{self._label}: {self._so_far()}", file=sys.stderr, flush=True)

    def _so_far(self) -> str:
        seconds = time.monotonic() - self._started
        ahead = self._total - self._done
        remaining = f", {seconds / self._done * ahead:.0f} s left" if self._done and ahead > 0 else ""
        note = self._note()
        return f"{self._done}/{self._total} in {seconds:.1f} s{remaining}{', ' if note else ''}{note}"


def _someone_watches() -> bool:
    """Tell whether stderr is a terminal or a Jupyter cell, whose kernel puts a stream of its own there."""
    return sys.stderr.isatty() or "ipykernel" in type(sys.stderr).__module__
