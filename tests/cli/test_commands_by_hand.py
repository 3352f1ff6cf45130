"""The parts of commands, called one by one: no search, no process, and every message word for word."""

import json
import os
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace as Of

import click
import numpy as np
import pandas as pd
import pytest

from ppfs.cli import _estimating
from ppfs.cli._failures import InputFailure, UsageFailure
from ppfs.cli._words import in_flags
from ppfs.cli.commands.kept_command import as_arguments, as_values, remembered, remembering
from ppfs.cli.commands.select import select
from ppfs.cli.flags import models
from ppfs.cli.flags.sections import Flag, SectionedCommand, flag, gathered
from ppfs.cli.flags.written_files import TABLES, written_file
from ppfs.cli.input.data import Input

# The commands of these modules have their names, which hide the modules in the package.
explaining, planning, resuming, updating = (
    import_module(f"ppfs.cli.commands.{name}") for name in ("explain", "plan", "resume", "update")
)
PPFS_LIKE = Of(second_look=True, interactions=None)


def table(y, n_columns=2, **more):
    X = pd.DataFrame({f"x{number}": np.arange(len(y)) for number in range(n_columns)})
    return Input("t.csv", X, y, list(X.columns), "y", **more)


@pytest.fixture
def measured(monkeypatch):
    """Note what is measured in place of measuring."""
    called = []

    def measure_rates(selector, X, y, **settings):
        called.append((list(X), len(y), settings))
        return Of(n_candidates=7)

    monkeypatch.setattr("ppfs._planning.measure_rates", measure_rates)
    return called


@pytest.mark.parametrize(
    ("given", "settings"),
    [
        ({}, {"n_columns": 2, "n_candidates": None, "budget": 10.0}),
        (
            {"n_columns": 99, "n_candidates": 5, "budget": 1.0},
            {"n_columns": 99, "n_candidates": 5, "budget": 1.0},
        ),
    ],
)
def test_rates_are_measured_on_the_table(measured, given, settings):
    assert _estimating.rates_of(PPFS_LIKE, table([0, 1, 1]), **given).n_candidates == 7
    assert measured == [(["x0", "x1"], 3, settings)]


@pytest.mark.parametrize(
    ("selector", "said"),
    [
        (Of(), "other methods than ppfs: --method"),
        (Of(second_look=True, interactions="pairs"), "--interactions"),
    ],
)
def test_costs_that_are_not_estimated(measured, selector, said):
    with pytest.raises(UsageFailure) as raised:
        _estimating.rates_of(selector, table([0, 1]))
    assert raised.value.message == f"ppfs plan does not estimate the cost of {said}. Leave it out."


@pytest.fixture
def costing(measured, monkeypatch):
    """Make every search take some seconds."""

    def call(seconds):
        monkeypatch.setattr(
            "ppfs._planning.predict_cost", lambda rates, n_rows, n_columns: Of(seconds=seconds)
        )
        return measured

    return call


NUMERIC = "If it is numeric, use --task regression."
TEXTS = "Merge rare classes if you can."


@pytest.mark.parametrize(
    ("n_classes", "seconds", "kind", "task", "advice"),
    [
        (20, 99.0, str, None, None),
        (21, 99.0, str, None, TEXTS),
        (21, 99.0, int, "classification", NUMERIC),
        (21, 99.0, float, "classification", NUMERIC),
        (21, 99.0, int, "regression", None),
        (21, 60.0, str, None, None),
        (21, 60.1, str, None, TEXTS),
    ],
)
def test_many_classes_that_take_long_are_announced(costing, capsys, n_classes, seconds, kind, task, advice):
    called = costing(seconds)
    _estimating.warn_of_many_classes(
        PPFS_LIKE,
        table(np.arange(n_classes * 2) % n_classes).__class__(
            "t.csv",
            pd.DataFrame({"a": range(2 * n_classes)}),
            pd.Series([kind(number % n_classes) for number in range(2 * n_classes)]),
            ["a"],
            "y",
        ),
        task,
    )
    said = capsys.readouterr().err
    if advice is None:
        assert said == ""
    else:
        assert said.startswith(
            f"ppfs: warning: 'y' has {n_classes} classes: the search is expected to take about "
        )
        assert said.endswith(f". {advice}\n")
        assert [settings["budget"] for _, _, settings in called] == [3.0]


def test_no_cost_of_other_searches_is_announced(costing, capsys):
    called = costing(99.0)
    _estimating.warn_of_many_classes(Of(), table(np.arange(100)), "classification")
    # Of two columns, such as times and events, no class is counted.
    _estimating.warn_of_many_classes(PPFS_LIKE, table(np.zeros((100, 2))), None)
    assert (called, capsys.readouterr().err) == ([], "")


@pytest.mark.parametrize("task", [None, "regression", "classification"])
def test_numbers_that_occur_once_are_no_labels(task):
    asked = []

    def written(names, *, has_types):
        asked.append((names, has_types))
        return {"y": [f"{number}.00" for number in range(30)]}

    data = table(np.arange(30) / 7, rows=Of(written=written))
    if task == "classification":
        with pytest.raises(ValueError, match=r"0\.00"):
            _estimating.refuse_a_class_per_row(data, task)
        assert asked == [(["y"], False)]
    else:
        _estimating.refuse_a_class_per_row(data, task)
        assert asked == []
    _estimating.refuse_a_class_per_row(table(np.arange(30) / 7), "classification")


@pytest.mark.parametrize(
    ("n_names", "n_rows", "n_shown"),
    [(3, 10, 3), (2001, 10, 2000), (2001, 2**25 // 300, 300), (60, 2**25, 50), (40, 2**25, 40)],
)
def test_some_columns_of_a_file_are_measured(monkeypatch, n_names, n_rows, n_shown):
    names = [f"x{number}" for number in range(n_names)]
    source = Of(names=names, is_sparse=False, take=lambda columns: np.array([columns]))
    monkeypatch.setattr("ppfs._data.open_source", lambda path: source)
    found = _estimating._some_columns(Of(X="file", names=names, target_values=lambda: range(n_rows)))
    assert found.shape == (1, n_shown)
    assert (found.columns[0], found.columns[-1]) == (names[0], names[-1])
    assert found.iloc[0, -1] == n_names - 1


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ((100, 50, 20, None, 3, 10), (100, 50, 20, "regression", 3, 10)),
        ((100, 400, 20, "regression", 3, 10), (100, 400, 20, "regression", 3, 10)),
        ((5001, 800, 20, "classification", 3, 10), (5000, 400, 10, "classification", 3, 5)),
        ((5000, 801, 1, None, 2, 0), (5000, 400, 1, "regression", 2, 0)),
        ((9, 4000, 4000, None, 2, 4000), (9, 400, 400, "regression", 2, 400)),
        ((9, 4000, 2, None, 2, 0), (9, 400, 1, "regression", 2, 0)),
        ((9, 500, 300, None, 2, 0), (9, 400, 240, "regression", 2, 0)),
    ],
)
def test_a_table_is_imagined_at_a_smaller_size(monkeypatch, given, asked):
    called = []

    def imagined_table(n_rows, n_columns, n_candidates, *, task, n_classes, n_text):
        called.append((n_rows, n_columns, n_candidates, task, n_classes, n_text))
        return "X", "y"

    monkeypatch.setattr("ppfs._planning.imagined_table", imagined_table)
    n_rows, n_columns, n_candidates, task, n_classes, n_text = given
    made = planning._imagined(n_rows, n_columns, n_candidates, Of(task=task), n_classes, n_text)
    assert (called, made) == ([asked], Input("a table", "X", "y", [], "target"))


@pytest.fixture
def planned(monkeypatch, ppfs):
    """Plan without measuring; return what is printed and what was asked."""
    called = []

    def rates_of(selector, data, n_columns, n_candidates):
        called.append((len(data.names), n_columns, n_candidates))
        return Of(n_candidates=7)

    def predict_cost(rates, n_rows, n_columns, *, n_candidates, n_workers):
        called.append((n_rows, n_columns, n_candidates, n_workers))
        return n_workers

    monkeypatch.setattr(planning, "rates_of", rates_of)
    monkeypatch.setattr("ppfs._planning.predict_cost", predict_cost)
    monkeypatch.setattr("ppfs._planning.cost_lines", lambda costs: [f"costs {costs}", "end"])
    return lambda *flags: (ppfs("plan", *flags), called)


@pytest.mark.parametrize(
    ("flags", "first", "asked"),
    [
        (
            ["--rows", 1000, "--columns", 5000],
            "1,000 rows, 5,000 columns, 20 candidates",
            [(0, 5000, 20), (1000, 5000, 20)],
        ),
        (["--rows", 20, "--columns", 5], "20 rows, 5 columns, 5 candidates", [(0, 5, 5), (20, 5, 5)]),
        (
            ["--rows", 20, "--columns", 50, "--candidates", 3],
            "20 rows, 50 columns, 3 candidates",
            [(0, 50, 3), (20, 50, 3)],
        ),
    ],
)
def test_plans_of_tables_that_are_not_there(planned, flags, first, asked):
    done, called = planned(*flags)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == f"{first}\ncosts [1, 8, 64]\nend\n"
    assert called == [asked[0], *((*asked[1], n) for n in (1, 8, 64))]


def test_plans_of_files(planned, table):
    done, called = planned(table, "-t", "ill", "--workers", 2, "--workers", 5)
    assert done.stdout == "120 rows, 4 columns, about 4 candidates\ncosts [1, 2, 5]\nend\n"
    assert called == [(4, None, None), *((120, 4, None, n) for n in (1, 2, 5))]
    assert planned(table, "-t", "ill", "--candidates", 3)[0].stdout.startswith(
        "120 rows, 4 columns, 3 candidates\n"
    )


@pytest.mark.parametrize(
    "flags",
    [
        [],
        ["--rows", 20],
        ["--columns", 5],
        ["t.csv", "--rows", 20, "--columns", 5],
        ["-d", "wdbc", "--rows", 20, "--columns", 5],
    ],
)
def test_a_plan_is_of_a_file_or_of_a_size(planned, flags):
    done, _ = planned(*flags)
    assert (done.exit_code, done.stderr) == (
        2,
        "ppfs: Name either a file and its --target, or both --rows and --columns.\n",
    )


MADE = {
    ("tree", "classification"): "sklearn.tree:DecisionTreeClassifier",
    ("tree", "regression"): "sklearn.tree:DecisionTreeRegressor",
    ("tree", "survival"): "sksurv.tree:SurvivalTree",
    ("forest", "classification"): "sklearn.ensemble:RandomForestClassifier",
    ("forest", "survival"): "sksurv.ensemble:RandomSurvivalForest",
    ("boosting", "regression"): "sklearn.ensemble:HistGradientBoostingRegressor",
    ("lightgbm", "classification"): "lightgbm:LGBMClassifier",
    ("lightgbm", "regression"): "lightgbm:LGBMRegressor",
    ("xgboost", "classification"): "xgboost:XGBClassifier",
    ("xgboost", "regression"): "xgboost:XGBRegressor",
}
USUAL = {"lightgbm": {"n_jobs": 1, "verbose": -1}, "xgboost": {"n_jobs": 1}}


@pytest.mark.parametrize(("text", "task"), MADE)
def test_short_names_of_models(monkeypatch, text, task):
    monkeypatch.setattr(models, "made", lambda *arguments: arguments)
    usual = USUAL.get(text, {})
    assert models.model(text, "--estimator", task) == (MADE[text, task], usual, "--estimator")
    wanted = models.model(f' {text} {{"a": 1, "n_jobs": 3}}', "--estimator", task, {"a": 2})
    assert wanted == (MADE[text, task], {**usual, "a": 2, "n_jobs": 3}, "--estimator")


@pytest.mark.parametrize(
    ("text", "task", "path", "usual"),
    [
        ("linear", "classification", "sklearn.linear_model:LogisticRegression", {}),
        ("linear", "regression", "sklearn.linear_model:Ridge", {}),
        ("linear", "survival", "sksurv.linear_model:CoxPHSurvivalAnalysis", {"alpha": 0.01}),
        ("svm", "survival", "sksurv.svm:FastSurvivalSVM", {}),
        ("svm", "classification", "sklearn.svm:SVC", {}),
    ],
)
def test_models_whose_columns_are_scaled(monkeypatch, text, task, path, usual):
    called = []
    monkeypatch.setattr(models, "made", lambda *arguments: called.append(arguments))
    assert list(models.model(text, "--estimator", task).named_steps) == ["standardscaler", "nonetype"]
    assert called == [(path, usual, "--estimator")]


def refusal(call, *arguments):
    with pytest.raises((UsageFailure, InputFailure, click.UsageError)) as raised:
        call(*arguments)
    return raised.value.message


@pytest.mark.parametrize(
    ("text", "task", "message"),
    [
        (
            "forests",
            "regression",
            "--x: there is no model 'forests'. Did you mean 'forest'? Use tree, forest, boosting, linear, svm, "
            "lightgbm, xgboost, or a class as module:Class, such as sklearn.naive_bayes:GaussianNB.",
        ),
        (
            "xgboost",
            "survival",
            "--x: 'xgboost' does not predict survival times. Use tree, forest, boosting, linear, svm, or a class of "
            "scikit-survival as module:Class, such as sksurv.linear_model:CoxnetSurvivalAnalysis.",
        ),
        ("nowhere:A", "regression", "--x nowhere:A: there is no module 'nowhere'. Is it installed?"),
        (
            "sklearn.svm:Nobody",
            "regression",
            "--x sklearn.svm:Nobody: the module 'sklearn.svm' has no 'Nobody'. Check the name.",
        ),
        (
            "sklearn.svm:l1_min_c",
            "regression",
            "--x sklearn.svm:l1_min_c is not a class. Name a class, such as sklearn.svm:SVC.",
        ),
        (
            "sklearn.model_selection:KFold",
            "regression",
            "--x sklearn.model_selection:KFold is not a model: it has no fit method. Name another class.",
        ),
        ("tree{", "regression", "--x: '{' is not valid JSON"),
    ],
)
def test_models_that_are_refused(text, task, message):
    assert refusal(models.model, text, "--x", task).startswith(message)


def test_a_package_that_an_extra_installs_is_named(monkeypatch):
    def missing(module):
        raise ModuleNotFoundError(name=module)

    monkeypatch.setattr(models, "import_module", missing)
    assert refusal(models.made, "xgboost:A", {}, "--x") == (
        "--x xgboost:A: there is no module 'xgboost'. Run: pip install 'ppfs[boosting]'"
    )
    assert "Run: pip install 'ppfs[survival]'" in refusal(models.made, "sksurv.tree:A", {}, "--x")


def test_splitters():
    found = models.splitter('KFold{"n_splits": 7}')
    assert (type(found).__name__, found.n_splits) == ("KFold", 7)
    assert type(models.splitter("sklearn.model_selection:GroupKFold")).__name__ == "GroupKFold"
    assert refusal(models.splitter, "sklearn.svm:SVC") == (
        "--splitter sklearn.svm:SVC is not a splitter: it has no split method. Name another class."
    )
    assert refusal(models.splitter, 'KFold{"a": 7}').startswith(
        "--splitter sklearn.model_selection:KFold does not take these parameters: "
    )


@pytest.fixture
def command(tmp_path, monkeypatch):
    """A small command with flags of every sort, and the arguments that it gets."""
    monkeypatch.chdir(tmp_path)

    @click.command(cls=SectionedCommand)
    @click.argument("source", required=False)
    @click.option("--loose", help="Of no section.")
    @flag("One", "--first", "-f", help="The first.")
    @flag("Two", "--data", help="Data.")
    @flag("One", "--many", "-m", multiple=True, help="Several.")
    @flag("Two", "--out", "-o", **written_file(), help="A file.")
    @flag(
        "Two",
        "--other",
        **written_file({".md": None, ".xlsx": ("openpyxl", "excel"), ".m": None}, unsaid=(".m",)),
        help="B.",
    )
    @flag("Two", "--yes", is_flag=True, help="A switch.")
    @flag("Two", "-v", count=True, help="Counts.")
    def made(**values):
        return values

    return lambda *arguments: made.main(list(arguments), "made", standalone_mode=False)


def test_flags_have_sections_in_the_help(command, capsys):
    command("--help")
    lines = [line for line in capsys.readouterr().out.splitlines() if line]
    headings = [line for line in lines if not line.startswith(" ")]
    assert headings == ["Usage: made [OPTIONS] [SOURCE]", "Other:", "One:", "Two:"]
    assert lines[lines.index("One:") + 1].split() == ["-f,", "--first", "TEXT", "The", "first."]
    assert (Flag(["--a"]).section, Flag(["--a"]).is_written) == ("Options", False)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["-f", "1", "--first", "2"],
            "--first is given 2 times, and takes one value. Leave all but one out.",
        ),
        (["a", "--out", "a"], "--out a is a file that this command reads. Name another file."),
        (["--data", "a", "-o", "./a"], "--out a is a file that this command reads. Name another file."),
        (["-o", "a.md", "--other", "a.md"], "--other a.md is written by --out too. Name another file."),
        (["--other", "a.txt"], "--other a.txt: the name must end in .md or .xlsx."),
    ],
)
def test_command_lines_that_are_refused(command, arguments, message):
    assert refusal(command, *arguments) == message


def test_command_lines_that_are_accepted(command, tmp_path):
    values = command("a", "-m", "1", "-m", "2", "--yes", "--yes", "-v", "-v", "-o", "b", "--other", "C.M")
    assert (values["source"], values["many"], values["yes"], values["v"]) == ("a", ("1", "2"), True, 2)
    assert (values["out"], values["other"], values["first"]) == (Path("b"), Path("C.M"), None)
    # The same file by another name.
    (tmp_path / "a").write_text("")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert refusal(command, "a", "-o", "link").startswith("--out link is a file that this command reads")
    assert command("a", "-o", "c")["out"] == Path("c")


def test_files_that_cannot_be_written_are_refused_first(command, tmp_path, monkeypatch):
    (tmp_path / "folder").mkdir()
    assert refusal(command, "-o", "nowhere/a") == (
        f"--out nowhere/a: there is no folder {str(tmp_path / 'nowhere')!r}. Create it first."
    )
    assert refusal(command, "-o", "folder") == "--out folder is a folder. Name a file in it."
    asked = []
    monkeypatch.setattr(os, "access", lambda *arguments: asked.append(arguments))
    assert refusal(command, "-o", "folder/a") == (
        f"--out folder/a: nothing can be written to the folder {str(tmp_path / 'folder')!r}."
    )
    assert asked == [(tmp_path / "folder", os.W_OK)]
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(
        ImportError, match=r"--other a\.xlsx: writing \.xlsx files needs openpyxl, .*\[excel\]"
    ):
        command("--other", "a.xlsx")


def test_what_tables_need_to_be_written():
    assert list(TABLES) == [".csv", ".tsv", ".csv.gz", ".tsv.gz", ".parquet", ".feather", ".arrow", ".xlsx"]
    assert written_file()["is_written"] is True


def test_flags_are_gathered_in_an_object():
    kind = import_module("dataclasses").make_dataclass("Kind", ["a", "b"])

    @click.command()
    @gathered("request", kind, [flag("One", "--a"), flag("One", "--b")])
    @click.option("--c")
    def made(request, c):
        return request, c

    assert [parameter.name for parameter in made.params] == ["a", "b", "c"]
    found, c = made.main(["--a", "1", "--c", "3"], standalone_mode=False)
    assert (found, c) == (kind("1", None), "3")


def test_a_command_line_is_kept_while_the_search_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    place = tmp_path / "run" / "command.json"
    with remembering(None, ["a"]):
        pass
    with remembering("run", ["a", "-t", "y"]):
        kept = json.loads(place.read_text())
    assert kept == {"folder": str(tmp_path), "arguments": ["a", "-t", "y"]}
    with pytest.raises(ValueError, match="bad"), remembering("run", ["b"]):  # noqa: PT012
        assert json.loads(place.read_text())["arguments"] == ["b"]
        raise ValueError("bad")
    assert json.loads(place.read_text()) == kept
    with pytest.raises(KeyboardInterrupt), remembering("run", ["c"]):
        raise KeyboardInterrupt
    assert json.loads(place.read_text())["arguments"] == ["c"]
    place.unlink()
    with pytest.raises(ValueError, match="bad"), remembering("run", ["d"]):
        raise ValueError("bad")
    assert json.loads(place.read_text())["arguments"] == ["d"]
    assert [path.name for path in place.parent.iterdir() if path.name.startswith(".command")] == []


def test_a_kept_command_line_is_read_in_its_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    content = {"folder": str(tmp_path / "there"), "arguments": ["a", "-t", "y"]}
    (tmp_path / "command.json").write_text(json.dumps(content))
    assert remembered(tmp_path) == ["a", "-t", "y"]
    assert Path.cwd() == tmp_path / "there"


@pytest.mark.parametrize(
    "content", ["", '{"folder": "a", "arguments": ["b", 3]}', '{"folder": 3, "arguments": ["b"]}']
)
def test_a_file_that_holds_no_command_is_not_replaced(tmp_path, content):
    folder = str(tmp_path / "run")
    with remembering(folder, ["a"]):
        pass
    place = tmp_path / "run" / "command.json"
    place.write_text(content)
    with (
        pytest.raises(InputFailure, match=r"its command\.json was not written by ppfs"),
        remembering(folder, []),
    ):
        pass
    assert place.read_text() == content


def test_command_lines_there_and_back(tmp_path):
    arguments = ["a.csv", "--target", "y", "--na", "-", "--na", "?", "--no-second-look", "--quiet"]
    values = as_values(select, arguments, tmp_path)
    assert values == {"data": "a.csv", "target": "y", "na": ["-", "?"], "second_look": False, "quiet": True}
    assert as_arguments(select, values) == arguments
    assert as_arguments(select, {"second_look": True, "alpha": None}) == ["--second-look"]
    said = refusal(as_values, select, ["--nobody"], tmp_path)
    assert said.startswith(f"{str(tmp_path / 'command.json')!r} cannot be used: No such option")
    assert said.endswith(f"Run ppfs select again with the same flags and --checkpoint {str(tmp_path)!r}.")


@pytest.mark.parametrize(
    ("is_watched", "answer", "is_inside"), [(False, None, True), (True, True, False), (True, False, True)]
)
def test_files_of_a_checkpoint_go_where_the_user_agrees(
    tmp_path, monkeypatch, capsys, is_watched, answer, is_inside
):
    asked = []
    monkeypatch.setattr(resuming, "_is_watched", lambda: is_watched)
    monkeypatch.setattr(click, "confirm", lambda text, err: asked.append((text, err)) or answer)
    path, inside = tmp_path / "o\x1b.csv", tmp_path / "run" / "results" / "o\x1b.csv"
    (tmp_path / "run").mkdir()
    assert resuming._agreed_place("output", path, tmp_path / "run") == (inside if is_inside else path)
    question = f"The command of this checkpoint has --output. Write to {tmp_path}/o\\x1b.csv?"
    assert asked == ([(question, True)] if is_watched else [])
    assert inside.parent.is_dir() == is_inside
    said = capsys.readouterr().err
    assert said.startswith(f"ppfs: --output {tmp_path}/o") == is_inside
    # A file that is inside anyway needs no question.
    asked.clear()
    assert resuming._agreed_place("output", inside, tmp_path / "run") == inside
    assert (asked, capsys.readouterr().err) == ([], "")


def test_results_that_are_a_link_are_refused(tmp_path):
    (tmp_path / "results").symlink_to(tmp_path)
    assert refusal(resuming._agreed_place, "save", tmp_path / "s.json", tmp_path) == (
        f"{str(tmp_path / 'results')!r} is a link to another place. Remove it, or name files with --save."
    )


@pytest.mark.parametrize(("is_in", "is_err"), [(True, True), (True, False), (False, True)])
def test_a_person_needs_both_ends_of_a_terminal(monkeypatch, is_in, is_err):
    monkeypatch.setattr(resuming.sys, "stdin", Of(isatty=lambda: is_in))
    monkeypatch.setattr(resuming.sys, "stderr", Of(isatty=lambda: is_err))
    assert resuming._is_watched() == (is_in and is_err)


def test_what_new_rows_say_is_explained_later():
    document = {
        "trace": {"names": ["a", "b"], "said": [["update", 0, "old"], ["other", 1, "kept"]]},
    }
    updating._explain_with(document, Of(by_feature=lambda: {"b": "new"}))
    assert document["trace"]["said"] == [["other", 1, "kept"], ["update", 1, "new"]]
    bare = {"trace": None}
    updating._explain_with(bare, None)
    assert bare == {"trace": None}


def test_columns_without_evidence_have_no_line():
    found = Of(
        features=("a\x1b", "b", "c"),
        statuses=("still needed", "no evidence", "drifting"),
        e_values=(12.3456, 1.0, 1e6),
    )
    assert updating._lines(found) == "column\tstatus\te-value\na\\x1b\tstill needed\t12.3\nc\tdrifting\t1e+06"


def test_the_tables_of_an_update(tmp_path):
    (tmp_path / "t.csv").write_text("a,b,y,e\n1,2,0,5\n")
    document = {"data": "t.csv", "target": "y", "event": None, "exposure": "e"}
    request = Of(
        selection=str(tmp_path / "s.json"),
        data=None,
        sep=None,
        encoding=None,
        decimal=None,
        na=(),
        sheet=None,
    )
    assert updating._searched(request, document) == str(tmp_path / "t.csv")
    assert updating._searched(Of(data="other"), document) == "other"
    assert updating._target_columns(document) == ["y", "e"]
    X, y = updating._rows(request, str(tmp_path / "t.csv"), ["b"], ["y"])
    assert (X.to_dict("list"), y.tolist()) == ({"b": [2]}, [0])
    X, y = updating._rows(request, str(tmp_path / "t.csv"), ["b", "a"], ["y", "e"])
    assert (list(X), y.to_dict("list")) == (["b", "a"], {"y": [0], "e": [5]})
    assert refusal(updating._rows, request, str(tmp_path / "t.csv"), ["z", "a"], ["w"]) == (
        f"{str(tmp_path / 't.csv')!r} lacks the columns 'z', 'w'."
    )
    assert refusal(updating._searched, request, {"data": "no.csv"}) == (
        f"There is no file {str(tmp_path / 'no.csv')!r}, the table that was searched: models of its rows predict "
        "the new ones. Name it: --data FILE"
    )
    assert (
        refusal(updating._digest, str(tmp_path / "no"))
        == f"There is no file {str(tmp_path / 'no')!r}. Check the path."
    )
    assert refusal(updating._digest, str(tmp_path)) == f"{str(tmp_path)!r} cannot be read: Is a directory."
    assert refusal(updating._refuse_known, "n", ["d"], "d") == (
        "The rows of 'n' are in this selection already, and no row counts twice."
    )
    updating._refuse_known("n", ["d"], "e")


def test_columns_that_the_search_read_as_categories():
    X = pd.DataFrame({"a": [1], "b": ["x"]})
    assert updating._categorical({}, X) == "auto"
    assert updating._categorical({"categorical": ["a"]}, X) == ["b", "a"]
    updating._require_single_columns({})
    assert refusal(updating._require_single_columns, {"feature-group": []}) == (
        "This selection was made with --feature-group, and ppfs update reads every column as a separate feature. Use "
        "the method update of the selector in Python instead."
    )


WARNED = [
    {"column": "a", "finding": "a is odd.", "flag": "Drop it."},
    {"column": "b", "finding": "b", "flag": "c"},
]
ROWS = [
    {"column": "b", "selected": False, "reason": "no link"},
    {"column": "a", "selected": True, "reason": "kept"},
]


@pytest.mark.parametrize(
    ("feature", "said", "expected"),
    [
        ("a", None, "'a' was selected: kept.\nNote: a is odd. Drop it."),
        ("b", None, "'b' was not selected: no link.\nNote: b c"),
        ("a", "Verdict.", "Verdict.\nNote: a is odd. Drop it."),
        (
            "a",
            "Verdict.\nOne.\nTwo.",
            "Verdict.\nNote: a is odd. Drop it.\nQuestions asked about it, in their order:\n  One.\n  Two.",
        ),
    ],
)
def test_explanations(feature, said, expected):
    trace = None if said is None else Of(explain=lambda name: said)
    assert explaining._explained(feature, ROWS, trace, WARNED) == expected


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "Specify which column to explain, for example: --feature age"),
        (["-x", ""], "Specify which column to explain, for example: --feature age"),
        (["-x", "a", "--from", "s.json", "t.csv"], "Name either data or a saved run with --from, not both."),
        (
            ["-x", "a", "--from", "s.json", "-d", "wdbc"],
            "Name either data or a saved run with --from, not both.",
        ),
    ],
)
def test_explanations_that_are_refused(ppfs, flags, message):
    done = ppfs("explain", *flags)
    assert (done.exit_code, done.stdout, done.stderr) == (2, "", f"ppfs: {message}\n")


def test_sentences_of_the_library_speak_of_flags():
    assert in_flags("The 'n_folds' parameter of PPFS must be at least 0.") == "--folds must be at least 0."
    assert in_flags("'alpha' parameter of PPFS is odd, task='count'") == "--alpha is odd, --task count"
    assert in_flags("stratify=True, min_features=3") == "--stratify yes, --min-features 3"
    assert in_flags("growth=True") == "--growth True"
