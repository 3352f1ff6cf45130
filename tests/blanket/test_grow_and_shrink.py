"""Which steps a search of `PPFS` takes, with what, and in which order."""

from types import SimpleNamespace

import pytest
from checks.scripted import scripted

from ppfs import PPFS
from ppfs.blanket._run import grow_and_shrink as module
from ppfs.independence import CrossFitPPI, IndependenceResult


def answered(*columns, pvalue=0.01):
    return [(x, IndependenceResult(pvalue, 1.0, 1.0)) for x in columns]


@pytest.fixture
def steps(monkeypatch):
    """Replace all steps by ones that write down what they get."""
    taken = []
    answers = {
        "require_joint_growth": None,
        "is_worth_it": True,
        "bind_to_all": "bind to all",
        "bind_with": "bind with",
        "grow_jointly": answered(3, 4),
        "grow_marginally": answered(0, 3, pvalue=0.02),
        "grow_by_pairs": answered(1, 2),
        "least_important_first": [9, 8],
        "shrink": [0, 3],
        "shrink_until_stable": [0, 1],
        "shrink_jointly": [0, 1, 4],
        "look_again": [0, 1, 4, 5],
        "can_ask_together": True,
        "models_of_the_rest": "models",
        "add_from_the_rest": [0, 1, 4, 5, 6],
    }

    def replaced(name):
        def step(*given):
            taken.append((name, *given))
            return answers[name]

        return step

    for name in answers:
        monkeypatch.setattr(module, name, replaced(name))
    return SimpleNamespace(taken=taken, answers=answers)


def search(steps, **parameters):
    """Return the blanket, and the steps without what is the same in all."""
    test = CrossFitPPI()
    selector = PPFS(**{"second_look": False, "n_jobs": 3, "correction": "by", **parameters})
    selector._independence_test = lambda: test
    inquiry = scripted({}, 7, always_keep=(6,))
    found = selector._search(inquiry)
    same = {id(inquiry): "inquiry", id(test): "test", id(inquiry.test.table): "table"}
    told = []
    for name, *given in steps.taken:
        plain = [same.get(id(one), one) for one in given]
        told.append(
            (
                name,
                *(
                    one
                    if not isinstance(one, list) or not one or not isinstance(one[0], tuple)
                    else [x for x, _ in one]
                    for one in plain
                ),
            )
        )
    return found, told


COLUMNS = [0, 1, 2, 3, 4, 5]
MARGINAL = ("grow_marginally", "inquiry", COLUMNS, "by")
JOINT = [("bind_to_all", "test", "inquiry"), ("grow_jointly", "inquiry", COLUMNS, "by", "bind to all", 3)]
REQUIRED = ("require_joint_growth", "inquiry", "test")


def test_marginal_growth_and_one_pass(steps):
    assert search(steps, growth="marginal") == (
        [0, 3],
        [MARGINAL, ("least_important_first", [0, 3], "table"), ("shrink", "inquiry", [9, 8, 6])],
    )


def test_pairs_are_of_all_columns(steps):
    assert search(steps, growth="marginal", interactions="pairs")[1][:3] == [
        MARGINAL,
        ("grow_by_pairs", "inquiry", COLUMNS, [0, 3], "by", 3),
        ("least_important_first", [0, 3, 1, 2], "table"),
    ]


@pytest.mark.parametrize(("growth", "candidates"), [("joint", [3, 4]), ("both", [0, 3, 4])])
def test_what_grew_jointly_has_a_second_chance(steps, growth, candidates):
    found, told = search(steps, growth=growth)
    assert found == [0, 1, 4]
    assert told == [
        (*REQUIRED, growth),
        *JOINT,
        *([] if growth == "joint" else [MARGINAL]),
        ("least_important_first", candidates, "table"),
        ("shrink", "inquiry", [9, 8, 6]),
        ("shrink_jointly", "inquiry", [3, 4], [0, 3], "bind to all"),
    ]


def test_a_column_that_entered_alone_keeps_its_own_answer(steps):
    search(steps, growth="both")
    [(_, candidates, _)] = [step for step in steps.taken if step[0] == "least_important_first"]
    assert [(x, result.pvalue) for x, result in candidates] == [(0, 0.02), (3, 0.02), (4, 0.01)]


@pytest.mark.parametrize("is_worth_it", [True, False])
def test_automatic_growth_is_joint_too_where_it_is_worth_it(steps, is_worth_it):
    steps.answers["is_worth_it"] = is_worth_it
    told = search(steps, growth="auto")[1]
    assert told[:4] == [
        ("is_worth_it", "inquiry", "test"),
        *(JOINT if is_worth_it else []),
        MARGINAL,
        *(
            []
            if is_worth_it
            else [("least_important_first", [0, 3], "table"), ("shrink", "inquiry", [9, 8, 6])]
        ),
    ]


def test_nothing_found_jointly_is_not_asked_about_again(steps):
    steps.answers["grow_jointly"] = []
    assert "shrink_jointly" not in [name for name, *_ in search(steps, growth="joint")[1]]


def test_a_second_look_and_the_rest(steps):
    found, told = search(steps, growth="joint", second_look=True)
    assert found == [0, 1, 4, 5, 6]
    assert told[4:] == [
        ("shrink_until_stable", "inquiry", [9, 8, 6]),
        ("shrink_jointly", "inquiry", [3, 4], [0, 1], "bind to all"),
        ("look_again", "inquiry", [0, 1, 4], "by", [4], 3),
        ("can_ask_together", "inquiry", "test"),
        ("models_of_the_rest", "table"),
        ("bind_with", "test", "inquiry", "models"),
        ("add_from_the_rest", "inquiry", [0, 1, 4, 5], "bind with", 3),
    ]


def test_the_rest_is_left_where_it_cannot_be_asked_about(steps):
    steps.answers["can_ask_together"] = False
    found, told = search(steps, growth="marginal", second_look=True)
    assert found == [0, 1, 4, 5]
    assert told[-2:] == [
        ("look_again", "inquiry", [0, 1], "by", [], 3),
        ("can_ask_together", "inquiry", "test"),
    ]
