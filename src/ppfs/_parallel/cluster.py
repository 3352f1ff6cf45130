"""Common code for Dask and Ray: a limited number of tasks is submitted at a time, and shared data are sent first."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import sklearn

from ppfs._parallel.shared import Shared
from ppfs._parallel.workers import Workers

# Tasks submitted per worker: one is running, and the next is ready when it ends.
_AHEAD = 3


class Cluster(Workers):
    """A scheduler that was chosen with joblib's backend, and is used through its own interface.

    Joblib's interface sends shared data with each task (Ray), loses them when a worker dies (Dask), and does not retry
    tasks (Ray).
    """

    @classmethod
    @abstractmethod
    def is_meant_by(cls, backend: Any) -> bool:
        """Return whether joblib's backend uses this scheduler."""

    @abstractmethod
    def __init__(self, backend: Any) -> None:
        """Find the scheduler that the backend uses."""

    @abstractmethod
    def n_workers(self) -> int:
        """Return how many tasks run at once."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Send an object to the cluster, where tasks can get it without this process; return a reference to it."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], handle: Any, *arguments: Any) -> Any:
        """Submit a task whose first argument was shared; return a reference to its result."""

    @abstractmethod
    def result(self, future: Any) -> Any:
        """Wait for a result; raise the error of the task if it failed."""

    @abstractmethod
    def cancel(self, futures: Iterable[Any]) -> None:
        """Cancel tasks whose results are not needed."""

    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield the results in order."""
        handle = self.share(Shared(shared))
        config = sklearn.get_config()
        left = iter(items)
        waiting: deque[Any] = deque()
        try:
            while True:
                room = _AHEAD * self.n_workers() - len(waiting)
                for item in islice(left, max(room, 0 if waiting else 1)):
                    waiting.append(self.submit(_configured, handle, function, item, config))
                if not waiting:
                    return
                result = self.result(waiting[0])
                waiting.popleft()
                yield result
        finally:
            self.cancel(waiting)


def _configured(kept: Shared, function: Callable[[Any, Any], Any], item: Any, config: dict[str, Any]) -> Any:
    """Run a task with the caller's scikit-learn configuration."""
    with sklearn.config_context(**config):
        return function(kept.value, item)
