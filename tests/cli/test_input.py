"""Real files: what is detected is reported, and errors end with the fix."""

import bz2
import gzip
import io
import json
import lzma
import zipfile

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from ppfs.cli._failures import InputFailure
from ppfs.cli.input import read_frame
from ppfs.cli.input.data import Input
from ppfs.cli.input.dialect import _records, find_format, lines_of_records

PLAIN = pd.DataFrame(
    {
        "größe": [1.5, -2.25, 1000.0, 3.0],
        "note": ["a, b", "two\nlines", 'say "x"', "plain; text"],
        "n": [1, 2, 3, 4],
        "ok": ["ja", "nein", None, "ja"],
    }
)


def as_csv(sep=",", encoding="utf-8", decimal=".", **keywords):
    return PLAIN.to_csv(index=False, sep=sep, decimal=decimal, **keywords).encode(encoding)


def zipped(files):
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return target.getvalue()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (as_csv(), ""),
        (as_csv(lineterminator="\r\n"), ""),
        (as_csv(encoding="utf-8-sig"), "UTF-8 with a byte order mark"),
        (as_csv(encoding="utf-16"), "encoding utf-16"),
        (as_csv(encoding="latin-1"), "encoding windows-1252"),
        (as_csv(sep=";", decimal=","), "separator ';', decimal comma"),
        (
            as_csv(sep=";", decimal=",", encoding="latin-1"),
            "separator ';', encoding windows-1252, decimal comma",
        ),
        (as_csv(sep="\t"), "separator 'tab'"),
        (as_csv(sep="|"), "separator '|'"),
        (as_csv(quoting=1), ""),
        (as_csv(decimal=",", quoting=1), "decimal comma"),
        (gzip.compress(as_csv(sep="\t")), "separator 'tab'"),
        (bz2.compress(as_csv()), ""),
        (lzma.compress(as_csv()), ""),
        (zipped({"table.csv": as_csv(sep="\t")}), "separator 'tab'"),
        (pa.compress(as_csv(), "zstd", asbytes=True), ""),
    ],
)
def test_text_files_are_understood_and_described(tmp_path, content, said):
    path = tmp_path / "data.csv"
    path.write_bytes(content)
    table = read_frame(str(path))
    frame = table.frame.astype({"note": object, "ok": object})
    frame["note"] = frame["note"].str.replace("\r\n", "\n")
    expected = PLAIN.astype({"note": object, "ok": object})
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)
    assert table.notes == ([f"data.csv: {said}"] if said else [])


def test_parquet_feather_and_arrow_are_told_by_their_content(tmp_path):
    PLAIN.to_parquet(tmp_path / "a.csv")
    PLAIN.to_feather(tmp_path / "b.data")
    with pa.ipc.new_stream(tmp_path / "c", pa.Table.from_pandas(PLAIN).schema) as writer:
        writer.write(pa.Table.from_pandas(PLAIN))
    for name in ("a.csv", "b.data", "c"):
        pd.testing.assert_frame_equal(read_frame(str(tmp_path / name)).frame, PLAIN, check_dtype=False)


def test_excel(tmp_path):
    pytest.importorskip("openpyxl", reason="the extra 'excel' is not installed")
    with pd.ExcelWriter(tmp_path / "book.xlsx") as book:
        PLAIN.to_excel(book, sheet_name="one", index=False)
        PLAIN.iloc[:2].to_excel(book, sheet_name="two", index=False)
    pd.testing.assert_frame_equal(read_frame(str(tmp_path / "book.xlsx")).frame, PLAIN, check_dtype=False)
    assert len(read_frame(str(tmp_path / "book.xlsx"), sheet="two").frame) == 2
    with pytest.raises(InputFailure, match="three"):
        read_frame(str(tmp_path / "book.xlsx"), sheet="three")


RECORDS = [{"a": 1, "b": "x"}, {"a": 2.5, "b": None}, {"a": None, "b": "y"}]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(RECORDS),
        "\n".join(map(json.dumps, RECORDS)),
        json.dumps({"a": [1, 2.5, None], "b": ["x", None, "y"]}),
        "\ufeff" + json.dumps(RECORDS, indent=2),
    ],
)
@pytest.mark.parametrize("name", ["data.json", "data.txt"])
def test_json_tables_are_read(tmp_path, text, name):
    (tmp_path / name).write_text(text, encoding="utf-8")
    frame = read_frame(str(tmp_path / name)).frame
    expected = pd.DataFrame({"a": [1, 2.5, None], "b": ["x", None, "y"]})
    pd.testing.assert_frame_equal(frame, expected, check_dtype=False)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"a": 1', "is not valid JSON"),
        ("a,b\n1,2\n", "is not valid JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[1, 2]", "is JSON, but not a table"),
        ("[]", "holds no records"),
        ('{"a": [1, 2], "b": [1]}', "columns of different lengths"),
        ('[{"a": 1}, {"a": {"b": 2}}]', "record 2 holds dict in 'a'"),
    ],
)
def test_json_that_is_not_a_table_is_refused(tmp_path, text, message):
    (tmp_path / "data.json").write_text(text, encoding="utf-8")
    with pytest.raises(InputFailure, match=message):
        read_frame(str(tmp_path / "data.json"))


def test_a_header_in_brackets_is_not_json(tmp_path):
    (tmp_path / "data.csv").write_text("[a],b\n1,2\n", encoding="utf-8")
    assert read_frame(str(tmp_path / "data.csv")).frame.columns.tolist() == ["[a]", "b"]


def test_flags_that_do_not_fit_the_file_are_refused(select, table, tmp_path, patients):
    patients.to_parquet(tmp_path / "a.parquet")
    for path, *flags in (
        (table, "--sheet", "one"),
        (tmp_path / "a.parquet", "--sep", ";"),
        (tmp_path / "a.parquet", "--decimal", ",", "--stream"),
        (table, "--sheet", "one", "--stream"),
    ):
        done = select(path, "-t", "ill", *flags)
        assert done.exit_code == 2
        assert f"{flags[0]} has no effect" in done.stderr
    done = select("--dataset", "wdbc", "--encoding", "latin-1")
    assert "--encoding has no effect: 'wdbc' is a data set of the registry" in done.stderr


def test_a_missing_extra_is_named(tmp_path, monkeypatch):
    PLAIN.to_parquet(tmp_path / "a.parquet")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        ImportError,
        match=r"Reading Parquet files needs pyarrow, which is not installed. Run: pip install 'ppfs\[files\]'",
    ):
        read_frame(str(tmp_path / "a.parquet"))


def test_flags_override_what_would_be_found(tmp_path):
    path = tmp_path / "data.csv"
    path.write_bytes("a;b\n1,5;caf\xe9\n".encode("latin-1"))
    frame = read_frame(str(path), sep=",", encoding="latin-1", decimal=".").frame
    assert frame.columns.tolist() == ["a;b"]
    with pytest.raises(InputFailure, match=r"is not written in utf-8: line 2 holds the byte 0xe9"):
        read_frame(str(path), encoding="utf-8")
    with pytest.raises(InputFailure, match="There is no encoding 'klingon'"):
        read_frame(str(path), encoding="klingon")
    with pytest.raises(InputFailure, match="is not one character"):
        read_frame(str(path), sep="::")


@pytest.mark.parametrize(
    ("text", "sep", "decimal"),
    [
        ("a\n1\n2\n", ",", "."),
        ("a;b\n1,5;2\n", ";", ","),
        ("a,b\n1.5,2\n", ",", "."),
        ("a b\n1 2\n3 4\n", " ", "."),
        ("x;text\n1;one, two\n2;three, four\n", ";", "."),
        ("a,b;c\n1,2;3\n", ",", "."),
    ],
)
def test_dialects(text, sep, decimal):
    found = find_format(text.encode(), "x")
    assert (found.sep, found.decimal) == (sep, decimal)


def test_thousands_and_row_names_and_single_quotes(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("'price';'n'\n1.234,50;1\n12,25;2\n", encoding="utf-8")
    table = read_frame(str(path))
    assert table.frame["price"].tolist() == [1234.5, 12.25]
    assert table.notes == ["data.csv: separator ';', decimal comma, '.' between thousands, quotes '"]
    path.write_text('"a","b"\n"1",2,3\n"2",4,5\n', encoding="utf-8")
    table = read_frame(str(path))
    assert table.frame.to_dict("list") == {"a": [2, 4], "b": [3, 5]}
    assert "row names without a heading" in table.notes[0]


def test_headers_that_deserve_a_word(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,a,b\n1,2,3\n", encoding="utf-8")
    assert "the later columns are called 'a.1'" in read_frame(str(path)).notes[0]
    path.write_text("1,2\n3,4\n", encoding="utf-8")
    assert "does the file have one?" in read_frame(str(path)).notes[0]


@pytest.fixture
def refused(ppfs, tmp_path):
    def call(content, *flags):
        path = tmp_path / "data.csv"
        path.write_bytes(content)
        result = ppfs("select", path, "-t", "y", *flags)
        assert result.exit_code == 1
        assert result.stdout == ""
        assert "Traceback" not in result.stderr
        return result.stderr

    return call


def test_what_cannot_be_read_ends_with_the_fix(refused):
    assert "is empty. It needs a header row" in refused(b"")
    assert "is empty. It needs a header row" in refused(b"\n \n")
    assert "has a header and no rows below it" in refused(b"x,y\n")
    assert "is a binary file" in refused(b"\x7fELF\x00\x01\x02")
    assert "cannot be unpacked" in refused(gzip.compress(b"x,y\n1,2\n")[:-6])
    assert "cannot be unpacked" in refused(b"PK\x03\x04nonsense")
    assert "format of Excel before 2007" in refused(b"\xd0\xcf\x11\xe0nonsense")
    assert "archive of 2 files: 'a.csv', 'b.csv'. Unpack it" in refused(
        zipped({"a.csv": b"x", "b.csv": b"y"})
    )
    assert "archive of NumPy arrays: 'X.npy'. Save the columns" in refused(zipped({"X.npy": b""}))
    assert "begins like a Parquet file, but cannot be read" in refused(b"PAR1nonsense")
    assert "has no column 'y'. Did you mean 'Y'?" in refused(b"x,Y\n1,2\n")
    assert "no column apart from 'y'" in refused(b"y\n1\n2\n")


def test_lines_in_messages_are_those_of_the_file(refused):
    # A quoted line break, a blank line, and a row with too many fields.
    text = b'x,note,y\n1,"two\nlines",0\n\n2,b,1\n3,c,1,9\n'
    assert "line 6 has 4 fields, but the header has 3" in refused(text)
    text = b'x,note,y\n1,"two\nlines",\n\n2,b,1\n3,c,\n'
    assert "missing in 2 of 3 rows: lines 2, 6 of the file" in refused(text)
    assert "is missing in all 2 rows" in refused(b"x,y\n1,\n2,NA\n")
    assert "--weights w: the value is missing in line 3 of the file" in refused(
        b"x,w,y\n1,1,0\n2,,1\n", "--weights", "w"
    )


def test_line_breaks_between_quotes_begin_no_record():
    text = 'x;note\n1;"two\nlines"\n\n2;b\n'
    dialect = find_format(text.encode(), "data.csv")
    assert lines_of_records(text, dialect) == [1, 2, 5]


def test_a_record_that_the_look_at_a_file_cuts_off_is_not_counted(monkeypatch):
    monkeypatch.setattr("ppfs.cli.input.dialect._HEAD", 10)
    assert _records("a,b\n1,2222", ",", '"') == [["a", "b"]]
    assert _records("a,b\n1,22", ",", '"') == [["a", "b"], ["1", "22"]]


def test_rows_without_a_target_can_be_left_out(ppfs, tmp_path, patients):
    path = tmp_path / "data.csv"
    patients["ill"] = patients["ill"].where(np.arange(120) % 10 > 0)
    patients.to_csv(path, index=False)
    result = ppfs(
        "select", path, "-t", "ill", "--drop-missing-target", "--test", "paper", "--splits", 10, "-f", "json"
    )
    assert json.loads(result.stdout)["n_rows"] == 108
    assert "12 of 120 rows have no target and are left out" in result.stderr


def test_strays_become_gaps(ppfs, tmp_path, patients):
    path = tmp_path / "data.csv"
    patients["bmi"] = patients["bmi"].round(3).astype(str).where(np.arange(120) % 40 > 0, "unknown")
    patients.to_csv(path, index=False)
    flags = ("select", path, "-t", "ill", "--test", "paper", "--splits", 10, "-q")
    said = ppfs(*flags).stderr
    assert "'bmi' is text that holds numbers beside 'unknown'" in said
    assert "--na 'unknown'" in said
    fixed = ppfs(*flags, "--na", "unknown")
    assert (fixed.stdout, fixed.stderr) == ("bmi\n", "")


def test_an_index_saved_by_mistake_is_warned_of(ppfs, tmp_path, patients):
    path = tmp_path / "data.csv"
    patients.sort_values("ill").reset_index(drop=True).to_csv(path)
    flags = ("select", path, "-t", "ill", "--test", "paper", "--splits", 10, "-q")
    result = ppfs(*flags)
    assert "Unnamed: 0" in result.stdout
    assert "'Unnamed: 0' alone separates the classes" in result.stderr or "running number" in result.stderr
    assert ppfs(*flags, "--id", "Unnamed: 0").stdout == "bmi\n"


def test_dates_are_refused_with_the_flag_that_helps(ppfs, tmp_path, patients):
    path = tmp_path / "data.parquet"
    patients.assign(when=pd.Timestamp("2020-01-01")).to_parquet(path)
    result = ppfs("select", path, "-t", "ill")
    assert result.exit_code == 1
    assert "--drop 'when'" in result.stderr


def test_files_that_are_not_there(ppfs, tmp_path):
    result = ppfs("select", tmp_path / "missing.csv", "-t", "y")
    assert result.exit_code == 1
    assert "There is no file" in result.stderr
    result = ppfs("select", tmp_path, "-t", "y")
    assert result.exit_code == 1
    assert "is a directory" in result.stderr
    result = ppfs("select", "--dataset", "wdcb")
    assert result.exit_code == 1
    assert "wdbc" in result.stderr


def test_standard_input(select, patients):
    result = select("-", "-t", "ill", stdin=patients.to_csv(index=False, sep=";").encode())
    assert (result.exit_code, result.stdout) == (0, "bmi\n")
    held = io.BytesIO()
    patients.to_parquet(held)
    assert select("-", "-t", "ill", stdin=held.getvalue()).stdout == "bmi\n"


def test_two_thousand_columns(select, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(40, 2_000)).round(3), columns=[f"gene {i}" for i in range(2_000)])
    frame["ill"] = np.where(frame["gene 77"] + 0.1 * rng.normal(size=40) > 0, "yes", "no")
    path = tmp_path / "wide.tsv"
    frame.to_csv(path, index=False, sep="\t")
    result = json.loads(select(path, "-t", "ill", "-f", "json").stdout)
    assert len(result["columns"]) == 2_000
    assert "gene 77" in result["selected"]


def test_a_sheet_that_was_not_named_is_said(tmp_path):
    path = tmp_path / "book.xlsx"
    with pd.ExcelWriter(path) as writer:
        for name in ("first", "second"):
            pd.DataFrame({"x": [1.0, 2.0], "sheet": name}).to_excel(writer, sheet_name=name, index=False)
    read = read_frame(str(path))
    assert read.notes == [
        "book.xlsx: sheet 'first' of 'first', 'second' is read; choose another with --sheet"
    ]
    assert set(read.frame["sheet"]) == {"first"}
    named = read_frame(str(path), sheet="second")
    assert (named.notes, set(named.frame["sheet"])) == ([], {"second"})
    with pytest.raises(InputFailure, match="has no sheet 'Second '") as raised:
        read_frame(str(path), sheet="Second ")
    assert raised.value.format_message().endswith("Did you mean 'second'? The sheets are 'first', 'second'.")


def test_old_excel_files_are_refused_with_the_way_out(tmp_path):
    path = tmp_path / "book.xls"
    path.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(600))
    with pytest.raises(InputFailure, match="format of Excel before 2007, or a password"):
        read_frame(str(path))


def test_rows_with_too_few_fields_are_said(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('a,b,c\n1,2,3\n\n"4\n4",5\n6,7,\n8\n', encoding="utf-8")
    read = read_frame(str(path))
    assert read.notes == [
        "data.csv: 2 rows have fewer fields than the header, the first in line 4; the others are read as missing values"
    ]
    assert read.frame["c"].isna().tolist() == [False, True, True, True]


def test_a_column_without_a_heading_is_said(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("a,,b,\n1,2,3,4\n5,6,7,8\n", encoding="utf-8")
    read = read_frame(str(path))
    assert list(read.frame.columns) == ["a", "Unnamed: 1", "b", "Unnamed: 3"]
    assert read.notes == ["data.csv: columns without a heading are called 'Unnamed: 1', 'Unnamed: 3'"]


def test_a_file_without_a_header_is_suspected_where_the_target_is_not_found(select, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("1.5,2,0\n2.5,3,1\n", encoding="utf-8")
    said = select(path, "-t", "y").stderr
    assert "has no column 'y'" in said
    assert said.endswith("The first row holds numbers only: does the file have a header?\n")


def test_streamed_columns(select, ppfs, tmp_path, patients):
    path = tmp_path / "data.parquet"
    patients[["age", "bmi"]].assign(ill=(patients["ill"] == "yes").astype(int)).to_parquet(path)
    result = select(path, "-t", "ill", "--stream")
    assert (result.exit_code, result.stdout) == (0, "bmi\n")
    assert "needs the table in memory" in select(path, "-t", "ill", "--stream", "--drop", "age").stderr
    assert (
        "needs the table in memory" in select(path, "-t", "ill", "--stream", "-o", tmp_path / "o.csv").stderr
    )
    assert "needs the table in memory" in ppfs("compare", path, "-t", "ill", "--stream").stderr


def test_a_column_of_sentences_is_not_divided_at_its_semicolons():
    """A header of one field suits rows of two, which then begin with a name, only if all rows have two."""
    rows = ["slept; ate; left", *["slept; left"] * 20]
    assert find_format("\n".join(["note", *rows]).encode(), "notes.csv").sep != ";"
    assert find_format("\n".join(["note", *rows[1:]]).encode(), "notes.csv").sep == ";"


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (pd.Series(np.arange(40) / 7), "regression"),
        (pd.Series(np.arange(40) % 30).astype("category"), "classification"),
    ],
)
def test_a_target_of_categories_holds_labels_and_one_of_many_numbers_does_not(values, task):
    read = Input("table.csv", pd.DataFrame({"x": range(40)}), values, ["x"], "y")
    assert read.task(None) == read.task("auto") == task
