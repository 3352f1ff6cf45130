"""A fit is there as a whole or not at all: it is made to fail at every stage, and run in two threads."""

import inspect
import sys
import threading
from copy import deepcopy
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

import ppfs
from ppfs import PPFS
from ppfs.blanket import FBED, IAMB, MMMB, SGAI, StabilitySelection, TIEStar
from ppfs.compat import PPIMBR
from ppfs.exceptions import StratificationWarning, UnreachableAlphaWarning
from ppfs.independence import FisherZ
from ppfs.wrappers import PermutationImportance, Stepwise

PACKAGE = str(Path(ppfs.__file__).parent)

SELECTORS = {
    "PPFS": PPFS(independence=FisherZ(), n_folds=2, random_state=0),
    "PPFS with models": PPFS(LinearRegression(), n_splits=5, alpha=0.2, random_state=0),
    "IAMB": IAMB(independence=FisherZ(), random_state=0),
    "FBED": FBED(independence=FisherZ(), random_state=0),
    "MMMB": MMMB(independence=FisherZ(), random_state=0),
    "TIEStar": TIEStar(independence=FisherZ(), random_state=0),
    "SGAI": SGAI(independence=FisherZ(), random_state=0),
    "Stepwise": Stepwise(LinearRegression(), cv=2, random_state=0),
    "PermutationImportance": PermutationImportance(LinearRegression(), n_repeats=2, random_state=0),
    "PPIMBR": PPIMBR(LinearRegression(), num_simul=5, p_val_thresh=0.2, random_state=0, n_jobs=1, verbose=0),
}


def problem(n_columns: int, seed: int):
    X = np.random.default_rng(seed).normal(size=(40, n_columns))
    names = [f"{'abc'[seed]}{j}" for j in range(n_columns)]
    return pd.DataFrame(X, columns=names), X[:, 0] + X[:, 1]


class Injected(BaseException):
    """Not an error of anyone: like an interrupt, it may come at any call."""


class _FailAt:
    """Raise when the package's functions have been called so many times; count the calls."""

    def __init__(self, call: int) -> None:
        self._call = call
        self.n_calls = 0

    def __call__(self, frame, event, argument):
        code = frame.f_code
        # A generator is called once more when it is thrown away, where no error can be raised.
        if (
            event == "call"
            and code.co_filename.startswith(PACKAGE)
            and not code.co_flags & inspect.CO_GENERATOR
        ):
            self.n_calls += 1
            if self.n_calls == self._call:
                sys.setprofile(None)
                raise Injected

    def fit(self, selector, X, y):
        sys.setprofile(self)
        try:
            selector.fit(X, y)
        finally:
            sys.setprofile(None)


def fitted_state(selector) -> dict:
    return {name: id(value) for name, value in vars(selector).items() if name.endswith("_")}


@cache
def stages(name: str) -> list[int]:
    """Return some two dozen calls of a fit at which to fail: the first, the last and some in between."""
    selector, data = SELECTORS[name], problem(4, seed=1)
    for _ in range(2):
        clone(selector).fit(*data)  # Fills what is kept for the whole process.
    counter = _FailAt(0)
    counter.fit(clone(selector), *data)
    n_calls = counter.n_calls
    return sorted({*np.linspace(1, n_calls, 20).astype(int).tolist(), *range(n_calls - 5, n_calls)})


@pytest.mark.parametrize("name", SELECTORS)
def test_a_refit_that_fails_leaves_the_old_fit_whole(name):
    old, new = problem(3, seed=0), problem(4, seed=1)
    fitted = clone(SELECTORS[name]).fit(*old)
    for stage in stages(name):
        # A new selector: one that was refitted before knows answers, and makes fewer calls.
        selector = deepcopy(fitted)
        before, selected = fitted_state(selector), selector.transform(old[0])
        with pytest.raises(Injected):
            _FailAt(stage).fit(selector, *new)
        assert fitted_state(selector) == before, stage
        np.testing.assert_array_equal(selector.transform(old[0]), selected)
    selector.fit(*new)
    assert selector.n_features_in_ == 4


@pytest.mark.parametrize("name", SELECTORS)
def test_a_first_fit_that_fails_leaves_the_object_unfitted(name):
    X, y = problem(4, seed=1)
    for stage in stages(name):
        selector = clone(SELECTORS[name])
        with pytest.raises(Injected):
            _FailAt(stage).fit(selector, X, y)
        assert fitted_state(selector) == {}, stage
        with pytest.raises(NotFittedError):
            selector.transform(X)


def test_attributes_of_an_older_fit_do_not_survive_a_new_one():
    selector = PPFS(independence=FisherZ(), random_state=0)
    frame, y = problem(3, seed=0)
    assert selector.fit(frame, y).feature_names_in_.tolist() == ["a0", "a1", "a2"]
    selector.fit(frame.to_numpy(), y)
    assert not hasattr(selector, "feature_names_in_")


@pytest.mark.parametrize("name", SELECTORS)
def test_two_threads_on_one_object_leave_one_fit_of_the_two(name):
    selector = clone(SELECTORS[name])
    narrow, wide = problem(3, seed=0), problem(8, seed=1)
    both_ready = threading.Barrier(2)

    def fit(data):
        both_ready.wait()
        for _ in range(3):
            selector.fit(*data)

    threads = [threading.Thread(target=fit, args=(data,)) for data in (narrow, wide)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    X = narrow[0] if selector.n_features_in_ == 3 else wide[0]
    assert selector.feature_names_in_.tolist() == list(X.columns)
    assert selector.transform(X).shape[0] == 40
    if hasattr(selector, "support_"):
        assert selector.support_.shape == (selector.n_features_in_,)


def test_warnings_of_a_fit_point_at_the_call():
    X, y = problem(3, seed=0)
    with pytest.warns(UnreachableAlphaWarning) as told:
        PPFS(LinearRegression(), n_splits=5, alpha=1e-4, random_state=0).fit(X, y)
    assert told[0].filename == __file__


@pytest.mark.parametrize(
    "search", [PPFS(n_splits=5, random_state=0), StabilitySelection(PPFS(n_splits=5), n_pairs=1)]
)
def test_warnings_from_deep_inside_point_at_the_call_too(search):
    """Of the splits, and of searches that another one starts."""
    X, _ = problem(3, seed=0)
    y = np.repeat(["a", "b", "c"], [len(X) // 2, len(X) - len(X) // 2 - 1, 1])
    with pytest.warns(StratificationWarning) as told:
        search.fit(X, y)
    assert {one.filename for one in told} == {__file__}
