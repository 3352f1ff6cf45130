"""Detectable effects: what the rows would have shown, and when a dropped column is undecided."""

import numpy as np
import pytest
from scipy.stats import norm

from ppfs import PPFS
from ppfs._trace import UNDECIDED, Detectable, as_plain, from_plain
from ppfs._verdicts.detectable import effective_rows
from ppfs.blanket import IAMB
from ppfs.independence import FisherZ

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


def test_the_effect_follows_from_rows_level_and_spread(fitted):
    X, y = table()
    # Two of six columns were called, so that a third is called at half of alpha.
    level = 0.05 * 3 / 6
    expected = 1.25 * 2 * y.var(ddof=0) * (norm.isf(level / 2) + norm.isf(0.2)) ** 2 / len(X)
    assert fitted.trace_.outcome.detectable.alone == pytest.approx(expected)
    # Given a and b a variance of about 1 is left of about 3, and no correction applies.
    given = 1.25 * 2 * (norm.isf(0.025) + norm.isf(0.2)) ** 2 / len(X)
    assert fitted.trace_.outcome.detectable.given == pytest.approx(given, rel=0.2)


def test_more_rows_show_smaller_effects():
    few, many = (PPFS.calibrated(random_state=0).fit(*table(n)).trace_.outcome.detectable for n in (150, 600))
    assert many.alone == pytest.approx(few.alone / 4, rel=0.3)


def test_a_correlation_is_detectable_in_its_own_unit():
    X, y = table()
    found = PPFS(independence=FisherZ(), random_state=0).fit(X, y).trace_.outcome.detectable
    assert found.alone == pytest.approx(np.tanh((norm.isf(0.025) + norm.isf(0.2)) / np.sqrt(297)))


def test_undecided_where_a_selected_effect_could_have_been_missed():
    X, y = table(n=300, weak=0.25, seed=3)
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
    assert "100 rows find an effect" in note


@pytest.mark.parametrize("search", [PPFS(n_splits=5, random_state=0), IAMB()])
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
