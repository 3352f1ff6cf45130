"""Warnings about columns on the terminal: a line each, or one for many of a kind."""

import pytest

from ppfs.cli.output.column_warnings import warning_lines


def warnings(n, kind="dates"):
    return [
        {"column": f"x{i}", "kind": kind, "finding": f"'x{i}' is odd.", "flag": f"Drop x{i}."}
        for i in range(n)
    ]


@pytest.mark.parametrize("n", [1, 3])
def test_few_warnings_of_a_kind_have_a_line_each(n):
    assert warning_lines(warnings(n)) == [f"'x{i}' is odd. Drop x{i}." for i in range(n)]


def test_many_warnings_of_a_kind_share_a_line():
    (line,) = warning_lines(warnings(4))
    assert line.startswith("4 columns are text that holds dates: 'x0'")
    assert line.endswith("See --drop; --format json lists them all.")
    assert len(warning_lines(warnings(4) + warnings(2, "leakage"))) == 3
