"""Measures how long Numba compiles, through its events; kernels that are read from disk raise none."""

from typing import Any

from ppfs._engine.jit.compile_time import compilation_ends, compilation_starts
from ppfs._engine.jit.numba_private import event


class CompileListener(event.Listener):
    """Measures the time of compilation."""

    def on_start(self, _event: Any) -> None:
        """Record that compilation starts."""
        compilation_starts()

    def on_end(self, _event: Any) -> None:
        """Record that compilation ends."""
        compilation_ends()


def take_the_time() -> None:
    """Start to measure the time of compilation."""
    event.register("numba:compile", CompileListener())
