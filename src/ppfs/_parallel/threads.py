"""How many threads linear algebra may take while small models are fitted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import current_thread, main_thread

from threadpoolctl import ThreadpoolController

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
    with _controller(len(sys.modules)).limit(limits=1, user_api="blas"):
        yield


# Looking for the libraries takes as long as a search in a small table. They come with modules, so that they are looked
# for again when there are more of these.
@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()
