"""`ppfs update`: new rows, evidence in the file, and no row twice."""

import json

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def saved(select, table, tmp_path):
    path = tmp_path / "selection.json"
    assert select(table, "-t", "ill", "--save", path).exit_code == 0
    return path


def new_rows(tmp_path, seed, n=150, works=True):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=["age", "[red]dose[/red]", "bmi", "noise"])
    cause = frame["bmi"] if works else rng.normal(size=n)
    frame["ill"] = np.where(cause > 0, "yes", "no")
    path = tmp_path / f"new-{seed}.csv"
    frame[["ill", "noise", "bmi", "age", "[red]dose[/red]"]].to_csv(path, index=False)
    return path


def test_evidence_grows_from_file_to_file(ppfs, saved, tmp_path):
    first = ppfs("update", saved, new_rows(tmp_path, 1))
    assert first.exit_code == 0, first.stderr
    assert "bmi\tstill needed\t" in first.stdout
    assert "After 150 new rows in 1 batch" in first.stderr
    second = ppfs("update", saved, new_rows(tmp_path, 2), "--format", "json")
    result = json.loads(second.stdout)
    assert (result["n_new"], result["n_batches"]) == (300, 2)
    kept = json.loads(saved.read_text(encoding="utf-8"))
    assert kept["update"]["result"] == result
    assert kept["selected"] == ["bmi"]


def test_a_link_that_is_gone_is_reported(ppfs, saved, tmp_path):
    result = ppfs("update", saved, new_rows(tmp_path, 3, n=400, works=False), "--format", "json")
    statuses = {row["feature"]: row["status"] for row in json.loads(result.stdout)["columns"]}
    assert statuses["bmi"] == "no longer needed"


def test_rows_count_once(ppfs, saved, tmp_path):
    path = new_rows(tmp_path, 1)
    assert ppfs("update", saved, path).exit_code == 0
    again = ppfs("update", saved, path)
    assert again.exit_code == 1
    assert "no row counts twice" in again.stderr


def test_the_searched_table_is_not_new(ppfs, saved, table):
    result = ppfs("update", saved, table)
    assert result.exit_code == 1
    assert "no row counts twice" in result.stderr


def test_a_missing_table_is_named(ppfs, saved, tmp_path):
    result = ppfs("update", saved, tmp_path / "nowhere" / "new.csv")
    assert result.exit_code == 1
    assert "There is no file" in result.stderr


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--weights", "age"), "sample_weight"),
        (("--groups", "age"), "groups"),
        (("--class-weight", "balanced"), "class_weight"),
        (("--feature-group", "both=age,noise"), "--feature-group"),
    ],
)
def test_what_update_cannot_take_into_account_is_refused(ppfs, select, table, tmp_path, flags, said):
    pd.read_csv(table).assign(age=np.arange(120) // 2 + 1).to_csv(table, index=False)
    path = tmp_path / "selection.json"
    assert select(table, "-t", "ill", "--save", path, *flags).exit_code == 0
    result = ppfs("update", path, new_rows(tmp_path, 1))
    assert result.exit_code == 1
    assert said in result.stderr


def test_codes_of_categories_stay_categories(ppfs, select, table, tmp_path, monkeypatch):
    import ppfs._data as data

    def coded(path):
        frame = pd.read_csv(path)
        frame.assign(age=np.arange(len(frame)) % 5).to_csv(path, index=False)
        return path

    read = []
    monkeypatch.setattr(
        data, "read_table", lambda *a, f=data.read_table, **k: read.append(f(*a, **k)) or read[-1]
    )
    path = tmp_path / "selection.json"
    assert select(coded(table), "-t", "ill", "--save", path, "--categorical", "age").exit_code == 0
    read.clear()
    assert ppfs("update", path, coded(new_rows(tmp_path, 1))).exit_code == 0
    assert [(one.n_levels > 0).tolist() for one in read] == [[True, False, False, False]] * 2


def test_the_searched_table_is_needed(ppfs, saved, table, tmp_path):
    new = new_rows(tmp_path, 1)
    moved = tmp_path / "elsewhere.csv"
    table.rename(moved)
    missing = ppfs("update", saved, new)
    assert missing.exit_code == 1
    assert "--data FILE" in missing.stderr
    assert ppfs("update", saved, new, "--data", moved).exit_code == 0


def test_other_columns_are_named(ppfs, saved, tmp_path):
    path = tmp_path / "other.csv"
    path.write_text("bmi,ill\n1.5,yes\n-0.5,no\n", encoding="utf-8")
    result = ppfs("update", saved, path)
    assert result.exit_code == 1
    assert "lacks the columns 'age'" in result.stderr


def test_a_changed_table_is_noticed(ppfs, saved, table, tmp_path):
    assert ppfs("update", saved, new_rows(tmp_path, 1)).exit_code == 0
    lines = table.read_text(encoding="utf-8").splitlines()
    table.write_text("\n".join(lines[:-5]) + "\n", encoding="utf-8")
    result = ppfs("update", saved, new_rows(tmp_path, 2))
    assert result.exit_code == 1
    assert "265 rows, but 270 were seen" in result.stderr


def test_explanations_have_what_new_rows_show(ppfs, saved, tmp_path):
    assert ppfs("update", saved, new_rows(tmp_path, 1)).exit_code == 0
    said = ppfs("explain", "--from", saved, "--feature", "bmi").stdout
    assert "After 150 new rows it is still needed (e-value " in said
    assert ppfs("update", saved, new_rows(tmp_path, 2)).exit_code == 0
    again = ppfs("explain", "--from", saved, "--feature", "bmi").stdout
    assert "After 300 new rows" in again
    assert "After 150 new rows" not in again
