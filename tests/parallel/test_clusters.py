"""Clusters that only write down what they are asked for: how many tasks wait, what is shared, sent and canceled."""

import ctypes
import sys
from types import SimpleNamespace

import pytest
from joblib import parallel_config
from sklearn import config_context, get_config

from ppfs._parallel import allocator, run
from ppfs._parallel.cluster import Cluster
from ppfs._parallel.dask import DaskWorkers
from ppfs._parallel.ray import RayWorkers
from ppfs._parallel.run import count_workers, run_tasks, tasks_are_sent
from ppfs._parallel.shared import Shared, _kept, _last
from ppfs.exceptions import WorkerLostError


class Written(Cluster):
    """A cluster of two workers in this process."""

    lost = (MemoryError, OSError)
    gave_up = (OSError,)

    def __init__(self, backend=None):
        self.events = []
        self.left = []

    @classmethod
    def is_meant_by(cls, backend):
        return True

    def n_workers(self):
        return 2

    def share(self, value):
        self.events.append("share")
        return value

    def submit(self, function, handle, *arguments):
        self.events.append(f"submit {arguments[1]}")
        return lambda: function(handle, *arguments)

    def result(self, future):
        self.events.append("result")
        return future()

    def cancel(self, futures):
        self.left.append(len(list(futures)))


def added(shared, item):
    return shared + item


def test_three_tasks_per_worker_are_submitted_ahead():
    cluster = Written()
    results = cluster.results(added, 100, iter(range(9)))
    assert next(results) == 100
    assert cluster.events == ["share", *(f"submit {item}" for item in range(6)), "result"]
    assert next(results) == 101
    assert cluster.events[-2:] == ["submit 6", "result"]
    assert list(results) == list(range(102, 109))
    assert cluster.events.count("share") == 1
    assert cluster.left == [0]
    assert list(Written().results(added, 1, [])) == []


def test_tasks_that_are_not_needed_are_canceled():
    cluster = Written()
    results = cluster.results(added, 100, range(9))
    next(results)
    results.close()
    assert cluster.left == [5]
    failing = Written()
    with pytest.raises(TypeError):
        list(failing.results(added, None, range(9)))
    assert failing.left == [6]


def test_one_task_is_submitted_where_no_worker_is_there():
    cluster = Written()
    cluster.n_workers = lambda: 0
    assert list(cluster.results(added, 1, range(3))) == [1, 2, 3]
    assert cluster.events == [
        "share",
        *(f"{one}" for item in range(3) for one in (f"submit {item}", "result")),
    ]


def test_tasks_run_with_the_callers_configuration_of_scikit_learn():
    def seen(shared, item):
        return get_config()["assume_finite"]

    with config_context(assume_finite=True):
        results = Written().results(seen, None, [0])
        found = next(results)
    assert found
    assert not get_config()["assume_finite"]


@pytest.fixture
def cluster(monkeypatch):
    made = Written()
    monkeypatch.setattr(run, "_cluster", lambda: made)
    return made


def test_a_cluster_runs_the_tasks_with_all_of_its_workers(cluster):
    assert count_workers(1) == 2
    assert tasks_are_sent(1, None)
    assert list(run_tasks(added, 10, range(3), prepare=lambda item: item * 2)) == [10, 12, 14]


def test_after_a_loss_the_next_item_runs_alone(cluster):
    lost = []

    def work(shared, item):
        if item == 2 and len(lost) < 2:
            lost.append(item)
            raise MemoryError
        return item

    assert list(run_tasks(work, None, range(5))) == [0, 1, 2, 3, 4]
    submitted = [event for event in cluster.events if event.startswith("submit")]
    # All five, then the third alone twice, then the last two.
    assert submitted == [f"submit {item}" for item in (0, 1, 2, 3, 4, 2, 2, 3, 4)]


@pytest.mark.parametrize(("error", "n_tried"), [(MemoryError, 3), (OSError, 1)])
def test_an_item_that_no_worker_survives_is_given_up(cluster, error, n_tried):
    tried = []

    def work(shared, item):
        tried.append(item)
        raise error("no memory")

    said = rf"each of 3 times, with item 0\. The last it said: {error.__name__}: no memory\."
    with pytest.raises(WorkerLostError, match=said):
        list(run_tasks(work, None, range(3), describe=lambda item: f"item {item}"))
    assert tried == [0] * n_tried


def test_without_a_cluster_workers_are_counted_by_joblib():
    assert count_workers(None) == 1
    assert count_workers(3) == 3
    assert not tasks_are_sent(1, None)
    assert tasks_are_sent(2, None)
    assert not tasks_are_sent(2, "threads")
    with parallel_config(backend="threading", n_jobs=2):
        assert not tasks_are_sent(2, None)


def test_data_that_tasks_share_are_kept_once():
    before = list(_last)
    first = Shared([1])
    assert len(first._key) == 32
    assert first._key != Shared([1])._key
    make, arguments = first.__reduce__()
    assert make is _kept
    one, same = make(*arguments), make([1, 2], first._key)
    assert one is same
    assert one.value == [1]
    other = _kept("new", "another")
    assert _last == [other]
    assert _kept([3], first._key).value == [3]
    _last[:] = before


# Dask and Ray ------------------------------------------------------------------------------------------


class Client:
    def __init__(self, cores):
        self.cores = cores
        self.calls = []

    def ncores(self):
        return self.cores

    def __getattr__(self, name):
        def call(*arguments, **options):
            self.calls.append((name, arguments, options))
            return name, arguments[0]

        return call


@pytest.fixture
def dask(monkeypatch):
    killed = type("KilledWorker", (Exception,), {})
    monkeypatch.setitem(sys.modules, "distributed", SimpleNamespace(KilledWorker=killed))
    client = Client({"one": 2, "two": 3})
    return DaskWorkers(SimpleNamespace(client=client)), client


def test_dask_gets_shared_data_everywhere_and_large_blocks_directly(dask, monkeypatch):
    workers, client = dask
    assert workers.n_workers() == 5
    client.cores = {}
    assert workers.n_workers() == 1
    workers.share("data")
    assert client.calls.pop() == ("scatter", ("data",), {"broadcast": True, "hash": False})
    small, large = SimpleNamespace(nbytes=2**16), SimpleNamespace(nbytes=2**16 + 1)
    workers.submit(added, "handle", small, 5)
    name, (wrapped, *rest), options = client.calls.pop()
    assert (name, rest, options) == ("submit", ["handle", added, small, 5], {"pure": False})
    monkeypatch.setattr("ppfs._parallel.dask.keep_freed_memory", lambda: client.calls.append("kept"))
    assert wrapped(1, added, 2) == 3
    assert client.calls.pop() == "kept"
    workers.submit(added, "handle", large)
    assert client.calls[-2] == ("scatter", (large,), {"hash": False})
    assert client.calls[-1][1][3] == ("scatter", large)
    workers.cancel(iter([1, 2]))
    assert client.calls[-1] == ("cancel", ([1, 2],), {})
    assert workers.result(SimpleNamespace(result=lambda: 7)) == 7
    assert workers.gave_up[0] in workers.lost
    assert DaskWorkers.is_meant_by(type("DaskDistributedBackend", (), {})())
    assert not DaskWorkers.is_meant_by(object())


class Ray(SimpleNamespace):
    """What Ray is asked for."""

    def __init__(self, is_there):
        self.calls = []
        self.resources = {"CPU": 3.0}
        names = (
            "RayTaskError",
            "WorkerCrashedError",
            "OutOfMemoryError",
            "ObjectLostError",
            "OwnerDiedError",
        )
        kinds = {name: type(name, (Exception,), {}) for name in names}
        super().__init__(
            exceptions=SimpleNamespace(**kinds),
            is_initialized=lambda: is_there,
            init=lambda: self.calls.append("init"),
            cluster_resources=lambda: self.resources,
            put=lambda value: ("put", value),
            cancel=lambda future: self.calls.append(("cancel", future)),
        )

    def remote(self, **options):
        self.calls.append(options)

        def made(function):
            self.calls.append(("made", function))
            return SimpleNamespace(remote=lambda *arguments: ("task", arguments))

        return made

    def get(self, future):
        if isinstance(future, Exception):
            raise future
        return future


@pytest.mark.parametrize("is_there", [True, False])
def test_ray_is_started_where_it_is_not_and_gets_a_function_once(is_there, monkeypatch):
    ray = Ray(is_there)
    monkeypatch.setitem(sys.modules, "ray", ray)
    monkeypatch.setitem(sys.modules, "ray.exceptions", ray.exceptions)
    workers = RayWorkers(None)
    assert ray.calls == [*([] if is_there else ["init"]), {"max_retries": 2}]
    assert workers.n_workers() == 3
    ray.resources = {"CPU": 0.5}
    assert workers.n_workers() == 1
    ray.resources = {}
    assert workers.n_workers() == 1
    assert workers.share(5) == ("put", 5)
    assert workers.submit(added, "handle", 1) == workers.submit(added, "handle", 1) == ("task", ("handle", 1))
    assert ray.calls.count(("made", added)) == 1
    workers.cancel([7, 8])
    assert ray.calls[-2:] == [("cancel", 7), ("cancel", 8)]
    assert workers.result(9) == 9
    failed = ray.exceptions.RayTaskError()
    failed.cause = KeyError("inside")
    with pytest.raises(KeyError, match="inside"):
        workers.result(failed)
    lost = [error.__name__ for error in workers.lost]
    assert lost == [
        "WorkerCrashedError",
        "OutOfMemoryError",
        "ObjectLostError",
        "OwnerDiedError",
        "MemoryError",
    ]
    assert RayWorkers.is_meant_by(type("RayBackend", (), {})())
    assert not RayWorkers.is_meant_by(object())


# The allocator -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("is_set", [True, False])
def test_freed_memory_is_kept_where_dask_would_return_it(is_set, monkeypatch):
    calls = []
    monkeypatch.setattr(ctypes, "CDLL", lambda _: SimpleNamespace(mallopt=lambda *given: calls.append(given)))
    monkeypatch.delenv("MALLOC_TRIM_THRESHOLD_", raising=False)
    if is_set:
        monkeypatch.setenv("MALLOC_TRIM_THRESHOLD_", "65536")
    allocator.keep_freed_memory.__wrapped__()
    # M_MMAP_THRESHOLD and M_TRIM_THRESHOLD in malloc.h: 8 and 16 MiB.
    assert calls == ([(-3, 2**23), (-1, 2**24)] if is_set else [])
    for library in (SimpleNamespace(), None):
        monkeypatch.setattr(ctypes, "CDLL", lambda _, library=library: library)
        allocator.keep_freed_memory.__wrapped__()
