"""What a search would cost follows from what a small one took."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._planning.cost import Line, Rates, cost_lines, measure_rates, predict_cost


@pytest.fixture(scope="module")
def rates():
    return Rates(
        startup=1.0,
        n_rows=1000,
        n_candidates=10,
        growth=Line(0.0, 1e-6),
        shrink=Line(0.0, 1e-4),
        shrink_in_candidates=2.0,
        fits_a_column=5,
        fits_a_candidate=5,
        n_splits=5,
    )


def test_seconds_follow_columns_rows_and_candidates(rates):
    cost = predict_cost(rates, 2000, 10_000, n_candidates=20)
    assert cost.growth_seconds == pytest.approx(10_000 * 0.001 * 2)
    assert cost.shrink_seconds == pytest.approx(0.1 * 2 * 4)
    assert cost.growth_fits == 50_000
    assert cost.network == 0


def test_workers_share_growth_and_are_sent_what_is_not_in_a_file(rates):
    alone, many = (predict_cost(rates, 1000, 10_000, n_workers=n) for n in (1, 10))
    assert alone.growth_seconds / 10 < many.growth_seconds < alone.growth_seconds / 8
    sent = predict_cost(rates, 1000, 10_000, n_workers=10, is_on_file=False)
    assert sent.network - many.network == 8 * 1000 * 10_000


def test_counting_small_pvalues_is_part_of_the_cost_where_rows_are_few(rates):
    counted = replace(rates, is_counted=True, correction="bh")
    few, many = (predict_cost(counted, n, 100_000) for n in (500, 501))
    assert many.count_seconds == predict_cost(rates, 500, 100_000).count_seconds == 0
    # Some five refits for each column of the table.
    assert 4 * few.growth_seconds < few.count_seconds < 6 * few.growth_seconds
    assert few.seconds > few.growth_seconds + few.count_seconds


def test_counting_is_noticed():
    y = np.random.default_rng(0).normal(size=120)
    assert measure_rates(PPFS.calibrated(LinearRegression()), y, is_labels=False).is_counted
    assert not measure_rates(PPFS(LinearRegression(), n_splits=5), y, is_labels=False).is_counted


def test_costs_stand_side_by_side(rates):
    lines = cost_lines([predict_cost(rates, 1000, 100, n_workers=n) for n in (1, 4)])
    assert lines[0].split() == ["workers", "1", "4"]
    assert len({len(line) for line in lines}) == 1


def test_rates_are_taken_from_the_search_itself():
    y = np.random.default_rng(0).normal(size=400)
    rates = measure_rates(PPFS(LinearRegression(), n_splits=5), y, is_labels=False)
    assert rates.fits_a_column == 5
    assert rates.n_candidates >= 8
    assert rates.growth.at(1000) > rates.growth.at(100) > 0


def test_seconds_follow_the_line_through_two_measurements():
    line = Line.through(1000, 3.0, 500, 2.0)
    assert line.at(2000) == pytest.approx(5.0)
    # More of the time than half follows the rows, whatever two short times say.
    assert Line.through(1000, 2.0, 500, 2.1).at(2000) == pytest.approx(3.0)
