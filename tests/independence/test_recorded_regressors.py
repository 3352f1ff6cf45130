"""Regressors and functions of a feature: few and many rows, values, levels, columns and missing values."""

import numpy as np
import pytest
from checks.recorded import Record, shown
from reference.made_columns import codes, given_columns, numbers

from ppfs.independence._predictive.residuals import functions, regressors
from ppfs.independence._predictive.residuals.functions import functions_of, n_smoothest, weights_of_products
from ppfs.independence._predictive.residuals.regressors import (
    Filled,
    GivenColumn,
    design_of,
    indicators,
    unit,
)

RECORD = Record(__file__)


COLUMNS = {
    "numbers": (numbers(60), False),
    "numbers, missing": (numbers(60, n_missing=7), False),
    "eleven values": (numbers(60, 11), False),
    "ten values": (numbers(60, 10), False),
    "three values, missing": (numbers(60, 3, 5), False),
    "two values": (numbers(60, 2), False),
    "one value": (np.full(60, 3.0), False),
    "all missing": (np.full(60, np.nan), False),
    "nine levels": (codes(60, 9), True),
    "twelve levels, missing": (codes(60, 12, 4), True),
    "two levels": (codes(60, 2), True),
    "one level": (codes(60, 1), True),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_what_a_column_contributes_to_a_design_is_on_record(name):
    given = GivenColumn.of(*COLUMNS[name])
    found = {
        part: None if getattr(given, part) is None else shown(getattr(given, part))
        for part in ("lines", "steps", "scores", "factors", "places", "values")
    }
    found["simpler"] = shown(given.simpler().factors)
    found["curves"] = [shown(given.curves(most)) for most in (1, 2, 4, 99)]
    RECORD.check(f"column: {name}", found)


@pytest.mark.parametrize("n_rows", [8, 30, 100, 270, 700, 2000])
def test_the_number_of_curves_follows_the_number_of_rows(n_rows):
    RECORD.check(f"curves: {n_rows}", shown(GivenColumn.of(numbers(n_rows), False).curves(99)))


def test_curves_of_long_columns_are_not_kept_and_the_same(monkeypatch):
    kept = GivenColumn.of(numbers(300), False)
    waves = [kept.curves(most) for most in (2, 5, 99)]
    monkeypatch.setattr(regressors, "_MOST_KEPT", 299)
    long = GivenColumn.of(numbers(300), False)
    for most, expected in zip((2, 5, 99), waves, strict=True):
        np.testing.assert_array_equal(long.curves(most), expected)
    assert "_waves" not in vars(long)
    monkeypatch.setattr(regressors, "_MOST_KEPT", 300)
    assert long.curves(5).shape == (300, 5)
    assert "_waves" in vars(long)


@pytest.mark.parametrize(
    ("n_levels", "n_shown"), [(1, 1), (2, 1), (99, 98), (100, 99), (101, 100), (130, 100)]
)
def test_at_most_a_hundred_levels_have_indicators_of_their_own(n_levels, n_shown):
    values = np.concatenate([np.arange(n_levels), np.arange(n_levels)[n_levels // 2 :], [0.0]])
    shown_levels = indicators(values.astype(float))
    assert shown_levels.shape == (values.size, n_shown)
    assert set(shown_levels.sum(axis=1)) <= {0.0, 1.0}
    # What is left out are the rarest and last.
    left_out = np.unique(values[shown_levels.sum(axis=1) == 0])
    expected = (
        []
        if n_levels == 1
        else [0]
        if n_levels <= 100
        else range(n_levels // 2 - n_levels + 100, n_levels // 2)
    )
    assert left_out.tolist() == [*expected]


def test_columns_are_scaled_whatever_their_unit():
    column = numbers(30)
    expected = (column - column.mean()) / column.std()
    for factor in (1e-150, 1.0, 1e150):
        np.testing.assert_allclose(unit((factor * column)[:, np.newaxis])[:, 0], expected, rtol=1e-10)
    near = 1.0 + np.array([0.0, 1.0, 0.0, 1.0])[:, np.newaxis] * [3e-12, 1.5e-12]
    assert np.abs(unit(near)[:, 0]).min() > 0.9
    assert not unit(near)[:, 1].any()


def test_missing_values_are_filled_with_the_mean():
    column = np.array([1.0, np.nan, 4.0, np.nan, -2.0, 7.0])
    filled = Filled.of(column)
    assert filled.values.tolist() == pytest.approx([1.0, 2.5, 4.0, 2.5, -2.0, 7.0], rel=1e-14)
    assert filled.missing_column.ravel().tolist() == [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]
    assert Filled.of(np.array([1.6e308, np.nan, 1.2e308])).values[1] == pytest.approx(1.4e308)
    assert Filled.of(np.array([np.nan, np.nan])).values.tolist() == [0.0, 0.0]
    assert Filled.of(np.array([0.0, np.nan, 0.0])).values.tolist() == [0.0, 0.0, 0.0]
    assert Filled.of(column[:1]).missing_column.shape == (1, 0)


DESIGNS = [
    *(("n", n_rows) for n_rows in (10, 11, 19, 20, 24, 25, 40, 200)),
    *(("nn", n_rows) for n_rows in (12, 20, 39, 40, 41, 60, 80, 120, 200, 375, 500)),
    *(("nnn", n_rows) for n_rows in (29, 30, 60, 61, 100, 200, 599, 600)),
    *(("nnnn", n_rows) for n_rows in (60, 150, 400)),
    *(("bn", n_rows) for n_rows in (30, 60, 200)),
    ("tt", 60),
    ("ttt", 200),
    ("cn", 60),
    ("cn", 200),
    ("ccn", 100),
    ("mm", 120),
    ("nbtcm", 100),
    ("nnnnnn", 200),
    ("nnnnnnn", 200),
    ("nnnnnnnnnnnn", 30),
    ("nnnnnnnnnnnn", 200),
    ("n" * 40, 30),
]


@pytest.mark.parametrize(("kinds", "n_rows"), DESIGNS)
def test_designs_are_on_record(kinds, n_rows):
    RECORD.check(f"design: {kinds}, {n_rows}", shown(design_of(given_columns(kinds, n_rows))))


def test_slopes_that_change_have_four_waves_from_six_hundred_rows_on():
    def n_changing(n_rows):
        parts = regressors.together(given_columns("tt", n_rows), 100)
        return [part.shape[1] for part in parts]

    # A product of two values has the same scores and values; then two slopes with their waves.
    assert n_changing(599)[1:4] == [0, 2, 2]
    assert n_changing(600)[1:4] == [0, 4, 4]


@pytest.mark.parametrize(
    "room", [0, 1, 2, 3, 4, 5, 10, 17, 18, 19, 60, 65, 66, 100, 145, 146, 150, 400, 1000]
)
def test_what_columns_make_together_fits_into_the_room(room):
    for kinds in ("nn", "nnn", "nb", "cbn"):
        parts = regressors.together(given_columns(kinds, 90), room)
        RECORD.check(f"together: {kinds}, {room}", [shown(part) for part in parts])


FEATURES = {
    "numbers": ["numbers"],
    "missing": ["numbers, missing"],
    "two values": ["two values"],
    "three values, missing": ["three values, missing"],
    "six values": [(numbers(60, 6), False)],
    "seven values": [(numbers(60, 7), False)],
    "levels": ["twelve levels, missing"],
    "two levels": ["two levels"],
    "one value": ["one value"],
    "five columns": ["numbers", "ten values", "three values, missing", "nine levels", "two values"],
    "six columns": [
        "numbers",
        "ten values",
        "three values, missing",
        "nine levels",
        "two values",
        "two levels",
    ],
}


@pytest.mark.parametrize("name", FEATURES)
def test_functions_of_a_feature_are_on_record(name):
    columns = [COLUMNS.get(one, one) if isinstance(one, str) else one for one in FEATURES[name]]
    rng = np.random.default_rng(3)
    outputs = rng.normal(size=(60, 2))
    roots = np.sqrt(rng.exponential(size=60))
    found = {"smoothest": n_smoothest(columns)}
    for kinds in ("n", "bc", "n" * 12):
        given = given_columns(kinds, 60)
        outputs[:, 0] += given[0].factors[:, 0]
        made = functions_of(columns, given)
        found[kinds] = {
            member: [shown(values), shown(values[:, :1]), shown(values[:, -1:])] for member, values in made
        }
        products = dict(made).get(functions.PRODUCTS)
        if products is not None:
            found[kinds]["weights"] = weights_of_products(products.shape[1], given, outputs, roots)
    RECORD.check(f"functions: {name}", found)


def test_products_with_a_column_that_the_target_does_not_vary_with_have_weight_one():
    assert functions.WEIGHTS == {0: 8.0, 1: 2.0, 2: 1.5, 3: 0.3}
    assert functions.WEIGHTS_OF_SURVIVAL == {0: 14.0, 1: 2.4, 2: 2.5, 3: 0.3}
    assert pytest.approx(8.0 / 11.8, rel=1e-12) == functions.SHARE_OF_THE_LINE
    given = given_columns("nb", 60)
    n_factors = sum(column.factors.shape[1] for column in given)
    flat = weights_of_products(2 * n_factors, given, np.zeros((60, 1)), np.ones(60))
    assert flat.tolist() == [1.0] * (2 * n_factors)
    same = weights_of_products(n_factors, given, given[0].factors.copy(), np.ones(60))
    assert same[0] == 5.0
