"""What short runs show, line by line, and costs as numbers and words, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

from ppfs import PPFS
from ppfs._conventions import Phase
from ppfs._conventions.progress import Mark
from ppfs._planning import Line, Rates, Shrinkage, cost_lines, imagined_table, predict_cost
from ppfs._planning.cost import Cost
from ppfs._planning.measuring import _Counts, _named, _per_question, _plain, _Runs, _taken, _without_columns
from ppfs._planning.rates import PerQuestion
from ppfs._planning.words import duration, size
from ppfs.blanket import IAMB, expected_refits, most_looked_at, n_asked_jointly

pd = pytest.importorskip("pandas")


@pytest.mark.parametrize(
    ("measured", "fixed", "per_row"),
    [
        ((100, 3.0, 50, 2.0), 1.0, 0.02),
        ((100, 4.0, 50, 1.0), 0.0, 0.04),
        ((100, 4.0, 50, 3.9), 2.0, 0.02),
        ((100, 4.0, 50, 9.0), 2.0, 0.02),
        ((100, 4.0, 100, 4.0), 2.0, 0.02),
        ((100, 4.0, 200, 4.0), 2.0, 0.02),
    ],
)
def test_at_least_half_of_a_measurement_follows_the_rows(measured, fixed, per_row):
    line = Line.through(*measured)
    assert (line.fixed, line.per_row) == pytest.approx((fixed, per_row))
    assert line.at(10) == pytest.approx(fixed + 10 * per_row)


SHRINK = Shrinkage(10, seconds=6.0, n_fits=30, n_sets=4, exponent=2.0)


def test_sets_of_models_for_other_numbers_of_candidates():
    assert SHRINK.seconds_per_set == 1.5
    assert replace(SHRINK, seconds=0.0).seconds_per_set == pytest.approx(1e-6 / 4)
    assert SHRINK.sets_for(10) == 4
    # Three of ten were dropped: the other seven are kept, and of 40 half as large a share.
    assert SHRINK.sets_for(40) == pytest.approx(1 + 40 * (1 - 0.7 / 2))
    assert SHRINK.sets_for(5) == pytest.approx(1 + 5 * 0.3)
    assert Shrinkage(4, 1.0, 1, 9).sets_for(8) == pytest.approx(9)
    assert SHRINK.fits_for(5) == pytest.approx(7.5 * 2.5)
    assert SHRINK.seconds_for(20) == pytest.approx(1.5 * 4 * SHRINK.sets_for(20))
    assert Shrinkage(10, 1.0, 1, 1).exponent == 1.5


@pytest.mark.parametrize(
    ("n", "seconds", "exponent"), [(20, 12.0, 1.0), (20, 24.0, 2.0), (20, 1e-9, 0.5), (20, 1e9, 3.0)]
)
def test_the_exponent_between_two_runs(n, seconds, exponent):
    assert Shrinkage(n, seconds, 1, 4).exponent_from(SHRINK) == pytest.approx(exponent)
    assert Shrinkage(10, seconds, 1, 4, 1.25).exponent_from(SHRINK) == 1.25


def shrink_phase(marks, total, *, is_complete=False, label="shrink"):
    return Phase(label, total, [Mark(*mark) for mark in marks], is_complete=is_complete)


def test_what_a_phase_shows():
    # After two of eight, models of one set only were fitted again: one set for two columns.
    cut = shrink_phase([(1, 1.0, 5), (2, 2.0, 5)], 8)
    found = Shrinkage.of([cut], 0, 2.0)
    ahead = 6 * 1 / 2 / 2
    assert (found.n_candidates, found.n_sets, found.n_fits) == (8, 1 + ahead, 5 * (1 + ahead))
    left = 1 - (1 + ahead / 2) / 8
    assert found.seconds == pytest.approx(2.0 * (1 + ahead * left**2))
    assert found.exponent == 2.0
    # Tests without models: every question is a set.
    none = Shrinkage.of([shrink_phase([(1, 1.0, 0), (3, 2.0, 0)], 4)], 0)
    assert none.n_sets == pytest.approx(3 + 3 / 3 / 2)
    assert none.exponent == 1.5
    whole = shrink_phase([(1, 1.0, 5), (2, 2.0, 10)], 2, is_complete=True)
    assert Shrinkage.of([whole, whole], 4) == Shrinkage(2, 8.0, 40, 8)
    assert Shrinkage.of([whole, shrink_phase([(0, 1.0, 5)], 2), shrink_phase([], 2)], 3) == Shrinkage(
        2, 6.0, 30, 6
    )
    other = shrink_phase([(1, 1.0, 5)], 7, is_complete=True)
    assert Shrinkage.of([whole, other], 2).n_candidates == 7
    assert Shrinkage.of([shrink_phase([(0, 1.0, 5)], 2)], 0) is None


RATES = Rates(
    startup=2.0, n_rows=100, growth=Line(0.5, 0.01), fits_per_column=3.0, shrink=SHRINK, shrink_by_rows=Line(1.0, 0.02),
    shrink_rows=50, n_splits=6, seconds_per_refit=0.25, fits_per_refit=2.0, n_candidates=4, correction="bh", alpha=0.1,
    joint=PerQuestion(0.125, 5.0), look=PerQuestion(0.5, 7.0), mode="auto",
)  # fmt: skip


def test_questions_that_are_expected():
    assert RATES.n_beside(100, 30) == (n_asked_jointly(100, 30), round(1.5 * min(30, most_looked_at(100))))
    assert RATES.n_beside(10**6, 10**5)[0] == 0
    assert replace(RATES, mode="joint").n_beside(10**6, 10**5)[0] == n_asked_jointly(10**6, 10**5) > 0
    assert RATES.n_refits(100, 30, 4) == expected_refits(4, 30, "bh", 0.1) > 0
    assert RATES.n_refits(500, 30, 4) > 0
    for rates, n_rows, n_candidates in (
        (RATES, 501, 4), (RATES, 100, 0), (replace(RATES, seconds_per_refit=0.0), 100, 4),
        (replace(RATES, mode="joint"), 100, 4),
    ):  # fmt: skip
        assert rates.n_refits(n_rows, 30, n_candidates) == 0.0
    assert RATES.growth_ratio(200) == pytest.approx(2.5 / 1.5)
    assert RATES.shrink_ratio(200) == pytest.approx(5.0 / 2.0)


@pytest.mark.parametrize(("n_workers", "overhead"), [(1, 1.0), (4, 1.15)])
def test_every_number_of_a_cost(n_workers, overhead):
    cost = predict_cost(RATES, 200, 1001, n_workers=n_workers)
    refits = expected_refits(4, 1001, "bh", 0.1)
    n_joint, n_looks = RATES.n_beside(200, 1001)
    splits = 8.0 * 200 * 8
    rest = 300 * 2**20 + 2 * splits + 3 * 2**21
    expected = Cost(
        n_workers=n_workers, growth_fits=3003.0, count_fits=2 * refits, shrink_fits=SHRINK.fits_for(4),
        growth_seconds=1001 * 2.5 / n_workers * overhead,
        count_seconds=refits * 0.25 * (2.5 / 1.5) / n_workers * overhead,
        shrink_seconds=SHRINK.seconds_for(4) * 2.5, startup=2.0,
        memory=rest + 350 * 1001 + 24.0 * 200 * 4, worker_memory=rest,
        network=0.0 if n_workers == 1 else 26 * 1001 + 4096 * 3 + splits * 4,
        disk=4.0 * 200 * 1001,
        beside_fits=5.0 * n_joint + 7.0 * n_looks,
        beside_seconds=(0.125 * n_joint + 0.5 * n_looks) * 2.0,
    )  # fmt: skip
    for name, value in vars(expected).items():
        assert getattr(cost, name) == pytest.approx(value), name
    assert cost.seconds == pytest.approx(
        2.0 + cost.growth_seconds + cost.count_seconds + cost.shrink_seconds + cost.beside_seconds
    )


def test_costs_without_candidates_and_of_many_rows():
    none = predict_cost(RATES, 200, 30, n_candidates=0)
    assert none.shrink_fits == none.shrink_seconds == none.count_fits == 0.0
    assert none.beside_fits == 5.0 * RATES.n_beside(200, 30)[0]
    assert predict_cost(RATES, 200, 3).shrink_fits == SHRINK.fits_for(3)
    joint = predict_cost(replace(RATES, mode="joint"), 200, 30)
    assert joint.growth_fits == joint.growth_seconds == 0
    many = predict_cost(RATES, 10**6, 3, n_candidates=0)
    assert many.memory == 300 * 2**20 + 350 * 3 + 2 * 8e6 * 8 + 24e6


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [(0, "0.0 s"), (119.9, "119.9 s"), (120, "2 min"), (7199, "120 min"), (7200, "2.0 h"), (172_799, "48.0 h"),
     (172_800, "2.0 days"), (86_400 * 1234.5, "1,234.5 days")],
)  # fmt: skip
def test_durations(seconds, shown):
    assert duration(seconds) == shown


@pytest.mark.parametrize(
    ("n_bytes", "shown"),
    [(0, "0.0 MiB"), (9.9 * 2**20, "9.9 MiB"), (10 * 2**20, "10 MiB"), (2**30 - 1, "1024 MiB"), (2**30, "1.0 GiB"),
     (2**40 * 2, "2,048.0 GiB")],
)  # fmt: skip
def test_sizes(n_bytes, shown):
    assert size(n_bytes) == shown


def test_all_lines_of_two_costs():
    one = Cost(1, 5.0, 2e6, 3.0, 1.0, 2.0, 3.0, 4.0, 2**20, 2**21, 2**22, 0.0, 1500.0, 60.0)
    two = Cost(1000, 5.0, 0.0, 3.0, 1.0, 0.0, 3.0, 4.0, 2**20, 2**21, 2**22, 0.0)
    assert cost_lines([one, two]) == [
        "workers                     1    1,000",
        "fits in growth              5        5",
        "fits to count       2,000,000        -",
        "fits in shrink              3        3",
        "fits beside others      1,500        -",
        "growth                  1.0 s    1.0 s",
        "count                   2.0 s        -",
        "shrink                  3.0 s    3.0 s",
        "beside others          60.0 s        -",
        "total                  70.0 s    8.0 s",
        "memory                1.0 MiB  1.0 MiB",
        "memory per worker           -  2.0 MiB",
        "network                     -  4.0 MiB",
    ]


# Imagined tables ---------------------------------------------------------------------------------------


def test_an_imagined_table_is_that_of_its_recipe():
    X, y = imagined_table(50, 5, 4, seed=3)
    again, target = imagined_table(50, 5, 4, seed=3)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, target)
    assert X.shape == (50, 5)
    assert (imagined_table(50, 5, 4, seed=4)[0] != X).all()
    # Two candidates follow each cause, with half of its deviation as noise: their correlation is 0.8.
    wide, _ = imagined_table(4000, 12, 6, seed=0)
    strong = np.abs(np.corrcoef(wide.T)) > 0.5
    assert sorted(strong.sum(axis=0).tolist()) == [1] * 6 + [3] * 6
    found = np.corrcoef(wide.T)[np.triu(strong, 1)]
    np.testing.assert_allclose(found, 0.8, atol=0.03)
    few, _ = imagined_table(4000, 2, 30, seed=0)
    assert few.shape == (4000, 2)


def test_targets_of_imagined_tables():
    _, numbers = imagined_table(300, 4, 3)
    _, two = imagined_table(300, 4, 3, task="classification")
    _, five = imagined_table(300, 4, 6, task="classification", n_classes=5)
    assert numbers.dtype == np.float64
    assert two.tolist() == (numbers > 0).astype(int).tolist()
    assert sorted(set(five.tolist())) == [0, 1, 2, 3, 4]
    causes, _ = imagined_table(6000, 3, 3, seed=1)
    y = imagined_table(6000, 3, 3, seed=1)[1]
    # One cause, with half of a deviation as noise beside it.
    mean = causes.mean(axis=1)
    assert abs(np.corrcoef(mean, y)[0, 1]) > 0.3


def test_text_of_imagined_tables_has_six_levels():
    numbers, y = imagined_table(60, 5, 3)
    frame, same = imagined_table(60, 5, 3, n_text=2)
    np.testing.assert_array_equal(y, same)
    assert list(frame.columns) == ["x0", "x1", "x2", "x3", "x4"]
    assert [frame[name].dtype.kind == "f" for name in frame.columns] == [False, True, True, True, False]
    assert frame["x0"].value_counts().to_dict() == dict.fromkeys("abcdef", 10)
    assert frame["x0"][numbers[:, 0].argmax()] == "f"
    assert frame["x0"][numbers[:, 0].argmin()] == "a"
    all_text, _ = imagined_table(60, 2, 1, n_text=9)
    assert all(all_text[name].dtype.kind != "f" for name in all_text.columns)
    assert isinstance(imagined_table(60, 5, 3, n_text=0)[0], np.ndarray)


# Short runs --------------------------------------------------------------------------------------------


def test_a_selector_for_a_part_of_a_table_names_no_column():
    selector = PPFS.calibrated(
        always_keep=["z"], condition_on=["y"], feature_groups={"g": ["u"]}, categorical_features=["u"], checkpoint="x",
        n_jobs=3, min_features=2, alpha=0.01,
    )  # fmt: skip
    plain = _without_columns(selector)
    default = PPFS()
    for name in ("always_keep", "condition_on", "feature_groups", "categorical_features"):
        assert getattr(plain, name) == getattr(default, name)
    assert (plain.checkpoint, plain.progress, plain.n_jobs, plain.min_features, plain.alpha) == (
        None,
        False,
        1,
        0,
        0.01,
    )
    assert selector.always_keep == ["z"]
    assert (_plain(selector).growth, _plain(selector).second_look) == ("marginal", False)
    assert selector.growth != "marginal"
    assert type(_plain(IAMB())) is IAMB


def test_phases_are_found_in_all_folds():
    phases = [
        shrink_phase([(2, 1.0, 6)], 2, is_complete=True, label=label)
        for label in (
            "fold 1 shrink",
            "fold 12 shrink",
            "shrink",
            "exact growth",
            "fold 2 exact growth",
            "joint growth 1",
        )
    ]
    assert [phase.label for phase in _named(phases, "shrink")] == [
        "fold 1 shrink",
        "fold 12 shrink",
        "shrink",
    ]
    assert _named(phases, "joint growth") == []
    assert _Counts.of(phases, 9) == _Counts(9, 2.0, 12)
    assert _Counts.of(phases[:3], 9) is None
    cut = [shrink_phase([(1, 1.0, 6)], 2, label="exact growth")]
    assert _Counts.of(cut, 9) is None
    assert _Counts() == _Counts(1, 0.0, 0)
    assert _per_question(phases, "joint", 2.0, 1) == PerQuestion(2.0 * 1.0 / 2, 3.0)
    assert _per_question(phases, "shrink", 1.0, 3) == PerQuestion(3.0 / 2, 9.0)
    assert _per_question(phases, "second look", 1.0, 3) == PerQuestion()


def test_parts_of_any_table():
    X = np.arange(12.0).reshape(4, 3)
    frame = pd.DataFrame(X, columns=list("abc"))
    for table in (X, frame):
        found = _taken(table, np.array([2, 0]), np.array([2, 1]))
        assert np.asarray(found).tolist() == [[8, 7], [2, 1]]
        assert np.asarray(_taken(table, None, np.array([1]))).ravel().tolist() == [1, 4, 7, 10]


@pytest.mark.parametrize(
    ("selector", "y", "task"),
    [
        (PPFS(), np.arange(30), "regression"),
        (PPFS(), np.arange(30) % 20, "classification"),
        (PPFS(), np.arange(30) % 21, "regression"),
        (PPFS(), np.array(list("ab") * 15), "classification"),
        (PPFS(), np.arange(30) % 2 == 0, "classification"),
        (PPFS("panel"), np.array(list("ab") * 15), "classification"),
        (PPFS(LogisticRegression()), np.arange(30), "classification"),
        (PPFS(LinearRegression()), np.arange(30) % 2, "regression"),
        (PPFS(task="classification"), np.arange(30), "classification"),
        (PPFS(task="count"), np.arange(30), "regression"),
    ],
)
def test_the_task_of_a_run(selector, y, task):
    runs = _Runs(selector, np.zeros((30, 2)), y)
    assert runs._task() == task
    assert (runs.n_rows, runs.n_sample, runs.shrink_rows) == (30, 2, 30)
    assert runs._rows.tolist() == list(range(30))
    X, target = runs._imagined(5)
    assert X.shape == (30, 5)
    assert (np.unique(target).size <= 20) == (task == "classification")
    assert runs._imagined(70, 10)[0].shape == (10, 64)


def test_a_long_table_is_measured_in_some_of_its_rows():
    runs = _Runs(PPFS(LinearRegression()), np.zeros((4001, 2)), np.arange(4001) / 7)
    assert runs.n_rows == 4000
    assert (np.diff(runs._rows) > 0).all()
    assert runs._rows.size == 4000
    assert sorted(runs._columns.tolist()) == [0, 1]
    whole = _Runs(PPFS(LinearRegression()), np.zeros((4000, 2)), np.arange(4000) / 7)
    assert whole._rows.tolist() == list(range(4000))
