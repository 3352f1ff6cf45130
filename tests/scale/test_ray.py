"""A real Ray of two worker processes: the same answers, also when workers die."""

import operator
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from checks.workers import Counted, deadly_model, told
from joblib import parallel_config
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

from ppfs import PPFS
from ppfs._parallel import run_tasks
from ppfs.exceptions import EstimatorFailedError, WorkerLostError

ray = pytest.importorskip("ray", reason="Ray is not installed: pip install 'ppfs[ray]'")

# Ray's own remarks are not ours to judge.
pytestmark = pytest.mark.filterwarnings("default")

# `make test-scale` asks for all.
IN_FULL = os.environ.get("PPFS_SCALE") == "full"


@pytest.fixture(scope="module")
def cluster():
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=2**27)
    register_ray()
    with parallel_config(backend="ray"):
        yield
    ray.shutdown()


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


@pytest.mark.parametrize("phase", ["growth", "shrink"])
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


@pytest.mark.skipif(not IN_FULL, reason="starts a Ray of its own: make test-scale")
def test_the_command_works_on_a_ray_of_its_own(data, tmp_path):
    X, y = data
    pd.DataFrame(X).add_prefix("c").assign(y=y).to_csv(tmp_path / "X.csv", index=False)
    command = [sys.executable, "-m", "ppfs", "select", str(tmp_path / "X.csv"), "--target", "y", "--quiet"]
    command += ["--estimator", "sklearn.naive_bayes:GaussianNB", "--format", "names"]
    names = []
    for more in ([], ["--cluster", "ray"]):
        done = subprocess.run([*command, *more], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        names.append(done.stdout)
    assert names[0] == names[1] != ""


@pytest.mark.skipif(not IN_FULL, reason="starts many workers: make test-scale")
def test_columns_that_no_worker_survives_are_named(cluster, data, tmp_path):
    X, y = data
    deadly = deadly_model(tmp_path / "deaths", widest=1, times=100)
    with pytest.raises(WorkerLostError, match="the block of 1 columns 'x0'"):
        PPFS(deadly, n_splits=5, random_state=0).fit(X[:, :1], y)


def test_errors_of_a_model_come_as_they_are(cluster, data):
    X, y = data
    with pytest.raises(EstimatorFailedError, match="failed on 'x0'"):
        PPFS(GaussianNB(priors=[0.7, 0.7]), n_splits=5, random_state=0).fit(X, y)
