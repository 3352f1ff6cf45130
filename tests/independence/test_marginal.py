"""Questions given nothing: how models share a block, who answers what, and what errors say."""

from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import ClassVar

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from ppfs._data.block import Block
from ppfs.exceptions import EstimatorFailedError, UnusableColumnError
from ppfs.independence._answers import Answers
from ppfs.independence._predictive import marginal
from ppfs.independence._predictive.combined_models import PanelMembers
from ppfs.independence._predictive.marginal import Grown, Growth, cut, grow_blocks, judged, without_failures
from ppfs.independence._predictive.risks.paired import PairedRisks


@dataclass
class OneGrower:
    """A model with given properties; its risk falls with the mean of a column."""

    prefers: str | None = "threads"
    bytes_per_block: int = 2**20
    least_columns: int = 1
    most_threads: int | None = None
    takes_views: bool = True
    is_on_device: bool = False
    is_quick: bool = True
    is_quick_with_categories: bool = True
    is_worth: bool = True
    shift: float = 0.0
    asked: list = field(default_factory=list)
    prepared: list = field(default_factory=list)
    problem: ClassVar = SimpleNamespace(
        splits=[1, 2, 3],
        estimator=LinearRegression(),
        loss_unit=1.0,
        loss=SimpleNamespace(name="squared"),
    )

    def is_worth_threads(self, n_columns):
        return self.is_worth and n_columns > 2

    def for_many_columns(self):
        return replace(self, shift=self.shift + 100.0)

    def prepare(self):
        self.prepared.append(True)

    def risks(self, block):
        self.asked.append(block.names)
        means = np.asarray(block.X).mean(axis=0) + self.shift
        if (means > 90.0).any():
            raise EstimatorFailedError("too large")
        base = np.repeat(means[:, np.newaxis], 3, axis=1)
        return PairedRisks(base, base + 1.0, np.zeros(len(means), dtype=bool))


class Assess:
    """Takes the mean risk as the statistic, and a tenth of it as the p-value."""

    def __init__(self):
        self.screened = []

    def assess(self, risks, differences, problem, is_screened):
        self.screened.append(is_screened)
        mean = risks.base.mean(axis=1)
        return mean / 10.0, mean


def growth_of(*growers, **more):
    numbers = tuple(range(len(growers)))
    n_models = len(growers) if len(growers) > 1 else 0
    return Growth(Assess(), growers, PanelMembers(numbers, (1.0,) * len(growers), n_models), **more)


def block(means, levels=None):
    means = np.asarray(means, dtype=float)
    X = means + np.array([[-1.0], [0.0], [1.0]])
    X[:, means == 0.0] = 0.0
    n_levels = np.zeros(means.size, dtype=np.intp) if levels is None else np.array(levels)
    return Block(X, n_levels, tuple(f"x{mean:g}" for mean in means))


def test_columns_that_vary_are_answered_in_one_go():
    grower = OneGrower()
    growth = growth_of(grower)
    grown = growth(block([1.0, 0.0, 3.0]))
    assert grown.answers.statistics.tolist() == [1.0, 0.0, 3.0]
    assert grown.answers.pvalues.tolist() == pytest.approx([0.1, 1.0, 0.3])
    assert grown.answers.effects.tolist() == [1.0, 0.0, 1.0]
    assert grown.n_fits == 2 * 3
    assert grown.failures == {}
    assert grower.asked == [("x1", "x3")]
    assert growth.test.screened == [True]
    assert growth(block([0.0])).n_fits == 0


def test_a_block_of_many_bytes_is_cut():
    grower = OneGrower(bytes_per_block=2 * 3 * 8)
    grown = growth_of(grower)(block([1.0, 2.0, 3.0, 4.0, 5.0]))
    assert grown.answers.statistics.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0]
    assert grower.asked == [("x1", "x2"), ("x3", "x4"), ("x5",)]
    assert grown.n_fits == 15


def test_categories_may_be_answered_by_fewer_models():
    first, second = OneGrower(), OneGrower(shift=1.0)
    few = replace(growth_of(first, second), growers=(second,), members=PanelMembers((1,), (1.0,), 2))
    growth = replace(growth_of(first, second), of_categories=few)
    grown = growth(block([1.0, 2.0, 3.0], levels=[0, 4, 0]))
    assert first.asked == [("x1", "x3")]
    assert second.asked == [("x1", "x3"), ("x2",)]
    np.testing.assert_allclose(grown.answers.model_pvalues, [[0.1, 0.2], [np.nan, 0.3], [0.3, 0.4]])
    assert grown.n_fits == 2 * 2 * 3 + 3
    growth(block([1.0], levels=[0]))
    assert first.asked[-1] == second.asked[-1] == ("x1",)


def test_growth_is_as_its_models_are():
    one = OneGrower(bytes_per_block=9, least_columns=2)
    other = OneGrower(prefers=None, bytes_per_block=5, least_columns=4, takes_views=False, is_worth=False)
    both, twice = growth_of(one, other), growth_of(one, one)
    assert (both.bytes_per_block, both.least_columns, both.n_models) == (5, 4, 2)
    assert (both.prefers, twice.prefers) == (None, "threads")
    assert (both.takes_views, twice.takes_views) == (False, True)
    assert (both.is_on_device, growth_of(one, OneGrower(is_on_device=True)).is_on_device) == (False, True)
    assert [both.is_worth_threads(n) for n in (2, 3)] == [False, True]
    assert (both.most_threads, growth_of(one, replace(one, most_threads=8)).most_threads) == (None, 8)
    assert growth_of(replace(one, most_threads=4), replace(one, most_threads=8)).most_threads == 4
    both.prepare()
    assert (one.prepared, other.prepared) == ([True], [True])
    many = replace(both, of_categories=growth_of(other)).for_many_columns()
    assert [grower.shift for grower in many.growers] == [100.0, 100.0]
    assert [grower.shift for grower in many.of_categories.growers] == [100.0]
    assert both.for_many_columns().of_categories is None


def test_the_quick_part_are_models_that_are_refitted_quickly():
    quick, slow = OneGrower(), OneGrower(is_quick=False, is_quick_with_categories=False)
    numbers = OneGrower(is_quick_with_categories=False)
    assert growth_of(slow).quick_part() is None
    assert growth_of(quick, OneGrower(prefers=None)).quick_part() is None
    part = growth_of(slow, quick, numbers).quick_part()
    assert part.growers == (quick, numbers)
    assert part.members == PanelMembers((1, 2), (1.0, 1.0), 3)
    assert part.of_categories.growers == (quick,)
    assert part.of_categories.members.numbers == (1,)
    for alike in ((quick, quick), (numbers, numbers)):
        assert growth_of(*alike).quick_part().of_categories is None
    assert growth_of(slow, quick).quick_part().growers == (quick,)


def test_columns_that_models_fail_on_are_found_by_halves():
    growth = growth_of(OneGrower())
    grown = without_failures(growth, block([1.0, 95.0, 3.0, 4.0, 99.0]))
    assert grown.failures == {1: "EstimatorFailedError: too large", 4: "EstimatorFailedError: too large"}
    assert grown.answers.pvalues.tolist() == pytest.approx([0.1, 1.0, 0.3, 0.4, 1.0])
    assert grown.answers.is_reliable.tolist() == [True, False, True, True, False]
    assert grown.n_fits == 9
    with pytest.raises(EstimatorFailedError):
        growth(block([1.0, 95.0]))
    assert without_failures(growth, block([1.0, 2.0])).n_fits == 6


@pytest.mark.parametrize(
    ("n", "per_column", "per_block", "n_workers", "least", "sizes"),
    [
        (5, 8, 16, 1, 1, [2, 2, 1]),
        (5, 8, 15, 1, 1, [1, 1, 1, 1, 1]),
        (5, 8, 1, 1, 3, [1, 1, 1, 1, 1]),
        (5, 0, 3, 1, 1, [3, 2]),
        (16, 1, 100, 2, 1, [2] * 8),
        (17, 1, 100, 2, 1, [3] * 5 + [2]),
        (16, 1, 100, 2, 5, [5, 5, 5, 1]),
        (16, 1, 3, 2, 5, [3, 3, 3, 3, 3, 1]),
        (16, 1, 100, 1, 5, [16]),
        (0, 1, 100, 1, 1, []),
    ],
)
def test_blocks_are_large_enough_and_as_many_as_workers_need(
    n, per_column, per_block, n_workers, least, sizes
):
    blocks = cut(np.arange(n), per_column, per_block, n_workers, least)
    assert [one.size for one in blocks] == sizes
    assert [x for one in blocks for x in one.tolist()] == list(range(n))


def test_blocks_of_single_columns_are_small_enough_for_all_workers():
    assert [one.tolist() for one in cut(np.arange(5), 1, 100, n_workers=3)] == [[0], [1], [2], [3], [4]]


def risks_of(base, replaced, unused=None):
    base, replaced = np.asarray(base, dtype=float), np.asarray(replaced, dtype=float)
    return PairedRisks(
        base, replaced, np.zeros(len(base), dtype=bool) if unused is None else np.array(unused)
    )


PROBLEM = SimpleNamespace(
    loss_unit=4.0,
    loss=SimpleNamespace(name="squared"),
    estimator=LinearRegression(),
    split_of_pair=lambda pair: 10 + pair,
)


def test_where_no_pair_differs_the_answer_is_independence():
    risks = risks_of(
        [[1.0, 2.0], [1.0, 2.0], [3.0, 3.0]], [[1.0, 2.0], [1.0, 2.0], [4.0, 6.0]], [True, False, False]
    )
    test = Assess()
    answers = judged(test, PROBLEM, risks, ("a", "b", "c"))
    assert answers.pvalues.tolist() == pytest.approx([1.0, 1.0, 0.3])
    assert answers.statistics.tolist() == [0.0, 0.0, 3.0]
    assert answers.effects.tolist() == [0.0, 0.0, 8.0]
    assert answers.is_inert.tolist() == [True, False, False]
    assert answers.is_reliable.all()
    assert not answers.may_be_too_small.any()
    assert np.isnan(answers.explained).all()
    assert np.isnan(answers.root_effects).all()
    assert answers.model_pvalues.shape == (3, 0)
    assert answers.explained.shape == answers.root_effects.shape == (3, 2)
    assert test.screened == [False]
    none = judged(test, PROBLEM, replace(risks, unused=np.ones(3, dtype=bool)), ("a", "b", "c"))
    assert none.is_inert.all()
    assert none.pvalues.tolist() == [1.0, 1.0, 1.0]
    assert test.screened == [False]


def test_moments_stand_for_differences():
    moments = np.array([[0.5, -1.0, 2.0], [0.25, 0.0, 2.0], [0.5, 2.0, 2.0]])
    risks = PairedRisks.summed_up(moments)
    risks = replace(risks, base=np.array([[1.0], [2.0], [3.0]]))
    answers = judged(Assess(), PROBLEM, risks, ("a", "b", "c"))
    assert answers.statistics.tolist() == [0.0, 2.0, 3.0]
    assert answers.effects.tolist() == [0.0, 1.0, 2.0]
    risks.moments[2, 0] = np.inf
    with pytest.raises(
        UnusableColumnError,
        match=r"^The squared loss of LinearRegression with 'c' is not a finite number, so",
    ):
        judged(Assess(), PROBLEM, risks, ("a", "b", "c"))


@pytest.mark.parametrize(
    ("base", "replaced", "said"),
    [
        (
            [[1.0, 1.0], [1.0, np.nan]],
            [[1.0, 1.0], [1.0, np.nan]],
            r"'b' as it is is not a finite number in split 11,",
        ),
        (
            [[1.0, 1.0], [1.0, 1.0]],
            [[np.inf, 1.0], [1.0, 1.0]],
            r"'a' replaced by its knockoff is not .* in split 10,",
        ),
    ],
)
def test_risks_that_are_not_finite_say_where(base, replaced, said):
    with pytest.raises(UnusableColumnError, match=said):
        judged(Assess(), PROBLEM, risks_of(base, replaced), ("a", "b"))


class Table:
    names = tuple("abcdefgh")
    storage = SimpleNamespace(bytes_per_column=24)
    n_rows = 3

    def __init__(self, is_in_memory=True):
        self.read = []
        self.is_in_memory = is_in_memory

    def block(self, columns, *, as_view):
        self.read.append((columns, as_view))
        return block([1.0 + column for column in columns])


@pytest.fixture
def tasks(monkeypatch):
    """Run tasks at once, and write down how they were to be run."""
    found = {}

    def run_tasks(function, shared, waiting, *, n_jobs, prefer, are_forked, prepare, describe):
        found.update(
            n_jobs=n_jobs,
            prefer=prefer,
            described=[describe(one) for one in waiting],
            function=function,
            are_forked=are_forked,
        )
        return [function(shared, prepare(one)) for one in waiting]

    monkeypatch.setattr(marginal, "run_tasks", run_tasks)
    monkeypatch.setattr(marginal, "count_workers", lambda n_jobs: n_jobs or 1)
    monkeypatch.setattr(
        marginal, "tasks_are_sent", lambda n_workers, prefers: prefers is None and n_workers > 1
    )
    return found


def test_columns_are_answered_block_by_block(tasks):
    table, grower = Table(), OneGrower(bytes_per_block=48)
    found = list(grow_blocks(growth_of(grower), table, np.array([0, 2, 3, 7, 5]), None))
    assert [(xs.tolist(), grown.answers.statistics.tolist()) for xs, grown in found] == [
        ([0, 2], [1.0, 3.0]),
        ([3, 7], [4.0, 8.0]),
        ([5], [6.0]),
    ]
    assert table.read == [([0, 2], True), ([3, 7], True), ([5], True)]
    assert tasks["described"][1] == "the block of 2 columns 'd', 'h'"
    assert (tasks["n_jobs"], tasks["prefer"], tasks["function"]) == (1, "threads", Growth.__call__)
    assert grower.prepared == [True]


@pytest.mark.parametrize(
    ("n_jobs", "n_columns", "is_worth", "used"),
    [(3, 5, True, 3), (3, 5, False, 1), (3, 2, True, 1), (9, 4, True, 4)],
)
def test_threads_start_where_they_are_worth_it(n_jobs, n_columns, is_worth, used, tasks):
    growth = growth_of(OneGrower(is_worth=is_worth))
    list(grow_blocks(growth, Table(), np.arange(n_columns), n_jobs, "drop"))
    assert tasks["n_jobs"] == used
    assert tasks["function"] is without_failures


def test_no_more_threads_start_than_are_of_use(tasks, monkeypatch):
    monkeypatch.setattr(marginal, "can_fork", lambda *_: False)
    list(grow_blocks(growth_of(OneGrower(most_threads=2)), Table(), np.arange(6), 5))
    assert tasks["n_jobs"] == 2
    list(grow_blocks(growth_of(OneGrower(most_threads=2, prefers=None)), Table(), np.arange(6), 5))
    assert tasks["n_jobs"] == 5
    assert not tasks["are_forked"]


@pytest.mark.parametrize(
    ("more", "is_in_memory", "are_forked"),
    [
        ({"most_threads": 2}, True, True),
        ({"most_threads": 2}, False, False),
        ({"most_threads": 2, "is_on_device": True}, True, False),
        ({"most_threads": 2, "prefers": None}, True, False),
        ({}, True, False),
    ],
)
def test_copies_of_the_process_are_made_where_threads_would_wait(
    more, is_in_memory, are_forked, tasks, monkeypatch
):
    asked = []
    monkeypatch.setattr(marginal, "can_fork", lambda *some: asked.append(some) or True)
    growth = growth_of(OneGrower(bytes_per_block=8 * 24, least_columns=2, **more))
    sizes = [xs.size for xs, _ in grow_blocks(growth, Table(is_in_memory), np.arange(8), 5)]
    assert tasks["are_forked"] == are_forked
    assert sum(sizes) == 8
    if are_forked:
        assert asked == [(5, 3)]
        assert (sizes, tasks["n_jobs"]) == ([2] * 4, 5)


def test_the_first_of_the_blocks_for_copies_is_a_small_one(tasks, monkeypatch):
    monkeypatch.setattr(marginal, "can_fork", lambda *_: True)
    growth = growth_of(OneGrower(most_threads=2, bytes_per_block=24 * 32))
    found = grow_blocks(growth, Table(), np.arange(8).repeat(16), 4)
    assert [xs.size for xs, _ in found] == [4, 12, *[16] * 7]


@pytest.mark.parametrize(("per_block", "sizes"), [(1, [8]), (24, [8]), (48, [8])])
def test_other_processes_get_many_columns_at_once(per_block, sizes, tasks):
    growth = growth_of(OneGrower(prefers=None, bytes_per_block=per_block, is_worth=False, least_columns=8))
    found = list(grow_blocks(growth, Table(), np.arange(8), 2))
    assert [xs.size for xs, _ in found] == sizes
    assert tasks["n_jobs"] == 2
    narrow = growth_of(OneGrower(prefers=None, bytes_per_block=per_block, is_worth=False))
    assert [xs.size for xs, _ in grow_blocks(narrow, Table(), np.arange(8), 2)] == [1] * 8


def test_a_task_for_another_process_is_sixteen_blocks(tasks, monkeypatch):
    seen = []
    monkeypatch.setattr(marginal, "cut", lambda xs, *rest, **more: seen.append(rest) or [xs])
    growth = growth_of(OneGrower(prefers=None, bytes_per_block=7, least_columns=3))
    list(grow_blocks(growth, Table(), np.arange(4), 2))
    assert seen[0] == (24, 16 * 24, 2, 3)
    seen.clear()
    list(grow_blocks(growth_of(OneGrower(prefers=None, bytes_per_block=100)), Table(), np.arange(4), 2))
    assert seen[0] == (24, 1600, 2, 1)
    seen.clear()
    list(grow_blocks(growth_of(OneGrower(bytes_per_block=100)), Table(), np.arange(4), 2))
    assert seen[0] == (24, 100, 2, 1)


def test_answers_of_parts_are_put_in_their_places():
    parts = [Grown(Answers.independent(2), 3, {1: "b"}), Grown(Answers.independent(1), 4, {0: "c"})]
    parts[0].answers.pvalues[:] = [0.1, 0.2]
    parts[1].answers.pvalues[:] = 0.3
    joined = marginal._joined([np.array([2, 0]), np.array([1])], parts, 0)
    assert joined.answers.pvalues.tolist() == [0.2, 0.3, 0.1]
    assert joined.n_fits == 7
    assert joined.failures == {0: "b", 1: "c"}
