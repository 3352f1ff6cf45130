"""Dask's scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import CancelledError
from typing import Any

from ppfs._parallel.allocator import keep_freed_memory
from ppfs._parallel.cluster import Cluster

# A block with more bytes is sent directly to a worker instead of through the scheduler.
_WORTH_SCATTERING = 2**16


class DaskWorkers(Cluster):
    """A Dask cluster: shared data are sent to every worker, so that they survive the death of some."""

    def __init__(self, backend: Any) -> None:
        from distributed import KilledWorker

        self._client = backend.client
        self.gave_up = (KilledWorker,)
        # Scattered data are lost with the last worker that has them, and the tasks that need them are canceled.
        self.lost = (KilledWorker, CancelledError, MemoryError)

    @classmethod
    def is_meant_by(cls, backend: Any) -> bool:
        """Return whether joblib's backend uses this scheduler."""
        return type(backend).__name__ == "DaskDistributedBackend"

    def n_workers(self) -> int:
        """Return how many tasks run at once."""
        return max(1, int(sum(self._client.ncores().values())))

    def share(self, value: Any) -> Any:
        """Send an object to every worker."""
        return self._client.scatter(value, broadcast=True, hash=False)

    def submit(self, function: Callable[..., Any], handle: Any, *arguments: Any) -> Any:
        """Submit a task."""
        sent = [self._sent(argument) for argument in arguments]
        return self._client.submit(_with_memory_kept, handle, function, *sent, pure=False)

    def _sent(self, argument: Any) -> Any:
        is_large = getattr(argument, "nbytes", 0) > _WORTH_SCATTERING
        return self._client.scatter(argument, hash=False) if is_large else argument

    def result(self, future: Any) -> Any:
        """Wait for a result; raise the error of the task if it failed."""
        return future.result()

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel tasks whose results are not needed."""
        self._client.cancel(list(futures))


def _with_memory_kept(handle: Any, function: Callable[..., Any], *arguments: Any) -> Any:
    keep_freed_memory()
    return function(handle, *arguments)
