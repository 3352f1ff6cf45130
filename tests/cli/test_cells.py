"""Neither a terminal nor a spreadsheet acts on what a table holds."""

import csv
import io

import numpy as np
import openpyxl
import pandas as pd
import pytest

from ppfs.cli.output.cells import not_a_formula

FORMULA = "=cmd|'/C calc'!A0"
NAME = "dose\x1b[31m\x07"


@pytest.mark.parametrize(
    "text",
    [
        FORMULA,
        "@SUM(1)",
        "+cmd|'/C calc'!A0",
        "-2+3+cmd|'/C calc'!A0",
        '=HYPERLINK("http://x")',
        "+SUM(A1)",
        "-1\n+cmd|x",
        "\t=1+1",
        "=1",
    ],
)
def test_formulas_are_marked_as_text(text):
    assert not_a_formula(text) == "'" + text


@pytest.mark.parametrize(
    "text",
    ["", "a=b", "-1.5", "+3", "-$5", "-1e-3", "-inf", "-nan", "-", "+49 170 123", "user@example.org", "1-2"],
)
def test_other_texts_stay(text):
    assert not_a_formula(text) == text


@pytest.fixture
def hostile(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({NAME: rng.normal(size=80), "=1+1": rng.normal(size=80)})
    frame["note"] = [FORMULA if row == 3 else "bell\x07 \x1b]0;title\x9c two\nlines" for row in range(80)]
    frame["ill"] = np.where((frame[NAME] > 0) ^ (np.arange(80) % 20 == 3), "yes", "no")
    path = tmp_path / "hostile.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.fixture
def saved(select, hostile, tmp_path):
    path = tmp_path / "s.json"
    assert select(hostile, "-t", "ill", "--drop", "note", "--keep", "=1+1", "--save", path).exit_code == 0
    return path


def test_results_as_csv(select, hostile):
    text = select(hostile, "-t", "ill", "--drop", "note", "--format", "csv").stdout
    assert not {letter for letter in text if letter != "\n" and not letter.isprintable()}
    names = [row["column"] for row in csv.DictReader(io.StringIO(text))]
    assert names == [r"dose\x1b[31m\x07", "'=1+1"]


def test_applied_to_standard_output(ppfs, saved, hostile):
    text = ppfs("apply", saved, hostile, "--id", "note").stdout
    assert not {letter for letter in text if letter != "\n" and not letter.isprintable()}
    rows = list(csv.reader(io.StringIO(text)))
    assert rows[0] == ["note", r"dose\x1b[31m\x07", "'=1+1"]
    assert rows[4][0] == "'" + FORMULA
    assert rows[5][0] == "bell\\x07 \\x1b]0;title\\x9c two\nlines"


def test_applied_to_a_text_file(ppfs, saved, hostile, tmp_path):
    done = ppfs("apply", saved, hostile, "--id", "note", "-o", tmp_path / "out.csv")
    frame = pd.read_csv(tmp_path / "out.csv")
    assert list(frame.columns) == ["note", NAME, "'=1+1"]
    assert frame["note"][3] == "'" + FORMULA
    assert "\x1b" not in done.stderr
    assert "'note', '=1+1' hold texts that begin like formulas" in done.stderr


def test_files_with_types_have_the_exact_texts(ppfs, saved, hostile, tmp_path):
    ppfs("apply", saved, hostile, "--id", "note", "-o", tmp_path / "out.parquet")
    frame = pd.read_parquet(tmp_path / "out.parquet")
    assert list(frame.columns) == ["note", NAME, "=1+1"]
    assert frame["note"][3] == FORMULA
    done = ppfs("apply", saved, hostile, "--id", "note", "-o", tmp_path / "out.xlsx")
    assert done.exit_code == 0, done.stderr
    sheet = openpyxl.load_workbook(tmp_path / "out.xlsx").active
    assert (sheet["A5"].value, sheet["A5"].data_type, sheet["A5"].quotePrefix) == (FORMULA, "s", True)
    assert not sheet["A4"].quotePrefix
    assert (sheet["C1"].value, sheet["C1"].data_type) == ("=1+1", "s")
