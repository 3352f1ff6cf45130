"""Predictive tests with trees on weighted rows or missing values: the same answers as scikit-learn, faster."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.preprocessing import scale
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._conventions import separates_missing_from_one_value
from ppfs.independence import PPI, CrossFitPPI

# Trees of scikit-learn 1.6 cannot separate missing values from a single value, so the engine does not grow them.
ARE_GAPS_KNOWN = separates_missing_from_one_value()
OTHERS = "is fitted through scikit-learn's interface: the columns have missing values or numbers too large for 32 bits"


def _via_scikit_learn(model):
    """Return the same model, but of a type that the engine does not support."""
    kind = type(model)
    return type(f"Own{kind.__name__}", (kind,), {})(**model.get_params(deep=False))


def _data(model, *, has_gaps):
    load = load_breast_cancer if "Classifier" in type(model).__name__ else load_diabetes
    X, y = load(return_X_y=True)
    # Columns that lie far from zero are shifted for known kinds of trees only.
    X, y = scale(X[::4, [0, 5, 9]]), y[::4]
    if has_gaps:
        X[np.random.default_rng(0).random(X.shape) < 0.2] = np.nan
    return X, y, np.random.default_rng(1).uniform(0.2, 3.0, size=len(y))


def _answers(test, X, y, weights):
    found = [test.evaluate(X, y, x, sample_weight=weights) for x in range(X.shape[1])]
    return np.array([(answer.pvalue, answer.effect) for answer in found])


@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (DecisionTreeClassifier(), "log-loss"),
        (DecisionTreeClassifier(max_depth=3), "zero-one"),
        (DecisionTreeRegressor(min_samples_leaf=4), "absolute"),
        (RandomForestClassifier(7, random_state=3), "brier"),
        (RandomForestRegressor(7, bootstrap=False), "squared"),
        (BaggingClassifier(DecisionTreeClassifier(min_samples_leaf=3), 7), "log-loss"),
        (BaggingRegressor(n_estimators=7, max_samples=50), "squared"),
    ],
)
@pytest.mark.parametrize(
    ("kind", "has_gaps", "is_weighted"),
    [(PPI, True, False), (PPI, False, True), (PPI, True, True), (CrossFitPPI, True, True)],
)
def test_growth_answers_as_scikit_learn_does(kind, model, loss, has_gaps, is_weighted):
    X, y, weights = _data(model, has_gaps=has_gaps)
    few = {"n_splits": 5} if kind is PPI else {"n_draws": 3}
    found, expected = (
        _answers(kind(each, loss=loss, random_state=0, **few), X, y, weights if is_weighted else None)
        for each in (model, _via_scikit_learn(model))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
@pytest.mark.parametrize(
    ("model", "loss"),
    [
        (DecisionTreeClassifier(min_samples_leaf=25), "log-loss"),
        (DecisionTreeClassifier(max_depth=2, min_samples_leaf=25), "zero-one"),
        (DecisionTreeRegressor(min_samples_leaf=10), "absolute"),
    ],
)
@pytest.mark.parametrize(("has_gaps", "is_weighted"), [(True, False), (False, True), (True, True)])
def test_trees_of_several_columns_answer_as_scikit_learns(kind, model, loss, has_gaps, is_weighted):
    """Nodes so large that no two columns divide them equally well."""
    X, y, weights = _data(model, has_gaps=has_gaps)
    few = {"n_splits": 5} if kind is PPI else {"n_draws": 3}
    found, expected = (
        kind(each, loss=loss, random_state=0, **few).evaluate(
            X, y, 0, [1, 2], sample_weight=weights if is_weighted else None
        )
        for each in (model, _via_scikit_learn(model))
    )
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.effect == pytest.approx(expected.effect, rel=1e-9, abs=1e-12)


def test_the_search_is_that_of_scikit_learn_and_the_trace_says_who_does_what():
    X, y, weights = _data(DecisionTreeClassifier(), has_gaps=True)
    X = np.column_stack([X, np.arange(len(y)) % 3])
    searches = [
        PPFS(model, n_splits=8, random_state=0, n_jobs=n_jobs, categorical_features=[3]).fit(
            X, y, sample_weight=weights
        )
        for model, n_jobs in (
            (DecisionTreeClassifier(max_depth=3, random_state=0), 1),
            (DecisionTreeClassifier(max_depth=3, random_state=0), 2),
            (_via_scikit_learn(DecisionTreeClassifier(max_depth=3, random_state=0)), 1),
        )
    ]
    for other in searches[1:]:
        np.testing.assert_allclose(searches[0].pvalues_, other.pvalues_, rtol=1e-9)
        np.testing.assert_array_equal(searches[0].blanket_, other.blanket_)
    note = "is grown by the engine" if ARE_GAPS_KNOWN else OTHERS
    assert searches[0].trace_.notes[0] == f"DecisionTreeClassifier {note}"


@pytest.mark.parametrize("model", [RandomForestClassifier(60), BaggingClassifier(n_estimators=30)])
def test_forests_of_columns_with_gaps_have_effects_like_scikit_learns(model):
    """Trees draw the columns that they try from other seeds, so the effects must agree, not the digits."""
    X, y, _ = _data(model, has_gaps=True)
    found, expected = (
        PPI(each, loss="brier", n_splits=5, random_state=0).evaluate(X, y, 0, [1, 2]).effect
        for each in (model, _via_scikit_learn(model))
    )
    assert found == pytest.approx(expected, rel=0.25)


def test_a_forest_of_one_tree_with_gaps_is_grown_by_the_engine():
    model = RandomForestClassifier(1, random_state=0)
    X, y, _ = _data(model, has_gaps=True)
    found, expected = (
        PPI(each, loss="brier", n_splits=5, random_state=0).evaluate(X, y, 0).pvalue
        for each in (model, _via_scikit_learn(model))
    )
    assert found == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize(
    ("loss", "note"),
    [
        (
            "log-loss",
            "is grown by the engine: scikit-learn's own on one column" if ARE_GAPS_KNOWN else OTHERS,
        ),
        (
            lambda truth, shares: -np.log(shares[:, 1] + 0.01),
            "the engine does not support the loss 'callable'",
        ),
    ],
)
def test_the_trace_says_who_grows_forests_with_gaps(loss, note):
    X, y, _ = _data(DecisionTreeClassifier(), has_gaps=True)
    search = PPFS(RandomForestClassifier(3, random_state=0), loss=loss, n_splits=5, random_state=0)
    one, two = search.fit(X, y), search.set_params(n_jobs=2).fit(X, y)
    assert note in one.trace_.notes[0]
    np.testing.assert_array_equal(one.pvalues_, two.pvalues_)
