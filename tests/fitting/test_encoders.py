"""Encodings of a train part, number by number, against plain twins."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs._fitting.design import Design, dense, stacked, with_replaced
from ppfs._fitting.encoders import Dummies, Medians, NativeCodes, _median, dummy_places, one_hot, standard

NAN = np.nan
RNG = np.random.default_rng(0)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 8])
@pytest.mark.parametrize("n_missing", [0, 1, 2])
def test_medians_are_those_of_numpy_without_missing_values(n, n_missing):
    X = RNG.normal(size=(n + n_missing, 3))
    X[:n_missing, [0, 2]] = NAN
    X[:, 2] = NAN
    expected = [np.nanmedian(X[:, 0]), np.median(X[:, 1]), 0.0]
    np.testing.assert_allclose(Medians().fit(X).medians_, expected)
    np.testing.assert_allclose(Medians().fit(X, np.ones(len(X))).medians_, expected)
    np.testing.assert_allclose(Medians().fit(sp.csc_array(X)).medians_, expected)


def test_two_huge_numbers_have_a_median():
    assert Medians().fit(np.array([[1.7e308], [1.5e308]])).medians_[0] == pytest.approx(1.6e308)
    assert Medians().fit(np.array([[np.inf], [np.inf]])).medians_[0] == np.inf


@pytest.mark.parametrize("seed", range(6))
def test_a_row_of_weight_two_counts_as_two_rows(seed):
    rng = np.random.default_rng(seed)
    values, counts = rng.normal(size=7), rng.integers(1, 4, size=7)
    assert _median(values, counts.astype(float)) == pytest.approx(np.median(np.repeat(values, counts)))
    values[2] = NAN
    assert _median(values, counts.astype(float)) == pytest.approx(np.nanmedian(np.repeat(values, counts)))
    assert _median(np.full(3, NAN), np.ones(3)) == 0.0
    assert _median(values, None) == pytest.approx(np.nanmedian(values))


def test_missing_values_are_filled_and_nothing_is_changed():
    X = np.array([[1.0, NAN], [NAN, 4.0], [3.0, 0.0]])
    for make in (np.asarray, sp.csc_array, sp.csr_array):
        given = make(X)
        filled = Medians().fit(given).transform(given)
        found = filled.toarray() if sp.issparse(filled) else filled
        np.testing.assert_array_equal(found, [[1.0, 2.0], [2.0, 4.0], [3.0, 0.0]])
        np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, X)


@pytest.mark.parametrize(
    ("codes", "n_levels", "most", "weights", "places"),
    [
        ([0, 2, 2], 4, 3, None, [0, -1, 1, -1]),
        ([0, 2, 2], 4, 2, None, [0, -1, 1, -1]),
        ([0, 2, 2, 3], 4, 2, None, [0, 2, 1, 2]),
        ([3, 3, 2, 0], 4, 1, None, [1, 1, 1, 0]),
        ([3, 2, 0], 4, 2, None, [0, 2, 1, 2]),
        ([3, 2, 0], 4, 2, [5.0, 1.0, 3.0], [0, 2, 2, 1]),
        ([1, 1, 0], 2, 2, [0.0, 0.0, 1.0], [0, -1]),
    ],
)
def test_frequent_categories_have_places_of_their_own(codes, n_levels, most, weights, places):
    found = dummy_places(
        np.array(codes, dtype=float), n_levels, most, None if weights is None else np.array(weights)
    )
    assert found.tolist() == places


def test_a_dummy_per_place():
    assert one_hot(np.array([0, 1, 2, 0]), np.array([1, 0, -1])).tolist() == [[0, 1], [1, 0], [0, 0], [0, 1]]
    assert one_hot(np.array([0, 1, 2]), np.array([0, 1, 1])).tolist() == [[1, 0], [0, 1], [0, 1]]


def test_numbers_are_scaled_and_dummies_follow():
    X = np.array([[0, 1.0, 5.0], [1, 3.0, 5.0], [1, NAN, 5.0]])
    encoder = Dummies(np.array([3, 0, 0])).fit(X)
    np.testing.assert_array_equal(encoder.transform(X), [[-1, 0, 1, 0], [1, 0, 0, 1], [NAN, 0, 0, 1]])
    new = np.array([[2, 5.0, 7.0]])
    assert encoder.transform(new).tolist() == [[3.0, 2.0, 0.0, 0.0]]
    codes = np.concatenate([np.arange(31), np.arange(30)])[:, None].astype(float)
    many = Dummies(np.array([32])).fit(codes).transform(np.array([[29.0], [30.0], [31.0]]))
    assert many.shape == (3, 31)
    assert many.argmax(axis=1).tolist() == [29, 30, 30]
    weighted = Dummies(np.array([0])).fit(np.array([[1.0], [4.0]]), np.array([2.0, 1.0]))
    np.testing.assert_allclose(weighted.transform(np.array([[2.0], [2.0 + 2**0.5]])), [[0.0], [1.0]])


def test_means_and_deviations_of_odd_columns():
    numbers = np.array([[1.0, NAN, 1e9, 0.1], [2.0, NAN, 1e9 + 1, 0.1], [NAN, NAN, 1e9, 0.1]])
    center, scale = standard(numbers, None)
    np.testing.assert_allclose(center, [1.5, 0.0, 1e9 + 1 / 3, 0.1])
    np.testing.assert_allclose(scale, [0.5, 1.0, 2**0.5 / 3, 1.0])
    center, scale = standard(numbers, np.array([3.0, 1.0, 9.0]))
    np.testing.assert_allclose(center[:2], [1.25, 0.0])
    np.testing.assert_allclose(scale[:2], [np.sqrt((3 * 0.0625 + 0.5625) / 4), 1.0])
    rounded = np.array([[1e6], [1e6 + 1e-9]])
    assert standard(rounded, None)[1].tolist() == [1.0]
    assert standard(np.array([[1.0], [1.0 + 1e-14]]), None)[1].tolist() != [1.0]


def test_native_codes_are_consecutive_and_the_rarest_share_the_last():
    X = np.array([[0, 0.5], [2, 1.5], [2, 2.5], [3, 3.5]])
    new = np.array([[0, 7.0], [1, 8.0], [3, NAN]])
    n_levels = np.array([4, 0])
    plain = NativeCodes(n_levels).fit(X)
    np.testing.assert_array_equal(plain.transform(new), [[0, 7], [NAN, 8], [2, NAN]])
    for limit, codes in ((4, [0, NAN, 2]), (3, [0, 2, 2]), (2, [1, 1, 1])):
        np.testing.assert_array_equal(NativeCodes(n_levels, limit).fit(X).transform(new)[:, 0], codes)
    whole = np.array([[0, 0.5], [1, 1.5], [2, 2.5], [3, 3.5]])
    assert NativeCodes(n_levels, 4).fit(whole).transform(whole)[:, 0].tolist() == [0, 1, 2, 3]
    assert NativeCodes(n_levels, 3).fit(whole).transform(whole)[:, 0].tolist() == [0, 1, 2, 2]
    objects = NativeCodes(n_levels, as_objects=True).fit(X).transform(new)
    assert objects.dtype == object
    assert objects[:, 0].tolist() == [0, -1, 2]
    assert objects[0, 1] == 7.0


def test_parts_of_a_matrix_are_replaced_and_stacked():
    X = np.arange(12.0).reshape(3, 4)
    values = np.array([[-1.0, -2.0]] * 3)
    for place in (slice(0, 2), slice(1, 3), slice(2, 4)):
        expected = X.copy()
        expected[:, place] = values
        np.testing.assert_array_equal(with_replaced(X, place, values), expected)
        found = with_replaced(sp.csr_array(X), place, values)
        np.testing.assert_array_equal(found.toarray(), expected)
        assert found.format == "csr"
    assert X[0, 0] == 0.0
    assert stacked([X]) is X
    np.testing.assert_array_equal(stacked([X, -X]), np.vstack([X, -X]))
    pair = stacked([sp.csr_array(X), sp.csr_array(-X)])
    assert pair.format == "csr"
    np.testing.assert_array_equal(dense(pair), np.vstack([X, -X]))
    assert dense(X.astype(np.int8)).dtype == np.float64


def test_a_design_knows_the_columns_of_its_features():
    from ppfs._data import Table

    X = np.column_stack([np.arange(4.0) / 3, [0, 1, 2, 0], [0, 1, 1, 0]])
    table = Table.of(
        X, np.arange(4.0), "pq", "regression", columns=[(1, 0), (2,)], n_levels=np.array([0, 3, 0])
    )
    design = Design.of(table, (1, 0))
    np.testing.assert_array_equal(design.X, X[:, [2, 1, 0]])
    assert design.places == {1: slice(0, 1), 0: slice(1, 3)}
    assert design.n_levels.tolist() == [0, 3, 0]
    assert design.categorical_mask.tolist() == [True, True, False]
    assert (design.names, design.column_names) == (("q", "p"), ("x2", "x1", "x0"))
