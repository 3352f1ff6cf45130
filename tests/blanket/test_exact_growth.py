"""Small p-values of growth are counted: valid whenever draws end, and the same however the work is cut."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from tests.reference.anytime import anytime_pvalue

from ppfs import PPFS
from ppfs._reading import read_table
from ppfs.blanket._correction import adjust, level_of
from ppfs.blanket._exact_growth import anytime_pvalues, count_small_pvalues, draws_needed
from ppfs.independence import PPI, CrossFitPPI


class KnownTail:
    """A tail whose columns are exceeded with known probability."""

    draws_at_once = 32

    def __init__(self, chances: NDArray[np.float64], seed: int) -> None:
        self.chances = chances
        self.rng = np.random.default_rng(seed)
        self.n_draws = 0

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        return np.ones(len(xs), dtype=bool)

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int) -> NDArray[np.intp]:
        self.n_draws += len(xs) * (end - first)
        return self.rng.binomial(end - first, self.chances[list(xs)])


@pytest.mark.parametrize("sharpness", [0.5, 0.8, 0.95])
@pytest.mark.parametrize(("n_as_extreme", "n_draws"), [(0, 32), (3, 96), (40, 1000), (0, 100_000)])
def test_anytime_pvalue_is_where_the_bet_pays_off(n_as_extreme: int, n_draws: int, sharpness: float) -> None:
    found = anytime_pvalues(np.array([n_as_extreme]), n_draws, sharpness)[0]
    assert found == pytest.approx(anytime_pvalue(n_as_extreme, n_draws, sharpness), rel=1e-6)


def test_anytime_pvalues_hold_under_the_worst_stopping_rule() -> None:
    """Whoever may stop when it looks best is still right: the smallest p-value of a long run is valid."""
    rng = np.random.default_rng(0)
    chances = rng.uniform(size=4000)
    looks = np.unique(np.geomspace(1, 4000, 60).astype(int))
    steps = np.diff(looks, prepend=0)
    counts = np.cumsum([rng.binomial(step, chances) for step in steps.tolist()], axis=0)
    best = np.min([anytime_pvalues(*look, 0.8) for look in zip(counts, looks.tolist(), strict=True)], axis=0)
    for level in (0.2, 0.05, 0.01):
        # Four standard errors above the level.
        assert (best <= level).mean() <= level + 4 * np.sqrt(level / 4000)
    # And it is not idle: a good part of the level is used.
    assert (best <= 0.05).mean() > 0.035


@pytest.mark.parametrize("level", [0.05, 1e-3, 1e-5])
def test_as_many_draws_as_needed_and_no_more(level: float) -> None:
    needed = draws_needed(level, 0.8)
    assert anytime_pvalues(np.array([0]), needed, 0.8)[0] <= level
    assert anytime_pvalues(np.array([0]), needed - 1, 0.8)[0] > level


@pytest.mark.parametrize("correction", [None, "bh", "by", "bonferroni"])
def test_level_is_where_equal_pvalues_are_called(correction: str | None) -> None:
    level = level_of(0.05, correction, n_asked=200, n_called=7)
    for factor, is_called in ((0.999, True), (1.001, False)):
        pvalues = np.ones(200)
        pvalues[:7] = level * factor
        assert (adjust(pvalues, correction)[:7] <= 0.05).all() == is_called


@pytest.mark.parametrize("correction", [None, "bh", "bonferroni"])
def test_what_chance_never_reaches_is_called_and_what_it_often_does_is_not(correction: str | None) -> None:
    approximate = np.full(1000, 0.6)
    approximate[:10] = 1e-12
    chances = np.zeros(1000)
    chances[3:10] = 0.1
    counted = count_small_pvalues(KnownTail(chances, 0), range(1000), approximate, correction, 0.05)
    pvalues = approximate.copy()
    pvalues[counted.places] = counted.pvalues
    assert np.flatnonzero(adjust(pvalues, correction) <= 0.05).tolist() == [0, 1, 2]


def test_work_for_clear_cases_does_not_grow_with_their_number() -> None:
    def work(n_clear: int) -> int:
        approximate = np.ones(2000)
        approximate[:n_clear] = 1e-12
        tail = KnownTail(np.zeros(2000), 0)
        count_small_pvalues(tail, range(2000), approximate, "bh", 0.05)
        return tail.n_draws

    # 2 over alpha draws for each column of the table.
    assert max(work(1), work(30), work(500)) < 2.3 * 2000 / 0.05


def test_what_the_budget_cannot_resolve_is_said_and_not_called() -> None:
    approximate = np.full(20_000, 1e-12)
    counted = count_small_pvalues(
        KnownTail(np.zeros(20_000), 0), range(20_000), approximate, "bonferroni", 0.05
    )
    assert 0 < counted.is_unresolved.sum() < 20_000
    assert (counted.pvalues[counted.is_unresolved] > 0.05 / 20_000).all()
    assert "not resolved within the budget (p <= " in counted.note


def noise(n_rows: int = 40, n_columns: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    y = rng.permutation(np.arange(n_rows) % 2)
    X[:, 0] += 2.5 * y
    X[:, 1] += 1.5 * y
    return X, y


def exact_steps(selector: PPFS, X: object) -> list[tuple[str, float, float, str]]:
    names = selector.trace_.names
    return sorted(
        (names[step.feature], step.pvalue, step.statistic, step.decision)
        for step in selector.trace_
        if step.phase == "exact growth"
    )


def test_counted_pvalues_are_those_of_a_plain_permutation_test() -> None:
    """A permutation test written down directly, with models of scikit-learn's own, finds a p-value like it."""
    X, y = noise()
    test = CrossFitPPI(LogisticRegression(), random_state=0)
    table = read_table(X, y, task="classification", owner=test)
    bound = test.bind(table)
    tail = bound.exact_tail(table.target)
    assert tail is not None
    rng = np.random.default_rng(5)
    for x in (1, 2, 7):
        pvalue = bound.query(x, table.target).pvalue
        counted = tail.n_as_extreme([x], 0, 1024)[0] / 1024
        shuffled = rng.permuted(np.tile(X[:, x], (1024, 1)), axis=1).T
        other = test.bind(read_table(shuffled, y, task="classification", owner=test))
        drawn = [answer.pvalue for answer in other.query_many(range(1024), 1024)]
        plain = float(np.mean(np.array(drawn) <= pvalue))
        # Both are shares of 1,024 draws: four standard errors of their difference.
        assert abs(counted - plain) <= 4 * np.sqrt(2 * max(plain, 1 / 1024) / 1024)


@pytest.mark.parametrize("correction", [None, "bh"])
def test_strong_columns_are_found_and_the_trace_shows_both_answers(correction: str | None) -> None:
    X, y = noise()
    test = CrossFitPPI(LogisticRegression())
    selector = PPFS(independence=test, correction=correction, random_state=0).fit(X, y)
    assert 0 in selector.blanket_
    steps = selector.trace_.of(0)
    assert [step.phase for step in steps[:2]] == ["growth", "exact growth"]
    # A t-test over 40 rows has no such tail; a share of draws has no more digits than there are draws.
    assert steps[0].pvalue < 1e-6 < steps[1].pvalue <= 0.05
    assert any(note.startswith("exact growth: ") for note in selector.trace_.notes)


def test_draws_depend_on_nothing_but_content_and_number() -> None:
    X, y = noise()
    reference = PPFS.calibrated(Ridge(), random_state=3, task="regression").fit(X, y.astype(float))
    expected = exact_steps(reference, X)
    assert expected
    order = np.random.default_rng(0).permutation(X.shape[1])
    named = {f"x{column}": f"x{place}" for place, column in enumerate(order)}
    for other, table in (
        (PPFS.calibrated(Ridge(), random_state=3, task="regression", n_jobs=2), X),
        (PPFS.calibrated(Ridge(), random_state=3, task="regression"), sp.csc_array(X)),
        (PPFS.calibrated(Ridge(), random_state=3, task="regression"), np.asfortranarray(X)),
    ):
        found = exact_steps(other.fit(table, y.astype(float)), table)
        assert [step[0] for step in found] == [step[0] for step in expected]
        np.testing.assert_allclose([step[1] for step in found], [step[1] for step in expected], rtol=1e-12)
    turned = PPFS.calibrated(Ridge(), random_state=3, task="regression").fit(X[:, order], y.astype(float))
    assert exact_steps(turned, X) == sorted((named[name], *rest) for name, *rest in expected)


def test_files_and_checkpoints_give_the_same_counts(tmp_path: object) -> None:
    X, y = noise()
    np.save(f"{tmp_path}/X.npy", X)
    expected = exact_steps(PPFS.calibrated(LogisticRegression(), random_state=3).fit(X, y), X)
    for _ in range(2):
        again = PPFS.calibrated(LogisticRegression(), random_state=3, checkpoint=f"{tmp_path}/kept")
        assert exact_steps(again.fit(f"{tmp_path}/X.npy", y), X) == expected


@pytest.mark.parametrize("seed", [0, 15])
def test_noise_that_fools_the_t_test_is_not_selected(seed: int) -> None:
    """Short, wide tables of skewed columns: the t-test's tail selects from noise in 13 of 25, counting in one."""
    rng = np.random.default_rng(seed)
    X, y = np.exp(rng.normal(size=(40, 600))), rng.permutation(np.arange(40) % 2)
    n_selected = {}
    for exact_tail in (False, True):
        test = CrossFitPPI(LogisticRegression(), exact_tail=exact_tail)
        selector = PPFS(independence=test, correction="bh", random_state=seed).fit(X, y)
        n_selected[exact_tail] = selector.blanket_.size
    assert n_selected[False] > 0
    assert n_selected[True] == 0


@pytest.mark.parametrize(
    ("test", "is_counted"),
    [
        (CrossFitPPI(LogisticRegression()), True),
        (CrossFitPPI(LogisticRegression(), exact_tail=False), False),
        (CrossFitPPI(KNeighborsClassifier()), False),
        (CrossFitPPI(KNeighborsClassifier(), exact_tail=True), True),
        (PPI(LogisticRegression()), False),
    ],
)
def test_counted_by_default_where_the_engine_refits(test: CrossFitPPI, is_counted: bool) -> None:
    X, y = noise(n_columns=3)
    table = read_table(X, y, task="classification", owner=test)
    assert (test.bind(table).exact_tail(table.target) is not None) == is_counted


def test_a_feature_of_several_columns_keeps_its_approximate_pvalue() -> None:
    X, y = noise(n_columns=6)
    selector = PPFS.calibrated(LogisticRegression(), random_state=0, feature_groups={"pair": [0, 2]}).fit(
        X, y
    )
    phases = {step.phase for step in selector.trace_.of("pair")}
    assert "growth" in phases
    assert "exact growth" not in phases


def test_groups_hold_their_level_where_rows_of_a_group_are_alike() -> None:
    """Both the column and the target are constant within groups of rows: only groups may trade places."""
    n_called = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(24), 5)
        X = rng.normal(size=(24, 20))[groups] + 0.1 * rng.normal(size=(120, 20))
        y = rng.permutation(np.arange(24) % 2)[groups]
        selector = PPFS.calibrated(LogisticRegression(), random_state=seed).fit(X, y, groups=groups)
        n_called += selector.blanket_.size > 0
    # A correct test calls in one of twenty: 8 of 40 or more has a chance of 0.0007.
    assert n_called < 8
