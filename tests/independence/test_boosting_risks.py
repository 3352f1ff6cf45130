"""The seam between the predictive tests and boosting in the engine: who answers, and that both answer alike."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from ppfs import PPFS
from ppfs._conventions.sklearn_compat import are_bins_weighted
from ppfs._data.reading import read_table
from ppfs.exceptions import EstimatorFailedError
from ppfs.independence import PPI, CrossFitPPI


class ViaScikitLearnClassifier(HistGradientBoostingClassifier):
    """Same model, but of a type that the engine does not support."""


class ViaScikitLearnRegressor(HistGradientBoostingRegressor):
    """Same model, but of a type that the engine does not support."""


@pytest.fixture(scope="module")
def wdbc():
    X, y = load_breast_cancer(return_X_y=True)
    return X[::2, [0, 5, 9, 11, 14, 20]], y[::2]


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True)
    return X[::2, :5], y[::2]


def answers(test, X, y, given=(), weights=None):
    return np.array(
        [
            (answer.pvalue, answer.effect)
            for x in range(X.shape[1])
            if x not in given
            for answer in [test.evaluate(X, y, x, given=given, sample_weight=weights)]
        ]
    )


@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
@pytest.mark.parametrize("parameters", [{}, {"max_leaf_nodes": 4, "l2_regularization": 1.0, "max_bins": 20}])
def test_growth_answers_as_scikit_learn_does(kind, parameters, wdbc, diabetes):
    for data, own, theirs in (
        (wdbc, HistGradientBoostingClassifier, ViaScikitLearnClassifier),
        (diabetes, HistGradientBoostingRegressor, ViaScikitLearnRegressor),
    ):
        tests = [
            kind(model(max_iter=5, **parameters), random_state=0, **({"n_splits": 5} if kind is PPI else {}))
            for model in (own, theirs)
        ]
        np.testing.assert_allclose(answers(tests[0], *data), answers(tests[1], *data), rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
def test_conditional_questions_are_answered_as_scikit_learn_does(kind, wdbc, diabetes):
    for data, own, theirs in (
        (wdbc, HistGradientBoostingClassifier, ViaScikitLearnClassifier),
        (diabetes, HistGradientBoostingRegressor, ViaScikitLearnRegressor),
    ):
        tests = [
            kind(model(max_iter=5), random_state=0, **({"n_splits": 5} if kind is PPI else {}))
            for model in (own, theirs)
        ]
        given = (0, 3)
        ours, expected = (answers(test, *data, given=given) for test in tests)
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("loss", "task"), [("poisson", "count"), ("gamma", "positive")])
@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
@pytest.mark.parametrize("given", [(), (0, 3)])
def test_counts_and_amounts_are_boosted_as_scikit_learn_does(loss, task, kind, given, diabetes):
    X, y = diabetes[0], np.round(diabetes[1] / 10.0) + (loss == "gamma")
    weights = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y)) if are_bins_weighted() else None
    for named in (task, "regression"):
        ours, expected = (
            kind(
                model(loss=loss, max_iter=5),
                task=named,
                random_state=0,
                **({"n_splits": 5} if kind is PPI else {}),
            )
            for model in (HistGradientBoostingRegressor, ViaScikitLearnRegressor)
        )
        np.testing.assert_allclose(
            answers(ours, X, y, given, weights), answers(expected, X, y, given, weights), rtol=1e-6, atol=1e-9
        )
        assert ours.bind(read_table(X, y, task=named, owner=ours)).notes()[0].endswith("grown by the engine")


@pytest.mark.parametrize(("loss", "y"), [("poisson", np.arange(-1.0, 39.0)), ("gamma", np.arange(40.0))])
def test_a_target_without_a_log_mean_is_left_to_the_error_of_scikit_learn(loss, y):
    X = np.random.default_rng(0).normal(size=(40, 2))
    test = PPI(HistGradientBoostingRegressor(loss=loss, max_iter=2), n_splits=5, random_state=0)
    with pytest.raises(EstimatorFailedError, match=f"loss=.{loss}. requires"):
        test.evaluate(X, y, 0)


@pytest.mark.skipif(not are_bins_weighted(), reason="this version of scikit-learn makes bins without weights")
@pytest.mark.parametrize("kind", [PPI, CrossFitPPI])
@pytest.mark.parametrize("given", [(), (0, 3)])
def test_weights_of_rows_are_heeded_as_scikit_learn_heeds_them(kind, given, wdbc, diabetes):
    for (X, y), own, theirs in (
        (wdbc, HistGradientBoostingClassifier, ViaScikitLearnClassifier),
        (diabetes, HistGradientBoostingRegressor, ViaScikitLearnRegressor),
    ):
        weights = np.random.default_rng(0).uniform(0.2, 3.0, size=len(y))
        tests = [
            kind(model(max_iter=5, max_bins=60), random_state=0, **({"n_splits": 5} if kind is PPI else {}))
            for model in (own, theirs)
        ]
        ours, expected = (answers(test, X[:, :5], y, given, weights) for test in tests)
        np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


def test_a_fit_selects_what_scikit_learn_would_select(wdbc):
    fits = [
        PPFS(model(max_iter=5), n_splits=8, random_state=0).fit(*wdbc)
        for model in (HistGradientBoostingClassifier, ViaScikitLearnClassifier)
    ]
    assert fits[0].blanket_.tolist() == fits[1].blanket_.tolist()
    np.testing.assert_allclose(fits[0].pvalues_, fits[1].pvalues_, rtol=1e-6)


def test_early_stops_are_made_at_the_same_draw(wdbc):
    tests = [
        CrossFitPPI(
            model(max_iter=3), significance="randomisation", n_draws=99, early_stop=True, random_state=0
        )
        for model in (HistGradientBoostingClassifier, ViaScikitLearnClassifier)
    ]
    ours, expected = (answers(test, *wdbc, given=(0,)) for test in tests)
    np.testing.assert_allclose(ours, expected, rtol=1e-6, atol=1e-9)


def test_categories_and_groups_of_columns_are_answered_as_scikit_learn_does(wdbc):
    pandas = pytest.importorskip("pandas")
    X, y = wdbc
    frame = pandas.DataFrame(X[:, :4], columns=list("abcd"))
    codes = (
        np.argsort(np.argsort(X[:, 5], kind="stable")) * 6 // len(y)
        + np.random.default_rng(0).integers(0, 3, len(y))
    ) % 6
    frame["kind"] = pandas.Categorical(np.array(list("uvwxyz"))[codes])
    groups = {"both": ["a", "kind"]}
    for x, given in (("kind", []), ("kind", ["b"]), ("c", ["kind", "b"])):
        ours, expected = (
            CrossFitPPI(model(max_iter=5, min_samples_leaf=5), random_state=0).evaluate(
                frame, y, x, given=given
            )
            for model in (HistGradientBoostingClassifier, ViaScikitLearnClassifier)
        )
        assert ours.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    ours, expected = (
        CrossFitPPI(model(max_iter=5), random_state=0).evaluate(
            frame, y, "both", given=["c"], feature_groups=groups
        )
        for model in (HistGradientBoostingClassifier, ViaScikitLearnClassifier)
    )
    assert ours.pvalue == pytest.approx(expected.pvalue, rel=1e-6)


def test_missing_values_grow_as_scikit_learn_grows_them(wdbc):
    X, y = wdbc
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    tests = [
        CrossFitPPI(model(max_iter=5), random_state=0)
        for model in (HistGradientBoostingClassifier, ViaScikitLearnClassifier)
    ]
    np.testing.assert_allclose(answers(tests[0], X, y), answers(tests[1], X, y), rtol=1e-6, atol=1e-9)


def test_the_trace_says_who_boosts(wdbc):
    X, y = wdbc
    search = PPFS(HistGradientBoostingClassifier(max_iter=2), n_splits=5, random_state=0)
    assert any("grown by the engine" in note for note in search.fit(X, y).trace_.notes)
    weighted = search.fit(X, y, sample_weight=np.arange(len(y)) % 3 + 1.0)
    who = "grown by the engine" if are_bins_weighted() else "bins weighted rows"
    assert any(who in note for note in weighted.trace_.notes)


@pytest.mark.parametrize(
    "parameters",
    [
        {"max_features": 0.5},
        {"early_stopping": True},
        {"class_weight": "balanced"},
        {"interaction_cst": "no_interactions"},
        {"categorical_features": [0]},
    ],
    ids=str,
)
def test_unknown_parameters_are_left_to_scikit_learn(parameters, wdbc):
    X, y = wdbc
    model = HistGradientBoostingClassifier(**parameters)
    notes = PPI(model, n_splits=5, random_state=0).bind(read_table(X, y, task="auto", owner="PPI")).notes()
    ((name, value),) = parameters.items()
    assert notes == [
        "HistGradientBoostingClassifier is fitted through scikit-learn's interface: the engine does not support "
        f"{name}={value!r}"
    ]


def test_models_are_counted_from_none():
    X, y = np.arange(60.0).reshape(20, 3) % 7, np.arange(20) % 2
    test = CrossFitPPI(HistGradientBoostingClassifier(max_iter=2), random_state=0)
    bound = test.bind(read_table(X, y, task="classification", owner=test))
    assert bound.n_fits == 0
    bound.query(0, 3, frozenset({1}))
    # The models, and the regression of the target on the other column.
    assert bound.n_fits == len(bound._risks_about(3, is_marginal=False)[0].problem.splits) + 1


def test_one_output_is_boosted_and_no_target_of_several_is_among_the_columns():
    """Asked about a column of the table, a target of two columns is one of its regressors."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    test = CrossFitPPI(HistGradientBoostingRegressor(max_iter=2), random_state=0)
    name = "HistGradientBoostingRegressor"
    reasons = (
        "predicts one output, and the target has 2",
        "reads single columns, and the target has several",
    )
    for y, expected in (
        (X[:, 0], [f"{name} is grown by the engine"] * 2),
        (
            X[:, :2],
            [f"{name} is fitted through scikit-learn's interface: the engine {one}" for one in reasons],
        ),
    ):
        bound = test.bind(read_table(X, y, task="regression", owner=test))
        assert [bound._risks_about(target, is_marginal=False)[0].note for target in (3, 0)] == expected
