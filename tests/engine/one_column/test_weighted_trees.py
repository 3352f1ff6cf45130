"""Trees on one column with row weights and missing values: scikit-learn's, prediction for prediction."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from engine.problems import SHARES_LIKE_SKLEARN, skip_unless_like_sklearn
from ppfs._engine import TreeRules, order_columns, tree_predictions


def _expected(model, X, y, weights, train, test, n_classes):
    fitted = model.fit(X[train], y[train], sample_weight=weights[train])
    if not n_classes:
        return fitted.predict(X[test])[:, np.newaxis]
    shares = np.zeros((len(test), n_classes))
    shares[:, fitted.classes_] = fitted.predict_proba(X[test])
    return shares


def _found(X, y, weights, train, test, n_classes, rules):
    seen = np.zeros((1, len(y)))
    seen[0, train] = weights[train]
    return tree_predictions(order_columns(X), y, n_classes, seen, len(train), test, rules)


@settings(derandomize=True, deadline=None, max_examples=150)
@given(st.data())
def test_predictions_are_scikit_learns(data):
    """Weights and numbers whose sums are exact: cuts that are equally good are so for both."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    n_rows, n_classes = data.draw(st.integers(6, 40)), data.draw(st.sampled_from([0, 2, 3]))
    X = rng.integers(0, data.draw(st.sampled_from([3, 8, 1000])), size=(n_rows, 2)).astype(float)
    X[rng.random(X.shape) < data.draw(st.sampled_from(SHARES_LIKE_SKLEARN))] = np.nan
    y = rng.integers(0, n_classes or 5, size=n_rows)
    weights = rng.choice(data.draw(st.sampled_from([[1.0], [0.5, 1.0, 2.0], [0.0, 1.0]])), size=n_rows)
    train, test = np.split(rng.permutation(n_rows), [n_rows - n_rows // 4])
    weights[train[0]] = 1.0
    criterion = data.draw(st.sampled_from(["gini", "entropy"])) if n_classes else "squared_error"
    limits = {
        "max_depth": data.draw(st.sampled_from([None, 1, 3])),
        "min_samples_leaf": data.draw(st.sampled_from([1, 2, 0.2])),
        "min_samples_split": data.draw(st.sampled_from([2, 5])),
    }
    found = _found(X, y, weights, train, test, n_classes, TreeRules(criterion, **limits))
    kind = DecisionTreeClassifier if n_classes else DecisionTreeRegressor
    for column in range(2):
        model = kind(criterion=criterion, random_state=0, **limits)
        expected = _expected(model, X[:, [column]], y, weights, train, test, n_classes)
        np.testing.assert_allclose(found[column], expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("n_classes", [0, 3])
@pytest.mark.parametrize("max_depth", [None, 4])
def test_real_weights_and_numbers_give_scikit_learns_predictions(n_classes, max_depth):
    skip_unless_like_sklearn(0.2)
    rng = np.random.default_rng(n_classes)
    X = rng.normal(size=(120, 10)).astype(np.float32)
    X[rng.random(X.shape) < 0.2] = np.nan
    y = rng.integers(0, n_classes, size=120) if n_classes else rng.normal(size=120)
    weights = rng.uniform(0.2, 3.0, size=120)
    train, test = np.arange(90), np.arange(90, 120)
    criterion, kind = (
        ("gini", DecisionTreeClassifier) if n_classes else ("squared_error", DecisionTreeRegressor)
    )
    found = _found(X, y, weights, train, test, n_classes, TreeRules(criterion, max_depth))
    for column in range(10):
        model = kind(max_depth=max_depth, random_state=0)
        expected = _expected(model, X[:, [column]], y, weights, train, test, n_classes)
        np.testing.assert_allclose(found[column], expected, rtol=1e-12, atol=1e-12)


def test_several_trees_are_averaged_and_columns_do_not_touch_each_other():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.integers(0, 2, size=40)
    weights = rng.integers(0, 3, size=(5, 40)).astype(float)
    test = np.arange(30, 40)
    weights[:, test] = 0.0
    together = tree_predictions(order_columns(X), y, 2, weights, 30, test, TreeRules())
    one_by_one = [
        [
            tree_predictions(order_columns(X[:, [j]]), y, 2, weights[[tree]], 30, test, TreeRules())[0]
            for tree in range(5)
        ]
        for j in range(3)
    ]
    np.testing.assert_allclose(together, np.mean(one_by_one, axis=1), rtol=1e-14)
