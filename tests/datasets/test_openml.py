"""The OpenML path, with `fetch_openml` replaced: no test goes online."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from ppfs.datasets import load_dataset
from ppfs.datasets._openml import translate
from ppfs.datasets._registry import OpenMLCopy, find_dataset


def openml_wdbc():
    """OpenML's WDBC: the same values, columns V1 to V30, classes "1" (benign) and "2"."""
    data = load_breast_cancer()
    names = [f"V{number}" for number in range(1, 31)]
    target = np.where(data.target == 1, "1", "2").astype(object)
    return Bunch(data=data.data, target=target, feature_names=names, categories={})


@pytest.fixture
def wdbc_only_on_openml(nowhere, monkeypatch):
    """Pretend that scikit-learn has no WDBC; returns the list of requests to OpenML."""
    info = dataclasses.replace(find_dataset("wdbc"), sklearn=False)
    monkeypatch.setattr("ppfs.datasets._load.find_dataset", lambda name: info)
    requests = []

    def fetch(**parameters):
        requests.append(parameters)
        return openml_wdbc()

    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)
    return requests


def make_info(**changes):
    """A small text-and-number data set: 3 complete rows."""
    fields = {
        "rows": 3,
        "features": 2,
        "columns": ("letter", "number"),
        "categorical": ("letter",),
        "classes": {"+": 2, "-": 1},
        # 2 x (1 + 2 + 4): only the second column is numeric.
        "column_check": 14.0,
    }
    return dataclasses.replace(find_dataset("credit"), **{**fields, **changes})


def make_bunch(data, target):
    return Bunch(
        data=np.array(data), target=np.array(target, dtype=object),
        feature_names=["A1", "A2"], categories={"A1": ["a", "b"]},
    )  # fmt: skip


def test_openml_copy_gets_our_names_and_labels(wdbc_only_on_openml):
    wdbc = load_dataset("wdbc")
    data = load_breast_cancer()
    np.testing.assert_array_equal(wdbc.X, data.data)
    np.testing.assert_array_equal(wdbc.y, np.where(data.target == 1, "B", "M"))
    assert wdbc.feature_names[0] == "mean_radius"
    assert wdbc_only_on_openml == [{"data_id": 1510, "as_frame": False, "parser": "liac-arff"}]


def test_second_load_is_offline_and_equal(wdbc_only_on_openml):
    first = load_dataset("wdbc")
    second = load_dataset("wdbc", download=False)
    assert len(wdbc_only_on_openml) == 1
    np.testing.assert_array_equal(first.X, second.X)
    np.testing.assert_array_equal(first.y, second.y)


def test_damaged_cache_says_what_to_delete(wdbc_only_on_openml, nowhere):
    load_dataset("wdbc")
    cached = nowhere / "ppfs" / "wdbc.csv"
    cached.write_text(cached.read_text(encoding="utf-8").replace("17.99", "18.99", 1), encoding="utf-8")
    with pytest.raises(ValueError, match=r"cached wdbc\.csv .* is damaged: delete it"):
        load_dataset("wdbc")


def test_unwritable_cache_does_not_cost_the_data(wdbc_only_on_openml, nowhere):
    nowhere.mkdir()
    (nowhere / "ppfs").write_text("a file where the folder should be", encoding="utf-8")
    assert load_dataset("wdbc").X.shape == (569, 30)


def test_unusable_data_home_is_one_of_the_places_looked_at(nowhere):
    nowhere.write_text("a file where the folder should be", encoding="utf-8")
    with pytest.raises(FileNotFoundError, match=r"(?s)cache: .*OpenML, data set 53"):
        load_dataset("heart")


def test_rows_with_missing_values_are_dropped_and_letters_restored():
    bunch = make_bunch([[0, 1], [np.nan, 9], [1, 2], [1, np.nan], [0, 4]], ["+", "+", "-", "-", "+"])
    dataset = translate(make_info(), OpenMLCopy(id=29, rows=5, labels={}), bunch)
    assert dataset.X.tolist() == [["a", 1.0], ["b", 2.0], ["a", 4.0]]
    assert dataset.y.tolist() == ["+", "-", "+"]


def test_only_the_leading_training_rows_are_taken():
    info = make_info(has_text=False, classes={"-1": 1, "1": 2}, column_check=1 * 1 + 14.0)
    bunch = make_bunch([[0, 1], [1, 2], [0, 4], [7, 7]], [1.0, 2.0, 1.0, 2.0])
    bunch.data = sparse.csr_matrix(bunch.data)
    dataset = translate(info, OpenMLCopy(id=1485, rows=4, labels={"2": "-1"}), bunch)
    assert dataset.X.toarray().tolist() == [[0, 1], [1, 2], [0, 4]]
    assert dataset.y.tolist() == [1, -1, 1]


def test_another_number_of_rows_is_refused():
    bunch = make_bunch([[0, 1], [1, 2], [0, 4]], ["+", "-", "+"])
    with pytest.raises(ValueError, match=r"OpenML's data set 29 has 3 rows, but had 690"):
        translate(make_info(), OpenMLCopy(id=29, rows=690, labels={}), bunch)


@pytest.mark.parametrize(
    ("data", "target", "problem"),
    [
        ([[0, 1], [1, 2], [0, np.nan]], ["+", "-", "+"], "2 x 2 values, expected 3 x 2"),
        ([[0, 1], [1, 2], [0, 4]], ["+", "-", "-"], "its classes are"),
        ([[0, 1], [1, 2], [0, 5]], ["+", "-", "+"], "its values differ"),
    ],
)
def test_other_data_are_refused_with_the_way_out(data, target, problem):
    with pytest.raises(ValueError, match=rf"OpenML's data set 29 does not hold .*{problem}.* Pass folder="):
        translate(make_info(), OpenMLCopy(id=29, rows=3, labels={}), make_bunch(data, target))


def openml_like(dataset, info):
    """Turn a data set back into what OpenML holds: other labels, text as codes, and more rows."""
    names = {ours: theirs for theirs, ours in info.openml.labels.items()}
    target = np.array([names.get(str(label), str(label)) for label in dataset.y], dtype=object)
    extra = info.openml.rows - info.rows
    target = np.append(target, target[:extra])
    if sparse.issparse(dataset.X):
        data, categories = sparse.vstack([dataset.X, dataset.X[:extra]]).tocsr(), {}
    else:
        data, categories = _encode(dataset, info)
        # Credit's extra rows have missing values; the challenge's extra rows follow behind.
        more = np.full((extra, info.features), np.nan) if info.has_text else data[:extra]
        data = np.vstack([data, more])
    return Bunch(data=data, target=target, feature_names=list(info.columns), categories=categories)


def _encode(dataset, info):
    if not info.has_text:
        return dataset.X, {}
    data, categories = np.empty(dataset.X.shape), {}
    for j, name in enumerate(info.columns):
        data[:, j] = dataset.X[:, j] if name not in info.categorical else 0
        if name in info.categorical:
            categories[name], data[:, j] = np.unique(dataset.X[:, j].astype(str), return_inverse=True)
    return data, categories


@pytest.mark.data
@pytest.mark.parametrize("name", ["heart", "sonar", "credit", "ecoli", "madelon", "dexter"])
def test_openml_round_trip_equals_the_folder(name, benchmark_data, nowhere, monkeypatch):
    expected = load_dataset(name, folder=benchmark_data)
    bunch = openml_like(expected, find_dataset(name))
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: bunch)
    for download in (True, False):  # from OpenML, then from the cache
        found = load_dataset(name, download=download)
        same = (found.X != expected.X).nnz == 0 if sparse.issparse(found.X) else (found.X == expected.X).all()
        assert same
        np.testing.assert_array_equal(found.y, expected.y)
