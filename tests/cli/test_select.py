"""The command line: data on stdout, messages on stderr, errors that end with the fix."""

import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from typer.testing import CliRunner

from ppfs import PPFS
from ppfs.cli._app import app
from ppfs.cli._input import Input
from ppfs.cli._output import json_text
from ppfs.datasets import load_dataset


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 4)), columns=["age", "[red]dose[/red]", "bmi", "noise"])
    frame["ill"] = np.where(frame["bmi"] > 0, "yes", "no")
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


def run(*arguments):
    return CliRunner().invoke(app, ["select", *map(str, arguments), "--splits", "10"])


def test_names_in_a_pipe(table):
    result = run(table, "--target", "ill")
    assert result.exit_code == 0
    assert result.stdout == "bmi\n"
    assert result.stderr == ""


def test_table_shows_names_with_markup_as_they_are(table):
    frame = pd.read_csv(table).drop(columns="bmi")
    frame["ill"] = np.where(frame["[red]dose[/red]"] > 0, "yes", "no")
    frame.to_csv(table, index=False)
    result = run(table, "--target", "ill", "--format", "table")
    assert "patients.csv: 1 of 3 columns predict ill" in result.stdout
    assert "[red]dose[/red]" in result.stdout
    assert "2 that do not help on their own" in result.stdout


def test_json_holds_every_column(table):
    result = json.loads(run(table, "--target", "ill", "--format", "json").stdout)
    assert result["selected"] == ["bmi"]
    assert result["task"] == "classification"
    assert [column["name"] for column in result["columns"]] == ["age", "[red]dose[/red]", "bmi", "noise"]
    assert [column["selected"] for column in result["columns"]] == [False, False, True, False]


def test_json_tells_where_the_chosen_fold_decided():
    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    selector = PPFS(n_splits=5, n_folds=3, random_state=0).fit(X, y)
    chosen = next(fold for fold in selector.folds_ if fold.is_chosen)
    last = {
        fold.number: {step.feature: step.phase for step in selector.trace_ if step.fold == fold.number}
        for fold in selector.folds_
    }
    assert last[chosen.number] != last[3]
    result = json.loads(json_text(selector, Input("wdbc", X, y, list(X.columns), "y")))
    assert result["chosen_fold"] == chosen.number
    assert {i: column["decided_in"] for i, column in enumerate(result["columns"])} == last[chosen.number]


def test_json_has_no_number_where_nothing_was_asked(table):
    frame = pd.read_csv(table)
    X = frame.drop(columns="ill")
    selector = PPFS(n_splits=5, always_keep="age", random_state=0).fit(X, frame["ill"])
    text = json_text(selector, Input("patients", X, frame["ill"], list(X.columns), "ill"))
    assert "NaN" not in text
    age = json.loads(text)["columns"][0]
    assert age == {"name": "age", "selected": True, "pvalue": None, "importance": None, "decided_in": None}


def test_bundled_data_set():
    result = run("--dataset", "wdbc", "--folds", "2")
    assert result.exit_code == 0
    assert "worst_texture" in result.stdout.splitlines()


def test_nothing_selected_is_said_on_stderr(table):
    frame = pd.read_csv(table).drop(columns="bmi")
    frame.to_csv(table, index=False)
    result = run(table, "--target", "ill", "--alpha", "0.002")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "No column was selected" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{table}"], "Say which column to predict"),
        (["{table}", "--target", "il"], "has no column 'il'. Did you mean 'ill'?"),
        (["missing.csv", "--target", "y"], "There is no file 'missing.csv'"),
        ([], "either a CSV file or a --dataset"),
        (["{table}", "--dataset", "wdbc", "--target", "ill"], "either a CSV file or a --dataset"),
        (["--dataset", "wdbc", "--target", "class"], "has a target of its own"),
        (["--dataset", "wdcb"], "wdbc"),
        (["{table}", "--target", "ill", "--alpha", "2"], "'alpha' parameter of PPFS"),
        (["{table}", "--target", "ill", "--folds", "1"], "'n_folds' parameter of PPFS"),
    ],
)
def test_wrong_use_ends_with_the_fix(table, arguments, message):
    result = run(*(argument.format(table=table) for argument in arguments))
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_text_columns_are_selected_from(table):
    frame = pd.read_csv(table)
    frame["city"] = np.where(frame["ill"] == "yes", "Rome", np.where(frame["age"] > 0, "Oslo", "Bern"))
    frame["sex"] = ["f", "m", None] * 40
    frame.drop(columns="bmi").to_csv(table, index=False)
    result = run(table, "--target", "ill")
    assert result.exit_code == 0
    assert result.stdout == "city\n"


def test_empty_file(tmp_path):
    empty = tmp_path / "empty.csv"
    empty.write_text("")
    result = run(empty, "--target", "y")
    assert result.exit_code == 2
    assert "not a readable CSV file" in result.stderr


def test_module_runs_and_tells_its_version():
    output = subprocess.run(
        [sys.executable, "-m", "ppfs.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert output.stdout.startswith("ppfs 0.")


HOSTILE = "dose\x1b[31m\x1b]0;title\x07\nsecond\u202eline\x9b2J"
ESCAPED = r"dose\x1b[31m\x1b]0;title\x07\nsecond\u202eline\x9b2J"


@pytest.fixture
def hostile_table(tmp_path):
    frame = pd.DataFrame({HOSTILE: np.random.default_rng(0).normal(size=120)})
    frame["ill\x1b[2J"] = np.where(frame[HOSTILE] > 0, "yes", "no")
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("format", ["names", "table", "json"])
def test_control_characters_in_names_never_reach_the_terminal(hostile_table, format, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = run(hostile_table, "--target", "ill\x1b[2J", "--format", format)
    assert result.exit_code == 0
    assert [letter for letter in result.output if letter != "\n" and not letter.isprintable()] == []
    if format == "json":
        assert json.loads(result.stdout)["selected"] == [HOSTILE]
    else:
        assert ESCAPED in result.stdout


def test_names_stay_one_a_line(hostile_table):
    assert run(hostile_table, "--target", "ill\x1b[2J").stdout == ESCAPED + "\n"


def test_control_characters_in_messages_are_spelled_out(hostile_table):
    result = run(hostile_table, "--target", "dose\x1b[31m")
    assert result.exit_code == 2
    assert "\x1b" not in result.stderr
    assert r"dose\x1b[31m" in result.stderr


def start(*arguments, **keywords):
    return subprocess.run(
        [sys.executable, "-m", "ppfs.cli", "select", *map(str, arguments), "--splits", "10"],
        capture_output="stdout" not in keywords,
        text=True,
        check=False,
        **keywords,
    )


@pytest.mark.parametrize("format", ["names", "table", "json"])
def test_a_full_disk_gets_a_message(table, format):
    with open("/dev/full", "w") as full:
        result = start(table, "-t", "ill", "--format", format, stdout=full, stderr=subprocess.PIPE)
    assert result.returncode == 2
    assert result.stderr == (
        "ppfs: The result cannot be written to standard output: No space left on device. Write it elsewhere.\n"
    )


def test_letters_that_the_output_lacks_are_spelled_out(table):
    path = table.with_name("accents.csv")
    pd.read_csv(table).rename(columns={"bmi": "größe"}).to_csv(path, index=False)
    result = start(path, "-t", "ill", "--format", "table", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "gr\\xf6\\xdfe" in result.stdout


def test_more_splits_than_memory_holds_get_a_message(table):
    result = CliRunner().invoke(app, ["select", str(table), "-t", "ill", "--splits", "99999999999"])
    assert result.exit_code == 2
    assert "99999999999 splits of 120 rows" in result.stderr
    assert "Use fewer splits" in result.stderr


def test_many_jobs_are_no_more_than_there_is_work(table):
    result = run(table, "-t", "ill", "--jobs", "99999999999")
    assert result.exit_code == 0
    assert result.stdout == "bmi\n"


@pytest.fixture
def folded():
    """A data set on which the folds find different blankets, and PPFS's own answer with two folds."""
    data = load_dataset("wdbc")
    return PPFS(n_splits=10, n_folds=3, random_state=0).fit(data.X, data.y)


def test_json_holds_the_answers_of_the_chosen_fold(folded):
    result = json.loads(run("--dataset", "wdbc", "--folds", "3", "--format", "json").stdout)
    assert [column["pvalue"] for column in result["columns"]] == folded.pvalues_.tolist()
    assert [column["importance"] for column in result["columns"]] == folded.importances_.tolist()
    assert [column["selected"] for column in result["columns"]] == folded.support_.tolist()
    assert result["n_fits"] == folded.n_fits_
    assert (result["alpha"], result["n_splits"], result["n_folds"], result["random_state"]) == (
        0.05,
        10,
        3,
        0,
    )


def test_the_table_counts_what_became_of_the_rest_in_the_chosen_fold(folded):
    text = " ".join(run("--dataset", "wdbc", "--folds", "3", "--format", "table").stdout.split())
    (chosen,) = [fold for fold in folded.folds_ if fold.is_chosen]
    last = {step.feature: step.decision for step in folded.trace_ if step.fold == chosen.number}
    n_weak, n_redundant = (list(last.values()).count(word) for word in ("rejected", "dropped"))
    assert f"{n_weak} that do not help on their own" in text
    assert f"{n_redundant} that add nothing to the others" in text
    assert n_weak + n_redundant + len(folded.blanket_) == len(folded.support_)
    for other in folded.folds_:
        steps = {step.feature: step.decision for step in folded.trace_ if step.fold == other.number}
        if other is not chosen:
            assert list(steps.values()).count("dropped") != n_redundant
    strongest = folded.blanket_[0]
    assert f"{folded.importances_[strongest]:.4g}" in text
    assert f"{folded.pvalues_[strongest]:.2g}" in text
