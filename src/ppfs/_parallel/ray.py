"""Ray's scheduler."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

from ppfs._parallel.cluster import Cluster


class RayWorkers(Cluster):
    """A Ray cluster: shared objects are in its object store, once per machine.

    Joblib's backend for Ray selects it, but tasks are submitted to Ray directly, because actors of the backend's pool
    are not replaced when they die.
    """

    def __init__(self, backend: Any) -> None:
        import ray
        from ray import exceptions

        if not ray.is_initialized():
            ray.init()
        self._ray: Any = ray
        # Ray sends a function to its workers again each time that it is made remote.
        self._remote = cache(ray.remote(max_retries=2))
        self._task_error = exceptions.RayTaskError
        self.gave_up = (exceptions.WorkerCrashedError, exceptions.OutOfMemoryError)
        self.lost = (*self.gave_up, exceptions.ObjectLostError, exceptions.OwnerDiedError, MemoryError)

    @classmethod
    def is_meant_by(cls, backend: Any) -> bool:
        """Return whether joblib's backend uses this scheduler."""
        return type(backend).__name__ == "RayBackend"

    def n_workers(self) -> int:
        """Return how many tasks run at once."""
        return max(1, int(self._ray.cluster_resources().get("CPU", 1)))

    def share(self, value: Any) -> Any:
        """Put an object into the object store."""
        return self._ray.put(value)

    def submit(self, function: Callable[..., Any], handle: Any, *arguments: Any) -> Any:
        """Submit a task, which Ray retries when its worker dies."""
        return self._remote(function).remote(handle, *arguments)

    def result(self, future: Any) -> Any:
        """Wait for a result; raise the error of the task if it failed."""
        try:
            return self._ray.get(future)
        except self._task_error as error:
            raise error.cause from error

    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel tasks whose results are not needed."""
        for future in futures:
            self._ray.cancel(future)
