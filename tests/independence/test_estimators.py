"""The estimators that people use: each finds a planted link and drops a column of noise, from numbers and from text."""

import numpy as np
import pandas as pd
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Lasso, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs.independence import PPI, CrossFitPPI

N_ROWS = 120


def lightgbm(kind):
    module = pytest.importorskip("lightgbm")
    return getattr(module, f"LGBM{kind}")(n_estimators=10, min_child_samples=5, n_jobs=1, verbose=-1)


def xgboost(kind):
    module = pytest.importorskip("xgboost")
    return getattr(module, f"XGB{kind}")(n_estimators=10, max_depth=3, n_jobs=1)


def catboost(kind):
    module = pytest.importorskip("catboost")
    return getattr(module, f"CatBoost{kind}")(
        iterations=15, depth=3, learning_rate=0.3, thread_count=1, verbose=0, allow_writing_files=False
    )


CLASSIFIERS = {
    "DecisionTree": lambda: DecisionTreeClassifier(max_depth=4),
    "DecisionTree through scikit-learn": lambda: DecisionTreeClassifier(max_depth=4, max_features=1.0),
    "RandomForest": lambda: RandomForestClassifier(10),
    "ExtraTrees": lambda: ExtraTreesClassifier(10),
    "HistGradientBoosting": lambda: HistGradientBoostingClassifier(max_iter=8, min_samples_leaf=5),
    "LogisticRegression": LogisticRegression,
    "SVC": SVC,
    "SVC with probabilities": lambda: CalibratedClassifierCV(SVC(), cv=2, ensemble=False),
    "LinearSVC": LinearSVC,
    "KNeighbors": KNeighborsClassifier,
    "GaussianNB": GaussianNB,
    "MLP": lambda: MLPClassifier(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=2000, alpha=1.0),
    "Pipeline": lambda: make_pipeline(StandardScaler(), LogisticRegression()),
    "GridSearchCV": lambda: GridSearchCV(LogisticRegression(), {"C": [0.1, 1.0]}, cv=2),
    "CalibratedClassifierCV": lambda: CalibratedClassifierCV(LinearSVC(), cv=2),
    "LightGBM": lambda: lightgbm("Classifier"),
    "XGBoost": lambda: xgboost("Classifier"),
    "CatBoost": lambda: catboost("Classifier"),
}
REGRESSORS = {
    "DecisionTree": lambda: DecisionTreeRegressor(max_depth=4),
    "RandomForest": lambda: RandomForestRegressor(10),
    "ExtraTrees": lambda: ExtraTreesRegressor(10),
    "HistGradientBoosting": lambda: HistGradientBoostingRegressor(max_iter=8, min_samples_leaf=5),
    "Ridge": Ridge,
    "Lasso": lambda: Lasso(0.05),
    "SVR": SVR,
    "KNeighbors": KNeighborsRegressor,
    "MLP": lambda: MLPRegressor(hidden_layer_sizes=(4,), solver="lbfgs", max_iter=2000, alpha=1.0),
    "Pipeline": lambda: make_pipeline(StandardScaler(), Ridge()),
    "GridSearchCV": lambda: GridSearchCV(SVR(), {"C": [1.0, 10.0]}, cv=2),
    "LightGBM": lambda: lightgbm("Regressor"),
    "XGBoost": lambda: xgboost("Regressor"),
    "CatBoost": lambda: catboost("Regressor"),
}
ESTIMATORS = [("classification", *item) for item in CLASSIFIERS.items()] + [
    ("regression", *item) for item in REGRESSORS.items()
]
every_estimator = pytest.mark.parametrize(
    ("task", "name", "make"), ESTIMATORS, ids=[f"{task}-{name}" for task, name, _ in ESTIMATORS]
)
# Both tests are asked about two true nulls for every estimator: at this level, 19 runs of 20 reject none of them.
NULL_LEVEL = 0.05 / (4 * len(ESTIMATORS))

TESTS = {
    # The corrected t test holds its level; the paper's would reject more true nulls.
    "PPI": lambda model: PPI(model, n_splits=6, significance="corrected-t", random_state=0),
    "CrossFitPPI": lambda model: CrossFitPPI(model, n_folds=3, n_draws=2, random_state=0),
}


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "dose": rng.normal(size=N_ROWS),
            "noise": rng.normal(size=N_ROWS),
            "colour": rng.choice(["red", "green", "blue"], size=N_ROWS),
        }
    )


def target(task, strength):
    noise = 0.3 * np.random.default_rng(1).normal(size=N_ROWS)
    score = 3.0 * strength + noise
    return (score > score.mean()).astype(int) if task == "classification" else score


@every_estimator
@pytest.mark.parametrize("test", TESTS)
def test_numbers(frame, task, name, make, test):
    numbers = frame[["dose", "noise"]]
    y = target(task, frame["dose"].to_numpy())
    answer = TESTS[test](make())
    assert answer.evaluate(numbers, y, "dose").pvalue < 0.05
    link, null = (
        answer.evaluate(numbers, y, x, given) for x, given in [("dose", ["noise"]), ("noise", ["dose"])]
    )
    assert link.pvalue < 0.05
    assert null.pvalue > NULL_LEVEL
    assert null.effect < link.effect / 5


@every_estimator
@pytest.mark.parametrize("test", TESTS)
def test_text(frame, task, name, make, test):
    y = target(task, (frame["colour"] == "red").to_numpy() * 1.0)
    answer = TESTS[test](make())
    assert answer.evaluate(frame, y, "colour").pvalue < 0.05
    link, null = (
        answer.evaluate(frame, y, x, given) for x, given in [("colour", ["dose"]), ("dose", ["colour"])]
    )
    assert link.pvalue < 0.05
    assert null.pvalue > NULL_LEVEL
    assert null.effect < link.effect / 5


@pytest.mark.parametrize("wrap", [lambda model: model, lambda model: make_pipeline(StandardScaler(), model)])
def test_xgboost_takes_labels_of_any_kind(frame, wrap):
    numbers = frame[["dose", "noise"]].to_numpy()
    y = target("classification", numbers[:, 0])
    answers = [
        PPI(wrap(xgboost("Classifier")), n_splits=5, loss=loss, random_state=0).evaluate(numbers, labels, 0)
        for loss in ("log-loss", "zero-one")
        for labels in (y, 3 * y - 1, np.where(y == 1, "yes", "no"))
    ]
    assert answers[0] == answers[1] == answers[2]
    assert answers[3] == answers[4] == answers[5]


def test_xgboost_bears_a_train_part_without_a_class(frame):
    """Labels 0 and 2 without 1 are no labels to it."""
    numbers = frame[["dose", "noise"]].to_numpy()
    y = 2 * target("classification", numbers[:, 0])
    y[0] = 1
    splits = [(np.arange(1 + half, N_ROWS, 2), np.arange(0 + half, N_ROWS, 2)) for half in (0, 1)]
    model = PPI(xgboost("Classifier"), splitter=splits, significance="paired-t", random_state=0)
    assert model.evaluate(numbers, y, 0).effect > 0
