"""What an inquiry asks, about which variables, and what it writes into the trace."""

import numpy as np
import pytest
from checks.graphs import empty_table
from checks.scripted import ScriptedTest, scripted

from ppfs._conventions import watched_phases
from ppfs._trace import Step, Trace
from ppfs.blanket._steps.questions import Inquiry
from ppfs.independence import Answers, IndependenceResult

FULL = IndependenceResult(0.01, 2.0, 3.0, True, True, (0.1, 0.2), True, (0.3, 0.4), (0.5, 0.6))
SHORT = IndependenceResult(0.5, 4.0, 5.0, False, False, (0.7, 0.8))


@pytest.mark.parametrize(
    ("special", "expected"),
    [
        ({}, [0, 1, 2, 3, 4]),
        ({"always_keep": (1,), "condition_on": (3,), "withheld": (4, 0)}, [2]),
        ({"target": 2}, [0, 1, 3, 4, 5]),
        ({"target": 2, "always_keep": (0,), "withheld": (5, 2)}, [1, 3, 4]),
    ],
)
def test_candidates_are_all_variables_that_no_one_decided_about(special, expected):
    assert scripted({}, 5, **special).candidates == expected


def test_an_inquiry_about_another_variable_remembers_the_search():
    inquiry = scripted({}, 5, always_keep=(1,), condition_on=(3,), withheld=(0,))
    other = inquiry.about(2)
    assert (other.target, other.always_keep, other.condition_on, other.withheld) == (2, (), (3,), (0,))
    assert (other.asked_for, other.about(4).asked_for, other.about(4).target) == (5, 5, 4)
    assert (other.test, other.trace) == (inquiry.test, inquiry.trace)
    assert inquiry.without([4, 2]).withheld == (4, 2)
    assert inquiry.given([4, 2]) == (4, 2, 3)


@pytest.mark.parametrize(("fold", "label", "note"), [(0, "growth", "x"), (1, "fold 1 growth", "fold 1: x")])
def test_labels_and_notes_name_the_fold(fold, label, note):
    inquiry = scripted({}, 3, fold=fold)
    with watched_phases() as phases, inquiry.bar("growth", 7):
        pass
    assert [(phase.label, phase.total) for phase in phases] == [(label, 7)]
    inquiry.note("x")
    assert inquiry.trace.notes == [note]


def test_fits_and_answers_of_all_tests_are_counted_once():
    inquiry = scripted({}, 3)
    other = ScriptedTest(inquiry.test.table, {})
    inquiry.companions.extend([other, inquiry.test, other])
    inquiry.test.n_fits, other.n_fits = 2, 5
    inquiry.test.n_answers, other.n_answers = 30, 70
    assert (inquiry.n_fits, inquiry.n_answers) == (7, 100)
    with watched_phases() as phases, inquiry.bar("growth", 1) as bar:
        other.n_fits = 9
        bar.advance()
    assert phases[0].n_fits == 4


@pytest.mark.parametrize("special", [{}, {"condition_on": (3,)}])
def test_answers_are_gathered_in_the_order_of_the_questions(special):
    inquiry = scripted({(2,): 0.25, (0,): 0.5, (2, 3): 0.125, (0, 3): 0.375}, 4, **special)
    given = inquiry.given(())
    with watched_phases() as phases:
        answers = inquiry.gather([2, 0, 1], given, "order")
    assert answers.pvalues.tolist() == ([0.125, 0.375, 1.0] if given else [0.25, 0.5, 1.0])
    assert answers.statistics.tolist() == [2.0, 2.0, 2.0]
    assert [(phase.label, phase.total, phase.marks[-1].n_done) for phase in phases] == [("order", 3, 3)]
    with watched_phases() as phases:
        asked = inquiry.ask([1, 2], (0,), "shrink")
    assert [(x, answer.pvalue) for x, answer in asked] == [(1, 1.0), (2, 1.0)]
    assert [(phase.label, [mark.n_done for mark in phase.marks]) for phase in phases] == [
        ("shrink", [1, 2, 2])
    ]


def test_answers_given_nothing_come_in_blocks():
    inquiry = scripted(lambda x, target, others: x / 1000, 150)
    with watched_phases() as phases:
        answers = inquiry.gather(list(range(149, -1, -1)), (), "growth")
    assert answers.pvalues.tolist() == [x / 1000 for x in range(149, -1, -1)]
    assert [mark.n_done for mark in phases[0].marks] == [64, 128, 150, 150]
    assert phases[0].total == 150


def inquiry_of_a_panel(**special):
    table = empty_table(5)
    return Inquiry(
        ScriptedTest(table, {}, models=("a", "b")), alpha=0.05, trace=Trace(table.names), target=4, **special
    )


@pytest.mark.parametrize("asked_for", [None, 4, 2])
def test_a_step_holds_the_whole_answer(asked_for):
    inquiry = inquiry_of_a_panel(fold=2, asked_for=asked_for, withheld=(3,))
    aside = 4 if asked_for == 2 else None
    inquiry.record("growth", 1, (0, 2), FULL, "added", 0.04)
    inquiry.record("shrink", 0, (), SHORT, "dropped")
    assert list(inquiry.trace) == [
        Step(2, "growth", 1, (0, 2), 0.01, 2.0, 3.0, 0.04, "added", True, aside, (3,), (0.1, 0.2), True, (0.3, 0.4),
             (0.5, 0.6)),
        Step(2, "shrink", 0, (), 0.5, 4.0, 5.0, 0.5, "dropped", False, aside, (3,), (0.7, 0.8)),
    ]  # fmt: skip


@pytest.mark.parametrize("asked_for", [None, 4, 2])
def test_a_batch_of_steps_holds_the_whole_answers(asked_for):
    inquiry = inquiry_of_a_panel(fold=2, asked_for=asked_for, withheld=(3,))
    aside = 4 if asked_for == 2 else None
    answers = Answers.of([FULL, SHORT], 2)
    inquiry.record_all("growth", [1, 0], (2,), answers, np.array([True, False]), np.array([0.04, 0.9]))
    inquiry.record_all("order", [1, 0], (2,), answers, np.array([False, True]))
    full = ((0.1, 0.2), True, (0.3, 0.4), (0.5, 0.6))
    assert list(inquiry.trace) == [
        Step(2, "growth", 1, (2,), 0.01, 2.0, 3.0, 0.04, "candidate", True, aside, (3,), *full),
        Step(2, "growth", 0, (2,), 0.5, 4.0, 5.0, 0.9, "rejected", False, aside, (3,), (0.7, 0.8)),
        Step(2, "order", 1, (2,), 0.01, 2.0, 3.0, 0.01, "rejected", True, aside, (3,), *full),
        Step(2, "order", 0, (2,), 0.5, 4.0, 5.0, 0.5, "candidate", False, aside, (3,), (0.7, 0.8)),
    ]


def test_tests_without_models_have_batches_without_their_answers():
    inquiry = scripted({}, 3)
    inquiry.record_all("growth", [1], (), Answers.of([SHORT], 2), np.array([True]))
    assert list(inquiry.trace) == [Step(0, "growth", 1, (), 0.5, 4.0, 5.0, 0.5, "candidate", False)]
