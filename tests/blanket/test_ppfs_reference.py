"""The package and the plain-loop twin of the paper agree."""

import numpy as np
import pytest
from reference import drawing, paper
from sklearn.datasets import make_classification, make_regression
from sklearn.linear_model import LogisticRegression, SGDRegressor
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS

N_SPLITS = 6


def problem(task, seed):
    if task == "classification":
        X, y = make_classification(
            120, 7, n_informative=3, n_redundant=2, n_classes=3, n_clusters_per_class=1, random_state=seed
        )
    else:
        X, y = make_regression(90, 6, n_informative=3, noise=20.0, random_state=seed)
    X[:, -1] = np.round(X[:, -1])
    return X, y


# Forests of splits: scikit-learn's tree through its public API, never the engine, because the twin
# uses scikit-learn's tree, which breaks ties between columns at random.
MODELS = {
    "classification": [DecisionTreeClassifier(max_features=1.0, splitter="best"), LogisticRegression()],
    "regression": [DecisionTreeRegressor(max_features=1.0), SGDRegressor()],
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("task", ["classification", "regression"])
@pytest.mark.parametrize("which", [0, 1])
def test_same_pvalues_and_blanket_as_the_paper_in_plain_loops(task, seed, which):
    X, y = problem(task, seed)
    model = MODELS[task][which]
    loss = paper.mean_log_loss if task == "classification" else paper.mean_squared_error
    splits = paper.splits_of(X, y, n_splits=N_SPLITS, seed=seed, fold=0, stratified=task == "classification")
    blanket, pvalues = paper.search(X, y, model=model, loss=loss, splits=splits, alpha=0.05)

    ours = PPFS(model, n_splits=N_SPLITS, random_state=seed).fit(X, y)

    assert set(ours.blanket_) == set(blanket)
    np.testing.assert_allclose(ours.pvalues_, pvalues, rtol=0, atol=1e-12)


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_same_blanket_from_folds(task):
    X, y = problem(task, seed=3)
    model = MODELS[task][0]
    loss = paper.mean_log_loss if task == "classification" else paper.mean_squared_error
    labels = y if task == "classification" else None
    folds = drawing.outer_folds(len(X), labels, 3, drawing.seed_from(drawing.generator(11)))
    blankets = []
    for number, (rows, _) in enumerate(folds, start=1):
        splits = paper.splits_of(
            X[rows], y[rows], n_splits=N_SPLITS, seed=11, fold=number, stratified=task == "classification"
        )
        blankets.append(paper.search(X[rows], y[rows], model=model, loss=loss, splits=splits, alpha=0.05)[0])
    best, z = paper.aggregated(blankets)

    ours = PPFS(model, n_splits=N_SPLITS, n_folds=3, random_state=11).fit(X, y)

    assert [set(fold.blanket) for fold in ours.folds_] == [set(blanket) for blanket in blankets]
    assert [fold.z_score for fold in ours.folds_] == pytest.approx(z)
    assert set(ours.blanket_) == set(blankets[best])
