"""What kind of file some bytes are, and what is in archives and JSON, with every refusal word for word."""

import gzip
import io
import json
import zipfile

import pytest

from ppfs.cli._failures import InputFailure
from ppfs.cli.input.content import kind_of, raw_bytes, unpacked
from ppfs.cli.input.reading import read_frame


@pytest.fixture
def file(tmp_path):
    """Write a file and return its path."""

    def write(content, name="t.csv"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b"PAR1", "parquet"),
        (b"ARROW1", "arrow"),
        (b"\xff\xff\xff\xff\x00", "arrow"),
        (b"PK\x03\x04", "excel"),
        (b"\xd0\xcf\x11\xe0", "excel"),
        (b"a,b", "text"),
        (b"\xff\xfea\x00", "text"),
        (b"\xfe\xff\x00a", "text"),
        # Only the head is looked at.
        (b"a" * 65536 + b"\x00", "text"),
    ],
)
def test_kinds_of_files(content, kind):
    assert kind_of(content, "x") == kind


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "'x' is empty. It needs a header row and rows below it."),
        (b" \n", "'x' is empty. It needs a header row and rows below it."),
        *(
            (
                content,
                "'x' is a binary file of an unknown format. Save it as CSV, Parquet, Feather or Excel; .npy, zarr, "
                "HDF5 and h5ad files are read with --stream.",
            )
            for content in (b"a\x00", b"\xff\xff\xff\x00", b"a" * 65535 + b"\x00")
        ),
    ],
)
def test_kinds_of_files_that_are_refused(content, message):
    with pytest.raises(InputFailure) as raised:
        kind_of(content, "x")
    assert raised.value.message == message


def archive(*names):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as made:
        for name in names:
            made.writestr(name, b"of " + name.encode())
    return target.getvalue()


def test_archives_of_one_file_are_unpacked():
    assert unpacked(archive("a.csv"), "x") == b"of a.csv"
    assert unpacked(archive("folder/", "folder/a.csv", "__MACOSX/a.csv"), "x") == b"of folder/a.csv"
    book = archive("[Content_Types].xml", "sheet.xml")
    assert unpacked(book, "x") == book
    assert unpacked(archive("[Content_Types].xml"), "x") == archive("[Content_Types].xml")
    assert unpacked(b"a,b", "x") == b"a,b"


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (("folder/",), "'x' is an archive of 0 files: . Unpack it and name one."),
        (("a", "b"), "'x' is an archive of 2 files: 'a', 'b'. Unpack it and name one."),
        (("a.npy", "b"), "'x' is an archive of 2 files: 'a.npy', 'b'. Unpack it and name one."),
        *(
            (
                names,
                f"'x' is an archive of NumPy arrays: {', '.join(map(repr, names))}. Save the columns and the target as "
                "one table, such as a CSV or Parquet file or a .npy array, or use ppfs in Python.",
            )
            for names in (("a.npy",), ("a.npy", "b.npy"))
        ),
    ],
)
def test_archives_that_are_refused(names, message):
    with pytest.raises(InputFailure) as raised:
        unpacked(archive(*names), "x")
    assert raised.value.message == message


def test_damaged_archives_are_refused():
    with pytest.raises(InputFailure) as raised:
        unpacked(gzip.compress(b"abc")[:-9], "x")
    said = raised.value.message
    assert said.startswith("'x' begins like a compressed file, but cannot be unpacked: ")
    assert said.endswith(". Is the download complete?")


def test_paths_that_cannot_be_read(tmp_path):
    (tmp_path / "file").write_bytes(b"")
    for path, message in (
        (tmp_path / "no.csv", "There is no file 'PATH'. Check the path, or use --dataset."),
        (
            tmp_path,
            "'PATH' is a directory. Name a file in it; or add --stream for a folder of Parquet files that hold "
            "different columns of the same rows.",
        ),
        (
            tmp_path / "file" / "a.csv",
            "'PATH' cannot be read: Not a directory. Check the path and its permissions.",
        ),
    ):
        with pytest.raises(InputFailure) as raised:
            raw_bytes(str(path))
        assert raised.value.message.replace(str(path), "PATH") == message


HOW = 'Write a list of records, [{"age": 50, "ill": "yes"}, ...], one record per line, or lists by column.'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1, 2]", f"'t.json' is JSON, but not a table. {HOW}"),
        ('[{"a": 1}, 2]', f"'t.json' is JSON, but not a table. {HOW}"),
        ("{}", f"'t.json' is JSON, but not a table. {HOW}"),
        ('{"a": [1], "b": 2}', f"'t.json' is JSON, but not a table. {HOW}"),
        ("[]", "'t.json' holds no records. There is nothing to learn from."),
        (
            '{"a": [1, 2, 3], "b": [1]}',
            f"'t.json' holds columns of different lengths: [1, 3]. {HOW}",
        ),
        *(
            (
                json.dumps([{"a": 1, "b": 2}, {"a": 1, "b": nested}]),
                f"'t.json': record 2 holds {kind} in 'b', where a number or text is needed. Give each part a column of "
                "its own.",
            )
            for nested, kind in (([1], "list"), ({"c": 1}, "dict"))
        ),
        (
            '{"a": 1}\n{"a": x}\n',
            f"'t.json' is not valid JSON: Expecting value: line 1 column 7 (char 6). {HOW}",
        ),
        ('{"a": x}\n\n', f"'t.json' is not valid JSON: Expecting value: line 1 column 7 (char 6). {HOW}"),
    ],
)
def test_json_that_is_no_table(file, text, message):
    with pytest.raises(InputFailure) as raised:
        read_frame(str(file(text, "t.json")))
    assert raised.value.message == message


@pytest.mark.parametrize("name", ["t.json", "t.JSONL", "t.ndjson", "t.csv"])
def test_two_records_on_two_lines(file, name):
    found = read_frame(str(file('{"a": 1, "b": "x"}\n\n{"a": 2}\n', name))).frame
    assert found["a"].tolist() == [1, 2]
    assert found["b"].isna().tolist() == [False, True]


def test_text_that_begins_like_json_is_text_unless_its_name_says_otherwise(file):
    assert read_frame(str(file("{a},b\n1,2\n"))).frame.to_dict("list") == {"{a}": [1], "b": [2]}
    with pytest.raises(InputFailure, match="is not valid JSON"):
        read_frame(str(file("a,b\n1,2\n", "t.json")))
