"""The record of a search."""

import polars as pl
import pytest
from sklearn.datasets import load_iris

from ppfs import PPFS


@pytest.fixture(scope="module")
def selector():
    X, y = load_iris(return_X_y=True, as_frame=True)
    return PPFS(n_splits=10, correction="bh", random_state=0).fit(X, y)


def test_frame_has_one_row_a_question(selector):
    frame = selector.trace_.to_frame()
    assert len(frame) == len(selector.trace_)
    assert {"fold", "phase", "feature", "n_given", "pvalue", "adjusted_pvalue", "effect", "decision"} <= set(
        frame.columns
    )
    growth = frame[frame["phase"] == "growth"]
    assert (growth["n_given"] == 0).all()
    assert isinstance(selector.trace_.to_frame("polars"), pl.DataFrame)


def test_frame_of_shrink_counts_the_other_members(selector):
    shrink = [step for step in selector.trace_ if step.phase == "shrink"]
    frame = selector.trace_.to_frame()
    n_candidates = (frame["decision"] == "candidate").sum()
    assert frame[frame["phase"] == "shrink"]["n_given"].iloc[0] == n_candidates - 1
    assert len(shrink[0].given) == n_candidates


def test_explanation_names_the_column_its_company_and_the_decision(selector):
    text = selector.trace_.explain("sepal width (cm)")
    assert text.startswith("growth: 'sepal width (cm)': p = ")
    assert "given" in text.splitlines()[-1]
    assert text == selector.trace_.explain(1)
    assert [step.phase for step in selector.trace_.of(1)] == ["growth", "shrink"]


def test_unknown_column_is_an_error_that_lists_the_names(selector):
    with pytest.raises(ValueError, match="no column 'nope'"):
        selector.trace_.explain("nope")


def test_repr_is_short(selector):
    assert repr(selector.trace_) == f"<Trace of {len(selector.trace_)} questions about 4 columns>"
