"""What tells IAMB, its variants, GS and FBED apart."""

from types import SimpleNamespace

import numpy as np
import pytest
from checks.graphs import empty_table, random_dag, true_blanket

from ppfs._trace import Trace
from ppfs.blanket import FBED, IAMB, IAMBFDR, FastIAMB, GrowShrink, IAMBnPC, InterIAMB, InterIAMBnPC
from ppfs.blanket._fast_iamb import while_rows_last
from ppfs.blanket._steps.interleave import RemovalGuard, RevisitGuard
from ppfs.blanket._steps.order import strongest_first
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.shrink import drop_while_score_holds
from ppfs.blanket._steps.skeleton import keep_joined
from ppfs.datasets import make_blanket_problem
from ppfs.independence import DSeparation, FisherZ, GSquared, IndependenceResult

# 0 -> 1 <- target, 2 -> target: 0 is a spouse, independent of the target until 1 is known.
SPOUSE_GRAPH = [(0, 1), (3, 1), (2, 3)]


def inquiry_about(edges, n_nodes, **parameters):
    table = empty_table(n_nodes)
    return Inquiry(DSeparation(edges).bind(table), n_nodes - 1, 0.05, Trace(table.names), 0, **parameters)


def test_fbed_without_further_runs_misses_the_spouse_that_one_more_run_finds():
    # Column 0 is asked about first and dropped before its common child is known.
    assert set(FBED(n_runs=0)._search(inquiry_about(SPOUSE_GRAPH, 4))) == {1, 2}
    assert set(FBED(n_runs=1)._search(inquiry_about(SPOUSE_GRAPH, 4))) == {0, 1, 2}


def test_fbed_asks_fewer_questions_than_iamb():
    X, y, _ = make_blanket_problem(500, n_features=100, random_state=0)
    frugal, thorough = FBED(alpha=0.01).fit(X, y), IAMB(alpha=0.01).fit(X, y)
    assert frugal.n_tests_ < 0.6 * thorough.n_tests_


def test_iamb_adds_the_strongest_column_first():
    X, y, _ = make_blanket_problem(500, random_state=0)
    trace = IAMB().fit(X, y).trace_
    first = next(step for step in trace if step.decision == "added")
    marginal = [step for step in trace if step.phase == "growth" and not step.given]
    assert len(marginal) == 20
    assert first.pvalue == min(step.pvalue for step in marginal)


def test_grow_shrink_scans_in_the_order_of_marginal_strength():
    X, y, _ = make_blanket_problem(500, random_state=0)
    trace = GrowShrink().fit(X, y).trace_
    marginal = {step.feature: step.pvalue for step in trace if step.phase == "order"}
    scan = [step.feature for step in trace if step.phase == "growth" and len(step.given) == 1]
    assert [marginal[x] for x in scan] == sorted(marginal[x] for x in scan)


def test_equal_pvalues_are_ordered_by_effect():
    weak, strong = IndependenceResult(0.0, 1.0, 10.0), IndependenceResult(0.0, 1.0, 20.0)
    table = empty_table(4)
    assert [x for x, _ in strongest_first([(0, weak), (1, strong)], table)] == [1, 0]


def test_fast_iamb_adds_several_columns_a_round_while_rows_last():
    X, y, _ = make_blanket_problem(1000, random_state=0)
    trace = FastIAMB(alpha=0.01).fit(X, y).trace_
    assert sum(step.decision == "added" for step in trace if not step.given) > 1
    codes = np.random.default_rng(0).integers(0, 4, (200, 6)).astype(float)
    target = codes[:, :4].sum(axis=1).astype(int)
    few = FastIAMB(independence=GSquared(min_rows_per_cell=2), alpha=0.05).fit(codes, target).trace_
    # 13 sums by 4 levels is a table that 200 rows allow; a second column would need 416.
    assert sum(step.decision == "added" for step in few if not step.given) == 1


def test_fdr_rejects_noise_that_iamb_accepts():
    rng = np.random.default_rng(0)
    false = {IAMB: 0, IAMBFDR: 0}
    for _ in range(20):
        X, y = rng.normal(size=(100, 50)), rng.normal(size=100)
        for search in false:
            false[search] += search(alpha=0.05).fit(X, y).blanket_.size > 0
    # 50 null columns at 5 %: IAMB finds something nearly always, FDR control in at most 5 % of cases.
    assert false[IAMB] >= 15
    assert false[IAMBFDR] <= 3


def test_fdr_trace_has_adjusted_pvalues():
    X, y, _ = make_blanket_problem(300, random_state=0)
    trace = IAMBFDR().fit(X, y).trace_
    assert any(step.adjusted_pvalue > step.pvalue for step in trace)
    assert all(step.adjusted_pvalue >= step.pvalue for step in trace)


def test_npc_conditions_its_backward_step_on_small_sets():
    X, y, _ = make_blanket_problem(1000, n_parents=4, n_children=4, random_state=0)
    steps = [step for step in IAMBnPC(max_k=2).fit(X, y).trace_ if step.phase == "pc"]
    assert steps
    assert max(len(step.given) for step in steps) <= 2
    assert any(step.target is not None for step in steps)


def test_npc_keeps_spouses():
    assert set(IAMBnPC()._search(inquiry_about(SPOUSE_GRAPH, 4))) == {0, 1, 2}


def test_revisit_guard_bans_what_led_back_until_a_new_blanket_is_reached():
    guard = RevisitGuard([])
    guard.watch([1], [1], [1])
    assert guard.banned == set()
    guard.watch([1, 2], [1], [2])
    assert guard.banned == {2}
    guard.watch([1, 3], [1, 3], [3])
    assert guard.banned == set()


def test_removal_guard_bans_after_more_than_ten_removals():
    guard = RemovalGuard()
    for _ in range(10):
        guard.watch([1], [], [1])
    assert guard.banned == set()
    guard.watch([1], [], [1])
    assert guard.banned == {1}


def test_interleaved_search_ends_on_columns_that_replace_each_other():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=200)
    X = np.column_stack([cause + 1e-3 * rng.normal(size=200) for _ in range(6)])
    assert InterIAMB(alpha=0.3).fit(X, cause + rng.normal(size=200)).blanket_.size >= 1


@pytest.mark.parametrize("independence", [FisherZ(), GSquared()], ids=repr)
def test_iamb_asks_about_each_column_once_for_every_member_and_once_more(independence):
    """What makes a thousand columns a matter of seconds: rounds of growth, not pairs of columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 60))
    y = X[:, :4].sum(axis=1) + rng.normal(size=1000)
    if isinstance(independence, GSquared):
        X, y = (X > 0).astype(float), (y > 0).astype(int)
    found = IAMB(independence=independence, alpha=1e-4).fit(X, y)
    assert set(found.blanket_) == {0, 1, 2, 3}
    growth = [step for step in found.trace_ if step.phase == "growth"]
    assert len(growth) == sum(60 - n_members for n_members in range(5))
    assert found.n_tests_ <= len(growth) + 2 * 4


@pytest.mark.parametrize("search", [IAMB(), GrowShrink(), FBED(), IAMBFDR()], ids=repr)
@pytest.mark.parametrize("seed", range(5))
def test_always_keep_and_condition_on_do_not_disturb_the_oracle(seed, search):
    n_nodes, edges = random_dag(seed)
    target = next(node for node in range(n_nodes) if len(true_blanket(edges, node)) >= 2)
    blanket = sorted(true_blanket(edges, target))
    stranger = next(node for node in range(n_nodes) if node != target and node not in blanket)
    oracle = inquiry_about(edges, n_nodes).test

    def inquiry(**special):
        return Inquiry(oracle, target, 0.05, Trace(empty_table(n_nodes).names), 0, **special)

    for member in blanket:
        kept = inquiry(always_keep=(member,))
        assert set(search._search(kept)) == set(blanket)
        assert not any(step.feature == member for step in kept.trace)
        given = inquiry(condition_on=(member,))
        assert set(search._search(given)) == set(blanket) - {member}
        assert all(member in step.given and step.feature != member for step in given.trace)
    # A column that tells nothing stays where it was put, and changes nothing.
    assert set(search._search(inquiry(always_keep=(stranger,)))) >= {*blanket, stranger}


@pytest.mark.parametrize("search", [IAMBnPC(), InterIAMBnPC()], ids=repr)
def test_the_pc_step_keeps_what_is_always_kept_without_asking(search):
    # 0 -> 1 -> target <- 2. Column 0 is kept although column 1 separates it; column 3 is a stranger that is kept.
    edges = [(0, 1), (1, 4), (2, 4)]
    inquiry = inquiry_about(edges, 5, always_keep=(0, 3))
    assert sorted(search._search(inquiry)) == [0, 1, 2, 3]
    assert {step.feature for step in inquiry.trace if step.target is None} == {1, 2}
    plain = inquiry_about(edges, 5)
    assert sorted(search._search(plain)) == [1, 2]


@pytest.mark.parametrize(
    ("edges", "n_nodes", "expected"),
    [
        # 0 causes the target, 1 tells nothing.
        ([(0, 2)], 3, [0]),
        # 1 -> 0 -> target <- 2: a cause's cause shares no effect with the target.
        ([(1, 0), (0, 3), (2, 3)], 4, [0, 2]),
        # 1 -> 0 <- target: a spouse.
        ([(1, 0), (2, 0)], 3, [0, 1]),
    ],
)
def test_the_pc_step_keeps_neighbours_and_spouses_only(edges, n_nodes, expected):
    assert keep_joined(inquiry_about(edges, n_nodes), range(n_nodes - 1), None) == expected


def test_a_column_that_only_all_other_members_separate_is_left_out():
    """Column 0 reaches the target, node 4, through 1, 2 and 3: it is joined to it until all three are given."""
    edges = [(0, 1), (0, 2), (0, 3), (1, 4), (2, 4), (3, 4)]
    assert set(keep_joined(inquiry_about(edges, 5), [0, 1, 2, 3], None)) == {1, 2, 3}
    assert set(keep_joined(inquiry_about(edges, 5), [0, 1, 2, 3], 2)) == {0, 1, 2, 3}


@pytest.mark.parametrize("n_allowed", [0, 1, 2, 3, 4, 9])
def test_fast_iamb_adds_as_many_columns_as_the_rows_allow_and_at_least_one(n_allowed):
    inquiry = SimpleNamespace(
        target=9,
        given=lambda columns: [7, *columns],
        test=SimpleNamespace(has_rows_for=lambda target, given: len(given) <= 3 + n_allowed),
    )
    # Two columns of the blanket and one that is always given.
    added = while_rows_last(inquiry, [5, 6], [3, 2, 0, 1])
    assert added == [3, 2, 0, 1][: min(4, max(1, n_allowed))]
    assert while_rows_last(inquiry, [5, 6], []) == []


def test_members_are_dropped_while_the_score_holds(monkeypatch):
    class Scores:
        def __init__(self, table, estimator, *, cv, entropy):
            assert (estimator, cv) == ("model", 3)

        def score(self, members):
            return sum(x in members for x in (2, 3))

    monkeypatch.setattr("ppfs.blanket._steps.shrink.CrossValidated", Scores)
    inquiry = inquiry_about(SPOUSE_GRAPH, 6, always_keep=(4,))
    assert drop_while_score_holds(inquiry, [0, 1, 2, 3, 4], "model", 3) == [2, 3, 4]
    assert len(inquiry.trace.notes) == 2
