"""Growth with linear models equals fitting them one by one."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import Lasso, LinearRegression, LogisticRegression, Ridge

from ppfs._reading import read_table
from ppfs.independence import PPI
from ppfs.independence._predictive.risks.linear import LinearRisks
from ppfs.independence._predictive.risks.models import ModelRisks

EXACT = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}


def problem(task):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 6)) * [1, 10, 0.1, 1, 1, 1] + [0, 100, 0, 5, 0, 0]
    X[:, 3] = np.round(X[:, 3])
    X[:, 4] = 0.0
    X[:2, 4] = 1.0
    signal = X[:, 0] + 0.1 * X[:, 1] + rng.normal(size=80)
    return X, (signal > np.median(signal)).astype(int) if task == "classification" else signal


def risks_of(test, X, y, n_columns):
    """Return the risks of all single columns, computed at once and one by one."""
    bound = test.bind(read_table(X, y, task="auto", owner="test"))
    at_once = bound._risks_about(n_columns, is_marginal=True)
    assert isinstance(at_once, LinearRisks)
    one_by_one = ModelRisks(bound.table, at_once.problem, None, "a comparison")
    xs = list(range(n_columns))
    return at_once.of_added(xs, frozenset()), one_by_one.of_added(xs, frozenset())


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(),
        Ridge(50.0),
        Ridge(fit_intercept=False),
    ],
    ids=repr,
)
@pytest.mark.parametrize("loss", ["squared", "absolute"])
def test_regression_equals_one_fit_a_column(estimator, loss):
    ours, theirs = risks_of(PPI(estimator, n_splits=5, loss=loss, random_state=0), *problem("regression"), 6)
    np.testing.assert_allclose(ours.base, theirs.base, rtol=1e-9)
    np.testing.assert_allclose(ours.replaced, theirs.replaced, rtol=1e-9)


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(**EXACT),
        LogisticRegression(C=100.0, **EXACT),
        LogisticRegression(C=0.01, **EXACT),
        LogisticRegression(fit_intercept=False, **EXACT),
    ],
    ids=repr,
)
@pytest.mark.parametrize("loss", ["log-loss", "brier", "hinge", "zero-one"])
def test_logistic_regression_equals_one_exact_fit_a_column(estimator, loss):
    ours, theirs = risks_of(
        PPI(estimator, n_splits=5, loss=loss, random_state=0), *problem("classification"), 6
    )
    np.testing.assert_allclose(ours.base, theirs.base, rtol=1e-5)
    np.testing.assert_allclose(ours.replaced, theirs.replaced, rtol=1e-5)


def test_separable_classes_converge():
    X, _ = problem("classification")
    y = (X[:, 0] > 0).astype(int)
    ours, theirs = risks_of(PPI(LogisticRegression(C=1e4, **EXACT), n_splits=5, random_state=0), X, y, 6)
    np.testing.assert_allclose(ours.base, theirs.base, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::ppfs.exceptions.StratificationWarning")
def test_train_part_of_one_class_predicts_it():
    X = np.arange(20.0).reshape(10, 2)
    y = np.array([1] + [0] * 9)
    ours, theirs = risks_of(PPI(LogisticRegression(**EXACT), n_splits=20, random_state=0), X, y, 2)
    np.testing.assert_allclose(ours.base, theirs.base, rtol=1e-4)


@pytest.mark.parametrize(
    "estimator",
    [
        Lasso(),
        LinearRegression(positive=True),
        Ridge(solver="lsqr"),
        LogisticRegression(class_weight="balanced"),
        LogisticRegression(solver="liblinear"),
    ],
    ids=repr,
)
def test_other_models_and_parameters_are_fitted_one_by_one(estimator):
    task = "classification" if isinstance(estimator, LogisticRegression) else "regression"
    bound = PPI(estimator, n_splits=5).bind(read_table(*problem(task), task="auto", owner="test"))
    assert type(bound._risks_about(6, is_marginal=True)) is ModelRisks


def test_sparse_columns_and_several_classes_are_fitted_one_by_one():
    X, y = problem("classification")
    for columns, target in ((sp.csr_array(X), y), (X, np.arange(80) % 3)):
        bound = PPI(LogisticRegression(), n_splits=5).bind(
            read_table(columns, target, task="auto", owner="test")
        )
        assert type(bound._risks_about(6, is_marginal=True)) is ModelRisks


@pytest.mark.parametrize("model", [LinearRegression(), Ridge(0.0), LogisticRegression(C=1e6)], ids=repr)
def test_a_column_that_is_constant_in_the_train_parts_predicts_the_mean(model):
    """The mean of many 0.1 is not 0.1: without care the rounding error becomes a slope of 1e16."""
    rng = np.random.default_rng(0)
    X = np.full((60, 2), 0.1)
    X[50:] = rng.normal(size=(10, 2))
    y = rng.normal(size=60)
    if isinstance(model, LogisticRegression):
        y = (y > 0).astype(int)
    splits = [(rng.permutation(50)[:43], np.arange(50, 60)) for _ in range(5)]
    answer = PPI(model, splitter=splits, significance="paired-t", random_state=0).evaluate(X, y, 0)
    assert answer.pvalue == 1.0
    assert answer.effect == 0.0
