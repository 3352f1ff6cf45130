"""Numba's events: a kernel that is compiled, not read from the disk, and its parts."""

from typing import Any

from numba.core import event

from ppfs._engine.jit.compile_time import compilation_ends, compilation_starts

_events: Any = event


class CompileListener(_events.Listener):
    """Takes the time of compilation."""

    def on_start(self, event: Any) -> None:
        """Take note that compilation starts."""
        compilation_starts()

    def on_end(self, event: Any) -> None:
        """Take note that it ends."""
        compilation_ends()


def take_the_time() -> None:
    """Listen to Numba's compiler from here on."""
    _events.register("numba:compile", CompileListener())
