"""Risks of every kind of model and table: of single columns, of members, of added features, and what models predict."""

import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn
from checks.recorded import Record, shown
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    TweedieRegressor,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    PolynomialFeatures,
    RobustScaler,
    SplineTransformer,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._data import read_table
from ppfs.independence import PPI, CrossFitPPI
from ppfs.models import BoostedLinearClassifier, BoostedLinearRegressor

RECORD = Record(__file__)
N = 60

# Before, penalties had other names, and trees treated missing values and weights in another way.
pytestmark = pytest.mark.skipif(
    tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8), reason="an older scikit-learn"
)


def numbers():
    rng = np.random.default_rng(31)
    X = rng.normal(size=(N, 5)) * [1.0, 20.0, 1.0, 1.0, 0.5] + [0.0, 50.0, 0.0, 0.0, 2.0]
    X[:, 2] = np.exp(X[:, 2])
    X[:, 3] = np.digitize(X[:, 3], [-0.4, 0.3])
    # Processors differ in the last bit of exp, and trees decide ties by it.
    X = np.round(X, 6)
    signal = X[:, 0] + 0.03 * (X[:, 1] - 50.0) + 0.5 * np.log(X[:, 2]) + 0.5 * X[:, 3]
    return X, np.round(signal + 0.6 * rng.normal(size=N), 6)


def mixed():
    X, signal = numbers()
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["d"] = pd.Categorical(np.array(["low", "mid", "high"])[X[:, 3].astype(int)])
    frame["b"] = pd.Categorical(np.where(X[:, 1] > 50.0, "yes", "no"))
    return frame, signal


def missing():
    X, signal = numbers()
    X[::7, 0] = np.nan
    X[3:50:5, 2] = np.nan
    return X, signal


def sparse():
    X, signal = numbers()
    return sp.csc_array(np.where(X > 0.8, X, 0.0)), signal


TARGETS = {
    "number": lambda signal: signal,
    "two": lambda signal: np.where(signal > 0.8, "b", "a"),
    "three": lambda signal: np.digitize(signal, [0.3, 1.4]),
    "count": lambda signal: np.maximum(np.rint(signal + 0.5), 0.0),
    "positive": lambda signal: np.exp(0.5 * signal),
}

PAIRED = {"n_splits": 5, "random_state": 2}
FOLDS = {"n_folds": 3, "n_draws": 3, "random_state": 2, "knockoff": "permutation"}
TESTS = {
    "paper": lambda model: PPI(model, **PAIRED),
    "two draws": lambda model: PPI(model, n_draws=2, **PAIRED),
    "conditional": lambda model: PPI(model, knockoff="conditional", n_draws=2, **PAIRED),
    "folds": lambda model: CrossFitPPI(model, **FOLDS),
    "conditional folds": lambda model: CrossFitPPI(model, **FOLDS | {"knockoff": "conditional"}),
    "stop": lambda model: CrossFitPPI(
        model, **FOLDS | {"significance": "randomisation", "n_draws": 45, "early_stop": True}
    ),
    "median": lambda model: PPI(model, impute="median", **PAIRED),
    "errors": lambda model: PPI(model, loss="zero-one", **PAIRED),
    "absolute": lambda model: PPI(model, loss="absolute", **PAIRED),
    "logarithms": lambda model: CrossFitPPI(model, loss="log-loss", **FOLDS),
    "hinge": lambda model: PPI(model, loss="hinge", **PAIRED),
    "balanced": lambda model: PPI(model, class_weight="balanced", **PAIRED),
}

WEIGHTS = {"sample_weight": 1.0 + np.arange(N) % 3}
GROUPED = {"feature_groups": {"both": [0, 3], "other": [1, 4]}}
EXACT = {"solver": "newton-cholesky", "tol": 1e-10, "max_iter": 1000}
NEWTON = {"solver": "newton-cholesky", "tol": 1e-10}
TREE = {"max_depth": 4, "min_samples_leaf": 3, "random_state": 0}
FOREST = {"n_estimators": 4, "max_depth": 3, "random_state": 0}
BOOSTING = {"max_iter": 6, "min_samples_leaf": 5, "random_state": 0, "max_leaf_nodes": 6}

CASES = [
    *((Ridge(0.5), "number", test, numbers, {}) for test in ("paper", "conditional", "folds", "stop")),
    (Ridge(0.5), "number", "conditional folds", mixed, {}),
    (Ridge(0.5, fit_intercept=False), "number", "folds", numbers, WEIGHTS),
    (Ridge(0.5), "number", "paper", mixed, WEIGHTS),
    (Ridge(0.5), "number", "median", missing, {}),
    (Ridge(0.5), "number", "two draws", numbers, GROUPED),
    (Ridge(0.5), "number", "absolute", sparse, {}),
    (LinearRegression(), "number", "folds", numbers, WEIGHTS),
    (Lasso(0.05), "number", "folds", numbers, {}),
    (ElasticNet(0.05, l1_ratio=0.3), "number", "paper", numbers, WEIGHTS),
    (ElasticNet(0.05, fit_intercept=False, positive=True), "number", "paper", numbers, {}),
    (make_pipeline(StandardScaler(), Ridge()), "number", "conditional", numbers, {}),
    (make_pipeline(RobustScaler(), MinMaxScaler(), Lasso(0.01)), "number", "conditional", numbers, {}),
    (make_pipeline(MaxAbsScaler(), SplineTransformer(), Ridge()), "number", "conditional", numbers, {}),
    (make_pipeline(SplineTransformer(4, degree=2), Ridge()), "number", "folds", mixed, {}),
    (make_pipeline(StandardScaler(), PolynomialFeatures(2), Ridge()), "number", "folds", numbers, {}),
    *(
        (LogisticRegression(C=0.5, **EXACT), "two", test, numbers, {})
        for test in ("paper", "folds", "hinge", "errors")
    ),
    *(
        (LogisticRegression(C=0.5, **EXACT), "three", test, numbers, {})
        for test in ("conditional", "logarithms")
    ),
    (LogisticRegression(C=0.5, **EXACT), "three", "balanced", mixed, WEIGHTS),
    (LogisticRegression(C=0.5, class_weight="balanced", **EXACT), "three", "paper", numbers, {}),
    (LogisticRegression(C=np.inf, fit_intercept=False, **EXACT), "two", "paper", numbers, {}),
    (
        LogisticRegression(l1_ratio=1.0, solver="saga", max_iter=9000, tol=1e-9),
        "three",
        "paper",
        numbers,
        WEIGHTS,
    ),
    (LogisticRegression(solver="liblinear", intercept_scaling=2.0), "two", "folds", numbers, {}),
    *(
        (DecisionTreeRegressor(**TREE), "number", test, numbers, {})
        for test in ("paper", "two draws", "folds", "conditional")
    ),
    *(
        (DecisionTreeClassifier(**TREE), "three", test, numbers, {})
        for test in ("paper", "stop", "balanced", "errors")
    ),
    (DecisionTreeClassifier(**TREE), "two", "conditional folds", mixed, {}),
    (DecisionTreeRegressor(**TREE), "number", "paper", numbers, GROUPED),
    (DecisionTreeRegressor(**TREE), "number", "folds", numbers, WEIGHTS),
    (DecisionTreeClassifier(**TREE), "two", "paper", missing, WEIGHTS),
    (DecisionTreeRegressor(**TREE), "number", "absolute", sparse, {}),
    *(
        (RandomForestRegressor(**FOREST), "number", test, numbers, {})
        for test in ("paper", "two draws", "folds")
    ),
    (RandomForestRegressor(max_features=0.5, max_samples=0.6, **FOREST), "number", "paper", numbers, {}),
    (RandomForestClassifier(**FOREST), "three", "folds", numbers, {}),
    (RandomForestClassifier(**FOREST), "two", "paper", missing, {}),
    (RandomForestClassifier(**FOREST), "two", "paper", numbers, WEIGHTS),
    (RandomForestRegressor(bootstrap=False, **FOREST), "number", "paper", numbers, {}),
    (ExtraTreesRegressor(**FOREST), "number", "folds", numbers, {}),
    (BaggingRegressor(n_estimators=4, random_state=0), "number", "paper", numbers, {}),
    (BaggingClassifier(n_estimators=4, random_state=0), "three", "folds", numbers, WEIGHTS),
    *(
        (HistGradientBoostingRegressor(**BOOSTING), "number", test, numbers, {})
        for test in ("paper", "folds", "conditional")
    ),
    (HistGradientBoostingRegressor(**BOOSTING), "number", "paper", mixed, {}),
    (HistGradientBoostingRegressor(loss="poisson", **BOOSTING), "count", "paper", missing, {}),
    (HistGradientBoostingClassifier(**BOOSTING), "three", "stop", numbers, {}),
    (HistGradientBoostingClassifier(**BOOSTING), "two", "paper", mixed, GROUPED),
    *((BoostedLinearRegressor(), "number", test, numbers, {}) for test in ("folds", "paper")),
    (BoostedLinearClassifier(), "three", "folds", mixed, {}),
    (BoostedLinearClassifier(), "two", "paper", numbers, {}),
    (GaussianNB(), "three", "folds", numbers, {}),
    (GaussianNB(var_smoothing=0.1), "two", "errors", numbers, {}),
    (GaussianNB(), "two", "stop", mixed, {}),
    (PoissonRegressor(alpha=0.1, **NEWTON), "count", "folds", numbers, {}),
    (GammaRegressor(alpha=0.01, **NEWTON), "positive", "paper", numbers, WEIGHTS),
    (TweedieRegressor(power=1.4, alpha=0.1, fit_intercept=False, **NEWTON), "count", "absolute", numbers, {}),
    (KNeighborsRegressor(4), "number", "two draws", numbers, {}),
    (KNeighborsRegressor(4), "number", "stop", numbers, GROUPED),
    (KNeighborsClassifier(4), "three", "folds", numbers, {}),
    (RidgeClassifier(), "three", "paper", numbers, {}),
    (make_pipeline(StandardScaler(), KNeighborsClassifier(4)), "two", "median", missing, {}),
    (DummyClassifier(), "two", "paper", numbers, {}),
]


def name_of(case):
    model, target, test, data, said = case
    return " ".join(f"{model!r}, {target}, {test}, {data.__name__}, {', '.join(said) or 'plain'}".split())


def bound_of(model, target, test, data, said):
    made = TESTS[test](model)
    X, signal = data()
    task = "regression" if target in ("number", "count", "positive") else "classification"
    return made.bind(read_table(X, TARGETS[target](signal), task=task, owner=made, **said))


def risks_shown(risks):
    parts = ("base", "replaced", "by_draw", "moments")
    found = {
        part: None if getattr(risks, part) is None else shown(np.nan_to_num(getattr(risks, part)))
        for part in parts
    }
    return found | {
        "coefficients": None if risks.n_coefficients is None else list(map(float, risks.n_coefficients)),
        "unused": risks.unused,
    }


@pytest.mark.parametrize("case", CASES, ids=name_of)
def test_risks_are_on_record(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bound = bound_of(*case)
        (source,) = bound._risks_about(bound.table.target, is_marginal=False)
        n_features = bound.table.n_features
        found = {"note": source.note, "batches": [source.batch_sizes(are) for are in (False, True)]}
        singles = [x for x in range(n_features) if bound.table.is_single(x)]
        if singles:
            grower = source.grower()
            grower.prepare()
            found["single"] = risks_shown(grower.risks(bound.table.block(singles).read()))
            found["one"] = risks_shown(grower.risks(bound.table.block(singles[:1]).read()))
            found["grower"] = [grower.is_quick, grower.is_quick_with_categories, grower.least_columns]
        every = frozenset(range(n_features))
        found["members"] = risks_shown(source.of_members(sorted(every), every))
        few = every - {n_features - 1}
        found["fewer members"] = risks_shown(source.of_members(sorted(few), few))
        found["added"] = risks_shown(source.of_added([0, 1], every - {0, 1}))
        found["one added"] = risks_shown(source.of_added([1], frozenset({0})))
        views = source.views(0, few)
        found["views"] = (
            None if views is None else [shown(np.nan_to_num(one)) for one in (views.own, views.without)]
        )
        later = source.views_later(1, frozenset({0, 1}), is_added=True)()
        found["later"] = (
            None if later is None else [shown(np.nan_to_num(one)) for one in (later.own, later.without)]
        )
        found["fits"] = source.n_fits
    RECORD.check(name_of(case), found)


NOTES = [
    (Ridge(alpha=np.array(2.0)), "number", "paper", numbers, {}),
    (Ridge(positive=True), "number", "paper", numbers, {}),
    (Ridge(fit_intercept=False), "number", "paper", mixed, {}),
    (Ridge(), "number", "paper", mixed, GROUPED),
    (Lasso(), "number", "paper", mixed, {}),
    (ElasticNet(alpha=0.0), "number", "paper", numbers, {}),
    (LogisticRegression(C=np.inf), "two", "paper", mixed, {}),
    (LogisticRegression(class_weight="balanced"), "two", "paper", numbers, WEIGHTS),
    (LogisticRegression(solver="liblinear"), "three", "paper", numbers, {}),
    (LogisticRegression(l1_ratio=0.5), "two", "paper", numbers, {}),
    (LogisticRegression(C=np.inf, solver="liblinear"), "two", "paper", numbers, {}),
    (LogisticRegression(dual=True, solver="liblinear"), "two", "paper", numbers, {}),
    (make_pipeline(PolynomialFeatures(2), Ridge()), "number", "paper", mixed, {}),
    (make_pipeline(SplineTransformer(), PolynomialFeatures(2), Ridge()), "number", "paper", numbers, {}),
    (make_pipeline(PolynomialFeatures(2), PolynomialFeatures(2), Ridge()), "number", "paper", numbers, {}),
    (make_pipeline(SplineTransformer(sparse_output=True), Ridge()), "number", "paper", numbers, {}),
    (make_pipeline("passthrough", StandardScaler(), Ridge()), "number", "paper", numbers, WEIGHTS),
    (make_pipeline(StandardScaler(with_mean=False), Ridge()), "number", "paper", sparse, {}),
    (make_pipeline(MinMaxScaler(clip=True), Ridge()), "number", "paper", numbers, {}),
    (DecisionTreeRegressor(splitter="random"), "number", "paper", numbers, {}),
    (DecisionTreeRegressor(criterion="absolute_error"), "number", "paper", numbers, {}),
    (DecisionTreeRegressor(), "number", "paper", sparse, WEIGHTS),
    (DecisionTreeRegressor(), "number", "median", missing, {}),
    (DecisionTreeRegressor(ccp_alpha=0.1), "number", "paper", missing, {}),
    (RandomForestRegressor(oob_score=True), "number", "paper", numbers, {}),
    (RandomForestRegressor(n_estimators=100_000), "number", "paper", numbers, {}),
    (RandomForestRegressor(2, bootstrap=False), "number", "paper", numbers, WEIGHTS),
    (ExtraTreesRegressor(2), "number", "paper", missing, {}),
    (BaggingRegressor(KNeighborsRegressor(), 2), "number", "paper", numbers, {}),
    (BaggingRegressor(DecisionTreeRegressor(max_leaf_nodes=4), 2), "number", "paper", numbers, {}),
    (BaggingRegressor(n_estimators=2, bootstrap_features=True), "number", "paper", numbers, {}),
    (HistGradientBoostingRegressor(early_stopping=True), "number", "paper", numbers, {}),
    (HistGradientBoostingRegressor(loss="absolute_error"), "number", "paper", numbers, {}),
    (HistGradientBoostingRegressor(loss="poisson"), "number", "paper", numbers, {}),
    (HistGradientBoostingRegressor(loss="gamma"), "count", "paper", numbers, {}),
    (HistGradientBoostingRegressor(loss="gamma", max_iter=2), "positive", "paper", numbers, {}),
    (HistGradientBoostingRegressor(max_bins=2), "number", "paper", mixed, {}),
    (HistGradientBoostingRegressor(max_bins=3, max_iter=2), "number", "paper", mixed, {}),
    (HistGradientBoostingClassifier(max_bins=2), "three", "paper", numbers, {}),
    (HistGradientBoostingRegressor(max_iter=100_000), "number", "paper", numbers, {}),
    (BoostedLinearRegressor(n_rounds=100_000), "number", "paper", numbers, {}),
    (BoostedLinearRegressor(), "number", "paper", sparse, {}),
    (GaussianNB(priors=[0.3, 0.7]), "two", "paper", numbers, {}),
    (GaussianNB(), "two", "paper", numbers, WEIGHTS),
    (GaussianNB(), "two", "median", missing, {}),
    (PoissonRegressor(), "number", "paper", numbers, {}),
    (GammaRegressor(), "count", "paper", numbers, {}),
    (TweedieRegressor(power=2.5), "positive", "paper", numbers, {}),
    (TweedieRegressor(power=0.5), "positive", "paper", numbers, {}),
    (TweedieRegressor(power=1.0, link="identity"), "count", "paper", numbers, {}),
    (PoissonRegressor(), "count", "median", missing, {}),
]


@pytest.mark.parametrize("case", NOTES, ids=name_of)
def test_what_fits_a_model_and_why_is_on_record(case):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        bound = bound_of(*case)
        RECORD.check(f"note: {name_of(case)}", bound.notes())
