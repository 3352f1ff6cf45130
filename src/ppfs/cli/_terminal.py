"""Text for the terminal: without control characters, and with an error where nothing can be written."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from ppfs._printable import printable as printable


def printable_lines(text: str) -> str:
    """Return a message as `printable` does, but keep its line breaks."""
    return "\n".join(map(printable, text.split("\n")))


def say(message: str) -> None:
    """Write a message to standard error, with the name of the command."""
    print(f"ppfs: {printable_lines(message)}", file=sys.stderr)


class CannotWriteError(Exception):
    """Something cannot be written to; the message says why.

    Parameters
    ----------
    reason : str
        Why, as the operating system says it.

    where : str, default="standard output"
        What was written to.
    """

    def __init__(self, reason: str, where: str = "standard output") -> None:
        super().__init__(reason)
        self.where = where


@contextmanager
def writing() -> Iterator[None]:
    """Turn a failure to write, which Python reports at exit or not at all, into an error at once.

    Characters that the encoding of the output lacks are escaped.
    """
    if sys.stdout is None:  # Closed by the caller, as ``>&-`` does.
        raise CannotWriteError("it is closed")
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        yield
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has closed the pipe, as ``| head -1`` does: not an error.
        _discard_the_rest()
    except OSError as error:
        _discard_the_rest()
        raise CannotWriteError(error.strerror or str(error)) from error


def _discard_the_rest() -> None:
    """Discard what is left in the buffer, which Python would fail to flush at exit."""
    try:
        descriptor = sys.stdout.fileno()
    except (OSError, ValueError):
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, descriptor)
    os.close(nowhere)
