"""Which columns and targets are shifted and scaled for trees that read 32 bits, at the limits of each rule."""

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import (
    AdaBoostRegressor,
    BaggingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs._data import Block, Table, facts_of
from ppfs._fitting.float32_precision import (
    _are_seen_whole,
    _is_sharper,
    _may_be_blurred,
    _moved,
    _n_blurred,
    _n_blurred_targets,
    block_for_float32,
    is_equivariant,
    is_sharp,
    matrix_for_float32,
    reads_float32,
    table_for_float32,
    target_for_float32,
    warn_of_lost_precision,
)
from ppfs.exceptions import PrecisionWarning, UnusableColumnError

N = 40
RNG = np.random.default_rng(0)
FAR = 1e9 + np.arange(N) * 1e-3
NEAR = RNG.normal(size=N)


@pytest.mark.parametrize(
    ("estimator", "reads"),
    [
        (DecisionTreeClassifier(), True),
        (RandomForestRegressor(), True),
        (GradientBoostingRegressor(), True),
        (AdaBoostRegressor(), True),
        (AdaBoostRegressor(Ridge()), False),
        (BaggingClassifier(DecisionTreeClassifier()), True),
        (BaggingClassifier(LogisticRegression()), False),
        (GridSearchCV(DecisionTreeRegressor(), {}), True),
        (GridSearchCV(Ridge(), {}), False),
        (make_pipeline(StandardScaler(), DecisionTreeRegressor()), False),
        (HistGradientBoostingRegressor(), False),
        (Ridge(), False),
        (None, False),
    ],
)
def test_trees_that_are_passed_the_columns_read_32_bits(estimator, reads):
    assert reads_float32(estimator) is reads


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (DecisionTreeRegressor(), True),
        (RandomForestRegressor(criterion="absolute_error"), True),
        (RandomForestRegressor(criterion="poisson"), False),
        (DecisionTreeRegressor(min_impurity_decrease=0.1), False),
        (DecisionTreeRegressor(ccp_alpha=0.1), False),
        (GradientBoostingRegressor(), False),
        (DecisionTreeClassifier(), False),
        (Ridge(), False),
    ],
)
def test_predictions_of_few_trees_move_with_the_target(estimator, expected):
    assert is_equivariant(estimator) is expected


def blurred(low, high, *, n_rows=10, **changed):
    facts = facts_of(np.array([[low], [high]]))
    return bool(_may_be_blurred(facts, n_rows)[0])


@pytest.mark.parametrize(
    ("low", "high", "n_rows", "expected"),
    [
        (0.0, 1.0, 10, False),
        (1.0, 2.0, 10, False),
        (2.0, 3.0, 10, True),
        (2.0, 4.0, 10, False),
        (2.0, 3.99, 10, True),
        (-4.0, -2.0, 10, False),
        (-4.01, -2.0, 10, False),
        (-4.2, -2.2, 10, True),
        # A hundred times the tie of 1e-7 times the rows, and at most a tenth.
        (0.0, 0.99e-4, 10, True),
        (0.0, 1.01e-4, 10, False),
        (0.0, 0.099, 10**6, True),
        (0.0, 0.101, 10**6, False),
        (0.0, 1e39, 10, True),
        (5.0, 5.0, 10, False),
        (1e300, np.inf, 10, False),
        (-1.7e308, 1.7e308, 10, True),
    ],
)
def test_columns_that_may_lose_values_by_their_extremes(low, high, n_rows, expected):
    assert blurred(low, high, n_rows=n_rows) is expected


def test_integers_below_two_to_the_24_are_seen_whole():
    assert _are_seen_whole(np.array([2.0**24 - 1, -3.0, 0.0]))
    assert not _are_seen_whole(np.array([2.0**24, 0.0]))
    assert not _are_seen_whole(np.array([0.5, 1.0]))
    assert not _are_seen_whole(np.array([np.nan, 1.0]))
    assert not _are_seen_whole(np.array([1.0, 2.0**24]))


def test_neighbors_that_32_bits_or_a_tie_hide_are_counted():
    assert _n_blurred(np.array([1.0, 1.0 + 1e-9, 2.0, 2.0 + 1e-9, 3.0])) == 2
    assert _n_blurred(np.array([0.0, 0.9e-7, 2.1e-7])) == 1
    assert _n_blurred(np.array([0.0, 1e39, 2e39])) == 1
    assert _n_blurred_targets(np.array([0.0, 2.9e-8, 1.0, 1.0 + 3.1e-8, 1.0])) == 1


@pytest.mark.parametrize("exponent", [3, 11])
def test_values_are_shifted_where_they_are_far_and_scaled_to_a_range(exponent):
    for values in (FAR, NEAR, -FAR, 1e-30 * NEAR, 1e300 * NEAR, np.append(FAR, np.nan), np.array([3.0, 4.0])):
        moved = _moved(values, exponent)
        spread = np.nanmax(moved) - np.nanmin(moved)
        assert 2.0 ** (exponent - 1) <= spread < 2.0**exponent
        is_far = np.nanmax(np.abs(values)) > 2 * (np.nanmax(values) - np.nanmin(values))
        assert (np.nanmin(moved) == 0.0) == is_far
        unit = spread / (np.nanmax(values) - np.nanmin(values))
        np.testing.assert_allclose(moved, (values - is_far * np.nanmin(values)) * unit, rtol=1e-9)
        assert np.log2(unit) == pytest.approx(np.round(np.log2(unit)), abs=1e-6)


@pytest.mark.parametrize(("largest", "expected"), [(2.0, [4.0, 8.0]), (1.875, [0.0, 7.0])])
def test_values_are_shifted_if_the_largest_is_more_than_twice_the_range(largest, expected):
    assert _moved(np.array([1.0, largest]), 3).tolist() == expected


def test_zeros_of_a_sparse_column_stay_zeros():
    for values in (np.array([1e9, 1e9 + 1, 0.0]), np.array([-1e9, -1e9 - 1, 0.0])):
        moved = _moved(values, 11, may_shift=False)
        assert moved[-1] == 0.0
        # The range begins at zero: 1e9 is between 2**29 and 2**30.
        np.testing.assert_array_equal(moved, values * 2.0 ** (11 - 30))
    assert _moved(np.array([1e9, 1e9 + 1]), 11, may_shift=False).tolist() == [1e9 / 2**19, (1e9 + 1) / 2**19]


@pytest.mark.parametrize(
    ("values", "is_sharper"),
    [
        (FAR, True),
        (np.append(FAR, np.nan), True),
        # Nothing is lost, but rounded: far from zero, and most values differ.
        (1000 + np.arange(N) / 7, True),
        (1000 + np.repeat(np.arange(N // 2), 2) / 7, False),
        (1000 + np.repeat(np.arange(N // 2), 2)[:-1] / 7, True),
        (1000 + np.arange(N) / 8, False),
        (5 + np.arange(N) / 7, False),
        (-1000 - np.arange(N) / 7, True),
        (np.append(900.1, 1900 + np.arange(N) / 7), False),
        (1e308 + 1e306 * np.arange(N), True),
    ],
)
def test_a_column_is_changed_where_values_would_be_lost_or_rounded(values, is_sharper):
    assert _is_sharper(_moved(values, 11), values) is is_sharper


@pytest.mark.parametrize("make", [np.asarray, np.asfortranarray, sp.csr_array])
def test_only_columns_that_lose_values_are_changed(make):
    X = np.column_stack([NEAR, FAR, np.arange(N), FAR, 1e9 + np.arange(N)])
    n_levels = np.array([0, 0, 0, 5, 0])
    given = make(X)
    before = X.copy()
    found = matrix_for_float32(given, n_levels)
    assert type(found) is type(given)
    dense = found.toarray() if sp.issparse(found) else found
    np.testing.assert_array_equal(given.toarray() if sp.issparse(given) else given, before)
    is_sparse = sp.issparse(given)
    changed = [column for column in range(5) if (dense[:, column] != X[:, column]).any()]
    assert changed == ([] if is_sparse else [1, 4])
    if not is_sparse:
        np.testing.assert_array_equal(dense[:, 1], _moved(FAR, 11))
    small = make(X[:, [0, 2]])
    assert matrix_for_float32(small, n_levels[:2]) is small


def test_a_sparse_column_of_tiny_numbers_is_scaled():
    X = np.zeros((N, 2))
    X[::2, 1] = 1e-9 * (1 + np.arange(N // 2))
    found = matrix_for_float32(sp.csr_array(X), np.zeros(2, dtype=int))
    factor = found.toarray()[2, 1] / X[2, 1]
    assert factor == 2.0 ** (11 - int(np.frexp(X.max())[1]))
    np.testing.assert_array_equal(found.toarray(), factor * X)
    assert found.format == "csr"


def test_a_block_and_a_table_are_changed_alike():
    X = np.column_stack([NEAR, FAR])
    block = Block(X, np.zeros(2, dtype=int), ("a", "b"))
    found = block_for_float32(block)
    np.testing.assert_array_equal(found.X, np.column_stack([NEAR, _moved(FAR, 11)]))
    assert (found.names, found.n_levels.tolist()) == (("a", "b"), [0, 0])
    assert not is_sharp(block)
    near = Block(X[:, :1], np.zeros(1, dtype=int), ("a",))
    assert block_for_float32(near) is near
    assert is_sharp(near)
    table = Table.of(X, NEAR, "ab", "regression")
    np.testing.assert_array_equal(table_for_float32(table, DecisionTreeRegressor()).take([0, 1]), found.X)
    assert table_for_float32(table, Ridge()) is table


@pytest.mark.parametrize(("sign", "shown"), [(1, "1e+300"), (-1, "-1e+300")])
def test_a_column_that_no_unit_helps_is_named(sign, shown):
    X = np.column_stack([NEAR, np.append(NEAR[1:], sign * 1e300)])
    said = f"'b' holds {shown} beside numbers so much smaller that trees"
    with pytest.raises(UnusableColumnError, match=f"^{re.escape(said)}"):
        block_for_float32(Block(X, np.zeros(2, dtype=int), ("a", "b")))
    with pytest.raises(UnusableColumnError, match=re.escape(f"A column holds {shown} beside")):
        matrix_for_float32(X, np.zeros(2, dtype=int))


@pytest.mark.parametrize(
    ("y", "is_changed"),
    [
        (NEAR, False),
        (np.ones(N), False),
        (np.append(NEAR, np.inf), False),
        (2.0**12 + np.linspace(0, 0.999, N), True),
        (2.0**12 + np.linspace(0, 1.001, N), False),
        (-(2.0**13) - np.linspace(0, 1, N), True),
        (np.linspace(0, 2.0**26, N), False),
        (np.linspace(0, 2.0**26 * 1.01, N), True),
        (1e-8 * NEAR, True),
        (np.linspace(0, 2.9e-6 * N, N), False),
        (np.append(np.linspace(0, 2.9e-6 * N, N - 1), 1e-8), True),
        (np.append(np.linspace(0, 3.2e-6 * N, N - 1), 1e-8), False),
    ],
)
def test_a_target_is_changed_where_a_tree_would_lose_values(y, is_changed):
    found, unit = target_for_float32(y)
    if not is_changed:
        assert found is y
        assert unit == 1.0
        return
    np.testing.assert_array_equal(found, _moved(y, 3))
    spread = y.max() - y.min()
    assert 4 <= found.max() - found.min() < 8
    assert unit == pytest.approx(spread / (found.max() - found.min()))


def warned(X, estimator, **options):
    table = Table.of(X, NEAR[: X.shape[0]], [f"c{i}" for i in range(X.shape[1])], "regression", **options)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        warn_of_lost_precision(table, estimator)
    return [str(one.message) for one in heard if one.category is PrecisionWarning]


def test_trees_inside_another_estimator_are_warned_about():
    X = np.column_stack([NEAR, FAR, np.arange(N), FAR + 1e6, 1000 + np.arange(N) / 7])
    inside = make_pipeline(PolynomialFeatures(), RandomForestClassifier())
    (said,) = warned(X, inside)
    assert said == (
        "The trees inside Pipeline read columns in 32 bits and cannot distinguish values of 'c1', 'c3'. Subtract a "
        "typical value and divide by the spread of the column, or put a StandardScaler before the trees."
    )
    assert warned(X[:, [0, 2, 4]], inside) == []
    assert warned(X, make_pipeline(StandardScaler(), RandomForestClassifier())) == []
    assert warned(X, RandomForestClassifier()) == []
    assert warned(X, make_pipeline(PolynomialFeatures(), Ridge())) == []
    assert warned(sp.csc_array(X), inside) == []
    tiny = np.where(np.arange(N) % 2, 1e-9 * np.arange(N), 0.0)
    assert len(warned(sp.csc_array(tiny[:, None]), inside)) == 1
    assert warned(X[:, [1]], inside, n_levels=np.array([3])) == []
    away = SimpleNamespace(is_in_memory=False)
    assert warn_of_lost_precision(away, inside) is None
