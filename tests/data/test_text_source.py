"""CSV files that are turned into columns first: the same answers as from memory, and lines that are wrong are named."""

import numpy as np
import pandas as pd
import pytest

from ppfs import PPFS
from ppfs._data.sources import TextFormat, convert_text, open_source
from ppfs._data.sources import text as text_source
from ppfs.exceptions import InvalidInputError


@pytest.fixture
def frame():
    generator = np.random.default_rng(0)
    X = pd.DataFrame(generator.normal(size=(60, 7)).round(3)).add_prefix("gene ")
    return X.assign(ill=np.where(X["gene 2"] - X["gene 4"] > 0, "yes, ill", "no"))


def test_a_csv_file_is_answered_as_in_memory(frame, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(text_source, "_VALUES_AT_ONCE", 50)
    monkeypatch.setattr(text_source, "_COLUMNS_PER_SHARD", 3)
    frame.to_csv(tmp_path / "genes.csv", index=False)
    expected = PPFS(n_splits=5, random_state=0).fit(frame.drop(columns="ill"), frame["ill"])
    fitted = PPFS(n_splits=5, random_state=0).fit(tmp_path / "genes.csv", "ill")
    assert fitted.get_feature_names_out().tolist() == expected.get_feature_names_out().tolist()
    np.testing.assert_array_equal(fitted.pvalues_, expected.pvalues_)
    said = capsys.readouterr().err
    assert "genes.csv (0 MiB) is text, which is read row by row" in said
    assert "reading genes.csv: 60/" in said


def test_a_checkpoint_knows_a_csv_file_again(frame, tmp_path):
    frame.to_csv(tmp_path / "genes.csv", index=False)
    search = {"n_splits": 5, "random_state": 0, "checkpoint": tmp_path / "run"}
    PPFS(**search).fit(convert_text(tmp_path / "genes.csv"), "ill")
    assert PPFS(**search).fit(convert_text(tmp_path / "genes.csv"), "ill").n_fits_ == 0


def test_other_ways_to_write_numbers_are_read(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(
        "first;second;word\r\nA;1,5;-1.000,25;é\r\n\r\nB;;7;'x;y'\r\nC;3;true;\r\n".encode("latin-1")
    )
    format = TextFormat(sep=";", encoding="latin-1", decimals=(",",), quotechar="'", has_row_names=True)
    source = open_source(convert_text(path, format=format, progress=False))
    assert source.names == ["first", "second", "word"]
    np.testing.assert_array_equal(source.take([0, 1]), [[1.5, -1000.25], [np.nan, 7.0], [3.0, 1.0]])
    assert source.column("word").tolist() == ["é", "x;y", None]


def test_dates_stay_words_and_amounts_become_numbers(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("day;sum;share\n01.01.2021;30.631,36 €;40,6%\n02.01.2021;-1,5 €;7%\n", encoding="utf-8")
    source = open_source(convert_text(path, format=TextFormat(sep=";"), progress=False))
    assert source.column("day").tolist() == ["01.01.2021", "02.01.2021"]
    np.testing.assert_array_equal(source.take([1, 2]), [[30631.36, 40.6], [-1.5, 7.0]])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a,b\n", "no rows below"),
        ("a,b\n1,2\n1,2,3\n", "line 3 has 3 fields, but the header has 2"),
        ("a,b\n1,2\n" + "1,2\n" * 300 + "1,two\n", "line 303 has 'two' in 'b', whose first 200 rows"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, message):
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInputError, match=message):
        convert_text(tmp_path / "a.csv", progress=False)


def test_a_disk_without_room_is_named(frame, tmp_path, monkeypatch):
    frame.to_csv(tmp_path / "genes.csv", index=False)
    monkeypatch.setattr(text_source.shutil, "disk_usage", lambda _: type("Usage", (), {"free": 10}))
    with pytest.raises(InvalidInputError, match="Set TMPDIR"):
        convert_text(tmp_path / "genes.csv", progress=False)


def test_quotes_after_a_space_are_quotes(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text('word, number\n"x, y", 1\nz, "2"\n"u", 3\n'.replace('\n"', '\n "'), encoding="utf-8")
    source = open_source(convert_text(path, format=TextFormat(has_spaces=True), progress=False))
    assert source.column("word").tolist() == ["x, y", "z", "u"]
    assert source.column("number").tolist() == [1.0, 2.0, 3.0]


def test_a_field_may_be_longer_than_the_csv_module_reads_by_itself(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("word,n\n" + "x" * 200_000 + ",1\ny,2\n")
    source = open_source(convert_text(path, progress=False))
    assert [len(word) for word in source.column("word")] == [200_000, 1]
