"""``ppfs apply`` and ``ppfs explain --from`` with a selection that is written by hand."""

import json

import pandas as pd
import pytest

DOCUMENT = {
    "schema": "ppfs-selection",
    "schema_version": 1,
    "ppfs": "0.9",
    "data": "searched.csv",
    "target": "y",
    "method": "PPFS",
    "task": "regression",
    "selected": ["b", "a"],
    "columns": [
        {"column": "a", "selected": True, "reason": "kept"},
        {"column": "c", "selected": False, "reason": "no link"},
        {"column": "b", "selected": True, "reason": "kept"},
    ],
    "warnings": [{"column": "c", "kind": "copy", "finding": "c is a copy.", "flag": "Drop it."}],
}


@pytest.fixture
def saved(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.json").write_text(json.dumps(DOCUMENT))
    (tmp_path / "t.csv").write_text("id;y;b;c;a\nk;1;=2;3;4,5\nl;0;x;7;8\n")


SEP = "ppfs: t.csv: separator ';', decimal comma\n"


@pytest.mark.parametrize(
    ("flags", "printed"),
    [
        ([], 'a,b\n"4,5",\'=2\n8,x\n'),
        (["--id", "id"], 'id,a,b\nk,"4,5",\'=2\nl,8,x\n'),
        (["--with-target"], 'a,b,y\n"4,5",\'=2,1\n8,x,0\n'),
        (["--id", "y,c"], 'c,a,b,y\n3,"4,5",\'=2,1\n7,8,x,0\n'),
        (["--id", "b", "--id", "id", "--with-target"], 'id,a,b,y\nk,"4,5",\'=2,1\nl,8,x,0\n'),
    ],
)
def test_columns_are_written_in_the_order_of_the_search(ppfs, saved, flags, printed):
    done = ppfs("apply", "s.json", "t.csv", *flags)
    assert (done.exit_code, done.stdout, done.stderr) == (0, printed, SEP)


def test_a_file_is_written_and_counted(ppfs, saved, tmp_path):
    done = ppfs("apply", "s.json", "t.csv", "-o", "o.parquet", "--id", "id")
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr == f"{SEP}ppfs: o.parquet: 2 rows, 3 of 5 columns\n"
    assert pd.read_parquet(tmp_path / "o.parquet").to_dict("list") == {
        "id": ["k", "l"],
        "a": [4.5, 8.0],
        "b": ["=2", "x"],
    }


@pytest.mark.parametrize(
    ("text", "flags", "said"),
    [
        (
            "c,b\n1,2\n",
            [],
            "'t.csv' lacks 1 of the 2 selected columns: 'a'. Name a table with the columns of 'searched.csv'.",
        ),
        (
            "c\n1\n",
            [],
            "'t.csv' lacks 2 of the 2 selected columns: 'a', 'b'. Name a table with the columns of 'searched.csv'.",
        ),
        ("a,b\n1,2\n", ["--with-target"], "'t.csv' has no column 'y'. The columns are 'a', 'b'."),
        ("a,b\n1,2\n", ["--id", "k"], "'t.csv' has no column 'k'. The columns are 'a', 'b'."),
    ],
)
def test_tables_that_lack_columns(ppfs, saved, tmp_path, text, flags, said):
    (tmp_path / "t.csv").write_text(text)
    done = ppfs("apply", "s.json", "t.csv", *flags)
    assert (done.exit_code, done.stdout, done.stderr) == (1, "", f"ppfs: {said}\n")


def test_saved_reasons_are_explained(ppfs, saved):
    done = ppfs("explain", "--from", "s.json", "-x", "c,a")
    assert (done.exit_code, done.stderr) == (0, "")
    assert (
        done.stdout
        == "'c' was not selected: no link.\nNote: c is a copy. Drop it.\n\n'a' was selected: kept.\n"
    )
    done = ppfs("explain", "--from", "s.json", "-x", "d")
    assert (done.exit_code, done.stderr) == (
        1,
        "ppfs: 's.json' has no column 'd'. The columns are 'a', 'c', 'b'.\n",
    )
