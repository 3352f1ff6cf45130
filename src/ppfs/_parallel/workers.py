"""The common interface of threads, processes and clusters."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator
from typing import Any


class Workers(ABC):
    """Threads, processes or a cluster that work on tasks.

    Attributes
    ----------
    lost : tuple of exception classes
        Raised if a worker died during its task; the task may be retried.

    gave_up : tuple of exception classes
        Those of them that are raised after the scheduler's own retries: trying again is useless.
    """

    lost: tuple[type[BaseException], ...]
    gave_up: tuple[type[BaseException], ...] = ()

    @abstractmethod
    def results(
        self, function: Callable[[Any, Any], Any], shared: Any, items: Iterable[Any]
    ) -> Iterator[Any]:
        """Yield ``function(shared, item)`` for each item, in order."""
