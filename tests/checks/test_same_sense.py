"""`blanket_`, `results_`, `trace_` and `report` mean the same for every selector."""

import json

import narwhals as nw
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from ppfs import PPFS, PPFSCV
from ppfs._trace import as_plain, from_plain
from ppfs.blanket import IAMB, StabilitySelection
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch

pytestmark = pytest.mark.usefixtures("two_repeats")

LINEAR = LinearRegression()
SELECTORS = {
    "PPFS": PPFS(LINEAR, n_splits=8, random_state=0),
    "IAMB": IAMB(),
    "PPFSCV, the blanket": PPFSCV(LINEAR, selector=IAMB(), candidates={"alpha": [0.05]}, random_state=0),
    "PPFSCV, less": PPFSCV(LINEAR, selector=IAMB(), candidates={"n_features": [1]}, random_state=0),
    "PPFSCV, more": PPFSCV(LINEAR, selector=IAMB(), candidates={"n_features": [4]}, random_state=0),
    "StabilitySelection": StabilitySelection(IAMB(), n_pairs=4, random_state=0),
    "Stepwise": Stepwise(LINEAR, always_keep=["d"], random_state=0),
    "PermutationImportance": PermutationImportance(LINEAR, threshold=0.1, random_state=0),
    "SubsetSearch": SubsetSearch(LINEAR, random_state=0),
}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(200, 5)), columns=list("abcde"))
    return X, pd.Series(3 * X["a"] + 2 * X["b"] + 0.5 * rng.normal(size=200), name="yield")


@pytest.fixture(scope="module", params=SELECTORS.values(), ids=SELECTORS)
def fitted(request, problem):
    return request.param.fit(*problem)


def test_the_blanket_lists_the_selected_columns(fitted):
    assert sorted(fitted.blanket_) == np.flatnonzero(fitted.support_).tolist()
    assert len(set(fitted.blanket_.tolist())) == len(fitted.blanket_)
    assert fitted.trace_.outcome.selected == tuple(fitted.blanket_.tolist())


def test_results_trace_and_support_agree(fitted):
    results = fitted.results_
    assert results["selected"].tolist() == fitted.support_.tolist()
    for column, is_selected, reason in zip(
        results["column"], fitted.support_, results["reason"], strict=True
    ):
        verdict = fitted.trace_.explain(column).splitlines()[0]
        assert (" was selected" in verdict or " was kept by request" in verdict) == is_selected
        # Nothing that speaks for a column stands alone beside one that was not selected, and the reverse.
        assert is_selected or not reason.startswith("evidence")
        assert not is_selected or not reason.startswith("no evidence")


def test_the_report_speaks_of_the_same_columns(fitted):
    report = fitted.report()
    summary = json.loads(report.json())
    assert summary["selected"] == ["abcde"[column] for column in fitted.blanket_]
    assert summary["data"]["target"] == "yield"
    n = fitted.support_.sum()
    assert f"{n} of 5 columns {'was' if n == 1 else 'were'} selected to predict yield" in report.markdown()
    assert summary["lead"]


def test_the_trace_outlives_the_program(fitted):
    again = from_plain(json.loads(json.dumps(as_plain(fitted.trace_))))
    for column in "abcde":
        assert again.explain(column) == fitted.trace_.explain(column)
    assert again.method == fitted.trace_.method


def test_the_page_can_be_written(fitted, tmp_path):
    pytest.importorskip("matplotlib")
    fitted.report().save(tmp_path / "report.html")
    assert "yield" in (tmp_path / "report.html").read_text()


def test_ppfscv_says_why_its_choice_differs_from_the_search(problem):
    less = SELECTORS["PPFSCV, less"].fit(*problem)
    assert less.selector_.get_feature_names_out().tolist() == ["a", "b"]
    assert less.get_feature_names_out().tolist() == ["a"]
    reasons = dict(zip(less.results_["column"], less.results_["reason"], strict=True))
    assert reasons["b"] == "the model does best with 1 column, without this one"
    more = SELECTORS["PPFSCV, more"].fit(*problem)
    reasons = dict(zip(more.results_["column"], more.results_["reason"], strict=True))
    added = set(more.get_feature_names_out()) - {"a", "b"}
    assert {reasons[name] for name in added} == {"among the 4 columns that the model does best with"}
    assert more.selector_.trace_.outcome.chosen is None


def test_ppfscv_says_how_sure_its_number_of_columns_is(problem):
    X, y = problem
    fitted = PPFSCV(LogisticRegression(), selector=IAMB(), random_state=0).fit(X, y > 0)
    scores = fitted.cv_results_
    best = fitted.best_index_
    is_close = (
        scores["mean_test_score"].round(12)
        >= scores["mean_test_score"][best].round(12) - scores["se_test_score"][best]
    )
    sizes = scores["mean_n_features"][is_close]
    assert sizes.max() > sizes.min()
    assert (
        f"with {sizes.min():.0f} to {sizes.max():.0f} columns are within one standard" in fitted.trace_.method
    )


def test_frames_of_other_libraries_are_answered_in_kind(problem):
    polars = pytest.importorskip("polars")
    X, y = problem
    fitted = SELECTORS["PPFSCV, less"].fit(polars.from_pandas(X), y.to_numpy())
    assert nw.from_native(fitted.results_).implementation.is_polars()
