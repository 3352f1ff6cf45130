"""Parts of products of residuals: how large a design may become, and what a second look takes for chance."""

import numpy as np
import pytest

from ppfs.independence import CrossFitPPI
from ppfs.independence._predictive.residuals.leftovers import SecondLook
from ppfs.independence._predictive.residuals.regressors import GivenColumn, design_of
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
