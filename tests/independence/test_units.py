"""Units do not matter to trees: shifting and scaling columns or the target changes no blanket and no p-value."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from ppfs import PPFS
from ppfs._data.facts import facts_of
from ppfs._data.reading import read_table
from ppfs._fitting import target_for_float32
from ppfs._fitting.float32_precision import _moved_columns, is_equivariant
from ppfs.exceptions import PrecisionWarning, UnusableColumnError
from ppfs.wrappers import PermutationImportance, Stepwise

N_ROWS = 160


@pytest.fixture(scope="module")
def X():
    return np.random.default_rng(3).normal(size=(N_ROWS, 4))


@pytest.fixture(scope="module")
def labels(X):
    return (X[:, 2] + 0.5 * np.random.default_rng(4).normal(size=N_ROWS) > 0).astype(int)


@pytest.fixture(scope="module")
def quantity(X):
    return X[:, 2] + 0.3 * np.random.default_rng(5).normal(size=N_ROWS)


# Scale and shift: moles, metres, timestamps, parts per billion, light years ...
UNITS = [
    (1e-7, 0.0),
    (1e-20, 0.0),
    (1e-300, 0.0),
    (2.0**-40, 0.0),
    (1e7, 0.0),
    (1e40, 0.0),
    (1e300, 0.0),
    (1.0, 1e3),
    (1.0, 1e6),
    (1.0, 1e9),
    (10.0, 1.7e9),
    (1e-5, -1.0),
]


@pytest.mark.parametrize(("scale", "shift"), UNITS)
@pytest.mark.parametrize("target", ["labels", "quantity"])
def test_units_of_the_columns_do_not_matter(X, target, scale, shift, request):
    y = request.getfixturevalue(target)
    usual = PPFS(random_state=0).fit(X, y)
    other = PPFS(random_state=0).fit(X * scale + shift, y)
    assert other.blanket_.tolist() == usual.blanket_.tolist() == [2]
    np.testing.assert_array_equal(other.pvalues_, usual.pvalues_)
    np.testing.assert_allclose(other.importances_, usual.importances_, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(("scale", "shift"), [unit for unit in UNITS if 1e-100 < unit[0] < 1e100])
def test_units_of_the_target_do_not_matter(X, quantity, scale, shift):
    usual = PPFS(random_state=0).fit(X, quantity)
    other = PPFS(random_state=0).fit(X, quantity * scale + shift)
    assert other.blanket_.tolist() == usual.blanket_.tolist() == [2]
    np.testing.assert_array_equal(other.pvalues_, usual.pvalues_)
    # Squared errors are in squared units, the caller's.
    np.testing.assert_allclose(other.importances_ / scale**2, usual.importances_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(
    "make",
    [
        lambda: PPFS(
            DecisionTreeClassifier(max_features=1.0, ccp_alpha=1e-9), random_state=0
        ),  # not the engine's
        lambda: PPFS(RandomForestClassifier(5), n_splits=6, random_state=0),
        lambda: PPFS.calibrated(None, random_state=0),
        lambda: PPFS(knockoff="conditional", significance="corrected-t", random_state=0),
    ],
    ids=["generic tree", "forest", "calibrated", "conditional"],
)
@pytest.mark.parametrize(("scale", "shift"), [(1e-7, 0.0), (1.0, 1e9), (1e40, 0.0)])
def test_every_path_to_a_tree_sees_the_same(X, labels, make, scale, shift):
    usual, other = make().fit(X, labels), make().fit(X * scale + shift, labels)
    assert other.blanket_.tolist() == usual.blanket_.tolist()
    assert 2 in other.blanket_
    np.testing.assert_allclose(other.pvalues_, usual.pvalues_, rtol=1e-5, atol=1e-12)


def test_a_forest_of_regression_trees_sees_a_small_target(X, quantity):
    selector = PPFS(ExtraTreesRegressor(5), n_splits=6, random_state=0).fit(X, quantity * 1e-9)
    assert selector.blanket_.tolist() == [2]


def test_columns_given_others_are_seen_too(X, quantity):
    y = quantity + X[:, 0]
    usual = PPFS(random_state=0, alpha=0.2).fit(X, y)
    other = PPFS(random_state=0, alpha=0.2).fit(X + 1e9, y)
    assert sorted(other.blanket_) == sorted(usual.blanket_)
    assert {0, 2} <= set(other.blanket_.tolist())


def test_sparse_columns_keep_their_zeros(labels):
    dense = np.random.default_rng(0).normal(size=(N_ROWS, 3)) * (
        np.random.default_rng(1).random((N_ROWS, 3)) < 0.6
    )
    y = dense[:, 1] > 0
    usual = PPFS(random_state=0).fit(sp.csr_array(dense), y)
    other = PPFS(random_state=0).fit(sp.csr_array(dense * 1e-9), y)
    assert other.blanket_.tolist() == usual.blanket_.tolist() == [1]
    np.testing.assert_array_equal(other.pvalues_, usual.pvalues_)


def test_gaps_stay_gaps(X, labels):
    holes = X.copy()
    holes[::7, 1] = np.nan
    usual = PPFS(n_splits=8, random_state=0).fit(holes, labels)
    other = PPFS(n_splits=8, random_state=0).fit(holes * 1e-8, labels)
    assert other.blanket_.tolist() == usual.blanket_.tolist() == [2]


@pytest.mark.parametrize("kind", [np.int64, np.uint64])
@pytest.mark.parametrize("frame", [None, pd.DataFrame, pl.DataFrame])
def test_whole_numbers_beyond_the_exact_floats_are_told_apart(kind, frame):
    """Nanoseconds since 1970: as floats, steps of 256 are one value."""
    rng = np.random.default_rng(0)
    time = (1_700_000_000_000_000_000 + rng.permutation(80)).astype(kind)
    X = np.column_stack([rng.integers(0, 100, size=80).astype(kind), time])
    y = (time - time.min()) > 40
    table = X if frame is None else frame({"a": X[:, 0], "time": X[:, 1]})
    assert PPFS(random_state=0).fit(table, y).blanket_.tolist() == [1]
    ordinary = np.column_stack([X[:, 0], time - time.min()]).astype(float)
    np.testing.assert_array_equal(
        PPFS(random_state=0).fit(table, y).pvalues_, PPFS(random_state=0).fit(ordinary, y).pvalues_
    )


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame,
        pl.DataFrame,
        lambda columns: pd.DataFrame(columns).astype({"time": object}),
        lambda columns: np.array([*zip(*columns.values(), strict=True)], dtype=object),
    ],
    ids=["pandas", "polars", "objects", "array"],
)
def test_whole_numbers_beside_text_are_told_apart(table):
    time = 1_700_000_000_000_000_000 + np.random.default_rng(0).permutation(20)
    columns = {"text": ["a", "b"] * 10, "time": time}
    read = read_table(table(columns), np.arange(20) % 2, task="auto", owner=None)
    np.testing.assert_array_equal(read.X[:, 1], time - time.min())


def test_a_target_of_large_whole_numbers_is_told_apart():
    X = np.random.default_rng(0).permutation(80)[:, np.newaxis].astype(float)
    y = 2**60 + X[:, 0].astype(np.int64)
    selector = PPFS(random_state=0).fit(X, y)
    assert selector.task_ == "regression"
    assert selector.blanket_.tolist() == [0]


@pytest.mark.parametrize(
    "column",
    [
        np.random.default_rng(0).normal(size=200),
        np.random.default_rng(0).integers(0, 5, size=200).astype(float),
        2000.0 + np.random.default_rng(0).integers(0, 30, size=200),  # years
        np.round(36.6 + 0.5 * np.random.default_rng(0).normal(size=200), 1),  # body temperatures
        np.random.default_rng(0).lognormal(sigma=3, size=200),
        np.random.default_rng(0).uniform(0, 0.05, size=200),
        1e6 * np.random.default_rng(0).normal(size=200),
        1000.0 + np.random.default_rng(0).permutation(200) / 4,  # far from zero, and exact in 32 bits
    ],
    ids=["normal", "few values", "years", "temperatures", "lognormal", "shares", "large", "quarters"],
)
def test_columns_that_a_tree_sees_as_they_are_are_left_alone(column):
    X = column[:, np.newaxis]
    assert _moved_columns(X, facts_of(X), np.zeros(1, dtype=int)) == {}


@pytest.mark.parametrize(
    "y", [np.arange(200.0), np.random.default_rng(0).normal(size=200) * 1e-2, 1900 + np.arange(90.0)]
)
def test_targets_that_a_tree_sees_as_they_are_are_left_alone(y):
    assert target_for_float32(y)[0] is y


def test_a_moved_target_is_the_same_but_for_shift_and_unit():
    y = 1e9 + np.random.default_rng(0).normal(size=50)
    moved, unit = target_for_float32(y)
    np.testing.assert_array_equal(moved * unit, y - y.min())
    assert 4 <= np.ptp(moved) < 8


def test_a_criterion_in_units_of_the_target_forbids_to_move_it(X, quantity):
    """min_impurity_decrease is in squared units: scaling the target would change what it means."""
    tree = DecisionTreeRegressor(min_impurity_decrease=0.5)
    assert PPFS(tree, random_state=0).fit(X, quantity * 1e-9).blanket_.tolist() == []


@pytest.mark.parametrize("make", [lambda X: X, sp.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("model", [None, RandomForestClassifier(3)], ids=["tree", "forest"])
def test_a_number_beyond_32_bits_beside_ordinary_ones_is_refused_by_name(X, labels, model, make):
    """No unit shows a tree both, and a tree that saw one value only would say that the column is of no use."""
    X = X.copy()
    X[7, 2] = -1e200
    with pytest.raises(UnusableColumnError, match=r"'x2' holds -1e\+200 beside .* Clip the column"):
        PPFS(model, n_splits=5, random_state=0).fit(make(X), labels)


@pytest.mark.parametrize("largest", [1.7e308, -1.7e308])
def test_a_number_near_the_largest_is_looked_at_without_overflow(largest):
    """Two values and a third that is far away: 32 bits hold only the two."""
    X = np.random.default_rng(0).permutation(np.repeat([0.0, 1.0, largest], [30, 29, 1]))[:, np.newaxis]
    with pytest.raises(UnusableColumnError, match="Clip the column"):
        PPFS(DecisionTreeClassifier(), n_splits=5, random_state=0).fit(X, X[:, 0] == 1.0)


def test_trees_that_are_out_of_reach_are_warned_of_by_the_name_of_the_column(X, labels):
    frame = pd.DataFrame(X, columns=["a", "b", "time", "d"])
    frame["time"] = frame["time"] * 10 + 1.7e9
    hidden = make_pipeline(FunctionTransformer(), DecisionTreeClassifier())
    told = r"trees inside Pipeline .* cannot distinguish values of 'time'"
    with pytest.warns(PrecisionWarning, match=told) as record:
        PPFS(hidden, n_splits=6, n_folds=3, random_state=0).fit(frame, labels)
    assert len(record) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scaled = make_pipeline(StandardScaler(), DecisionTreeClassifier())
        assert PPFS(scaled, n_splits=6, random_state=0).fit(
            frame, labels
        ).get_feature_names_out().tolist() == ["time"]


def test_gaps_are_no_values_that_trees_could_take_for_each_other(X, labels):
    """The columns lie far from zero, so they are looked at; all their numbers differ in 32 bits too."""
    far = 3.0 + X.argsort(axis=0, kind="stable").argsort(axis=0) / N_ROWS**1.01
    with_gaps = np.where(np.random.default_rng(0).random(X.shape) < 0.1, np.nan, far)
    hidden = type("OwnBag", (BaggingClassifier,), {})(DecisionTreeClassifier(), n_estimators=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error", PrecisionWarning)
        PPFS(hidden, n_splits=5, random_state=0).fit(with_gaps, labels)


@pytest.mark.parametrize("wrapper", [Stepwise, PermutationImportance])
def test_wrappers_see_a_column_in_any_unit(X, quantity, wrapper):
    """Columns are shown to models in the order of their content, which decides ties: other columns may come and go."""
    for columns, y in ((X, quantity), (X + 1e9, quantity), (X * 1e-8, quantity), (X, quantity * 1e-9)):
        assert wrapper(random_state=0).fit(columns, y).support_[2]


class ExtraTreeRegressor(LinearRegression):
    """A model of the caller's with the name of a tree."""

    criterion, min_impurity_decrease, ccp_alpha = "squared_error", 0.0, 0.0


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (DecisionTreeRegressor(), True),
        (DecisionTreeRegressor(criterion="absolute_error"), True),
        (DecisionTreeRegressor(criterion="poisson"), False),
        (DecisionTreeRegressor(min_impurity_decrease=0.1), False),
        (DecisionTreeRegressor(ccp_alpha=0.1), False),
        (RandomForestRegressor(), True),
        (GradientBoostingRegressor(criterion="squared_error", ccp_alpha=0.0), False),
        (DecisionTreeClassifier(), False),
        (ExtraTreeRegressor(), False),
        (LinearRegression(), False),
    ],
)
def test_trees_that_follow_shift_and_unit_of_the_target(model, expected):
    assert is_equivariant(model) == expected
