"""`results_`: one row per column of X, in the caller's kind of frame."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.exceptions import NotFittedError

from ppfs import PPFS
from ppfs.blanket import FBED
from ppfs.blanket._run.results import importance_interval
from ppfs.wrappers import Stepwise

COLUMNS = [
    "column",
    "selected",
    "importance",
    "importance_low",
    "importance_high",
    "pvalue",
    "adjusted_pvalue",
    "stability",
    "phase",
    "reason",
    "redundant_with",
    "detectable",
    "at_least",
]


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"cause": rng.normal(size=200), "noise": rng.normal(size=200)})
    X["proxy"] = X["cause"] + 0.3 * rng.normal(size=200)
    return X, X["cause"].to_numpy() > 0


def test_a_row_a_column_with_verdict_and_evidence(problem):
    X, y = problem
    selector = PPFS(n_splits=10, n_folds=3, correction="bonferroni", random_state=0).fit(X, y)
    results = selector.results_
    assert list(results.columns) == COLUMNS
    assert results["column"].tolist() == list(X.columns)
    assert results["selected"].tolist() == selector.support_.tolist() == [True, False, False]
    assert results["pvalue"].tolist() == selector.pvalues_.tolist()
    assert results["importance"].tolist() == selector.importances_.tolist()
    assert results["stability"].tolist()[0] == 1.0
    assert results["reason"].tolist()[:2] == [
        "evidence of a link given the others",
        "no evidence of a link on its own",
    ]
    assert results["redundant_with"].tolist() == [[], [], ["cause"]]
    assert results["phase"].tolist() == ["shrink", "growth", "shrink"]
    deciding = selector.trace_.deciding_step("noise")
    assert results["adjusted_pvalue"].tolist()[1] == deciding.adjusted_pvalue > deciding.pvalue


@pytest.mark.parametrize("library", [pd, pl])
def test_the_frame_is_of_the_callers_kind(problem, library):
    X, y = problem
    frame = X if library is pd else pl.from_pandas(X)
    for selector in (PPFS(n_splits=5, random_state=0), FBED(), Stepwise(random_state=0)):
        results = selector.fit(frame, y).results_
        assert isinstance(results, library.DataFrame)
        assert list(results.columns) == COLUMNS
    assert isinstance(FBED().fit(X.to_numpy(), y).results_, pd.DataFrame)


def test_columns_of_a_group_share_their_answer(problem):
    X, y = problem
    groups = {"both": ["proxy", "cause"]}
    results = PPFS(n_splits=10, feature_groups=groups, random_state=0).fit(X, y).results_
    assert results["selected"].tolist() == [True, False, True]
    assert results["pvalue"][0] == results["pvalue"][2]


def test_requests_are_reasons(problem):
    X, y = problem
    selector = PPFS(n_splits=5, always_keep="noise", condition_on="proxy", random_state=0).fit(X, y)
    assert selector.results_["reason"].tolist()[1:] == ["kept by request", "conditioned on by request"]
    assert np.isnan(selector.results_["pvalue"][1])


def test_not_fitted():
    with pytest.raises(NotFittedError):
        _ = PPFS().results_
    with pytest.raises(NotFittedError):
        _ = PPFS().stability_


def test_intervals_exclude_zero_where_the_pvalue_is_below_the_level():
    pvalues = np.array([0.001, 0.049, 0.051, 0.2, 0.25, 1e-300, 0.0, np.nan, 0.9])
    importances = np.array([1.0, 2.0, 2.0, 0.1, 0.1, 3.0, 3.0, np.nan, 0.5])
    low, high = importance_interval(importances, pvalues, 0.05)
    assert ((low > 0) == (pvalues < 0.05))[:6].all()
    assert (low[:6] < importances[:6]).all()
    assert (importances[:6] < high[:6]).all()
    # A p-value of 0 is as good as the smallest one; a positive effect with p = 0.9 contradicts itself.
    assert 0 < low[6] < importances[6] < high[6]
    assert np.isnan(low[7:]).all()
    assert np.isnan(high[7:]).all()


def test_an_importance_of_zero_has_no_interval():
    low, high = importance_interval(np.zeros(3), np.array([0.2, 0.5, 1.0]), 0.05)
    assert np.isnan([low, high]).all()


def test_intervals_are_those_of_a_slope_squared():
    """The root of a squared slope lies as many standard errors from 0 as the slope."""
    from scipy.stats import norm

    low, high = importance_interval(np.array([9.0]), np.array([norm.sf(6.0)]), 0.05)
    assert low[0] == pytest.approx((3 - norm.isf(0.05) * 0.5) ** 2)
    assert high[0] == pytest.approx((3 + norm.isf(0.05) * 0.5) ** 2)


def test_measured_roots_and_errors_make_finite_intervals():
    roots = np.array([[2.0, 0.5], [0.0, 0.1], [np.nan, np.nan]])
    low, high = importance_interval(np.array([4.1, -0.1, -0.1]), np.array([0.0, 0.9, 0.9]), 0.05, roots)
    assert low[0] == pytest.approx((2 - 1.6449 * 0.5) ** 2, rel=1e-4)
    assert (low[1], high[1]) == (0.0, pytest.approx(0.16449**2, rel=1e-4))
    assert np.isnan([low[2], high[2]]).all()


def test_a_wide_table_is_told_in_a_pass(problem):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 5000))
    selector = PPFS(n_splits=5, random_state=0).fit(X, X[:, 0] > 0)
    asked = []
    selector.trace_.of = asked.append
    assert selector.results_["selected"].sum() == len(selector.blanket_)
    assert asked == []


def test_an_importance_near_0_does_not_tell_its_own_error():
    low, high = importance_interval(np.array([0.0168, 0.0168]), np.array([0.491, 0.2]), 0.05)
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] == 0 < high[1]
