"""Independent tasks on threads."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")


def run_tasks(function: Callable[[Task], Answer], tasks: Sequence[Task], n_threads: int) -> list[Answer]:
    """Apply a function to every task and return the answers in the order of the tasks.

    Kernels release the GIL, so threads run in parallel without copies of the data. Each task writes to its own output,
    so the answers do not depend on ``n_threads``.
    """
    if n_threads <= 1 or len(tasks) <= 1:
        return [function(task) for task in tasks]
    with ThreadPoolExecutor(min(n_threads, len(tasks))) as pool:
        return list(pool.map(function, tasks))
