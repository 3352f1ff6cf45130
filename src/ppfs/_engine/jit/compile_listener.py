"""Measures how long Numba compiles, through its events; kernels that are read from disk raise none."""

from typing import Any

from numba.core import event

from ppfs._engine.jit.compile_time import compilation_ends, compilation_starts

_events: Any = event


class CompileListener(_events.Listener):
    """Measures the time of compilation."""

    def on_start(self, event: Any) -> None:
        """Record that compilation starts."""
        compilation_starts()

    def on_end(self, event: Any) -> None:
        """Record that compilation ends."""
        compilation_ends()


def take_the_time() -> None:
    """Start to measure the time of compilation."""
    _events.register("numba:compile", CompileListener())
