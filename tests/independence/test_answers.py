"""Answers as objects and as arrays, and what a bound test remembers of them."""

from hashlib import blake2b

import numpy as np
import pytest

from ppfs.independence import Answers, CountedRearrangements, IndependenceResult, KnownAnswers, Rearrangements
from ppfs.independence._answers import CANNOT_TELL, INDEPENDENT
from ppfs.independence._known_answers import fingerprint

FULL = IndependenceResult(0.01, 2.0, 3.0, True, True, (0.1, 0.2), True, (0.3, 0.4), (0.5, 0.6))
SHORT = IndependenceResult(0.25, 4.0, -5.0, False, False, (0.7, 0.8))
PLAIN = IndependenceResult(0.5, 1.0, 0.0)


@pytest.mark.parametrize(
    ("pvalue", "is_reliable", "is_dependent", "is_independent"),
    [
        (0.05, True, True, False),
        (0.0500001, True, False, True),
        (1.0, False, False, False),
        (0.0, True, True, False),
    ],
)
def test_independence_is_rejected_at_the_level(pvalue, is_reliable, is_dependent, is_independent):
    result = IndependenceResult(pvalue, 1.0, 1.0, is_reliable)
    assert (result.is_dependent(0.05), result.is_independent(0.05)) == (is_dependent, is_independent)


def test_the_two_answers_without_a_test():
    assert IndependenceResult(1.0, 0.0, 0.0, True, False, (), False, (), ()) == INDEPENDENT
    assert IndependenceResult(1.0, 0.0, 0.0, False, False, (), False, (), ()) == CANNOT_TELL


def test_arrays_hold_whole_answers():
    answers = Answers.of([FULL, SHORT], 2)
    assert (list(answers), len(answers)) == ([FULL, SHORT], 2)
    assert [type(value) for value in (answers[0].pvalue, answers[0].is_reliable)] == [float, bool]
    assert list(Answers.of([PLAIN, INDEPENDENT, CANNOT_TELL])) == [PLAIN, INDEPENDENT, CANNOT_TELL]
    # An answer of no model stands beside those of a panel.
    assert np.isnan(Answers.of([PLAIN], 2)[0].model_pvalues).all()
    answers[0] = PLAIN
    assert np.isnan(answers.model_pvalues[0]).all()
    assert (answers[0].explained, answers[0].root_effect) == ((), ())
    assert answers[1] == SHORT


def test_answers_to_be_overwritten_are_independent():
    empty = Answers.independent(3, 2)
    assert {name: (array.shape, array.dtype.kind) for name, array in empty.arrays().items()} == {
        "pvalues": ((3,), "f"), "statistics": ((3,), "f"), "effects": ((3,), "f"), "is_reliable": ((3,), "b"),
        "is_inert": ((3,), "b"), "model_pvalues": ((3, 2), "f"), "may_be_too_small": ((3,), "b"),
        "explained": ((3, 2), "f"), "root_effects": ((3, 2), "f"),
    }  # fmt: skip
    one = Answers.independent(1)[0]
    assert one == INDEPENDENT
    assert Answers.independent(2).model_pvalues.shape == (2, 0)


@pytest.mark.parametrize("places", [[1, 2, 3], [3, 1, 2], [2], [], [0, 2], [3, 4], [2, 1]])
def test_some_answers_are_taken_and_put(places):
    results = [
        IndependenceResult(
            i / 10, float(i), -i / 2, i % 2 == 0, i % 3 == 0, (i / 9,), i > 2, (i / 8, i / 7), (i / 6, 0.5)
        )
        for i in range(5)
    ]
    answers = Answers.of(results, 1)
    places = np.array(places, dtype=np.intp)
    taken = answers.take(places)
    assert list(taken) == [results[i] for i in places]
    target = Answers.independent(5, 1)
    target.put(places, taken)
    before = Answers.independent(5, 1)
    for i in range(5):
        expected = results[i] if i in places else before[i]
        assert repr(target[i]) == repr(expected)
    # Copies, not views.
    taken.pvalues[:] = -1.0
    assert (answers.pvalues >= 0).all()


def test_arrays_by_name_and_back():
    answers = Answers.of([FULL, SHORT], 2)
    again = Answers.from_arrays({**answers.arrays(), "more": np.zeros(2)})
    assert list(again) == [FULL, SHORT]


def test_a_fingerprint_is_the_same_in_every_process():
    assert fingerprint(259) == int.from_bytes(blake2b(b"\x03\x01" + bytes(6), digest_size=16).digest())
    assert fingerprint(3) == fingerprint(np.int64(3))
    assert len({fingerprint(x) for x in range(1000)}) == 1000
    assert fingerprint.cache_info().maxsize == 2**16


def known_answers():
    known = KnownAnswers(5)
    known[4, fingerprint(1), 1] = PLAIN
    known[4, fingerprint(1) + fingerprint(2), 1] = INDEPENDENT
    known[3, fingerprint(1) + fingerprint(2), 2] = CANNOT_TELL
    return known


def test_marginal_and_conditional_answers_are_told_apart():
    known = known_answers()
    assert len(known) == 3
    asked = [
        (4, fingerprint(1), 1),
        (4, fingerprint(1) + fingerprint(2), 1),
        (3, fingerprint(1) + fingerprint(2), 2),
    ]
    assert [known[question] for question in asked] == [PLAIN, INDEPENDENT, CANNOT_TELL]
    assert [known.get(question) for question in asked] == [PLAIN, INDEPENDENT, CANNOT_TELL]
    assert all(question in known for question in asked)
    others = [
        (3, fingerprint(1), 1),
        (4, fingerprint(2), 2),
        (4, fingerprint(1) + fingerprint(2), 2),
        (4, 7, 1),
    ]
    assert [known.get(question) for question in others] == [None] * 4
    assert not any(question in known for question in others)
    assert known.marginal(4, 0)[0].tolist() == [False, True, False, False, False]
    is_known, answers = known.marginal(2, 3)
    assert is_known.tolist() == [False] * 5
    assert (len(answers), answers.model_pvalues.shape) == (5, (5, 3))
    assert known.marginal(2, 3)[1] is answers


def test_blocks_of_answers_are_added():
    known = KnownAnswers(5)
    known.add_marginal(4, np.array([3, 1]), Answers.of([FULL, SHORT], 2))
    assert (known[4, fingerprint(3), 3], known[4, fingerprint(1), 1]) == (FULL, SHORT)
    assert len(known) == 2
    known[4, fingerprint(0), 0] = FULL
    assert known[4, fingerprint(0), 0] == FULL


def rearranged(*xs):
    return CountedRearrangements(Rearrangements(4, xs, 0, 64, 0.1), np.zeros(len(xs), dtype=np.intp), 0)


def test_answers_about_some_variables_are_forgotten():
    known = known_answers()
    counts = {one.draws: one for one in (rearranged(1, 2), rearranged(0), rearranged(2, 3))}
    known.counts.update(counts)
    known.forget(())
    assert (len(known), len(known.counts)) == (3, 3)
    known.forget({1})
    assert len(known) == 1
    assert known.get((4, fingerprint(1), 1)) is None
    assert (3, fingerprint(1) + fingerprint(2), 2) in known
    assert [draws.xs for draws in known.counts] == [(0,), (2, 3)]
    known.forget([2, 0])
    assert (len(known), known.counts) == (0, {})


def test_answers_of_another_test_are_added():
    known, other = KnownAnswers(5), known_answers()
    known[4, fingerprint(1) + fingerprint(2), 1] = PLAIN
    known[4, fingerprint(0), 0] = CANNOT_TELL
    counted = rearranged(1)
    other.counts[counted.draws] = counted
    known.update(other)
    assert len(known) == 4
    assert known[4, fingerprint(1) + fingerprint(2), 1] == INDEPENDENT
    assert (known[4, fingerprint(0), 0], known[4, fingerprint(1), 1]) == (CANNOT_TELL, PLAIN)
    assert known.counts == {counted.draws: counted}
