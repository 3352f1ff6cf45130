"""Private parts of scikit-learn: without them, models are fitted through its interface, with the same answers."""

import sys

import numpy as np
import pytest
import sklearn
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import (
    BaggingClassifier,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    StackingClassifier,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from ppfs import PPFS
from ppfs._conventions.sklearn_compat import (
    can_predict,
    method_of_bins,
    scales_in_input_type,
    separates_missing_from_one_value,
)
from ppfs.independence._predictive.risks import boosting, forests
from ppfs.wrappers import PermutationImportance, _shuffled_machine


@pytest.fixture
def rows():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::4, [0, 5, 9, 11, 14]], y[::4]


@pytest.mark.parametrize(
    ("model", "module", "name", "missing"),
    [
        (HistGradientBoostingClassifier(max_iter=5), boosting, "method_of_bins", None),
        (RandomForestClassifier(5), forests, "can_repeat_draws", False),
        (BaggingClassifier(n_estimators=5), forests, "can_repeat_draws", False),
    ],
    ids=["bins of boosting", "draws of forests", "draws of bags"],
)
def test_a_model_whose_private_part_is_missing_is_fitted_by_scikit_learn(
    model, module, name, missing, rows, monkeypatch
):
    search = PPFS(model, n_splits=6, random_state=0)
    by_engine = search.fit(*rows).trace_.to_frame()
    assert any("by the engine" in note for note in search.trace_.notes)
    monkeypatch.setattr(module, name, lambda: missing)
    by_scikit_learn = search.fit(*rows).trace_.to_frame()
    assert any("this version of scikit-learn" in note for note in search.trace_.notes)
    alone = by_engine["given"].str.len() == 0
    np.testing.assert_allclose(
        by_scikit_learn["pvalue"][alone], by_engine["pvalue"][alone], rtol=1e-6, atol=1e-9
    )


def test_functions_that_draw_rows_are_looked_for(monkeypatch):
    from ppfs._conventions.sklearn_compat import can_repeat_draws

    assert can_repeat_draws()
    can_repeat_draws.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.ensemble._forest", None)
    assert not can_repeat_draws()
    can_repeat_draws.cache_clear()


def test_a_machine_whose_gamma_is_not_found_is_asked_for_all_rows(rows, monkeypatch):
    importance = PermutationImportance(SVC(), n_repeats=3, random_state=0)
    quick = importance.fit(*rows).importances_
    monkeypatch.setattr(_shuffled_machine, "gamma_of", lambda _machine: None)
    assert _shuffled_machine.ShuffledMachine.of(SVC(random_state=0).fit(*rows), rows[0]) is None
    np.testing.assert_allclose(importance.fit(*rows).importances_, quick, rtol=0, atol=1e-9)


def test_bins_are_found_as_the_installed_version_finds_them():
    X = np.random.default_rng(0).normal(size=(4000, 1))
    model = HistGradientBoostingRegressor(
        max_iter=1, max_leaf_nodes=200, max_bins=16, early_stopping=False, random_state=0
    )
    cuts = np.unique(model.fit(X, np.round(4 * X[:, 0]))._predictors[0][0].nodes["num_threshold"])
    assert method_of_bins() is not None
    edges = np.percentile(X[:, 0], np.linspace(0, 100, 17)[1:-1], method=method_of_bins())
    cuts = [cut for cut in cuts if cut != 0.0]
    assert len(cuts) > 5
    assert set(cuts) <= set(edges)


def test_scaling_is_done_as_the_installed_version_does_it():
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    assert scales_in_input_type() == (version >= (1, 8))
    assert separates_missing_from_one_value() == (version >= (1, 8))


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (SVC(), True),
        (StackingClassifier([("one", SVC())]), True),
        (make_pipeline(StandardScaler(), SVC()), True),
        (make_pipeline(StandardScaler()), False),
        (StandardScaler(), False),
        ("svc", False),
    ],
)
def test_models_predict_or_will_after_they_are_fitted(model, expected):
    assert can_predict(model) == expected
