"""A search that was killed is continued by naming its checkpoint."""

import json
from pathlib import Path

import pytest
from checks.systems import needs_links

from ppfs.cli.commands.kept_command import as_arguments, as_values
from ppfs.cli.commands.select import select as select_command
from ppfs.independence._predictive import marginal

pytestmark = pytest.mark.usefixtures("small_forests", "two_repeats")


def test_a_file_is_not_a_checkpoint(ppfs, table):
    result = ppfs("resume", table)
    assert result.exit_code == 1
    assert "is a file, not the folder of a checkpoint" in result.stderr


def test_a_killed_search_is_resumed_from_another_folder(select, ppfs, table, tmp_path, monkeypatch):
    expected = select(table, "--target", "ill").stdout
    monkeypatch.chdir(table.parent)
    flags = ("--target", "ill", "--test", "paper", "--splits", 10, "--quiet")

    def killed(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(marginal.Growth, "__call__", killed)
        assert ppfs("select", table.name, *flags, "--checkpoint", "run").exit_code == 130
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = ppfs("resume", table.parent / "run")
    assert (done.exit_code, done.stdout) == (0, expected)
    assert "continuing: ppfs select patients.csv --target ill" in done.stderr


def test_what_is_no_checkpoint_is_named(ppfs, tmp_path):
    done = ppfs("resume", tmp_path)
    assert done.exit_code == 1
    assert "is not the checkpoint of a ppfs select: it holds no command.json." in done.stderr
    done = ppfs("resume", tmp_path / "typo")
    assert done.exit_code == 1
    assert "is not the checkpoint of a ppfs select: there is no such folder." in done.stderr
    gone = {"folder": str(tmp_path / "gone"), "arguments": ["data.csv"]}
    (tmp_path / "command.json").write_text(json.dumps(gone), encoding="utf-8")
    assert "gone', which no longer exists" in ppfs("resume", tmp_path).stderr
    (tmp_path / "command.json").write_text(json.dumps({"folder": 3}), encoding="utf-8")
    done = ppfs("resume", tmp_path)
    assert done.exit_code == 1
    assert "cannot be used" in done.stderr
    for content in ({"folder": ".", "arguments": [3]}, {"folder": 3, "arguments": ["data.csv"]}):
        (tmp_path / "command.json").write_text(json.dumps(content), encoding="utf-8")
        done = ppfs("resume", tmp_path)
        assert (done.exit_code, "it does not hold a command" in done.stderr) == (1, True)
    (tmp_path / "command.json").write_text("[" * 200_000, encoding="utf-8")
    done = ppfs("resume", tmp_path)
    assert done.exit_code == 1
    assert "nested too deeply" in done.stderr


def test_a_refused_search_leaves_the_command_of_the_checkpoint(ppfs, table, patients, tmp_path):
    flags = ("--target", "ill", "--test", "paper", "--splits", 5, "--quiet", "--checkpoint", tmp_path / "run")
    expected = ppfs("select", table, *flags)
    assert expected.exit_code == 0
    other = tmp_path / "other.csv"
    patients.iloc[:90].to_csv(other, index=False)
    assert "belongs to another run" in ppfs("select", other, *flags).stderr
    assert ppfs("select", table, "--target", "il", *flags[2:]).exit_code == 1
    assert ppfs("resume", tmp_path / "run").stdout == expected.stdout


def test_a_command_line_survives_being_taken_apart():
    arguments = ["data.csv", "--target", "y", "--sep", ";", "--na", "a", "--na", "b", "--stream"]
    arguments += ["--no-second-look", "--quiet", "--estimator", "tree", "--estimator", "linear"]
    values = as_values(select_command, arguments, Path("run"))
    again = as_arguments(select_command, values)
    assert sorted(again) == sorted(arguments)
    assert as_values(select_command, again, Path("run")) == values


@pytest.fixture
def checkpoint(ppfs, table, tmp_path):
    """A finished run, whose command can be replaced by another one."""
    path = tmp_path / "run"
    flags = ("--target", "ill", "--test", "paper", "--splits", 5, "--quiet")
    assert ppfs("select", table, *flags, "--checkpoint", path).exit_code == 0

    def told(*more):
        content = json.loads((path / "command.json").read_text(encoding="utf-8"))
        content["arguments"] += [str(one) for one in more]
        (path / "command.json").write_text(json.dumps(content), encoding="utf-8")
        return path

    return told


@pytest.mark.parametrize("flag", ["--output", "-o", "--save", "--report"])
def test_files_go_into_the_checkpoint_unless_the_new_command_names_them(ppfs, checkpoint, tmp_path, flag):
    ending = {"--save": "json", "--report": "md"}.get(flag, "csv")
    elsewhere = tmp_path / "home"
    elsewhere.mkdir()
    precious = elsewhere / f"precious.{ending}"
    precious.write_text("mine", encoding="utf-8")
    run = checkpoint(flag, precious)
    done = ppfs("resume", run)
    assert done.exit_code == 0, done.stderr
    assert precious.read_text(encoding="utf-8") == "mine"
    inside = run / "results" / f"precious.{ending}"
    assert inside.is_file()
    long = {"-o": "--output"}.get(flag, flag)
    assert f"{long} {precious} comes from the checkpoint; writing {inside} instead" in done.stderr
    assert f"add {long} {precious} to write there" in done.stderr
    done = ppfs("resume", run, long, precious)
    assert done.exit_code == 0, done.stderr
    assert precious.read_text(encoding="utf-8") != "mine"


def test_a_person_is_asked(ppfs, checkpoint, tmp_path, monkeypatch):
    run = checkpoint("--output", tmp_path / "kept.csv")
    asked = []
    monkeypatch.setattr("ppfs.cli.commands.resume._is_watched", lambda: True)
    monkeypatch.setattr("click.confirm", lambda question, err: asked.append((question, err)) or True)
    assert ppfs("resume", run).exit_code == 0
    assert (tmp_path / "kept.csv").is_file()
    assert len(asked) == 1
    question, is_on_stderr = asked[0]
    assert str(tmp_path / "kept.csv") in question
    assert is_on_stderr  # Not among the selected columns.


def test_no_run_is_logged_unless_the_new_command_says_so(ppfs, checkpoint, monkeypatch):
    monkeypatch.setattr("ppfs.cli.flags.output.require_installed", lambda *_: None)
    seen = []
    monkeypatch.setattr(select_command, "invoke", lambda context: seen.append(context.params["mlflow"]))
    done = ppfs("resume", checkpoint("--mlflow", "theirs"))
    assert "continuing without MLflow; add --mlflow theirs to log the run" in done.stderr
    ppfs("resume", checkpoint("--mlflow", "theirs"), "--mlflow", "mine")
    assert seen == [None, "mine"]


@pytest.mark.parametrize("flag", ["--estimator", "--conditional", "--splitter"])
def test_a_module_inside_a_checkpoint_is_not_imported(ppfs, checkpoint, tmp_path, monkeypatch, flag):
    """As `python -m ppfs` would beside the checkpoint: Python then searches the current folder for modules."""
    run = checkpoint(flag, "run.sent:Model")
    (run / "sent.py").write_text("open('ran', 'w')\nfrom sklearn.svm import SVC as Model\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    done = ppfs("resume", run)
    assert done.exit_code == 1
    assert f"{flag} run.sent:Model, whose module 'run.sent' lies in the checkpoint" in done.stderr
    assert not list(tmp_path.rglob("ran"))
    assert not Path("ran").exists()


def test_other_parameters_name_no_second_checkpoint(ppfs, checkpoint, tmp_path):
    done = ppfs("resume", checkpoint("--method-params", json.dumps({"checkpoint": str(tmp_path / "other")})))
    assert done.exit_code == 2
    assert "--method-params: 'checkpoint' has a flag. Use --checkpoint." in done.stderr
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("method", ["stability", "ppfs-cv", "stepwise"])
def test_a_method_without_checkpoints_makes_no_folder(ppfs, table, tmp_path, method):
    done = ppfs("select", table, "--target", "ill", "--method", method, "--checkpoint", tmp_path / "run")
    assert done.exit_code == 2
    assert f"--checkpoint has no effect with --method {method}" in done.stderr
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize("content", ["", "my notes", "{}", '{"folder": "here", "arguments": 3}'])
def test_a_command_of_another_program_is_not_replaced(ppfs, table, checkpoint, content):
    run = checkpoint()
    (run / "command.json").write_text(content, encoding="utf-8")
    flags = ("--target", "ill", "--test", "paper", "--splits", 5, "--quiet", "--checkpoint", run)
    done = ppfs("select", table, *flags)
    assert done.exit_code == 1
    assert "its command.json was not written by ppfs" in done.stderr
    assert (run / "command.json").read_text(encoding="utf-8") == content


def test_answers_go_to_the_checkpoint_that_was_named(ppfs, checkpoint, tmp_path):
    run = checkpoint("--checkpoint", tmp_path / "other")
    assert ppfs("resume", run).exit_code == 0
    assert not (tmp_path / "other").exists()


def test_a_cluster_is_not_joined_unless_the_new_command_names_it(ppfs, checkpoint):
    done = ppfs("resume", checkpoint("--cluster", "tcp://127.0.0.1:1"))
    assert done.exit_code == 0
    assert "add --cluster tcp://127.0.0.1:1 to use the cluster" in done.stderr


def test_a_cluster_that_the_new_command_names_is_joined(ppfs, checkpoint, monkeypatch):
    monkeypatch.setattr(select_command, "invoke", lambda context: None)
    done = ppfs("resume", checkpoint(), "--cluster", "tcp://127.0.0.1:2")
    assert "--cluster tcp://127.0.0.1:2" in done.stderr
    assert "--cluster" not in ppfs("resume", checkpoint()).stderr


@needs_links
def test_links_out_of_the_checkpoint_are_not_followed(ppfs, checkpoint, tmp_path):
    run = checkpoint("--output", tmp_path / "kept.csv")
    (tmp_path / "outside").mkdir()
    (run / "results").symlink_to(tmp_path / "outside")
    done = ppfs("resume", run)
    assert done.exit_code == 1
    assert list((tmp_path / "outside").iterdir()) == []
    (run / "results").unlink()
    (run / "results").mkdir()
    (tmp_path / "precious.md").write_text("mine", encoding="utf-8")
    (run / "results" / "r.md").symlink_to(tmp_path / "precious.md")
    assert ppfs("resume", checkpoint("--report", tmp_path / "r.md")).exit_code == 0
    assert (tmp_path / "precious.md").read_text(encoding="utf-8") == "mine"


def test_a_class_that_is_not_a_model_is_not_called(ppfs, checkpoint, tmp_path):
    call = json.dumps({"args": ["touch", str(tmp_path / "called")]})
    done = ppfs("resume", checkpoint("--estimator", f"subprocess:Popen{call}"))
    assert done.exit_code == 2
    assert "subprocess:Popen is not a model: it has no fit method" in done.stderr
    assert not (tmp_path / "called").exists()
