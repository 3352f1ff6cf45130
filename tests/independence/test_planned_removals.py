"""Trees grown ahead of removals: the same answers, fits and trace as one removal at a time."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier

from ppfs import PPFS
from ppfs.blanket import GrowShrink
from ppfs.independence import PPI
from ppfs.independence._predictive.risks.planned_removals import PlannedRemovals
from ppfs.independence._predictive.risks.trees import TreeRisks

MODELS = [
    DecisionTreeClassifier(),
    RandomForestClassifier(10),
    RandomForestClassifier(5, max_depth=3, max_features=None),
]


@pytest.fixture(scope="module")
def noisy():
    """Many columns of noise that enter by chance, some true columns between them, and a copy."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 150))
    X[:, 140] = X[:, 7]
    y = (X[:, 7] + X[:, 50] + X[:, 51] + 0.7 * rng.normal(size=120) > 0).astype(int)
    return X, y


@pytest.fixture
def planned(monkeypatch):
    """How many features each plan expects to go beside those that do, and how many of the plan before stayed."""
    lengths = []
    plan = PlannedRemovals._plan

    def noted(self, forest, gone, *arguments):
        n_stayed = len(set(self._planned) - gone)
        plan(self, forest, gone, *arguments)
        lengths.append((len(self._planned) - len(gone), n_stayed))

    monkeypatch.setattr(PlannedRemovals, "_plan", noted)
    return lengths


def _everything(selector):
    return selector.trace_.to_frame(), selector.n_fits_, selector.pvalues_.tolist()


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("n_jobs", [2, 4])
def test_threads_grow_trees_ahead_and_nothing_else_changes(noisy, planned, model, n_jobs):
    alone = _everything(PPFS(model, n_splits=6, alpha=0.2, random_state=0, n_jobs=1).fit(*noisy))
    assert {n_ahead for n_ahead, _ in planned} == {0}
    planned.clear()
    together = _everything(PPFS(model, n_splits=6, alpha=0.2, random_state=0, n_jobs=n_jobs).fit(*noisy))
    if isinstance(model, DecisionTreeClassifier):
        assert max(n_ahead for n_ahead, _ in planned) >= 3
        assert any(n_stayed for _, n_stayed in planned), "no plan was cut, so that nothing is tested of it"
    else:
        # A forest has enough trees to grow for every removal.
        assert {n_ahead for n_ahead, _ in planned} == {0}
    assert together[0].equals(alone[0])
    assert together[1:] == alone[1:]


class _Forest:
    """Trees of which some use some columns; `removals` lists what was asked to be removed."""

    most_ahead = 8

    def __init__(self, used):
        self.used = np.array([used])
        self.removals = []

    def without_each(self, columns):
        self.removals.append(len(columns))
        return ((self, 1) for _ in columns)


def _apply(removals, forest, *gone):
    places = {x: slice(x, x + 1) for x in range(forest.used.shape[1])}
    removals.apply(forest, set(gone), places, range(max(gone) + 1, forest.used.shape[1]))


def test_plans_grow_while_features_go_even_if_one_ends_among_unused_features():
    forest, removals = _Forest([True, False, *[True] * 10]), PlannedRemovals(is_ahead=True)
    _apply(removals, forest, 0)
    _apply(removals, forest, 1, 2)
    assert forest.removals == [2, 5]


def test_after_a_cut_a_plan_is_as_long_as_what_was_used_of_the_last():
    forest, removals = _Forest([True] * 16), PlannedRemovals(is_ahead=True)
    for x in (0, 1, 2, 3, 8):
        _apply(removals, forest, x)
    assert forest.removals == [2, 4, 2]


def test_beginning_again_after_each_removal_is_not_changed_by_threads(noisy):
    X, y = noisy[0][:, :40], noisy[1]
    one, two = (
        _everything(GrowShrink(independence=PPI(n_splits=5), random_state=0, n_jobs=n).fit(X, y))
        for n in (1, 2)
    )
    assert two[0].equals(one[0])
    assert two[1:] == one[1:]


def test_features_of_several_columns_are_removed_alike(noisy):
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(noisy[0][:, :30])
    frame.columns = [f"x{number}" for number in range(30)]
    for name in ("x3", "x9", "x12"):
        frame[name] = pd.Categorical(rng.choice(list("abcd"), size=len(frame)))
    one, two = (
        _everything(PPFS(n_splits=5, alpha=0.5, random_state=0, n_jobs=n).fit(frame, noisy[1]))
        for n in (1, 2)
    )
    assert two[0].equals(one[0])
    assert two[1:] == one[1:]


@pytest.mark.parametrize("model", MODELS, ids=str)
def test_questions_up_to_the_first_used_member_have_the_answers_of_one_at_a_time(noisy, monkeypatch, model):
    together = _everything(PPFS(model, n_splits=6, alpha=0.2, random_state=0).fit(*noisy))
    monkeypatch.setattr(TreeRisks, "n_until_used", lambda self, xs, members: 1)
    one_by_one = _everything(PPFS(model, n_splits=6, alpha=0.2, random_state=0).fit(*noisy))
    assert together[0].equals(one_by_one[0])
    assert together[1:] == one_by_one[1:]
