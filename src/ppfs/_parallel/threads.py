"""How many threads compiled libraries may take while small models are fitted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import current_thread, local, main_thread

from threadpoolctl import ThreadpoolController

# With up to this many rows a model's arrays are small, and threads cost more than they gain: see decision 126.
_FEW_ROWS = 10_000


class _Limited(local):
    """For the current thread: how many modules were loaded when its limit was set, or None without a limit."""

    n_modules: int | None = None


_limited = _Limited()


@contextmanager
def small_fits(n_rows: int) -> Iterator[None]:
    """Limit linear algebra and OpenMP to one thread while models are fitted on few rows; many rows change nothing.

    OpenMP's limit belongs to the thread that sets it, so each thread that fits models calls this. The limit of linear
    algebra belongs to the process, and two threads that set it at the same time could leave it behind, so only the main
    thread sets it. Models with their own number of threads, such as XGBoost with `n_jobs=4`, are not affected.
    """
    n_modules = len(sys.modules)
    if n_rows > _FEW_ROWS or _limited.n_modules == n_modules:
        yield
        return
    both = None if current_thread() is main_thread() else "openmp"
    with _controller(n_modules).limit(limits=1, user_api=both):
        before, _limited.n_modules = _limited.n_modules, n_modules
        try:
            yield
        finally:
            _limited.n_modules = before


# Looking for the libraries takes as long as a search in a small table. Libraries are loaded with modules, so it is done
# again only when more modules are loaded.
@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()
