"""Weights of rows and classes: in the fit, in the loss, in engine and generic path."""

import numpy as np
import pytest
import scipy.sparse as sp
from reference.twin_tree import TwinTreeClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._rows.weights import RowWeights, weights_by_class
from ppfs.blanket import IAMB
from ppfs.datasets import load_dataset
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, ChiSquared, CrossFitPPI, FisherZ, GSquared, LikelihoodRatio

N_ROWS = 80
FEW = {PPI: {"n_splits": 8, "random_state": 0}, CrossFitPPI: {"n_folds": 3, "random_state": 0}}
CLASS_WEIGHTS = [None, "balanced", {0: 1.0, 1: 7.5}, {1: 0.25}]


@pytest.fixture
def X():
    return np.random.default_rng(0).normal(size=(N_ROWS, 4)).round(1)


@pytest.fixture
def y(X):
    """One row in five is of class 1."""
    score = X[:, 0] + X[:, 1] + 0.5 * np.random.default_rng(1).normal(size=N_ROWS)
    return (score > np.quantile(score, 0.8)).astype(int)


def log_loss_of_each(model, X, y):
    probability = model.predict_proba(X)[np.arange(len(y)), y]
    return -np.log(np.clip(probability, 2.0**-52, 1 - 2.0**-52))


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
def test_risks_are_weighted_means_of_weighted_models(X, y, class_weight):
    """Written out: weights in the fit, weights times class weights in the loss."""
    weights = np.random.default_rng(2).uniform(0.5, 2, size=N_ROWS)
    test = PPI(GaussianNB(), n_splits=6, class_weight=class_weight, random_state=0)
    table = read_table(X, y, task="auto", owner=test, sample_weight=weights)
    risks = test.bind(table)._risks_about(4, is_marginal=False)[0]
    found = risks.of_members([0], frozenset({0, 1}))
    own = {0: 1.0, 1: 1.0}
    if class_weight == "balanced":
        own = {label: N_ROWS / (2 * (y == label).sum()) for label in (0, 1)}
    elif class_weight is not None:
        own |= class_weight
    in_loss = weights * np.array([own[label] for label in y])
    columns = list(table.order.canonical({0, 1}))
    for number, split in enumerate(risks.problem.splits):
        model = GaussianNB().fit(X[split.train][:, columns], y[split.train], weights[split.train])
        tested = X[split.test][:, columns]
        base = np.average(log_loss_of_each(model, tested, y[split.test]), weights=in_loss[split.test])
        shuffled = tested.copy()
        shuffled[:, columns.index(0)] = X[split.test[split.permutation], 0]
        replaced = np.average(log_loss_of_each(model, shuffled, y[split.test]), weights=in_loss[split.test])
        assert found.base[0, number] == pytest.approx(base, rel=1e-9)
        assert found.replaced[0, number] == pytest.approx(replaced, rel=1e-9)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS)
@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
@pytest.mark.parametrize("n_draws", [1, 3])
def test_class_weights_in_engine_and_generic_path_agree(X, y, class_weight, make, n_draws):
    settings = {"class_weight": class_weight, "n_draws": n_draws, "loss": "log-loss", **FEW[make]}
    table = read_table(X, y, task="auto", owner=make())
    engine, generic = (make(model, **settings).bind(table) for model in (None, TwinTreeClassifier()))
    assert "engine" in engine.notes()[0].split(":")[0]
    assert "scikit-learn" in generic.notes()[0]
    for x, given in [(0, []), (2, [0, 1]), (1, [0, 2, 3])]:
        ours, theirs = (bound.query(x, table.target, given) for bound in (engine, generic))
        assert ours.pvalue == pytest.approx(theirs.pvalue, rel=1e-6, abs=1e-12)
        assert ours.effect == pytest.approx(theirs.effect, rel=1e-6, abs=1e-12)


@pytest.mark.parametrize("class_weight", CLASS_WEIGHTS[1:])
@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_class_weights_of_linear_growth_agree_with_the_generic_path(X, y, class_weight, make):
    settings = {"class_weight": class_weight, "n_draws": 2, **FEW[make]}

    class Other(LogisticRegression):
        """Not the class that growth at once knows."""

    exact = {"tol": 1e-10, "max_iter": 10_000}
    for x in range(4):
        at_once, generic = (
            make(model(**exact), **settings).evaluate(X, y, x) for model in (LogisticRegression, Other)
        )
        assert at_once.effect == pytest.approx(generic.effect, rel=1e-5, abs=1e-9)


def test_class_weights_change_answers(X, y):
    plain, weighted = (PPI(class_weight=one, random_state=0).evaluate(X, y, 0) for one in (None, "balanced"))
    assert plain.effect != weighted.effect


def test_balanced_classes_count_alike(y):
    own = weights_by_class("balanced", y, np.array([0, 1]))[y]
    assert own[y == 0].sum() == pytest.approx(own[y == 1].sum())
    assert RowWeights.of(None, np.array([1.0, 4.0]), y).loss.mean() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("class_weight", "message"),
    [
        ({2: 1.0}, r"class_weight has '2', but the classes of y are '0', '1'"),
        ({1: 0.0}, r"must hold positive numbers, but has \{1: 0.0\}"),
        ({1: np.inf}, "positive numbers"),
    ],
)
def test_wrong_class_weights(X, y, class_weight, message):
    with pytest.raises(InvalidInputError, match=message):
        PPFS(class_weight=class_weight).fit(X, y)


def test_class_weights_of_a_quantity(X):
    with pytest.raises(InvalidInputError, match=r"needs a target with classes.*sample_weight"):
        PPFS(class_weight="balanced").fit(X, X[:, 0] ** 2)


def test_weights_of_rows_are_known_in_dense_columns_and_equal_ones_are_none(X, y):
    weights = np.random.default_rng(2).uniform(0.5, 2, size=N_ROWS)
    selector = PPFS(n_splits=5, random_state=0)
    weighted = selector.fit(X, y, sample_weight=weights)
    assert weighted.trace_.notes[0] == "DecisionTreeClassifier is grown by the engine"
    on_sparse = selector.fit(sp.csc_array(X), y, sample_weight=weights)
    assert "row weights in dense columns only" in on_sparse.trace_.notes[0]
    equal = selector.fit(X, y, sample_weight=np.full(N_ROWS, 3.0))
    assert equal.trace_.notes[0] == "DecisionTreeClassifier is grown by the engine"
    plain = selector.fit(X, y).pvalues_
    np.testing.assert_array_equal(selector.fit(X, y, sample_weight=np.full(N_ROWS, 3.0)).pvalues_, plain)


def test_weights_reach_a_pipelines_last_step_and_linear_models(X, y):
    weights = np.random.default_rng(2).uniform(0.5, 2, size=N_ROWS)
    for model in (make_pipeline(StandardScaler(), LogisticRegression()), LogisticRegression()):
        assert PPFS(model, n_splits=6, random_state=0).fit(X, y, sample_weight=weights).support_[:2].all()
    assert (
        CrossFitPPI(Ridge(), random_state=0).evaluate(X, X[:, 0] * 2, 0, sample_weight=weights).pvalue < 0.01
    )


@pytest.mark.parametrize("test", [PPI, CrossFitPPI])
def test_an_estimator_that_takes_no_weights_is_named(X, y, test):
    weights = np.arange(1.0, N_ROWS + 1)
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier takes no sample_weight"):
        test(KNeighborsClassifier()).evaluate(X, y, 0, sample_weight=weights)
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier takes no sample_weight"):
        test(DecisionTreeClassifier(), marginal_estimator=KNeighborsClassifier()).evaluate(
            X, y, 0, sample_weight=weights
        )


@pytest.mark.parametrize("test", [GSquared(), ChiSquared(), FisherZ(), LikelihoodRatio()], ids=str)
def test_classical_tests_take_neither_weights_nor_groups(test):
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 2, size=(60, 2)), rng.integers(0, 2, size=60)
    name = type(test).__name__
    with pytest.raises(InvalidInputError, match=rf"{name} does not support sample_weight.*PPI"):
        test.evaluate(X, y, 0, sample_weight=np.arange(1, 61))
    with pytest.raises(InvalidInputError, match=rf"{name} needs independent rows.*CrossFitPPI"):
        test.evaluate(X, y, 0, groups=np.arange(60) % 6)
    kept = np.arange(60) % 3 > 0
    assert test.evaluate(X, y, 0, sample_weight=2.0 * kept) == test.evaluate(X[kept], y[kept], 0)


def test_searches_pass_weights_on(X, y):
    weights = np.random.default_rng(2).uniform(0.5, 2, size=N_ROWS)
    with pytest.raises(InvalidInputError, match="does not support sample_weight"):
        IAMB().fit(X, y, sample_weight=weights)
    found = IAMB(independence=PPI(LogisticRegression(), n_splits=8), random_state=0).fit(
        X, y, sample_weight=weights
    )
    assert set(found.blanket_) >= {0, 1}


@pytest.mark.data
def test_dorothea_with_balanced_classes():
    """One row in ten is positive. Growth leaves no ties, so the engine answers as scikit-learn's trees do."""
    data = load_dataset("dorothea")
    columns = np.argsort(-np.asarray(abs(data.X).sum(axis=0)).ravel(), kind="stable")[:40]
    X = data.X[:, columns]
    plain, balanced, generic = (
        PPFS(model, n_splits=6, class_weight=class_weight, random_state=0).fit(X, data.y)
        for model, class_weight in [
            (None, None),
            (None, "balanced"),
            (DecisionTreeClassifier(max_features=1.0), "balanced"),
        ]
    )
    assert "DecisionTreeClassifier is grown by the engine" in balanced.trace_.notes

    def growth(selector):
        return [step.effect for step in selector.trace_ if step.phase == "growth"]

    np.testing.assert_allclose(growth(balanced), growth(generic), rtol=1e-6, atol=1e-9)
    assert not np.allclose(growth(balanced), growth(plain))


@pytest.mark.parametrize("weight", ["heavy", None])
def test_class_weights_are_numbers(y, weight):
    with pytest.raises(InvalidInputError, match="class_weight must hold positive numbers"):
        weights_by_class({1: weight}, y, np.array([0, 1]))


def test_a_grid_search_takes_the_weights_that_its_estimator_takes(X, y):
    weights = np.random.default_rng(2).uniform(0.5, 2, size=N_ROWS)
    search = GridSearchCV(KNeighborsClassifier(), {"n_neighbors": [3, 5]}, cv=2)
    with pytest.raises(InvalidInputError, match="KNeighborsClassifier takes no sample_weight"):
        PPFS(search, n_splits=5).fit(X, y, sample_weight=weights)


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
def test_a_class_that_a_fold_lacks_may_have_a_weight(X, y):
    rare = np.where(np.arange(N_ROWS) == 5, 2, y)
    selector = PPFS(n_splits=5, n_folds=3, class_weight={2: 2.0}, random_state=0)
    assert len(selector.fit(X, rare).folds_) == 3
