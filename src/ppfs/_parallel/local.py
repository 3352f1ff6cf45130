"""Threads and processes of this machine, through joblib."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from typing import Any, Literal

from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from ppfs._parallel.forks import run_python_tasks
from ppfs._parallel.shared import Shared
from ppfs._parallel.workers import Workers


class LocalWorkers(Workers):
    """Joblib's threads and processes, and any backend of joblib that is not known here."""

    lost = (BrokenExecutor, MemoryError)

    def __init__(self, n_jobs: int | None, prefer: Literal["threads"] | None) -> None:
        self._n_jobs = n_jobs
        self._prefer = prefer
        backend, _ = get_active_backend(prefer=prefer)
        self._return_as = "generator" if backend.supports_return_generator else "list"

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield the results in order."""
        run = Parallel(n_jobs=self._n_jobs, prefer=self._prefer, return_as=self._return_as)
        kept = Shared(shared)
        return iter(run(delayed(_done)(function, kept, item) for item in items))


class ForkedWorkers(Workers):
    """Copies of this process, which have what is shared, or threads where little is to do."""

    lost = (MemoryError,)

    def __init__(self, n_jobs: int) -> None:
        self._n_jobs = n_jobs

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield the results in order."""

        def on_threads(done: Callable[[Any], Any], some: Sequence[Any], n_threads: int) -> Iterator[Any]:
            return LocalWorkers(n_threads, "threads").results(lambda _, item: done(item), None, some)

        return run_python_tasks(
            lambda item: function(shared, item), list(items), self._n_jobs, on_threads, are_forked=True
        )


def _done(function: Callable[[Any, Any], Any], kept: Shared, item: Any) -> Any:
    return function(kept.value, item)
