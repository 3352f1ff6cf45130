import dataclasses
import re

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from ppfs.datasets import load_dataset
from ppfs.datasets._assemble import column_check
from ppfs.datasets._registry import find_dataset


@pytest.fixture
def wdbc_folder(tmp_path):
    """A folder with the original wdbc.csv, byte for byte, made from scikit-learn's copy."""
    data = load_breast_cancer()
    names = ",".join(name.replace(" ", "_") for name in data.feature_names)
    rows = [",".join(map(repr, row)) for row in data.data.tolist()]
    labels = ["MB"[code] for code in data.target]
    lines = [f"{names},target", *(f"{row},{label}" for row, label in zip(rows, labels, strict=True))]
    (tmp_path / "wdbc.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def test_wdbc_comes_with_scikit_learn(nowhere):
    wdbc = load_dataset("wdbc", download=False)
    data = load_breast_cancer()
    np.testing.assert_array_equal(wdbc.X, data.data)
    assert wdbc.X.dtype == np.float64
    assert set(wdbc.y[data.target == 0]) == {"M"}
    assert set(wdbc.y[data.target == 1]) == {"B"}
    assert wdbc.feature_names == tuple(name.replace(" ", "_") for name in data.feature_names)
    assert (wdbc.task, wdbc.target_name, wdbc.categorical) == ("classification", "class", ())


@pytest.fixture
def changed_folder(wdbc_folder):
    path = wdbc_folder / "wdbc.csv"
    path.write_text(path.read_text(encoding="utf-8").replace("17.99", "18.99", 1), encoding="utf-8")
    return wdbc_folder


def test_folder_and_scikit_learn_give_the_same(nowhere, wdbc_folder):
    file, bundled = load_dataset("wdbc", folder=wdbc_folder), load_dataset("wdbc")
    np.testing.assert_array_equal(file.X, bundled.X)
    np.testing.assert_array_equal(file.y, bundled.y)
    assert file.feature_names == bundled.feature_names


def test_folder_may_start_at_home(wdbc_folder, monkeypatch):
    monkeypatch.setenv("HOME", str(wdbc_folder.parent))
    assert load_dataset("wdbc", folder=f"~/{wdbc_folder.name}").X.shape == (569, 30)


def test_a_changed_file_is_refused_with_both_checksums(changed_folder):
    expected = find_dataset("wdbc").files["wdbc.csv"]
    with pytest.raises(
        ValueError, match=rf"(?s)wdbc\.csv.*expected SHA-256 {expected}.*actual   SHA-256 \w{{64}}"
    ):
        load_dataset("wdbc", folder=changed_folder)


def test_a_changed_file_is_refused_from_the_environment_too(nowhere, changed_folder, monkeypatch):
    monkeypatch.setenv("PPFS_DATA", str(changed_folder))
    with pytest.raises(ValueError, match="SHA-256"):
        load_dataset("wdbc")


def test_missing_folder_is_named(nowhere, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"(?s)Looked at:.*folder= '.*absent': no folder"):
        load_dataset("wdbc", folder=tmp_path / "absent")


def test_folder_argument_stops_the_search(nowhere, tmp_path):
    with pytest.raises(FileNotFoundError, match=r"no wdbc\.csv"):
        load_dataset("wdbc", folder=tmp_path)


def test_incomplete_environment_folder_leads_on_to_scikit_learn(nowhere, tmp_path, monkeypatch):
    monkeypatch.setenv("PPFS_DATA", str(tmp_path))
    assert load_dataset("wdbc").X.shape == (569, 30)


def test_data_that_are_nowhere_list_the_places_and_ways_out(nowhere):
    with pytest.raises(FileNotFoundError) as caught:
        load_dataset("heart")
    message = str(caught.value)
    for part in (
        "environment variable PPFS_DATA: not set",
        f"cache '{nowhere / 'ppfs'}': not downloaded before",
        "OpenML, data set 53: <urlopen error no network>",
        "Put heart.csv into a folder and pass folder= or set PPFS_DATA",
        "UCI Machine Learning Repository",
    ):
        assert part in message


def test_sets_without_an_openml_copy_say_so(nowhere):
    with pytest.raises(FileNotFoundError, match=r"(?s)OpenML: no copy known.*PROMISE"):
        load_dataset("maxwell")


def test_download_false_asks_nobody(nowhere, monkeypatch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", lambda **_: pytest.fail("went online"))
    with pytest.raises(FileNotFoundError, match="download=False"):
        load_dataset("heart", download=False)


def test_column_check_sees_values_and_columns_but_not_the_order_of_rows():
    info = dataclasses.replace(find_dataset("ecoli"), columns=("a", "b"), features=2)
    X = np.array([[1.0, 10.0], [2.0, 20.0]])
    assert column_check(info, X) == 1 * 3 + 2 * 30
    assert column_check(info, X[::-1]) == column_check(info, X)
    assert column_check(info, X[:, ::-1]) != column_check(info, X)


def test_repr_is_one_line():
    assert re.fullmatch(r"Dataset\('wdbc', 569 x 30, classification\)", repr(load_dataset("wdbc")))


def test_dataset_is_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        load_dataset("wdbc").name = "other"
