"""The seam between the predictive tests and forests in the engine: who answers, and that both answer alike."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._conventions.sklearn_compat import draw_by_weight
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive.risks.forests import refusal_of_forest


def via_scikit_learn(kind):
    """Return the same model, but of a type that the engine does not support."""
    return type(f"Own{kind.__name__}", (kind,), {})


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::3, [0, 5, 9, 11, 14]], y[::3]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[::3, :5], y[::3]


def answers(test, X, y, **given):
    found = [test.evaluate(X, y, x, **given) for x in range(X.shape[1])]
    return np.array([(answer.pvalue, answer.effect) for answer in found])


def both(kind, model, *, random_state=0, **parameters):
    """Return the test with the engine's forest, and the same through scikit-learn."""
    few = {"n_splits": 5} if kind is PPI else {"n_draws": 3}
    copy = via_scikit_learn(type(model))(**model.get_params(deep=False))
    return [kind(each, random_state=random_state, **few, **parameters) for each in (model, copy)]


@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(6),
        RandomForestClassifier(6, random_state=4, max_depth=3, max_samples=50),
        BaggingClassifier(DecisionTreeClassifier(min_samples_leaf=3), n_estimators=5),
        RandomForestRegressor(6),
        BaggingRegressor(n_estimators=5, bootstrap=False, max_samples=40),
    ],
)
def test_growth_answers_as_scikit_learn_does(kind, model, wdbc, diabetes):
    data = wdbc if "Classifier" in type(model).__name__ else diabetes
    X, y = data[0][:, :8], data[1]
    for loss in ("brier",) if data is wdbc else ("squared", "absolute"):
        ours, theirs = both(kind, model, loss=loss)
        np.testing.assert_allclose(answers(ours, X, y), answers(theirs, X, y), rtol=1e-9, atol=1e-12)


def test_class_weights_several_draws_and_sparse_columns_answer_as_scikit_learn_does(wdbc):
    X, y = wdbc[0][:, ::4], wdbc[1]
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.6, 0.0, X)
    ours, theirs = both(PPI, RandomForestClassifier(9), class_weight={0: 3.0, 1: 0.5}, n_draws=3)
    for each in (X, sparse.csr_array(X)):
        np.testing.assert_allclose(answers(ours, each, y), answers(theirs, each, y), rtol=1e-9, atol=1e-12)


@pytest.mark.skipif(not draw_by_weight(), reason="before 1.9 scikit-learn weighed rows in the trees")
@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(6, max_samples=0.5),
        RandomForestRegressor(6, min_samples_leaf=4),
        BaggingClassifier(DecisionTreeClassifier(min_samples_leaf=3), n_estimators=5),
        BaggingRegressor(n_estimators=5, max_samples=0.7),
    ],
)
def test_rows_are_drawn_by_their_weights_as_scikit_learn_draws_them(kind, model, wdbc, diabetes):
    X, y = wdbc if "Classifier" in type(model).__name__ else diabetes
    weights = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y))
    ours, theirs = both(kind, model)
    found, expected = (answers(each, X, y, sample_weight=weights) for each in (ours, theirs))
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
    assert not np.allclose(found, answers(ours, X, y))
    fitted = PPFS(independence=ours).fit(X, y, sample_weight=weights)
    assert any("grown by the engine" in note for note in fitted.trace_.notes)


@pytest.mark.skipif(not draw_by_weight(), reason="before 1.9 scikit-learn weighed rows in the trees")
@pytest.mark.parametrize("model", [RandomForestClassifier(3), BaggingClassifier(n_estimators=3)])
def test_a_row_that_is_drawn_hundreds_of_times_is_left_to_scikit_learn(model, wdbc):
    X, y = np.tile(wdbc[0], (4, 1)), np.tile(wdbc[1], 4)
    weights = np.where(np.arange(len(y)) < 2, 1e4, 1.0)
    fitted = PPFS(model, n_splits=5, random_state=0).fit(X, y, sample_weight=weights)
    assert any("counts to 255 draws of a row" in note for note in fitted.trace_.notes)


@pytest.mark.skipif(not draw_by_weight(), reason="before 1.9 scikit-learn weighed rows in the trees")
def test_extra_trees_are_grown_by_the_engine_if_they_draw_their_rows_by_weight(wdbc):
    weights = np.where(wdbc[1] == 1, 4.0, 0.5)
    for bootstrap, who in ((True, "is grown by the engine"), (False, "through scikit-learn's interface")):
        search = PPFS(ExtraTreesClassifier(2, bootstrap=bootstrap), n_splits=5, random_state=0)
        assert any(who in note for note in search.fit(*wdbc, sample_weight=weights).trace_.notes)


def test_extra_trees_have_risks_like_scikit_learns(wdbc):
    """The cuts are drawn from other seeds, so over many trees the effects must agree, not the digits."""
    ours, theirs = both(CrossFitPPI, ExtraTreesClassifier(300))
    X, y = wdbc[0][:, [0, 4]], wdbc[1]
    found, expected = answers(ours, X, y)[:, 1], answers(theirs, X, y)[:, 1]
    np.testing.assert_allclose(found, expected, atol=0.01)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(3, max_leaf_nodes=4),
        RandomForestClassifier(3, ccp_alpha=0.1),
        RandomForestClassifier(3, class_weight="balanced"),
        BaggingClassifier(n_estimators=3, max_features=0.5),
        BaggingClassifier(DecisionTreeClassifier(max_features=1), n_estimators=3),
    ],
)
def test_parameters_that_the_engine_does_not_know_go_to_scikit_learn(model, wdbc):
    fitted = PPFS(model, n_splits=5, random_state=0).fit(*wdbc)
    assert any(
        "through scikit-learn's interface: the engine does not support" in note
        for note in fitted.trace_.notes
    )


def test_bags_of_other_models_go_to_scikit_learn(wdbc):
    fitted = PPFS(BaggingClassifier(LogisticRegression(max_iter=1000), 2), n_splits=5, random_state=0).fit(
        *wdbc
    )
    assert not any("grown by the engine" in note for note in fitted.trace_.notes)


def test_the_trace_says_who_grows_a_forest(wdbc):
    fitted = PPFS(RandomForestClassifier(3), n_splits=5, random_state=0).fit(*wdbc)
    assert any("RandomForestClassifier is grown by the engine" in note for note in fitted.trace_.notes)


def test_the_engine_grows_as_many_trees_as_it_says(monkeypatch):
    monkeypatch.setattr("ppfs.independence._predictive.risks.forests._engine.MOST_TREES", 4)
    assert refusal_of_forest(RandomForestClassifier(4)) is None
    assert "at most 4 trees, and n_estimators=5" in refusal_of_forest(RandomForestClassifier(5))
