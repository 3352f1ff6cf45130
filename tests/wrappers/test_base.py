"""What every wrapper does around its choice of columns, which is given here by hand."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils import get_tags

from ppfs.exceptions import InvalidInputError
from ppfs.wrappers import Stepwise, _base
from ppfs.wrappers._base import WRAPPER_CONSTRAINTS, BaseWrapper


@dataclass(kw_only=True, eq=False, repr=False)
class Given(BaseWrapper):
    """Selects what it is told to, and notes what it is asked."""

    _parameter_constraints = {**WRAPPER_CONSTRAINTS, "chosen": [tuple]}

    chosen: tuple = ()

    def _select(self, table, estimator, entropy, callers, kept):
        self.asked_ = (table, estimator, entropy, kept)
        self.importances_ = np.arange(table.n_features) / 10
        return list(self.chosen)


X = pd.DataFrame({"a": np.arange(20.0), "b": np.arange(20.0) % 3, "c": np.arange(20.0) % 7})
Y = np.sin(np.arange(20.0))


def test_the_choice_becomes_attributes_and_results():
    found = Given(LinearRegression(), chosen=(2, 0), always_keep=["b"], random_state=4).fit(X, Y)
    assert found.blanket_.tolist() == [2, 0]
    assert found.blanket_.dtype == np.intp
    assert found.support_.tolist() == [True, False, True]
    _, estimator, entropy, kept = found.asked_
    assert (type(estimator), entropy, kept) == (LinearRegression, 4, [1])
    assert found.trace_.method == "Given selected columns by how well LinearRegression predicts with them."
    results = found.results_
    assert results["column"].tolist() == ["a", "b", "c"]
    assert results["selected"].tolist() == [True, False, True]
    assert results["importance"].tolist() == [0.0, 0.1, 0.2]
    assert results["pvalue"].isna().all()
    assert results["reason"].tolist()[0::2] == ["the model predicted better with it"] * 2
    assert found.trace_.data.target == "target"
    assert (found.trace_.data.n_rows, found.trace_.outcome.always_keep) == (20, (1,))


def test_columns_that_are_not_selected_have_a_reason():
    results = Given(chosen=(1,)).fit(X, Y).results_
    assert results["reason"].tolist() == [
        "the model predicted no better with it",
        "the model predicted better with it",
        "the model predicted no better with it",
    ]


def test_kept_columns_are_sorted_and_counted_once():
    found = Given(chosen=(0, 2), always_keep=["c", "a", 2]).fit(X, Y)
    assert found.asked_[3] == [0, 2]


@pytest.mark.parametrize(("n", "is_refused"), [(3, False), (4, True)])
def test_no_more_columns_than_there_are(n, is_refused):
    selector = Given(min_features=n)
    if not is_refused:
        selector.fit(X, Y)
        return
    with pytest.raises(InvalidInputError) as raised:
        selector.fit(X, Y)
    assert str(raised.value) == "min_features=4, but there are only 3 columns or groups. Lower min_features."


def test_groups_are_features():
    found = Given(chosen=(1,), feature_groups={"both": ["a", "c"]}).fit(X, Y)
    table = found.asked_[0]
    assert table.n_features == 2
    assert found.trace_.names == ("both", "b")
    assert found.support_.tolist() == [False, True, False]
    assert Given(chosen=(0,), feature_groups={"both": ["a", "c"]}).fit(X, Y).support_.tolist() == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize(
    ("settings", "is_scaled"),
    [
        ({}, True),
        ({"scoring": "r2"}, False),
        ({"estimator": LogisticRegression()}, False),
    ],
)
def test_a_target_is_scaled_where_its_unit_does_not_matter(monkeypatch, settings, is_scaled):
    asked = []

    def scaled(y):
        asked.append(y)
        return y * 2, 2.0

    monkeypatch.setattr(_base, "target_for_float32", scaled)
    y = (Y > 0).astype(int) if "estimator" in settings else Y
    found = Given(**settings).fit(X, y)
    assert bool(asked) == is_scaled
    if is_scaled:
        np.testing.assert_array_equal(found.asked_[0].y, 2 * Y)


def test_what_cross_validation_is_asked_for(monkeypatch):
    called = []
    monkeypatch.setattr(
        _base, "CrossValidated", lambda *arguments, **settings: called.append((arguments, settings))
    )
    selector = Given(cv=3, scoring="r2", impute="median", n_jobs=2)
    selector._cross_validated("table", "model", 7)
    assert called == [
        (("table", "model"), {"cv": 3, "scoring": "r2", "entropy": 7, "impute": "median", "n_jobs": 2})
    ]


@pytest.mark.parametrize(
    ("selector", "allows_missing"),
    [
        (Stepwise(LinearRegression()), False),
        (Stepwise(LinearRegression(), impute="median"), True),
        (Stepwise(HistGradientBoostingRegressor()), True),
        (Stepwise(), True),
    ],
)
def test_tags_are_those_of_the_model(selector, allows_missing):
    tags = get_tags(selector)
    assert tags.target_tags.required
    assert tags.input_tags.allow_nan == allows_missing
    assert tags.input_tags.sparse == (not isinstance(selector.estimator, HistGradientBoostingRegressor))
