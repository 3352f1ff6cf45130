"""What tells IAMB, its variants, GS and FBED apart."""

import numpy as np
import pytest
from checks.graphs import empty_table, random_dag

from ppfs._trace import Trace
from ppfs.blanket import FBED, IAMB, IAMBFDR, FastIAMB, GrowShrink, IAMBnPC, InterIAMB
from ppfs.blanket._inquiry import Inquiry
from ppfs.blanket._loops import RemovalGuard, RevisitGuard
from ppfs.blanket._order import strongest_first
from ppfs.datasets import make_blanket_problem
from ppfs.independence import DSeparation, FisherZ, GSquared, IndependenceResult

# 0 -> 1 <- target, 2 -> target: 0 is a spouse, independent of the target until 1 is known.
SPOUSE_GRAPH = [(0, 1), (3, 1), (2, 3)]


def inquiry_about(edges, n_nodes):
    table = empty_table(n_nodes)
    return Inquiry(DSeparation(edges).bind(table), n_nodes - 1, 0.05, Trace(table.names), 0)


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


def test_iamb_on_a_thousand_columns_takes_seconds():
    import time

    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 1000))
    codes = (X > 0).astype(float)
    start = time.perf_counter()
    found = IAMB(independence=FisherZ(), alpha=1e-4).fit(X, X[:, :5].sum(axis=1) + rng.normal(size=1000))
    assert set(range(5)) <= set(found.blanket_)
    found = IAMB(independence=GSquared(), alpha=1e-4).fit(codes, (codes[:, :3].sum(axis=1) > 1).astype(int))
    assert set(range(3)) <= set(found.blanket_)
    assert time.perf_counter() - start < 20


@pytest.mark.parametrize("seed", range(5))
def test_always_keep_and_condition_on_do_not_disturb_the_oracle(seed):
    n_nodes, edges = random_dag(seed)
    target = n_nodes - 1
    plain = inquiry_about(edges, n_nodes)
    blanket = IAMB()._search(plain)
    if not blanket:
        return
    kept = Inquiry(plain.test, target, 0.05, plain.trace, 0, always_keep=(blanket[0],))
    assert set(IAMB()._search(kept)) == set(blanket)
    given = Inquiry(plain.test, target, 0.05, plain.trace, 0, condition_on=(blanket[0],))
    assert set(IAMB()._search(given)) == set(blanket[1:])
