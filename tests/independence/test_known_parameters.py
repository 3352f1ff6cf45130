"""A fast path answers for models it knows, with parameters that scikit-learn would take."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.cluster import KMeans
from sklearn.ensemble import BaggingClassifier, IsolationForest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._fitting import KnownParameters
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI, CrossFitPPI
from ppfs.wrappers import Stepwise


@pytest.fixture(scope="module")
def data():
    X = np.random.default_rng(0).normal(size=(40, 2))
    return X, (X[:, 0] > 0).astype(int)


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
@pytest.mark.parametrize(
    ("estimator", "wrong"),
    [
        (DecisionTreeClassifier(max_depth=-1), "max_depth"),
        (DecisionTreeClassifier(max_depth=2.5), "max_depth"),
        (DecisionTreeClassifier(min_samples_leaf=-2), "min_samples_leaf"),
        (DecisionTreeClassifier(min_samples_split=1), "min_samples_split"),
        (DecisionTreeRegressor(min_samples_leaf=1.5), "min_samples_leaf"),
        (LogisticRegression(C=-1), "'C'"),
        (LogisticRegression(tol=-1.0), "'tol'"),
        (Ridge(alpha=-1.0), "'alpha'"),
        (BaggingClassifier(DecisionTreeClassifier(max_depth=-1)), "max_depth"),
        (make_pipeline(StandardScaler(), LogisticRegression(C=-1)), "'C'"),
    ],
    ids=repr,
)
def test_what_scikit_learn_refuses_no_fast_path_takes(data, make, estimator, wrong):
    with pytest.raises(InvalidInputError, match=f"{wrong}.* must be"):
        make(estimator, random_state=0).evaluate(*data, 0)


def test_what_a_search_replaces_may_be_wrong(data):
    search = GridSearchCV(LogisticRegression(C=-1), {"C": [1.0]}, cv=2)
    assert PPI(search, n_splits=5, random_state=0).evaluate(*data, 0).pvalue < 0.05


class WithoutRules(ClassifierMixin, BaseEstimator):
    """A caller's own model, which declares nothing about its parameters."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        return (np.asarray(X)[:, 0] > 0).astype(int)


@pytest.mark.parametrize("make", [PPI, CrossFitPPI])
def test_a_model_that_declares_no_rules_is_left_to_its_own_fit(data, make):
    assert make(WithoutRules(), random_state=0).evaluate(*data, 0).pvalue < 0.01


def test_models_beside_the_estimator_are_checked_too(data):
    with pytest.raises(InvalidInputError, match=r"marginal_estimator=DecisionTreeClassifier\(max_depth=0\)"):
        PPFS(growth_estimator=DecisionTreeClassifier(max_depth=0)).fit(*data)
    with pytest.raises(InvalidInputError, match=r"conditional=Ridge\(alpha=-1\)"):
        PPFS(knockoff="conditional", conditional=Ridge(alpha=-1)).fit(*data)


@pytest.mark.parametrize("estimator", [KMeans(2), IsolationForest()], ids=repr)
@pytest.mark.parametrize("selector", [PPFS, Stepwise])
def test_what_does_not_learn_from_the_target_is_no_model(data, estimator, selector):
    with pytest.raises(InvalidInputError, match="which does not predict a target"):
        selector(estimator).fit(*data)


class Later(ClassifierMixin, BaseEstimator):
    """A model of a later version: a parameter more, and one fewer."""

    def __init__(self, depth=1, verbose=0, novelty=None):
        self.depth = depth
        self.verbose = verbose
        self.novelty = novelty


KNOWN = KnownParameters(read=("depth",), only={"removed": ("a",)}, without_effect=("verbose",))


@pytest.mark.parametrize(
    ("model", "unknown"),
    [
        (Later(depth=7, verbose=2), None),
        (Later(novelty="sharp"), "novelty='sharp'"),
        (Later(novelty=[1, 2]), "novelty=[1, 2]"),
    ],
    ids=repr,
)
def test_a_parameter_that_no_one_listed_must_have_its_default(model, unknown):
    assert KNOWN.first_unknown(model) == unknown


def test_logistic_regression_needs_no_penalty_parameter(data, monkeypatch):
    """As in versions of scikit-learn that have removed it."""
    own = LogisticRegression.get_params
    monkeypatch.setattr(
        LogisticRegression,
        "get_params",
        lambda self, deep=True: {k: v for k, v in own(self, deep).items() if k != "penalty"},
    )
    bound = PPI(LogisticRegression(), random_state=0)
    selector = PPFS(independence=bound, random_state=0).fit(*data)
    assert "fitted by the engine" in selector.trace_.notes[0]


def test_logistic_regression_with_parameters_that_exclude_each_other_is_left_to_scikit_learn(data):
    with pytest.raises(RuntimeError, match="dual=False"):
        PPI(LogisticRegression(dual=True), random_state=0).evaluate(*data, 0)


def test_an_estimator_that_declares_no_rules_is_left_to_its_own_fit():
    """Most estimators of other packages inherit scikit-learn's check of parameters without declaring any."""

    class Mean(RegressorMixin, BaseEstimator):
        def __init__(self, factor=1.0):
            self.factor = factor

        def fit(self, X, y):
            self.mean_ = self.factor * np.mean(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.mean_)

    X = np.random.default_rng(0).normal(size=(30, 2))
    assert PPI(Mean(), n_splits=5, random_state=0).evaluate(X, X[:, 0], 0).pvalue == 1.0
