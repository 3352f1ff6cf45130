"""The linear fits that boosting starts from, against scikit-learn's on standardized columns."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

from engine.boosting_problems import make_problem
from ppfs._engine import boosted_linear_rules, fit_linear, fit_lines
from ppfs._engine.boosting.rules import Kind


def standardized(X, weights):
    """Return the columns less their means, divided by their standard deviations; missing values are the mean."""
    known = np.where(np.isnan(X), 0.0, weights[:, np.newaxis])
    filled = np.nan_to_num(X)
    center = (known * filled).sum(axis=0) / known.sum(axis=0)
    Z = np.where(np.isnan(X), 0.0, filled - center)
    scale = np.sqrt((known * Z**2).sum(axis=0) / known.sum(axis=0))
    return Z / np.where(scale > 0.0, scale, np.inf)


def table(n_rows, n_columns, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * 3.0 + 1.0
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:, -1] = 7.0  # A constant.
    return X, rng


@pytest.mark.parametrize("n_columns", [3, 40])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_regression_starts_from_ridge_regression(n_columns, is_weighted):
    X, rng = table(25, n_columns)
    y = np.nan_to_num(X[:, 0]) + rng.normal(size=25)
    weights = rng.integers(1, 4, size=25).astype(float) if is_weighted else None
    own = np.ones(25) if weights is None else weights
    start = fit_linear(X, y, int(Kind.NUMBERS), 1, 2.0, weights)
    Z = standardized(X, own)
    expected = Ridge(alpha=2.0).fit(Z, y, own).predict(Z)
    np.testing.assert_allclose(start.raw(X)[:, 0], expected, atol=1e-8)
    assert start.slopes.shape == (1, n_columns)
    assert start.slopes[0, -1] == 0.0


@pytest.mark.parametrize("n_columns", [3, 40])
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_classification_starts_from_logistic_regression(n_columns, n_classes, is_weighted):
    X, rng = table(30, n_columns, seed=n_classes)
    labels = np.arange(30.0) % n_classes
    weights = rng.integers(1, 4, size=30).astype(float) if is_weighted else None
    own = np.ones(30) if weights is None else weights
    n_trees = 1 if n_classes == 2 else n_classes
    start = fit_linear(
        X, labels, int(Kind.TWO_CLASSES if n_classes == 2 else Kind.MORE_CLASSES), n_trees, 2.0, weights
    )
    Z = standardized(X, own)
    twin = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(Z, labels, own)
    raw = start.raw(X)
    assert raw.shape == (30, n_trees)
    expected = twin.decision_function(Z).reshape(30, -1)
    # Scores of several classes have no fixed level.
    level = (
        (lambda scores: scores - scores.mean(axis=1, keepdims=True))
        if n_classes > 2
        else (lambda scores: scores)
    )
    np.testing.assert_allclose(level(raw), level(expected), atol=1e-4)


def test_one_class_starts_from_nothing():
    X, _ = table(12, 3)
    start = fit_linear(X, np.zeros(12), int(Kind.ONE_CLASS), 2, 1.0)
    np.testing.assert_array_equal(start.raw(X), np.zeros((12, 2)))


@pytest.mark.parametrize("n_classes", [0, 2, 3])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_a_line_is_the_linear_fit_on_its_column(n_classes, is_weighted):
    problem = make_problem(3, 24, n_classes, missing=0.1, is_weighted=is_weighted)
    prepared = problem.prepared(problem.losses[0])
    lines = fit_lines(problem.X, prepared, 1.5)
    assert lines.shape == (3, len(problem.train), prepared.n_trees, 3)
    for column in range(3):
        own = problem.X[:, [column]]
        for split, rows in enumerate(problem.train):
            parts = prepared.train_parts
            kind, n_trees = int(parts.kinds[split]), int(parts.n_trees[split])
            weights = prepared.weights_of(split)
            start = fit_linear(own[rows], parts.labels[split, rows], kind, n_trees, 1.5, weights)
            assert len(start.intercepts) == n_trees
            np.testing.assert_allclose(lines[column, split, :n_trees, 0], start.intercepts, atol=1e-7)
            np.testing.assert_allclose(lines[column, split, :n_trees, 1], start.slopes[:, 0], atol=1e-7)
            np.testing.assert_allclose(lines[column, split, :, 2], start.center[0], atol=1e-12)


@pytest.mark.parametrize(("n_classes", "share", "loss"), [(0, 1.0, "squared"), (3, 4.0, "log-loss")])
def test_leaves_are_limited_by_weight(n_classes, share, loss):
    parameters = {
        "learning_rate": 0.1,
        "n_rounds": 7,
        "max_depth": 3,
        "l2_regularization": 2.0,
        "max_bins": 31,
        "min_leaf_weight": 12.0,
    }
    rules = boosted_linear_rules(parameters, n_classes)
    assert (rules.min_samples_leaf, rules.min_hessian, rules.l2_regularization) == (
        1,
        12.0 / share,
        2.0 / share,
    )
    assert (rules.learning_rate, rules.max_iter, rules.max_depth, rules.max_bins) == (0.1, 7, 3, 31)
    assert (rules.max_leaf_nodes, rules.has_weighted_bins, rules.loss) == (None, False, loss)
    assert boosted_linear_rules(parameters, n_classes, "absolute").loss == "absolute"
