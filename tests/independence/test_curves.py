"""Curves of an index, many at once, against one at a time with matrices in full."""

import numpy as np
import pytest
from reference import curves as twin

from ppfs.independence._predictive.residuals import index as index_module
from ppfs.independence._predictive.residuals.curves import BY_ALL, BY_BLOCKS, Fits, Hats, fits_of
from ppfs.independence._predictive.residuals.index import Features, Index, Pair, learned_sum

BOTH = BY_BLOCKS + BY_ALL


def _seen(n_rows):
    """Return the rows of each fit in `BOTH`."""
    return [np.arange(n_rows) % 5 != block for block in range(5)] + [np.ones(n_rows, dtype=bool)]


@pytest.mark.parametrize("n_values", [1, 2, 3, 9, None])
@pytest.mark.parametrize("n_rows", [7, 45, 74, 76, 400])
def test_curves_are_those_of_full_matrices(n_rows, n_values):
    rng = np.random.default_rng(n_rows)
    index = (
        rng.normal(size=(6, n_rows)) if n_values is None else rng.integers(n_values, size=(6, n_rows)) * 1.0
    )
    response = np.cos(2.0 * index[0]) + 0.3 * rng.normal(size=n_rows)
    found = Hats(index, fits_of(n_rows, BOTH)).curves(response)
    for number, seen in enumerate(_seen(n_rows)):
        curve = twin.Curve(index[number, seen], response[seen])
        np.testing.assert_allclose(found.fitted[number], curve(index[number]), rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(found.slopes[number], curve.slopes(index[number]), rtol=1e-6, atol=1e-8)
        np.testing.assert_allclose(found.left[number, seen], curve.left, atol=1e-9)
        assert not found.left[number, ~seen].any()
        assert found.errors[number] == pytest.approx(curve.error, rel=1e-8)


def test_fits_with_different_numbers_of_knots_are_made_at_once():
    # Of 131 rows, fits see 104, 105 and 131: a knot for every 15.
    n_rows = 131
    fits = fits_of(n_rows, BOTH)
    assert fits.n_knots.tolist() == [6, 7, 7, 7, 7, 8]
    rng = np.random.default_rng(0)
    index, response = rng.normal(size=(6, n_rows)), rng.normal(size=n_rows)
    found = Hats(index, fits).curves(response)
    for number, seen in enumerate(_seen(n_rows)):
        expected = twin.Curve(index[number, seen], response[seen])(index[number])
        np.testing.assert_allclose(found.fitted[number], expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("n_columns", [1, 4, 120])
@pytest.mark.parametrize("most_changes", [0, 1, 8])
def test_indices_are_those_of_one_fit_at_a_time(n_columns, most_changes):
    rng = np.random.default_rng(n_columns)
    values = rng.normal(size=(103, n_columns))
    response = np.tanh(2.0 * values[:, :3].sum(axis=1)) + 0.3 * rng.normal(size=103)
    found = learned_sum(Features(values), response, fits_of(103, BOTH), most_changes)
    for number, seen in enumerate(_seen(103)):
        index, fitted = twin.learned(None, values, response, seen, most_changes)
        np.testing.assert_allclose(found.index[number], index, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(found.fitted[number], fitted, rtol=1e-6, atol=1e-7)


def test_what_the_fits_have_in_common_does_not_depend_on_how_many_are_made_at_once(monkeypatch):
    rng = np.random.default_rng(1)
    values = rng.normal(size=(90, 5))
    response = values.sum(axis=1) ** 2 + rng.normal(size=90)
    fits = fits_of(90, BOTH)
    start = rng.normal(size=90)
    at_once = (
        learned_sum(Features(values), response, fits),
        Index(start, Features(values)).learned(response, fits),
    )
    monkeypatch.setattr(index_module, "_VALUES_AT_ONCE", 1)
    one_by_one = (
        learned_sum(Features(values), response, fits),
        Index(start, Features(values)).learned(response, fits),
    )
    for one, other in zip(at_once, one_by_one, strict=True):
        np.testing.assert_allclose(other.index, one.index, rtol=1e-9, atol=1e-10)
        np.testing.assert_allclose(other.fitted, one.fitted, rtol=1e-9, atol=1e-10)


def test_each_row_gets_what_rows_of_other_blocks_say():
    fits = Fits(13, BOTH)
    of_fits = np.arange(6)[:, np.newaxis] * np.ones(13)
    np.testing.assert_array_equal(fits.left_out(of_fits), np.arange(13) % 5)
    np.testing.assert_array_equal(fits.n_seen, [10, 10, 10, 11, 11, 13])


@pytest.mark.parametrize("seed", range(4))
def test_the_best_index_of_a_pair_is_the_one_of_which_a_curve_leaves_least(seed):
    rng = np.random.default_rng(seed)
    first, second = rng.normal(size=(2, 150))
    shapes = [
        first**2 + second**2,
        first * second,
        first + second,
        first - second,
        np.maximum(first, second),
        np.minimum(first, second),
    ]
    for number, shape in enumerate(shapes):
        response = shape - shape.mean() + 0.05 * rng.normal(size=150)
        noise = rng.normal(size=150)
        found, index = Pair(first, second).best((noise, response))
        assert found is response
        np.testing.assert_array_equal(index.start, shapes[number])
        left, fitted = (
            index.learned(response, fits_of(150, BY_ALL)),
            twin.standardized(shape, np.ones(150, bool)),
        )
        assert left.index.shape == (1, 150)
        start = twin.Curve(fitted, response).error
        assert ((response - left.fitted[0]) ** 2).sum() <= start * (1.0 + 1e-9)
