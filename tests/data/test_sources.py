"""Columns that stay in a file: the same answers as in memory, whatever the file."""

import pickle
from functools import partial

import h5py
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr

from ppfs import PPFS
from ppfs._data import read_table
from ppfs._data.sources import open_source
from ppfs._data.sources.source import NumberedNames
from ppfs.blanket import IAMB
from ppfs.exceptions import InvalidInputError

N_COLUMNS = 12
NAMES = [f"gene {i}" for i in range(N_COLUMNS)]


@pytest.fixture(scope="module")
def data():
    generator = np.random.default_rng(0)
    X = np.round(generator.normal(size=(80, N_COLUMNS)), 2)
    X[generator.random(X.shape) < 0.3] = 0.0
    y = (X[:, 3] + X[:, 7] + 0.5 * generator.normal(size=80) > 0).astype(int)
    return X, y


def _write_h5ad(path, X, y=None):
    with h5py.File(path, "w") as file:
        if sp.issparse(X):
            group = file.create_group("X")
            group.attrs["encoding-type"] = f"{X.format}_matrix"
            group.attrs["shape"] = X.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(X, part)
        else:
            file["X"] = X
        var = file.create_group("var")
        var.attrs["_index"] = "names"
        var["names"] = NAMES
        if y is not None:
            obs = file.create_group("obs").create_group("ill")
            obs["categories"], obs["codes"] = ["no", "yes"], y
    return path


def _write(kind, folder, X):
    if kind == "npy-int":
        np.save(folder / "X.npy", (X * 100).astype(int))
        return folder / "X.npy"
    if kind in ("npy-C", "npy-F"):
        np.save(folder / "X.npy", np.array(X, order=kind[-1]))
        return folder / "X.npy"
    if kind == "parquet":
        pq.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), folder / "X.parquet")
        return folder / "X.parquet"
    if kind == "shards":
        (folder / "shards").mkdir()
        for first in range(0, N_COLUMNS, 5):
            part = {NAMES[i]: X[:, i] for i in range(first, min(first + 5, N_COLUMNS))}
            pq.write_table(pa.table(part), folder / "shards" / f"{first:02}.parquet")
        return folder / "shards"
    if kind == "zarr":
        array = zarr.create_array(str(folder / "X.zarr"), shape=X.shape, chunks=(80, 5), dtype=float)
        array[:] = X
        return folder / "X.zarr"
    make = {"h5ad": np.asarray, "h5ad-csr": sp.csr_array, "h5ad-csc": sp.csc_array}[kind]
    return _write_h5ad(folder / "X.h5ad", make(X))


KINDS = ["npy-C", "npy-F", "parquet", "shards", "zarr", "h5ad", "h5ad-csr", "h5ad-csc"]


@pytest.mark.parametrize("kind", KINDS)
def test_columns_in_a_file_are_answered_as_in_memory(kind, data, tmp_path):
    X, y = data
    path = _write(kind, tmp_path, X)
    # Not the panel, which asks other models about sparse columns than about dense ones.
    for make in (partial(PPFS.calibrated, None), PPFS):
        in_memory = make(random_state=0).fit(X, y)
        in_file = make(random_state=0).fit(path, y)
        assert in_file.blanket_.tolist() == in_memory.blanket_.tolist()
        np.testing.assert_array_equal(in_file.pvalues_, in_memory.pvalues_)
        assert in_file.trace_.notes[-1] == in_memory.trace_.notes[-1]
        selected = in_file.transform(path)
        np.testing.assert_array_equal(
            selected.toarray() if sp.issparse(selected) else selected, X[:, in_file.support_]
        )


@pytest.mark.parametrize("kind", ["npy-C", "shards", "h5ad-csr"])
def test_any_columns_in_any_order(kind, data, tmp_path):
    X, _ = data
    source = open_source(_write(kind, tmp_path, X))
    for columns in ([0], [11, 2, 3, 4, 0], list(range(N_COLUMNS))):
        taken = pickle.loads(pickle.dumps(source.reader(columns)))()  # noqa: S301
        taken = taken.toarray() if sp.issparse(taken) else taken
        np.testing.assert_array_equal(taken, X[:, columns])


def test_whole_numbers_become_floats(data, tmp_path):
    X, _ = data
    taken = open_source(_write("npy-int", tmp_path, X)).take([1, 2])
    assert taken.dtype == np.float64
    np.testing.assert_array_equal(taken, (X * 100).astype(int)[:, [1, 2]])


def test_the_target_may_be_a_column_of_the_file(data, tmp_path):
    X, y = data
    table = {**dict(zip(NAMES, X.T, strict=True)), "ill": np.where(y, "yes", "no")}
    pq.write_table(pa.table(table), tmp_path / "X.parquet")
    fitted = PPFS(random_state=0).fit(tmp_path / "X.parquet", "ill")
    assert fitted.n_features_in_ == N_COLUMNS
    np.testing.assert_array_equal(
        fitted.pvalues_, PPFS(random_state=0).fit(X, np.where(y, "yes", "no")).pvalues_
    )
    by_observation = PPFS(random_state=0).fit(_write_h5ad(tmp_path / "X.h5ad", X, y), "ill")
    np.testing.assert_array_equal(by_observation.pvalues_, fitted.pvalues_)
    assert by_observation.get_feature_names_out().tolist() == [
        NAMES[i] for i in np.flatnonzero(fitted.support_)
    ]


def test_folds_weights_and_workers_see_the_same_rows(data, tmp_path):
    X, y = data
    path = _write("npy-C", tmp_path, X)
    weights = np.where(np.arange(80) % 10 == 0, 0.0, 1.0)
    options = {"random_state": 0, "n_splits": 10, "n_folds": 2}
    in_memory = PPFS(**options).fit(X, y, sample_weight=weights)
    in_file = PPFS(**options, n_jobs=2).fit(path, y, sample_weight=weights)
    np.testing.assert_array_equal(in_file.pvalues_, in_memory.pvalues_)


def test_only_candidates_are_kept_and_no_more_than_the_limit(data, tmp_path):
    X, y = data
    path = _write("npy-C", tmp_path, X)
    with pytest.raises(InvalidInputError, match="memory_limit"):
        PPFS(random_state=0, memory_limit=100).fit(path, y)


def test_a_gap_is_reported_with_its_column(data, tmp_path):
    X, y = data
    damaged = X.copy()
    damaged[5, 4] = np.nan
    with pytest.raises(InvalidInputError, match=r"'gene 4'.*missing"):
        PPFS(random_state=0).fit(_write("parquet", tmp_path, damaged), y)


def test_files_that_cannot_be_used_get_a_message(data, tmp_path):
    X, y = data
    with pytest.raises(InvalidInputError, match="no file or folder"):
        PPFS().fit(tmp_path / "missing.npy", y)
    (tmp_path / "wrong.npy").write_bytes(b"not an array")
    with pytest.raises(InvalidInputError, match=r"not a .npy file"):
        PPFS().fit(tmp_path / "wrong.npy", y)
    whole = _write("npy-C", tmp_path, X).read_bytes()
    (tmp_path / "cut.npy").write_bytes(whole[:-1000])
    with pytest.raises(InvalidInputError, match="ends before its last value"):
        PPFS().fit(tmp_path / "cut.npy", y)
    pd.DataFrame({"a": ["x"] * 80, "b": range(80)}).to_parquet(tmp_path / "text.parquet")
    with pytest.raises(InvalidInputError, match=r"'a' holds .*string.*must hold numbers"):
        PPFS().fit(tmp_path / "text.parquet", y)
    with pytest.raises(InvalidInputError, match="80 rows, but y has 79"):
        PPFS().fit(tmp_path / "X.npy", y[:-1])
    with pytest.raises(InvalidInputError, match="predictive test"):
        IAMB(independence="fisher-z").fit(tmp_path / "X.npy", y)


def test_shards_must_hold_the_same_rows(data, tmp_path):
    X, y = data
    folder = _write("shards", tmp_path, X)
    pq.write_table(pa.table({"other": X[:70, 0]}), folder / "99.parquet")
    with pytest.raises(InvalidInputError, match=r"same rows.*has 80.*has 70"):
        PPFS().fit(folder, y)


def test_the_size_of_a_sparse_column_is_that_of_its_stored_values(tmp_path):
    X = sp.csc_array(np.eye(40)[:, :8])
    source = open_source(_write_h5ad(tmp_path / "X.h5ad", X))
    assert source.bytes_per_column == 1 + 12


def test_numbered_names_are_found_as_in_a_list():
    names, listed = NumberedNames(12), [f"x{i}" for i in range(12)]
    assert list(names) == names[:] == listed
    assert (names[3], names[-1], names[8:2:-3]) == ("x3", "x11", ["x8", "x5"])
    assert [names.index(name) for name in listed] == list(range(12))
    assert all(name in names for name in listed)
    for other in ("x12", "x03", "x-1", "x", "y1", 3, None):
        assert other not in names
        with pytest.raises(ValueError, match="is not one of x0 to x11"):
            names.index(other)
    for place in (12, -13):
        with pytest.raises(IndexError):
            names[place]


def test_columns_of_a_file_have_a_kind_when_they_were_read(data, tmp_path):
    X, y = data
    X = X.copy()
    X[:, 4] = np.arange(len(X)) % 3
    table = read_table(_write("parquet", tmp_path, X), y, task="auto", owner="test")
    kinds = table._columns.kinds
    assert not kinds.categorical_mask.any()
    table._columns.storage.column(2), table._columns.storage.column(4)
    assert np.flatnonzero(kinds.categorical_mask).tolist() == [4]
