"""`ppfs select`: data on stdout, messages on stderr, errors that end with the fix."""

import csv
import io
import json
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from ppfs import PPFS
from ppfs.datasets import load_dataset

pytestmark = pytest.mark.usefixtures("small_forests")


def test_names_in_a_pipe(select, table):
    result = select(table, "--target", "ill")
    assert result.exit_code == 0
    assert result.stdout == "bmi\n"
    assert result.stderr == ""


def test_the_calibrated_test_is_the_default_and_named_beside_its_pvalues(ppfs, table, patients):
    result = json.loads(ppfs("select", table, "-t", "ill", "-f", "json").stdout)
    own = PPFS.calibrated(random_state=0).fit(patients.drop(columns="ill"), patients["ill"])
    assert result["test"] == "calibrated (CrossFitPPI)"
    assert result["correction"] == "bh"
    assert [row["pvalue"] for row in result["columns"]] == own.pvalues_.tolist()
    shown = ppfs("select", table, "-t", "ill", "-f", "table").stdout
    assert "p-values of the test: calibrated (CrossFitPPI)" in shown


def test_table_shows_names_with_markup_as_they_are(select, table, patients):
    frame = patients.drop(columns="bmi")
    frame["ill"] = np.where(frame["[red]dose[/red]"] > 0, "yes", "no")
    frame.to_csv(table, index=False)
    result = select(table, "--target", "ill", "--format", "table")
    assert "patients.csv: 1 of 3 columns was selected to predict ill" in result.stdout
    assert "[red]dose[/red]" in result.stdout
    assert "2 without evidence of a link on their own" in result.stdout


@pytest.mark.parametrize("width", [40, 80, 200])
def test_the_table_fits_the_terminal(select, table, monkeypatch, width):
    monkeypatch.setenv("COLUMNS", str(width))
    lines = select(table, "-t", "ill", "-f", "table").stdout.splitlines()
    assert max(map(len, lines)) <= width
    assert any("bmi" in line for line in lines)


@pytest.mark.parametrize(
    ("method", "meaning"),
    [
        ("iamb", "importance: the effect size, on the scale of the test"),
        ("permutation-importance", "importance: mean decrease of the score when the column is shuffled"),
        ("ppfs-cv", "importance: mean rise in risk when the column is replaced by a random stand-in"),
        ("stepwise", None),
    ],
)
def test_the_table_says_what_its_importances_are(ppfs, table, monkeypatch, method, meaning):
    monkeypatch.setenv("COLUMNS", "120")
    shown = ppfs("select", table, "-t", "ill", "--method", method, "-f", "table", "-q").stdout
    assert ("importance:" in shown) == (meaning is not None)
    assert meaning is None or meaning in shown
    assert "Not selected: " in shown
    assert " 0 " not in shown.partition("Not selected:")[2]


def test_a_column_without_importance_has_no_bar(select, table):
    shown = select(table, "-t", "ill", "-f", "table", "--keep", "age").stdout
    (line,) = [line for line in shown.splitlines() if "│ age" in line]
    assert "█" not in line


def test_warnings_of_other_libraries_are_not_shown(select, table, tmp_path, patients):
    pytest.importorskip("matplotlib")
    # The font of the pictures has no such letter, of which Matplotlib warns.
    patients.rename(columns={"bmi": "\u6e29"}).to_csv(table, index=False)
    done = select(table, "-t", "ill", "--report", tmp_path / "r.html")
    assert done.exit_code == 0
    assert done.stderr == f"ppfs: Report: {tmp_path / 'r.html'}\n"


def test_json_holds_every_column(select, table):
    result = json.loads(select(table, "--target", "ill", "--format", "json").stdout)
    assert result["selected"] == ["bmi"]
    assert result["task"] == "classification"
    assert result["test"] == "paper (PPI)"
    assert [column["column"] for column in result["columns"]] == ["age", "[red]dose[/red]", "bmi", "noise"]
    assert [column["selected"] for column in result["columns"]] == [False, False, True, False]


def test_csv_has_one_row_a_column(select, table):
    rows = list(csv.DictReader(io.StringIO(select(table, "-t", "ill", "-f", "csv").stdout)))
    assert [row["column"] for row in rows if row["selected"] == "True"] == ["bmi"]
    assert len(rows) == 4


def test_markdown_escapes_what_would_break_its_table(select, table, patients):
    patients.rename(columns={"bmi": "a|b<i>"}).to_csv(table, index=False)
    result = select(table, "-t", "ill", "-f", "markdown")
    assert "| a\\|b&lt;i> |" in result.stdout


def test_json_has_no_number_where_nothing_was_asked(select, table):
    text = select(table, "-t", "ill", "--keep", "age", "-f", "json").stdout
    assert "NaN" not in text
    age = json.loads(text)["columns"][0]
    assert (age["selected"], age["pvalue"], age["importance"], age["phase"]) == (True, None, None, "")
    assert age["reason"] == "kept by request"


def test_dropped_columns_are_not_asked_about(select, table):
    result = json.loads(select(table, "-t", "ill", "--drop", "bmi,noise", "--id", "age", "-f", "json").stdout)
    assert [column["column"] for column in result["columns"]] == ["[red]dose[/red]"]


def test_weights_and_groups_are_columns(select, table, patients):
    patients.assign(weight=1.5, visit=np.arange(120) // 2).to_csv(table, index=False)
    result = json.loads(
        select(table, "-t", "ill", "--weights", "weight", "--groups", "visit", "-f", "json").stdout
    )
    assert [column["column"] for column in result["columns"]] == ["age", "[red]dose[/red]", "bmi", "noise"]
    assert result["selected"] == ["bmi"]


@pytest.mark.parametrize(
    "arguments",
    [
        ["--estimator", "linear", "--estimator-params", '{"C": 0.5}'],
        ["--estimator", "tree", "--growth-estimator", 'tree{"max_depth": 2}'],
        ["--estimator", "sklearn.naive_bayes:GaussianNB"],
        ["--class-weight", '{"yes": 2, "no": 1}', "--stratify", "yes"],
        ["--splitter", 'KFold{"n_splits": 5}'],
        ["--growth", "joint"],
        ["--categorical", "noise", "--feature-group", "both=age,noise"],
    ],
)
def test_models_and_settings_by_name(select, table, patients, arguments):
    patients["noise"] = np.arange(120) % 3
    patients.to_csv(table, index=False)
    result = select(table, "--target", "ill", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.startswith("bmi\n")


@pytest.mark.parametrize(
    "arguments",
    [
        ["--method", "fbed"],
        ["--method", "iamb", "--test", "likelihood-ratio"],
        ["--method", "mmmb", "--method-params", '{"max_k": 1}'],
        ["--method", "fbed", "--estimator", "linear"],
        ["--method", "stepwise", "--estimator", "linear"],
        ["--method", "permutation-importance"],
        ["--method", "stability", "--method-params", '{"n_pairs": 2}', "--test", "paper", "--splits", "5"],
    ],
)
def test_any_search(ppfs, table, arguments):
    result = ppfs("select", table, "--target", "ill", "--quiet", *arguments)
    assert result.exit_code == 0, result.stderr
    assert "bmi" in result.stdout.split()


def test_bundled_data_set(select):
    result = select("--dataset", "wdbc", "--folds", "2")
    assert result.exit_code == 0
    assert "worst_texture" in result.stdout.splitlines()


def test_nothing_selected_is_said_on_stderr(select, table, patients):
    patients.drop(columns="bmi").to_csv(table, index=False)
    result = select(table, "--target", "ill", "--alpha", "0.002")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "No column was selected" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{table}"], "Specify which column to predict"),
        ([], "either a file or a --dataset"),
        (["{table}", "--dataset", "wdbc", "--target", "ill"], "either a file or a --dataset"),
        (["--dataset", "wdbc", "--target", "class"], "has a target of its own"),
        (["{table}", "--target", "ill", "--alpha", "2"], "--alpha must be a float in the range"),
        (["{table}", "--target", "ill", "--folds", "1"], "--folds must be"),
        (["{table}", "--target", "ill", "--splits", "10"], "add --test paper"),
        (["{table}", "-t", "ill", "--method", "fbed", "--correction", "bh"], "no effect with --method fbed"),
        (["{table}", "-t", "ill", "--method", "mmmb", "--method-params", '{"k": 1}'], "no parameter 'k'"),
        (["{table}", "-t", "ill", "--estimator", "forrest"], "Did you mean 'forest'?"),
        (["{table}", "-t", "ill", "--estimator", "no.such:Model"], "there is no module 'no'"),
        (["{table}", "-t", "ill", "--estimator", "os:system"], "is not a class"),
        (
            ["{table}", "-t", "ill", "--estimator", "tree", "--estimator-params", "{'C': 1}"],
            "is not valid JSON",
        ),
        (["{table}", "-t", "ill", "--estimator", "tree", "--estimator-params", '{"C": 1}'], "does not take"),
        (["{table}", "-t", "ill", "--estimator-params", '{"C": 1}'], "add --estimator"),
        (["{table}", "-t", "ill", "--jobs", "0"], "write 1 for one worker"),
        (["{table}", "-t", "ill", "--formt", "json"], "No such option"),
    ],
)
def test_wrong_use_ends_with_the_fix(ppfs, table, arguments, message):
    result = ppfs(
        "select",
        *(argument.format(table=table) if argument == "{table}" else argument for argument in arguments),
    )
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""


def test_rows_aside_confirm_the_selection(ppfs, table):
    flags = ("select", table, "-t", "ill", "--confirm", "0.3", "-q")
    confirmation = json.loads(ppfs(*flags, "-f", "json").stdout)["confirmation"]
    assert confirmation["n_rows"] == 36
    assert [row["feature"] for row in confirmation["columns"] if row["confirmed"]] == ["bmi"]
    assert "Confirmed on 36 rows that the search never saw" in " ".join(
        ppfs(*flags, "-f", "table").stdout.split()
    )


def test_text_columns_are_selected_from(select, table, patients):
    patients["city"] = np.where(
        patients["ill"] == "yes", "Rome", np.where(patients["age"] > 0, "Oslo", "Bern")
    )
    patients["sex"] = ["f", "m", None] * 40
    patients.drop(columns="bmi").to_csv(table, index=False)
    result = select(table, "--target", "ill")
    assert result.exit_code == 0
    assert result.stdout == "city\n"


def test_warnings_of_the_library_are_messages(ppfs, table):
    result = ppfs("select", table, "-t", "ill", "--test", "paper", "--splits", 5, "--alpha", "0.01", "-q")
    assert result.exit_code == 0
    assert "ppfs: warning: --alpha 0.01 cannot be reached" in result.stderr
    assert "Raise --splits" in result.stderr


HOSTILE = "dose\x1b[31m\x1b]0;title\x07\nsecond\u202eline\x9b2J"
ESCAPED = r"dose\x1b[31m\x1b]0;title\x07\nsecond\u202eline\x9b2J"


@pytest.fixture
def hostile_table(tmp_path):
    frame = pd.DataFrame({HOSTILE: np.random.default_rng(0).normal(size=120)})
    frame["ill\x1b[2J"] = np.where(frame[HOSTILE] > 0, "yes", "no")
    path = tmp_path / "patients.csv"
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("format", ["names", "table", "json", "markdown", "csv"])
def test_control_characters_in_names_never_reach_the_terminal(select, hostile_table, format, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    result = select(hostile_table, "--target", "ill\x1b[2J", "--format", format)
    assert result.exit_code == 0
    output = result.stdout + result.stderr
    assert [letter for letter in output if letter != "\n" and not letter.isprintable()] == []
    if format == "json":
        assert json.loads(result.stdout)["selected"] == [HOSTILE]
    elif format != "markdown":
        assert ESCAPED in result.stdout


def test_names_stay_one_a_line(select, hostile_table):
    assert select(hostile_table, "--target", "ill\x1b[2J").stdout == ESCAPED + "\n"


def test_control_characters_in_messages_are_spelled_out(select, hostile_table):
    result = select(hostile_table, "--target", "dose\x1b[31m")
    assert result.exit_code == 1
    assert "\x1b" not in result.stderr
    assert r"dose\x1b[31m" in result.stderr


def start(*arguments, **keywords):
    return subprocess.run(
        [
            sys.executable,
            "-m",
            "ppfs",
            "select",
            *map(str, arguments),
            "--test",
            "paper",
            "--splits",
            "10",
            # A model that loads no compiled kernels.
            "--estimator",
            "sklearn.naive_bayes:GaussianNB",
            "-q",
        ],
        capture_output="stdout" not in keywords,
        text=True,
        check=False,
        **keywords,
    )


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no device that is full")
def test_a_full_disk_gets_a_message_and_the_selection_is_saved(table, tmp_path):
    with open("/dev/full", "w") as full:
        environment = {**os.environ, "TMPDIR": str(tmp_path)}
        result = start(table, "-t", "ill", stdout=full, stderr=subprocess.PIPE, env=environment)
    assert result.returncode == 1
    (saved,) = tmp_path.glob("ppfs-selection-*.json")
    assert result.stderr.splitlines() == [
        f"ppfs: The selection is saved as {str(saved)!r}: ppfs apply writes its columns, ppfs explain its reasons.",
        "ppfs: The result cannot be written to standard output: No space left on device. Write it elsewhere.",
    ]
    assert "bmi" in json.loads(saved.read_text(encoding="utf-8"))["selected"]


def test_letters_that_the_output_lacks_are_spelled_out(table, patients):
    patients.rename(columns={"bmi": "größe"}).to_csv(table, index=False)
    result = start(table, "-t", "ill", "--format", "table", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert result.returncode == 0
    assert "gr\\xf6\\xdfe" in result.stdout


def test_more_splits_than_memory_holds_get_a_message(ppfs, table):
    result = ppfs("select", table, "-t", "ill", "--test", "paper", "--splits", "99999999999")
    assert result.exit_code == 1
    assert "99999999999 splits of 120 rows" in result.stderr
    assert "Use fewer splits" in result.stderr


def test_many_jobs_are_no_more_than_there_is_work(select, table):
    result = select(table, "-t", "ill", "--jobs", "99999999999")
    assert result.exit_code == 0
    assert result.stdout == "bmi\n"


@pytest.fixture(scope="module")
def folded():
    """A data set on which the folds find different blankets, and PPFS's own answer with three folds."""
    data = load_dataset("wdbc")
    return PPFS(n_splits=10, n_folds=3, random_state=0).fit(data.X, data.y)


def test_json_holds_the_answers_of_the_chosen_fold(select, folded):
    result = json.loads(select("--dataset", "wdbc", "--folds", "3", "--format", "json").stdout)
    chosen = next(fold for fold in folded.folds_ if fold.is_chosen)
    last = {step.feature: step.phase for step in folded.trace_ if step.fold == chosen.number}
    assert result["chosen_fold"] == chosen.number
    assert {i: column["phase"] for i, column in enumerate(result["columns"])} == last
    assert [column["pvalue"] for column in result["columns"]] == folded.pvalues_.tolist()
    assert [column["importance"] for column in result["columns"]] == folded.importances_.tolist()
    assert [column["selected"] for column in result["columns"]] == folded.support_.tolist()
    assert result["n_fits"] == folded.n_fits_
    assert (result["alpha"], result["n_folds"], result["random_state"]) == (0.05, 3, 0)


def test_the_table_counts_what_became_of_the_rest_in_the_chosen_fold(select, folded):
    text = " ".join(select("--dataset", "wdbc", "--folds", "3", "--format", "table").stdout.split())
    (chosen,) = [fold for fold in folded.folds_ if fold.is_chosen]
    last = {step.feature: step.decision for step in folded.trace_ if step.fold == chosen.number}
    n_weak, n_redundant = (list(last.values()).count(word) for word in ("rejected", "dropped"))
    assert f"{n_weak} without evidence of a link on their own" in text
    assert f"{n_redundant} without evidence that they add to the others" in text
    strongest = folded.blanket_[0]
    assert f"{folded.importances_[strongest]:.4g}" in text
    assert f"{folded.pvalues_[strongest]:.2g}" in text


def test_the_result_and_the_report_say_the_same(select, table, tmp_path):
    done = select(table, "-t", "ill", "--report", tmp_path / "r.json", "--format", "json")
    result, report = json.loads(done.stdout), json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))
    shared = set(result) & set(report) - {"data", "columns", "test"}
    assert {"selected", "alpha", "n_fits", "warnings", "notes", "confirmation"} <= shared
    assert {key: result[key] for key in shared} == {key: report[key] for key in shared}


def test_a_search_without_questions_has_a_report(ppfs, table, tmp_path):
    flags = ("--method", "permutation-importance", "--report", tmp_path / "r.md", "--quiet")
    assert ppfs("select", table, "-t", "ill", *flags).exit_code == 0
    assert (
        (tmp_path / "r.md")
        .read_text(encoding="utf-8")
        .startswith("# 2 of 4 columns were selected to predict ill")
    )


def test_a_report_is_written_and_named(select, table, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "report.html"
    done = select(table, "-t", "ill", "--report", path)
    assert done.exit_code == 0
    assert f"Report: {path}" in done.stderr
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")


def test_the_report_scores_the_selection_and_all_columns(select, table, tmp_path):
    done = select(table, "-t", "ill", "--report", tmp_path / "r.json")
    assert done.exit_code == 0
    scores = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"]
    assert scores["n_folds"] == 5
    assert scores["all"]["n_columns"] == 4
    assert scores["selection"]["score"] > 0.8
    assert scores["selection"]["note"] == ""


def test_the_scores_of_the_report_respect_weights_and_groups(select, patients, tmp_path):
    patients["weight"], patients["clinic"] = 1.0, [f"c{row % 12}" for row in range(len(patients))]
    patients.to_csv(tmp_path / "p.csv", index=False)
    flags = ("--weights", "weight", "--groups", "clinic", "--report", tmp_path / "r.json")
    assert select(tmp_path / "p.csv", "-t", "ill", *flags).exit_code == 0
    scores = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"]
    assert scores["selection"]["note"] == ""
    assert scores["all"]["n_columns"] == 4


def test_the_scores_of_the_report_leave_the_checkpoint_alone(select, table, tmp_path):
    flags = ("--checkpoint", tmp_path / "run", "--report")
    select(table, "-t", "ill", *flags, tmp_path / "without.json", "--report-cv", 0)
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.npz")}
    select(table, "-t", "ill", *flags, tmp_path / "r.json")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").glob("*.npz")} == before
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"]["selection"]["note"] == ""


@pytest.mark.parametrize(("n_folds", "expected"), [(0, None), (3, 3)])
def test_the_number_of_folds_of_the_report_can_be_chosen(select, table, tmp_path, n_folds, expected):
    done = select(table, "-t", "ill", "--report", tmp_path / "r.json", "--report-cv", n_folds)
    assert done.exit_code == 0
    scores = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"]
    assert (scores and scores["n_folds"]) == expected


def test_a_slow_search_is_not_repeated_for_the_report_unless_asked(select, table, tmp_path, monkeypatch):
    monkeypatch.setattr("ppfs.cli.output.scored_report._LONGEST", 0.0)
    # With rows held out nothing else repeats the search.
    flags = ("--confirm", 0.3, "--report", tmp_path / "r.json")
    done = select(table, "-t", "ill", *flags)
    assert "--report-cv 5" in done.stderr
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"] is None
    select(table, "-t", "ill", *flags, "--report-cv", 5)
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"]["n_folds"] == 5


def test_scores_of_folds_that_were_searched_already_need_no_asking(select, table, tmp_path, monkeypatch):
    monkeypatch.setattr("ppfs.cli.output.scored_report._LONGEST", 0.0)
    done = select(table, "-t", "ill", "--report", tmp_path / "r.json")
    assert "--report-cv" not in done.stderr
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"]["n_folds"] == 5


def test_a_report_without_scores_says_why(select, patients, tmp_path):
    patients["clinic"] = [f"c{row % 12}" for row in range(120)]
    patients.to_csv(tmp_path / "p.csv", index=False)
    flags = ("--groups", "clinic", "--report", tmp_path / "r.json", "--report-cv", 13)
    done = select(tmp_path / "p.csv", "-t", "ill", *flags)
    assert done.exit_code == 0
    assert "The report has no cross-validated scores: " in done.stderr
    assert "at least 13 groups" in done.stderr
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["scores"] is None


def test_more_folds_than_rows_are_refused_before_the_search(select, table, tmp_path):
    done = select(table, "-t", "ill", "--report", tmp_path / "r.json", "--report-cv", 121)
    assert done.exit_code == 2
    assert "--report-cv 121 is more than the 120 rows" in done.stderr
    assert not (tmp_path / "r.json").exists()


@pytest.mark.parametrize("folds", ["1", "-1"])
def test_a_single_fold_is_refused(select, table, tmp_path, folds):
    assert select(table, "-t", "ill", "--report", tmp_path / "r.json", "--report-cv", folds).exit_code == 2


def test_folds_of_a_report_need_a_report(select, table):
    done = select(table, "-t", "ill", "--report-cv", 3)
    assert done.exit_code == 2
    assert "--report-cv has no effect without --report" in done.stderr


def test_sufficiency_is_measured_on_request(select, table):
    result = select(table, "-t", "ill", "--sufficiency", "--format", "json")
    measured = json.loads(result.stdout)["sufficiency"]
    assert measured["verdict"] in ("sufficient", "too few rows", "not sufficient")
    assert measured["summary"] in result.stderr
    assert json.loads(select(table, "-t", "ill", "--format", "json").stdout)["sufficiency"] is None
