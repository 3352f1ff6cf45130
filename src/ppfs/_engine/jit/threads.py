"""Independent tasks on threads."""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from typing import TypeVar

Task = TypeVar("Task")
Answer = TypeVar("Answer")
State = TypeVar("State")

# Pools without work, by their number of threads. Starting the threads of a pool takes as long as some tasks.
_idle: dict[int, list[ThreadPoolExecutor]] = {}

if hasattr(os, "register_at_fork"):
    # A child process has none of the threads.
    os.register_at_fork(after_in_child=_idle.clear)


@contextmanager
def _pool(n_threads: int) -> Iterator[ThreadPoolExecutor]:
    """Lend a pool that nobody else uses meanwhile: a task may run tasks itself. All of them have ended afterwards."""
    idle = _idle.setdefault(n_threads, [])
    try:
        pool = idle.pop()
    except IndexError:
        pool = ThreadPoolExecutor(n_threads, "ppfs")
    try:
        yield pool
    except BaseException:
        pool.shutdown(cancel_futures=True)
        raise
    idle.append(pool)


def run_tasks(function: Callable[[Task], Answer], tasks: Sequence[Task], n_threads: int) -> list[Answer]:
    """Apply a function to every task and return the answers in the order of the tasks.

    Kernels release the GIL, so threads run in parallel without copies of the data. Each task writes to its own output,
    so the answers do not depend on ``n_threads``.
    """
    if n_threads <= 1 or len(tasks) <= 1:
        return [function(task) for task in tasks]
    with _pool(n_threads) as pool:
        return list(pool.map(function, tasks))


def run_chains(
    function: Callable[[State, Task], tuple[State, Answer]],
    starts: Sequence[State],
    tasks: Sequence[Task],
    n_threads: int,
) -> Iterator[list[Answer]]:
    """Apply a function to one task after the other, from several states: ``state, answer = function(state, task)``.

    Yields
    ------
    list of Answer
        The answers of all chains to the next task. Those to later tasks are computed meanwhile; what the caller does
        not ask for is given up.
    """
    if n_threads <= 1 or not starts or not tasks:
        states = list(starts)
        for task in tasks:
            done = [function(state, task) for state in states]
            states = [state for state, _ in done]
            yield [answer for _, answer in done]
        return

    def following(before: Future[tuple[State, Answer]], task: Task) -> tuple[State, Answer]:
        # Submitted, and so begun, before this one.
        return function(before.result()[0], task)

    with _pool(n_threads) as pool:
        running = [[pool.submit(function, state, tasks[0]) for state in starts]]
        for task in tasks[1:]:
            running.append([pool.submit(following, before, task) for before in running[-1]])
        try:
            for now in running:
                yield [one.result()[1] for one in now]
        except GeneratorExit:
            # What has begun is waited for.
            left = [one for some in running for one in some]
            wait([one for one in left if not one.cancel()])
