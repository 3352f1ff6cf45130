"""Forked copies of this process, for tasks that would wait for the interpreter's lock on threads."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import sys
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache
from math import isqrt
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Lock, Thread, current_thread, main_thread
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from joblib.parallel import get_active_backend

from ppfs._parallel.threads import MOST_THREADS_OF_PYTHON

if TYPE_CHECKING:
    from multiprocessing.context import ForkProcess

Task = TypeVar("Task")
Answer = TypeVar("Answer")

# To copy a process with some hundred megabytes takes 6 to 14 ms. Work of less seconds is left to threads.
_SECONDS_PER_FORK, _LEAST_SECONDS = 0.01, 0.2

# Two threads hardly wait for each other: no copies are made for two jobs. From so many on, each copy has two threads.
_FEWEST_JOBS, _JOBS_FOR_TWO_THREADS = 3, 8

# If no copy answers for so many seconds, and as long as so many tasks take, one may be waiting for a lock that another
# thread held when it was made.
_PATIENCE, _PATIENCE_IN_TASKS = 60.0, 20.0

#: In taller tables NumPy's steps take long, and other threads work meanwhile. Every copy would need much memory.
MOST_ROWS_FORKED = 50_000

# The option of Linux's prctl that says which signal a process gets when the one that made it ends.
_PR_SET_PDEATHSIG = 1

# Libraries that do not work in copies of a process, or warn about them.
_AGAINST = ("jax", "mpi4py", "ray", "tensorflow")


def can_fork(n_jobs: int, n_rows: int) -> bool:
    """Return whether tasks may be given to copies of this process: on Linux, where the caller chose no backend.

    They must neither run the caller's code nor read files, whose positions all copies share. Only the main thread of
    the main process makes copies. A worker of another library has its share of the cores.
    """
    return (
        n_jobs >= _FEWEST_JOBS
        and n_rows <= MOST_ROWS_FORKED
        and sys.platform == "linux"
        and hasattr(os, "fork")
        and getattr(sys, "_is_gil_enabled", lambda: True)()
        and current_thread() is main_thread()
        and parent_process() is None
        and not any(name in sys.modules for name in _AGAINST)
        and not _is_backend_chosen()
    )


def _is_backend_chosen() -> bool:
    """Return whether the caller chose a backend with joblib: what a task prefers makes no difference then."""
    preferring, otherwise = (type(get_active_backend(prefer=kind)[0]) for kind in ("threads", None))
    return preferring is otherwise


def run_python_tasks(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    n_jobs: int,
    on_threads: Callable[[Callable[[Task], Answer], Sequence[Task], int], Iterable[Answer]],
    *,
    are_forked: bool,
) -> Iterator[Answer]:
    """Yield ``function(task)`` for each task, in order: from copies of this process, or from threads if that is sooner.

    If there may be copies, the first task is done here, so that kernels are compiled, and the time that the others take
    is known.

    Parameters
    ----------
    on_threads : callable
        Does tasks on so many threads, in order.
    """
    others = tasks
    if are_forked and len(tasks) > 1:
        start = time.thread_time()
        yield function(tasks[0])
        seconds, others = time.thread_time() - start, tasks[1:]
        n_forks, n_threads = shape_of_forks(seconds * len(others), len(others), n_jobs)
        if n_forks:
            patience = _PATIENCE + _PATIENCE_IN_TASKS * seconds
            yield from forked_answers(function, others, n_forks, n_threads, patience)
            return
    yield from on_threads(function, others, min(n_jobs, MOST_THREADS_OF_PYTHON))


def shape_of_forks(seconds: float, n_tasks: int, n_jobs: int) -> tuple[int, int]:
    """Return how many copies with how many threads finish this work first; no copies if it is left to threads.

    Copies are made one after the other, and begin at once: k of them take about seconds / k + k / 2 forks.

    Examples
    --------
    >>> shape_of_forks(6.0, n_tasks=32, n_jobs=16)
    (8, 2)
    >>> shape_of_forks(0.1, n_tasks=32, n_jobs=16)
    (0, 0)
    """
    n_threads = 2 if n_jobs >= _JOBS_FOR_TWO_THREADS else 1
    n_forks = min(n_jobs // n_threads, n_tasks, isqrt(int(2.0 * seconds / n_threads / _SECONDS_PER_FORK)))
    return (n_forks, n_threads) if seconds >= _LEAST_SECONDS and n_forks > 1 else (0, 0)


def forked_answers(
    function: Callable[[Task], Answer],
    tasks: Sequence[Task],
    n_forks: int,
    n_threads: int,
    patience: float = _PATIENCE,
) -> Iterator[Answer]:
    """Yield ``function(task)`` for each task, in order.

    Copies of this process compute the answers and send them back. A copy ends where a task raises an error or a
    warning, or its answer cannot be sent. What the copies did not answer is computed here, as if there were none.
    """

    def answer(number: int) -> Answer:
        return function(tasks[number])

    copies: _Copies[Answer] = _Copies(answer, len(tasks), n_threads, patience)
    try:
        for _ in range(n_forks):
            copies.add()
        for number in range(len(tasks)):
            while copies.will_answer(number):
                copies.collect()
            yield copies.found.pop(number) if number in copies.found else answer(number)
    finally:
        copies.end()


class _Copies(Generic[Answer]):
    """Copies of this process that answer numbered tasks.

    Attributes
    ----------
    found : dict of int
        The answers by the numbers of their tasks, until they are taken.
    """

    def __init__(
        self, function: Callable[[int], Answer], n_tasks: int, n_threads: int, patience: float
    ) -> None:
        self.found: dict[int, Answer] = {}
        self._function, self._n_threads, self._patience = function, n_threads, patience
        self._left = deque(range(n_tasks))
        # The tasks of each copy, by this process's end of the pipe.
        self._doing: dict[Connection, set[int]] = {}
        self._ours: list[Connection] = []
        self._processes: list[ForkProcess] = []

    def add(self) -> None:
        """Make a copy, which begins at once; none if there is no memory for it."""
        _prctl()  # Loaded here: in a copy a lock may be held that loading needs.
        context = get_context("fork")
        mine, its = context.Pipe()
        self._ours.append(mine)
        process = context.Process(
            target=_work,
            args=(os.getpid(), its, self._ours, self._function, self._n_threads),
            daemon=True,
        )
        self._processes.append(process)
        try:
            with _undisturbed():
                process.start()
        except OSError:
            return
        finally:
            its.close()
        self._doing[mine] = set()
        for _ in range(self._n_threads):
            self._give(mine)

    def will_answer(self, number: int) -> bool:
        """Return whether a task is waited for: not if it is done, or if its copy has ended."""
        if number in self.found:
            return False
        return any(number in some for some in self._doing.values()) or bool(
            self._doing and number in self._left
        )

    def collect(self) -> None:
        """Wait for answers. If none comes, no copy is waited for any more."""
        ready = wait(list(self._doing), self._patience)
        if not ready:
            self._doing.clear()
        for copy in ready:
            assert isinstance(copy, Connection)
            try:
                number, answer = copy.recv()
            except (EOFError, OSError):
                del self._doing[copy]
                continue
            self.found[number] = answer
            self._doing[copy].remove(number)
            self._give(copy)

    def _give(self, copy: Connection) -> None:
        if self._left and copy in self._doing:
            try:
                copy.send(self._left[0])
            except OSError:
                del self._doing[copy]
            else:
                self._doing[copy].add(self._left.popleft())

    def end(self) -> None:
        """End all copies, whatever they are doing."""
        made = [process for process in self._processes if process.pid is not None]
        for process in made:
            process.kill()
        for process in made:
            process.join()
        for mine in self._ours:
            mine.close()


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Hold back signals, whose handlers are for this process only, and the warning about other threads."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    try:
        with warnings.catch_warnings():
            # Python 3.12 warns of locks that other threads may hold: see _PATIENCE.
            warnings.simplefilter("ignore", DeprecationWarning)
            yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)


def _work(
    original: int,
    its: Connection,
    ours: Sequence[Connection],
    function: Callable[[int], Any],
    n_threads: int,
) -> None:
    """Answer, in a copy, until the original is gone. Nothing of the original's is written, closed or removed here."""
    try:
        for mine in ours:
            mine.close()
        _follow(original)
        gc.freeze()
        with warnings.catch_warnings(record=True) as raised:
            arguments = its, function, raised, Lock(), Lock()
            for _ in range(n_threads - 1):
                Thread(target=_answer, args=arguments, daemon=True).start()
            _answer(*arguments)
    finally:
        os._exit(0)


@cache
def _prctl() -> Callable[..., int] | None:
    with suppress(OSError, AttributeError):
        return ctypes.CDLL(None).prctl
    return None


def _follow(original: int) -> None:
    """End with the original, and at once by any signal, except Ctrl-C: the original decides what that means."""
    prctl = _prctl()
    if prctl is not None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != original:
        os._exit(0)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _answer(
    its: Connection, function: Callable[[int], Any], raised: Sequence[Any], receiving: Lock, sending: Lock
) -> None:
    try:
        while True:
            with receiving:
                number = its.recv()
            answer = function(number)
            if raised:
                return
            with sending:
                its.send((number, answer))
    finally:
        os._exit(0)
