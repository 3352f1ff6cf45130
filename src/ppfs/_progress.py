"""A progress bar on stderr, in terminals and notebooks, silent everywhere else.

Written by hand because it is short, and because the libraries for it need a widget extension in
notebooks where a carriage return does.
"""

from __future__ import annotations

import sys
import time
from types import TracebackType

_WIDTH = 30
_SECONDS_BETWEEN_UPDATES = 0.1


class ProgressBar:
    """One line that is drawn again as work proceeds.

    Parameters
    ----------
    label : str
        What is being done.

    total : int
        How many steps there are.

    enabled : bool
        False draws nothing; neither does True where nobody looks, such as a log file.

    Examples
    --------
    >>> with ProgressBar("growth", total=2, enabled=False) as bar:
    ...     bar.advance()
    """

    def __init__(self, label: str, total: int, enabled: bool) -> None:
        self._label = label
        self._total = total
        self._is_drawn = enabled and total > 0 and _someone_watches()
        self._done = 0
        self._started = self._shown = time.monotonic()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._is_drawn:
            self._draw()
            print(file=sys.stderr, flush=True)

    def advance(self) -> None:
        """Count one step, and redraw if the last time was a while ago."""
        self._done += 1
        if self._is_drawn and time.monotonic() - self._shown > _SECONDS_BETWEEN_UPDATES:
            self._shown = time.monotonic()
            self._draw()

    def _draw(self) -> None:
        filled = min(_WIDTH, _WIDTH * self._done // self._total)
        seconds = time.monotonic() - self._started
        ahead = self._total - self._done
        remaining = f", {seconds / self._done * ahead:.0f} s left" if self._done and ahead > 0 else ""
        line = f"{self._label} [{'#' * filled:-<{_WIDTH}}] {self._done}/{self._total} in {seconds:.1f} s{remaining}"
        print(f"\r{line:<78}", end="", file=sys.stderr, flush=True)


def _someone_watches() -> bool:
    """Tell whether stderr is a terminal or a Jupyter cell, whose kernel puts a stream of its own there."""
    return sys.stderr.isatty() or "ipykernel" in type(sys.stderr).__module__
