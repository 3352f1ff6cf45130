"""Short runs show how many models a search fits: exactly, where they see all of it."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._conventions import Phase, watched_phases
from ppfs._conventions.progress import Mark
from ppfs._planning import Shrinkage, imagined_table, measure_rates, predict_cost
from ppfs._planning.measuring import _Runs
from ppfs._planning.rates import _HIGH, _LOW


def fits_of(phases, name):
    return sum(phase.n_fits for phase in phases if phase.label.endswith(name))


def two_groups(n_rows=200, n_classes=0, n_text=0):
    """Eight columns, all of them candidates: what is planned is what is run."""
    rng = np.random.default_rng(0)
    causes = rng.normal(size=(n_rows, 2))
    X = np.repeat(causes, 4, axis=1) + 0.5 * rng.normal(size=(n_rows, 8))
    y = causes.sum(axis=1) + 0.3 * rng.normal(size=n_rows)
    if n_classes:
        y = np.searchsorted(np.quantile(y, np.linspace(0, 1, n_classes + 1)[1:-1]), y)
    frame = pd.DataFrame(X, columns=[f"x{column}" for column in range(8)])
    for name in frame.columns[:n_text]:
        frame[name] = pd.cut(frame[name], 4, labels=list("abcd")).astype(str)
    return frame, y


CASES = {
    "linear": (two_groups(), PPFS(LinearRegression(), n_splits=5, random_state=0)),
    "trees": (two_groups(), PPFS(DecisionTreeRegressor(max_depth=3), n_splits=5, random_state=0)),
    "two classes": (two_groups(n_classes=2), PPFS(n_splits=10, random_state=0)),
    "nine classes": (
        two_groups(600, n_classes=9),
        PPFS(DecisionTreeClassifier(max_depth=4), n_splits=10, random_state=0),
    ),
    "text": (two_groups(n_classes=2, n_text=4), PPFS(n_splits=10, random_state=0)),
    "folds": (two_groups(), PPFS(LinearRegression(), n_splits=5, n_folds=2, random_state=0)),
    "a model outside the engine": (
        two_groups(n_classes=2),
        PPFS(GaussianNB(), n_splits=5, random_state=0),
    ),
    "forests": (
        two_groups(600, n_classes=2),
        PPFS(RandomForestClassifier(5), n_splits=10, random_state=0),
    ),
    "calibrated": (
        two_groups(),
        PPFS.calibrated(LinearRegression(), growth="marginal", second_look=False, random_state=0),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_fits_are_predicted_exactly_where_all_is_seen(name):
    (X, y), selector = CASES[name]
    with watched_phases() as phases:
        selector.fit(X, y)
    assert {phase.total for phase in phases if phase.label.endswith("shrink")} == {8}
    cost = predict_cost(measure_rates(selector, X, y), *X.shape)
    assert cost.growth_fits == fits_of(phases, "growth") - fits_of(phases, "exact growth")
    assert cost.shrink_fits == fits_of(phases, "shrink")


def test_counting_is_noticed():
    X, y = two_groups(120)
    assert measure_rates(PPFS.calibrated(LinearRegression()), X, y).seconds_per_refit > 0
    assert measure_rates(PPFS(LinearRegression(), n_splits=5), X, y).seconds_per_refit == 0


def test_candidates_are_estimated_from_the_columns_at_hand():
    X, y = imagined_table(200, 300, 30)
    selector = PPFS.calibrated(LinearRegression(), random_state=0)
    # A candidate may be asked about again after others were dropped.
    found = len({step.feature for step in selector.fit(X, y).trace_ if step.phase == "shrink"})
    rates = measure_rates(selector, X, y, n_columns=30_000)
    assert 0.8 * 100 * found < rates.n_candidates < 1.25 * 100 * found
    noise = np.random.default_rng(0).normal(size=(200, 20))
    assert measure_rates(PPFS.calibrated(LinearRegression(), random_state=0), noise, y).n_candidates == 0


def test_columns_that_parameters_name_need_not_be_in_the_sample():
    X, y = imagined_table(150, 6, 6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    selector = PPFS(
        LinearRegression(),
        n_splits=5,
        always_keep=["z"],
        condition_on=["y"],
        feature_groups={"g": ["u", "v"]},
    )
    assert measure_rates(selector, frame, y).fits_per_column == 5


def test_all_rows_are_measured_where_there_is_time():
    X, y = imagined_table(6000, 6, 6)
    selector = PPFS(LinearRegression(), n_splits=5, random_state=0)
    assert measure_rates(selector, X, y).shrink_rows == 6000
    assert measure_rates(selector, X, y, budget=0.0).shrink_rows == 4000


def test_a_phase_that_was_cut_short_is_continued_in_thought():
    # Four of ten asked, each of which needed models of its own: half of the other six are expected to.
    marks = [Mark(n, float(n), 5 * n) for n in range(1, 5)]
    cut = Shrinkage.of([Phase("shrink", 10, marks)], n_folds=0, exponent=0.0)
    assert (cut.n_candidates, cut.n_sets, cut.n_fits, cut.seconds) == (10, 7, 35, 7)
    # Their sets are smaller: 5.5 of 10 columns are gone in their middle.
    smaller = Shrinkage.of([Phase("shrink", 10, marks)], n_folds=0, exponent=1.0)
    assert smaller.seconds == pytest.approx(4 + 3 * 0.45)
    whole = Shrinkage.of([Phase("shrink", 4, marks, is_complete=True)], n_folds=0)
    assert (whole.n_sets, whole.n_fits, whole.seconds) == (4, 20, 4)
    assert Shrinkage.of([], n_folds=0) is None
    # One fold of three was seen.
    assert Shrinkage.of([Phase("fold 1 shrink", 4, marks, is_complete=True)], n_folds=3).n_fits == 60


def test_how_a_set_grows_with_its_columns_is_seen_from_two_runs():
    small, large = Shrinkage(8, 3.0, 10, 6), Shrinkage(32, 16.0, 20, 2)
    assert large.exponent_from(small) == pytest.approx(2.0)
    # Of fewer candidates nothing is learned.
    assert small.exponent_from(large) == small.exponent
    for seconds, exponent in [(1e-9, _LOW), (1e9, _HIGH)]:
        assert Shrinkage(32, seconds, 20, 2).exponent_from(small) == exponent


@pytest.mark.parametrize("n_classes", [2, 3])
def test_imagined_tables_have_as_many_candidates_as_are_wanted(n_classes):
    X, y = imagined_table(400, 40, 12, task="classification", n_classes=n_classes)
    assert np.unique(y).size == n_classes
    found = PPFS.calibrated(
        random_state=0, correction="bonferroni", growth="marginal", second_look=False
    ).fit(X, y)
    assert 8 <= sum(step.phase == "shrink" for step in found.trace_) <= 12


@pytest.mark.parametrize("name", ["linear", "calibrated", "a model outside the engine"])
def test_runs_below_the_resolution_of_the_clock_are_planned(name, monkeypatch):
    (X, y), selector = CASES[name]
    monkeypatch.setattr("time.process_time", lambda: 5.0)
    rates = measure_rates(selector, X, y)
    assert np.isfinite(predict_cost(rates, len(y), 8).seconds)


def test_joint_growth_alone_asks_about_no_column_on_its_own():
    X, y = two_groups()
    selector = PPFS(LinearRegression(), n_splits=5, growth="joint", random_state=0)
    cost = predict_cost(measure_rates(selector, X, y), *X.shape)
    with watched_phases() as phases:
        selector.fit(X, y)
    assert not {"growth", "exact growth"} & {phase.label for phase in phases}
    assert cost.growth_fits == cost.growth_seconds == cost.count_fits == 0
    assert cost.beside_fits > 0


def test_questions_beside_others_are_part_of_the_cost():
    X, y = imagined_table(200, 20, 6)
    plain = PPFS.calibrated(LinearRegression(), growth="marginal", second_look=False, random_state=0)
    preset = PPFS.calibrated(LinearRegression(), growth="auto", second_look=True, random_state=0)
    alone, both = (predict_cost(measure_rates(selector, X, y), *X.shape) for selector in (plain, preset))
    assert alone.beside_fits == alone.beside_seconds == 0
    assert both.beside_seconds > 0
    fits = preset.fit(X, y).n_fits_ - plain.fit(X, y).n_fits_
    assert fits / 4 < both.beside_fits < 4 * fits
    # Joint growth is left out of a wide table, and a second look asks about a hundred columns.
    rates = measure_rates(preset, X, y)
    wide = predict_cost(rates, 200, 100_000)
    assert wide.beside_fits == 150 * rates.look.fits


def test_questions_beside_others_are_asked_in_every_fold():
    X, y = imagined_table(200, 20, 6)
    selector = PPFS.calibrated(LinearRegression(), n_folds=3, second_look=False, random_state=0)
    cost = predict_cost(measure_rates(selector, X, y), *X.shape)
    with watched_phases() as phases:
        selector.fit(X, y)
    fits = sum(phase.n_fits for phase in phases if "joint growth" in phase.label)
    assert 0.8 * fits < cost.beside_fits < 1.25 * fits


def test_what_was_measured_is_part_of_the_time_that_measuring_took():
    X, y = two_groups()
    started = time.process_time()
    rates = measure_rates(PPFS.calibrated(LinearRegression(), random_state=0), X, y)
    taken = time.process_time() - started
    parts = (rates.growth.at(len(X)), rates.shrink.seconds, rates.look.seconds)
    assert 0 < min(parts) < sum(parts) < taken


@pytest.mark.parametrize(("budget", "is_whole"), [(1000.0, False), (2000.0, True)])
def test_all_rows_are_measured_only_where_a_set_of_them_does_not_take_too_long(monkeypatch, budget, is_whole):
    # 10 sets of 600 s together; all rows are 25 times as many.
    seen, of_all_rows = Shrinkage(20, seconds=600.0, n_fits=50, n_sets=10), object()
    measuring = object.__new__(_Runs)
    measuring._all_X, measuring._all_y = np.zeros((100, 30)), np.zeros(100)
    measuring._rows, measuring.n_rows = np.arange(4), 4
    monkeypatch.setattr(_Runs, "_shrink_of", lambda *_: (seen, None))
    monkeypatch.setattr(_Runs, "_shrink_of_all_rows", lambda *_: of_all_rows)
    assert measuring.shrink(np.arange(30), 20, budget)[0] is (of_all_rows if is_whole else seen)
