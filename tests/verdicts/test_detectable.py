"""Detectable effects: what the rows would have shown, and when a dropped column is undecided."""

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._trace import UNDECIDED, Detectable, as_plain, from_plain
from ppfs._verdicts.detectable import Levels, _distance, effective_rows
from ppfs.blanket import IAMB
from ppfs.independence import SHARE_OF_THE_LINE, CrossFitPPI, FisherZ, LikelihoodRatio, PartialCorrelationT

pd = pytest.importorskip("pandas")


def table(n=300, weak=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(rng.normal(size=(n, 6)), columns=list("abcdef"))
    return X, X["a"] + X["b"] + weak * X["c"] + rng.normal(size=n)


@pytest.fixture(scope="module")
def fitted():
    return PPFS.calibrated(random_state=0).fit(*table())


def test_dropped_columns_have_it_and_selected_ones_do_not(fitted):
    results = fitted.results_
    is_alone = (results["phase"] == "growth") & ~results["selected"]
    assert results.loc[results["selected"], "detectable"].isna().all()
    assert results.loc[is_alone, "detectable"].nunique() == 1
    assert (results.loc[is_alone, "detectable"] > 0).all()


def test_the_distance_is_that_of_a_power_calculation():
    for level in (0.05, 0.001):
        alone = _distance(Levels(1.0, level, 0.0), 1.0, 1)
        assert alone == pytest.approx(norm.isf(level / 2) + norm.isf(0.2), rel=0.01)
    # Three classes have two degrees of freedom: the noncentrality for a power of 0.8 at 5 % is 9.63.
    assert _distance(Levels(1.0, 0.05, 0.0), 1.0, 2) ** 2 == pytest.approx(9.63, rel=0.02)


def test_two_ways_to_be_found_need_a_smaller_effect_than_either():
    beside, both = Levels(1e-12, 0.05, 0.003), Levels(0.003, 0.05, 0.003)
    alone = Levels(0.003, 0.05, 0.0)
    assert _distance(both, 0.9, 1) < min(_distance(beside, 0.9, 1), _distance(alone, 0.9, 1))
    # A column whose target is mostly explained by others is hardly seen on its own.
    assert _distance(alone, 0.25, 1) > 1.8 * _distance(beside, 0.25, 1)


def test_the_effect_follows_from_rows_level_and_spread(fitted):
    X, _ = table()
    # Given a and b a variance of about 1 is left, and no correction applies; the line has 4.5 of 8 shares.
    distance = norm.isf(0.05 * SHARE_OF_THE_LINE / 2) + norm.isf(0.2)
    given = 2 * distance**2 / (len(X) - 3 * distance**2)
    assert fitted.trace_.outcome.detectable.given == pytest.approx(given, rel=0.15)
    # Four columns were rejected, and the second look asks about one of them at a quarter of alpha.
    beside = norm.isf(0.0125 * SHARE_OF_THE_LINE / 2) + norm.isf(0.2)
    assert given < fitted.trace_.outcome.detectable.alone < 2 * beside**2 / (len(X) - 3 * beside**2) * 1.15


def test_classes_have_uneven_spread():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 5))
    y = (2 * X[:, 0] + rng.logistic(size=400) > 0).astype(int)
    found = PPFS.calibrated(random_state=0).fit(X, y).trace_.outcome.detectable
    p = 1 / (1 + np.exp(-2 * X[:, 0]))
    spread = 2 * p * (1 - p)
    distance = norm.isf(0.05 * SHARE_OF_THE_LINE / 2) + norm.isf(0.2)
    assert found.given == pytest.approx(2 * distance**2 / 400 * (spread**2).mean() / spread.mean(), rel=0.15)


def test_more_rows_show_smaller_effects():
    few, many = (PPFS.calibrated(random_state=0).fit(*table(n)).trace_.outcome.detectable for n in (150, 600))
    assert few.alone / 6 < many.alone < few.alone / 3


@pytest.mark.parametrize("test", [FisherZ(), PartialCorrelationT()], ids=["z", "t"])
def test_a_correlation_is_detectable_in_its_own_unit(test):
    X, y = table()
    found = PPFS(independence=test, random_state=0).fit(X, y).trace_.outcome.detectable
    assert found.given == pytest.approx(np.tanh((norm.isf(0.025) + norm.isf(0.2)) / np.sqrt(295)), rel=0.01)
    assert found.alone > found.given


def test_undecided_where_a_selected_effect_could_have_been_missed():
    X, y = table(n=300, weak=0.2, seed=8)
    selector = PPFS.calibrated(random_state=0).fit(X, y)
    outcome = selector.trace_.outcome
    assert set("abc") <= set(selector.get_feature_names_out())
    assert outcome.detectable.weakest < outcome.detectable.alone
    results = selector.results_.set_index("column")
    assert results.loc["f", "reason"] == UNDECIDED
    assert "undecided" in selector.trace_.explain("f").splitlines()[0]


def test_decided_where_all_selected_effects_are_strong(fitted):
    results = fitted.results_
    assert not results["reason"].str.startswith("undecided").any()
    dropped = results.loc[~results["selected"], "column"].iloc[0]
    assert "with probability 0.8." in fitted.trace_.explain(dropped).splitlines()[0]


def test_an_empty_selection_says_how_many_rows_it_would_take():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    selector = PPFS.calibrated(random_state=0).fit(X, rng.normal(size=100))
    assert not selector.support_.any()
    (note,) = [note for note in selector.trace_.notes if note.startswith("no column was selected")]
    assert "with these 100 rows a linear effect of" in note


@pytest.mark.parametrize(
    "search",
    [
        PPFS(n_splits=5, random_state=0),
        PPFS(independence=LikelihoodRatio()),
        PPFS(independence=CrossFitPPI(LinearRegression()), random_state=0),
        IAMB(),
    ],
)
def test_searches_without_known_power_state_nothing(search):
    selector = search.fit(*table(n=80))
    assert selector.results_["detectable"].isna().all()
    assert selector.trace_.outcome.detectable is None


def test_it_is_in_saved_traces(fitted):
    again = from_plain(as_plain(fitted.trace_))
    assert again.outcome.detectable == fitted.trace_.outcome.detectable
    empty = Detectable(1.0, 2.0, float("nan"))
    assert not empty.hides(next(iter(fitted.trace_)))


def test_rows_that_count_less_are_worth_less():
    from ppfs._data import read_table

    X, y = table(n=80)
    read = lambda **rows: read_table(X, y, task="regression", owner="test", **rows)  # noqa: E731
    assert effective_rows(read()) == 80
    assert effective_rows(read(groups=np.arange(80) // 4)) == 20
    assert effective_rows(read(sample_weight=np.r_[np.full(40, 1.0), np.full(40, 3.0)])) == pytest.approx(64)


def test_the_report_says_what_could_have_been_seen(fitted):
    pytest.importorskip("matplotlib")
    report = fitted.report(sufficiency=False)
    found = report.summary["detectable"]
    assert found["alone"] == fitted.trace_.outcome.detectable.alone
    assert (found["n_undecided"], found["n_dropped"]) == (0, 4)
    for text in (report.markdown(), report.html()):
        assert "Could more have been seen?" in text
        assert "would have been selected with probability 0.8, in units of the importance" in text


def test_the_report_of_an_empty_selection_begins_with_the_rows_it_would_take():
    rng = np.random.default_rng(1)
    X = pd.DataFrame(rng.normal(size=(100, 3)), columns=list("abc"))
    report = PPFS.calibrated(random_state=0).fit(X, rng.normal(size=100)).report(sufficiency=False)
    assert "With these 100 rows a linear effect of" in report.summary["lead"]
