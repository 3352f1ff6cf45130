"""Regressions of every column on all others at once are those that scikit-learn fits one by one."""

import numpy as np
import pytest
from sklearn.linear_model import RidgeCV
from sklearn.preprocessing import StandardScaler

from ppfs._data.reading import read_table
from ppfs.blanket._steps import alike
from ppfs.blanket._steps.alike import (
    _components,
    _explained,
    _joined,
    _standardized,
    clusters_of,
    near_copies,
)
from ppfs.independence import FisherZ


def correlated(rng, n_rows, n_columns):
    return rng.normal(size=(n_rows, 1)) + rng.normal(size=(n_rows, n_columns)) * rng.gamma(
        1.0, size=n_columns
    )


@pytest.mark.parametrize(("n_rows", "n_columns"), [(60, 20), (40, 40), (30, 70)])
def test_every_column_is_explained_as_ridge_with_cross_validation_does(n_rows, n_columns):
    X = correlated(np.random.default_rng(0), n_rows, n_columns) * 7.0 + 3.0
    explained = _explained(_standardized(X))
    for column in range(0, n_columns, 7):
        others = StandardScaler().fit_transform(np.delete(X, column, axis=1))
        own = StandardScaler().fit_transform(X[:, [column]]).ravel()
        assert explained[column] == pytest.approx(
            1.0 + RidgeCV(alike._PENALTIES).fit(others, own).best_score_
        )


def test_what_others_explain_is_measured_on_left_out_rows():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 50))
    X[:, 0] = X[:, 1] + 0.1 * rng.normal(size=60)
    X[:, 4] = 2.0
    explained = _explained(_standardized(X))
    assert explained[0] > 0.9
    assert explained[5:].max() < 0.2
    # Nothing of a constant column is left to explain.
    assert explained[4] == pytest.approx(1.0)


def test_penalties_reach_from_a_thousandth_to_ten_thousand():
    np.testing.assert_allclose(alike._PENALTIES, 10.0 ** np.arange(-3.0, 4.5, 0.5), rtol=1e-12)


def test_columns_have_mean_0_and_length_1_and_missing_values_are_at_the_mean():
    values = np.array(
        [
            [1.0, 5.0, np.nan, np.nan, np.nan, 0.2],
            [3.0, 5.0, 2.0, np.nan, 4.0, 0.1],
            [np.nan, 5.0, 8.0, np.nan, np.nan, 0.15],
        ]
    )
    root = np.sqrt(0.5)
    expected = np.array([[-root, 0, 0, 0, 0, root], [root, 0, -root, 0, 0, -root], [0, 0, root, 0, 0, 0]])
    np.testing.assert_allclose(_standardized(values), expected, atol=1e-12)


def at_angle(cosine):
    """Return two columns of length 1 with this product, and one at a right angle to both."""
    return np.array([[1.0, cosine, 0.0], [0.0, np.sqrt(1.0 - cosine**2), 0.0], [0.0, 0.0, 1.0]])


@pytest.mark.parametrize(
    ("cosine", "n_found"), [(0.95, 2), (-0.95, 2), (0.9499999999, 2), (0.949999998, 3), (0.96, 2), (0.1, 3)]
)
@pytest.mark.parametrize("at_once", [1, 3, 4, 6, 2**22])
def test_columns_are_joined_if_their_correlation_reaches_the_bound(cosine, n_found, at_once, monkeypatch):
    """In blocks of one, two or all columns; the tenth digit decides nothing."""
    monkeypatch.setattr(alike, "_AT_ONCE", at_once)
    found = _components(at_angle(cosine), 0.95)
    assert found.tolist() == ([0, 0, 1] if n_found == 2 else [0, 1, 2])


def test_a_constant_column_is_joined_to_none():
    assert _components(np.array([[1.0, 1.0, 0.0], [0.0, 0.0, 0.0]]), 0.95).tolist() == [0, 0, 1]
    assert _components(np.array([[0.0, 1.0, 1.0], [0.0, 0.0, 0.0]]), 0.95).tolist() == [0, 1, 1]


def test_components_are_joined_through_others(monkeypatch):
    angles = np.deg2rad([0, 80, 15, 90, 30, 170])
    unit = np.vstack([np.cos(angles), np.sin(angles)])
    for at_once in (6, 12, 2**22):
        monkeypatch.setattr(alike, "_AT_ONCE", at_once)
        # 15 degrees are close enough, in either direction: the cosine of 15.2 degrees is 0.965.
        assert _components(unit, 0.965).tolist() == [0, 1, 0, 1, 0, 0]


@pytest.mark.parametrize("explained", [0.9, 0.8999999999, 0.899999998])
@pytest.mark.parametrize("correlation", [0.3, 0.2999999999, 0.299999998])
def test_columns_that_others_determine_are_joined_where_they_are_correlated(
    explained, correlation, monkeypatch
):
    """Columns 0 and 1 and their correlation; column 2 has a near copy; column 3 is determined and uncorrelated."""
    second = [correlation, np.sqrt(1.0 - correlation**2), 0.0, 0.0]
    unit = np.column_stack([[1.0, 0, 0, 0], second, [0.0, 0, 1, 0], [0.0, 0, 0, 1], [0.0, 0, 1, 0]])
    seen = []

    def shares(given):
        seen.append(given)
        return np.array([1.0, explained, 0.2, 0.95])

    monkeypatch.setattr(alike, "_explained", shares)
    found = _joined(unit)
    # Of near copies the first is asked about.
    np.testing.assert_array_equal(seen[0], unit[:, :4])
    is_joined = min(explained, correlation + 0.6) > 0.8999999985
    assert (found[0] == found[1]) == is_joined
    assert found[2] == found[4]
    assert len(set(found.tolist())) == (3 if is_joined else 4)


def test_a_cluster_of_near_copies_joins_as_a_whole(monkeypatch):
    unit = np.array([[1.0, 0.4, 1.0, 0.4], [0.0, 0.0, 0.0, 0.0], [0.0, np.sqrt(0.84), 0.0, np.sqrt(0.84)]])
    monkeypatch.setattr(alike, "_explained", lambda given: np.ones(given.shape[1]))
    assert len(set(_joined(unit).tolist())) == 1
    monkeypatch.setattr(alike, "_explained", lambda given: np.array([1.0, 0.0]))
    assert _joined(unit).tolist() == [0, 1, 0, 1]


def mixed_table():
    """Return numbers of which three are near copies, copied categories, and a group of two columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 9))
    X[:, 6] = X[:, 1]
    X[:, 8] = -X[:, 1] + 0.01 * X[:, 8]
    X[:, 2] = X[:, 7] = rng.integers(0, 3, 60)
    return read_table(
        X,
        rng.normal(size=60),
        task="regression",
        owner=FisherZ(),
        feature_groups={"pair": [4, 5]},
        categorical_features=np.isin(np.arange(9), [2, 7]),
    )


def by_name(table, groups):
    return [[table.names[feature] for feature in group] for group in groups]


def test_clusters_stand_in_the_order_of_their_first_members():
    table = mixed_table()
    number = {name: place for place, name in enumerate(table.names)}
    asked = [number[name] for name in ("x8", "pair", "x7", "x0", "x1", "x3", "x2", "x6")]
    expected = [["x8", "x1", "x6"], ["pair"], ["x7", "x2"], ["x0"], ["x3"]]
    assert by_name(table, clusters_of(table, asked)) == expected
    assert by_name(table, clusters_of(table, asked[:2])) == [["x8"], ["pair"]]
    assert by_name(table, clusters_of(table, asked[1:3])) == [["pair"], ["x7"]]
    assert by_name(table, clusters_of(table, [number["x6"], number["x1"]])) == [["x6", "x1"]]
    assert clusters_of(table, []) == []


def test_near_copies_are_found_among_numbers_only():
    table = mixed_table()
    number = {name: place for place, name in enumerate(table.names)}
    asked = [number[name] for name in ("x8", "pair", "x7", "x0", "x1", "x3", "x2", "x6")]
    assert by_name(table, near_copies(table, asked)) == [["x8", "x1", "x6"]]
    assert by_name(table, near_copies(table, asked[4:])) == [["x1", "x6"]]
    assert by_name(table, near_copies(table, [number["x6"], number["x1"]])) == [["x6", "x1"]]
    assert near_copies(table, asked[:4]) == []
    assert near_copies(table, asked[:2]) == []
    assert near_copies(table, asked[1:3]) == []
