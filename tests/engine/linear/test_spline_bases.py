"""Values of splines against SciPy's."""

import numpy as np
import pytest
from scipy.interpolate import BSpline

from ppfs._engine import spline_values
from ppfs._engine.linear import spline_bases


@pytest.mark.parametrize("degree", [1, 2, 3])
def test_values_equal_scipys_and_are_constant_beyond_the_outer_knots(degree):
    rng = np.random.default_rng(degree)
    knots = np.sort(rng.normal(size=(2, 5 + 2 * degree)), axis=1)
    inner = knots[:, degree : knots.shape[1] - degree]
    n_splines = knots.shape[1] - degree - 1
    columns = np.vstack(
        [rng.uniform(inner[:, 0], inner[:, -1], size=(12, 2)), inner.T, inner.T[[0, -1]] + [[-1], [1]]]
    )
    made = spline_values(columns, knots, degree, n_splines)
    assert made.shape == (len(columns), 2, n_splines)
    for column in range(2):
        inside = np.clip(columns[:, column], inner[column, 0], np.nextafter(inner[column, -1], -np.inf))
        expected = BSpline.design_matrix(inside, knots[column], degree).toarray()
        np.testing.assert_allclose(made[:, column], expected, atol=1e-9)
    np.testing.assert_array_equal(spline_values(columns, knots, degree, n_splines - 1), made[:, :, :-1])


@pytest.mark.parametrize("degree", [1, 3])
def test_many_numbers_are_computed_by_a_kernel_to_the_same_bits(degree, monkeypatch):
    rng = np.random.default_rng(degree)
    columns = np.where(rng.random((60, 4)) < 0.2, rng.integers(-2, 3, size=(60, 4)), rng.normal(size=(60, 4)))
    knots = np.sort(rng.normal(size=(4, 5 + 2 * degree)), axis=1)
    columns[:5] = knots[:, degree : degree + 5].T
    for n_kept in (3 + degree, 4 + degree):
        in_numpy = spline_values(columns, knots, degree, n_kept)
        with monkeypatch.context() as patch:
            patch.setattr(spline_bases, "_MOST_IN_NUMPY", 0)
            np.testing.assert_array_equal(spline_values(columns, knots, degree, n_kept), in_numpy)
