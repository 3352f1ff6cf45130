"""The recording of answers: enough cases, exact comparison, a list of intended changes."""

import math

import pytest


@pytest.fixture(scope="module")
def cases(script):
    return script("answers/cases.py")


@pytest.fixture(scope="module")
def record(script):
    return script("answers/record.py")


@pytest.fixture(scope="module")
def compare(script):
    return script("answers/compare.py")


def test_there_are_hundreds_of_cases_and_every_search_has_some(cases):
    names = [case.name for case in cases.all_cases()]
    assert len(names) >= 200
    for search in cases.SEARCHES:
        assert sum(f"/{search.__name__}" in name for name in names) >= 6


def test_a_fit_is_recorded_alike_twice(cases, record):
    case = next(case for case in cases.all_cases() if case.name == "search-folds/IAMB")
    first = record.record_case(case)
    assert first == record.record_case(case)
    assert first["trace.pvalue"] != first["trace.effect"]
    assert {"blanket", "pvalues", "importances", "n_tests", "fold 1"} <= set(first)


def test_an_error_is_an_answer(cases, record):
    case = cases.Case("wrong", lambda: cases.IAMB(alpha=2), cases.samples.codes)
    assert record.record_case(case) == {"error": "InvalidParameterError"}


def test_differences_are_bit_for_bit(compare):
    before = {"a": {"pvalues": [0.1, math.nan], "blanket": [1]}, "gone": {}, "zero": {"effect": 0.0}}
    after = {
        "a": {"pvalues": [0.1 + 2.0**-56, math.nan], "blanket": [1]},
        "zero": {"effect": -0.0},
        "new": {},
    }
    found = [(difference.case, difference.field) for difference in compare.differences(before, after)]
    assert found == [("a", "pvalues"), ("gone", "case"), ("zero", "effect"), ("new", "case")]
    assert not list(compare.differences(before, before))


def test_intended_changes_need_a_reason_and_cover_nothing_else(compare, tmp_path, capsys):
    path = tmp_path / "expected.toml"
    path.write_text('[[change]]\ncases = ["a/*"]\nfields = "pvalues"\nreason = "a better factor"\n')
    found = [compare.Difference("a/1", field, 0, 1) for field in ("pvalues", "blanket")]
    assert compare.report(found, compare.read_changes(path)) == 1
    printed = capsys.readouterr().out
    assert "expected, 1 fields: a better factor" in printed
    assert "a/1: blanket" in printed


def test_a_change_of_the_last_digits_may_be_no_larger(compare):
    change = compare.Change(("a",), ("*",), "another order of adding", within=1e-9)
    for after, is_covered in [([0.5 + 1e-12, 2.0], True), ([0.5 + 1e-6, 2.0], False), ([0.5], False)]:
        assert change.covers(compare.Difference("a", "pvalues", [0.5, 2.0], after)) is is_covered
    assert not change.covers(compare.Difference("a", "blanket", [1], [2]))
    assert change.covers(compare.Difference("a", "trace.pvalue", "8148", "d50e"))


def test_the_projects_list_of_changes_can_be_read(compare):
    assert all(change.reason for change in compare.read_changes(compare.EXPECTED))
