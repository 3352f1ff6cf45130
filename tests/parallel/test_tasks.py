"""Work that its worker did not survive is done again, and in the end blamed on what was worked on."""

import os
import signal
from concurrent.futures import BrokenExecutor

import pytest
from joblib import parallel_config

from ppfs._parallel import run_tasks
from ppfs.exceptions import WorkerLostError


def _deadly(marks, how):
    """Return a task that is the end of its process the first time, or each time, that it sees the item 3."""

    def work(shared, item):
        if item == 3 and not (how == "once" and (marks / "dead").exists()):
            (marks / "dead").touch()
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        return shared + item

    return work


def test_results_come_in_the_order_of_the_items():
    with parallel_config(backend="threading", n_jobs=2):
        assert [*run_tasks(lambda shared, item: shared + item, 10, range(20), n_jobs=2)] == [*range(10, 30)]


def test_a_backend_without_generators_works_too():
    with parallel_config(backend="multiprocessing", n_jobs=2):
        assert [*run_tasks(divmod, 7, [2, 3], n_jobs=2)] == [(3, 1), (2, 1)]


def test_what_a_dead_worker_had_is_done_again(tmp_path):
    with parallel_config(backend="loky", n_jobs=2):
        assert [*run_tasks(_deadly(tmp_path, "once"), 10, range(6), n_jobs=2)] == [*range(10, 16)]
    assert (tmp_path / "dead").exists()


def test_work_that_no_worker_survives_is_named(tmp_path):
    results = run_tasks(
        _deadly(tmp_path, "always"), 10, range(6), n_jobs=2, describe=lambda item: f"number {item}"
    )
    with (
        parallel_config(backend="loky", n_jobs=2),
        pytest.raises(WorkerLostError, match="3 times, with number 3") as failed,
    ):
        assert [*results] == []
    assert isinstance(failed.value.__cause__, BrokenExecutor)


def test_work_that_ran_out_of_memory_is_tried_again():
    tried = []

    def work(shared, item):
        tried.append(item)
        if item == 1 and tried.count(1) < 3:
            raise MemoryError
        return item

    assert [*run_tasks(work, None, [0, 1, 2])] == [0, 1, 2]


def test_work_that_always_runs_out_of_memory_is_named():
    def work(shared, item):
        raise MemoryError

    with pytest.raises(WorkerLostError, match=r"with the table.*MemoryError"):
        [*run_tasks(work, None, [1], describe=lambda _: "the table")]


def test_other_errors_are_passed_on_at_once():
    tried = []

    def work(shared, item):
        tried.append(item)
        raise KeyError(item)

    with pytest.raises(KeyError):
        [*run_tasks(work, None, [0, 1])]
    assert tried == [0]


def test_what_a_task_prepares_in_what_is_shared_serves_the_next_task_of_its_process():
    """A forest's bootstrap samples, say, are drawn once per process and not once per block."""

    def work(shared, item):
        shared.append(item)
        return os.getpid(), len(shared)

    with parallel_config(backend="loky", n_jobs=2):
        for _ in range(2):  # A second search starts with what it was given.
            found = [*run_tasks(work, [], range(8), n_jobs=2)]
            for process in {process for process, _ in found}:
                counts = [count for own, count in found if own == process]
                assert sorted(counts) == [*range(1, len(counts) + 1)]
