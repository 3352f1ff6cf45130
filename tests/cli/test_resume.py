"""A search that was killed is continued by naming its checkpoint."""

import json

from ppfs.independence._predictive import marginal


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
    assert "is not the checkpoint of a ppfs select" in done.stderr
    (tmp_path / "command.json").write_text(json.dumps({"folder": 3}))
    done = ppfs("resume", tmp_path)
    assert done.exit_code == 1
    assert "cannot be used" in done.stderr


def test_a_refused_search_leaves_the_command_of_the_checkpoint(ppfs, table, patients, tmp_path):
    flags = ("--target", "ill", "--test", "paper", "--splits", 5, "--quiet", "--checkpoint", tmp_path / "run")
    expected = ppfs("select", table, *flags)
    assert expected.exit_code == 0
    other = tmp_path / "other.csv"
    patients.iloc[:90].to_csv(other, index=False)
    assert "belongs to another run" in ppfs("select", other, *flags).stderr
    assert ppfs("select", table, "--target", "il", *flags[2:]).exit_code == 1
    assert ppfs("resume", tmp_path / "run").stdout == expected.stdout
