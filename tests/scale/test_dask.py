"""A real Dask cluster of two processes: the same answers, also when workers die."""

import mmap
import operator
import os
import platform

import numpy as np
import pandas as pd
import pytest
from checks.workers import Counted, deadly_model, page_faults, told
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from ppfs import PPFS
from ppfs._parallel import run_tasks
from ppfs.cli._app import app
from ppfs.cli._failures import run
from ppfs.exceptions import WorkerLostError

distributed = pytest.importorskip(
    "dask.distributed", reason="Dask is not installed: pip install 'ppfs[dask]'"
)

# Dask's own remarks about workers that come and go are not ours to judge.
pytestmark = pytest.mark.filterwarnings("default")

# `make test-scale` asks for all.
IN_FULL = os.environ.get("PPFS_SCALE") == "full"


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
        parallel_config(backend="dask"),
    ):
        yield client


def test_a_cluster_gives_the_same_answers(cluster, data, tmp_path):
    X, y = data
    np.save(tmp_path / "X.npy", X)
    for search in (
        PPFS(n_splits=5, random_state=0),
        PPFS(GaussianNB(), n_splits=5, random_state=0),
        PPFS.calibrated(LogisticRegression(), random_state=0),
    ):
        with parallel_config(backend="sequential"):
            expected = told(clone(search).fit(X, y))
        assert told(clone(search).fit(X, y)) == expected
        assert told(clone(search).fit(tmp_path / "X.npy", y)) == expected


# What sends a lost task again is the same in both.
@pytest.mark.parametrize("phase", ["growth", pytest.param("shrink", marks=pytest.mark.slow)])
def test_a_worker_that_dies_loses_nothing(cluster, data, tmp_path, phase):
    with parallel_config(backend="sequential"):
        expected = told(PPFS(GaussianNB(), n_splits=5, random_state=0).fit(*data))
    marker = tmp_path / "deaths"
    deadly = deadly_model(marker, widest=1 if phase == "growth" else 2)
    assert told(PPFS(deadly, n_splits=5, random_state=0).fit(*data)) == expected
    assert marker.stat().st_size == 1


def test_what_tasks_share_is_sent_once(cluster):
    Counted.n_sent = 0
    assert [*run_tasks(operator.mul, Counted(), range(20))] == [5 * item for item in range(20)]
    assert Counted.n_sent == 1


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the allocator is glibc's")
def test_workers_keep_memory_that_is_soon_wanted_again(cluster):
    n_pages = 100 * 2**16 * 8 // mmap.PAGESIZE
    assert max(run_tasks(page_faults, 2**16, range(4))) < n_pages / 10


def test_the_command_works_on_a_cluster(cluster, data, tmp_path, capsys):
    X, y = data
    pd.DataFrame(X).add_prefix("c").assign(y=y).to_csv(tmp_path / "X.csv", index=False)
    address = cluster.scheduler.address
    flags = ["--target", "y", "--estimator", "sklearn.naive_bayes:GaussianNB", "--quiet", "--format", "names"]
    names = []
    for more in ([], ["--cluster", address]):
        assert run(app, ["select", str(tmp_path / "X.csv"), *flags, *more]) == 0
        names.append(capsys.readouterr().out)
    assert names[0] == names[1] != ""


@pytest.mark.skipif(not IN_FULL, reason="starts many workers: make test-scale")
def test_columns_that_no_worker_survives_are_named(cluster, data, tmp_path):
    X, y = data
    deadly = deadly_model(tmp_path / "deaths", widest=1, times=100)
    with pytest.raises(WorkerLostError, match="the block of 1 columns 'x0'"):
        PPFS(deadly, n_splits=5, random_state=0).fit(X[:, :1], y)
