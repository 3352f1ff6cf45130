"""What a search would cost is told before it runs."""

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from ppfs.cli import _estimating


def test_a_table_that_is_not_there_is_planned(ppfs):
    flags = ("--test", "paper", "--splits", 5, "--estimator", "sklearn.linear_model:LinearRegression")
    done = ppfs("plan", "--rows", 500, "--columns", 1_000_000, "--workers", 10, *flags)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "500 rows, 1,000,000 columns, 20 candidates"
    assert lines[1].split() == ["workers", "1", "10"]
    assert lines[2].split() == ["fits", "in", "growth", "5,000,000", "5,000,000"]


def test_a_file_is_planned_with_its_own_candidates(ppfs, table):
    done = ppfs("plan", table, "--target", "ill", "--test", "paper", "--splits", 5)
    assert done.exit_code == 0
    assert done.stdout.startswith("120 rows, 4 columns, about 1 candidates")
    done = ppfs("plan", table, "--target", "ill", "--test", "paper", "--splits", 5, "--candidates", 3)
    assert done.stdout.startswith("120 rows, 4 columns, 3 candidates")


def test_a_file_that_is_streamed_is_planned(ppfs, table):
    done = ppfs("plan", table, "-t", "ill", "--test", "paper", "--splits", 5, "--stream", "--quiet")
    assert done.exit_code == 0
    assert done.stdout.startswith("120 rows, 4 columns, about 1 candidates")
    assert done.stdout.splitlines()[2].split()[3] == "20"


def test_classes_and_text_of_a_table_that_is_not_there(ppfs):
    flags = ("--test", "paper", "--splits", 5, "--task", "classification", "--candidates", 4, "--workers", 2)
    done = ppfs("plan", "--rows", 200, "--columns", 10, "--classes", 5, "--text-columns", 5, *flags)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.startswith("200 rows, 10 columns, 4 candidates")


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--method", "iamb"], "--method"),
        (["--interactions", "pairs"], "--interactions"),
    ],
)
def test_what_cannot_be_planned_is_named(ppfs, table, flags, message):
    done = ppfs("plan", table, "-t", "ill", *flags)
    assert done.exit_code == 2
    assert "does not estimate the cost of" in done.stderr
    assert f"{message}. Leave it out." in done.stderr


def test_many_classes_are_announced_with_an_estimate(ppfs, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    frame["y"] = rng.integers(30, size=150)
    frame.to_csv(tmp_path / "many.csv", index=False)
    flags = ("--test", "paper", "--splits", 5, "--task", "classification", "--stratify", "no", "--quiet")
    monkeypatch.setattr("ppfs.cli._estimating._PATIENCE", 0.0)
    done = ppfs("select", tmp_path / "many.csv", "-t", "y", *flags)
    assert done.exit_code == 0, done.stderr
    (line,) = [line for line in done.stderr.splitlines() if "classes" in line]
    assert line.startswith("ppfs: warning: 'y' has 30 classes: the search is expected to take about ")
    assert "--task regression" in line
    monkeypatch.setattr("ppfs.cli._estimating._PATIENCE", 1e9)
    assert "classes" not in ppfs("select", tmp_path / "many.csv", "-t", "y", *flags).stderr


@pytest.mark.parametrize("arguments", [[], ["--rows", 100], ["--columns", 5]])
def test_half_a_table_is_refused(ppfs, arguments):
    done = ppfs("plan", *arguments)
    assert done.exit_code == 2
    assert "both --rows and --columns" in done.stderr


def test_a_plan_leaves_the_checkpoint_alone(ppfs, table, tmp_path):
    flags = ("--test", "paper", "--splits", 5, "--checkpoint", tmp_path / "run")
    assert ppfs("plan", table, "-t", "ill", *flags).exit_code == 0
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(("n_bytes", "n_columns"), [(8 * 100 * 60, 60), (8 * 100 * 40, 50), (10**9, 80)])
def test_of_a_large_file_as_many_columns_are_measured_as_memory_allows(
    tmp_path, monkeypatch, n_bytes, n_columns
):
    X = np.random.default_rng(0).normal(size=(100, 120))
    np.save(tmp_path / "X.npy", X)
    data = SimpleNamespace(
        X=tmp_path / "X.npy", names=[f"x{place}" for place in range(120)], target_values=lambda: range(100)
    )
    monkeypatch.setattr(_estimating, "_MOST_BYTES", n_bytes)
    monkeypatch.setattr(_estimating, "_MOST_COLUMNS", 80)
    some = _estimating._some_columns(data)
    assert some.shape == (100, n_columns)
    assert (some.columns[0], some.columns[-1]) == ("x0", "x119")
    np.testing.assert_array_equal(some["x119"], X[:, 119])
