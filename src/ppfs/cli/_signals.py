"""Signals that end the command: temporary files are removed, and the exit code says which signal it was."""

from __future__ import annotations

import signal
from types import FrameType

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

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
    # Click and other libraries know what to do with this one.
    raise KeyboardInterrupt
