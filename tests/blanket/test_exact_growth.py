"""Small p-values of growth are counted: valid whenever draws end, and the same however the work is cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import parallel_config
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket._steps.correction import adjust, level_of
from ppfs.blanket._steps.exact_growth import Effort, count_small_pvalues, expected_refits
from ppfs.independence import PPI, CrossFitPPI
from ppfs.independence._predictive import exact_tail as tails


class KnownTail:
    """A tail whose columns are exceeded with known probability."""

    draws_at_once = 64

    def __init__(self, chances: NDArray[np.float64], seed: int) -> None:
        self.chances = chances
        self.rng = np.random.default_rng(seed)
        self.n_refitted = 0
        self.n_draws = 0

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        return np.ones(len(xs), dtype=bool)

    def bounded_pvalues(self, xs: Sequence[int]) -> NDArray[np.float64]:
        return np.ones(len(xs))

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int, share: float) -> NDArray[np.intp]:
        assert first < end
        self.n_draws += len(xs) * (end - first)
        self.n_refitted += round(len(xs) * (end - first) * share)
        return self.rng.binomial(end - first, self.chances[list(xs)])


def called(
    chances: NDArray[np.float64], approximate: NDArray[np.float64], correction: str | None, seed: int = 0
) -> list[int]:
    """Return who is called after counting."""
    counted = count_small_pvalues(
        KnownTail(chances, seed), range(approximate.size), approximate, correction, 0.05
    )
    pvalues = approximate.copy()
    pvalues[counted.places] = counted.pvalues
    return np.flatnonzero(adjust(pvalues, correction) <= 0.05).tolist()


@pytest.mark.parametrize("correction", [None, "bh", "by", "bonferroni"])
def test_level_is_where_equal_pvalues_are_called(correction: str | None) -> None:
    level = level_of(0.05, correction, n_asked=200, n_called=7)
    for factor, is_called in ((0.999, True), (1.001, False)):
        pvalues = np.ones(200)
        pvalues[:7] = level * factor
        assert (adjust(pvalues, correction)[:7] <= 0.05).all() == is_called


@pytest.mark.parametrize("correction", [None, "bh", "by", "bonferroni"])
def test_what_chance_never_reaches_is_called_and_what_it_often_does_is_not(correction: str | None) -> None:
    approximate = np.full(1000, 0.6)
    approximate[:10] = 1e-12
    chances = np.zeros(1000)
    chances[3:10] = 0.1
    assert called(chances, approximate, correction) == [0, 1, 2]


def test_few_clear_columns_are_found_among_many_that_fooled_the_approximation() -> None:
    """The level falls to a hundredth on the way, and draws follow it."""
    approximate = np.ones(5000)
    approximate[:200] = 1e-12
    chances = np.zeros(5000)
    chances[2:200] = np.random.default_rng(0).uniform(0.001, 1, size=198)
    assert called(chances, approximate, "bh") == [0, 1]


def test_many_columns_of_middling_strength_are_called_as_by_exact_pvalues() -> None:
    """Where many columns are dependent the level is mild, and p-values near it are called, not only clear cases."""
    rng = np.random.default_rng(0)
    chances = np.append(rng.beta(0.3, 30, size=700), rng.uniform(size=9300))
    found = called(chances, chances, "bh")
    exact = np.flatnonzero(adjust(chances, "bh") <= 0.05)
    assert exact.size > 300
    assert len(found) > 0.9 * exact.size
    assert np.isin(found, exact).mean() > 0.9


def test_noise_is_called_as_rarely_as_promised_whatever_the_approximation_says() -> None:
    """An approximation that is far too small sends columns of noise into the count: one table of twenty may err."""
    n_tables = 1000
    rng = np.random.default_rng(0)
    n_wrong = 0
    for seed in range(n_tables):
        chances = rng.uniform(size=50)
        n_wrong += bool(called(chances, chances / 100, "bh", seed))
    # Four standard errors above the level.
    assert n_wrong / n_tables <= 0.05 + 4 * np.sqrt(0.05 / n_tables)
    # And it is not idle: a good part of the level is used.
    assert n_wrong / n_tables > 0.03


def test_work_does_not_grow_with_the_number_of_clear_cases() -> None:
    def work(n_clear: int) -> KnownTail:
        approximate = np.ones(2000)
        approximate[:n_clear] = 1e-12
        tail = KnownTail(np.zeros(2000), 0)
        count_small_pvalues(tail, range(2000), approximate, "bh", 0.05)
        return tail

    tails = [work(n_clear) for n_clear in (1, 30, 500, 2000)]
    # Ten over alpha draws for each column of the table, and five close looks, up to the size of a batch.
    assert max(tail.n_draws for tail in tails) <= 1.3 * 10 * 2000 / 0.05
    assert max(tail.n_refitted for tail in tails) <= 7 * 2000


def test_progress_is_the_number_of_columns_that_are_still_counted() -> None:
    ahead: list[int] = []
    tail = KnownTail(np.zeros(60), 0)
    count_small_pvalues(tail, range(60), np.full(60, 1e-12), "bh", 0.05, on_progress=ahead.append)
    assert ahead == sorted(ahead, reverse=True)
    assert 20 < ahead[0] < 60
    assert ahead[-1] == 0


def test_few_columns_are_counted_as_closely_as_the_level_asks() -> None:
    """A table of 60 columns takes no time, however many of them are candidates."""
    tail = KnownTail(np.zeros(60), 0)
    counted = count_small_pvalues(tail, range(60), np.full(60, 1e-12), "bh", 0.05)
    assert (counted.pvalues < 0.05 / 9).all()


def test_what_the_budget_cannot_resolve_is_said_and_not_called() -> None:
    approximate = np.full(20_000, 1e-12)
    counted = count_small_pvalues(
        KnownTail(np.zeros(20_000), 0), range(20_000), approximate, "bonferroni", 0.05
    )
    assert 0 < counted.is_unresolved.sum() < 20_000
    assert (counted.pvalues[counted.is_unresolved] == 1.0).all()
    assert (counted.pvalues[~counted.is_unresolved] <= 0.05 / 20_000).all()
    assert "could not be resolved within the budget" in counted.note


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
        counted = tail.n_as_extreme([x], 0, 1024, share=1.0)[0] / 1024
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


def test_other_processes_give_the_same_counts() -> None:
    X, y = noise()
    selector = PPFS.calibrated(LogisticRegression(), random_state=3)
    expected = exact_steps(selector.fit(X, y), X)
    with parallel_config(backend="multiprocessing", n_jobs=2):
        assert exact_steps(clone(selector).fit(X, y), X) == expected


def test_a_search_that_is_killed_while_it_counts_goes_on_from_there(
    tmp_path: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is there of the count is not counted again, and a finished search fits nothing."""
    X, y = noise()
    monkeypatch.setattr(tails, "_BLOCKS_PER_TASK", 0.01)
    whole = PPFS.calibrated(LogisticRegression(), random_state=3).fit(X, y)
    selector = PPFS.calibrated(LogisticRegression(), random_state=3, checkpoint=f"{tmp_path}/kept")
    asked: list[range] = []
    deadly = 3

    def counted(drawing: object, chunks: range, original: Callable[..., object] = tails.counts_of) -> object:
        asked.append(chunks)
        if len(asked) == deadly:
            raise KeyboardInterrupt
        return original(drawing, chunks)

    monkeypatch.setattr(tails, "counts_of", counted)
    with pytest.raises(KeyboardInterrupt):
        clone(selector).fit(X, y)
    again = clone(selector).fit(X, y)
    assert again.trace_.to_frame().equals(whole.trace_.to_frame())
    assert again.trace_.notes == whole.trace_.notes
    assert asked[2] == asked[3]
    n_asked = len(asked)
    assert n_asked > deadly + 1
    assert clone(selector).fit(X, y).n_fits_ == 0
    assert len(asked) == n_asked


def test_many_strong_columns_are_found_by_counting_as_by_the_t_test() -> None:
    """Thirty genes of 300 in 60 patients: what the t-test calls with good reason is called by counting too."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 300)), rng.permutation(np.arange(60) % 2)
    X[:, :30] += 1.6 * y[:, np.newaxis]
    found = {}
    for exact_tail in (False, True):
        test = CrossFitPPI(LogisticRegression(), exact_tail=exact_tail)
        selector = PPFS(independence=test, correction="bh", random_state=0).fit(X, y)
        grown = [step for step in selector.trace_ if "growth" in step.phase and step.decision == "candidate"]
        phase = "exact growth" if exact_tail else "growth"
        found[exact_tail] = {step.feature for step in grown if step.phase == phase}
        assert selector.blanket_.size > 0
    assert len(found[True] & set(range(30))) >= 28
    assert len(found[True] ^ found[False]) <= 3


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
    for seed in range(12):
        rng = np.random.default_rng(seed)
        groups = np.repeat(np.arange(24), 5)
        X = rng.normal(size=(24, 20))[groups] + 0.1 * rng.normal(size=(120, 20))
        y = rng.permutation(np.arange(24) % 2)[groups]
        selector = PPFS.calibrated(LogisticRegression(), random_state=seed).fit(X, y, groups=groups)
        n_called += selector.blanket_.size > 0
    # A correct test calls in one of twenty: 4 of 12 or more has a chance of 0.002.
    assert n_called < 4


@pytest.mark.parametrize(
    ("n_candidates", "n_columns", "effort"),
    [
        # Ten draws per level where these are few.
        (7, 1_000, Effort(28572, 0.01, 7)),
        # As many as five looks a column allow.
        (755, 10_000, Effort(1595, 0.018875, 755)),
        # Two a level, and a sharper glance, where there is work for no more.
        (9_000, 10_000, Effort(45, 0.1, 9_000)),
    ],
)
def test_draws_follow_the_level_and_the_work_that_growth_was(
    n_candidates: int, n_columns: int, effort: Effort
) -> None:
    level = 0.05 * n_candidates / n_columns
    assert Effort.of(n_candidates, n_columns, level, alpha=0.05) == effort


def test_a_p_value_that_equals_the_level_is_counted() -> None:
    approximate = np.array([0.05, np.nextafter(0.05, 1.0), 0.01])
    counted = count_small_pvalues(KnownTail(np.zeros(3), 0), range(3), approximate, None, 0.05)
    assert counted.places.tolist() == [2, 0]


class ScriptedTail:
    """A tail that is exceeded by the same share of any draws, and writes down what it is asked."""

    draws_at_once = 64

    def __init__(
        self, chances: Sequence[float], bounded: dict[int, float] | None = None, fixed: Sequence[int] = ()
    ):
        self.chances, self.bounded, self.fixed = chances, bounded or {}, fixed
        self.n_refitted = 1000
        self.asked: list[tuple[list[int], int, int, float]] = []

    def can_refine(self, xs: Sequence[int]) -> NDArray[np.bool_]:
        return np.array([x not in self.fixed for x in xs], dtype=bool)

    def bounded_pvalues(self, xs: Sequence[int]) -> NDArray[np.float64]:
        return np.array([self.bounded.get(x, 1.0) for x in xs])

    def n_as_extreme(self, xs: Sequence[int], first: int, end: int, share: float) -> NDArray[np.intp]:
        self.asked.append((list(xs), first, end, round(share, 9)))
        self.n_refitted += 10
        return np.array([int(self.chances[x] * end) - int(self.chances[x] * first) for x in xs])


def counting(
    tail: ScriptedTail, approximate: Sequence[float], correction: str | None, alpha: float = 0.05
) -> tuple:
    """Return what was asked, the progress, and what was counted, of columns numbered in tens."""
    ahead: list[int] = []
    columns = [10 * place for place in range(len(approximate))]
    counted = count_small_pvalues(tail, columns, np.array(approximate), correction, alpha, ahead.append)
    results = [
        (place, round(pvalue, 9), n, n_extreme, unresolved, bounded)
        for place, pvalue, n, n_extreme, unresolved, bounded in zip(
            counted.places.tolist(),
            counted.pvalues.tolist(),
            counted.n_draws.tolist(),
            counted.n_as_extreme.tolist(),
            counted.is_unresolved.tolist(),
            counted.is_bounded.tolist(),
            strict=True,
        )
    ]
    return tail.asked, ahead, results, counted.n_refitted, counted.note


def test_the_work_is_divided_as_the_level_asks() -> None:
    """In parts of a quarter, a half and all draws; columns that are reached too often, or not called, drop out."""
    chances = {0: 0.0, 10: 0.0, 20: 0.004, 30: 0.5, 40: 0.011, 50: 0.03}
    approximate = [1e-9, 1e-12, 1e-5, 1e-4, 0.001, 0.004, 1e-8, 1e-20, 0.5, 0.9, 0.8, 0.7]
    tail = ScriptedTail(chances, bounded={70: 1e-30}, fixed=[60])
    assert counting(tail, approximate, "bh") == (
        [
            ([10, 0, 20, 30, 40, 50], 0, 128, 0.1),
            ([10, 0, 20, 40, 50], 128, 192, 0.1),
            ([10, 0, 20, 40, 50], 192, 320, 0.1),
            ([10, 0, 20, 40, 50], 320, 384, 0.1),
            ([10, 0, 20, 40], 384, 448, 0.1),
        ],
        [3, 2, 0, 0, 0],
        [
            (7, 0.0, 0, 0, False, True),
            (1, 0.002227171, 448, 0, False, False),
            (0, 0.002227171, 448, 0, False, False),
            (2, 0.004454343, 448, 1, False, False),
            (3, 0.503875969, 128, 64, False, False),
            (4, 0.011135857, 448, 4, False, False),
            (5, 0.031168831, 384, 11, False, False),
        ],
        50,
        "exact growth: 6 small p-values counted by rearranging columns, 2304 times in all, models refitted to 50 of "
        "them; 1 still smaller p-values certified by a bound, without draws",
    )


def test_without_a_correction_the_level_is_alpha() -> None:
    chances = {0: 0.0, 10: 0.0, 20: 0.004, 30: 0.5, 40: 0.011}
    assert counting(ScriptedTail(chances), [1e-9, 1e-12, 1e-5, 1e-4, 0.001, 0.9], None) == (
        [
            ([10, 0, 20, 30, 40], 0, 64, 0.1),
            ([10, 0, 20, 40], 64, 128, 0.1),
            ([10, 0, 20, 40], 128, 256, 0.1),
        ],
        [3, 2, 0],
        [
            (1, 0.003891051, 256, 0, False, False),
            (0, 0.003891051, 256, 0, False, False),
            (2, 0.007782101, 256, 1, False, False),
            (3, 0.507692308, 64, 32, False, False),
            (4, 0.011673152, 256, 2, False, False),
        ],
        30,
        "exact growth: 5 small p-values counted by rearranging columns, 1088 times in all, models refitted to 30 of "
        "them",
    )


def test_nothing_is_drawn_for_bounded_columns_nor_for_none() -> None:
    counted = "small p-values counted by rearranging columns, 0 times in all, models refitted to 0 of them"
    assert counting(ScriptedTail({}, bounded={0: 1e-30}), [1e-9, 0.3], "bh") == (
        [],
        [],
        [(0, 0.0, 0, 0, False, True)],
        0,
        f"exact growth: 0 {counted}; 1 still smaller p-values certified by a bound, without draws",
    )
    assert counting(ScriptedTail({}), [0.9, 0.3], "bh") == ([], [], [], 0, f"exact growth: 0 {counted}")


def test_columns_that_tie_are_counted_in_their_order_and_at_the_limit_they_drop_out() -> None:
    """20 draws as extreme are too many, 19 are not."""
    chances = {0: 20 / 64, 10: 19 / 64, 20: 0.0}
    asked, ahead, results, *_ = counting(ScriptedTail(chances), [1e-3, 1e-3, 1e-3], None)
    assert [xs for xs, *_ in asked] == [[0, 10, 20], [10, 20], [20]]
    assert ahead == [1, 0, 0]
    assert [n for _, _, n, *_ in results] == [64, 128, 256]


def test_the_strongest_columns_are_counted_as_far_as_the_budget_goes() -> None:
    chances = {10 * place: 0.2 * (place % 2) for place in range(3000)}
    asked, ahead, results, n_refitted, note = counting(
        ScriptedTail(chances), [1e-9 * (place + 1) for place in range(3000)], "bonferroni"
    )
    every, odd = list(range(0, 500, 10)), list(range(0, 500, 20))
    assert asked == [
        (every, 0, 30016, 8.3333e-05),
        (odd, 30016, 60032, 8.3333e-05),
        (odd, 60032, 120000, 8.3333e-05),
        (odd, 120000, 240000, 8.3333e-05),
    ]
    assert (ahead, n_refitted) == ([18, 12, 0, 0], 40)
    assert results[:2] == [
        (0, 4.167e-06, 240000, 0, False, False),
        (1, 0.200019989, 30016, 6003, False, False),
    ]
    assert results[50:] == [(place, 1.0, 0, 0, True, False) for place in range(50, 3000)]
    assert note == (
        "exact growth: 3000 small p-values counted by rearranging columns, 6750400 times in all, models refitted to 40 "
        "of them; 2950 columns could not be resolved within the budget and are not called: correction='bh' needs far "
        "fewer draws than 'bonferroni'"
    )


@pytest.mark.parametrize(
    ("n_candidates", "n_columns", "level", "alpha", "share", "effort"),
    [
        (1, 1000, 0.05, 0.05, None, (200, 0.1, 1)),
        (1, 10, 0.005, 0.05, None, (2000, 0.025, 1)),
        (10, 10, 0.05, 0.05, None, (200, 0.1, 10)),
        (3, 10, 0.4, 0.5, None, (25, 0.8, 3)),
        (3, 10, 0.6, 0.9, None, (17, 1.0, 3)),
        (500, 1000, 0.025, 0.05, None, (80, 0.1, 500)),
        (2000, 2000, 2.5e-05, 0.05, None, (80000, 0.000125, 50)),
        (40000, 50000, 1e-06, 0.05, None, (2000000, 5e-06, 50)),
        (60, 300, 0.01, 0.05, 0.02, (1000, 0.02, 60)),
        (60, 300, 0.01, 0.05, 0.5, (200, 0.5, 60)),
        (700, 900, 0.003, 0.01, None, (667, 0.015, 700)),
        (5000, 5000, 0.01, 0.01, None, (200, 0.05, 5000)),
        (819, 819, 0.05, 0.05, None, (40, 0.1, 819)),
        (900, 5000, 0.0002, 0.05, None, (10000, 0.001262626, 900)),
        (4000, 5000, 0.004, 0.05, None, (500, 0.02, 4000)),
        (300, 100000, 0.00015, 0.05, None, (66667, 0.01, 300)),
        (1, 1, 1e-09, 0.5, None, (2000000000, 9.31e-07, 1)),
    ],
)
def test_effort_keeps_to_the_budget(
    n_candidates: int,
    n_columns: int,
    level: float,
    alpha: float,
    share: float | None,
    effort: tuple[int, float, int],
) -> None:
    found = Effort.of(n_candidates, n_columns, level, alpha, share)
    assert (found.n_draws, round(found.share, 9), found.n_columns) == effort


@pytest.mark.parametrize(
    ("n_candidates", "n_columns", "correction", "alpha", "expected"),
    [(500, 1000, "bh", 0.05, 8800), (3, 60, None, 0.1, 132), (3000, 3000, "bonferroni", 0.01, 1100)],
)
def test_refits_are_expected_where_all_candidates_are_called(
    n_candidates: int, n_columns: int, correction: str | None, alpha: float, expected: float
) -> None:
    assert expected_refits(n_candidates, n_columns, correction, alpha) == pytest.approx(expected)
