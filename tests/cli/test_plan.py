"""What a search would cost is told before it runs."""

import pytest


def test_a_table_that_is_not_there_is_planned(ppfs):
    flags = ("--test", "paper", "--splits", 5, "--estimator", "sklearn.linear_model:LinearRegression")
    done = ppfs("plan", "--rows", 500, "--columns", 1_000_000, "--workers", 10, *flags)
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert lines[0] == "500 rows, 1,000,000 columns, 20 candidates"
    assert lines[1].split() == ["workers", "1", "10"]
    assert lines[2].split() == ["fits", "in", "growth", "5,000,000", "5,000,000"]


def test_a_file_is_planned(ppfs, table):
    done = ppfs("plan", table, "--target", "ill", "--test", "paper", "--splits", 5)
    assert done.exit_code == 0
    assert done.stdout.startswith("120 rows, 4 columns, 4 candidates")


@pytest.mark.parametrize("arguments", [[], ["--rows", 100], ["--columns", 5]])
def test_half_a_table_is_refused(ppfs, arguments):
    done = ppfs("plan", *arguments)
    assert done.exit_code == 2
    assert "both --rows and --columns" in done.stderr
