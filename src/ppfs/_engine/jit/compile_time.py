"""How long kernels took to compile in this process, and a call when the first one is compiled."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

# Wall-clock and CPU time.
Seconds = tuple[float, float]

_spent: Seconds = (0.0, 0.0)
_started: Seconds = (0.0, 0.0)
_depth = 0
_collects_garbage = True
_callbacks: list[Callable[[], None]] = []


def compile_seconds() -> Seconds:
    """Return how long compilation has taken so far, in wall-clock and CPU time, without reading from the disk."""
    return _now_spent() if _depth else _spent


@contextmanager
def before_compiling(callback: Callable[[], None]) -> Iterator[None]:
    """Call a function once, before the first kernel that is compiled in this context."""
    _callbacks.append(callback)
    try:
        yield
    finally:
        if callback in _callbacks:
            _callbacks.remove(callback)


def compilation_starts() -> None:
    """Record that the compilation of a kernel, or of a part of the current kernel, starts.

    Garbage collection is switched off until it ends. A compiler makes many small objects that live until then, and
    looking through them again and again took a sixth of the time.
    """
    global _depth, _started, _collects_garbage
    while _callbacks:
        _callbacks.pop()()
    if not _depth:
        _started = _now()
        _collects_garbage = gc.isenabled()
        gc.disable()
    _depth += 1


def compilation_ends() -> None:
    """Record that the compilation that started last ends."""
    global _depth, _spent
    _depth -= 1
    if not _depth:
        _spent = _now_spent()
        if _collects_garbage:
            gc.enable()


def _now() -> Seconds:
    return time.monotonic(), time.process_time()


def _now_spent() -> Seconds:
    clock, cpu = _now()
    return _spent[0] + clock - _started[0], _spent[1] + cpu - _started[1]
