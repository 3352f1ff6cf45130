"""What every bound test does: it answers lazily, in order, keeps each answer, and asks nothing twice."""

from hashlib import blake2b

import numpy as np
import pytest
from checks.graphs import empty_table
from checks.scripted import ScriptedTest

from ppfs._data.reading import read_table
from ppfs.exceptions import InvalidInputError
from ppfs.independence import (
    Answers,
    Binding,
    BoundTest,
    CountedRearrangements,
    FisherZ,
    IndependenceResult,
    KnownAnswers,
    Rearrangements,
)
from ppfs.independence._answers import INDEPENDENT
from ppfs.independence._bound import growing_batches
from ppfs.independence._classical.batched import BatchedTest
from ppfs.independence._known_answers import fingerprint
from ppfs.independence._removal import gone_from


def by_columns(x, target, others):
    """Return an answer that no other question has."""
    return (1 + x + 10 * sum(2**z for z in others)) / 10_000


class Heard:
    """A listener that writes down what it receives."""

    def __init__(self):
        self.blocks, self.answers, self.counts = [], [], []

    def block(self, target, variables, answers):
        self.blocks.append((target, variables.tolist(), answers.pvalues.tolist()))

    def answer(self, question, result):
        self.answers.append((question, result.pvalue))

    def counted(self, counted):
        self.counts.append(counted)


class Listened(ScriptedTest):
    def __init__(self, table, script, listener=None, known=None):
        super().__init__(table, script)
        BoundTest.__init__(self, table, Binding(listener=listener, known=known))


def test_members_are_asked_about_given_the_rest():
    bound = ScriptedTest(empty_table(6), by_columns)
    answers = bound.query_many([2, 0, 3], 5, [0, 1, 2])
    assert bound.asked == [(2, 0, 1), (0, 1, 2), (3, 0, 1, 2)]
    assert [result.pvalue for result in answers] == [by_columns(x, 5, {0, 1, 2} - {x}) for x in (2, 0, 3)]
    # "x given A" and "x given A and x" are one question.
    assert bound.query(2, 5, (0, 1)) == answers[0]
    assert bound.query(3, 5, [2, 1, 0]) == answers[2]
    assert (len(bound.asked), bound.n_answers) == (3, 3)
    assert bound.query(2, 4, (0, 1)).pvalue == answers[0].pvalue
    assert (len(bound.asked), bound.n_answers) == (4, 4)


def test_answers_are_lazy_and_belong_to_their_own_question():
    bound = ScriptedTest(empty_table(8), by_columns)
    stream = bound.answers([1, 2, 3, 2, 4], 7, [0, 5])
    assert next(stream).pvalue == by_columns(1, 7, {0, 5})
    assert len(bound.asked) == 1
    # Meanwhile one of the later questions is asked.
    assert bound.query(3, 7, [0, 5]).pvalue == by_columns(3, 7, {0, 5})
    assert [result.pvalue for result in stream] == [by_columns(x, 7, {0, 5}) for x in (2, 3, 2, 4)]
    assert bound.n_answers == 4


def test_known_answers_are_not_asked_again():
    known = KnownAnswers(6)
    first = Listened(empty_table(6), by_columns, known=known)
    first.query_many([1, 2, 3], 5, [0, 1, 2])
    listener = Heard()
    second = Listened(empty_table(6), by_columns, listener, known)
    assert [one.pvalue for one in second.query_many([1, 2, 3, 4], 5, [0, 1, 2])] == [
        by_columns(x, 5, {0, 1, 2} - {x}) for x in (1, 2, 3, 4)
    ]
    assert second.asked == [(4, 0, 1, 2)]
    question = (5, sum(map(fingerprint, (0, 1, 2, 4))), 4)
    assert listener.answers == [(question, by_columns(4, 5, {0, 1, 2}))]
    assert second.n_answers == 1
    assert second.known is known


def test_a_set_that_was_asked_about_is_looked_up():
    """Of a new set all questions are new; of one that was asked about before, some answers are known."""
    bound = ScriptedTest(empty_table(6), by_columns)
    stream = bound.answers([2, 1, 0], 5, [0, 1, 2])
    next(stream)
    next(stream)
    assert [one.pvalue for one in bound.answers([2, 1, 0], 5, [0, 1, 2])] == [
        by_columns(x, 5, {0, 1, 2} - {x}) for x in (2, 1, 0)
    ]
    assert sorted(bound.asked) == [(0, 1, 2), (1, 0, 2), (2, 0, 1)]
    assert bound.n_answers == 3
    # One member given itself alone is asked about given nothing.
    assert bound.query(1, 5, [1]).pvalue == by_columns(1, 5, set())
    assert bound.query(1, 5).pvalue == by_columns(1, 5, set())
    assert bound.asked.count((1,)) == 1


def test_answers_in_between_are_not_computed_twice():
    bound = ScriptedTest(empty_table(7), by_columns)
    # The set is known, and the answer in the middle.
    bound.query(1, 6, [0, 1, 2])
    bound.query_many([0, 1, 2], 6, [0, 1, 2])
    assert bound.asked == [(1, 0, 2), (0, 1, 2), (2, 0, 1)]
    # The set is new, and a column outside it was asked about as a member of another one.
    bound.query(4, 6, [0, 3, 4])
    bound.query_many([0, 3, 4, 5], 6, [0, 3])
    assert bound.asked[3:] == [(4, 0, 3), (0, 3), (3, 0), (5, 0, 3)]
    # The first answer of a new set is that of an earlier run, and so is the third.
    known = KnownAnswers(7)
    Listened(empty_table(7), by_columns, known=known).query_many([0, 2], 6, [0, 1, 2])
    again = Listened(empty_table(7), by_columns, known=known)
    again.query_many([0, 1, 2], 6, [0, 1, 2])
    assert again.asked == [(1, 0, 2)]


def test_counts_are_kept_and_passed_on():
    counted = CountedRearrangements(Rearrangements(3, (1,), 0, 64, 0.5), np.array([2]), 1)
    listener = Heard()
    for bound in (Listened(empty_table(4), {}, listener), Listened(empty_table(4), {})):
        bound._remember_count(counted)
        assert bound.known.counts == {counted.draws: counted}
    assert listener.counts == [counted]


def test_sets_are_followed_as_members_come_and_go():
    bound = ScriptedTest(empty_table(9), by_columns)
    for given in (
        [0, 1, 2, 3],
        [0, 1, 3],
        [0, 1, 3],
        [1, 3],
        [3, 1],
        [3, 1, 5],
        [5],
        [5, 5],
        [6, 7],
        [0, 1, 2, 3],
    ):
        assert bound.query(4, 8, given).pvalue == by_columns(4, 8, set(given))
        inside, total = bound._with_fingerprint(given)
        assert inside == set(given)
        assert total == sum(map(fingerprint, set(given)))
    bound._with_fingerprint([4, 2, 6, 1])
    before = bound._last_given[1]
    after, _ = bound._with_fingerprint((4, 1))
    removal = bound._last_removal
    assert removal.before is before
    assert removal.after is after
    assert removal.gone == {2, 6}


@pytest.mark.parametrize(
    ("before", "after", "gone"),
    [
        ((5, 3, 8, 1), (5, 1), (3, 8)),
        ((5, 3, 8, 1), (3, 8, 1), (5,)),
        ((5, 3, 8, 1), (5, 3, 8), (1,)),
        ((5, 3), (), (5, 3)),
        ((5, 3), (5, 3), None),
        ((5, 3), (3, 5), None),
        ((5,), (5, 3), None),
        ((5, 3, 8, 1), (3, 1), None),
        ((5, 3, 8, 1), (5, 8), None),
        ((5, 5, 3), (5, 3), (5,)),
    ],
)
def test_neighbors_that_went_are_found(before, after, gone):
    assert gone_from(before, after) == gone


def test_questions_given_nothing_are_answered_in_blocks():
    listener = Heard()
    bound = Listened(empty_table(201), lambda x, target, others: x / 1000, listener)
    stream = bound.marginal_answers(list(range(150)), 200)
    variables, answers = next(stream)
    assert variables.tolist() == list(range(64))
    assert answers.pvalues[63] == 0.063
    assert (len(bound.asked), bound.n_answers) == (64, 64)
    # In the meantime another one is asked about.
    assert bound.query(100, 200).pvalue == 0.1
    rest = [variables.tolist() for variables, _ in stream]
    assert rest == [list(range(64, 128)), list(range(128, 150))]
    assert bound.n_answers == 150
    assert [block[1] for block in listener.blocks] == [
        [*range(64)],
        [100],
        [*range(64, 128)],
        [*range(128, 150)],
    ]
    assert listener.blocks[1] == (200, [100], [0.1])
    assert listener.answers == []


def test_known_answers_given_nothing_come_between_the_new_ones():
    bound = ScriptedTest(empty_table(11), lambda x, target, others: x / 1000)
    bound.query_many([2, 5], 10)
    asked = [5, 1, 2, 1, 9, 5, 7]
    assert [one.pvalue for one in bound.query_many(asked, 10)] == [x / 1000 for x in asked]
    assert bound.asked == [(2,), (5,), (1,), (9,), (7,)]
    assert [variables.tolist() for variables, _ in bound.marginal_answers(asked, 10)] == [asked]
    assert [variables.tolist() for variables, _ in bound.marginal_answers([], 10)] == []
    assert bound.n_answers == 5


class Blocks(BoundTest):
    """Answers in blocks of its own."""

    def __init__(self, table, blocks, listener=None):
        super().__init__(table, Binding(listener=listener))
        self.sizes = blocks

    def _answers(self, xs, target, given):
        raise AssertionError

    def _marginal_blocks(self, xs, target):
        start = 0
        for size in self.sizes:
            some = xs[start : start + size]
            yield some, Answers.of([IndependenceResult(x / 1000, 0.0, 0.0) for x in some.tolist()])
            start += size


@pytest.mark.parametrize(
    ("known", "sizes", "parts"),
    [
        ([], [4, 4], [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ([], [4, 0, 4], [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ([], [1, 7], [[0], [1, 2, 3, 4, 5, 6, 7]]),
        # Known answers are passed on with the block before them.
        ([4, 5], [4, 2], [[0, 1, 2, 3, 4, 5], [6, 7]]),
        ([0], [2, 5], [[0, 1, 2], [3, 4, 5, 6, 7]]),
        ([6, 7], [4, 2], [[0, 1, 2, 3], [4, 5, 6, 7]]),
        ([0, 2, 4, 6], [1, 1, 1, 1], [[0, 1, 2], [3, 4], [5, 6], [7]]),
        (list(range(8)), [], [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ],
)
def test_blocks_are_passed_on_with_what_is_known(known, sizes, parts):
    bound = Blocks(empty_table(9), sizes)
    is_known, answers = bound.known.marginal(8, 0)
    is_known[known] = True
    answers.pvalues[known] = np.array(known) / 1000
    found = [
        (variables.tolist(), answers.take(variables).pvalues.tolist())
        for variables, answers in bound.marginal_answers(range(8), 8)
    ]
    assert [variables for variables, _ in found] == parts
    assert all(pvalues == [x / 1000 for x in variables] for variables, pvalues in found)
    assert bound.n_answers == 8 - len(known)


def test_answers_before_a_failure_are_kept():
    def script(x, target, others):
        if x == 70:
            raise RuntimeError("x")
        return x / 1000

    listener = Heard()
    bound = Listened(empty_table(101), script, listener)
    with pytest.raises(RuntimeError):
        bound.query_many(range(100), 100)
    assert bound.n_answers == 70
    assert [len(block[1]) for block in listener.blocks] == [64, 6]
    assert bound.query(69, 100).pvalue == 0.069
    assert len(bound.asked) == 71


def test_failures_are_no_answers_for_a_listener():
    listener = Heard()
    bound = Listened(empty_table(5), by_columns, listener)
    bound.failures[1] = "broken"
    bound.query_many([0, 1, 2], 4)
    bound.query_many([1, 2], 4, [3])
    assert listener.blocks == [(4, [0, 2], [by_columns(x, 4, set()) for x in (0, 2)])]
    assert [question[2] for question, _ in listener.answers] == [2]


@pytest.mark.parametrize("given", [(), (3,)])
@pytest.mark.parametrize(
    ("pvalue", "effect", "is_fine"),
    [
        (0.0, 0.0, True), (1.0, -1e300, True), (-1e-9, 0.0, False), (1.0000001, 0.0, False), (np.nan, 0.0, False),
        (0.5, np.inf, False), (0.5, np.nan, False),
    ],
)  # fmt: skip
def test_no_decision_rests_on_what_is_no_number(pvalue, effect, is_fine, given):
    bound = ScriptedTest(empty_table(5), lambda x, target, others: IndependenceResult(pvalue, 0.0, effect))
    for x, name in ((2, "'x2'"), (4, "the target")):
        if is_fine:
            assert bound.query(x, 0, given).pvalue == pvalue
            continue
        with pytest.raises(InvalidInputError) as raised:
            bound.query(x, 0, given)
        assert str(raised.value) == (
            f"ScriptedTest returned the p-value {pvalue} and the effect {effect} for {name}, and no decision can rest "
            "on them. Values of the column, of the columns it is tested given or of the target are too large for sums "
            "of squares in 64 bits: rescale them."
        )


def test_the_first_wrong_answer_of_a_block_is_named():
    bound = ScriptedTest(
        empty_table(5), lambda x, target, others: IndependenceResult(0.5 if x == 1 else 2.0 + x, 0.0, 0.0)
    )
    with pytest.raises(InvalidInputError, match=r"the p-value 5.0 and the effect 0.0 for 'x3'"):
        bound.query_many([1, 3, 2], 4)


def test_a_test_of_other_features_has_keys_of_its_own():
    table = empty_table(5)
    bound = ScriptedTest(table, by_columns)
    groups = table.regrouped([(0, 1), (2, 3)])
    binding = bound.binding_for(groups)
    assert binding.known is bound.known
    assert binding.salt == int.from_bytes(blake2b(repr(groups.columns).encode(), digest_size=16).digest())
    other = Listened(groups, by_columns)
    BoundTest.__init__(other, groups, binding)
    assert other.query(0, 2, [1]).pvalue == by_columns(0, 2, {1})
    assert bound.query(0, 2, [1]).pvalue == by_columns(0, 2, {1})
    assert (other.n_answers, bound.n_answers, len(bound.known)) == (1, 1, 2)
    assert (2, binding.salt + fingerprint(0) + fingerprint(1), 0) in bound.known


def test_defaults_of_the_protocol():
    bound = ScriptedTest(empty_table(3), {})
    assert (bound.smallest_pvalue, bound.notes(), bound.exact_tail(2), bound.n_fits) == (0.0, [], None, 0)
    assert bound.has_rows_for(2, [0, 1]) is True
    assert (bound.failures, bound.models, bound.bind_beside) == ({}, (), None)
    assert Binding() == Binding(0, None, None, "raise", None, None, 0)
    assert len(bound.known) == 0


def shared_columns():
    X = np.random.default_rng(0).normal(size=(20, 4))
    groups = {"a": [0, 1], "b": [1, 2], "c": [1], "d": [3]}
    return read_table(X, X.sum(axis=1), task="regression", owner=FisherZ(), feature_groups=groups)


def test_features_that_share_columns_are_asked_about_by_their_own():
    table = shared_columns()
    a, b, c, d = (table.names.index(name) for name in "abcd")
    tables = []

    def beside(other):
        tables.append(other)
        all_others = set(range(1, other.n_features))
        made = ScriptedTest(other, lambda x, target, others: 0.125 if (x, others) == (0, all_others) else 0.9)
        made.n_fits = 3
        return made

    bound = ScriptedTest(table, lambda x, target, others: 0.5)
    bound.bind_beside = beside
    assert [one.pvalue for one in bound.query_many([d, a, c], 4, [b])] == [0.5, 0.125, 1.0]
    assert [one.pvalue for one in bound.query_many([c, d], 4, [a])] == [1.0, 0.5]
    assert (tables[0].columns[0], set(tables[0].columns)) == ((0,), {(0,), (1, 2)})
    assert bound._n_fits_apart == 3
    assert bound.asked == [(d, b), (d, a)]
    # What consists of given columns adds nothing; nor is anything known about a feature as the target.
    assert bound.query(c, 4, [b]) == INDEPENDENT
    assert bound.query(a, d, [b]) == INDEPENDENT
    assert bound.query(a, 4, [d]).pvalue == 0.5
    assert bound.query(4, a, [d]).pvalue == 0.5
    # A member is asked about given the others.
    assert bound.query(d, 4, [d, a]).pvalue == 0.5
    assert len(tables) == 1


@pytest.mark.parametrize(
    ("n", "first", "most", "sizes"),
    [
        (6, 1, 512, [1, 2, 3]), (7, 2, 3, [2, 3, 2]), (3, 5, 2, [2, 1]), (0, 1, 512, []), (1, 1, 512, [1]),
        (1600, 500, 512, [500, 512, 512, 76]), (8, 4, 8, [4, 4]),
    ],
)  # fmt: skip
def test_batches_double_up_to_a_limit(n, first, most, sizes):
    assert [len(batch) for batch in growing_batches(range(n), first, most)] == sizes
    assert [x for batch in growing_batches(range(n), first, most) for x in batch] == list(range(n))


def test_batches_begin_with_one_and_end_with_512():
    assert [len(batch) for batch in growing_batches(range(2000))] == [
        1,
        2,
        4,
        8,
        16,
        32,
        64,
        128,
        256,
        512,
        512,
        465,
    ]


class InBatches(BatchedTest):
    """Writes down its batches."""

    values_for_free = 10

    def __init__(self, table):
        super().__init__(table)
        self.batches = []

    def _batch(self, xs, target, given):
        self.batches.append((list(xs), target, given))
        return [IndependenceResult(by_columns(x, target, set(given)), 0.0, 0.0) for x in xs]


def test_members_of_the_conditioning_set_are_asked_about_one_by_one():
    bound = InBatches(empty_table(13))
    found = bound.query_many([5, 7, 1, 0, 3, 8, 9, 10, 11], 12, [3, 1])
    assert [one.pvalue for one in found] == [
        by_columns(x, 12, {1, 3} - {x}) for x in (5, 7, 1, 0, 3, 8, 9, 10, 11)
    ]
    # Two rows: the first batch has five columns.
    assert bound.batches == [
        ([5, 7, 0], 12, (1, 3)),
        ([1], 12, (3,)),
        ([3], 12, (1,)),
        ([8, 9, 10, 11], 12, (1, 3)),
    ]
    bound = InBatches(empty_table(5))
    bound.query_many([1, 3], 4, [3, 1])
    assert bound.batches == [([1], 4, (3,)), ([3], 4, (1,))]
