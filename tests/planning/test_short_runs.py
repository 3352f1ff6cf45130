"""Short runs with a clock and phases by hand: what is run, how long it may take, and what follows from it."""

from contextlib import nullcontext
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, PoissonRegressor

from ppfs import PPFS
from ppfs._conventions import Phase
from ppfs._conventions.progress import Mark
from ppfs._planning import Line, Shrinkage, measuring
from ppfs._planning.measuring import _Counts, _Runs, measure_rates
from ppfs._planning.rates import PerQuestion
from ppfs.blanket import expected_refits

GROWTH = Line(0.0, 0.5)


class Clock:
    """CPU seconds that pass only when a run takes some."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    made = Clock()
    monkeypatch.setattr(measuring.time, "process_time", made)
    return made


def runs_of(n_rows=100, n_columns=50, selector=None):
    return _Runs(
        selector or PPFS(LinearRegression(), n_splits=5), np.zeros((n_rows, n_columns)), np.arange(n_rows) / 7
    )


def shrink_phase(n, seconds, n_fits, *, is_complete=True, n_asked=None, label="shrink"):
    asked = n if n_asked is None else n_asked
    marks = [
        Mark(number, seconds * number / asked, n_fits * number // asked) for number in range(1, asked + 1)
    ]
    return Phase(label, n, marks, is_complete=is_complete)


# All together ------------------------------------------------------------------------------------------


class Asked:
    """Runs whose results are known."""

    n_rows, shrink_rows = 100, 80

    def __init__(self, *given):
        self.given, self.wanted = given, None

    def load(self):
        return 1.5

    def growth(self):
        return GROWTH, 4.6

    def candidates(self, growth, n_columns):
        assert growth is GROWTH
        self.n_columns = n_columns
        return np.arange(6), 12, 0.75

    def shrink(self, found, n_candidates, budget):
        self.wanted = n_candidates, budget
        return Shrinkage(n_candidates, 1.0, 2, 3), _Counts(4, 6.0, 8)

    def shrink_by_rows(self, shrink):
        return Line(float(shrink.n_candidates), 1.0)

    def beside(self):
        return PerQuestion(1.0, 2.0), PerQuestion(3.0, 4.0)


@pytest.mark.parametrize(
    ("options", "n_candidates"),
    [
        ({}, 6),
        ({"n_columns": 12}, 6),
        ({"n_columns": 100}, 50),
        ({"n_columns": 30}, 20),
        ({"n_columns": 15}, 15),
        ({"n_candidates": 3, "n_columns": 100}, 3),
        ({"n_candidates": 0}, 0),
    ],
)
def test_rates_are_what_the_runs_say(options, n_candidates, clock, monkeypatch):
    clock.now = 2.0
    made = []
    monkeypatch.setattr(measuring, "_Runs", lambda *given: made.append(Asked(*given)) or made[0])
    selector = PPFS.calibrated(alpha=0.01, correction="bh")
    rates = measure_rates(selector, np.zeros((100, 12)), [0, 1], **options)
    refits = expected_refits(4, 4, "bh", 0.01)
    assert (rates.startup, rates.n_rows, rates.growth, rates.fits_per_column) == (3.5, 100, GROWTH, 4.6)
    assert rates.shrink == Shrinkage(n_candidates, 1.0, 2, 3)
    assert (rates.shrink_by_rows, rates.shrink_rows, rates.n_splits) == (
        Line(float(n_candidates), 1.0),
        80,
        5,
    )
    assert (rates.seconds_per_refit, rates.fits_per_refit) == pytest.approx((6.0 / refits, 8 / refits))
    assert (rates.n_candidates, rates.correction, rates.alpha, rates.mode) == (
        n_candidates,
        "bh",
        0.01,
        "auto",
    )
    assert (rates.joint, rates.look) == (PerQuestion(1.0, 2.0), PerQuestion(3.0, 4.0))
    assert (made[0].n_columns, rates.share_counted) == (options.get("n_columns", 12), 0.75)
    assert made[0].wanted == (n_candidates, 10.0)
    assert isinstance(made[0].given[2], np.ndarray)
    monkeypatch.setattr(Asked, "growth", lambda self: (GROWTH, 0.2))
    made.clear()
    assert measure_rates(selector, np.zeros((100, 12)), [0, 1], budget=3.0).n_splits == 1
    assert made[0].wanted[1] == 3.0


# Each kind of run --------------------------------------------------------------------------------------


@pytest.mark.parametrize(("times", "compiled", "loading"), [((5.0, 2.0), 1.0, 2.0), ((2.0, 3.0), 0.0, 0.0)])
def test_loading_is_what_the_first_of_two_runs_takes_longer(times, compiled, loading, clock, monkeypatch):
    runs, sizes, left = runs_of(), [], iter(times)
    seconds = iter((10.0, 10.0 + compiled))
    monkeypatch.setattr(measuring._engine, "compile_seconds", lambda: (0.0, next(seconds)))

    def fitted(X, y):
        sizes.append(X.shape)
        clock.now += next(left)

    monkeypatch.setattr(runs, "_fitted", fitted)
    assert runs.load() == loading
    assert sizes == [(100, 8)] * 2
    long = runs_of(300)
    monkeypatch.setattr(measuring._engine, "compile_seconds", lambda: (0.0, 0.0))
    monkeypatch.setattr(long, "_fitted", lambda X, y: sizes.append(X.shape))
    long.load()
    assert sizes[-1] == (200, 8)


@pytest.mark.parametrize(
    ("few_seconds", "n_columns", "n_wanted"),
    [(0.1, 50, 50), (0.4, 50, 20), (2.0, 50, 8), (0.01, 1000, 400), (0.4, 5, 5), (0.25, 50, 32)],
)
def test_growth_is_timed_with_few_columns_and_with_as_many_as_take_a_second(
    few_seconds, n_columns, n_wanted, monkeypatch
):
    runs, asked = runs_of(100, n_columns), []

    def run(columns, *, rows, alpha):
        asked.append((columns.tolist(), rows.size, alpha))
        n = len(columns)
        return few_seconds + 0.5 * (n - 8), [Phase("growth", n, [Mark(n, 0.25 * n, 5 * n)])]

    monkeypatch.setattr(runs, "_run", run)
    per_column, fits = runs._growth_at(np.arange(60))
    few = min(8, n_columns)
    n = max(min(int(few / few_seconds), n_columns, 400), few)
    assert n == n_wanted
    assert asked == [(runs._columns[:few].tolist(), 60, 1e-300), (runs._columns[:n].tolist(), 60, 1e-300)]
    assert per_column == pytest.approx(0.5 if n > few else 0.25)
    assert fits == 5
    monkeypatch.setattr(runs, "_run", lambda columns, **_: (1e-6, []))
    assert runs._growth_at(np.arange(60))[0] == 1e-7


def test_more_columns_are_timed_where_those_took_less_than_half_a_second(monkeypatch):
    """Small tables are read in another way than large ones: what they take says little about the next column."""
    runs, sizes = runs_of(100, 1000), []

    def run(columns, **_):
        n = len(columns)
        sizes.append(n)
        seconds = 0.25 if n < 100 else 0.001 * n
        return seconds, [Phase("growth", n, [Mark(n, seconds, 5 * n)])]

    monkeypatch.setattr(runs, "_run", run)
    # 8 columns a quarter of a second, so 32 in one, which take a quarter again, so 128, and so all that may be timed.
    assert runs._growth_at(np.arange(60))[0] == pytest.approx(0.001, rel=0.7)
    assert sizes == [8, 32, 128, 400]


def test_growth_of_a_long_table_is_a_line_through_two_runs(monkeypatch):
    runs, sizes = runs_of(4100, 3), []

    def growth_at(rows):
        sizes.append(rows.size)
        return 1.0 + rows.size / 1000, 7.0

    monkeypatch.setattr(runs, "_growth_at", growth_at)
    line, fits = runs.growth()
    assert sizes == [4000, 1000]
    assert (line, fits) == (Line.through(4000, 5.0, 1000, 2.0), 7.0)
    whole = runs_of(400, 3)
    monkeypatch.setattr(whole, "_growth_at", lambda rows: (2.0, 7.0))
    assert whole.growth() == (Line(0.0, 2.0 / 400), 7.0)


def test_as_many_columns_are_looked_at_as_take_two_seconds(monkeypatch):
    runs = runs_of(100, 50)
    runs._columns = np.arange(50)[::-1]
    seen = []

    class Search:
        def fit(self, X, y):
            seen.append((X.shape, len(y)))
            step = SimpleNamespace
            self.trace_ = [
                step(feature=0, phase="growth", pvalue=0.02, adjusted_pvalue=0.05),
                step(feature=1, phase="growth", pvalue=0.03, adjusted_pvalue=0.06),
                step(feature=2, phase="shrink", pvalue=0.0, adjusted_pvalue=0.0),
                step(feature=3, phase="growth", pvalue=1e-6, adjusted_pvalue=0.0),
            ]

    monkeypatch.setattr(runs, "_made", lambda alpha: seen.append(alpha) or Search())
    # A bound decides about p-values up to 1e-4 over the number of columns.
    found, n, share = runs.candidates(Line(0.0, 0.001), 100)
    assert (found.tolist(), n, share) == ([49, 46], 20, 2 / 4)
    assert seen == [1e-300, ((100, 20), 100)]
    assert runs.candidates(Line(0.0, 10.0), 101)[1:] == (8, 3 / 4)
    assert runs.candidates(Line(0.0, 1e-9), 100)[1] == 50


def test_the_shrink_phase_is_timed_with_more_candidates_while_there_is_time(clock, monkeypatch):
    runs, sizes = runs_of(), []
    y = np.arange(100.0)

    def fitted(X, y, limit):
        n = X.shape[1]
        sizes.append((n, limit))
        clock.now += n / 8
        return [shrink_phase(n, n / 8, 5 * n), shrink_phase(n, 3.0, n, label="exact growth")]

    monkeypatch.setattr(runs, "_fitted", fitted)
    shrink, counts = runs._shrink_of(np.zeros((100, 70)), y, 100, 5.0)
    # Eight candidates take a second in eight sets. Four seconds are left, which are 32 sets: 8 * sqrt(32) are 45.
    assert sizes[:2] == [(8, 5.0), (45, 4.0)]
    assert len(sizes) == 2
    first = Shrinkage.of([shrink_phase(8, 1.0, 40)], 0)
    second = Shrinkage.of([shrink_phase(45, 45 / 8, 225)], 0)
    assert (shrink.n_candidates, shrink.n_sets) == (45, 45)
    assert shrink.exponent == second.exponent_from(first)
    assert counts == _Counts(45, 3.0, 45)
    sizes.clear()
    assert runs._shrink_of(np.zeros((100, 5)), y, 100, 5.0)[0].n_candidates == 5
    assert [n for n, _ in sizes] == [5]
    sizes.clear()
    runs._shrink_of(np.zeros((100, 70)), y, 3, 5.0)
    assert [n for n, _ in sizes] == [3]
    sizes.clear()
    runs._shrink_of(np.zeros((100, 70)), y, 100, 1e6)
    assert [n for n, _ in sizes] == [8, 64]


def test_a_run_that_was_cut_short_is_the_last_one(clock, monkeypatch):
    runs = runs_of()
    cut = [shrink_phase(8, 1.0, 40, is_complete=False, n_asked=4)]
    monkeypatch.setattr(runs, "_fitted", lambda *_: cut)
    shrink, counts = runs._shrink_of(np.zeros((100, 70)), np.zeros(100), 100, 100.0)
    assert shrink == Shrinkage.of(cut, 0)
    assert counts == _Counts()
    monkeypatch.setattr(runs, "_fitted", lambda *_: [])
    assert runs._shrink_of(np.zeros((100, 70)), np.zeros(100), 100, 100.0) == (None, _Counts())


def test_imagined_candidates_are_shrunk_where_too_few_were_found(monkeypatch):
    runs, asked = runs_of(), []
    monkeypatch.setattr(
        runs, "_shrink_of", lambda X, y, n, budget: asked.append((X.shape, n)) or (None, _Counts())
    )
    assert runs.shrink(np.arange(5), 1, 9.0) == (None, _Counts())
    assert asked == []
    runs.shrink(np.arange(5), 30, 9.0)
    runs.shrink(np.arange(8), 30, 9.0)
    runs.shrink(np.arange(5), 5, 9.0)
    runs.shrink(np.arange(4), 5, 9.0)
    runs.shrink(np.arange(2), 2, 9.0)
    assert asked == [((100, 30), 30), ((100, 8), 30), ((100, 5), 5), ((100, 5), 5), ((100, 2), 2)]


def test_all_rows_are_shrunk_where_there_are_more(monkeypatch):
    whole, long = runs_of(100, 9), runs_of(4100, 9)
    assert whole._shrink_of_all_rows(np.arange(3), 5.0) is None
    asked = []
    monkeypatch.setattr(long, "_fitted", lambda X, y, limit: asked.append((X.shape, len(y), limit)) or [])
    assert long._shrink_of_all_rows(np.arange(3), 5.0) is None
    assert (asked, long.shrink_rows) == ([((4100, 3), 4100, 5.0)], 4000)
    monkeypatch.setattr(long, "_fitted", lambda X, y, limit: [shrink_phase(3, 1.0, 15)])
    assert long._shrink_of_all_rows(np.arange(3), 5.0) == Shrinkage.of([shrink_phase(3, 1.0, 15)], 0)
    assert long.shrink_rows == 4100


def test_the_shrink_phase_by_rows_is_a_line_through_two_imagined_tables(monkeypatch):
    shrink = Shrinkage(30, 1.0, 2, 3)
    assert runs_of().shrink_by_rows(shrink) == Line(0.0, 1.0)
    long, sizes = runs_of(4100, 9), []
    assert long.shrink_by_rows(None) == Line(0.0, 1.0)

    def fitted(X, y):
        sizes.append(X.shape)
        return [shrink_phase(X.shape[1], 1.0 + len(X) / 1000, 40)]

    monkeypatch.setattr(long, "_fitted", fitted)
    seconds = [Shrinkage.of([shrink_phase(8, 1.0 + n, 40)], 0).seconds_per_set for n in (4, 1)]
    assert long.shrink_by_rows(shrink) == Line.through(4000, seconds[0], 1000, seconds[1])
    assert sizes == [(4000, 8), (1000, 8)]
    long.shrink_by_rows(Shrinkage(3, 1.0, 2, 3))
    assert sizes[2:] == [(4000, 3), (1000, 3)]
    monkeypatch.setattr(long, "_fitted", lambda X, y: [])
    assert long.shrink_by_rows(shrink) == Line(0.0, 1.0)
    long.shrink_rows = 4100
    assert long.shrink_by_rows(shrink) == Line(0.0, 1.0)


def test_a_run_is_timed_from_its_begin_to_its_end(clock, monkeypatch):
    runs = runs_of()
    asked = []

    def fitted(X, y, alpha):
        asked.append((X.shape, len(y), alpha))
        clock.now += 3.0
        return ["a phase"]

    monkeypatch.setattr(runs, "_fitted", fitted)
    assert runs._run(np.arange(4)) == (3.0, ["a phase"])
    assert runs._run(np.arange(4), rows=np.arange(7), alpha=0.5)[0] == 3.0
    assert asked == [((100, 4), 100, None), ((7, 4), 7, 0.5)]
    monkeypatch.setattr(runs, "_fitted", lambda *_, **__: [])
    assert runs._run(np.arange(4)) == (1e-6, [])


def test_a_run_that_compiled_is_timed_again(clock, monkeypatch):
    runs, left = runs_of(), iter([(0.0, 0.0), (1.0, 2.0), (1.0, 2.0), (1.0, 2.0)])
    monkeypatch.setattr(measuring._engine, "compile_seconds", lambda: next(left))
    lengths = iter([5.0, 3.0])

    def fitted(X, y, alpha):
        clock.now += next(lengths)
        return []

    monkeypatch.setattr(runs, "_fitted", fitted)
    assert runs._run(np.arange(4)) == (3.0, [])


def test_questions_beside_others_are_timed_only_where_the_search_asks_them(monkeypatch):
    fitted = []
    monkeypatch.setattr(PPFS, "fit", lambda self, X, y: fitted.append((X.shape, np.unique(y).size)))
    for selector in (PPFS(LinearRegression()), PPFS(n_splits=5)):
        assert runs_of(selector=selector).beside() == (PerQuestion(), PerQuestion())
    assert fitted == []
    phases = [
        shrink_phase(4, 6.0, 8, label="fold 1 joint growth"),
        shrink_phase(3, 9.0, 6, label="second look 1"),
    ]
    monkeypatch.setattr(measuring, "watched_phases", lambda: nullcontext(phases))
    for changed in ({"growth": "joint"}, {"second_look": True}):
        joint, look = runs_of(2500, selector=PPFS(LinearRegression(), **changed)).beside()
        assert fitted[-1][0] == (1000, 24)
        # The rows that are measured are two and a half times as many.
        assert (joint, look) == (PerQuestion(2.5 * 6.0 / 4, 2.0), PerQuestion(2.5 * 9.0 / 3, 2.0))
    joint, _ = runs_of(100, selector=PPFS(LinearRegression(), growth="joint", n_folds=2)).beside()
    assert (joint, fitted[-1][0]) == (PerQuestion(3.0, 4.0), (100, 24))


def test_settings_of_a_run_are_those_of_the_selector():
    runs = runs_of(selector=PPFS(LinearRegression(), n_splits=5, alpha=0.2))
    assert runs._made().alpha == 0.2
    assert runs._made(1e-300).alpha == 1e-300
    assert runs._selector.alpha == 0.2
    assert runs._n_folds == 0
    assert runs_of(selector=PPFS(n_folds=3))._n_folds == 3
    counts = np.arange(40) % 5
    own, given = (
        _Runs(PPFS(model, task="count"), np.zeros((40, 2)), counts) for model in (None, PoissonRegressor())
    )
    np.testing.assert_allclose(own._all_y, 2 * np.sqrt(counts + 0.375))
    assert own._whole.task == "regression"
    assert given._all_y is counts
    assert given._whole.task == "count"
