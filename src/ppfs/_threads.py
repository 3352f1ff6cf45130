"""How many threads linear algebra may take while small models are fitted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import current_thread, main_thread

from threadpoolctl import threadpool_limits

# Up to so many rows a model's arrays are small, and threads cost more than they do: see decision 126.
_FEW_ROWS = 10_000


@contextmanager
def small_fits(n_rows: int) -> Iterator[None]:
    """Let linear algebra use one thread while models are fitted on few rows; with many rows nothing changes.

    The limit is the process's, and two who set it at the same time could leave it behind. So only the main thread does.
    """
    if n_rows > _FEW_ROWS or current_thread() is not main_thread():
        yield
        return
    with threadpool_limits(limits=1, user_api="blas"):
        yield
