"""How many threads compiled libraries may take while models are fitted."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from threading import current_thread, local, main_thread

from threadpoolctl import ThreadpoolController

#: Threads that are of use where a quarter of the work or more holds the interpreter's lock: see decision 480.
MOST_THREADS_OF_PYTHON = 8

# With up to this many rows a model's arrays are small, and OpenMP's threads cost more than they gain: see decision 126.
_FEW_ROWS = 10_000


class _Limited(local):
    """For the current thread: how many modules were loaded when its limits were set, and for few rows or many."""

    when: tuple[int, bool] | None = None


_limited = _Limited()


@contextmanager
def small_fits(n_rows: int) -> Iterator[None]:
    """Limit linear algebra to one thread while models are fitted, and OpenMP too if there are few rows.

    `n_jobs` is the number of threads that compute at once, so each of them is one, whatever the number of cores.
    OpenMP's limit belongs to the thread that sets it, so each thread that fits models calls this. The limit of linear
    algebra belongs to the process, and two threads that set it at the same time could leave it behind, so only the main
    thread sets it. Models with their own number of threads, such as XGBoost with `n_jobs=4`, are not affected.
    """
    is_main, are_few = current_thread() is main_thread(), n_rows <= _FEW_ROWS
    when = len(sys.modules), are_few
    if _limited.when == when or not (is_main or are_few):
        yield
        return
    limited = None if is_main and are_few else "openmp" if are_few else "blas"
    with _controller(len(sys.modules)).limit(limits=1, user_api=limited):
        before, _limited.when = _limited.when, when
        try:
            yield
        finally:
            _limited.when = before


# Looking for the libraries takes as long as a search in a small table. Libraries are loaded with modules, so it is done
# again only when more modules are loaded.
@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    return ThreadpoolController()
