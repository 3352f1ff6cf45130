"""Rejected columns that add something together, although none does by itself."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.ensemble import RandomForestClassifier

from ppfs import PPFS
from ppfs._conventions import watched_phases
from ppfs._data.reading import read_table
from ppfs._trace import Trace
from ppfs.blanket._steps import second_look
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.second_look import add_from_the_rest
from ppfs.independence import CrossFitPPI, FisherZ, IndependenceResult


def many_weak_effects(seed=0, n_rows=240, n_weak=16):
    """One strong column, and many whose effects are too weak to be seen one by one."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_weak + 4))
    y = 2.0 * X[:, 0] + 0.22 * X[:, 1 : n_weak + 1].sum(axis=1) + rng.normal(size=n_rows)
    return X, y


def phases_of(fitted):
    return [step for step in fitted.trace_ if step.phase == "rest together"]


def answer(pvalue):
    return IndependenceResult(pvalue=pvalue, statistic=1.0, effect=0.5)


def scripted(monkeypatch, needed, order):
    """Let the rejected columns add something while one of `needed` is among them, and enter in the given order."""
    asked = []

    def together(inquiry, members, rest, bind):
        asked.append((set(members), set(rest)))
        assert not set(members) & set(rest)
        return answer(0.01 if needed & set(rest) else 0.6)

    def promising(inquiry, members, rest, n_jobs):
        return next((x, replace(answer(0.2 + x / 100), effect=0.1)) for x in order if x in rest)

    monkeypatch.setattr(second_look, "_answer_together", together)
    monkeypatch.setattr(second_look, "_most_promising", promising)
    return asked


def inquiry_about(n_columns=5, **parameters):
    X = np.random.default_rng(0).normal(size=(30, n_columns))
    table = read_table(X, X[:, 0], task="regression", owner=FisherZ())
    bound = FisherZ().bind(table, fold=0)
    return Inquiry(bound, table.target, 0.05, Trace(table.names), 0, **parameters)


def test_columns_enter_until_the_rest_adds_nothing_and_useless_ones_leave_again(monkeypatch):
    asked = scripted(monkeypatch, needed={1, 3}, order=[2, 1, 3, 4])
    inquiry = inquiry_about(6)
    assert sorted(add_from_the_rest(inquiry, [0], bind=None)) == [0, 1, 3]
    assert [rest for _, rest in asked[:4]] == [{1, 2, 3, 4, 5}, {1, 3, 4, 5}, {3, 4, 5}, {4, 5}]
    decisions = [(step.feature, step.decision) for step in inquiry.trace]
    assert decisions[:3] == [(2, "added"), (1, "added"), (3, "added")]
    assert sorted(decisions[3:]) == [(1, "kept"), (2, "dropped"), (3, "kept")]
    # What a column that is asked about again was given: those that are left, without those that were dropped.
    last = list(inquiry.trace)[-1]
    assert set(last.given) == {0, 1, 3} - {last.feature}
    assert inquiry.trace.notes == [
        "rest together: no evidence that the 3 rejected columns together add to the selected ones (p = 0.6)"
    ]


@pytest.mark.parametrize(("needed", "n_asked"), [({1, 3}, 4 + 3), (set(), 1), ({1, 2, 3, 4, 5}, 4 + 4)])
def test_the_phase_has_a_bar_that_ends_at_its_total(monkeypatch, capsys, needed, n_asked):
    asked = scripted(monkeypatch, needed, order=[2, 1, 3, 4, 5])
    with watched_phases() as phases:
        add_from_the_rest(inquiry_about(6, progress="log"), [0], bind=None)
        add_from_the_rest(inquiry_about(6, progress="log"), [0, 1, 2, 3, 4], bind=None)
    [phase] = phases
    assert (phase.label, phase.is_complete, phase.marks[-1].n_done) == ("rest together", True, n_asked)
    assert len(asked) == n_asked
    assert capsys.readouterr().err.splitlines()[-1].startswith(f"rest together: {n_asked}/{n_asked} in ")


def test_evidence_is_that_of_all_and_the_effect_that_of_the_column(monkeypatch):
    scripted(monkeypatch, needed={4}, order=[4])
    inquiry = inquiry_about()
    add_from_the_rest(inquiry, [0], bind=None)
    first = inquiry.trace[0]
    assert (first.feature, first.pvalue, first.effect, first.decision) == (4, 0.01, 0.1, "added")


@pytest.mark.parametrize("parameters", [{}, {"condition_on": (1,)}])
def test_nothing_is_asked_beside_nothing(monkeypatch, parameters):
    asked = scripted(monkeypatch, needed=set(), order=[2])
    assert add_from_the_rest(inquiry_about(**parameters), [], bind=None) == []
    assert len(asked) == len(parameters)


def test_one_column_by_itself_is_not_asked_about_again(monkeypatch):
    asked = scripted(monkeypatch, needed={1, 2}, order=[1, 2])
    inquiry = inquiry_about(3)
    assert add_from_the_rest(inquiry, [0, 1, 2], bind=None) == [0, 1, 2]
    assert add_from_the_rest(inquiry, [0, 1], bind=None) == [0, 1]
    assert not asked
    # Nothing is said of a rest that was not asked about.
    assert sorted(add_from_the_rest(inquiry, [0], bind=None)) == [0, 1]
    assert not inquiry.trace.notes


def test_the_question_is_that_of_a_group_of_columns():
    X, y = many_weak_effects()
    fitted = PPFS.calibrated(random_state=0, growth="marginal").fit(X, y)
    first = phases_of(fitted)[0]
    members = list(first.others)
    rest = [x for x in range(X.shape[1]) if x not in members]
    table = read_table(X, y, task="regression", owner=FisherZ())
    test = CrossFitPPI(second_look.models_of_the_rest(table), random_state=fitted.random_state)
    asked = test.evaluate(X, y, "the rest", given=members, feature_groups={"the rest": rest})
    assert first.pvalue == pytest.approx(asked.pvalue, rel=1e-9)


def test_weak_effects_that_add_up_are_found_and_explained():
    X, y = many_weak_effects()
    fitted = PPFS.calibrated(random_state=0).fit(X, y)
    steps = phases_of(fitted)
    entered = sorted({step.feature for step in steps if step.feature in fitted.blanket_})
    assert entered
    told = fitted.trace_.explain(entered[0])
    assert "evidence that the target depends on it together with the other rejected columns given 'x" in told
    row = dict(zip(fitted.results_["column"], fitted.results_["reason"], strict=True))[f"x{entered[0]}"]
    assert row == "evidence that the rejected columns together add to the others; of these it comes first"
    assert any(
        "rejected columns together add to the selected ones (p = " in note for note in fitted.trace_.notes
    )
    alone = PPFS.calibrated(random_state=0, second_look=False).fit(X, y)
    assert not phases_of(alone)
    assert set(alone.blanket_) < set(fitted.blanket_)


def test_the_answer_does_not_depend_on_the_order_of_columns_or_threads():
    X, y = many_weak_effects(seed=1)
    order = np.random.default_rng(0).permutation(X.shape[1])
    plain = PPFS.calibrated(random_state=0).fit(X, y)
    moved = PPFS.calibrated(random_state=0, n_jobs=2).fit(X[:, order], y)
    assert phases_of(plain)
    assert order[moved.blanket_].tolist() == plain.blanket_.tolist()
    np.testing.assert_array_equal(moved.pvalues_, plain.pvalues_[order])


def test_killed_searches_continue_with_the_same_answers(tmp_path, monkeypatch):
    X, y = many_weak_effects()
    search = PPFS.calibrated(random_state=0, growth="marginal", checkpoint=tmp_path)
    asked = []

    def stop(*arguments, original=second_look._answer_together):
        asked.append(arguments)
        if len(asked) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(second_look, "_answer_together", stop)
        with pytest.raises(KeyboardInterrupt):
            search.fit(X, y)
    continued = search.fit(X, y)
    whole = PPFS.calibrated(random_state=0, growth="marginal").fit(X, y)
    np.testing.assert_array_equal(continued.blanket_, whole.blanket_)
    np.testing.assert_array_equal(continued.pvalues_, whole.pvalues_)
    assert continued.n_fits_ < whole.n_fits_


def test_the_rest_is_asked_about_in_tables_of_all_kinds():
    X, y = many_weak_effects(n_rows=120)
    sparse = sp.csr_array(np.where(np.abs(X) > 0.3, X, 0.0))
    missing = np.where(np.random.default_rng(0).uniform(size=X.shape) < 0.05, np.nan, X)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    several = np.column_stack([y, y + X[:, 1]])
    for table, target in ((sparse, y), (missing, labels), (X, several)):
        fitted = PPFS.calibrated(random_state=0, growth="marginal").fit(table, target)
        assert phases_of(fitted) or any(note.startswith("rest together") for note in fitted.trace_.notes)


def test_own_models_are_asked_about_the_rest():
    X, y = many_weak_effects()
    model = RandomForestClassifier(20, random_state=0)
    fitted = PPFS.calibrated(model, growth="marginal", random_state=0).fit(X, y > 0)
    assert any(note.startswith("rest together") for note in fitted.trace_.notes) or phases_of(fitted)


@pytest.mark.parametrize(
    "test",
    [CrossFitPPI(knockoff="permutation"), CrossFitPPI(significance="randomisation", n_draws=19), FisherZ()],
)
def test_only_tests_that_hold_their_level_are_asked_about_many_columns_at_once(test):
    assert second_look.can_ask_together(inquiry_about(), CrossFitPPI("panel"))
    assert not second_look.can_ask_together(inquiry_about(), test)


@pytest.mark.parametrize(("n_classes", "limit"), [(2, 30 * 5), (3, 3 * 30 * 5)])
def test_large_tables_are_not_asked_about_their_rest(monkeypatch, n_classes, limit):
    X = np.random.default_rng(0).normal(size=(30, 5))
    table = read_table(X, np.arange(30) % n_classes, task="classification", owner=FisherZ())
    inquiry = SimpleNamespace(test=SimpleNamespace(table=table), candidates=range(5))
    monkeypatch.setattr(second_look, "MOST_VALUES_TOGETHER", limit)
    assert second_look.can_ask_together(inquiry, CrossFitPPI("panel"))
    monkeypatch.setattr(second_look, "MOST_VALUES_TOGETHER", limit - 1)
    assert not second_look.can_ask_together(inquiry, CrossFitPPI("panel"))
