"""What is written out is what was read, text for text; and numbers are read however they are written."""

import io
import json

import numpy as np
import pandas as pd
import pytest

from ppfs._conventions import separates_missing_from_one_value
from ppfs.cli.input import read_frame


@pytest.fixture
def export(tmp_path):
    """A table as a German spreadsheet exports it: dates, thousands, codes, missing values, a share."""
    rng = np.random.default_rng(0)
    level = rng.normal(size=80)
    path = tmp_path / "export.csv"
    rows = [
        f"{day % 28 + 1:02d}.01.2021;{_german(30_631.36 + 1000 * value)};{code:05d};{_german(50 + 10 * value)}%;"
        f"{'NA' if day == 5 else day % 3};{'ja' if value > 0 else 'nein'}"
        for day, (value, code) in enumerate(zip(level, rng.integers(99_999, size=80), strict=True))
    ]
    path.write_text("\n".join(["tag;betrag;plz;anteil;zahl;krank", *rows]) + "\n", encoding="utf-8")
    return path


def _german(number):
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def test_dates_beside_thousands_stay_dates(export):
    table = read_frame(str(export))
    assert table.frame["tag"][0] == "01.01.2021"
    assert table.frame["betrag"].between(20_000, 40_000).all()
    assert table.frame["anteil"].between(0, 100).all()
    assert table.notes == [
        "export.csv: separator ';', decimal comma, '.' between thousands, numbers with '%' in 'anteil'"
    ]


@pytest.mark.parametrize("ending", ["csv", "tsv", "csv.gz"])
def test_output_has_the_texts_of_the_file(select, ppfs, export, tmp_path, ending):
    names = ["tag", "betrag", "plz", "anteil", "zahl", "krank"]
    expected = pd.read_csv(export, sep=";", dtype=str, keep_default_na=False)
    written, saved = tmp_path / f"written.{ending}", tmp_path / "s.json"
    ids = ("--id", "tag,plz,zahl")
    done = select(
        export,
        "-t",
        "krank",
        "--keep",
        "betrag,anteil",
        "--id",
        "tag,plz,zahl",
        "-o",
        written,
        "--save",
        saved,
    )
    assert done.exit_code == 0, done.stderr
    sep = "\t" if ending == "tsv" else ","
    again = pd.read_csv(written, dtype=str, keep_default_na=False, sep=sep)
    pd.testing.assert_frame_equal(again, expected[names])
    applied = tmp_path / f"applied.{ending}"
    assert ppfs("apply", saved, export, *ids, "--with-target", "-o", applied).exit_code == 0
    again = pd.read_csv(applied, dtype=str, keep_default_na=False, sep=sep)
    pd.testing.assert_frame_equal(again[names], expected[names])
    printed = ppfs("apply", saved, export, *ids, "--with-target").stdout
    again = pd.read_csv(io.StringIO(printed), dtype=str, keep_default_na=False)
    pd.testing.assert_frame_equal(again[names], expected[names])


def test_files_with_types_have_numbers_where_nothing_is_lost(select, export, tmp_path):
    written = tmp_path / "written.parquet"
    select(export, "-t", "krank", "--keep", "betrag,anteil", "--id", "tag,plz,zahl", "-o", written)
    again = pd.read_parquet(written)
    texts = pd.read_csv(export, sep=";", dtype=str)
    assert [again[name].dtype.kind for name in ("betrag", "zahl")] == ["f", "f"]
    assert again["zahl"].isna().tolist() == texts["zahl"].isna().tolist()
    for name in ("tag", "plz", "anteil"):
        assert again[name].tolist() == texts[name].tolist()


def test_rows_without_a_target_are_not_written(select, tmp_path, patients):
    path = tmp_path / "data.csv"
    patients["code"] = [f"{row:04d}" for row in range(120)]
    patients["ill"] = patients["ill"].where(np.arange(120) % 10 > 0)
    patients.to_csv(path, index=False)
    select(path, "-t", "ill", "--drop-missing-target", "--id", "code", "-o", tmp_path / "kept.csv")
    kept = pd.read_csv(tmp_path / "kept.csv", dtype=str)
    assert kept["code"].tolist() == [f"{row:04d}" for row in range(120) if row % 10]


def test_row_names_and_repeated_headings_are_written_under_their_columns(ppfs, tmp_path):
    path = tmp_path / "data.csv"
    path.write_text('"a","a"\n"one",02,3\n"two",04,5\n', encoding="utf-8")
    table = read_frame(str(path))
    assert table.written(["a.1", "a"], has_types=False).to_dict("list") == {
        "a.1": ["3", "5"],
        "a": ["02", "04"],
    }


@pytest.mark.parametrize(
    ("fields", "numbers", "note"),
    [
        (['"101,087"', "950"], [101087, 950], "',' between thousands"),
        (["40.6%", "7%"], [40.6, 7], "numbers with '%' in 'x'"),
        (['"$23,935"', "-$5.50"], [23935, -5.5], "',' between thousands, numbers with '$' in 'x'"),
        (["1'234.5", "2"], [1234.5, 2], '"\'" between thousands'),
        (['"1,5"', '"2,25"'], [1.5, 2.25], "decimal comma"),
    ],
)
def test_numbers_in_other_styles_are_numbers_and_announced(tmp_path, fields, numbers, note):
    path = tmp_path / "data.csv"
    path.write_text("x,y\n" + "".join(f"{field},a\n" for field in fields), encoding="utf-8")
    table = read_frame(str(path))
    assert table.frame["x"].tolist() == numbers
    assert table.notes == [f"data.csv: {note}"]


def test_a_column_with_the_other_decimal_sign_is_named(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("x;y;z\n1,5;2.5;1.5\n2,5;3.5;7.5\n0,25;1.25;8\n", encoding="utf-8")
    table = read_frame(str(path))
    assert table.frame.to_dict("list") == {"x": [1.5, 2.5, 0.25], "y": [2.5, 3.5, 1.25], "z": [1.5, 7.5, 8]}
    assert table.notes == ["data.csv: separator ';', decimal comma in 'x'"]
    assert read_frame(str(path), decimal=",").frame["y"].tolist() == ["2.5", "3.5", "1.25"]


def test_numbers_are_read_to_the_last_bit(tmp_path):
    numbers = np.random.default_rng(0).normal(size=200).tolist()
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["x", *map(repr, numbers)]), encoding="utf-8")
    assert read_frame(str(path)).frame["x"].tolist() == numbers
    path.write_text(
        "\n".join(["x;y", *(f"{number!r};1".replace(".", ",") for number in numbers)]), encoding="utf-8"
    )
    assert read_frame(str(path)).frame["x"].tolist() == numbers


def test_streamed_text_is_read_alike(select, export):
    flags = (export, "-t", "krank", "--format", "json", "--on-error", "drop")
    streamed = json.loads(select(*flags, "--stream").stdout)
    in_memory = json.loads(select(*flags).stdout)
    pvalues = [
        {row["column"]: row["pvalue"] for row in result["columns"]} for result in (streamed, in_memory)
    ]
    # A streamed file has no column with missing values, beside which some trees of scikit-learn take the other copy.
    names = ("betrag", "plz", "anteil") if separates_missing_from_one_value() else ("plz",)
    for name in names:
        assert pvalues[0][name] == pvalues[1][name]


@pytest.fixture
def houses(tmp_path):
    """A price that is written as people write prices, and what it depends on."""

    def write(shown):
        rng = np.random.default_rng(0)
        size = rng.normal(100, 20, size=60)
        path = tmp_path / "houses.csv"
        prices = [shown(row, 1000 * value + 50) for row, value in enumerate(size)]
        pd.DataFrame({"size": size, "noise": rng.normal(size=60), "price": prices}).to_csv(path, index=False)
        return path

    return write


@pytest.mark.parametrize("shown", ["{:,.0f}", "${:,.2f}", "{:.1f}%"])
def test_a_target_that_looks_like_numbers_is_numeric(select, houses, shown):
    path = houses(lambda _, price: shown.format(price))
    result = json.loads(select(path, "-t", "price", "--format", "json").stdout)
    assert (result["task"], result["selected"]) == ("regression", ["size"])


def test_a_target_of_numbers_beside_other_texts_is_refused(select, houses):
    path = houses(lambda row, price: "on request" if row % 20 == 3 else f"{price:,.0f}")
    done = select(path, "-t", "price")
    assert done.exit_code == 1
    assert "The target 'price' holds numbers beside 'on request' (lines 5, 25, 45 of the file)" in done.stderr
    assert "--na 'on request' --drop-missing-target" in done.stderr
    fixed = select(path, "-t", "price", "--na", "on request", "--drop-missing-target")
    assert (fixed.exit_code, fixed.stdout) == (0, "size\n")


def test_a_class_per_row_is_refused_before_the_search(select, houses, monkeypatch):
    done = select(houses(lambda row, _: f"house {row}"), "-t", "price")
    assert done.exit_code == 1
    assert "60 classes in 60 rows" in done.stderr


def test_a_number_that_is_refused_as_a_label_is_shown_as_the_file_has_it(select, houses):
    path = houses(lambda _, price: f"{price:,.0f}")
    cells = pd.read_csv(path, dtype=str)["price"]
    done = select(path, "-t", "price", "--task", "classification")
    assert done.exit_code == 1
    assert f"such as {min(cells, key=lambda cell: int(cell.replace(',', '')))!r}: most classes" in done.stderr
