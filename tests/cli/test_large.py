"""How text files that do not fit in memory become columns, without large files."""

from pathlib import Path
from types import SimpleNamespace as Of

import pytest

from ppfs.cli._failures import InputFailure
from ppfs.cli.input import large
from ppfs.exceptions import InvalidInputError

FLAGS = {"sep": ";", "encoding": "utf-8", "decimal": ",", "na": ("-",)}


@pytest.fixture
def asked(monkeypatch):
    """Note what is read and converted in place of converting."""
    called = []

    def find_format(head, name, **flags):
        called.append((head, name, flags))
        return "format"

    def convert_text(path, *, format, progress):
        called.append((path, format, progress))
        return Path("columns")

    monkeypatch.setattr(large, "find_format", find_format)
    monkeypatch.setattr(large, "described", lambda format, styles: f"{format}, {styles}")
    monkeypatch.setattr("ppfs._data.number_styles", lambda path, format: "styles")
    monkeypatch.setattr("ppfs._data.convert_text", convert_text)
    return called


@pytest.mark.parametrize(("quiet", "progress"), [(True, False), (False, "log")])
def test_a_text_file_is_converted_in_its_format(asked, tmp_path, quiet, progress):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;b\n1;2\n")
    found = large.as_columns(Of(**FLAGS), str(path), quiet)
    assert found == (Path("columns"), ["t.csv: format, styles"])
    assert asked == [(b"a;b\n1;2\n", "t.csv", FLAGS), (path, "format", progress)]


@pytest.mark.parametrize(
    ("n_head", "head"), [(1, b"a;b\n"), (4, b"a;b\n1;2\n"), (5, b"a;b\n1;2\n"), (8, b"a;b\n1;2\n3;4")]
)
def test_the_head_ends_with_a_line(asked, tmp_path, monkeypatch, n_head, head):
    path = tmp_path / "t.csv"
    path.write_bytes(b"a;b\n1;2\n3;4")
    monkeypatch.setattr(large, "_HEAD", n_head)
    large.as_columns(Of(**FLAGS), str(path), True)
    assert asked[0][0] == head


def test_the_head_is_a_mebibyte(asked, tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"1" * ((1 << 20) - 1) + b"\n" + b"2\n" * 2)
    large.as_columns(Of(**FLAGS), str(path), True)
    assert len(asked[0][0]) == (1 << 20) + 2


def test_a_plain_file_needs_no_message(asked, tmp_path, monkeypatch):
    monkeypatch.setattr(large, "described", lambda format, styles: "")
    path = tmp_path / "t.csv"
    path.write_bytes(b"a\n1\n")
    assert large.as_columns(Of(**FLAGS), str(path), True) == (Path("columns"), [])


def test_files_with_columns_of_their_own_are_taken_as_they_are(asked, tmp_path):
    path = tmp_path / "t.parquet"
    assert large.as_columns(Of(**FLAGS), str(path), True) == (path, [])
    assert asked == []


@pytest.mark.parametrize("error", [InvalidInputError("a"), ImportError("a"), UnicodeError("a")])
def test_what_cannot_be_converted_is_a_failure_of_the_input(asked, tmp_path, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("ppfs._data.convert_text", fail)
    (tmp_path / "t.csv").write_bytes(b"a\n1\n")
    with pytest.raises(InputFailure, match=r"^a$"):
        large.as_columns(Of(**FLAGS), str(tmp_path / "t.csv"), True)
