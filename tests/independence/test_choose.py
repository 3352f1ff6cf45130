"""Which test "auto" chooses, and tests by name."""

import numpy as np
import pytest

from ppfs._data.reading import read_table
from ppfs.independence import Automatic, FisherZ, GSquared, LikelihoodRatio
from ppfs.independence._choose import TESTS_BY_NAME

rng = np.random.default_rng(0)
CODES, NUMBERS = rng.integers(0, 3, (50, 2)).astype(float), rng.normal(size=(50, 2))


def choice(X, y):
    return Automatic().choose(read_table(X, y, task="auto", owner="test"))


@pytest.mark.parametrize(
    ("X", "y", "expected"),
    [
        (CODES, CODES[:, 0], GSquared),
        (CODES, np.array(list("ab"))[CODES[:, 0].astype(int) % 2], GSquared),
        (NUMBERS, NUMBERS[:, 0], FisherZ),
        (np.column_stack([CODES, NUMBERS]), NUMBERS[:, 0], LikelihoodRatio),
        (CODES, NUMBERS[:, 0], LikelihoodRatio),
        (NUMBERS, CODES[:, 0], LikelihoodRatio),
    ],
    ids=["codes", "labels", "numbers", "both", "codes and number", "numbers and labels"],
)
def test_choice_follows_the_kinds_of_the_columns(X, y, expected):
    assert isinstance(choice(X, y).test, expected)


def test_constant_columns_have_no_say():
    assert isinstance(choice(np.column_stack([NUMBERS, np.ones(50)]), NUMBERS[:, 0]).test, FisherZ)
    assert isinstance(choice(np.column_stack([CODES, np.full(50, 0.3)]), CODES[:, 0]).test, GSquared)


def test_reason_counts_the_kinds():
    reason = choice(np.column_stack([CODES, NUMBERS]), NUMBERS[:, 0]).reason
    assert reason == "LikelihoodRatio, because 2 of 4 columns are categorical and the target is continuous"


def test_automatic_answers_as_the_chosen_test():
    assert Automatic().evaluate(NUMBERS, NUMBERS[:, 0], 1) == FisherZ().evaluate(NUMBERS, NUMBERS[:, 0], 1)


def test_every_name_makes_a_test():
    assert set(TESTS_BY_NAME) == {
        "auto",
        "g2",
        "chi2",
        "fisher-z",
        "partial-t",
        "likelihood-ratio",
        "ppi",
        "cross-fit-ppi",
    }
    for make in TESTS_BY_NAME.values():
        make()._validate_params()
