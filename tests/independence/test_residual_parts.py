"""Parts of products of residuals: how large a design may become, and what a second look takes for chance."""

from itertools import combinations

import numpy as np
import pytest
from scipy import stats

from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.residuals import index as index_module
from ppfs.independence._predictive.residuals import leftovers, regressors
from ppfs.independence._predictive.residuals.curves import BY_ALL, BY_BLOCKS, Hats, fits_of
from ppfs.independence._predictive.residuals.functions import PRODUCTS, functions_of
from ppfs.independence._predictive.residuals.index import Features, best_steps, learned_sum
from ppfs.independence._predictive.residuals.leftovers import Divisions, SecondLook, _shapes
from ppfs.independence._predictive.residuals.regressors import (
    GivenColumn,
    design_of,
    settled,
    smallest_units,
    together,
)
from ppfs.independence._predictive.residuals.smoother import Smoother
from ppfs.independence._predictive.residuals.statistics import predicted_rest


@pytest.mark.parametrize("n_rows", [60, 200, 500])
@pytest.mark.parametrize("n_columns", [2, 4, 12])
def test_a_design_leaves_room_for_the_residuals(n_rows, n_columns):
    rng = np.random.default_rng(0)
    columns = [GivenColumn.of(rng.normal(size=n_rows), False) for _ in range(n_columns)]
    n_lines = sum(column.lines.shape[1] for column in columns)
    # At most .4 regressors a row, 150 in all; lines and one curve of the sum come on top.
    assert design_of(columns).shape[1] <= min(0.4 * n_rows, 150) + n_lines + 10


def test_a_second_look_finds_no_more_in_noise_than_its_level():
    n_found = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        factors = rng.normal(size=(200, 4))
        look = SecondLook([GivenColumn.of(column, False) for column in factors.T], np.ones(200))
        n_found += look.find(rng.normal(size=200), rng.normal(size=200)) is not None
    # The level is 10 %, by Bonferroni's rule: more than 12 of 60 have a probability of .4 %.
    assert n_found <= 12


def test_a_second_look_finds_a_product():
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(300, 4))
    look = SecondLook([GivenColumn.of(column, False) for column in factors.T], np.ones(300))
    found = look.find(np.sign(factors[:, 1] * factors[:, 3]) + 0.5 * rng.normal(size=300), np.zeros(300))
    assert found is not None
    assert found.pair == (1, 3)


@pytest.mark.parametrize("size", [1e-12, 1.0, 1e12])
def test_what_functions_predict_does_not_depend_on_their_units(size):
    rng = np.random.default_rng(0)
    functions, target = rng.normal(size=(30, 3)), rng.normal(size=(30, 2))
    fitted, left_out = predicted_rest(target, size * functions)
    expected = functions @ np.linalg.lstsq(functions, target, rcond=None)[0]
    np.testing.assert_allclose(fitted, expected, atol=1e-10)
    for row in (0, 17):
        others = np.arange(30) != row
        coefficients = np.linalg.lstsq(functions[others], target[others], rcond=None)[0]
        np.testing.assert_allclose(left_out[row], functions[row] @ coefficients, atol=1e-10)


def test_what_is_left_of_a_class_is_learned_from_other_rows_whatever_the_last_bits(monkeypatch):
    """Of fitted values that are cut to a grid, two classes have more than two sums with the residuals."""
    asked = []

    def regressors(self, residual, fitted, found, is_left_out, original=SecondLook.regressors):
        asked.append((is_left_out, np.unique(np.round(residual + fitted, 9)).size))
        return original(self, residual, fitted, found, is_left_out)

    monkeypatch.setattr(SecondLook, "regressors", regressors)
    for seed in range(4):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(300, 3))
        y = (np.sin(3.0 * X[:, 0]) + X[:, 1] * X[:, 0] + 0.5 * rng.normal(size=300) > 0).astype(int)
        CrossFitPPI("panel", random_state=0).evaluate(X, y, 2, given=[0, 1])
    assert {is_left_out for is_left_out, _ in asked} == {True}
    assert max(n_values for _, n_values in asked) > 2


def test_a_matrix_adds_up_residuals_in_cells_as_a_loop_over_cells_does():
    rng = np.random.default_rng(0)
    cells = np.stack([rng.integers(0, 4, 80), rng.integers(0, 9, 80), np.repeat([0, 3], 40)])
    residual = rng.normal(size=80)
    # Without spread, as of a class that is certain there.
    residual[cells[1] == 2] = 1e-6
    expected = []
    for division in cells:
        parts = [residual[division == cell] for cell in np.unique(division)]
        least = 0.25 * (residual**2).mean()
        statistic = sum(part.sum() ** 2 / max((part**2).sum(), least * part.size) for part in parts)
        expected.append(stats.chi2.sf(statistic, len(parts)))
    np.testing.assert_allclose(Divisions(cells).pvalues(residual), expected, rtol=1e-10)


@pytest.mark.parametrize("n_columns", [4, 40])
def test_a_second_look_at_many_rows_finds_the_same(n_columns, monkeypatch):
    """Then divisions are not kept, and added up one after the other."""
    rng = np.random.default_rng(0)
    columns = [GivenColumn.of(column, False) for column in rng.normal(size=(n_columns, 300))]
    residual = np.sign(columns[1].factors[:, 0] * columns[3].factors[:, 0]) + rng.normal(size=300)
    one = SecondLook(columns, np.ones(300)).find(residual, np.zeros(300))
    monkeypatch.setattr(leftovers, "_VALUES_AT_ONCE", 1000)
    other = SecondLook(columns, np.ones(300)).find(residual, np.zeros(300))
    assert one is not None
    assert other is not None
    assert (one.pvalue, one.column, one.pair) == (other.pvalue, other.column, other.pair)
    np.testing.assert_array_equal(one.cells, other.cells)


@pytest.mark.parametrize("n_columns", [4, 120])
def test_what_is_kept_of_features_does_not_change_what_is_learned(n_columns, monkeypatch):
    rng = np.random.default_rng(0)
    values, responses = rng.normal(size=(90, n_columns)), rng.normal(size=(90, 3))
    responses += np.tanh(values.sum(axis=1, keepdims=True))

    def learned(features, response):
        found = learned_sum(features, response, fits_of(90, BY_BLOCKS + BY_ALL))
        return [found.index, found.fitted]

    kept = Features(values)
    found = [learned(kept, response) for response in responses.T]
    monkeypatch.setattr(index_module, "_MOST_KEPT", 0)
    for response, one in zip(responses.T, found, strict=True):
        np.testing.assert_array_equal(one, learned(Features(values), response))


def test_responses_that_cannot_agree_with_a_residual_do_not_under_any_penalty():
    rng = np.random.default_rng(0)
    design, responses, residual = (rng.normal(size=(60, k)) for k in (8, 30, 1))
    responses -= responses.mean(axis=0)
    may_agree = Smoother(design, np.ones(60)).may_agree(responses, residual[:, 0])
    centered = design - design.mean(axis=0)
    products = [
        residual[:, 0] @ (responses - centered @ np.linalg.solve(gram, centered.T @ responses))
        for penalty in np.logspace(-3, 4, 15)
        for gram in [centered.T @ centered + penalty * np.eye(8)]
    ]
    np.testing.assert_array_equal(may_agree, np.max(products, axis=0) > 0.0)
    assert 0 < may_agree.sum() < 30


def test_steps_leave_a_share_of_the_rows_on_either_side():
    rng = np.random.default_rng(0)
    index = rng.normal(size=400)
    # The best cuts would be beside the two outliers.
    response = np.where(np.argsort(np.argsort(index)) > 396, 50.0, 0.0) + rng.normal(size=400)
    response[np.argmin(index)] = -80.0
    steps = best_steps(response, index)
    n_low = steps.sum(axis=0)
    assert 0.02 * 400 <= n_low.min() < n_low.max() <= 0.98 * 400
    for step in steps.T:
        assert index[step == 1.0].max() < index[step == 0.0].min()


def _curves(index, response):
    return Hats(index[np.newaxis], fits_of(index.size, BY_ALL)).curves(response)


def test_a_curve_of_two_values_goes_through_their_means():
    index, response = np.repeat([0.0, 5.0], [20, 40]), np.random.default_rng(0).normal(size=60)
    means = response[:20].mean(), response[20:].mean()
    found = _curves(index, response).fitted[0]
    np.testing.assert_allclose(found, np.repeat(means, [20, 40]))


def test_functions_of_a_feature_vary_but_for_products_which_keep_their_places():
    rng = np.random.default_rng(0)
    constant, varied = np.zeros(50), rng.normal(size=50)
    given = [GivenColumn.of(rng.normal(size=50), False)]
    for columns in ([(constant, False)], [(varied, False)], [(varied, False), (constant, False)]):
        found = dict(functions_of(columns, given))
        assert (PRODUCTS in found) == any(column is varied for column, _ in columns)
        for member, values in found.items():
            assert member == PRODUCTS or values.any(axis=0).all()
    both, alone = (dict(functions_of(columns, given))[PRODUCTS] for columns in (columns, columns[:1]))
    assert both.shape[1] > alone.shape[1]


@pytest.mark.parametrize("kinds", ["nn", "nnn", "nc", "cc", "nbc", "nnnn"])
def test_columns_enter_together_as_long_as_there_is_room_for_their_products(kinds):
    rng = np.random.default_rng(0)
    make = {
        "n": lambda: (rng.normal(size=80), False),
        "b": lambda: (rng.integers(0, 3, 80).astype(float), False),
        "c": lambda: (rng.integers(0, 7, 80).astype(float), True),
    }
    columns = [GivenColumn.of(*make[kind]()) for kind in kinds]

    def n_products(columns):
        sizes = [column.factors.shape[1] for column in columns]
        return sum(one * other for one, other in combinations(sizes, 2))

    whole = n_products(columns)
    fewer = n_products([column if column.scores is not None else column.simpler() for column in columns])
    assert fewer <= whole
    for room, n_first in [
        (0, 0),
        (fewer - 1, 0),
        (fewer, fewer),
        (whole - 1, fewer),
        (whole, whole),
        (400, whole),
    ]:
        if n_first != fewer or fewer < whole or room >= whole:
            parts = together(columns, room)
            assert (parts[0].shape[1] if parts else 0) == n_first
            assert sum(part.shape[1] for part in parts) <= room


def test_p_values_of_a_second_look_are_adjusted_for_the_looks_of_their_kind():
    rng = np.random.default_rng(0)
    factors, fitted = rng.normal(size=(400, 5)), rng.normal(size=400)
    look = SecondLook([GivenColumn.of(column, False) for column in factors.T], np.ones(400))
    signs = np.sign(factors)
    for left, n_looks in [
        (np.abs(fitted), 1),
        (np.abs(factors[:, 2]), 5 * 2),
        (signs[:, 1] * signs[:, 3], 10 * 2),
        (signs[:, 0] * signs[:, 2] * signs[:, 4], 10),
    ]:
        residual = left - left.mean() + 0.6 * rng.normal(size=400)
        found = look.find(residual, fitted)
        alone = leftovers._pvalues(residual, found.cells[np.newaxis])[0]
        assert found.pvalue / alone == pytest.approx(4 * n_looks)


def _with_rounding_errors(values, seed):
    """Return values that differ in their last digits, as those of another processor do."""
    return values + np.random.default_rng(seed).choice([-1.0, 0.0, 1.0], size=values.shape) * 1e-15


@pytest.mark.parametrize("n_values", [2, 3, 8])
def test_rounding_errors_of_an_index_decide_nothing(n_values):
    """Predictions from categories have few different values, each with rounding errors of its own."""
    rng = np.random.default_rng(0)
    index = rng.normal(size=n_values)[rng.integers(n_values, size=90)]
    response = np.cos(2.0 * index) + 0.1 * rng.normal(size=90)
    curve = _curves(index, response)
    for seed in (1, 2):
        other = _with_rounding_errors(index, seed)
        again = _curves(other, response)
        np.testing.assert_allclose(again.fitted, curve.fitted, rtol=1e-9)
        np.testing.assert_allclose(again.slopes, curve.slopes, rtol=1e-9)
        np.testing.assert_allclose(
            _shapes(response, other, again.fitted[0]), _shapes(response, index, curve.fitted[0]), rtol=1e-9
        )


@pytest.mark.parametrize("scale", [1e-200, 1.0, 3e150])
def test_settled_values_keep_ten_digits_of_their_range(scale):
    values = np.random.default_rng(1).normal(size=50) * scale
    found = settled(values, smallest_units(np.ptp(values)))
    np.testing.assert_allclose(found, values, rtol=0.0, atol=2.0**-36 * np.ptp(values))
    assert settled(found, smallest_units(np.ptp(values))).tolist() == found.tolist()


def test_equal_values_are_settled_as_they_are():
    values = np.full(5, 7.25)
    assert settled(values, smallest_units(np.ptp(values))).tolist() == values.tolist()


def test_rows_with_the_same_values_have_the_same_place_on_the_common_curve():
    """Their sums differ by rounding errors, which depend on the places of the rows."""
    rng = np.random.default_rng(0)
    kinds = rng.normal(size=(7, 17))
    kind = rng.integers(0, 7, size=999)
    curve = regressors._common_curve(kinds[kind])
    for one in range(7):
        same = curve[kind == one]
        np.testing.assert_array_equal(same, np.broadcast_to(same[0], same.shape))
