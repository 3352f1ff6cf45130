"""Stepwise selection."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import Stepwise


@pytest.fixture
def sample():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 6))
    return X, X[:, 1] - 2 * X[:, 4] + 0.3 * rng.normal(size=300)


def test_finds_the_columns_of_a_linear_model(sample):
    X, y = sample
    fitted = Stepwise(LinearRegression(), random_state=0).fit(X, y)
    assert fitted.selected_.tolist() == [4, 1]
    assert [move.score for move in fitted.moves_] == sorted(move.score for move in fitted.moves_)
    assert fitted.score_ > 0.9


def test_backward_step_removes_what_later_columns_replace():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    # The noisy sum is the best single column, and superfluous once both parts are in.
    X = np.column_stack([a + b + 0.5 * rng.normal(size=500), a, b])
    fitted = Stepwise(LinearRegression(), random_state=0).fit(X, a + b + 0.1 * rng.normal(size=500))
    assert sorted(fitted.selected_.tolist()) == [1, 2]
    assert [(move.feature, move.is_added) for move in fitted.moves_][-1] == (0, False)


def test_nothing_helps_noise():
    rng = np.random.default_rng(0)
    fitted = Stepwise(LinearRegression(), tol=0.02, random_state=0).fit(
        rng.normal(size=(300, 3)), rng.normal(size=300)
    )
    assert fitted.selected_.size == 0
    assert fitted.moves_ == []


def test_order_of_the_columns_does_not_matter(sample):
    X, y = sample
    frame = pd.DataFrame(X, columns=list("abcdef"))
    straight = Stepwise(random_state=0).fit(frame, y)
    turned = Stepwise(random_state=0).fit(frame[list("fedcba")], y)
    assert set(straight.get_feature_names_out()) == set(turned.get_feature_names_out())
    assert straight.score_ == turned.score_


def test_larger_tolerance_selects_fewer(sample):
    X, y = sample
    assert Stepwise(LinearRegression(), tol=0.5, random_state=0).fit(X, y).selected_.tolist() == [4]


def test_scoring_is_used(sample):
    X, y = sample
    fitted = Stepwise(LinearRegression(), scoring="neg_mean_absolute_error", random_state=0).fit(X, y)
    assert fitted.score_ < 0


def test_regressor_takes_whole_numbers_as_a_quantity(sample):
    X, y = sample
    fitted = Stepwise(LinearRegression(), random_state=0).fit(X, np.round(y).astype(int))
    assert fitted.task_ == "regression"


def test_more_folds_than_rows_are_refused():
    with pytest.raises(InvalidInputError, match="cv=5 is more than the 4 rows"):
        Stepwise().fit(np.eye(4), [0.1, 0.2, 0.3, 0.4])
