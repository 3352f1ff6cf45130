"""Run tasks and yield their results in order; tasks of a lost worker are run again."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeVar

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from ppfs._parallel.cluster import Cluster
from ppfs._parallel.dask import DaskWorkers
from ppfs._parallel.local import ForkedWorkers, LocalWorkers
from ppfs._parallel.ray import RayWorkers
from ppfs._parallel.workers import Workers
from ppfs.exceptions import WorkerLostError

Item = TypeVar("Item")

# How often a task is tried if its worker dies.
_TRIES = 3


def run_tasks(
    function: Callable[[Any, Any], Any],
    shared: Any,
    items: Sequence[Item],
    *,
    n_jobs: int | None = None,
    prefer: Literal["threads"] | None = None,
    are_forked: bool = False,
    prepare: Callable[[Item], Any] = lambda item: item,
    describe: Callable[[Item], str] = str,
) -> Iterator[Any]:
    """Call ``function(shared, prepare(item))`` for each item and yield the results in order.

    Parameters
    ----------
    function : callable
        A function of a module, so that it can be sent.

    shared : object
        The data that all tasks need. On a cluster it is sent once to each machine or worker, not once per task.

    items : sequence
        What to work on.

    n_jobs : int or None
        As for joblib; a cluster uses all of its workers.

    prefer : {"threads", None}
        What to run on if the caller chose no backend.

    are_forked : bool
        Whether copies of this process may do the tasks: see `can_fork`.

    prepare : callable
        Converts an item to what is sent, when its turn comes, so that not all blocks of columns are in memory at once.

    describe : callable
        Returns what an item is, for the error message.

    Raises
    ------
    WorkerLostError
        If the same task lost its worker three times.
    """
    workers: Workers = _cluster() or LocalWorkers(n_jobs, prefer)
    if are_forked and n_jobs is not None:
        workers = ForkedWorkers(n_jobs)
        # Copies have all items, and prepare their own.
        function, prepare = _preparing(function, prepare), lambda item: item
    done = tries = 0
    while done < len(items):
        # After a loss the next item runs alone: if its worker is lost again, this item is the cause.
        some = items[done : done + 1] if tries else items[done:]
        try:
            for result in workers.results(function, shared, map(prepare, some)):
                yield result
                done, tries = done + 1, 0
        except workers.lost as error:
            tries += 1
            if tries == _TRIES or isinstance(error, workers.gave_up):
                raise WorkerLostError(
                    f"The worker died or ran out of memory, each of {_TRIES} times, with {describe(items[done])}. "
                    f"The last it said: {type(error).__name__}: {error}. Give workers more memory, or fewer to a "
                    "machine. What was answered before is kept where a checkpoint was given."
                ) from error


def _preparing(
    function: Callable[[Any, Any], Any], prepare: Callable[[Any], Any]
) -> Callable[[Any, Any], Any]:
    """Return a function that prepares its item."""
    return lambda shared, item: function(shared, prepare(item))


def count_workers(n_jobs: int | None) -> int:
    """Return how many tasks run at once; a cluster uses all the workers it has."""
    cluster = _cluster()
    return int(effective_n_jobs(n_jobs)) if cluster is None else cluster.n_workers()


def tasks_are_sent(n_workers: int, prefer: Literal["threads"] | None) -> bool:
    """Return whether tasks are sent to other processes, which has a cost per task."""
    if _cluster() is not None:
        return True
    backend, _ = get_active_backend(prefer=prefer)
    return n_workers > 1 and not getattr(backend, "supports_sharedmem", False)


def _cluster() -> Cluster | None:
    """Return the cluster that the caller chose with ``joblib.parallel_config``."""
    backend, _ = get_active_backend()
    clusters: tuple[type[Cluster], ...] = (DaskWorkers, RayWorkers)
    return next((cluster(backend) for cluster in clusters if cluster.is_meant_by(backend)), None)
