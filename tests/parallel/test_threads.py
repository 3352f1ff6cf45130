"""Linear algebra takes one thread while small models are fitted, and what it had before afterwards."""

import sys
from threading import Thread

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_info, threadpool_limits

from ppfs import PPFS
from ppfs._parallel.threads import _controller, small_fits


def blas_threads():
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two_threads():
    if not blas_threads():
        pytest.skip("no library of linear algebra says how many threads it takes")
    with threadpool_limits(limits=2, user_api="blas"):
        if blas_threads() != {2}:
            pytest.skip("this build of linear algebra has one thread only")
        yield


class Watching(LogisticRegression):
    """A model that notes how many threads it was fitted with."""

    seen = set()

    def fit(self, X, y, sample_weight=None):
        Watching.seen |= blas_threads()
        return super().fit(X, y, sample_weight)


def test_a_search_fits_small_models_with_one_thread_and_leaves_the_setting_alone():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    Watching.seen = set()
    PPFS(Watching(), n_splits=5, random_state=0).fit(X, X[:, 0] > 0)
    assert Watching.seen == {1}
    assert blas_threads() == {2}


def test_many_rows_keep_their_threads():
    with small_fits(10_001):
        assert blas_threads() == {2}


def test_the_setting_comes_back_after_an_error():
    with pytest.raises(ZeroDivisionError), small_fits(10):
        raise ZeroDivisionError
    assert blas_threads() == {2}


def test_other_threads_leave_the_setting_alone():
    seen = []

    def search():
        with small_fits(10):
            seen.append(blas_threads())

    thread = Thread(target=search)
    thread.start()
    thread.join()
    assert seen == [{2}]


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
