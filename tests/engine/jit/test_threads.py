"""Tasks and chains of tasks on threads: the answers of one thread, in the same order."""

import os
import time
from threading import Event, active_count

import pytest

from ppfs._engine.jit.threads import run_chains, run_tasks


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_answers_are_in_the_order_of_the_tasks(n_threads):
    assert run_tasks(lambda task: task**2, range(7), n_threads) == [task**2 for task in range(7)]


@pytest.mark.parametrize("n_threads", [1, 2, 3, 8])
def test_every_chain_goes_through_the_tasks_in_their_order(n_threads):
    def step(state, task):
        time.sleep(0.001 * ((state + task) % 3))
        return 10 * state + task, (state, task)

    answers = list(run_chains(step, [1, 2, 3], [4, 5], n_threads))
    assert answers == [[(1, 4), (2, 4), (3, 4)], [(14, 5), (24, 5), (34, 5)]]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_without_chains_every_task_has_no_answers(n_threads):
    assert list(run_chains(lambda state, task: (state, task), [], [1, 2], n_threads)) == [[], []]


def test_later_tasks_run_while_the_caller_looks_at_the_first():
    later = Event()

    def step(state, task):
        if task:
            later.set()
        return state, task

    chains = run_chains(step, [0], [0, 1], n_threads=2)
    assert next(chains) == [0]
    assert later.wait(10)
    assert next(chains) == [1]


def test_what_nobody_asks_for_is_given_up():
    done = []

    def step(state, task):
        time.sleep(0.01)
        done.append(task)
        return state, task

    chains = run_chains(step, [0, 0], list(range(100)), n_threads=2)
    next(chains)
    chains.close()
    n_done = len(done)
    assert n_done < 20
    time.sleep(0.05)
    assert len(done) == n_done


def test_errors_of_a_chain_are_raised():
    def step(state, task):
        return state, 1 // (task - 1)

    chains = run_chains(step, [0], [0, 1, 2], n_threads=2)
    assert next(chains) == [-1]
    with pytest.raises(ZeroDivisionError):
        next(chains)


def test_tasks_may_run_tasks_and_threads_are_used_again():
    def outer(number):
        return run_tasks(lambda task: (number, task), range(3), 2)

    expected = [[(number, task) for task in range(3)] for number in range(4)]
    assert run_tasks(outer, range(4), 2) == expected
    n_threads = active_count()
    assert run_tasks(outer, range(4), 2) == expected
    assert active_count() <= n_threads


def test_tasks_after_a_failed_one_are_given_up_before_the_error_is_raised():
    done = []

    def task(number):
        time.sleep(0.01)
        if not number:
            raise ValueError("first")
        done.append(number)

    with pytest.raises(ValueError, match="first"):
        run_tasks(task, range(100), 2)
    n_done = len(done)
    assert n_done < 20
    time.sleep(0.05)
    assert len(done) == n_done
    assert run_tasks(abs, [-1, -2], 2) == [1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")
def test_a_forked_process_starts_threads_of_its_own():
    run_tasks(abs, [-1, -2], 2)
    child = os.fork()
    if not child:
        os._exit(run_tasks(abs, [-1, -2], 2) != [1, 2])
    assert os.waitpid(child, 0)[1] == 0
