"""A small part of the soak run: random fits end in an answer that the slow path confirms, or in an error of ours."""

import re

import pytest


@pytest.fixture(scope="module")
def soak(script):
    return script("soak/soak.py")


@pytest.mark.parametrize("first", range(0, 40, 10))
@pytest.mark.filterwarnings("default")
def test_random_fits_are_confirmed_or_refused(soak, first):
    records = [soak.outcome_of(number) for number in range(first, first + 10)]
    assert [record for record in records if record["end"] not in soak.ENDS] == []


def test_the_same_number_draws_the_same_fit(soak):
    assert soak.outcome_of(5) == soak.outcome_of(5)


def test_every_fault_is_drawn_in_a_thousand_fits(soak):
    drawn = {soak.case(number).fault for number in range(1000)}
    assert drawn == {"", *soak.FAULTS}


def test_the_page_names_tests_that_are_there(soak):
    page = (soak.ROOT / "docs/reliability.md").read_text()
    named = set(re.findall(r"tests/[a-z_/]+\.py", page))
    assert len(named) >= 10
    assert [name for name in sorted(named) if "def test_" not in (soak.ROOT / name).read_text()] == []
