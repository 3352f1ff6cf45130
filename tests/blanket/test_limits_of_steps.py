"""What the steps of the searches do at their limits: at the level, with equal effects, at the last pair."""

import numpy as np
import pytest
from checks.graphs import empty_table
from checks.scripted import scripted, told

from ppfs._conventions import watched_phases
from ppfs._data.reading import read_table
from ppfs._verdicts import CLEARLY
from ppfs.blanket import IAMBFDR, TIEStar, _tie_star
from ppfs.blanket._steps import pairs
from ppfs.blanket._steps.growth import grow_marginally
from ppfs.blanket._steps.neighbors import max_min_neighbors
from ppfs.blanket._steps.order import least_important_first
from ppfs.blanket._steps.pairs import grow_by_pairs
from ppfs.blanket._steps.role_questions import ask_about_roles
from ppfs.blanket._steps.shrink import shrink
from ppfs.independence import DSeparation, FisherZ, IndependenceResult


def answer(pvalue, effect=0.5):
    return IndependenceResult(pvalue, 1.0, effect)


class Tail:
    """Some columns are reached by a share of the draws."""

    draws_at_once = 64
    n_refitted = 0

    def __init__(self, chances):
        self.chances = chances

    def can_refine(self, xs):
        return np.array([x in self.chances for x in xs], dtype=bool)

    def bounded_pvalues(self, xs):
        return np.ones(len(xs))

    def n_as_extreme(self, xs, first, end, share):
        return np.array([int(self.chances[x] * end) - int(self.chances[x] * first) for x in xs])


def counting(pvalues, chances, **given):
    """Return an inquiry whose test counts small p-values given nothing."""
    inquiry = scripted({(x,): pvalue for x, pvalue in enumerate(pvalues)}, len(pvalues), **given)
    asked = []

    def exact_tail(target):
        asked.append(target)
        return Tail(chances)

    inquiry.test.exact_tail = exact_tail
    return inquiry, asked


def test_small_p_values_of_growth_are_counted_and_decide():
    inquiry, asked = counting([1e-9, 0.04, 0.9, 1e-3, 0.02], {0: 0.0, 1: 0.5, 3: 0.01})
    with watched_phases() as phases:
        found = grow_marginally(inquiry, [3, 0, 1, 2, 4], None)
    assert asked == [5]
    counted = {0: 1 / 257, 3: 3 / 257, 4: 0.02}
    assert [(x, result.pvalue) for x, result in found] == [(x, pytest.approx(counted[x])) for x in (3, 0, 4)]
    assert [
        (step.phase, step.feature, step.pvalue, step.statistic, step.decision) for step in inquiry.trace
    ] == [
        ("growth", 3, 1e-3, 2.0, "candidate"),
        ("growth", 0, 1e-9, 2.0, "candidate"),
        ("growth", 1, 0.04, 2.0, "candidate"),
        ("growth", 2, 0.9, 2.0, "rejected"),
        ("growth", 4, 0.02, 2.0, "candidate"),
        ("exact growth", 0, pytest.approx(1 / 257), 0.0, "candidate"),
        ("exact growth", 3, pytest.approx(3 / 257), 2.0, "candidate"),
        ("exact growth", 1, pytest.approx(33 / 65), 32.0, "rejected"),
    ]
    assert inquiry.trace.notes == [
        "exact growth: 3 small p-values counted by rearranging columns, 576 times in all, models refitted to 0 of them"
    ]
    assert [(bar.label, bar.total, [mark.n_done for mark in bar.marks]) for bar in phases[1:]] == [
        ("exact growth", 4, [3, 3, 4, 4])
    ]


def test_a_column_above_the_level_is_not_called_because_others_were_counted():
    """With fewer calls, the level of "bh" falls; with counted ones it may not rise for columns that were above it."""
    inquiry, _ = counting([1e-9, 0.04, 0.06, 0.9], {0: 0.0, 1: 0.0})
    found = grow_marginally(inquiry, [0, 1, 2, 3], "bh")
    assert [x for x, _ in found] == [0]
    inquiry, _ = counting([1e-9, 0.024, 0.9, 0.9], {0: 0.0, 1: 0.9})
    assert [x for x, _ in grow_marginally(inquiry, [0, 1, 2, 3], "bh")] == [0]
    assert [round(step.adjusted_pvalue, 6) for step in inquiry.trace if step.phase == "growth"] == [
        0.0,
        0.048,
        0.9,
        0.9,
    ]


def test_nothing_is_counted_where_columns_are_given_or_none_is_small():
    inquiry, asked = counting([1e-9, 0.04], {0: 0.0}, condition_on=(1,))
    grow_marginally(inquiry, [0], None)
    assert asked == []
    inquiry, asked = counting([0.9, 0.8], {0: 0.0})
    assert grow_marginally(inquiry, [0, 1], None) == []
    assert [step.phase for step in inquiry.trace] == ["growth", "growth"]
    assert inquiry.trace.notes == []
    inquiry = scripted({(0,): 0.05, (1,): 0.0500001}, 2)
    assert [x for x, _ in grow_marginally(inquiry, [1, 0], None)] == [0]


def test_a_counted_p_value_that_equals_the_level_is_called():
    inquiry, _ = counting([1e-9], {0: 12 / 256}, alpha=13 / 257)
    assert [x for x, _ in grow_marginally(inquiry, [0], None)] == [0]


def test_columns_that_failed_have_no_part_in_growth():
    inquiry = scripted({(0,): 0.02, (1,): 0.0, (2,): 0.04}, 3)
    inquiry.test.failures[1] = "It broke."
    assert [x for x, _ in grow_marginally(inquiry, [0, 1, 2], "bonferroni")] == [0]
    assert told(inquiry.trace) == [
        "growth: 0 |  adjusted 0.04 candidate",
        "growth: 2 |  adjusted 0.08 rejected",
    ]


def test_the_least_important_are_those_with_the_largest_p_value_then_the_smallest_effect():
    X = np.random.default_rng(0).normal(size=(9, 7))
    X[:, 6] = X[:, 5]
    table = read_table(X, X[:, 0], task="regression", owner=FisherZ())
    answered = [(0, answer(0.01)), (1, answer(0.02)), (2, answer(0.01, 0.4)), (3, answer(0.01, 0.6)), (4, answer(0.01)),
                (5, answer(1e-5)), (6, answer(1e-5))]  # fmt: skip
    by_content = sorted((0, 4), key=table.order.key)
    # Copies tie in everything: the later one is dropped first.
    assert least_important_first(iter(answered), table) == [1, 2, *by_content, 3, 6, 5]
    assert least_important_first([], table) == []


def test_many_columns_are_put_in_order_in_one_go(monkeypatch):
    table = empty_table(5)
    entered = []
    monkeypatch.setattr(table.order, "enter", lambda variables: entered.append(list(variables)))
    least_important_first([(2, answer(0.1)), (0, answer(0.1))], table)
    assert entered == [[2, 0]]


def test_of_equal_weakest_links_the_smaller_effect_counts():
    """Column 1 has the same p-value given nothing and given column 0, and a smaller effect then."""
    script = {(0,): 1e-9, (1,): answer(1e-3, 0.9), (2,): answer(1e-3, 0.5), (1, 0): answer(1e-3, 0.1),
              (2, 0): answer(1e-3, 0.4)}  # fmt: skip
    script |= {(x, *sorted({0, 1, 2} - {x})): 1e-3 for x in range(3)} | {
        (0, 1): 1e-3,
        (0, 2): 1e-3,
        (1, 2): 1e-3,
    }
    script |= {(2, 1): 1e-3}
    assert max_min_neighbors(scripted(script, 3), None).members == [0, 2, 1]


@pytest.mark.parametrize(("n_columns", "is_screened"), [(45, False), (46, True)])
def test_all_pairs_of_45_columns_are_tested(n_columns, is_screened, monkeypatch):
    seen = []

    def promising(table, columns, settled, at_most, n_jobs):
        seen.append((list(columns), settled, at_most, n_jobs))
        return [(3, 7)]

    monkeypatch.setattr(pairs, "most_promising_pairs", promising)
    monkeypatch.setattr(
        pairs,
        "_ask",
        lambda inquiry, chosen: asked.append(list(chosen)) or [[(0, answer(0.9))]] * len(chosen),
    )
    asked = []
    inquiry = scripted({}, n_columns)
    # The pair of the settled columns is left out.
    columns = list(range(n_columns))
    assert grow_by_pairs(inquiry, columns, [1, 2], "bonferroni", 3) == []
    if is_screened:
        assert seen == [(columns, frozenset({1, 2}), 1000, 3)]
        assert inquiry.trace.notes == [
            "pairs: 1 of 1,034 were tested, those whose quartile classes explain most of the target; the p-values are "
            "adjusted for all pairs"
        ]
    else:
        assert (len(asked[0]), seen, inquiry.trace.notes) == (989, [], [])


def test_a_thousand_pairs_are_all_tested(monkeypatch):
    monkeypatch.setattr(pairs, "most_promising_pairs", lambda *given: [(0, 1)])
    for n, noted in ((1000, 0), (1001, 1)):
        monkeypatch.setattr(pairs, "n_pairs", lambda columns, settled, n=n: n)
        inquiry = scripted({}, 3)
        grow_by_pairs(inquiry, [0, 1, 2], [], None, None)
        assert len(inquiry.trace.notes) == noted


def test_a_pair_enters_by_the_larger_p_value_and_a_column_by_its_strongest_pair():
    script = {(0,): 0.9, (1,): 0.8, (2,): 0.7, (3,): 0.6,
              (0, 1): 0.001, (1, 0): 0.0125, (0, 2): 0.0005, (2, 0): 0.01, (1, 2): 0.2, (0, 3): 0.04, (3, 0): 0.05,
              (1, 3): 0.05001}  # fmt: skip
    inquiry = scripted(script, 4, alpha=0.05)
    found = grow_by_pairs(inquiry, [0, 1, 2, 3], [3], "bonferroni", None)
    # Six pairs: 0.0125 and 0.01 are above a sixth of the level.
    assert found == []
    script |= {(1, 0): 0.05 / 6, (2, 0): 0.004}
    inquiry = scripted(script, 4, alpha=0.05)
    found = grow_by_pairs(inquiry, [0, 1, 2, 3], [3], "bonferroni", None)
    assert [(x, result.pvalue) for x, result in found] == [(0, 0.0005), (1, 0.05 / 6), (2, 0.004)]
    assert told(inquiry.trace) == [
        "pairs: 0 | 0 1 adjusted 0.05 candidate",
        "pairs: 1 | 0 1 adjusted 0.05 candidate",
        "pairs: 0 | 0 2 adjusted 0.024 candidate",
        "pairs: 2 | 0 2 adjusted 0.024 candidate",
        "pairs: 0 | 0 3 adjusted 0.3 rejected",
        "pairs: 3 | 0 3 adjusted 0.3 rejected",
        "pairs: 1 | 1 2 adjusted 1 rejected",
        "pairs: 1 | 1 3 adjusted 0.30006 rejected",
        "pairs: 2 | 2 3 rejected",
    ]
    script |= {(0, 1): 0.0005}
    equal = scripted(script, 4)
    found = grow_by_pairs(equal, [0, 1, 2, 3], [3], "bonferroni", None)
    # Of equally strong pairs the first: its answer is given column 1.
    assert found[0][1] is equal.test.query(0, 4, [1])


def test_roles_are_asked_about_until_each_is_clear():
    """0 and 1 are causes; 2 is an effect, and 3 its other cause."""
    table = empty_table(5)
    inquiry = scripted({}, 4, table=table)
    oracle = DSeparation([(0, 4), (1, 4), (4, 2), (3, 2)]).bind(table)
    inquiry = type(inquiry)(oracle, 4, 0.05, inquiry.trace, 2, condition_on=())
    ask_about_roles(inquiry, [2, 3, 0, 1], 2)
    lines = told(inquiry.trace)
    assert lines[:11] == [
        "roles: 2 of 4 |  kept", "roles: 2 of 4 | 3 kept", "roles: 2 of 4 | 0 kept", "roles: 2 of 4 | 1 kept",
        "roles: 2 of 4 | 3 0 kept", "roles: 2 of 4 | 3 1 kept", "roles: 2 of 4 | 0 1 kept", "roles: 3 of 4 |  dropped",
        "roles: 0 of 4 |  kept", "roles: 0 of 4 | 2 kept", "roles: 0 of 4 | 3 kept",
    ]  # fmt: skip
    # The spouse depends on the target again beside its child; the causes, apart otherwise, do beside the target.
    assert lines[22:] == [
        "roles: 3 of 4 | 2 kept", "roles: 3 of 4 | 0 dropped", "roles: 3 of 4 | 1 dropped",
        "roles: 2 of 0 |  kept", "roles: 2 of 0 | 3 kept", "roles: 2 of 0 | 1 kept", "roles: 2 of 0 | 3 1 kept",
        "roles: 2 of 1 |  kept", "roles: 2 of 1 | 3 kept", "roles: 2 of 1 | 0 kept", "roles: 2 of 1 | 3 0 kept",
        "roles: 0 of 1 |  dropped", "roles: 0 of 1 | 4 kept",
    ]  # fmt: skip
    assert {(step.fold, step.model_pvalues) for step in inquiry.trace} == {(2, ())}


@pytest.mark.parametrize(
    ("result", "decision"),
    [
        (answer(0.05), "kept"),
        (answer(0.0501), "rejected"),
        (answer(np.nextafter(CLEARLY, 0.0)), "rejected"),
        (answer(CLEARLY), "dropped"),
        (IndependenceResult(0.01, 1.0, 1.0, is_reliable=False), "rejected"),
        (IndependenceResult(1.0, 1.0, 1.0, is_reliable=False), "rejected"),
        (IndependenceResult(0.01, 1.0, 1.0, model_pvalues=(0.3, 0.4)), "kept"),
        (answer(1.0), "dropped"),
    ],
)
def test_an_answer_about_a_role_is_clear_or_none(result, decision):
    inquiry = scripted({(0,): result}, 1)
    inquiry.test.models = ("a", "b") if result.model_pvalues else ()
    ask_about_roles(inquiry, [0], None)
    assert [(step.decision, step.model_pvalues) for step in inquiry.trace] == [
        (decision, result.model_pvalues)
    ]


def test_of_two_neighbors_a_single_column_is_the_other_one():
    X = np.random.default_rng(0).normal(size=(9, 4))
    table = read_table(
        X, X[:, 0], task="regression", owner=FisherZ(), feature_groups={"pair": [0, 1], "two": [2, 3]}
    )
    pair, two = table.names.index("pair"), table.names.index("two")
    inquiry = scripted(lambda x, target, others: 0.0, 2, table=table)
    ask_about_roles(inquiry, [pair, two], None)
    assert {step.target for step in inquiry.trace} == {2}
    table = read_table(X, X[:, 0], task="regression", owner=FisherZ(), feature_groups={"pair": [0, 1]})
    pair = table.names.index("pair")
    singles = [x for x in range(3) if x != pair]
    inquiry = scripted(lambda x, target, others: 0.0, 3, table=table)
    ask_about_roles(inquiry, [singles[0], pair], None)
    assert [(step.feature, step.target) for step in inquiry.trace if step.target != 3] == [(pair, singles[0])]


def test_a_restart_shows_how_many_are_left():
    script = {(0, 1, 2): 0.9, (1, 2): 0.9, (2,): 0.01, (1, 0, 2): 0.01, (2, 0, 1): 0.01, (2, 1): 0.01}
    with watched_phases() as phases:
        assert shrink(scripted(script, 3), [0, 1, 2], restart=True) == [2]
    assert [(bar.total, [mark.n_done for mark in bar.marks]) for bar in phases] == [(3, [1, 2, 3, 3])]


@pytest.mark.parametrize(("max_blankets", "n_found"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_other_blankets_are_looked_for_up_to_the_limit(max_blankets, n_found):
    """Columns 0, 1 and 2 stand for each other."""
    search = TIEStar(max_blankets=max_blankets)
    found = search._find(scripted(lambda x, target, others: 1.0 if others else 1e-9 * (x + 1), 3))
    assert found.blankets == [[0], [1], [2]][:n_found]
    assert list(found.blanket) == [0]


@pytest.mark.parametrize(
    ("score", "tol", "n_found"), [(0.5, 0.0, 2), (0.49, 0.0, 1), (0.4375, 0.0625, 2), (0.43, 0.0625, 1)]
)
def test_a_blanket_is_accepted_if_its_model_scores_as_well(score, tol, n_found, monkeypatch):
    made = []

    class Scores:
        def __init__(self, table, estimator, *, cv, entropy):
            made.append((estimator, cv, entropy))

        def score(self, members):
            return {0: 0.5, 1: score}.get(*members, 0.0) if members else 0.0

    monkeypatch.setattr(_tie_star, "CrossValidated", Scores)
    search = TIEStar(estimator="model", cv=7, tol=tol)
    inquiry = scripted(lambda x, target, others: 1.0 if others else 1e-9 * (x + 1), 2, entropy=9)
    assert len(search._find(inquiry).blankets) == n_found
    assert set(made) == {("model", 7, 9)}


def test_an_adjusted_p_value_at_the_level_enters_and_stays():
    assert IAMBFDR()._search(scripted({(0,): 0.05}, 1)) == [0]
    assert IAMBFDR()._search(scripted({(0,): 0.0501}, 1)) == []
    inquiry = scripted({(0,): 0.05}, 1, always_keep=(0,))
    assert IAMBFDR()._search(inquiry) == [0]
