"""Curves against penalized least squares on hat functions, by NumPy."""

import numpy as np
import pytest

from ppfs._engine import fit_curves


def problem(n_rows, n_curves=3):
    rng = np.random.default_rng(n_rows)
    raw, responses = rng.normal(3.0, 2.0, size=(2, n_curves, n_rows))
    # Few values, and a single one.
    raw[1], raw[2] = np.round(raw[1] / 3.0), 4.0
    is_seen = np.arange(n_rows) % 5 != np.arange(n_curves)[:, np.newaxis]
    is_seen[-1] = True
    shares, pairs = np.linspace(0, 1, 7), zip(raw, is_seen, strict=True)
    knots = np.array([np.quantile(one[seen], shares, method="lower") for one, seen in pairs])
    return raw, is_seen, responses, knots, np.full(n_curves, 7)


def hats(values, knots):
    return np.column_stack([np.interp(values, knots, one) for one in np.eye(knots.size)])


@pytest.mark.parametrize("is_unit", [False, True])
@pytest.mark.parametrize("n_rows", [20, 150, 420])
def test_curves_are_those_of_penalized_least_squares(n_rows, is_unit):
    raw, is_seen, responses, knots, n_knots = problem(n_rows)
    found = fit_curves(raw, is_seen, responses, knots.copy(), n_knots.copy(), is_unit=is_unit)
    for own, seen, response, knot, index, fitted, slopes, error in zip(
        raw, is_seen, responses, knots, *found, strict=True
    ):
        # Sums are NumPy's, to the last bit: where values are nearly equal, it decides which of them are knots.
        mean, deviation = (0.0, 1.0) if is_unit else (own[seen].mean(), own[seen].std() or 1.0)
        np.testing.assert_array_equal(index, (own - mean) / deviation)
        knot = np.unique((knot - mean) / deviation)
        knot = knot if knot.size > 1 else knot[0] + np.array([0.0, 1.0])
        design, bends = hats(index, knot), np.diff(np.eye(knot.size), 2, axis=0)
        gram = design[seen].T @ design[seen] + 1e-6 * np.eye(knot.size)
        gram += 0.03 * seen.sum() / knot.size * bends.T @ bends
        heights = np.linalg.solve(gram, design[seen].T @ response[seen])
        np.testing.assert_allclose(fitted, design @ heights, atol=1e-9)
        assert error == ((response - fitted)[seen] ** 2).sum()
        places = np.clip(np.searchsorted(knot, index, side="right") - 1, 0, knot.size - 2)
        np.testing.assert_allclose(slopes, (np.diff(heights) / np.diff(knot))[places], atol=1e-8)


def test_a_curve_does_not_depend_on_the_others():
    every = problem(80)
    found = fit_curves(*(array.copy() for array in every), is_unit=False)
    for curve in range(3):
        alone = fit_curves(*(array[[curve]] for array in every), is_unit=False)
        for one, other in zip(alone, found, strict=True):
            np.testing.assert_array_equal(one[0], other[curve])
