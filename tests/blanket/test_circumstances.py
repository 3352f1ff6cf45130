"""Answers are used again only under the same circumstances, in memory and from a checkpoint."""

import importlib
import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import PredefinedSplit

from blanket.settings_pairs import PAIRS
from ppfs import PPFS
from ppfs.blanket._run import content
from ppfs.blanket._run.circumstances import Circumstances
from ppfs.blanket._run.content import _version
from ppfs.exceptions import CheckpointError
from ppfs.independence import PPI, FisherZ


def of(test):
    return Circumstances.of(test, entropy=0, n_folds=0)


@pytest.mark.parametrize("make", PAIRS.values(), ids=PAIRS)
def test_settings_that_differ_in_one_place_are_told_apart(make):
    assert of(make(False)).serves(of(make(False)))
    assert of(make(True)).serves(of(make(True)))
    assert not of(make(False)).serves(of(make(True)))
    assert not of(make(True)).serves(of(make(False)))


def test_there_are_at_least_fifty_pairs():
    assert len(PAIRS) >= 50


_PROGRAM = """
from blanket.settings_pairs import PAIRS
from ppfs.blanket._run.circumstances import Circumstances
for name, make in PAIRS.items():
    print(name, sorted(Circumstances.of(make(False), entropy=0, n_folds=0).described.items()))
"""


def test_another_process_describes_them_alike():
    """Whatever the addresses of objects and the order of sets are there."""
    tests = str(Path(__file__).parents[1])
    paths = os.pathsep.join([tests, os.environ.get("PYTHONPATH", "")])
    # Another order of sets than here.
    seed = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM], capture_output=True, text=True, check=True, env=environment
    )
    here = [f"{name} {sorted(of(make(False)).described.items())}" for name, make in PAIRS.items()]
    assert done.stdout.splitlines() == here


def test_a_module_that_a_function_imports_later_is_told_apart(tmp_path, monkeypatch):
    """Before it runs for the first time, and from a folder relative to that of the function."""
    monkeypatch.syspath_prepend(tmp_path)
    folder = tmp_path / "callers_package"
    folder.mkdir()
    (folder / "__init__.py").touch()
    loss = "def loss(truth, values):\n    from .later import BY\n    return BY * values\n"
    (folder / "losses.py").write_text(loss, encoding="utf-8")

    def described(by):
        (folder / "later.py").write_text(f"BY = {by}\n", encoding="utf-8")
        for name in [name for name in sys.modules if name.startswith("callers_package")]:
            del sys.modules[name]
        importlib.invalidate_caches()
        return of(PPI(loss=importlib.import_module("callers_package.losses").loss))

    assert described(1).serves(described(1))
    assert not described(1).serves(described(22))


def test_a_module_that_is_missing_or_fails_is_left_out(tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "callers_failing_module.py").write_text("1 / 0\n", encoding="utf-8")

    def loss(truth, values):
        import callers_failing_module
        import callers_missing_module

        return callers_failing_module, callers_missing_module

    circumstances = of(PPI(loss=loss))
    assert circumstances.serves(circumstances)


def test_functions_of_a_program_that_a_library_runs_are_told_apart(monkeypatch):
    """A profiler or a notebook server that is called with `python -m` leaves its own file in `__main__`."""
    monkeypatch.setattr(sys.modules["__main__"], "__file__", np.__file__, raising=False)
    monkeypatch.setattr(sys.modules["__main__"], "__version__", "1.0", raising=False)
    _version.cache_clear()

    def described(by):
        program = {"__name__": "__main__"}
        exec(f"def loss(truth, values):\n    return {by}", program)
        return of(PPI(loss=program["loss"]))

    assert not described(1).serves(described(2))


@pytest.mark.parametrize(
    "value",
    [threading.Lock(), (row for row in range(3)), sys.stdout, np.frompyfunc(abs, 1, 1)],
    ids=["lock", "generator", "open file", "ufunc of a function"],
)
def test_what_cannot_be_compared_serves_nothing(value):
    circumstances = of(PPI(LogisticRegression(), loss=lambda truth, values: value))
    assert circumstances.not_comparable.startswith("loss: ")
    assert not circumstances.serves(circumstances)


def test_a_nested_value_that_is_too_deep_serves_nothing():
    nested = []
    for _ in range(100_000):
        nested = [nested]
    circumstances = of(PPI(LogisticRegression(), loss=lambda truth, values: nested))
    assert "too deep" in circumstances.not_comparable


def test_the_seed_counts_only_where_something_is_drawn():
    assert Circumstances.of(FisherZ(), 1, 0).serves(Circumstances.of(FisherZ(), 2, 0))
    assert not Circumstances.of(FisherZ(), 1, 3).serves(Circumstances.of(FisherZ(), 2, 3))
    assert not Circumstances.of(PPI(), 1, 0).serves(Circumstances.of(PPI(), 2, 0))


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(1500, 2))
    return X, (X[:, 0] + generator.normal(size=1500) > 0).astype(int)


def folds(first):
    """Return six folds of 1,500 rows; the second one differs in the middle, which NumPy does not print."""
    numbers = np.arange(1500) % 6
    numbers[600:900] = numbers[600:900] if first else numbers[600:900][::-1]
    return PredefinedSplit(numbers)


def _settings(first):
    return {"n_splits": 30, "splitter": folds(first), "random_state": 0}


def test_folds_that_differ_in_the_middle_get_their_own_answers(data, tmp_path):
    expected = PPFS(LogisticRegression(), **_settings(False)).fit(*data).importances_
    selector = PPFS(LogisticRegression(), **_settings(True)).fit(*data)
    assert selector.importances_.tolist() != expected.tolist()
    assert selector.set_params(**_settings(False)).fit(*data).importances_.tolist() == expected.tolist()
    PPFS(LogisticRegression(), **_settings(True), checkpoint=tmp_path / "run").fit(*data)
    with pytest.raises(CheckpointError, match=r"test.splitter: PredefinedSplit with content"):
        PPFS(LogisticRegression(), **_settings(False), checkpoint=tmp_path / "run").fit(*data)


def _constant_model(probability):
    class Model(ClassifierMixin, BaseEstimator):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict_proba(self, X):
            ones = np.clip(probability + 0.1 * np.asarray(X)[:, 0], 0.01, 0.99)
            return np.column_stack([1 - ones, ones])

        def predict(self, X):
            return self.classes_[self.predict_proba(X).argmax(axis=1)]

    return Model()


def test_another_class_of_the_same_name_gets_its_own_answers(data, tmp_path):
    settings = {"n_splits": 6, "random_state": 0, "checkpoint": tmp_path / "run"}
    PPFS(_constant_model(0.5), **settings).fit(*data)
    assert PPFS(_constant_model(0.5), **settings).fit(*data).n_fits_ == 0
    with pytest.raises(CheckpointError, match=r"test.estimator: Model with content"):
        PPFS(_constant_model(0.4), **settings).fit(*data)


def test_a_function_can_be_compared_in_a_checkpoint(data, tmp_path):
    def search(by):
        return PPFS(
            LogisticRegression(),
            n_splits=6,
            random_state=0,
            checkpoint=tmp_path / "run",
            loss=lambda truth, values: by * (truth - values[:, 1]) ** 2,
        )

    search(1.0).fit(*data)
    assert search(1.0).fit(*data).n_fits_ == 0
    with pytest.raises(CheckpointError, match=r"test.loss: function with content"):
        search(2.0).fit(*data)


def test_the_parameter_of_an_estimator_is_named_alone(data, tmp_path):
    settings = {"n_splits": 6, "random_state": 0, "checkpoint": tmp_path / "run"}
    PPFS(LogisticRegression(), **settings).fit(*data)
    with pytest.raises(CheckpointError, match=r"differs: test.estimator__C: 1.0 there, 2.0 here\. Use"):
        PPFS(LogisticRegression(C=2.0), **settings).fit(*data)


def lying_in(folder):
    return os.path.join(sysconfig.get_path(folder), "made_up", "__init__.py")


@pytest.mark.parametrize(
    ("origin", "folders", "is_callers"),
    [
        (lying_in("stdlib"), None, False),
        (lying_in("purelib"), None, False),
        (lying_in("platlib"), None, False),
        (os.path.abspath("made_up.py"), None, True),
        (None, [os.path.abspath("made_up")], True),
        (None, [os.path.dirname(lying_in("purelib"))], False),
        ("built-in", None, False),
        (None, None, True),
    ],
)
def test_modules_outside_the_folders_of_libraries_are_the_callers(monkeypatch, origin, folders, is_callers):
    found = SimpleNamespace(origin=origin, submodule_search_locations=folders)
    monkeypatch.setattr(content, "find_spec", lambda top: found)
    assert content._is_callers("made_up_and_not_imported") is is_callers
    monkeypatch.setattr(content, "find_spec", lambda top: None)
    assert content._is_callers("made_up_and_not_imported") is False
