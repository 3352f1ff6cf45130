"""Which penalty the engine's linear models have, and when there is an optimum."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from ppfs.independence._predictive.risks.linear.logistic import Logistic
from ppfs.independence._predictive.risks.linear.recipe import _l1_ratio
from ppfs.independence._predictive.risks.linear.target import TrainTarget


@pytest.mark.parametrize(
    ("parameters", "expected"),
    [
        ({}, 0.0),
        ({"l1_ratio": None}, 0.0),
        ({"l1_ratio": 0.3}, 0.3),
        ({"penalty": "deprecated", "l1_ratio": 1.0}, 1.0),
        ({"penalty": "elasticnet", "l1_ratio": 0.25}, 0.25),
        ({"penalty": "elasticnet", "l1_ratio": None}, 0.0),
        ({"penalty": "l1", "l1_ratio": None}, 1.0),
        ({"penalty": "l1", "l1_ratio": 1.0}, 1.0),
        ({"penalty": "l1", "l1_ratio": 0.5}, None),
        ({"penalty": "l2", "l1_ratio": 0.0}, 0.0),
        ({"penalty": "l2", "l1_ratio": 0.5}, None),
        ({"penalty": None}, 0.0),
    ],
)
def test_the_share_of_the_l1_penalty(parameters, expected):
    assert _l1_ratio(parameters) == expected


def test_without_a_penalty_rows_have_to_outnumber_the_coefficients():
    free, penalized = (Logistic(penalty, True, None) for penalty in (0.0, 1.0))
    assert [free.can_fit(n, 10) for n in (8, 9, 10)] == [True, False, False]
    assert penalized.can_fit(1000, 10)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_more_regressors_than_rows_of_several_classes(n_classes):
    """The coefficients are found from the rows; columns away from zero move the intercepts, each by its own class."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(12, 30)) + np.arange(30)
    codes = np.arange(12) % n_classes
    target = TrainTarget(codes, np.arange(n_classes), None)
    slopes, intercepts = Logistic(2.0, True, None).data(np.ascontiguousarray(X.T), target).fit()
    twin = LogisticRegression(C=0.5, tol=1e-10, max_iter=10_000).fit(X, codes)
    scores, expected = X @ slopes.T + intercepts, twin.decision_function(X).reshape(12, -1)
    if n_classes > 2:
        scores, expected = (part - part.mean(axis=1, keepdims=True) for part in (scores, expected))
    np.testing.assert_allclose(scores, expected, atol=1e-4)
