"""A dropped column is redundant with the selected column that carries the same information, or with none."""

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket import IAMB, GrowShrink
from ppfs.blanket._run.redundancy import _associations, _indicators, closest_members
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
