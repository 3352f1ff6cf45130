"""A dropped column is redundant with the selected column that carries the same information, or with none."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from checks.graphs import empty_table
from scipy.sparse import csr_array
from scipy.stats import rankdata
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket import IAMB, GrowShrink
from ppfs.blanket._run import redundancy
from ppfs.blanket._run.redundancy import _associations, _indicators, _sixths, closest_members
from ppfs.blanket._steps import column_values
from ppfs.independence import CrossFitPPI

SEARCHES = [
    PPFS.calibrated(LinearRegression(), random_state=0),
    GrowShrink(alpha=0.01),
    IAMB(alpha=0.01),
]


@pytest.fixture(scope="module")
def weather():
    """A temperature in three units, and two columns that have nothing to do with it."""
    rng = np.random.default_rng(0)
    celsius, wind, sun = rng.normal(size=(3, 400))
    X = pd.DataFrame({"wind": wind, "celsius": celsius, "sun": sun})
    X["fahrenheit"] = 32 + 1.8 * celsius + 0.1 * rng.normal(size=400)
    X["felt"] = celsius + 0.2 * rng.normal(size=400)
    return X, 3 * celsius + 2 * wind + sun + 0.5 * rng.normal(size=400)


@pytest.mark.parametrize("search", SEARCHES, ids=lambda search: type(search).__name__)
def test_copies_of_a_temperature_hang_on_the_temperature(search, weather):
    results = search.fit(*weather).results_.set_index("column")
    for name in ("fahrenheit", "felt"):
        assert results.loc[name, "redundant_with"] in (["celsius"], [])
    assert ["celsius"] in results["redundant_with"].tolist()
    assert "wind" not in {name for names in results["redundant_with"] for name in names}


def test_the_worst_texture_of_wdbc_hangs_on_a_column_without_which_it_would_matter():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = PPFS.calibrated(growth="marginal", second_look=False, random_state=0).fit(X, y)
    selected = selector.get_feature_names_out().tolist()
    [named] = selector.results_.set_index("column").loc["worst texture", "redundant_with"]
    test = CrossFitPPI("panel", random_state=0)
    others = [name for name in selected if name != named]
    beside = test.evaluate(X, y, "worst texture", given=selected).pvalue
    assert test.evaluate(X, y, "worst texture", given=others).pvalue < min(0.01, beside / 10)


def closest(X, dropped, members):
    table = read_table(X, np.arange(X.shape[0]) % 2, task="auto", owner="a test")
    return closest_members(table, dropped, members)


def test_a_column_that_is_close_to_none_or_to_two_alike_is_close_to_none():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    X = np.column_stack([a, b, a + 0.2 * rng.normal(size=500), a + b, rng.normal(size=500)])
    assert closest(X, [2, 3, 4], [0, 1]) == {2: 0}


def test_links_of_any_shape_and_kind_are_seen():
    rng = np.random.default_rng(0)
    number, other = rng.uniform(-1, 1, size=(2, 500))
    X = pd.DataFrame({"number": number, "other": other})
    X["square"] = number**2
    X["text"] = np.where(number > 0.5, "high", np.where(number > -0.5, "middle", "low"))
    X["with missing"] = np.where(rng.random(500) < 0.3, np.nan, -number)
    assert closest(X, [2, 3, 4], [1, 0]) == {2: 0, 3: 0, 4: 0}


def test_groups_are_as_close_as_their_closest_columns():
    rng = np.random.default_rng(0)
    a, b, c = rng.normal(size=(3, 300))
    X = pd.DataFrame({"a": a, "b": b, "copy": a + 0.1 * rng.normal(size=300), "c": c})
    table = read_table(
        X, np.arange(300) % 2, task="auto", owner="a test", feature_groups={"both": ["copy", "c"]}
    )
    names = list(table.names)
    both = names.index("both")
    assert closest_members(table, [both], [names.index("b"), names.index("a")]) == {both: names.index("a")}


def test_sparse_columns_and_many_rows_are_looked_at_in_part():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, size=(2, 5000))
    X = csr_array(np.column_stack([a, b, np.where(rng.random(5000) < 0.02, 1 - a, a)]).astype(float))
    assert closest(X, [2], [1, 0]) == {2: 0}


def test_association_is_bias_corrected_cramers_v_squared():
    """By hand: phi squared is 1 / 4, (1 / 4 - 1 / 7) / (1 - 1 / 7) = 1 / 8; a column shares all of itself."""
    one = [0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0]
    other = [0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 1.0, 1.0]
    table = read_table(np.column_stack([one, other]), np.arange(8) % 2, task="auto", owner="a test")
    indicators, owners = _indicators(table, [0, 1], np.arange(8))
    assert owners.tolist() == [0, 1]
    np.testing.assert_allclose(_associations(indicators, indicators), [[1, 1 / 8], [1 / 8, 1]])


def sixth_of_the_ranks(column):
    """Return the sixth that each mean rank is in, from 0; missing values are in class 6."""
    known = ~np.isnan(column)
    found = np.full(column.size, 6)
    found[known] = (rankdata(column[known]) - 0.5) * 6 // known.sum()
    return found


@pytest.mark.parametrize("n_rows", [1, 2, 3, 5, 6, 7, 12, 13, 40])
def test_sixths_are_those_of_the_mean_rank(n_rows):
    rng = np.random.default_rng(n_rows)
    few, many, gaps = (
        rng.integers(0, 3, (n_rows, 8)),
        rng.integers(0, 9, (n_rows, 8)),
        rng.normal(size=(n_rows, 8)),
    )
    gaps[rng.random(size=gaps.shape) < 0.3] = np.nan
    gaps[:, 0] = np.nan
    values = np.column_stack([few, many, gaps, np.ones(n_rows)]).astype(float)
    expected = np.column_stack([sixth_of_the_ranks(column) for column in values.T])
    np.testing.assert_array_equal(_sixths(values), expected)


def corrected_cramers_v_squared(one, other):
    n = one.size
    shares = [np.mean((one == a) & (other == b)) ** 2 / (np.mean(one == a) * np.mean(other == b))
              for a in np.unique(one) for b in np.unique(other)]  # fmt: skip
    k, r = np.unique(one).size, np.unique(other).size
    largest = min(k - (k - 1) ** 2 / (n - 1), r - (r - 1) ** 2 / (n - 1)) - 1
    above = max(sum(shares) - 1 - (k - 1) * (r - 1) / (n - 1), 0.0)
    return above / largest if largest > 0 else 0.0


@pytest.mark.parametrize("n_rows", [12, 30])
def test_associations_are_those_of_pairs_of_columns(n_rows):
    rng = np.random.default_rng(0)
    a = rng.integers(0, 7, n_rows)
    ones = np.column_stack([a, a // 2, a // 3, np.zeros(n_rows)])
    others = np.column_stack(
        [a % 4, rng.integers(0, 2, n_rows), a, np.full(n_rows, 6), rng.permutation(a // 4)]
    )
    found = _associations(
        *((some[:, :, np.newaxis] == np.arange(7)).astype(np.float32) for some in (ones, others))
    )
    expected = [[corrected_cramers_v_squared(one, other) for other in others.T] for one in ones.T]
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-15)
    assert (np.array(expected) > 0).sum() >= 6


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ([0.2, 0.1, 0.0], {7: 3}),
        ([0.19, 0.0, 0.0], {}),
        ([0.2, 0.11, 0.0], {}),
        ([0.1, 0.0, 0.2], {7: 5}),
        ([0.3, 0.9, 0.44], {7: 4}),
        ([0.46, 0.9, 0.1], {}),
        ([0.5, 0.5, 0.0], {}),
    ],
)
def test_the_closest_member_has_a_fifth_and_twice_as_much_as_the_next(links, expected, monkeypatch):
    monkeypatch.setattr(
        redundancy, "_indicators", lambda table, features, rows: (None, np.arange(len(features)))
    )
    monkeypatch.setattr(redundancy, "_associations", lambda ones, others: np.array([links]))
    table = empty_table(9)
    assert closest_members(table, [7], [3, 4, 5]) == expected
    assert closest_members(table, [7], [3]) == {}
    assert closest_members(table, [], [3, 4]) == {}


@pytest.mark.parametrize(("n_rows", "n_looked_at"), [(5, 5), (999, 999), (1000, 1000), (2500, 1000)])
def test_a_thousand_rows_and_a_hundred_columns_are_looked_at_at_once(n_rows, n_looked_at, monkeypatch):
    asked, threads = [], []

    def indicators(table, features, rows):
        asked.append((list(features), rows))
        return None, np.arange(len(features))

    def run_tasks(task, blocks, n_threads):
        threads.append(n_threads)
        return map(task, blocks)

    monkeypatch.setattr(redundancy, "_indicators", indicators)
    monkeypatch.setattr(redundancy, "_associations", lambda ones, others: np.array([[0.9, 0.1]]))
    monkeypatch.setattr(redundancy._engine, "run_tasks", run_tasks)
    table = SimpleNamespace(n_rows=n_rows, is_in_memory=True)
    dropped = range(10, 260)
    assert closest_members(table, dropped, [1, 2], n_jobs=3) == dict.fromkeys(dropped, 1)
    table.is_in_memory = False
    closest_members(table, dropped, [1, 2], n_jobs=3)
    assert threads == [3, 1]
    assert [features for features, _ in asked[:4]] == [
        [1, 2],
        [*range(10, 110)],
        [*range(110, 210)],
        [*range(210, 260)],
    ]
    rows = asked[0][1]
    assert (rows[0], rows[-1], rows.size) == (0, n_rows - 1, n_looked_at)
    assert all(other is rows for _, other in asked[:4])
    assert set(np.diff(rows)) <= ({1} if n_rows <= 1000 else {2, 3})


@pytest.mark.parametrize("at_once", [6, 2**18])
def test_classes_of_the_columns_of_groups_have_the_place_of_their_group(at_once, monkeypatch):
    monkeypatch.setattr(column_values, "_ENTRIES_AT_ONCE", at_once)
    X = pd.DataFrame(
        {"a": [1.0, 2, 3, 4, 5, 6], "b": [2.0, 1, np.nan, np.nan, 4, 5], "c": [1.0, 1, 1, 1, 1, 1]}
    )
    table = read_table(X, np.arange(6) % 2, task="auto", owner="a test", feature_groups={"two": ["c", "a"]})
    names = list(table.names)
    indicators, owners = _indicators(table, [names.index("b"), names.index("two")], np.array([0, 2, 3, 5]))
    assert owners.tolist() == [0, 1, 1]
    assert indicators.shape == (4, 3, 7)
    assert (indicators.sum(axis=2) == 1).all()
    # Of two known values the lower is in the second sixth, of four equal ones all in the fourth.
    assert indicators.argmax(axis=2).T.tolist() == [[1, 6, 6, 4], [3, 3, 3, 3], [0, 2, 3, 5]]
