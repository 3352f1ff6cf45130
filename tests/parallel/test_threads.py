"""Compiled libraries take one thread while small models are fitted, and what they had before afterwards."""

import os
import subprocess
import sys
from threading import Thread

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from ppfs import PPFS, PPFSCV
from ppfs._parallel.threads import _controller, small_fits
from ppfs.blanket._run import base, conclusion
from ppfs.independence import PPI
from ppfs.wrappers import PermutationImportance, Stepwise


def threads_of(user_api):
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == user_api}


def blas_threads():
    return threads_of("blas")


@pytest.fixture(autouse=True)
def two_threads():
    if not blas_threads():
        pytest.skip("no library of linear algebra says how many threads it takes")
    with threadpool_limits(limits=2):
        if blas_threads() != {2}:
            pytest.skip("this build of linear algebra has one thread only")
        yield


class Watching(LogisticRegression):
    """A model that notes how many threads compiled libraries have while it is fitted and while it predicts."""

    seen = set()

    def fit(self, X, y, sample_weight=None):
        self.watch("fit")
        return super().fit(X, y, sample_weight)

    def predict(self, X):
        self.watch("predict")
        return super().predict(X)

    def predict_proba(self, X):
        self.watch("predict")
        return super().predict_proba(X)

    @staticmethod
    def watch(when):
        Watching.seen |= {(when, pool["user_api"], pool["num_threads"]) for pool in threadpool_info()}


ONE_EACH = {(when, api, 1) for when in ("fit", "predict") for api in ("blas", "openmp")}


def table():
    X = np.random.default_rng(0).normal(size=(60, 2))
    return X, X[:, 0] > 0


@pytest.mark.parametrize(
    "work",
    [
        lambda model, X, y: PPFS(model, n_splits=5, random_state=0).fit(X, y),
        lambda model, X, y: PPFSCV(model, cv=2, random_state=0).fit(X, y),
        lambda model, X, y: Stepwise(model, cv=2, random_state=0).fit(X, y),
        lambda model, X, y: PermutationImportance(model, random_state=0).fit(X, y),
        lambda model, X, y: PPI(model, n_splits=5, random_state=0).evaluate(X, y, 0),
    ],
    ids=["PPFS", "PPFSCV", "Stepwise", "PermutationImportance", "evaluate"],
)
def test_small_models_are_fitted_with_one_thread_and_the_setting_comes_back(work):
    Watching.seen = set()
    work(Watching(), *table())
    assert Watching.seen == ONE_EACH
    assert blas_threads() == threads_of("openmp") == {2}


WORKERS = """
import joblib, sys
sys.path.insert(0, {folder!r})
from test_threads import Watching, table
from ppfs import PPFS
for n_jobs in (1, 2):
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        PPFS(Watching(), n_splits=5, n_jobs=n_jobs, random_state=0).fit(*table())
print(sorted({{one for one in Watching.seen if one[1] == "openmp"}}))
"""


def test_models_that_are_fitted_in_threads_have_one_thread_each():
    """In a separate process: a thread starts with the number that the environment gave to the process."""
    environment = os.environ | {"OMP_NUM_THREADS": "2"}
    script = WORKERS.format(folder=os.path.dirname(__file__))
    told = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert told.stdout.strip() == str([("fit", "openmp", 1), ("predict", "openmp", 1)])


def test_many_rows_keep_the_threads_of_openmp():
    """Each of `n_jobs` threads is one of linear algebra, so that answers do not depend on the number of cores."""
    with small_fits(10_001):
        assert blas_threads() == {1}
        assert threads_of("openmp") == {2}
        with small_fits(10):
            assert blas_threads() == threads_of("openmp") == {1}
        assert threads_of("openmp") == {2}
    assert blas_threads() == {2}


def test_what_follows_a_search_has_one_thread_of_linear_algebra_too(monkeypatch):
    seen = {}
    for module, name in ((conclusion, "closest_members"), (base, "check_columns")):
        original = getattr(module, name)

        def watched(*some, original=original, name=name, **more):
            seen[name] = blas_threads()
            return original(*some, **more)

        monkeypatch.setattr(module, name, watched)
    PPFS(n_splits=5, random_state=0).fit(*table())
    assert seen == {"closest_members": {1}, "check_columns": {1}}
    assert blas_threads() == {2}


def test_the_setting_comes_back_after_an_error():
    with pytest.raises(ZeroDivisionError), small_fits(10):
        raise ZeroDivisionError
    assert blas_threads() == threads_of("openmp") == {2}
    with small_fits(10):
        assert blas_threads() == threads_of("openmp") == {1}


def test_other_threads_limit_what_is_theirs():
    """The number of linear algebra's threads is that of all threads, and so left alone."""
    seen = []

    def search():
        with threadpool_limits(limits=2, user_api="openmp"), small_fits(10):
            seen.append((blas_threads(), threads_of("openmp")))

    thread = Thread(target=search)
    thread.start()
    thread.join()
    assert seen == [({2}, {1})]


def test_a_limit_inside_another_changes_nothing():
    with small_fits(10):
        with small_fits(10):
            assert blas_threads() == threads_of("openmp") == {1}
        assert blas_threads() == threads_of("openmp") == {1}
    assert blas_threads() == threads_of("openmp") == {2}


def test_libraries_are_looked_for_again_only_when_a_module_came(monkeypatch):
    for _ in range(3):
        with small_fits(10):
            pass
    before = _controller.cache_info().misses
    with small_fits(10):
        assert blas_threads() == {1}
    assert _controller.cache_info().misses == before
    monkeypatch.setitem(sys.modules, "a_new_module", sys)
    with small_fits(10):
        assert blas_threads() == {1}
    assert _controller.cache_info().misses == before + 1
