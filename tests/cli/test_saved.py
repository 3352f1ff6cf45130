"""A selection outlives the command: --save, --output, apply and explain."""

import gc
import io
import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from ppfs import PPFS
from ppfs._trace import as_plain, from_plain
from ppfs.cli.input import FrameRead
from ppfs.cli.output.writing import write_columns
from ppfs.exceptions import InvalidInputError

pytestmark = pytest.mark.usefixtures("small_forests")


@pytest.fixture
def saved(select, table, tmp_path):
    path = tmp_path / "selection.json"
    result = select(table, "-t", "ill", "--save", path)
    assert (result.exit_code, result.stderr) == (0, "")
    return path


def test_apply_keeps_the_selected_columns_of_another_table(ppfs, saved, tmp_path, patients):
    other = tmp_path / "new.csv"
    patients[["noise", "bmi"]].iloc[:5].assign(extra="x").to_csv(other, index=False)
    result = ppfs("apply", saved, other)
    assert result.exit_code == 0
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(result.stdout)), patients[["bmi"]].iloc[:5])
    result = ppfs("apply", saved, other, "--id", "extra")
    assert result.stdout.splitlines()[0] == "extra,bmi"


def test_apply_keeps_the_order_of_the_table_that_was_searched(ppfs, saved, table):
    """Not that of the importances: "age" stands before "bmi", which matters most, in the table."""
    selection = json.loads(saved.read_text(encoding="utf-8"))
    selection["selected"] = ["bmi", "age"]
    importances = {row["column"]: row["importance"] for row in selection["columns"]}
    assert importances["bmi"] > importances["age"]
    saved.write_text(json.dumps(selection), encoding="utf-8")
    assert ppfs("apply", saved, table).stdout.splitlines()[0] == "age,bmi"


@pytest.mark.parametrize("suffix", ["csv", "tsv", "csv.gz", "parquet", "feather"])
def test_tables_are_written_and_read_in_many_formats(select, ppfs, table, tmp_path, patients, suffix):
    kept, again = tmp_path / f"kept.{suffix}", tmp_path / f"again.{suffix}"
    result = select(table, "-t", "ill", "--id", "age", "-o", kept, "--save", tmp_path / "s.json")
    assert (result.exit_code, result.stderr) == (0, "")
    assert ppfs("apply", tmp_path / "s.json", kept, "--with-target", "-o", again).exit_code == 0
    shown = ppfs("apply", tmp_path / "s.json", again, "--id", "ill").stdout
    pd.testing.assert_frame_equal(pd.read_csv(io.StringIO(shown)), patients[["bmi", "ill"]])
    assert list(tmp_path.glob(".*")) == []


def test_output_has_identifiers_selected_columns_and_target(select, table, tmp_path, patients):
    select(table, "-t", "ill", "--id", "noise", "--output", tmp_path / "kept.csv")
    assert list(pd.read_csv(tmp_path / "kept.csv").columns) == ["bmi", "noise", "ill"]


def test_apply_names_what_is_missing(ppfs, saved, tmp_path, patients):
    other = tmp_path / "new.csv"
    patients[["noise"]].to_csv(other, index=False)
    result = ppfs("apply", saved, other)
    assert result.exit_code == 1
    assert "lacks 1 of the 1 selected columns: 'bmi'" in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda d: d.update(schema="other"), "is not a selection"),
        (lambda d: d.update(schema_version=99), "has layout 99"),
        (lambda d: d.pop("selected"), "'selected' is missing"),
        (lambda d: d.update(columns=[1]), "'columns' holds an entry without 'column'"),
        (lambda d: d.update(selected=["stranger"]), "'stranger' is selected, but is not one of its columns"),
        (lambda d: d.update(selected=[{}]), "'selected' holds {}, which is not the name of a column"),
        (lambda d: d.update(columns=[{"column": "bmi"}]), "'columns' holds an entry without 'selected'"),
        (lambda d: d.update(warnings=[{"column": 1}]), "'warnings' holds an entry without 'column'"),
    ],
)
def test_a_damaged_selection_is_refused(ppfs, saved, table, change, message):
    document = json.loads(saved.read_text(encoding="utf-8"))
    change(document)
    saved.write_text(json.dumps(document), encoding="utf-8")
    result = ppfs("apply", saved, table)
    assert result.exit_code == 1
    assert message in result.stderr


@pytest.mark.parametrize("command", ["apply", "explain"])
def test_deeply_nested_json_is_refused(ppfs, tmp_path, table, command):
    path = tmp_path / "deep.json"
    path.write_text("[" * 200_000, encoding="utf-8")
    arguments = (path, table) if command == "apply" else ("--from", path, "-x", "bmi")
    result = ppfs(command, *arguments)
    assert result.exit_code == 1
    assert "cannot be read as JSON: it is nested too deeply" in result.stderr


def test_deeply_nested_parameters_are_refused(ppfs, table):
    text = '{"a": ' + "[" * 200_000
    result = ppfs("select", table, "-t", "ill", "--estimator", "tree", "--estimator-params", text)
    assert result.exit_code == 2
    assert "is not valid JSON (it is nested too deeply)" in result.stderr
    assert len(result.stderr) < 500


def test_a_selection_that_is_no_json(ppfs, table, tmp_path):
    result = ppfs("apply", table, table)
    assert result.exit_code == 1
    assert "cannot be read as JSON" in result.stderr
    assert "Make one with: ppfs select" in ppfs("apply", tmp_path / "none.json", table).stderr


def test_explain_says_the_verdict_first_and_the_same_from_a_file(ppfs, saved, table):
    flags = ("--test", "paper", "--splits", 10, "--quiet", "--feature", "bmi,noise")
    asked = ppfs("explain", table, "-t", "ill", *flags)
    lines = asked.stdout.splitlines()
    assert asked.exit_code == 0
    assert lines[0].startswith("'bmi' was selected: evidence that the target depends on it")
    assert lines[2].startswith("  growth: 'bmi': p = ")
    assert "'noise' was not selected" in asked.stdout
    assert ppfs("explain", "--from", saved, "--feature", "bmi", "-x", "noise").stdout == asked.stdout


def test_explain_of_a_search_without_questions(ppfs, table):
    result = ppfs("explain", table, "-t", "ill", "--method", "permutation-importance", "-x", "noise", "-q")
    assert result.stdout == "'noise' was not selected: the model predicted no better with it.\n"


def test_explain_needs_to_know_what(ppfs, saved, table):
    assert "Specify which column to explain" in ppfs("explain", table, "-t", "ill").stderr
    assert "Specify which column to explain" in ppfs("explain", "--from", saved, "-x", "").stderr
    assert "not both" in ppfs("explain", table, "--from", saved, "-x", "bmi").stderr
    result = ppfs("explain", "--from", saved, "-x", "bni")
    assert result.exit_code == 1
    assert "Did you mean 'bmi'?" in result.stderr


def test_explain_checks_the_column_before_it_searches(ppfs, table, monkeypatch):
    monkeypatch.setattr("ppfs.cli._fitting.searched", lambda *_: pytest.fail("it has searched"))
    result = ppfs("explain", table, "-t", "ill", "-x", "bni")
    assert result.exit_code == 1
    assert "Did you mean 'bmi'?" in result.stderr


@pytest.mark.parametrize(
    ("flags", "code", "message"),
    [
        (["--output", "kept.docx"], 2, "must end in .csv"),
        (["--report", "report.pdf"], 2, "must end in .html, .json or .md"),
        (["--output", "no/such/kept.csv"], 1, "there is no folder"),
        (["--save", "no/such/selection.json"], 1, "there is no folder"),
        (["--report", "no/such/report.html"], 1, "there is no folder"),
        (["--output", "."], 2, "must end in .csv"),
        (["--save", "."], 1, "is a folder"),
    ],
)
def test_places_are_checked_before_the_search(select, table, flags, code, message, monkeypatch):
    monkeypatch.setattr(PPFS, "fit", None)
    result = select(table, "-t", "ill", *flags)
    assert result.exit_code == code
    assert message in result.stderr


def test_the_table_that_is_read_is_not_overwritten(select, ppfs, saved, table, tmp_path, monkeypatch):
    monkeypatch.setattr(PPFS, "fit", None)
    link, before = tmp_path / "link.csv", table.read_bytes()
    link.symlink_to(table)
    for place in (table, link):
        for flag in ("--output", "--save"):
            result = select(table, "-t", "ill", flag, str(place))
            assert (result.exit_code, table.read_bytes()) == (2, before)
            assert f"{flag} {place} is a file that this command reads" in result.stderr
    result = ppfs("apply", str(saved), str(table), "--output", str(link))
    assert (result.exit_code, table.read_bytes()) == (2, before)


def test_two_results_do_not_go_to_one_file(select, table, tmp_path, monkeypatch):
    monkeypatch.setattr(PPFS, "fit", None)
    place = tmp_path / "kept.json"
    result = select(table, "-t", "ill", "--save", str(place), "--report", str(tmp_path / "." / "kept.json"))
    assert result.exit_code == 2
    assert "is written by --save too" in result.stderr or "is written by --report too" in result.stderr


@pytest.mark.parametrize(
    ("flags", "library"),
    [
        (["--output", "kept.parquet"], "pyarrow"),
        (["--output", "kept.feather"], "pyarrow"),
        (["--output", "kept.xlsx"], "openpyxl"),
        (["--report", "report.html"], "matplotlib"),
    ],
)
def test_missing_libraries_are_named_before_the_search(select, table, flags, library, monkeypatch):
    monkeypatch.setattr(PPFS, "fit", None)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    result = select(table, "-t", "ill", *flags)
    assert result.exit_code == 1
    assert f"needs {library}, which is not installed. Run: pip install 'ppfs[" in result.stderr


@pytest.mark.parametrize(
    ("flag", "broken"),
    [
        ("--output=kept.parquet", "pandas.DataFrame.to_parquet"),
        ("--save=selection.json", "ppfs.cli.output.selection.replaced"),
        ("--report=report.md", "ppfs.report.Report.save"),
    ],
)
def test_what_cannot_be_written_does_not_lose_the_result(
    select, ppfs, table, tmp_path, monkeypatch, flag, broken
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with monkeypatch.context() as patched:
        if flag.startswith("--save"):
            patched.setattr(broken, _full_once())
        else:
            patched.setattr(broken, _full)
        result = select(table, "-t", "ill", flag)
    assert (result.exit_code, result.stdout) == (1, "bmi\n")
    assert "No space left on device" in result.stderr
    (rescued,) = tmp_path.glob("ppfs-selection-*.json")
    assert f"The selection is saved as {str(rescued)!r}" in result.stderr
    assert ppfs("apply", rescued, table).stdout.startswith("bmi\n")


def test_a_run_that_mlflow_does_not_log_does_not_lose_the_result(select, table, tmp_path, monkeypatch):
    mlflow = pytest.importorskip("mlflow", exc_type=ImportError)

    def refused(*_):
        raise mlflow.exceptions.MlflowException("no such store")

    monkeypatch.setattr(mlflow, "set_experiment", refused)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    result = select(table, "-t", "ill", "--mlflow", "patients")
    assert (result.exit_code, result.stdout) == (1, "bmi\n")
    assert "MLflow did not log the run: no such store" in result.stderr
    assert "The selection is saved as" in result.stderr


def test_other_places_are_written_when_one_fails(select, table, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pandas.DataFrame.to_parquet", _full)
    result = select(table, "-t", "ill", "--output", "kept.parquet", "--save", "s.json", "--report", "r.md")
    assert (result.exit_code, result.stdout) == (1, "bmi\n")
    assert (tmp_path / "s.json").is_file()
    assert (tmp_path / "r.md").is_file()
    assert "is saved as" not in result.stderr


def test_a_full_disk_keeps_the_old_file(select, table, tmp_path, monkeypatch):
    path = tmp_path / "selection.json"
    path.write_text("old", encoding="utf-8")
    monkeypatch.setattr("pathlib.Path.write_text", _full)
    result = select(table, "-t", "ill", "--save", path)
    assert result.exit_code == 1
    assert "No space left on device" in result.stderr
    assert path.read_text(encoding="utf-8") == "old"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_workbook_on_a_full_disk_leaves_nothing_to_close(select, table, tmp_path, monkeypatch):
    pytest.importorskip("openpyxl")
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    ignored = []
    monkeypatch.setattr("sys.unraisablehook", ignored.append)
    (tmp_path / "full.xlsx").symlink_to("/dev/full")
    result = select(table, "-t", "ill", "--output", tmp_path / "full.xlsx")
    gc.collect()
    assert "No space left on device" in result.stderr
    assert ignored == []


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_is_written_to_and_not_replaced(select, table, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        result = select(table, "-t", "ill", "--save", path)
        assert (result.exit_code, path.is_fifo()) == (0, True)
        assert json.loads(os.read(reader, 2**16))["selected"] == ["bmi"]
    finally:
        os.close(reader)


def _full(*_, **__):
    raise OSError(28, "No space left on device")


def _full_once():
    """Fail at the first file, as where one disk is full and another one is not."""
    from ppfs.cli.output.selection import replaced

    calls = iter([_full])
    return lambda path: next(calls, replaced)(path)


@pytest.fixture(scope="module")
def trace():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 5))
    selector = PPFS.calibrated(
        "panel", n_folds=2, feature_groups={"both": [1, 2]}, always_keep=[3], random_state=0
    )
    return selector.fit(X, X[:, 0] + X[:, 1] > 0).trace_


def test_a_trace_survives_json(trace):
    again = from_plain(json.loads(json.dumps(as_plain(trace))))
    assert list(again) == list(trace) or repr(list(again)) == repr(list(trace))
    assert again.outcome == trace.outcome
    assert again.notes == trace.notes
    for column in ("x0", "both", "x3", "x4"):
        assert again.explain(column) == trace.explain(column)


@pytest.mark.parametrize(
    "change",
    [
        lambda plain: plain.pop("names"),
        lambda plain: plain.update(parts=[1]),
        lambda plain: plain["parts"][0].update(decisions=["maybe"] * len(plain["parts"][0]["features"])),
        lambda plain: plain["parts"][0]["features"].append(999),
        lambda plain: plain["outcome"].pop("blanket"),
    ],
)
def test_a_damaged_trace_is_refused(trace, change):
    plain = json.loads(json.dumps(as_plain(trace)))
    change(plain)
    with pytest.raises(InvalidInputError, match="not the trace of a search"):
        from_plain(plain)


def _table(frame):
    return FrameRead("table", frame, lambda rows: "", [])


def test_a_workbook_is_written_by_the_library_that_is_asked_for(tmp_path):
    """pandas may be told to prefer another one, which need not be there."""
    with pd.option_context("io.excel.xlsx.writer", "xlsxwriter"):
        write_columns(_table(pd.DataFrame({"a": [1, 2]})), ["a"], tmp_path / "table.xlsx")
    assert pd.read_excel(tmp_path / "table.xlsx")["a"].tolist() == [1, 2]


def test_apply_says_how_a_table_was_read(ppfs, saved, table, tmp_path):
    german = tmp_path / "german.csv"
    pd.read_csv(table).to_csv(german, sep=";", decimal=",", index=False)
    done = ppfs("apply", saved, german, "-o", tmp_path / "out.csv")
    assert done.exit_code == 0, done.stderr
    assert "';'" in done.stderr
