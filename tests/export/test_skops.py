"""skops stores fitted selectors without pickle."""

import importlib

import numpy as np
import pytest
from checks.searches import every_search
from checks.targets import TargetCase, every_target
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB

from ppfs import PPFS
from ppfs.blanket import FBED
from ppfs.exceptions import InvalidInputError
from ppfs.export import TRUSTED_TYPES, skops_types
from ppfs.independence import TESTS_BY_NAME

io = pytest.importorskip("skops.io", exc_type=ImportError)


@pytest.mark.parametrize(
    "selector",
    [
        PPFS(n_splits=5, random_state=0),
        PPFS.calibrated(random_state=0),
        PPFS(RandomForestClassifier(5), n_splits=5, random_state=0),
        FBED(),
    ],
    ids=["tree", "calibrated", "forest", "FBED"],
)
def test_a_selector_comes_back(selector):
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector.fit(X, y)
    stored = io.dumps(selector)
    loaded = io.loads(stored, trusted=skops_types(stored))
    assert loaded.blanket_.tolist() == selector.blanket_.tolist()
    assert np.array_equal(loaded.transform(X), selector.transform(X))
    assert loaded.trace_.explain(0) == selector.trace_.explain(0)


def test_a_selector_that_warned_of_a_column_comes_back():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    selector = PPFS(GaussianNB(), n_splits=5, random_state=0).fit(X, X[:, 0] > 0)
    assert [one.kind for one in selector.warnings_] == ["leakage"]
    stored = io.dumps(selector)
    assert io.loads(stored, trusted=skops_types(stored)).warnings_ == selector.warnings_


def test_a_selector_comes_back_with_what_was_asked_after_the_search():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    selector = PPFS.calibrated(confirm=0.3, random_state=0).fit(X, X[:, 0] + rng.normal(size=120))
    assert selector.sufficiency_.in_short in selector.trace_.explain(0)
    selector.at_least()
    stored = io.dumps(selector)
    loaded = io.loads(stored, trusted=skops_types(stored))
    assert loaded.trace_.explain(0) == selector.trace_.explain(0)
    assert repr(loaded.sufficiency_) == repr(selector.sufficiency_)


@every_target
def test_a_selector_of_every_kind_of_target_consists_of_trusted_types(case: TargetCase):
    selector = PPFS.calibrated(random_state=0, task=case.task).fit(case.X, case.y, **case.rows)
    stored = io.dumps(selector)
    loaded = io.loads(stored, trusted=skops_types(stored))
    assert np.array_equal(loaded.transform(case.X), selector.transform(case.X), equal_nan=True)


class Foreign:
    """A type that ppfs does not have."""


def test_types_of_others_are_named():
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = PPFS(n_splits=5, random_state=0).fit(X, y)
    selector.more_ = Foreign()
    with pytest.raises(InvalidInputError, match=r"not in ppfs\.export\.TRUSTED_TYPES: .*Foreign"):
        skops_types(io.dumps(selector))


@pytest.mark.parametrize("name", TRUSTED_TYPES)
def test_the_trusted_types_exist_and_have_no_way_of_their_own_to_be_loaded(name):
    """skops sets attributes; only `__setstate__` and `__reduce__` of a type would run code of it."""
    module, _, attribute = name.rpartition(".")
    found = getattr(importlib.import_module(module), attribute)
    assert isinstance(found, type)
    if name.startswith("ppfs."):
        assert {"__reduce__", "__reduce_ex__"}.isdisjoint(vars(found))


def test_every_independence_test_is_trusted():
    names = {f"{test.__module__}.{test.__qualname__}" for test in TESTS_BY_NAME.values()}
    assert names - set(TRUSTED_TYPES) == set()


@every_search
def test_every_search_consists_of_trusted_types(search):
    X, _ = load_iris(return_X_y=True)
    selector = search().fit(X[:, :3], X[:, 3])
    stored = io.dumps(selector)
    assert io.loads(stored, trusted=skops_types(stored)).support_.tolist() == selector.support_.tolist()


def test_a_function_of_the_library_is_not_trusted():
    """A file can name anything: what is not in the list is refused, also if it is in this library."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    selector = PPFS(n_splits=5, random_state=0).fit(X, y)
    selector.more_ = skops_types
    with pytest.raises(InvalidInputError, match=r"not in ppfs\.export\.TRUSTED_TYPES: .*skops_types"):
        skops_types(io.dumps(selector))
