"""Raw data are compared with the registry, and every difference is said."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs.datasets import _load
from ppfs.datasets._assemble import assemble, column_check
from ppfs.datasets._registry import DatasetInfo, OpenMLCopy, _entry

X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]])
INFO = DatasetInfo(
    name="made",
    title="Made",
    source="here",
    notes="note",
    task="classification",
    target="t",
    rows=3,
    features=2,
    classes={"1": 2, "2": 1},
    format="csv",
    has_text=False,
    columns=("a", "b"),
    categorical=("b",),
    files={"a.csv": "0", "b.csv": "0"},
    column_check=9.0 + 2 * 13.0,
    sklearn=False,
    openml=None,
)
LABELS = np.array(["1", "1", "2"])


def test_data_are_wrapped_with_what_the_registry_says():
    found = assemble(INFO, X, LABELS, origin="it")
    assert (found.name, found.feature_names, found.categorical, found.target_name) == (
        "made",
        ("a", "b"),
        ("b",),
        "t",
    )
    assert (found.task, found.title, found.source, found.description) == (
        "classification",
        "Made",
        "here",
        "note",
    )
    assert (found.X is X, found.y.tolist(), found.y.dtype) == (True, [1, 1, 2], np.int64)


@pytest.mark.parametrize(
    ("classes", "labels", "y"),
    [
        ({"x": 2, "y": 1}, ["x", "x", "y"], ["x", "x", "y"]),
        ({"1": 2, "2": 1}, [1, 1, 2], [1, 1, 2]),
        (None, ["1.5", "2", "3"], [1.5, 2.0, 3.0]),
    ],
)
def test_labels_have_the_type_of_the_target(classes, labels, y):
    found = assemble(dataclasses.replace(INFO, classes=classes), X, np.array(labels), origin="it").y
    assert found.tolist() == y
    assert type(found.tolist()[0]) is type(y[0])


@pytest.mark.parametrize(
    ("table", "labels", "problem"),
    [
        (X[:2], LABELS, "2 x 2 values, expected 3 x 2"),
        (X[:, :1], LABELS, "3 x 1 values, expected 3 x 2"),
        (X, LABELS[:2], "2 labels for 3 rows"),
        (X, np.array(["1", "2", "2"]), "its classes are {'1': 1, '2': 2}, expected {'1': 2, '2': 1}"),
        (X + 1e-6, LABELS, "its values differ (column check 35.00000"),
        (X[:, ::-1], LABELS, "its values differ (column check 31.0, expected 35.0)"),
    ],
)
def test_other_data_are_refused(table, labels, problem):
    with pytest.raises(ValueError) as raised:  # noqa: PT011
        assemble(INFO, table, labels, origin="The file")
    said = str(raised.value)
    assert said.startswith(f"The file does not hold the data set 'made' as the paper used it: {problem}")
    assert said.endswith(". Pass folder= (or set PPFS_DATA) with an original copy; source: here.")


def test_rounding_is_no_difference():
    assert assemble(INFO, X * (1 + 9e-10), LABELS, origin="it").X.shape == (3, 2)
    with pytest.raises(ValueError, match="its values differ"):
        assemble(INFO, X * (1 + 2e-9), LABELS, origin="it")


@pytest.mark.parametrize(("has_text", "check"), [(True, 9.0), (False, 35.0)])
def test_texts_are_not_summed(has_text, check):
    info = dataclasses.replace(INFO, has_text=has_text)
    assert column_check(info, X.astype(object)) == check
    if not has_text:
        assert column_check(info, sp.csr_matrix(X)) == check


def lost(info, **settings):
    with pytest.raises(FileNotFoundError) as raised:
        _load.load_dataset(info.name, **settings)
    return str(raised.value)


def test_places_that_were_looked_at_are_listed(monkeypatch, tmp_path):
    monkeypatch.setattr(_load, "find_dataset", lambda name: INFO)
    monkeypatch.setattr(_load, "_cache_folder", lambda: tmp_path)
    monkeypatch.delenv("PPFS_DATA", raising=False)
    head, ways = (
        "The data set 'made' was not found. Looked at:\n",
        "Put a.csv and b.csv into a folder and pass folder= or set PPFS_DATA",
    )
    cache = f"  - cache {str(tmp_path)!r}: not downloaded before\n"
    unset = "  - environment variable PPFS_DATA: not set\n"
    end = "\nSource of the original: here."
    assert lost(INFO) == (
        f"{head}{unset}{cache}  - OpenML: no copy known to hold the paper's data\n{ways}.{end}"
    )
    assert lost(INFO, download=False) == (
        f"{head}{unset}{cache}  - OpenML: not asked, because download=False\n{ways}.{end}"
    )
    assert (
        lost(INFO, folder=tmp_path) == f"{head}  - folder= {str(tmp_path)!r}: no a.csv, b.csv\n{ways}.{end}"
    )
    (tmp_path / "a.csv").write_text("")
    assert f"  - folder= {str(tmp_path)!r}: no b.csv\n" in lost(INFO, folder=tmp_path)
    nowhere = tmp_path / "nowhere"
    assert f"  - folder= {str(nowhere)!r}: no folder\n" in lost(INFO, folder=nowhere)
    monkeypatch.setenv("PPFS_DATA", str(nowhere))
    assert f"  - PPFS_DATA {str(nowhere)!r}: no folder\n" in lost(INFO, download=False)


@pytest.mark.parametrize(("error", "said"), [(OSError("offline"), "offline"), (ValueError(), "ValueError")])
def test_a_failed_download_is_a_place_that_was_looked_at(monkeypatch, tmp_path, error, said):
    info = dataclasses.replace(INFO, openml=OpenMLCopy(id=77, rows=3, labels={}))

    def fail(copy):
        raise error

    monkeypatch.setattr(_load, "find_dataset", lambda name: info)
    monkeypatch.setattr(_load, "_cache_folder", lambda: tmp_path)
    monkeypatch.setattr(_load._openml, "download", fail)
    found = lost(info)
    assert f"  - OpenML, data set 77: {said}\n" in found
    assert "or set PPFS_DATA, or go online for OpenML's data set 77.\n" in found


def test_an_entry_of_the_registry_has_all_its_fields():
    raw = {name: value for name, value in vars(INFO).items() if name not in ("name", "openml")}
    assert _entry("made", {**raw, "openml": None}) == INFO
    numbered = _entry("made", {**raw, "columns": "x{:02d}", "openml": {"id": 7, "rows": 3, "labels": {}}})
    assert numbered.columns == ("x01", "x02")
    assert numbered.openml == OpenMLCopy(id=7, rows=3, labels={})
    assert (numbered.categorical, numbered.files) == (("b",), INFO.files)
