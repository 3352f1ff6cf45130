"""What callers may ask of the wrappers: columns to keep, missing values to fill, a number to reach."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.pipeline import make_pipeline

from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import PermutationImportance, Stepwise

every_wrapper = pytest.mark.parametrize(
    "wrapper",
    [
        Stepwise(),
        PermutationImportance(threshold=0.05),
        PermutationImportance(select="pvalue", n_nulls=20, n_repeats=2),
        PermutationImportance(select="cv"),
        PermutationImportance(select="n_features", n_features=1),
    ],
    ids=["stepwise", "threshold", "pvalue", "cv", "n_features"],
)


@pytest.fixture(scope="module")
def frame():
    return pd.DataFrame(np.random.default_rng(0).normal(size=(150, 4)), columns=["a", "b", "c", "d"])


def fitted(wrapper, X, y, **parameters):
    return clone(wrapper).set_params(estimator=LinearRegression(), random_state=0, **parameters).fit(X, y)


@every_wrapper
def test_always_keep_is_selected(wrapper, frame):
    y = 3 * frame["a"] + 0.1 * frame["b"]
    assert "d" not in fitted(wrapper, frame, y).get_feature_names_out()
    for name in ("d", 3, ["d"]):
        assert "d" in fitted(wrapper, frame, y, always_keep=name).get_feature_names_out()
    with pytest.raises(InvalidInputError, match="always_keep: There is no column 'e'"):
        fitted(wrapper, frame, y, always_keep="e")


def test_what_is_kept_is_there_from_the_start(frame):
    y = 3 * frame["a"]
    stepwise = fitted(Stepwise(), frame, y, always_keep="d")
    assert stepwise.selected_.tolist() == [3, 0]
    assert [move.feature for move in stepwise.moves_] == [0]
    by_length = fitted(PermutationImportance(select="cv"), frame, y, always_keep=["c", "d"])
    assert by_length.cv_scores_.shape == (3,)


@every_wrapper
def test_min_features_is_reached_with_the_next_best(wrapper, frame):
    y = 3 * frame["a"] + 0.1 * frame["b"]
    free = fitted(wrapper, frame, y)
    n_found = int(free.support_.sum())
    assert n_found < 3
    filled = fitted(wrapper, frame, y, min_features=3)
    assert filled.support_.sum() == 3
    assert (filled.support_ >= free.support_).all()
    with pytest.raises(InvalidInputError, match="min_features=5, but there are only 4 columns"):
        fitted(wrapper, frame, y, min_features=5)


@every_wrapper
def test_nothing_to_find_does_not_stop_a_pipeline(wrapper, frame):
    y = np.random.default_rng(1).permutation(np.arange(150.0))
    selector = fitted(wrapper, frame, y, min_features=1)
    assert make_pipeline(selector, LinearRegression()).fit(frame, y).predict(frame).shape == (150,)


@every_wrapper
def test_gaps_are_filled_on_request(wrapper, frame):
    y = 3 * frame["a"] + 0.1 * frame["b"]
    gappy = frame.mask(np.random.default_rng(0).random(frame.shape) < 0.05)
    with pytest.raises(
        InvalidInputError, match=r'LinearRegression does not accept missing values.*impute="median"'
    ):
        fitted(wrapper, gappy, y)
    assert fitted(wrapper, gappy, y, impute="median").support_[0]
    whole = fitted(wrapper, frame, y, impute="median")
    assert whole.support_.tolist() == fitted(wrapper, frame, y).support_.tolist()


def test_gaps_may_stand_beside_categories(frame):
    gappy = frame.mask(frame > 1.5).assign(kind=np.where(frame["a"] > 0, "x", "y"))
    selector = Stepwise(LogisticRegression(), impute="median", random_state=0).fit(gappy, frame["a"] > 0)
    assert selector.get_feature_names_out().tolist() == ["kind"]
