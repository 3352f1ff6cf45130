"""What Dask and Ray have in common: tasks that wait in a window, and what they share sent ahead."""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Any

import sklearn

from ppfs._parallel.shared import Shared
from ppfs._parallel.workers import Workers

# Tasks sent per worker: one is running, and the next is there when it ends.
_AHEAD = 3


class Cluster(Workers):
    """A scheduler that was chosen by joblib's backend, and is spoken to in its own words.

    Joblib's way to it sends what tasks share with each of them (Ray), loses it with a worker (Dask), and
    does not try again (Ray).
    """

    @classmethod
    @abstractmethod
    def is_meant_by(cls, backend: Any) -> bool:
        """Return whether joblib's backend stands for this scheduler."""

    @abstractmethod
    def __init__(self, backend: Any) -> None:
        """Find the scheduler that the backend speaks to."""

    @abstractmethod
    def n_workers(self) -> int:
        """Return how many tasks run at once."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Send something to where tasks can get it without asking this process again; return what stands for it."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], handle: Any, *arguments: Any) -> Any:
        """Send off a task whose first argument was shared, and return what stands for its result."""

    @abstractmethod
    def result(self, future: Any) -> Any:
        """Wait for a result, or raise what the task raised."""

    @abstractmethod
    def cancel(self, futures: Iterable[Any]) -> None:
        """Tell that nobody waits for these results."""

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
    """Do a task under the caller's settings of scikit-learn."""
    with sklearn.config_context(**config):
        return function(kept.value, item)
