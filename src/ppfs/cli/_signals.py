"""Signals that end the command: temporary files are removed, and the exit code says which signal it was."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

# A library may swallow the exception, as code that runs while an object is deleted does: it is raised again so often.
_SECONDS = 1.0

# Removing temporary files may take so long. A lock that an exception left behind could hold it up forever.
_SECONDS_TO_CLEAN_UP = 20.0

_received: list[int] = []


def listen() -> None:
    """Turn signals into exceptions, so that files are cleaned up; those that are ignored, as by nohup, stay so."""
    for name in _NAMES:
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _receive)


def received() -> int | None:
    """Return the first signal that was received, or None."""
    return _received[0] if _received else None


def _receive(number: int, _: FrameType | None) -> None:
    _received.append(number)
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _raise_again)
        signal.setitimer(signal.ITIMER_REAL, _SECONDS, _SECONDS)
    # Click and other libraries know what to do with this one.
    raise KeyboardInterrupt


def _raise_again(_: int, __: FrameType | None) -> None:
    raise KeyboardInterrupt


def settle() -> None:
    """Raise no more exceptions because of the signals that were received: the command is about to end."""
    if _received and hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _end)
        signal.setitimer(signal.ITIMER_REAL, _SECONDS_TO_CLEAN_UP)


def _end(_: int, __: FrameType | None) -> None:
    os._exit(128 + _received[0])


def end_workers() -> None:
    """End the processes that were started here, such as those of joblib, whatever they are doing."""
    processes = sys.modules.get("multiprocessing")
    for worker in processes.active_children() if processes is not None else ():
        # Joblib's processes have no ``kill``.
        with suppress(ProcessLookupError):
            os.kill(worker.pid, getattr(signal, "SIGKILL", signal.SIGTERM))
