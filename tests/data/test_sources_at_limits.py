"""Each kind of file by itself: names, sizes, parts of its columns, and the errors."""

import os
import pickle
import re
import shutil
from pathlib import Path

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp
import zarr

from ppfs import RowsInTime
from ppfs._data import read_table
from ppfs._data.reading import files
from ppfs._data.reading.files import available_memory, names_of_target
from ppfs._data.sources import TextFormat, convert_text, is_path, number_styles, open_source
from ppfs._data.sources import text as text_source
from ppfs._data.sources.file_columns import FileColumns
from ppfs._data.written_numbers import NumberStyle
from ppfs.exceptions import InvalidInputError, UnusableColumnError

X = np.array([[1.0, 0.0, 2.5, 0.0], [0.0, -3.0, 0.0, 0.0], [4.0, 5.0, 0.0, 0.0]])
NAMES = ["a", "b", "c", "d"]


def refused(text, error=InvalidInputError):
    return pytest.raises(error, match=re.escape(text))


def write_h5ad(path, X, *, names=NAMES, index="names", obs=True):
    with h5py.File(path, "w") as file:
        if sp.issparse(X):
            group = file.create_group("X")
            group.attrs["encoding-type"], group.attrs["shape"] = f"{X.format}_matrix", X.shape
            for part in ("data", "indices", "indptr"):
                group[part] = getattr(X, part)
        else:
            file["X"] = X
        if names is not None:
            var = file.create_group("var")
            if index != "_index":
                var.attrs["_index"] = index
            var[index] = names
        if obs:
            group = file.create_group("obs")
            group["age"], group["town"] = np.arange(len(names or NAMES) - 1), ["Oslo", "Rome", "Bern"]
            group.create_group("ill")
            group["ill"]["categories"], group["ill"]["codes"] = (
                ["no", "yes"],
                np.array([1, 0, 1], dtype=np.int8),
            )
    return path


def write(kind, folder):
    path = folder / f"X.{kind.split('-')[0]}"
    if kind.startswith("npy"):
        np.save(path, np.array(X, order=kind[-1]))
    elif kind == "parquet":
        pq.write_table(pa.table(dict(zip(NAMES, X.T, strict=True))), path)
    elif kind == "shards":
        path.mkdir()
        pq.write_table(pa.table({"a": X[:, 0]}), path / "1.parquet")
        pq.write_table(pa.table({"b": X[:, 1], "c": X[:, 2]}), path / "2.parquet")
        pq.write_table(pa.table({"d": X[:, 3]}), path / "3.parquet")
    elif kind == "zarr":
        zarr.create_array(str(path), shape=X.shape, chunks=(3, 2), dtype=float)[:] = X
    else:
        make = {"h5ad": np.asarray, "h5ad-csr": sp.csr_array, "h5ad-csc": sp.csc_array}[kind]
        write_h5ad(path, make(X))
    return path


KINDS = ["npy-C", "npy-F", "parquet", "shards", "zarr", "h5ad", "h5ad-csr", "h5ad-csc"]


def dense(values):
    return values.toarray() if sp.issparse(values) else values


@pytest.mark.parametrize("kind", KINDS)
def test_what_every_source_says_and_reads(kind, tmp_path):
    source = open_source(write(kind, tmp_path))
    has_names = kind[:3] in ("par", "sha", "h5a")
    names = NAMES if has_names else ["x0", "x1", "x2", "x3"]
    assert (source.n_rows, source.n_columns, list(source.names), source.has_names) == (3, 4, names, has_names)
    assert source.is_sparse is (kind in ("h5ad-csr", "h5ad-csc"))
    # Of a sparse file: twelve bytes per stored value, and one.
    assert source.bytes_per_column == (1 + 12 * 5 // 4 if source.is_sparse else 24)
    for columns in ([2], [3], [0, 1, 2, 3], [3, 1], [1, 2], [2, 1], [0, 2, 3]):
        for taken in (source.take(columns), pickle.loads(pickle.dumps(source.reader(columns)))()):  # noqa: S301
            np.testing.assert_array_equal(dense(taken), X[:, columns])
            assert taken.dtype == np.float64
        if len(columns) > 1:
            np.testing.assert_array_equal(dense(source.reader(columns).take([1])()), X[:, columns[1:2]])
    for place, name in enumerate(names):
        np.testing.assert_array_equal(source.column(name), X[:, place])
    with refused(f"has no column 'z'. Its first columns are {names}."):
        source.column("z")


@pytest.mark.parametrize("kind", KINDS)
def test_a_changed_file_has_another_identity(kind, tmp_path):
    path = write(kind, tmp_path)
    before = open_source(path).identity()
    assert before.startswith(type(open_source(path)).__name__ + "\n")
    assert open_source(path).identity() == before
    file = path if path.is_file() else next(one for one in sorted(path.rglob("*")) if one.is_file())
    os.utime(file, ns=(5, 5))
    assert open_source(path).identity() != before


def columns_of(kind, folder, rows=None, limit=10**6, chosen=(3, 1, 0)):
    return FileColumns(open_source(write(kind, folder)), np.array(chosen), rows, limit)


@pytest.mark.parametrize("kind", ["npy-C", "h5ad-csc", "parquet"])
@pytest.mark.parametrize("rows", [None, np.array([2, 0])])
def test_columns_of_a_file_are_those_of_the_table(kind, rows, tmp_path):
    storage = columns_of(kind, tmp_path, rows)
    held = (X if rows is None else X[rows])[:, [3, 1, 0]]
    assert storage.shape == held.shape
    assert not storage.is_in_memory
    assert storage.matrix is None
    assert list(storage.loaded) == []
    np.testing.assert_array_equal(dense(storage.take([2, 0])), held[:, [2, 0]])
    assert sp.issparse(storage.take([2, 0])) == storage.is_sparse
    assert list(storage.loaded) == [0, 2]
    np.testing.assert_array_equal(storage.column(1), held[:, 1])
    assert list(storage.loaded) == [0, 1, 2]
    block = storage.block([1, 2], np.zeros(2, dtype=np.intp), ("p", "q"))
    assert (block.names, block.n_columns) == (("p", "q"), 2)
    np.testing.assert_array_equal(dense(block.read().X), held[:, [1, 2]])
    part = block.take(np.array([1]))
    assert part.names == ("q",)
    np.testing.assert_array_equal(dense(part.read().X), held[:, [2]])
    assert part.read().n_levels.tolist() == [0]
    half = storage.of_rows(np.array([1]))
    np.testing.assert_array_equal(dense(half.take([0, 1, 2])), held[[1]])
    assert half.memory_limit == storage.memory_limit
    facts = storage.facts
    assert (facts.low.tolist(), facts.high.tolist()) == ([0.0] * 3, [1.0] * 3)
    assert facts.is_plain
    assert not facts.is_constant.any()
    assert (
        len({storage.content, half.content, columns_of(kind, tmp_path, rows, chosen=(1, 3, 0)).content}) == 3
    )


def test_no_more_columns_are_kept_than_the_limit_allows(tmp_path):
    storage = columns_of("npy-C", tmp_path, limit=2 * 24 + 1)
    assert storage.n_more == 2
    storage.take([0])
    assert storage.n_more == 1
    storage.take([1, 0, 0])
    assert storage.n_more == 0
    with refused("3 candidates take 0 MiB, more than memory_limit=0 MiB."):
        storage.take([2])
    assert list(storage.loaded) == [0, 1]
    full = columns_of("npy-F", tmp_path, limit=2 * 24)
    full.take([0, 1])
    assert full.n_more == 0
    assert columns_of("npy-F", tmp_path, limit=23).n_more == 0


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_a_column_that_is_not_finite_is_named(value, tmp_path):
    damaged = X.copy()
    damaged[1, [1, 3]] = value
    np.save(tmp_path / "X.npy", damaged)
    storage = FileColumns(open_source(tmp_path / "X.npy"), np.arange(4), None, 10**6)
    block = storage.block([0, 1, 3], np.zeros(3, dtype=np.intp), ("p", "q", "r"))
    with refused(f"Column 'q' of {tmp_path / 'X.npy'} has missing or infinite values.", UnusableColumnError):
        block.read()
    kept = FileColumns(storage.source, np.arange(4), np.array([0, 2]), 10**6)
    np.testing.assert_array_equal(kept.take([1]), X[[0, 2]][:, [1]])


def test_paths_are_texts_and_path_objects():
    assert is_path("a.csv")
    assert is_path(Path("a.csv"))
    assert not is_path(None)
    assert not is_path([["a.csv"]])


def test_sources_are_found_by_the_ending_or_by_what_a_folder_holds(tmp_path):
    shards, array = write("shards", tmp_path), write("zarr", tmp_path)
    for folder in (shards, array):
        plain = folder.rename(tmp_path / f"plain {folder.suffix[1:]}")
        np.testing.assert_array_equal(open_source(plain).take([0, 3]), X[:, [0, 3]])
    upper = write("npy-C", tmp_path).rename(tmp_path / "X.NPY")
    assert open_source(str(upper)).n_columns == 4
    (tmp_path / "X.tsv").write_text("a\tb\n1\t2\n")
    assert list(open_source(tmp_path / "X.tsv").names) == ["a", "b"]
    (tmp_path / "X.xls").write_bytes(b"")
    with refused(
        f"{str(tmp_path / 'X.xls')!r} cannot be read a few columns at a time: that works for .csv, .h5, .h5ad,"
    ):
        open_source(tmp_path / "X.xls")
    with refused(f"There is no file or folder {str(tmp_path / 'none.csv')!r}."):
        open_source(tmp_path / "none.csv")


# NumPy and zarr ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "values", [np.zeros(3), np.zeros((2, 2, 2)), np.array([["a"]]), np.ones((2, 2)) * 1j]
)
def test_arrays_have_two_dimensions_of_numbers(values, tmp_path):
    np.save(tmp_path / "X.npy", values)
    said = f"holds an array of shape {values.shape} and type {values.dtype}. Two dimensions of numbers"
    with refused(said):
        open_source(tmp_path / "X.npy")
    if values.dtype.kind == "f":
        zarr.create_array(str(tmp_path / "X.zarr"), shape=values.shape, dtype=float)
        with refused(said):
            open_source(tmp_path / "X.zarr")


@pytest.mark.parametrize("dtype", ["?", "i1", ">i4", "u8", "f4", "f2"])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
def test_numpy_files_of_every_type_and_version(dtype, order, version, tmp_path):
    values = np.array(np.arange(12).reshape(4, 3) % 5, dtype=dtype, order=order)
    with (tmp_path / "X.npy").open("wb") as file:
        np.lib.format.write_array(file, values, version=version)
    source = open_source(tmp_path / "X.npy")
    for columns in ([0, 1, 2], [2, 0], [1], [2, 1]):
        np.testing.assert_array_equal(source.take(columns), values[:, columns])
    assert source.take([0]).dtype == np.float64


@pytest.mark.parametrize("order", ["C", "F"])
def test_a_numpy_file_that_ends_early_is_refused(order, tmp_path):
    np.save(tmp_path / "X.npy", np.array(X, order=order))
    whole = (tmp_path / "X.npy").read_bytes()
    (tmp_path / "X.npy").write_bytes(whole[:-8])
    source = open_source(tmp_path / "X.npy")
    np.testing.assert_array_equal(source.take([0, 2]), X[:, [0, 2]])
    with refused("ends before its last value: the file is incomplete."):
        source.take([3])


def test_a_group_of_zarr_arrays_is_no_table(tmp_path):
    group = zarr.open_group(str(tmp_path / "X.zarr"), mode="w")
    group.create_array("X", shape=(2, 2), dtype=float)
    with refused("is a group of zarr arrays. Pass the path of one array"):
        open_source(tmp_path / "X.zarr")
    assert open_source(tmp_path / "X.zarr" / "X").n_columns == 2


# Parquet -----------------------------------------------------------------------------------------------


def test_shards_are_columns_of_the_same_rows_with_names_of_their_own(tmp_path):
    folder = write("shards", tmp_path)
    with refused(f"The folder {tmp_path / 'empty.zzz'} has no files *.parquet."):
        (tmp_path / "empty.zzz").mkdir()
        open_source(tmp_path / "empty.zzz")
    pq.write_table(pa.table({"b": X[:, 1], "a": X[:, 0]}), folder / "4.parquet")
    with refused(f"Column names must be unique, but 'a', 'b' occur twice in {folder}."):
        open_source(folder)
    pq.write_table(pa.table({"e": X[:2, 1]}), folder / "4.parquet")
    with refused("their numbers differ: '1.parquet' has 3, '4.parquet' has 2. Shards hold"):
        open_source(folder)
    (folder / "4.parquet").write_bytes(b"no")
    with refused(f"{folder / '4.parquet'} cannot be read as Parquet: "):
        open_source(folder)


def test_columns_of_a_parquet_file_are_numbers_and_others_are_read_by_name(tmp_path):
    table = pa.table(
        {
            "i": pa.array([1, 2], pa.int8()),
            "f": [0.5, 1.0],
            "b": [True, False],
            "t": ["x", "y"],
            "d": pa.array([1, 2], pa.date32()),
        }
    )
    pq.write_table(table, tmp_path / "X.parquet")
    source = open_source(tmp_path / "X.parquet")
    np.testing.assert_array_equal(source.take([2, 0, 1]), [[1, 1, 0.5], [0, 2, 1.0]])
    assert source.column("t").tolist() == ["x", "y"]
    assert source.column("i").dtype == np.int8
    for place, kind in ((3, "string"), (4, "date32[day]")):
        with refused(f"Column {table.column_names[place]!r} holds {kind}, but columns", UnusableColumnError):
            source.take([0, place])


# HDF5 --------------------------------------------------------------------------------------------------


def test_names_of_the_variables_and_observations(tmp_path):
    source = open_source(write_h5ad(tmp_path / "X.h5ad", X))
    assert source.column("age").tolist() == [0, 1, 2]
    assert source.column("town").tolist() == ["Oslo", "Rome", "Bern"]
    assert source.column("ill").tolist() == ["yes", "no", "yes"]
    assert list(open_source(write_h5ad(tmp_path / "Y.h5", X, index="_index")).names) == NAMES
    for names in (["a", "b", "b", "c"], ["a", "b", "c"], None):
        unnamed = open_source(write_h5ad(tmp_path / f"{names}.hdf5", X, names=names, obs=False))
        assert not unnamed.has_names
        assert list(unnamed.names) == ["x0", "x1", "x2", "x3"]
    with h5py.File(tmp_path / "Z.h5", "w") as file:
        file["Y"], file["var"] = X, [1, 2]
    with refused("has no dataset 'X'; it has ['Y', 'var']."):
        open_source(tmp_path / "Z.h5")
    (tmp_path / "W.h5").write_bytes(b"no")
    with refused("cannot be read as HDF5: "):
        open_source(tmp_path / "W.h5")


@pytest.mark.parametrize("make", [sp.csr_array, sp.csc_array])
def test_sparse_columns_are_read_without_stored_zeros_and_with_sums(make, tmp_path):
    matrix = make(X)
    matrix.data[0] = 0.0
    expected = matrix.toarray()
    source = open_source(write_h5ad(tmp_path / "X.h5ad", matrix))
    taken = source.take([0, 1, 2, 3])
    np.testing.assert_array_equal(taken.toarray(), expected)
    assert taken.nnz == 4
    assert taken.format == "csc"
    empty = open_source(write_h5ad(tmp_path / "Y.h5ad", make((3, 4))))
    assert empty.take([2, 0]).toarray().tolist() == [[0.0, 0.0]] * 3
    assert empty.bytes_per_column == 1
    doubled = make(X)
    doubled.data, doubled.indices = np.repeat(doubled.data / 2, 2), np.repeat(doubled.indices, 2)
    doubled.indptr = 2 * doubled.indptr
    again = open_source(write_h5ad(tmp_path / "Z.h5ad", doubled)).take([0, 2])
    np.testing.assert_array_equal(again.toarray(), X[:, [0, 2]])
    assert again.nnz == 3


# Text --------------------------------------------------------------------------------------------------


def converted(path, text, **format):
    path.write_text(text, encoding="utf-8")
    return open_source(convert_text(path, format=TextFormat(**format), progress=False))


def test_the_format_follows_from_the_ending():
    assert [TextFormat.of(Path(name)).sep for name in ("a.csv", "a.tsv", "a.TAB", "a.txt")] == [
        ",",
        "\t",
        "\t",
        ",",
    ]
    default = TextFormat()
    assert (default.has_spaces, default.has_row_names, default.decimal, default.quotechar) == (
        True,
        False,
        ".",
        '"',
    )
    assert default.encoding == "utf-8-sig"


@pytest.mark.parametrize("at_once", [1, 3, 4, 6, 2**24])
@pytest.mark.parametrize("per_shard", [1, 2, 3, 2000])
def test_text_is_turned_block_by_block_and_shard_by_shard(at_once, per_shard, tmp_path, monkeypatch):
    monkeypatch.setattr(text_source, "_VALUES_AT_ONCE", at_once)
    monkeypatch.setattr(text_source, "_COLUMNS_PER_SHARD", per_shard)
    source = converted(tmp_path / "a.csv", "p,q,r\n1,x,0.5\n2,y,NA\n\n3,,1e3\n4,x,true\n5,z,-2\n")
    assert list(source.names) == ["p", "q", "r"]
    np.testing.assert_array_equal(source.take([2, 0]), [[0.5, 1], [np.nan, 2], [1000, 3], [1, 4], [-2, 5]])
    assert source.column("q").tolist() == ["x", "y", None, "x", "z"]
    assert len(list(source.path.glob("*"))) == -(-3 // per_shard)
    times = {file.stat().st_mtime_ns for file in source.path.glob("*")}
    assert times == {(tmp_path / "a.csv").stat().st_mtime_ns}


@pytest.mark.parametrize(
    ("text", "format", "names", "columns"),
    [
        ("a, b\n1, 2\n", {}, ["a", "b"], [[1.0], [2.0]]),
        ("a b\n1 2\n", {"sep": " "}, ["a", "b"], [[1.0], [2.0]]),
        ("a;b\n1,5;2\n", {"sep": ";"}, ["a", "b"], [[1.5], [2.0]]),
        ("a;b\n1,5;2\n", {"sep": ";", "decimals": (".",)}, ["a", "b"], [["1,5"], [2.0]]),
        ("a,b\nr1,1,2\nr2,3,4\n", {"has_row_names": True}, ["a", "b"], [[1.0, 3.0], [2.0, 4.0]]),
        ("a\n1\n \n2\n", {}, ["a"], [[1.0, 2.0]]),
        ("a,b\n-,1\n2,3\n", {"missing_texts": frozenset({"-"})}, ["a", "b"], [[np.nan, 2.0], [1.0, 3.0]]),
        ("a,b\nNA,1\nNA,3\n", {}, ["a", "b"], [[np.nan, np.nan], [1.0, 3.0]]),
        ("a,b\nTRUE,1\nFalse,3\n", {}, ["a", "b"], [[1.0, 0.0], [1.0, 3.0]]),
        ("a,b\n5%,1\n7.5 %,3\n", {}, ["a", "b"], [[5.0, 7.5], [1.0, 3.0]]),
        ("a,b\n'x,y',1\n", {"quotechar": "'"}, ["a", "b"], [["x,y"], [1.0]]),
        ('a,b\n "x,y",1\n', {}, ["a", "b"], [["x,y"], [1.0]]),
        ("a,b\n x,1\n", {"has_spaces": False}, ["a", "b"], [[" x"], [1.0]]),
        ("\ufeffa,b\n1,2\n", {}, ["a", "b"], [[1.0], [2.0]]),
    ],
)
def test_texts_of_many_formats(text, format, names, columns, tmp_path):
    source = converted(tmp_path / "a.csv", text, **format)
    assert list(source.names) == names
    for name, values in zip(names, columns, strict=True):
        found = source.column(name).tolist()
        assert found == values or np.array_equal(found, values, equal_nan=True)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is empty. It needs a header row and rows below it."),
        ("a,b\n\n", "has a header and no rows below it."),
        ("a,b\n1,2\n1\n", "line 3 has 1 fields, but the header has 2."),
        (
            "a,b\n" + "1,2\n" * 200 + "1,x\n",
            "line 202 has 'x' in 'b', whose first 200 rows are numbers.",
        ),
        (
            "p,a,b\n" + "t,1,5%\n" * 200 + "t,1,6\n",
            "line 202 has '6' in 'b', whose first 200 rows are numbers.",
        ),
    ],
)
def test_lines_that_cannot_be_read_are_named(text, said, tmp_path):
    with refused(f"{tmp_path / 'a.csv'}") as raised:
        converted(tmp_path / "a.csv", text)
    assert said in str(raised.value)


def test_a_text_among_the_first_two_hundred_rows_makes_a_column_of_text(tmp_path):
    source = converted(tmp_path / "a.csv", "a,b\n" + "1,2\n" * 199 + "x,2\n" + "1,3\n")
    assert source.column("a")[198:].tolist() == ["1", "x", "1"]
    assert source.column("b")[-1] == 3.0


def test_the_styles_of_columns_and_those_of_text_have_none(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a;b;c;d;e\n1;x;2,5;5%;\n2;y;3,5;6%;\n", encoding="utf-8")
    assert number_styles(path, TextFormat(sep=";")) == {
        "a": NumberStyle("."),
        "c": NumberStyle(","),
        "d": NumberStyle(".", "%"),
        "e": NumberStyle("."),
    }
    assert number_styles(path, TextFormat(sep=";", decimals=(",", ".")))["e"] == NumberStyle(",")


def test_shards_are_written_where_they_are_wanted_and_nothing_else_is_left(tmp_path, capsys, monkeypatch):
    (tmp_path / "a.csv").write_text("a,b\n1,x\n2,y\n", encoding="utf-8")
    (tmp_path / "out").mkdir()
    assert convert_text(tmp_path / "a.csv", tmp_path / "out", progress=False) == tmp_path / "out"
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["columns-000000000.parquet"]
    assert capsys.readouterr().err == ""
    convert_text(tmp_path / "a.csv", tmp_path / "out")
    assert capsys.readouterr().err.startswith(
        "a.csv (0 MiB) is text, which is read row by row, and a search reads columns: they are first written to "
        f"{tmp_path / 'out'}.\nreading a.csv"
    )
    shutil.rmtree(tmp_path / "out")
    (tmp_path / "out").mkdir()
    (tmp_path / "a.csv").write_text("a,b\n1,2\n1\n", encoding="utf-8")
    with refused("line 3 has 1 fields"):
        convert_text(tmp_path / "a.csv", tmp_path / "out", progress=False)
    assert list((tmp_path / "out").iterdir()) == []
    # Three times eight bytes for each of two columns and of at most four rows.
    for free, is_enough in ((3 * 8 * 4 * 2, True), (3 * 8 * 4 * 2 - 1, False)):
        (tmp_path / "a.csv").write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
        monkeypatch.setattr(
            text_source.shutil, "disk_usage", lambda _, free=free: type("Usage", (), {"free": free})
        )
        if is_enough:
            convert_text(tmp_path / "a.csv", tmp_path / "out", progress=False)
        else:
            with refused("need 0.0 GiB in"):
                convert_text(tmp_path / "a.csv", tmp_path / "out", progress=False)


def test_a_text_file_is_converted_once_until_it_changes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("a,b\n1,2\n", encoding="utf-8")
    first = open_source(path).path
    assert open_source(path).path == first
    path.write_text("a,b\n1,2\n3,4\n", encoding="utf-8")
    assert open_source(path).path != first
    assert open_source(path).n_rows == 2


# Tables of files ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def rows_file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "rows.parquet"
    n = np.arange(12)
    columns = {
        "a": n / 7,
        "b": n % 3 + 0.5,
        "y": n % 2,
        "z": 1 + n % 4,
        "w": n % 3,
        "g": n // 2,
        "t": n[::-1].copy(),
    }
    pq.write_table(pa.table(columns), path)
    return path


def read(path, y, **options):
    return read_table(path, y, task=options.pop("task", "auto"), owner="a test", **options)


def test_columns_that_are_named_are_no_features(rows_file):
    table = read(rows_file, "y", sample_weight="w", groups="g")
    assert table.column_names == ("a", "b", "z", "t")
    assert table.y.tolist() == [1, 0, 0, 1, 1, 0, 0, 1]
    assert table.weights.tolist() == [1, 2, 1, 2, 1, 2, 1, 2]
    assert table.groups.tolist() == [0, 1, 2, 2, 3, 4, 5, 5]
    assert (table.n_callers_rows, table.kept_rows.tolist()) == (12, [1, 2, 4, 5, 7, 8, 10, 11])
    np.testing.assert_allclose(table.values(0), table.kept_rows / 7)
    assert table.has_names
    assert not table.is_in_memory
    assert table.n_levels.tolist() == [0] * 4


def test_a_count_and_its_exposure_are_two_columns(rows_file):
    table = read(rows_file, ["g", "z"], task="count", sample_weight="w")
    kept = table.kept_rows
    np.testing.assert_allclose(table.y, (kept // 2) / (1 + kept % 4))
    np.testing.assert_allclose(table.weights, (kept % 3) * (1 + kept % 4))
    assert table.column_names == ("a", "b", "y", "t")
    plain = read(rows_file, ["g", "z"], task="count")
    np.testing.assert_allclose(plain.weights, 1 + np.arange(12) % 4)


@pytest.mark.parametrize("weights", [None, "w"])
def test_the_order_comes_from_a_column_an_array_or_the_rows(rows_file, weights):
    by_name = read(rows_file, "y", time="t", sample_weight=weights)
    by_array = read(
        rows_file, "y", time=RowsInTime(np.arange(12)[::-1], block_length=2, gap=1), sample_weight=weights
    )
    by_index = read(rows_file, "y", time="index", sample_weight=weights)
    n = 12 if weights is None else 8
    assert by_name.time.positions.tolist() == by_array.time.positions.tolist() == list(range(n))[::-1]
    assert by_index.time.positions.tolist() == list(range(n))
    assert "t" not in by_name.column_names
    assert "t" in by_array.column_names
    assert (by_array.time.block_length, by_array.time.gap) == (2, 1)
    for table in (by_name, by_array, by_index):
        assert table.groups.tolist() == table.time.blocks.tolist()


def test_what_a_file_cannot_be_asked_for(rows_file, tmp_path):
    with refused(f"{rows_file} has 12 rows, but y has 11. They must be the same rows."):
        read(rows_file, np.arange(11) / 3)
    with refused("feature_groups needs X in memory, but X is a path."):
        read(rows_file, "y", feature_groups={"g": ["a", "b"]})
    with refused("RowsInTime(lags=[2]) has an effect in fit only."):
        read(rows_file, "y", time=RowsInTime(lags=[2]))
    pq.write_table(pa.table({"y": [0, 1], "w": [1, 2]}), tmp_path / "few.parquet")
    with refused(
        f"{tmp_path / 'few.parquet'} has no column beside ['y', 'w']: there is nothing to select from."
    ):
        read(tmp_path / "few.parquet", "y", sample_weight="w")
    with refused("Both groups and time"):
        read(rows_file, "y", time="t", groups="g")


@pytest.mark.parametrize(
    ("y", "names"),
    [
        ("y", ["y"]),
        (["y", "z"], ["y", "z"]),
        (("y",), ["y"]),
        (["a", "b", "c"], []),
        ([1, 2], []),
        (["a", 2], []),
        (np.array(["a", "b"]), []),
    ],
)
def test_a_list_of_texts_that_is_not_one_per_row_names_columns(y, names):
    assert names_of_target(y, 3) == names


def test_a_quarter_of_the_memory_is_for_columns(rows_file, monkeypatch):
    assert available_memory() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    monkeypatch.setattr(files, "available_memory", lambda: 4 * 96 * 5 + 3)
    assert read(rows_file, "y").storage.memory_limit == 96 * 5
    assert read(rows_file, "y", memory_limit=17).storage.memory_limit == 17
    assert read(rows_file, "y", memory_limit=0).storage.memory_limit == 0


def test_kinds_of_columns_are_found_as_they_are_read(rows_file):
    table = read(rows_file, "y")
    kinds = table.kinds
    assert kinds.described(table.column_names) == ""
    table.values(0), table.values(2)
    assert kinds.categorical_mask.tolist() == [False, False, True, False, False, False]
    table.values(5)
    assert kinds.categorical_mask.tolist() == [False, False, True, False, False, True]
    part = table.rows(np.arange(3))
    assert not part.kinds.categorical_mask.any()
    part.values(0)
    assert part.kinds is not kinds
