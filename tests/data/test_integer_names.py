"""Columns of a pandas frame that are named by integers."""

import numpy as np
import pandas as pd
import pytest
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS, PPFSCV
from ppfs.blanket import StabilitySelection
from ppfs.exceptions import InvalidInputError
from ppfs.independence import PPI
from ppfs.wrappers import Stepwise

rng = np.random.default_rng(0)
X = pd.DataFrame(rng.normal(size=(80, 3)), columns=[10, 20, 30])
Y = (X[20] > 0).astype(int).to_numpy()


@pytest.fixture(scope="module")
def fitted():
    return PPFS(n_splits=10, random_state=0).fit(X, Y)


@pytest.mark.parametrize("column", [20, "20", 1, -2, np.int64(20)])
def test_a_column_is_called_by_its_name_or_its_position(fitted, column):
    assert fitted.trace_.explain(column).startswith("'20' was selected")


def test_a_number_that_is_neither_is_refused_with_the_names(fitted):
    with pytest.raises(
        InvalidInputError, match=r"numbered 0 to 2\. None is named 11; the names are '10', '20', '30'"
    ):
        fitted.trace_.explain(11)


def test_names_are_the_same_everywhere(fitted):
    assert fitted.get_feature_names_out().tolist() == ["20"]
    assert fitted.results_["column"].tolist() == ["10", "20", "30"]
    assert fitted.set_output(transform="pandas").transform(X).columns.tolist() == ["20"]


@pytest.mark.parametrize(
    "selector",
    [
        PPFSCV(DecisionTreeClassifier(), random_state=0),
        StabilitySelection(PPFS(n_splits=10), n_pairs=1, random_state=0),
        Stepwise(DecisionTreeClassifier(), random_state=0),
    ],
)
def test_other_selectors_name_columns_the_same_way(selector):
    assert set(selector.fit(X, Y).get_feature_names_out()) <= {"10", "20", "30"}


def test_parameters_take_such_names():
    kept = PPFS(n_splits=10, always_keep=[30], random_state=0).fit(X, Y)
    assert kept.support_.tolist() == [False, True, True]
    grouped = PPFS(n_splits=10, feature_groups={"both": [10, 20]}, random_state=0).fit(X, Y)
    assert grouped.trace_.names == ("both", "30")
    whole = X.round()
    listed = PPFS(n_splits=10, categorical_features=[10], random_state=0).fit(whole, Y)
    assert listed.trace_.notes
    assert PPI(DecisionTreeClassifier(), random_state=0).evaluate(X, Y, 20).pvalue < 0.05


def test_a_number_that_is_one_columns_name_and_anothers_position_is_refused():
    swapped = X.set_axis([1, 0, 2], axis="columns")
    with pytest.raises(
        InvalidInputError, match="0 is the name of one column and the position of another, '1'"
    ):
        PPFS(n_splits=10, always_keep=[0]).fit(swapped, Y)
    kept = PPFS(n_splits=10, always_keep=["0", 2], random_state=0).fit(swapped, Y)
    assert kept.support_[[1, 2]].all()


def test_positions_as_names_mean_the_same():
    numbered = X.set_axis(range(3), axis="columns")
    assert PPFS(n_splits=10, random_state=0).fit(numbered, Y).trace_.explain(1).startswith("'1' was selected")


def test_text_that_looks_like_a_number_is_a_name_and_numbers_are_positions():
    named = X.set_axis(["2", "1", "0"], axis="columns")
    trace = PPFS(n_splits=10, random_state=0).fit(named, Y).trace_
    assert trace.explain(0).startswith("'2' ")
    assert trace.explain("0").startswith("'0' ")
