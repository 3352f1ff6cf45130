"""Models as members of the test by products of residuals: a slow twin, all sources of risks, level and power."""

import numpy as np
import pytest
from reference import drawing
from reference import residual_products as twin
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._data import read_table
from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.residuals import regressions
from ppfs.independence._predictive.residuals.regressors import GivenColumn, design_of
from ppfs.models import BoostedLinearRegressor

N_ROWS = 80


def table(seed=0, is_class=False):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_ROWS, 3))
    X[:, 0] += X[:, 1]
    y = X[:, 1] + 0.5 * X[:, 0] + rng.normal(size=N_ROWS)
    return X, (y > 0).astype(int) if is_class else y


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        KNeighborsRegressor(),
        DecisionTreeRegressor(max_depth=3, min_samples_leaf=5, random_state=0),
        HistGradientBoostingRegressor(max_iter=10, min_samples_leaf=5, random_state=0),
        LogisticRegression(solver="newton-cholesky", tol=1e-10),
        KNeighborsClassifier(),
        DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=0),
        HistGradientBoostingClassifier(max_iter=10, min_samples_leaf=5, random_state=0),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_pvalue_is_that_of_fits_shuffles_and_hat_matrices(model, monkeypatch):
    """Without a second look the design is known."""
    monkeypatch.setattr(regressions, "_LOOKS", 0)
    is_class = "Classifier" in type(model).__name__ or isinstance(model, LogisticRegression)
    X, y = table(is_class=is_class)
    splits = drawing.folds(N_ROWS, y if is_class else None, n_folds=4, entropy=7, fold=0, n_draws=5)
    design = design_of([GivenColumn.of(column, False) for column in X[:, 1:].T])
    expected = twin.model_pvalue(design, y, is_class, X, 0, model, splits)
    test = CrossFitPPI(model, n_folds=4, n_draws=5, random_state=7)
    assert test.evaluate(X, y, 0, given=[1, 2]).pvalue == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(20, random_state=0),
        DecisionTreeClassifier(max_depth=4),
        HistGradientBoostingClassifier(max_iter=20),
        LogisticRegression(),
        make_pipeline(PolynomialFeatures(2), LogisticRegression()),
        GaussianNB(),
        RidgeClassifier(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_every_source_of_risks_gives_views_of_a_clear_effect(model, n_classes):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = np.digitize(X[:, 0] + 0.5 * X[:, 1] + 0.3 * rng.normal(size=150), [0.0, 0.8][: n_classes - 1])
    answer = CrossFitPPI(model, random_state=0).evaluate(X, y, 0, given=[1, 2])
    assert answer.pvalue < 1e-4
    assert answer.effect > 0.02
    assert len(answer.explained) == 2


def test_models_of_the_package_are_members_too():
    X, y = table()
    answer = CrossFitPPI(BoostedLinearRegressor(), random_state=0).evaluate(X, y, 1, given=[0, 2])
    assert answer.pvalue < 0.05


def test_a_feature_that_no_model_uses_is_inert():
    rng = np.random.default_rng(2)
    X = np.column_stack([rng.normal(size=(100, 2)), rng.integers(2, size=100)])
    y = np.where(X[:, 0] > 0, 3.0, 0.0)
    answer = CrossFitPPI(DecisionTreeRegressor(max_depth=1), random_state=0).evaluate(X, y, 2, given=[0, 1])
    assert answer.is_inert
    assert answer.pvalue == 1.0


def test_a_forest_finds_a_product_that_lines_miss():
    """In every table of eight; the same question asked with lines is called in at most two."""
    forest, line = RandomForestRegressor(30, min_samples_leaf=5, random_state=0), LinearRegression()
    found = {forest: 0, line: 0}
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(250, 3))
        y = X[:, 1] + X[:, 0] * X[:, 2] + 0.5 * rng.normal(size=250)
        for model in found:
            found[model] += (
                CrossFitPPI(model, random_state=seed).evaluate(X, y, 0, given=[1, 2]).pvalue <= 0.05
            )
    assert found[forest] == 8
    assert found[line] <= 2


@pytest.mark.parametrize("kind", ["product", "curve"])
def test_a_line_does_not_take_x_for_what_it_cannot_express_of_the_others(kind):
    """x and the target share a function of z that a linear model cannot express: of 40 tables few are called."""
    n_called = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        z = rng.normal(size=(200, 2))
        shared = z[:, 0] * z[:, 1] if kind == "product" else np.abs(z[:, 0])
        X = np.column_stack([shared + 0.5 * rng.normal(size=200), z])
        y = shared + rng.normal(size=200)
        n_called += (
            CrossFitPPI(LinearRegression(), random_state=0).evaluate(X, y, 0, given=[1, 2]).pvalue <= 0.05
        )
    assert n_called <= 6


def test_several_models_have_a_pvalue_each():
    X, y = table()
    answer = CrossFitPPI([LinearRegression(), DecisionTreeRegressor(max_depth=2)], random_state=0).evaluate(
        X, y, 1, given=[0, 2]
    )
    assert len(answer.model_pvalues) == 2
    assert min(answer.model_pvalues) <= answer.pvalue <= 2 * min(answer.model_pvalues) + 1e-12


def test_rows_that_no_split_tests_do_no_harm():
    X, y = table(seed=3)
    splits = [(np.arange(40), np.arange(40, 60)), (np.r_[0:20, 40:60], np.arange(60, 80))]
    answer = CrossFitPPI(LinearRegression(), splitter=splits, random_state=0).evaluate(X, y, 1, given=[0, 2])
    assert 0.0 < answer.pvalue < 1.0


def test_a_column_that_no_model_uses_takes_no_regressions():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(N_ROWS, 2)), rng.integers(0, 2, N_ROWS)])
    y = X[:, 0] + 0.1 * rng.normal(size=N_ROWS)
    table = read_table(X, y, task="regression", owner=PPFS())
    bound = CrossFitPPI(DecisionTreeRegressor(max_depth=1), random_state=0).bind(table)
    n_splits = 5
    assert bound.query(2, table.target, {0, 1, 2}).is_inert
    assert bound.n_fits == n_splits


@pytest.mark.parametrize("n_jobs", [2, 4, 8, 16])
@pytest.mark.parametrize("model", [LogisticRegression(), LinearRegression()], ids=["classes", "numbers"])
def test_answers_and_counts_do_not_depend_on_the_number_of_threads(model, n_jobs):
    """Models of questions about columns outside the set are fitted by the threads that answer them."""
    is_class = isinstance(model, LogisticRegression)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20))
    y = X[:, 0] + rng.normal(size=60)

    def asked(n_jobs):
        task = "classification" if is_class else "regression"
        table = read_table(X, (y > 0).astype(int) if is_class else y, task=task, owner=PPFS())
        bound = CrossFitPPI(model, random_state=0).bind(table, n_jobs=n_jobs)
        added = bound.query_many(range(2, 20), table.target, {0, 1})
        # The models of the last question are those of its members.
        members = bound.query_many([0, 1, 19], table.target, {0, 1, 19})
        return added, members, bound.n_fits

    assert asked(n_jobs) == asked(1)
