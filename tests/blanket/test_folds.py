"""From the blankets of the folds to one result: which is chosen, what fills it up, and which answers it has."""

from types import SimpleNamespace

import numpy as np
import pytest
from checks.graphs import empty_table
from checks.scripted import ScriptedTest, scripted
from scipy.stats import norm

from ppfs._data.reading import read_table
from ppfs._trace import Step, Trace
from ppfs.blanket._run import conclusion, search_in_parts
from ppfs.blanket._run.conclusion import conclude
from ppfs.blanket._run.fill_up import fill_up
from ppfs.blanket._run.folds import aggregate, training_parts
from ppfs.blanket._run.results import importance_interval
from ppfs.blanket._run.search_in_parts import (
    Found,
    Searched,
    _about_failures,
    _most_important_first,
    _warn_if_unreachable,
)
from ppfs.blanket._run.special_columns import SpecialColumns, read_special_columns
from ppfs.exceptions import EstimatorFailedError, InvalidInputError, UnreachableAlphaWarning
from ppfs.independence import FisherZ
from ppfs.independence._known_answers import fingerprint


@pytest.mark.parametrize(
    ("blankets", "chosen"),
    [
        ([], None),
        ([()], 0),
        ([(), ()], 0),
        ([(), (4,)], 1),
        # The members of the first appear in three blankets.
        ([(1,), (2, 1), (1, 3, 2)], 0),
        # Equal scores go to the one whose least supported member has more support, though it comes later.
        ([(1, 2), (3, 4), (1, 3), (1,), (4, 3, 5), (2, 6), (1,)], None),
        # Then to the smaller one, and then to the earlier one.
        ([(1, 2), (3,), (1, 2), (3,)], 1),
        ([(1, 2), (3, 4), (1, 4), (2, 3)], 0),
        ([(1, 2), (3, 5), (1, 2), (5, 3)], 0),
        # Column 1 is in four blankets, 2 in two, and 3 and 4 in three each.
        ([(1, 2), (3, 4), (1, 3), (4, 1), (3, 4, 1), (2,)], None),
        ([(1, 5), (1, 2), (2, 3), (2, 4), (1, 2, 3, 4)], None),
        # Columns 1 to 4 are in 4, 2, 3 and 3 blankets.
        (
            [
                (1, 2),
                (3, 4),
                (1, 11, 12),
                (1, 13, 14),
                (1, 15, 16),
                (2, 17),
                (3, 18),
                (3, 19),
                (4, 20),
                (4, 21),
            ],
            1,
        ),
    ],
)
def test_the_best_supported_blanket_is_chosen(blankets, chosen):
    support = [[sum(x in other for other in blankets) for x in one] or [0] for one in blankets]
    scores = [float(np.mean(counts)) for counts in support]
    ranks = [(scores[i], min(support[i]), -len(blankets[i]), -i) for i in range(len(blankets))]
    best = ranks.index(max(ranks)) if ranks else None
    assert chosen in (None, best)
    found = aggregate(blankets)
    assert [fold.z_score for fold in found] == pytest.approx(scores)
    assert [(fold.number, fold.blanket, fold.is_chosen) for fold in found] == [
        (i + 1, blankets[i], i == best) for i in range(len(blankets))
    ]


def table_of(n_rows, y=None, **given):
    X = np.random.default_rng(0).normal(size=(n_rows, 3))
    return read_table(
        X, np.arange(n_rows) % 2 if y is None else y, task="classification", owner=FisherZ(), **given
    )


def test_folds_are_trained_on_the_rows_outside_them():
    table = table_of(12)
    [(number, whole)] = training_parts(table, 0, 1)
    assert number == 0
    assert whole is table
    parts = dict(training_parts(table, 3, 1))
    assert list(parts) == [1, 2, 3]
    held_out = [set(table.X[:, 0]) - set(part.X[:, 0]) for part in parts.values()]
    assert [len(rows) for rows in held_out] == [4, 4, 4]
    assert set().union(*held_out) == set(table.X[:, 0])
    other = [set(table.X[:, 0]) - set(part.X[:, 0]) for _, part in training_parts(table, 3, 2)]
    assert held_out != other
    assert held_out == [set(table.X[:, 0]) - set(part.X[:, 0]) for _, part in training_parts(table, 3, 1)]


def test_there_are_no_more_folds_than_rows_and_two_classes_in_each():
    assert len(list(training_parts(table_of(4), 2, 0))) == 2
    with pytest.raises(InvalidInputError) as raised:
        list(training_parts(table_of(4), 5, 0))
    assert str(raised.value) == "n_folds=5 is more than the 4 rows. Use fewer folds, or n_folds=0 for none."
    numbers = read_table(np.eye(4), np.arange(4.0), task="regression", owner=FisherZ())
    assert len(list(training_parts(numbers, 4, 0))) == 4
    with pytest.raises(InvalidInputError) as raised:
        list(training_parts(table_of(4, np.array([0, 1, 1, 1]), groups=np.arange(4)), 4, 0))
    assert str(raised.value) == (
        "With n_folds=4 some fold's training part has one class only. Use fewer folds, or n_folds=0."
    )
    assert len(list(training_parts(table_of(4, np.array([0, 0, 1, 1]), groups=np.arange(4)), 4, 0))) == 4


def answer(pvalue, effect):
    return SimpleNamespace(pvalue=pvalue, effect=effect)


def test_a_blanket_is_filled_up_with_what_came_closest():
    """By p-value, then by effect, then by content; columns without an answer count as p = 1 without effect."""
    table = empty_table(9)
    decided_by = {1: answer(0.2, 0.1), 2: answer(0.1, 0.5), 3: answer(0.1, 0.7), 4: answer(1.0, 0.2)}
    decided_by |= {5: answer(0.0, 9.0), 7: answer(1.0, -0.1)}
    order = [3, 2, 1, 4, 6, 7]

    def filled(n):
        return fill_up([0, 8], n, table=table, decided_by=decided_by, barred=[5])

    assert [filled(n) for n in range(9)] == [[], [], [], *(order[:n] for n in range(1, 7))]
    with pytest.raises(InvalidInputError) as raised:
        filled(9)
    assert str(raised.value) == (
        "min_features=9, but there are only 8 columns or groups that may be selected. Lower min_features."
    )


def test_copies_fill_up_in_their_order():
    X = np.tile(np.arange(6.0)[:, np.newaxis], (1, 4))
    table = read_table(X, np.arange(6.0), task="regression", owner=FisherZ())
    assert fill_up([1], 3, table=table, decided_by={}, barred=()) == [0, 2]
    other = X.copy()
    other[:, 2] = other[::-1, 2]
    table = read_table(other, np.arange(6.0), task="regression", owner=FisherZ())
    first = min((0, 2), key=table.order.key)
    assert fill_up([1], 2, table=table, decided_by={}, barred=()) == [first]


def recorded(*steps, n_columns=6):
    trace = Trace(tuple(f"x{i}" for i in range(n_columns)))
    for fold, phase, x, pvalue, effect, decision in steps:
        trace.record(Step(fold, phase, x, (), pvalue, 1.0, effect, pvalue, decision))
    return trace


def test_the_result_of_a_search_in_all_rows(monkeypatch):
    seen = []

    def closest(table, dropped, members, n_jobs):
        seen.append((list(dropped), members, n_jobs))
        return {1: 0}

    monkeypatch.setattr(conclusion, "closest_members", closest)
    trace = recorded(
        (0, "growth", 0, 0.01, 0.5, "candidate"),
        (0, "growth", 1, 0.02, 0.4, "candidate"),
        (0, "growth", 3, 0.3, 0.2, "rejected"),
        (0, "growth", 4, 0.4, 0.1, "candidate"),
        (0, "shrink", 1, 0.6, 0.3, "dropped"),
        (0, "shrink", 0, 0.03, 0.6, "kept"),
    )
    found = Found([0, 5])
    searched = Searched([found], [(0, 5)], [{4: "failed"}], 3, 7)
    special = SpecialColumns((5,), (2,))
    concluded = conclude(searched, special, trace, empty_table(7), 0, 3, 2)
    assert (concluded.folds, concluded.found, concluded.selected) == ((), found, [0, 5, 3])
    np.testing.assert_array_equal(concluded.pvalues, [0.03, 0.6, np.nan, 0.3, np.nan, np.nan])
    np.testing.assert_array_equal(concluded.effects, [0.6, 0.3, np.nan, 0.2, np.nan, np.nan])
    assert seen == [([1, 4], (0, 5), 2)]
    outcome = trace.outcome
    assert (outcome.blanket, outcome.fold, outcome.blankets, outcome.always_keep) == ((0, 5), 0, (), (5,))
    assert (outcome.condition_on, outcome.filled_up, outcome.left_out) == ((2,), (3,), {4: "failed"})
    assert outcome.closest == {1: 0}


def test_the_result_of_folds_is_that_of_the_chosen_one(monkeypatch):
    monkeypatch.setattr(conclusion, "closest_members", lambda *given: {})
    trace = recorded(
        (1, "growth", 0, 0.01, 0.5, "added"),
        (2, "growth", 1, 0.02, 0.4, "added"),
        (2, "growth", 3, 0.04, 0.2, "rejected"),
        (3, "growth", 1, 0.03, 0.3, "added"),
        (3, "growth", 3, 0.05, 0.1, "added"),
    )
    found = [Found([0]), Found([1]), Found([1, 3])]
    searched = Searched(found, [(0,), (1,), (1, 3)], [{4: "first"}, {5: "second"}, {}], 3, 7)
    concluded = conclude(searched, SpecialColumns((), ()), trace, empty_table(7), 3, 0)
    assert [fold.is_chosen for fold in concluded.folds] == [False, True, False]
    assert (concluded.found, concluded.selected) == (found[1], [1])
    np.testing.assert_array_equal(concluded.pvalues, [1.0, 0.02, 1.0, 0.04, 1.0, np.nan])
    assert (trace.outcome.fold, trace.outcome.blankets) == (2, ((0,), (1,), (1, 3)))
    assert trace.outcome.left_out == {5: "second"}


def test_special_columns_are_sorted_and_told_apart():
    table = empty_table(6)
    special = read_special_columns(["x4", 1, "x1"], [3], table)
    assert special == SpecialColumns((1, 4), (3,))
    assert special.all == (1, 4, 3)
    with pytest.raises(InvalidInputError) as raised:
        read_special_columns([1, 2, 3], [3, 1], table)
    assert str(raised.value) == (
        "always_keep and condition_on both contain 'x1', 'x3': a column is either selected in any case, or conditioned "
        "on and never selected. Leave it out of one of them."
    )


def test_members_are_ordered_by_effect_then_p_value_then_number():
    trace = recorded(
        (1, "growth", 5, 0.01, 0.5, "added"),
        (1, "growth", 4, 0.02, 0.7, "added"),
        (1, "growth", 3, 0.004, 0.5, "added"),
        (1, "growth", 2, 0.01, 0.5, "added"),
        (1, "growth", 0, 0.01, -0.1, "added"),
        (2, "growth", 1, 0.01, 0.9, "added"),
        (1, "growth", 6, 1.0, 0.0, "added"),
        n_columns=7,
    )
    assert _most_important_first([0, 1, 2, 3, 4, 5, 6], trace, 1) == (4, 3, 2, 5, 1, 6, 0)


@pytest.mark.parametrize(("smallest", "is_warned"), [(0.05, False), (0.0501, True), (0.0, False)])
def test_a_level_that_no_answer_reaches_is_warned_about(smallest, is_warned, recwarn):
    _warn_if_unreachable(SimpleNamespace(smallest_pvalue=smallest), 0.05)
    told = [str(one.message) for one in recwarn.list if one.category is UnreachableAlphaWarning]
    assert (
        told
        == [
            "alpha=0.05 cannot be reached: the smallest p-value this test can return is 0.0501, so nothing will be "
            "selected. Raise n_splits, or alpha."
        ]
        * is_warned
    )


@pytest.mark.parametrize(("fold", "where"), [(0, ""), (2, " in fold 2")])
def test_columns_that_failed_are_told(fold, where):
    inquiry = scripted({}, 4, fold=fold, condition_on=(3,))
    assert list(_about_failures(inquiry)) == []
    inquiry.test.failures.update({2: "It broke.", 0: "It broke too."})
    assert list(_about_failures(inquiry)) == [
        f"left out{where} by on_error='drop': 'x2', 'x0'. The first, because of It broke."
    ]
    inquiry.test.failures[1] = "x"
    with pytest.raises(
        EstimatorFailedError,
        match=r"^No column could be tested, so on_error='drop' leaves none\. It broke\.$",
    ):
        list(_about_failures(inquiry))


class Reaching(ScriptedTest):
    """A test with a smallest p-value."""

    @property
    def smallest_pvalue(self):
        return self.smallest


def test_every_part_is_searched_with_its_own_test(monkeypatch):
    made, inquiries = [], []

    class Answers:
        smallest = 0.0

        def bound(self, part, fold, on_error, bind):
            test = Reaching(part, {})
            test.smallest = self.smallest
            test.models, test.notes = ("a", "b"), lambda: [f"of fold {fold}"]
            test.n_fits, test.n_answers = 100 * fold, 1000 * fold
            made.append((test, fold, on_error, bind.keywords))
            return test

    def find(inquiry):
        inquiries.append(inquiry)
        inquiry.test.n_fits += 3
        inquiry.test.n_answers += 5
        inquiry.test.failures[1] = "broken"
        inquiry.test.known[inquiry.target, fingerprint(1), 1] = scripted({}, 2).test.query(0, 2)
        return Found([2, 0])

    table = table_of(12)
    selector = SimpleNamespace(n_folds=2, alpha=0.01, n_jobs=3, on_error="drop", progress=False, _find=find)
    trace = Trace(table.names)
    searched = search_in_parts.search_in_parts(
        selector, table, FisherZ(), SpecialColumns((2,), ()), trace, 9, Answers()
    )
    selector.alpha, Answers.smallest, others = 0.0, 0.01, SpecialColumns((), (2,))
    with pytest.warns(UnreachableAlphaWarning, match=r"^alpha=0.0 cannot be reached") as warned:
        search_in_parts.search_in_parts(selector, table, FisherZ(), others, Trace(table.names), 9, Answers())
    assert len(warned) == 1
    assert [one.condition_on for one in inquiries[2:]] == [(2,), (2,)]
    del inquiries[2:], made[2:]
    assert [(fold, on_error, keywords) for _, fold, on_error, keywords in made] == [
        (fold, "drop", {"random_state": 9, "n_jobs": 3}) for fold in (1, 2)
    ]
    assert searched.blankets == [(0, 2), (0, 2)]
    assert [list(found.blanket) for found in searched.found] == [[2, 0], [2, 0]]
    assert (searched.n_fits, searched.n_tests, searched.left_out) == (6, 10, [{1: "broken"}] * 2)
    assert [
        (one.fold, one.alpha, one.always_keep, one.condition_on, one.entropy, one.target) for one in inquiries
    ] == [(fold, 0.01, (2,), (), 9, 3) for fold in (1, 2)]
    assert all(len(test.known) == 0 for test, *_ in made)
    assert trace.models == ("a", "b")
    assert [note.split(",")[0] for note in trace.notes] == [
        "of fold 1",
        "task: classification",
        "left out in fold 1 by on_error='drop': 'x1'. The first",
        "left out in fold 2 by on_error='drop': 'x1'. The first",
    ]


@pytest.mark.parametrize(
    ("importance", "pvalue", "root_effect", "low", "high"),
    [
        # z(0.05) = 1.6449: a root of 2 that is 1.6449 standard errors above 0, or twice as many.
        (4.0, 0.05, None, 0.0, 16.0),
        (4.0, norm.sf(2 * norm.isf(0.05)), None, 1.0, 9.0),
        (4.0, 0.05, (3.0, 0.6079569), 4.0, 16.0),
        (4.0, 0.05, (0.5, 0.6079569), 0.0, 2.25),
        (4.0, 0.05, (np.nan, 1.0), 0.0, 16.0),
        (4.0, 0.3085375, None, 0.0, (2 + 1.6448536 * 4) ** 2),
        (4.0, 0.309, None, np.nan, np.nan),
        (4.0, 0.7, None, np.nan, np.nan),
        (4.0, 0.5, None, np.nan, np.nan),
        (-1.0, 0.01, None, np.nan, np.nan),
        (0.0, 0.01, None, np.nan, np.nan),
        (4.0, np.nan, None, np.nan, np.nan),
        (4.0, 0.0, None, (2 - 2 * 1.6448536 / 37.0471) ** 2, (2 + 2 * 1.6448536 / 37.0471) ** 2),
    ],
)
def test_the_interval_of_an_importance_follows_from_its_p_value(importance, pvalue, root_effect, low, high):
    measured = None if root_effect is None else np.array([root_effect])
    with np.errstate(all="raise", under="ignore"):
        found = importance_interval(np.array([importance]), np.array([pvalue]), 0.05, measured)
    np.testing.assert_allclose(np.concatenate(found), [low, high], rtol=1e-5, atol=1e-9)
    both = None if measured is None else np.array([root_effect, (np.nan, np.nan)])
    with np.errstate(all="raise", under="ignore"):
        low, high = importance_interval(np.array([importance, 4.0]), np.array([pvalue, 0.05]), 0.05, both)
    np.testing.assert_allclose(
        [low[0], high[0], low[1], high[1]], [*np.concatenate(found), 0.0, 16.0], atol=1e-9
    )
    nothing = importance_interval(np.array([importance]), np.array([pvalue]), None, measured)
    assert np.isnan(nothing).all()
    assert nothing[0] is not nothing[1]
