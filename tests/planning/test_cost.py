"""What a search would cost follows from what short runs took."""

from dataclasses import replace

import pytest

from ppfs._planning import Line, Rates, Shrinkage, cost_lines, predict_cost
from ppfs._planning.rates import PerQuestion


@pytest.fixture(scope="module")
def rates():
    return Rates(
        startup=1.0,
        n_rows=1000,
        growth=Line(0.0, 1e-6),
        fits_per_column=5,
        shrink=Shrinkage(10, seconds=0.5, n_fits=25, n_sets=5, exponent=2.0),
        shrink_by_rows=Line(0.0, 1.0),
        shrink_rows=1000,
        n_splits=5,
    )


def test_seconds_follow_columns_and_rows(rates):
    cost = predict_cost(rates, 2000, 10_000, n_candidates=10)
    assert cost.growth_seconds == pytest.approx(10_000 * 0.001 * 2)
    assert cost.shrink_seconds == pytest.approx(0.5 * 2)
    assert (cost.growth_fits, cost.shrink_fits) == (50_000, 25)
    assert cost.network == 0


def test_shrink_follows_the_candidates(rates):
    # Four of ten were dropped, and one set of models is fitted at the start. Half of 40 candidates would be kept if
    # as many were distinguished as of 10; a set of four times as many columns takes 16 times as long.
    n_sets = 1 + 40 * (1 - 0.6 / 2)
    cost = predict_cost(rates, 1000, 100, n_candidates=40)
    assert cost.shrink_fits == pytest.approx(5 * n_sets)
    assert cost.shrink_seconds == pytest.approx(0.1 * 16 * n_sets)
    fewer = predict_cost(rates, 1000, 100, n_candidates=5)
    assert fewer.shrink_fits == pytest.approx(5 * 3)


def test_there_are_no_more_candidates_than_columns(rates):
    assert predict_cost(rates, 1000, 4) == predict_cost(rates, 1000, 4, n_candidates=4)
    assert predict_cost(replace(rates, shrink=None, n_candidates=0), 1000, 4).shrink_seconds == 0


def test_workers_share_growth(rates):
    alone, many = (predict_cost(rates, 1000, 10_000, n_workers=n) for n in (1, 10))
    assert alone.growth_seconds / 10 < many.growth_seconds < alone.growth_seconds / 8
    assert alone.network == 0 < many.network


def test_counting_small_pvalues_is_part_of_the_cost_where_rows_are_few(rates):
    counted = replace(rates, n_rows=500, seconds_per_refit=0.0005, fits_per_refit=5, correction="bh")
    few, many = (predict_cost(counted, n, 100_000) for n in (500, 501))
    assert many.count_seconds == predict_cost(rates, 500, 100_000).count_seconds == 0
    # Some five refits for each column of the table, each as long as a column of growth.
    assert 4 * few.growth_seconds < few.count_seconds < 6 * few.growth_seconds
    assert few.seconds > few.growth_seconds + few.count_seconds
    assert few.count_fits == pytest.approx(few.count_seconds / 0.0005 * 5)


def test_questions_beside_others_take_time_by_rows(rates):
    costly = replace(rates, joint=PerQuestion(0.5, 7.0), look=PerQuestion(0.25, 3.0))
    n_joint, n_looks = costly.n_beside(4000, 20)
    assert n_joint == 20
    cost = predict_cost(costly, 4000, 20, n_candidates=5)
    assert cost.beside_seconds == pytest.approx(4 * (0.5 * n_joint + 0.25 * n_looks))
    assert cost.beside_fits == pytest.approx(7 * n_joint + 3 * n_looks)


def test_costs_stand_side_by_side(rates):
    lines = cost_lines([predict_cost(rates, 1000, 100, n_workers=n) for n in (1, 4)])
    assert lines[0].split() == ["workers", "1", "4"]
    assert len({len(line) for line in lines}) == 1


def test_seconds_follow_the_line_through_two_measurements():
    line = Line.through(1000, 3.0, 500, 2.0)
    assert line.at(2000) == pytest.approx(5.0)
    # More of the time than half follows the rows, whatever two short times say.
    assert Line.through(1000, 2.0, 500, 2.1).at(2000) == pytest.approx(3.0)


LINES = [
    "workers                   1        8",
    "fits in growth      500,000  500,000",
    "fits to count             -        -",
    "fits in shrink           25       25",
    "fits beside others        -        -",
    "growth              100.0 s   14.4 s",
    "count                     -        -",
    "shrink                0.5 s    0.5 s",
    "beside others             -        -",
    "total               101.5 s   15.9 s",
    "memory              340 MiB  340 MiB",
    "memory per worker         -  306 MiB",
    "network                   -  3.7 MiB",
]


def test_the_lines_of_a_plan_are_these(rates):
    costs = [predict_cost(rates, 1000, 100_000, n_candidates=10, n_workers=n) for n in (1, 8)]
    assert cost_lines(costs) == LINES
