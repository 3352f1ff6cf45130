"""Data sets that are written to a folder and read again, in every layout."""

import numpy as np
import pytest
import scipy.sparse as sp

from ppfs.datasets import Dataset
from ppfs.datasets._files import missing_files, read_files, write_files
from ppfs.datasets._registry import DatasetInfo

N = 8


def made(format, has_text=False):
    X = np.round(np.random.default_rng(0).normal(size=(N, 3)), 3)
    if has_text:
        X = X.astype(object)
        X[:, 1] = ["up", "down"] * 4
    files = {"csv": ("a.csv",), "npz": ("a.npz",), "sparse": ("X.npz", "y.npz")}[format]
    check = sum(
        (place + 1) * X[:, place].astype(float).sum() for place in range(3) if not (has_text and place == 1)
    )
    info = DatasetInfo(
        name="made",
        title="Made",
        source="here",
        notes="",
        task="classification",
        target="y",
        rows=N,
        features=3,
        classes={"ill": 3, "well": 5},
        format=format,
        has_text=has_text,
        columns=("a", "b", "c"),
        categorical=("b",) if has_text else (),
        files=dict.fromkeys(files, "0"),
        column_check=check,
        sklearn=False,
        openml=None,
    )
    return info, sp.csr_matrix(X) if format == "sparse" else X, np.repeat(["ill", "well"], [3, 5])


@pytest.mark.parametrize(
    ("format", "has_text"), [("csv", False), ("csv", True), ("npz", False), ("sparse", False)]
)
def test_what_is_written_is_read(tmp_path, format, has_text):
    info, X, y = made(format, has_text)
    assert missing_files(info, tmp_path) == list(info.files)
    dataset = Dataset(
        **dict.fromkeys(Dataset.__dataclass_fields__) | {"X": X, "y": y, "feature_names": info.columns}
    )
    write_files(info, dataset, tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(info.files)
    assert missing_files(info, tmp_path) == []
    found = read_files(info, tmp_path, checksums=False)
    assert type(found.X) is type(X)
    assert found.feature_names == info.columns
    dense = [one.toarray() if sp.issparse(one) else one for one in (found.X, X)]
    np.testing.assert_array_equal(*dense)
    np.testing.assert_array_equal(found.y, y)
    with pytest.raises(ValueError, match="expected SHA-256 0"):
        read_files(info, tmp_path)
