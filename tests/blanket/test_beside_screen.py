"""The screen of columns beside the selected ones, compared with regressions one by one."""

import numpy as np
import pytest
from scipy.stats import chi2

from ppfs._data.reading import read_table
from ppfs.blanket._steps import beside_screen, column_values
from ppfs.blanket._steps.beside_screen import (
    _explained,
    _indicators,
    _left,
    _log_tail,
    _score_of_groups,
    _scores,
    _units,
    most_promising_beside,
)
from ppfs.independence import FisherZ

N = 40


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def table_of(X, y, task="regression", **given):
    return read_table(X, y, task=task, owner=FisherZ(), **given)


def unit(column):
    """Return a column with mean 0 and variance 1; missing values are at the mean of the others."""
    known = ~np.isnan(column)
    centered = np.where(known, column - (column[known].mean() if known.any() else 0.0), 0.0)
    return centered / (centered.std() or 1.0)


def left_by(design, values):
    """Return the residuals of regressions on a design."""
    return values - design @ np.linalg.lstsq(design, values, rcond=None)[0]


def score_of(column, residuals, design, factors):
    """Return the largest statistic of a column, its square and its products, as minus the log of its p-value."""
    own = unit(column)
    explained = [0.0]
    for view in (own, own**2):
        length = (left_by(design, view) ** 2).sum()
        explained.append(((residuals.T @ view) ** 2).sum() / length if length > 1e-6 else 0.0)
    for factor in factors.T:
        view = factor * own
        length = ((view - view.mean()) ** 2).sum()
        explained.append(((residuals.T @ view) ** 2).sum() / length if length > 1e-6 else 0.0)
    return -chi2.logsf(len(column) * max(explained), residuals.shape[1])


@pytest.mark.parametrize("n_outcomes", [1, 3])
@pytest.mark.parametrize("n_factors", [0, 1, 2])
def test_scores_are_those_of_regressions_of_each_view(n_outcomes, n_factors, rng):
    factors = np.column_stack(
        [unit(column) for column in rng.normal(size=(n_factors, N))] or [np.empty((N, 0))]
    )
    design = np.column_stack([np.ones(N), factors, factors**2])
    residuals = left_by(design, rng.normal(size=(N, n_outcomes)))
    residuals /= np.sqrt((residuals**2).sum(axis=0))
    columns = rng.normal(size=(N, 30))
    columns[:, 0] = 5.0
    columns[:, 1] = residuals[:, 0] * 3.0 + 2.0 + 0.1 * columns[:, 1]
    columns[:, 2] = np.sqrt(residuals[:, 0] - residuals.min() + 0.01 * rng.random(N))
    columns[:, 3] = rng.random(N) < 0.2
    columns[rng.random(N) < 0.3, 4] = np.nan
    if n_factors:
        columns[:, 5] = residuals[:, -1] / (factors[:, -1] + np.sign(factors[:, -1]))
        columns[:, 6] = factors[:, 0] + 0.3 * factors[:, 0] ** 2
        columns[:, 7] = factors[:, 0]
    basis = np.linalg.qr(design)[0]
    expected = [score_of(column, residuals, design, factors) for column in columns.T]
    np.testing.assert_allclose(_scores(columns, residuals, basis, factors), expected, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("n_outcomes", [1, 2])
def test_groups_score_by_their_means(n_outcomes, rng):
    residuals = rng.normal(size=(N, n_outcomes))
    residuals -= residuals.mean(axis=0)
    residuals /= np.sqrt((residuals**2).sum(axis=0))
    # Five rows are a category, four are not; missing values are a category.
    column = np.repeat([0.0, 1.0, 2.0, 3.0, np.nan], [5, 4, 11, 12, 8])
    groups = [column == 0, column == 2, column == 3, np.isnan(column)]
    explained = sum((residuals[group].sum(axis=0) ** 2).sum() / group.sum() for group in groups)
    expected = -chi2.logsf(N * explained, 3 * n_outcomes)
    assert _score_of_groups(column, residuals) == pytest.approx(expected, rel=1e-9)
    assert _score_of_groups(np.repeat([0.0, 1.0], [36, 4]), residuals) == 0.0
    assert _score_of_groups(np.arange(40.0), residuals) == 0.0
    two = np.repeat([0.0, 1.0], [35, 5])
    explained = sum(
        (residuals[two == level].sum(axis=0) ** 2).sum() / (two == level).sum() for level in (0, 1)
    )
    assert _score_of_groups(two, residuals) == pytest.approx(-chi2.logsf(N * explained, n_outcomes), rel=1e-9)
    np.testing.assert_array_equal(
        _indicators(column), np.column_stack([groups[3], groups[0], groups[1], groups[2]])
    )


def test_units_have_mean_0_and_variance_1(rng):
    columns = rng.normal(3.0, 7.0, size=(N, 4))
    columns[:, 1] = 2.0
    columns[:, 2] *= 1e-5
    np.testing.assert_allclose(_units(columns), np.column_stack([unit(c) for c in columns.T]), atol=1e-12)
    columns[3:9, 0], columns[:, 1], columns[0, 3] = np.nan, np.nan, np.nan
    columns[1:, 2] = np.nan
    expected = np.column_stack([unit(columns[:, 0]), np.zeros(N), np.zeros(N), unit(columns[:, 3])])
    np.testing.assert_allclose(_units(columns), expected, atol=1e-12)


@pytest.fixture
def kinds(rng):
    """Return numbers, categories of which one is rare, and a group of two columns."""
    X = rng.normal(size=(N, 6))
    X[:, 2] = np.repeat([0.0, 1.0, 2.0], [17, 19, 4])
    X[::7, 1] = np.nan
    return X, np.arange(6) == 2


@pytest.mark.parametrize("task", ["regression", "classification", "several"])
def test_what_a_linear_model_of_the_members_leaves(task, kinds, rng):
    X, is_category = kinds
    y = {
        "regression": 1e-3 * rng.normal(5.0, 2.0, size=N),
        "classification": np.array(["a", "b", "c"])[rng.integers(0, 3, N)],
        "several": rng.normal(5.0, 2.0, size=(N, 2)),
    }[task]
    table = table_of(X, y, "classification" if task == "classification" else "regression",
                     categorical_features=is_category, feature_groups={"pair": [4, 5]})  # fmt: skip
    names = list(table.names)
    members = [names.index(name) for name in ("x0", "x1", "x2", "pair")]
    residuals, basis, factors = _left(table, table.target, members)
    numbers = np.column_stack([unit(X[:, 0]), unit(X[:, 1])])
    categories = np.column_stack([X[:, 2] == level for level in (0, 1)])
    design = np.column_stack([np.ones(N), numbers, numbers**2, categories])
    outcomes = (
        (y[:, None] == np.array(["b", "c"])).astype(float) if task == "classification" else y.reshape(N, -1)
    )
    expected = left_by(design, outcomes)
    np.testing.assert_allclose(residuals, expected / np.sqrt((expected**2).sum(axis=0)), atol=1e-9)
    np.testing.assert_allclose(basis.T @ basis, np.eye(7), atol=1e-9)
    np.testing.assert_allclose(left_by(basis, design), 0.0, atol=1e-9)
    np.testing.assert_allclose(factors, numbers, atol=1e-12)


def test_another_variable_and_an_explained_one_can_be_the_target(kinds):
    X, is_category = kinds
    table = table_of(X, np.repeat([0, 1], 20), "classification", categorical_features=is_category)
    residuals, _, factors = _left(table, 0, [2])
    design = np.column_stack([np.ones(N), X[:, 2] == 0, X[:, 2] == 1])
    expected = left_by(design, X[:, [0]])
    np.testing.assert_allclose(residuals, expected / np.sqrt((expected**2).sum()), atol=1e-9)
    assert factors.shape == (N, 0)
    nothing, _, _ = _left(table_of(X, np.full(N, 3.5), categorical_features=is_category), 6, [])
    np.testing.assert_array_equal(nothing, np.zeros((N, 1)))


def test_products_with_the_first_twenty_members_are_looked_at(rng):
    X = rng.normal(size=(60, 24))
    table = table_of(X, rng.normal(size=60))
    _, _, factors = _left(table, table.target, list(range(24)))
    np.testing.assert_allclose(factors, _units(X[:, :20]), atol=1e-12)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("at_once", [1, 100, 2**18])
def test_the_columns_with_the_highest_scores_are_returned(n_jobs, at_once, rng, monkeypatch):
    monkeypatch.setattr(column_values, "_ENTRIES_AT_ONCE", at_once)
    X = rng.normal(size=(N, 12))
    X[:, 7] = np.repeat([0.0, 1.0], 20)
    X[:, 8] = np.repeat([0.0, 1.0, 2.0, 3.0], 10)
    y = X[:, 0] + 0.5 * X[:, 5] + X[:, 8] + 0.3 * rng.normal(size=N)
    table = table_of(X, y, categorical_features=np.isin(np.arange(12), [7, 8]))
    residuals, basis, factors = _left(table, table.target, [0])
    rest = list(range(1, 12))
    scores = {x: _scores(X[:, [x]], residuals, basis, factors)[0] for x in rest}
    scores |= {x: _score_of_groups(X[:, x], residuals) for x in (7, 8)}
    best = sorted(rest, key=lambda x: -scores[x])
    for n in (1, 2, 4, 9, 10):
        assert most_promising_beside(table, table.target, [0], rest, n, n_jobs) == best[:n]


def test_few_columns_are_all_asked_about(rng):
    table = table_of(rng.normal(size=(N, 5)), rng.normal(size=N))
    rest = [3, 1, 2]
    assert most_promising_beside(table, 5, [0], [2, 1, 3], 3) == [2, 1, 3]
    assert most_promising_beside(table, 5, [0], [3], 1) == [3]
    assert most_promising_beside(table, 5, [0], [3], 0) == []
    assert most_promising_beside(table, 5, [0], rest, 3) == rest
    assert most_promising_beside(table, 5, [0], rest, 4) == rest
    assert most_promising_beside(table, 5, [0], rest, 0) == []
    assert most_promising_beside(table, 5, [0], [], 0) == []
    assert len(most_promising_beside(table, 5, [0], rest, 2)) == 2
    assert len(most_promising_beside(table, 5, [0], rest, 1)) == 1


def test_groups_of_columns_are_always_asked_about(rng):
    X = rng.normal(size=(N, 8))
    table = table_of(X, X[:, 1] + 0.1 * rng.normal(size=N), feature_groups={"pair": [4, 5], "other": [6, 7]})
    names = list(table.names)
    rest = [names.index(name) for name in ("x2", "pair", "x1", "x3", "other")]
    asked = most_promising_beside(table, table.target, [names.index("x0")], rest, 3)
    assert {names[x] for x in asked[:2]} == {"pair", "other"}
    assert names[asked[2]] == "x1"
    pairs = [names.index("pair"), names.index("other")]
    assert len(most_promising_beside(table, table.target, [names.index("x0")], pairs, 1)) == 1


def test_columns_that_tie_are_chosen_by_their_content(rng, tmp_path):
    X = np.column_stack([rng.normal(size=(N, 3)), np.ones(N), np.full(N, 2.0), np.full(N, 3.0)])
    y = X[:, 0] + rng.normal(size=N)
    chosen = set()
    for order in ([3, 4, 5], [5, 4, 3], [4, 3, 5]):
        turned = X[:, [0, 1, 2, *order]]
        asked = most_promising_beside(table_of(turned, y), 6, [0], [3, 4, 5], 1)
        chosen.add(turned[0, asked[0]])
    assert len(chosen) == 1
    # The columns of a file are chosen by their number, so that none is read for that.
    np.save(tmp_path / "X.npy", X)
    table = table_of(tmp_path / "X.npy", y)
    assert most_promising_beside(table, 6, [0], [5, 4, 3], 2) == [3, 4]


def test_columns_of_a_file_are_read_by_one_thread(rng, tmp_path, monkeypatch):
    threads = []

    def run_tasks(task, blocks, n_threads):
        threads.append(n_threads)
        return list(map(task, blocks))

    monkeypatch.setattr(beside_screen._engine, "run_tasks", run_tasks)
    X, y = rng.normal(size=(N, 6)), rng.normal(size=N)
    np.save(tmp_path / "X.npy", X)
    for source in (X, tmp_path / "X.npy"):
        most_promising_beside(table_of(source, y), 6, [0], [1, 2, 3], 2, n_jobs=3)
    assert threads == [3, 1]


def test_a_view_with_next_to_no_variance_of_its_own_explains_nothing():
    products, lengths = np.array([[3.0, 3.0, 3.0], [4.0, 4.0, 4.0]]), np.array([1e-6, 1.0001e-6, 0.0])
    np.testing.assert_allclose(_explained(products, lengths, 1000), [0.0, 25 / 1.0001e-6, 0.0])


def test_what_explains_everything_has_an_infinite_score():
    with np.errstate(all="raise"):
        assert _log_tail(np.array([1e6]), 1).tolist() == [-np.inf]
