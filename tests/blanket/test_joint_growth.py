"""Growth by a model of all columns, and a second look: columns that matter only beside others."""

import re

import numpy as np
import pytest
from scipy.stats import false_discovery_control
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs.blanket._steps import second_look
from ppfs.blanket._steps.alike import clusters_of
from ppfs.blanket._steps.beside_screen import most_promising_beside
from ppfs.blanket._steps.correction import adjust, adjust_among
from ppfs.blanket._steps.joint_growth import JOINT_GROWTH, n_asked_jointly
from ppfs.exceptions import InvalidInputError
from ppfs.independence import CrossFitPPI, FisherZ

LINE = LinearRegression()


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def suppressor(rng, n_rows, n_columns=6):
    """x1 is independent of the target on its own, but not given x0."""
    X = rng.normal(size=(n_rows, n_columns))
    X[:, 0] = X[:, 1] + X[:, 2]
    y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=n_rows)
    X[:, 2] = rng.normal(size=n_rows)
    return X, y


def test_a_suppressor_is_missed_by_marginal_growth_and_found_by_the_others(rng):
    X, y = suppressor(rng, 300)
    off = {"growth": "marginal", "second_look": False}
    assert set(PPFS.calibrated(LINE, random_state=0, **off).fit(X, y).blanket_) == {0}
    for more in ({"growth": "joint"}, {"growth": "both"}, {"second_look": True}):
        assert set(PPFS.calibrated(LINE, random_state=0, **{**off, **more}).fit(X, y).blanket_) == {0, 1}, (
            more
        )


def test_joint_growth_is_the_question_given_all_others_with_the_correction(rng):
    X, y = suppressor(rng, 200)
    found = PPFS(independence="fisher-z", correction="bh", growth="joint", random_state=0).fit(X, y)
    table = read_table(X, y, task="regression", owner=FisherZ())
    bound = FisherZ().bind(table)
    alone = [bound.query(x, 6, [z for z in range(6) if z != x]).pvalue for x in range(6)]
    steps = [step for step in found.trace_ if step.phase == "joint growth"]
    np.testing.assert_allclose([step.pvalue for step in steps], alone, rtol=1e-9)
    np.testing.assert_allclose(
        [step.adjusted_pvalue for step in steps], false_discovery_control(alone), rtol=1e-9
    )


def test_both_is_the_union_of_the_candidates(rng):
    X, y = suppressor(rng, 300)
    candidates = {}
    for growth in ("marginal", "joint", "both"):
        found = PPFS.calibrated(LINE, growth=growth, second_look=False, random_state=0).fit(X, y)
        candidates[growth] = {step.feature for step in found.trace_ if step.decision == "candidate"}
    assert candidates["both"] == candidates["marginal"] | candidates["joint"]
    assert candidates["marginal"] != candidates["joint"]


def test_near_copies_are_one_feature_and_one_is_kept(rng):
    X = rng.normal(size=(300, 4))
    copies = X[:, :2] + 0.05 * rng.normal(size=(300, 2))
    y = X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=300)
    found = PPFS.calibrated(LINE, growth="joint", random_state=0).fit(np.column_stack([X, copies]), y)
    selected = set(found.blanket_)
    assert selected & {0, 4}
    assert selected & {1, 5}
    assert any("'x0 and 1 more', 'x1 and 1 more'" in note for note in found.trace_.notes)


def test_columns_that_the_others_determine_are_one_feature(rng):
    X = rng.normal(size=(400, 30))
    X[:, 3] = X[:, 0] + X[:, 1] + X[:, 2]
    y = (X[:, 0] > 0).astype(int)
    table = read_table(X, y, task="classification", owner=FisherZ())
    assert {frozenset(members) for members in clusters_of(table, range(30)) if len(members) > 1} == {
        frozenset({0, 1, 2, 3})
    }


def test_clusters_do_not_depend_on_the_order_of_the_columns(rng):
    a = rng.normal(size=200)
    b, c = a + 0.2 * rng.normal(size=200), rng.normal(size=200)
    d = b + 0.2 * rng.normal(size=200)
    X = np.column_stack([a, b, c, -d])
    y = c > 0
    table = read_table(X, y, task="classification", owner=FisherZ())
    assert set(map(frozenset, clusters_of(table, range(4)))) == {frozenset({0, 1, 3}), frozenset({2})}
    turned = read_table(X[:, ::-1], y, task="classification", owner=FisherZ())
    assert set(map(frozenset, clusters_of(turned, range(4)))) == {frozenset({0, 2, 3}), frozenset({1})}


def test_copies_of_categories_form_clusters(rng):
    pd = pytest.importorskip("pandas")
    words = rng.choice(["a", "b", "c"], size=60)
    X = pd.DataFrame({"one": words, "number": rng.normal(size=60), "two": words})
    table = read_table(X, rng.normal(size=60), task="regression", owner=FisherZ())
    assert sorted(len(members) for members in clusters_of(table, range(3))) == [1, 2]


def test_a_second_look_is_recorded_and_corrected_for_all_rejected_columns(rng):
    X, y = suppressor(rng, 300)
    found = PPFS.calibrated(LINE, growth="marginal", second_look=True, random_state=0).fit(X, y)
    steps = [step for step in found.trace_ if step.phase == "second look"]
    first = steps[:5]
    assert {step.feature for step in first} == set(range(1, 6))
    assert [step.feature for step in first if step.decision == "candidate"] == [1]
    np.testing.assert_allclose(
        [step.adjusted_pvalue for step in first],
        false_discovery_control([step.pvalue for step in first]),
        rtol=1e-9,
    )
    assert "second look" in found.trace_.explain(1)


def test_of_many_rejected_columns_the_most_promising_are_asked_about(rng, monkeypatch):
    X, y = suppressor(rng, 300, n_columns=40)
    monkeypatch.setattr(second_look, "MOST_COLUMNS", 5)
    found = PPFS.calibrated(LINE, growth="marginal", second_look=True, random_state=0).fit(X, y)
    assert set(found.blanket_) >= {0, 1}
    steps = [step for step in found.trace_ if step.phase == "second look"]
    assert len(steps) % 5 == 0
    assert min(step.adjusted_pvalue / step.pvalue for step in steps if step.feature == 1) > 5
    assert any("of 39 rejected columns were tested" in note for note in found.trace_.notes)


@pytest.mark.parametrize("link", ["line", "square", "product", "groups"])
def test_the_screen_puts_what_matters_beside_the_members_first(rng, link):
    X = rng.normal(size=(400, 60))
    X[:, 7] = rng.integers(0, 4, size=400)
    truth = {
        "line": X[:, 0] + 0.5 * X[:, 5],
        "square": X[:, 0] + 0.5 * X[:, 5] ** 2,
        "product": X[:, 0] + 0.5 * X[:, 0] * X[:, 5],
        "groups": X[:, 0] + 0.5 * (X[:, 7] == 2),
    }[link]
    kinds = np.zeros(60, dtype=bool)
    kinds[7] = True
    y = truth + 0.5 * rng.normal(size=400)
    table = read_table(X, y, task="regression", owner=FisherZ(), categorical_features=kinds)
    rest = list(range(1, 60))
    first = most_promising_beside(table, table.target, [0], rest, 3)[0]
    assert first == (7 if link == "groups" else 5)


def test_the_screen_takes_what_categories_among_the_members_explain(rng):
    X = rng.normal(size=(400, 60))
    X[:, 7] = rng.integers(0, 4, size=400)
    # Column 9 repeats a part of what the categories of column 7 say; column 5 says something else.
    X[:, 9] = (X[:, 7] == 2) + 0.5 * rng.normal(size=400)
    y = 2.0 * (X[:, 7] == 2) + 0.3 * X[:, 5] + 0.5 * rng.normal(size=400)
    kinds = np.arange(60) == 7
    table = read_table(X, y, task="regression", owner=FisherZ(), categorical_features=kinds)
    rest = [column for column in range(60) if column != 7]
    assert most_promising_beside(table, table.target, [], rest, 3)[0] == 9
    beside = most_promising_beside(table, table.target, [7], rest, 3)
    assert beside[0] == 5
    assert 9 not in beside


def test_an_exclusive_or_of_two_is_found_by_a_model_of_all_columns(rng):
    X = rng.normal(size=(400, 8))
    y = np.sign(X[:, 0] * X[:, 1]) + 0.3 * rng.normal(size=400)
    model = HistGradientBoostingRegressor(max_iter=50)
    found = PPFS(independence=CrossFitPPI(model), correction="bh", growth="joint", random_state=0).fit(X, y)
    assert set(found.blanket_) == {0, 1}


def test_noise_is_not_let_in_by_looking_twice():
    n_wrong = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(80, 10)), rng.normal(size=80)
        found = PPFS.calibrated(LINE, growth="both", second_look=True, random_state=seed).fit(X, y)
        n_wrong += bool(found.blanket_.size)
    # Two families of questions at 5 %: 6 of 20 would be a one in a hundred chance for a test that holds its level.
    assert n_wrong <= 5


def test_of_more_columns_than_rows_can_bear_the_most_promising_are_in_the_model(rng):
    X = rng.normal(size=(300, 200))
    y = (X[:, 3] * X[:, 150] > 0).astype(int)
    found = PPFS.calibrated(growth="joint", random_state=0).fit(X, y)
    assert set(found.blanket_) == {3, 150}
    assert any("p-values are adjusted for all 19,900 pairs" in note for note in found.trace_.notes)
    step = next(step for step in found.trace_ if "pairs" in step.phase and step.feature == 3)
    # Two of all pairs are called: the larger of two p-values is multiplied by half their number.
    assert step.adjusted_pvalue <= 19_900 * step.pvalue
    assert step.adjusted_pvalue >= 19_900 * step.pvalue / 20


def test_p_values_that_were_not_computed_count_as_one(rng):
    some = rng.uniform(size=7) ** 6
    for correction in ("bh", "by", "bonferroni", None):
        for n_all in (7, 8, 10, 1000):
            full = adjust(np.append(some, np.ones(n_all - 7)), correction)[:7]
            np.testing.assert_allclose(adjust_among(some, correction, n_all), full, rtol=1e-12)


def test_without_a_selected_column_there_is_nothing_to_look_beside(rng):
    X, y = rng.normal(size=(60, 10)), rng.normal(size=60)
    found = PPFS.calibrated(LINE, growth="marginal", second_look=True, random_state=0).fit(X, y)
    assert not found.blanket_.size
    assert {step.phase for step in found.trace_} <= {"growth", "exact growth"}


def test_an_exclusive_or_of_three_is_kept_by_the_model_that_found_it(rng):
    X = rng.normal(size=(600, 12))
    y = (X[:, 0] * X[:, 1] * X[:, 2] > 0).astype(int)
    found = PPFS.calibrated(growth="joint", second_look=False, random_state=0).fit(X, y)
    assert set(found.blanket_) == {0, 1, 2}
    assert {step.phase for step in found.trace_ if step.decision == "kept"} == {"joint shrink"}
    assert "joint shrink" in found.trace_.explain(0)
    # They share the level, so that each p-value is adjusted for their number.
    kept = [step for step in found.trace_ if step.decision == "kept"]
    assert all(step.pvalue < step.adjusted_pvalue <= 0.05 for step in kept)


def test_a_second_chance_takes_a_tenth_of_the_level(capsys):
    """x is correlated with a true column: its model of all columns has p = .008, and the shrink phase drops it."""
    rng = np.random.default_rng(50)
    z = rng.normal(size=200)
    X = np.column_stack([0.6 * z + 0.8 * rng.normal(size=200), z])
    y = 0.5 * z + rng.normal(size=200)
    found = PPFS.calibrated(random_state=0, progress="log").fit(X, y)
    again = [step for step in found.trace_ if step.phase == "joint shrink"]
    assert [0.005 < step.pvalue < 0.05 for step in again] == [True]
    assert found.blanket_.tolist() == [1]
    # Progress counts the fits of all models, in every phase.
    shown = re.findall(r"(.*): (\d+)/(\d+) in .*, ([\d,]+) fits", capsys.readouterr().err)
    assert "joint shrink" in [phase for phase, *_ in shown]
    assert all(done == total for _, done, total, _ in shown)
    fits = [int(n.replace(",", "")) for *_, n in shown]
    assert fits == sorted(fits)


@pytest.mark.parametrize("growth", ["marginal", "both"])
def test_one_of_every_two_near_copies_is_found(growth):
    n_tables, n_found = 5, 0
    for seed in range(n_tables):
        rng = np.random.default_rng([seed, 6])
        X = rng.normal(size=(300, 10))
        y = X[:, 0] + X[:, 1] + X[:, 2] + rng.normal(size=300)
        twins = 0.99 * X[:, :3] + np.sqrt(1 - 0.99**2) * rng.normal(size=(300, 3))
        columns = np.column_stack([X, twins])
        fitted = PPFS.calibrated(LINE, growth=growth, second_look=True, random_state=seed).fit(columns, y)
        chosen = set(fitted.blanket_)
        n_found += sum(bool(chosen & {i, 10 + i}) for i in range(3))
    assert n_found >= 0.95 * 3 * n_tables


@pytest.mark.parametrize("n_columns", [12, 30, 41])
def test_as_many_questions_are_asked_as_a_plan_expects(n_columns):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_columns))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60)
    selector = PPFS.calibrated(LinearRegression(), growth="both", second_look=False, random_state=0).fit(X, y)
    asked = {step.feature for step in selector.trace_ if step.phase.startswith(JOINT_GROWTH)}
    assert len(asked) == n_asked_jointly(60, n_columns)


def test_many_columns_and_several_outputs_have_no_joint_growth(rng):
    X = rng.normal(size=(60, 41))
    y = X[:, :2] + rng.normal(size=(60, 2))
    search = PPFS.calibrated(LINE, growth="both", random_state=0)
    with pytest.raises(
        InvalidInputError, match=r"10 rows per column, or at most .* and a target of one column"
    ):
        search.fit(X, y)
    # Few columns have.
    search.fit(X[:, :5], y)
