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
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._conventions import sklearn_compat as compat
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
        (SVC, False),
    ],
)
def test_models_predict_or_will_after_they_are_fitted(model, expected):
    assert can_predict(model) == expected


@pytest.mark.parametrize("max_samples", [None, 7, 0.6])
def test_rows_of_trees_are_those_that_the_forest_drew(max_samples):
    X = np.arange(20.0)[:, None]
    forest = RandomForestClassifier(3, max_samples=max_samples, random_state=1).fit(X, np.arange(20) % 2)
    found = compat.bootstrapped_rows(forest, [tree.random_state for tree in forest.estimators_], 20)
    for mine, theirs in zip(found, forest.estimators_samples_, strict=True):
        np.testing.assert_array_equal(np.sort(mine), np.sort(theirs))


@pytest.mark.parametrize("max_samples", [1.0, 7, 0.6])
@pytest.mark.parametrize("bootstrap", [True, False])
def test_rows_of_bags_are_those_that_the_bag_drew(max_samples, bootstrap):
    X = np.arange(20.0)[:, None]
    bag = BaggingClassifier(
        DecisionTreeClassifier(), 3, max_samples=max_samples, bootstrap=bootstrap, random_state=1
    ).fit(X, np.arange(20) % 2)
    found = compat.bagged_rows(bag, bag._seeds, 20)
    for mine, theirs in zip(found, bag.estimators_samples_, strict=True):
        np.testing.assert_array_equal(np.sort(mine), np.sort(theirs))


def test_what_the_installed_version_does():
    """The functions below the cache: each is asked again."""
    version = tuple(int(part) for part in sklearn.__version__.split(".")[:2])
    found = {
        name: getattr(compat, name).__wrapped__()
        for name in (
            "are_bins_weighted",
            "bags_draw_by_weight",
            "can_repeat_draws",
            "draw_by_weight",
            "scales_in_input_type",
            "separates_missing_from_one_value",
        )
    }
    assert found == {
        **dict.fromkeys(("are_bins_weighted", "bags_draw_by_weight", "draw_by_weight"), version >= (1, 9)),
        **dict.fromkeys(("scales_in_input_type", "separates_missing_from_one_value"), version >= (1, 8)),
        "can_repeat_draws": True,
    }
    assert compat.method_of_bins.__wrapped__() in ("averaged_inverted_cdf", "midpoint")


def test_functions_get_weights_where_they_take_them():
    def plain(n):
        return n

    def weighted(n, sample_weight=1):
        return n, sample_weight

    assert compat._with_weights(plain, "w") is plain
    assert compat._with_weights(weighted, "w")(3) == (3, "w")
    assert compat._with_weights(weighted)(3) == (3, None)


@pytest.mark.parametrize("name", ["method_of_bins", "are_bins_weighted"])
def test_bins_that_are_not_found(name, monkeypatch):
    function = getattr(compat, name)
    function.cache_clear()
    monkeypatch.setitem(sys.modules, "sklearn.ensemble._hist_gradient_boosting.binning", None)
    assert not function()
    function.cache_clear()
    monkeypatch.undo()
    binning = sys.modules["sklearn.ensemble._hist_gradient_boosting.binning"]
    monkeypatch.setattr(binning, "_find_binning_thresholds", lambda *_, **__: np.zeros(3))
    assert not function()
    function.cache_clear()


def test_workers_are_counted_from_one_or_back_from_the_number_of_cores():
    upper, lower = compat.N_JOBS_RULE[:2]
    assert [value in upper for value in (-2, -1, 0, 1)] == [True, True, False, False]
    assert [value in lower for value in (-1, 0, 1, 8)] == [False, False, True, True]
    assert compat.N_JOBS_RULE[2] is None


def test_a_rule_for_models_is_can_predict():
    rule = compat.IsModel()
    assert (rule.is_satisfied_by(SVC()), rule.is_satisfied_by(StandardScaler())) == (True, False)
    assert "'fit'" in str(rule)


def test_the_factor_of_distances_is_found():
    machine = SVC(gamma=0.3, random_state=0).fit([[0.0], [1.0]], [0, 1])
    assert compat.gamma_of(machine) == 0.3
    assert compat.gamma_of(SVC()) is None


def test_only_declared_parameters_are_checked():
    compat.refuse_wrong_parameters(PPFS())
    with pytest.raises(ValueError, match="alpha"):
        compat.refuse_wrong_parameters(PPFS(alpha=2.0))

    class Undeclared:
        def _validate_params(self):
            raise AssertionError

    compat.refuse_wrong_parameters(Undeclared())
    compat.refuse_wrong_parameters(object())
