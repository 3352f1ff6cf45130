"""A real Dask cluster of two processes: the same answers, also when a worker dies."""

import os
import signal
import threading

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.naive_bayes import GaussianNB

from ppfs import PPFS

distributed = pytest.importorskip(
    "dask.distributed", reason="Dask is not installed: pip install 'ppfs[dask]'"
)

# Dask's own remarks about workers that come and go are not ours to judge.
pytestmark = pytest.mark.filterwarnings("default")


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, memory_limit=0
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(80, 24))
    y = (X[:, 3] + X[:, 7] + 0.5 * generator.normal(size=80) > 0).astype(int)
    return X, y


def _told(fitted):
    return fitted.blanket_.tolist(), fitted.pvalues_.tolist()


@pytest.mark.parametrize("estimator", [None, GaussianNB()], ids=["engine", "any model"])
def test_a_cluster_gives_the_same_answers(cluster, data, tmp_path, estimator):
    X, y = data
    expected = _told(PPFS(estimator, n_splits=5, random_state=0).fit(X, y))
    np.save(tmp_path / "X.npy", X)
    with parallel_config(backend="dask"):
        assert _told(PPFS(estimator, n_splits=5, random_state=0).fit(X, y)) == expected
        assert _told(PPFS(estimator, n_splits=5, random_state=0).fit(tmp_path / "X.npy", y)) == expected


def test_a_worker_that_dies_loses_nothing(cluster, data):
    X, y = data
    expected = _told(PPFS(GaussianNB(), n_splits=10, random_state=0).fit(X, y))
    first = next(iter(cluster.run(os.getpid).values()))
    timer = threading.Timer(0.3, os.kill, (first, signal.SIGKILL))
    timer.start()
    with parallel_config(backend="dask"):
        fitted = PPFS(GaussianNB(), n_splits=10, random_state=0).fit(X, y)
    timer.join()
    assert _told(fitted) == expected
