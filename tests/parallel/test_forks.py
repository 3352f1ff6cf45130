"""Copies of this process do tasks: the answers of one process, whatever happens to the copies, and none is left."""

import multiprocessing
import os
import signal
import subprocess
import sys
import time
import warnings
from threading import Thread

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.linear_model import LogisticRegression

from ppfs import PPFS
from ppfs._engine import run_tasks as run_threads
from ppfs._parallel import can_fork, forks, run_tasks
from ppfs._parallel.forks import forked_answers, run_python_tasks, shape_of_forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="processes are copied on Linux only")

ORIGINAL = os.getpid()


def is_copy():
    return os.getpid() != ORIGINAL


def spend(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end:
        pass


@pytest.fixture(autouse=True)
def nothing_is_left():
    """Workers of joblib may be there, from other tests."""
    before = set(children_of(os.getpid()))
    yield
    assert set(children_of(os.getpid())) <= before


@pytest.mark.parametrize(("n_forks", "n_threads"), [(2, 1), (3, 2), (20, 1)])
def test_answers_come_in_order_from_copies(n_forks, n_threads):
    def work(task):
        time.sleep(0.002 * (task % 3))
        return task**2, is_copy()

    expected = [(task**2, True) for task in range(12)]
    assert [*forked_answers(work, range(12), n_forks, n_threads)] == expected


def test_what_a_copy_changes_stays_there():
    done = []
    assert [*forked_answers(lambda task: done.append(task), range(4), 2, 1)] == [None] * 4
    assert done == []


@pytest.mark.parametrize("n_threads", [1, 2])
def test_what_dead_copies_had_is_done_here(n_threads):
    def work(task):
        if task in (1, 5) and is_copy():
            os.kill(os.getpid(), signal.SIGKILL)
        return task, is_copy()

    found = [*forked_answers(work, range(40), 4, n_threads)]
    assert [task for task, _ in found] == [*range(40)]
    assert not found[1][1]
    assert not found[5][1]
    assert sum(was_copy for _, was_copy in found) >= 30


def test_all_is_done_here_if_every_copy_dies():
    def work(task):
        if is_copy():
            os._exit(1)
        return task

    assert [*forked_answers(work, range(9), 3, 1)] == [*range(9)]


def test_answers_that_cannot_be_sent_are_computed_here():
    found = [*forked_answers(lambda task: lambda: task, range(5), 2, 1)]
    assert [answer() for answer in found] == [*range(5)]


def test_errors_are_raised_here_after_the_answers_before_them():
    def work(task):
        if task == 3:
            raise ValueError(is_copy())
        return task

    found = []
    with pytest.raises(ValueError, match="False"):
        found.extend(forked_answers(work, range(6), 2, 1))
    assert found == [0, 1, 2]


def test_warnings_are_raised_here():
    def work(task):
        if task == 2:
            warnings.warn("of a task", UserWarning, stacklevel=1)
        return task

    with pytest.warns(UserWarning, match="of a task") as seen:
        assert [*forked_answers(work, range(6), 2, 2)] == [*range(6)]
    assert len(seen) == 1


def test_copies_that_do_not_answer_are_not_waited_for():
    def work(task):
        if task == 1 and is_copy():
            time.sleep(60)
        return task

    assert [*forked_answers(work, range(6), 2, 1, patience=0.2)] == [*range(6)]


def test_copies_end_if_the_answers_are_not_read():
    answers = forked_answers(lambda task: task, range(100), 2, 1)
    assert next(answers) == 0
    answers.close()


def test_if_no_copy_can_be_made_everything_is_done_here(monkeypatch):
    def refuse(*_):
        raise OSError("no memory")

    monkeypatch.setattr(multiprocessing.context.ForkProcess, "start", refuse)
    assert [*forked_answers(lambda task: (task, is_copy()), range(3), 2, 1)] == [(i, False) for i in range(3)]


def test_handlers_of_signals_stay_with_the_original():
    seen = []
    before = signal.signal(signal.SIGTERM, lambda *_: seen.append(is_copy()))
    try:

        def work(task):
            os.kill(os.getpid(), signal.SIGINT)  # Ignored: the original decides.
            if task == 1 and is_copy():
                os.kill(os.getpid(), signal.SIGTERM)
                time.sleep(60)
            return is_copy()

        with pytest.raises(KeyboardInterrupt):
            [*forked_answers(work, range(3), 2, 1)]
        assert seen == []
    finally:
        signal.signal(signal.SIGTERM, before)


def test_short_work_is_left_to_threads():
    assert not any(run_python_tasks(lambda _: is_copy(), range(10), 4, run_threads, are_forked=True))


def test_longer_work_is_done_by_copies_except_the_first_task():
    def work(task):
        spend(0.04)
        return is_copy()

    assert [*run_python_tasks(work, range(10), 4, run_threads, are_forked=True)] == [False] + [True] * 9
    assert not any(run_python_tasks(work, range(10), 4, run_threads, are_forked=False))


def test_no_more_threads_are_used_than_are_of_use():
    used = []

    def noted(function, tasks, n_threads):
        used.append((len(tasks), n_threads))
        return map(function, tasks)

    for n_jobs, are_forked in ((3, False), (30, False), (30, True)):
        assert [*run_python_tasks(abs, range(5), n_jobs, noted, are_forked=are_forked)] == [*range(5)]
    assert used == [(5, 3), (5, 8), (4, 8)]


@pytest.mark.parametrize(
    ("seconds", "n_tasks", "n_jobs", "shape"),
    [
        (100.0, 100, 16, (8, 2)),
        (100.0, 100, 7, (7, 1)),
        (100.0, 3, 16, (3, 2)),
        (100.0, 100, 2, (2, 1)),
        (0.64, 100, 16, (8, 2)),
        (0.36, 100, 16, (6, 2)),
        (0.19, 100, 16, (0, 0)),
        (100.0, 1, 16, (0, 0)),
    ],
)
def test_the_number_of_copies_follows_the_work(seconds, n_tasks, n_jobs, shape):
    assert shape_of_forks(seconds, n_tasks, n_jobs) == shape


def test_copies_are_made_for_several_jobs_and_tables_that_are_not_tall():
    assert can_fork(3, 50_000)
    assert not can_fork(2, 100)
    assert not can_fork(4, 50_001)


@pytest.mark.parametrize("backend", ["threading", "loky", "multiprocessing"])
def test_a_backend_that_the_caller_chose_is_used(backend):
    with parallel_config(backend=backend):
        assert not can_fork(4, 100)


def test_other_threads_make_no_copies():
    seen = []
    thread = Thread(target=lambda: seen.append(can_fork(4, 100)))
    thread.start()
    thread.join()
    assert seen == [False]


def test_workers_of_other_libraries_make_no_copies():
    assert [*forked_answers(lambda _: can_fork(4, 100), range(2), 2, 1)] == [False, False]
    script = (
        "from joblib import Parallel, delayed; from ppfs._parallel import can_fork;"
        "print(Parallel(2)(delayed(can_fork)(4, 100) for _ in range(2)))"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[False, False]"


@pytest.mark.parametrize("name", ["jax", "mpi4py", "ray", "tensorflow"])
def test_no_copies_beside_libraries_that_do_not_survive_it(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, sys)
    assert not can_fork(4, 100)


def test_tasks_of_a_search_prepare_their_items_in_the_copies():
    def work(shared, item):
        spend(0.1)
        return shared + item[0], item[1]

    found = [
        *run_tasks(work, 10, range(6), n_jobs=4, are_forked=True, prepare=lambda item: (item, is_copy()))
    ]
    assert found == [(10 + item, item > 0) for item in range(6)]


def problem():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 20)).round(2)
    return X, (X[:, 0] + X[:, 1] + 0.5 * generator.normal(size=80) > 0).astype(int)


def answers_of(selector):
    return (
        selector.n_fits_,
        selector.blanket_.tolist(),
        selector.pvalues_.tobytes(),
        selector.importances_.tobytes(),
        selector.trace_.to_frame().to_string(),
        selector.trace_.notes,
    )


@pytest.mark.parametrize(
    "make",
    [
        lambda **more: PPFS.calibrated(**more),
        lambda **more: PPFS.calibrated(LogisticRegression(), growth="marginal", **more),
    ],
    ids=["panel", "logistic"],
)
def test_answers_fits_and_traces_are_those_of_one_process(make, monkeypatch):
    """However little there is to do, and however many copies do it."""
    n_forked = []

    def shape(seconds, n_tasks, n_jobs):
        n_forked.append(n_tasks)
        return {3: (0, 0), 4: (2, 1), 16: (3, 2)}[n_jobs]

    monkeypatch.setattr(forks, "shape_of_forks", shape)
    X, y = problem()
    alone = answers_of(make(random_state=0).fit(X, y))
    assert not n_forked
    assert answers_of(make(random_state=0, n_jobs=2).fit(X, y)) == alone
    assert not n_forked
    for n_jobs in (3, 4, 16):
        n_forked.clear()
        assert answers_of(make(random_state=0, n_jobs=n_jobs).fit(X, y)) == alone
        assert len(n_forked) > 1


INTERRUPTED = """
import sys, time
from ppfs._parallel.forks import forked_answers
def work(task):
    if not task:
        return task
    time.sleep(60)
for answer in forked_answers(work, range(8), 4, 2):
    print("begun", flush=True)
"""


def children_of(process):
    with open(f"/proc/{process}/task/{process}/children") as children:
        return [int(child) for child in children.read().split()]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_no_copy_outlives_an_interrupted_process(number):
    process = subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        text=True,
    )
    assert process.stdout.readline() == "begun\n"
    copies = children_of(process.pid)
    assert len(copies) == 4
    # As Ctrl-C in a terminal does, and as `kill` does.
    (os.killpg if number == signal.SIGINT else os.kill)(process.pid, number)
    said = process.communicate(timeout=30)[1]
    assert process.returncode == -number
    assert said.count("KeyboardInterrupt") == (number == signal.SIGINT)
    deadline = time.monotonic() + 30
    while any(is_running(copy) for copy in copies) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not any(is_running(copy) for copy in copies)


def is_running(process):
    try:
        with open(f"/proc/{process}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
