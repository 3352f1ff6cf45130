"""How wrappers walk from subset to subset, with scores that are given by hand: no model is fitted."""

from types import SimpleNamespace as Of

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from ppfs._conventions.random import integer_seed, stream
from ppfs.exceptions import EstimatorFailedError, InvalidInputError
from ppfs.wrappers import PermutationImportance, Stepwise, SubsetSearch, _permutation_importance
from ppfs.wrappers import _shuffled_machine as machines
from ppfs.wrappers._base import BaseWrapper
from ppfs.wrappers._importances import Importances, ShuffledScores
from ppfs.wrappers._stepwise import Move
from ppfs.wrappers._stepwise import _Walk as StepwiseWalk
from ppfs.wrappers._strategies import Walk, _drawn, _parent, beam, genetic, hill_climbing


class Scores:
    """Scores by the columns of a subset, in letters; 0 for all others."""

    def __init__(self, **by_name):
        self.by_subset = {
            frozenset("abcdefgh".index(letter) for letter in name): score for name, score in by_name.items()
        }
        self.asked = []

    def score(self, subset):
        self.asked.append(sorted(subset))
        return self.by_subset.get(frozenset(subset), 0.0)


class Weights:
    """A subset scores the sum of what its columns are worth."""

    def __init__(self, *worth):
        self.worth = worth

    def score(self, subset):
        return float(sum(self.worth[x] for x in subset))


TABLE = Of(n_features=4, order=Of(canonical=list))


def stepwise(scores, tol=0.1, kept=(), n_features=4):
    table = Of(n_features=n_features, order=Of(canonical=list))
    return StepwiseWalk(table, scores, tol, list(kept))


def test_a_column_is_added_if_it_raises_the_score_by_more_than_the_tolerance():
    walk = stepwise(Scores(a=0.5, b=0.7, ab=0.75, bc=0.85))
    assert walk.add()
    assert walk.moves == [Move(1, True, 0.7)]
    assert walk.add()
    assert (walk.selected, walk.moves[1:]) == ([1, 2], [Move(2, True, 0.85)])
    assert not walk.add()
    # Exactly the tolerance is not more.
    exact = stepwise(Scores(a=0.25), tol=0.25)
    assert not exact.add()
    assert exact.moves == []


def test_a_column_is_removed_if_the_score_does_not_fall_by_more_than_the_tolerance():
    walk = stepwise(Scores(ab=0.5, a=0.25, b=0.2), tol=0.25, kept=())
    walk.selected = [0, 1]
    assert walk.remove()
    assert (walk.selected, walk.moves) == ([0], [Move(1, False, 0.25)])
    walk.selected = [0, 1]
    walk._tol = 0.24
    assert not walk.remove()
    fixed = stepwise(Weights(0, 0, 0, 0), kept=[2])
    assert not fixed.remove()
    fixed.selected = [2, 0]
    assert fixed.remove()
    assert fixed.selected == [2]


def test_no_selection_is_visited_twice():
    walk = stepwise(Weights(1, 1, 0, 0), tol=0.1)
    walk.add()
    walk.add()
    assert walk.selected == [0, 1]
    walk._seen.add(frozenset({0, 1, 2}))
    walk._scores = Weights(1, 1, 5, 1)
    assert walk.add()
    assert walk.selected == [0, 1, 3]


def test_the_best_column_is_added_even_if_the_score_falls():
    walk = stepwise(Weights(-2, -1, -3), n_features=3)
    for _ in range(4):
        walk.add_the_best()
    assert walk.selected == [1, 0, 2]
    assert all(move.is_added for move in walk.moves)
    assert len(walk.moves) == 3


def strategy(search, scores, n=4, kept=(), max_subsets=100, seed=0):
    walk = Walk(scores, range(n), frozenset(kept), max_subsets)
    search(walk, np.random.default_rng(seed))
    return walk


@pytest.mark.parametrize("max_subsets", [1, 2])
def test_subsets_are_scored_once_and_up_to_a_number(max_subsets):
    scores = Scores(a=0.5)
    walk = Walk(scores, [0, 1], frozenset(), max_subsets)
    assert (walk.n_scored, walk.is_over) == (1, max_subsets == 1)
    assert walk.score(frozenset()) is True
    assert walk.score(frozenset({0})) is (max_subsets == 2)
    assert walk.score(frozenset({1})) is False
    assert walk.is_over
    assert scores.asked == [[], [0]][:max_subsets]


def test_a_walk_is_over_when_all_subsets_are_known():
    walk = Walk(Scores(), [0], frozenset(), 9)
    assert not walk.is_over
    walk.score(frozenset({0}))
    assert walk.is_over
    assert Walk(Scores(), [], frozenset({3}), 9).is_over


def test_of_equal_scores_fewer_columns_win_and_then_the_first_ones():
    walk = Walk(Scores(ab=1.0, c=1.0, bc=1.0, ac=1.0), [2, 1, 0], frozenset(), 99)
    subsets = [frozenset(one) for one in ({0, 1}, {2}, {1, 2}, {0, 2})]
    for subset in subsets:
        walk.score(subset)
    assert walk.best == {2}
    # In the order of the walk: column 2 comes first.
    assert walk.top(subsets, 3) == [{2}, {1, 2}, {0, 2}]
    assert walk.top([*subsets, *subsets], 9) == [{2}, {1, 2}, {0, 2}, {0, 1}]
    assert walk.merit(frozenset({1, 2})) == (1.0, -2, (0, -1))
    close = Walk(Scores(a=1.0, b=1.0 + 1e-13), [0, 1], frozenset(), 9)
    close.score(frozenset({0}))
    close.score(frozenset({1}))
    assert close.best == {0}


def test_places_of_kept_columns_do_not_count():
    walk = Walk(Scores(), [0, 2], frozenset({1}), 9)
    walk.score(frozenset({1, 2}))
    assert walk.merit(frozenset({1, 2})) == (0.0, -2, (-1,))


def test_a_beam_continues_with_the_five_best_subsets():
    walk = strategy(beam, Weights(8, 7, 6, 5, 4, 3, 2), n=7)
    assert walk.best == frozenset(range(7))
    sizes = np.bincount([len(subset) for subset in walk._known])
    # Five subsets of each size; of six columns all seven that add one to five of five.
    assert sizes.tolist()[:3] == [1, 7, 20]
    assert frozenset({5, 6}) not in walk._known
    assert frozenset({4, 6}) in walk._known


def test_a_beam_ends_where_a_size_brings_nothing_better():
    walk = strategy(beam, Scores(a=0.5, ab=0.4, abc=9.0), n=3)
    assert walk.best == {0}
    assert walk.n_scored == 1 + 3 + 3
    assert strategy(beam, Weights(1, 1, 1), n=3, kept=[1], max_subsets=3).n_scored == 3


def test_hill_climbing_keeps_what_is_better_and_starts_again():
    walk = strategy(hill_climbing, Weights(1, -1, 2, -2), n=4, max_subsets=16)
    assert walk.best == {0, 2}
    assert walk.n_scored == 16
    assert strategy(hill_climbing, Weights(1, 1, 1, 1), n=4, kept=[3], max_subsets=5).n_scored == 5


@pytest.mark.parametrize(
    ("search", "n_known", "last"),
    [
        (hill_climbing, 30, [[0, 1, 2, 3, 5, 6, 7], [0, 3, 5, 6, 7], [3, 5, 6, 7], [0, 3, 4, 5, 6, 7]]),
        (genetic, 60, [[0, 1, 2, 3, 4], [0, 1, 2, 6, 7], [0, 4, 6], [0, 4, 7]]),
    ],
)
def test_searches_draw_the_same_subsets_for_a_seed(search, n_known, last):
    walk = strategy(search, Weights(3, -1, -2, 1, 2, -3, 1, -1), n=8, max_subsets=n_known, seed=3)
    assert walk.n_scored == n_known
    assert sorted(walk.best) == [0, 3, 4, 6]
    assert [sorted(subset) for subset in list(walk._known)[-4:]] == last


def test_subsets_are_drawn_with_a_share_and_contain_what_is_kept():
    walk = Walk(Scores(), range(1, 7), frozenset({0}), 9)
    generator = np.random.default_rng(4)
    share = generator.random()
    drawn = generator.random(6) < share
    expected = {0, *(1 + place for place in np.flatnonzero(drawn).tolist())}
    assert _drawn(walk, np.random.default_rng(4)) == expected


def test_the_best_of_three_becomes_a_parent():
    walk = Walk(Weights(1, 2, 3, 4), range(4), frozenset(), 9)
    population = [frozenset({x}) for x in range(4)]
    for subset in population:
        walk.score(subset)
    for seed in range(5):
        rivals = np.random.default_rng(seed).integers(4, size=3)
        assert _parent(walk, population, np.random.default_rng(seed)) == {max(rivals)}


def selecting(select, importances, order=None, **settings):
    """Return what a PermutationImportance selects by importances that are given."""
    mean = np.array(importances, dtype=float)
    n = len(mean)
    pvalues = settings.pop("pvalues", None)
    kept = settings.pop("kept", [])
    made = []

    class Given:
        def __init__(self, table, estimator, **settings):
            made.append(settings)

        def importances(self):
            return Importances(mean, mean / 2, 0.75)

        def pvalues(self, observed, n_nulls, n_jobs):
            made.append((observed.tolist(), n_nulls, n_jobs))
            return np.array(pvalues)

    selector = PermutationImportance(select=select, **settings)
    selector._cross_validated = lambda table, estimator, entropy: settings.get("scores") or Weights(*mean)
    table = Of(n_features=n, order=Of(canonical=order or list))
    callers = Of(spread=lambda values: values, numbers=lambda features: list(features))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_permutation_importance, "ShuffledScores", Given)
        selected = selector._select(table, None, 7, callers, kept)
    return selected, selector, made


def test_importances_are_attributes_of_the_selector():
    _, selector, made = selecting(
        "threshold", [0.1, 0.3, 0.2], scoring="r2", n_repeats=3, test_size=None, impute="median"
    )
    assert made == [{"scoring": "r2", "n_repeats": 3, "test_size": None, "entropy": 7, "impute": "median"}]
    assert selector.importances_.tolist() == [0.1, 0.3, 0.2]
    assert selector.importances_std_.tolist() == [0.05, 0.15, 0.1]
    assert (selector.reference_score_, selector.ranking_.tolist()) == (0.75, [1, 2, 0])


@pytest.mark.parametrize(
    ("select", "settings", "selected"),
    [
        ("threshold", {}, [3, 1]),
        ("threshold", {"threshold": 0.2}, [3]),
        ("threshold", {"threshold": -0.1}, [3, 1, 0]),
        ("threshold", {"threshold": 0.2, "kept": [2]}, [2, 3]),
        ("threshold", {"min_features": 3}, [3, 1, 0]),
        ("threshold", {"min_features": 2}, [3, 1]),
        ("n_features", {"n_features": 1}, [3]),
        ("n_features", {"n_features": 4}, [3, 1, 0, 2]),
        ("n_features", {"n_features": 2, "kept": [2]}, [2, 3]),
        ("n_features", {"n_features": 1, "kept": [2, 0]}, [2, 0]),
        ("pvalue", {"pvalues": [0.04, 0.05, 0.06, 0.01]}, [3, 1, 0]),
        ("pvalue", {"pvalues": [0.04, 0.05, 0.06, 0.01], "alpha": 0.01}, [3]),
        ("pvalue", {"pvalues": [1, 1, 1, 1], "kept": [0]}, [0]),
        ("cv", {}, [3, 1]),
        ("cv", {"n_features": 1}, [3]),
        ("cv", {"kept": [2, 0]}, [2, 0, 3, 1]),
        ("cv", {"kept": [2, 0], "n_features": 1}, [2, 0]),
    ],
)
def test_columns_are_selected_by_their_importances(select, settings, selected):
    assert selecting(select, [0.0, 0.2, -0.1, 0.4], **settings)[0] == selected


def test_p_values_come_from_as_many_nulls_as_asked_for():
    _, selector, made = selecting("pvalue", [0.1, 0.2], pvalues=[0.5, 0.6], n_nulls=9, n_jobs=2)
    assert made[1] == ([0.1, 0.2], 9, 2)
    assert selector.pvalues_.tolist() == [0.5, 0.6]


@pytest.mark.parametrize(
    ("settings", "scores"),
    [
        ({}, [0.4, 0.6, 0.6, 0.5]),
        ({"n_features": 2}, [0.4, 0.6]),
        ({"n_features": 9}, [0.4, 0.6, 0.6, 0.5]),
        ({"kept": [2]}, [-0.1, 0.3, 0.5, 0.5]),
        ({"kept": [2, 0]}, [-0.1, 0.3, 0.5]),
    ],
)
def test_lengths_that_are_cross_validated(settings, scores):
    _, selector, _ = selecting("cv", [0.0, 0.2, -0.1, 0.4], **settings)
    np.testing.assert_allclose(selector.cv_scores_, scores, atol=1e-12)


def test_equal_importances_are_ranked_by_content():
    _, selector, _ = selecting(
        "threshold", [0.1, 0.1, 0.2], order=lambda features: sorted(features, reverse=True)
    )
    assert selector.ranking_.tolist() == [2, 1, 0]


def importing(failure=None, n_rows=6, n_repeats=2):
    """Return shuffled scores of two columns, of which the second decides the score."""
    made = ShuffledScores.__new__(ShuffledScores)
    X = np.column_stack([np.zeros(n_rows), np.arange(float(n_rows))])
    made._table = Of(y=np.arange(float(n_rows)), weights=None, names=["a", "b"])
    made._order, made._X, made._places = [1, 0], X[:, [1, 0]], [slice(0, 1), slice(1, 2)]
    made._estimator, made._scorer, made._has_own_score, made._entropy = LinearRegression(), None, False, 3
    made._train = made._test = np.arange(n_rows)
    made._orders = np.array([np.roll(np.arange(n_rows), 1 + repeat) for repeat in range(n_repeats)])

    def score(model, X, truth):
        if failure is not None:
            raise failure
        return -float(np.abs(X[:, 0] - truth).sum())

    made._score = score
    return made


def test_importances_are_the_mean_fall_of_the_score():
    found = importing().importances()
    # Rows shifted by one: five steps of 1 and one of 5; by two: four of 2 and two of 4.
    assert found.mean.tolist() == [0.0, (10 + 16) / 2]
    assert found.std.tolist() == [0.0, 3.0]
    assert found.reference == 0.0


def test_a_null_has_a_shuffled_target_of_its_own():
    shuffled = stream(3, 2, 5).permutation(np.arange(6.0))
    assert importing().importances(5).reference == -np.abs(np.arange(6) - shuffled).sum()


@pytest.mark.parametrize(
    ("failure", "raised"), [(InvalidInputError("a"), InvalidInputError), (UserWarning("a"), UserWarning)]
)
def test_errors_about_the_data_stay_what_they_are(failure, raised):
    with pytest.raises(raised, match=r"^a$"):
        importing(failure).importances()


def test_other_errors_are_those_of_the_model():
    with pytest.raises(EstimatorFailedError) as raised:
        importing(ValueError("odd")).importances()
    assert str(raised.value) == "LinearRegression() failed on 'a', 'b': ValueError: odd"


def test_p_values_count_the_real_target_too():
    made = importing()
    nulls = {0: [0.5, 0.1], 1: [0.2, 0.3], 2: [0.4, 0.2]}
    made.importances = lambda null: Importances(np.array(nulls[null]), None, 0.0)
    found = made.pvalues(np.array([0.4, 0.2]), 3, None)
    assert found.tolist() == [(1 + 2) / 4, (1 + 2) / 4]
    assert made.pvalues(np.array([0.6, 0.05]), 2, None).tolist() == [1 / 3, 1.0]


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_rows_are_divided_with_a_seed_and_by_class(task):
    made = ShuffledScores.__new__(ShuffledScores)
    y = np.repeat([0, 1], [12, 4])
    made._table = Of(n_rows=16, groups=None, y=y, task=task)
    made._entropy = 5
    train, test = made._split(0.25)
    assert sorted([*train, *test]) == list(range(16))
    assert test.size == 4
    assert (y[test].sum() == 1) == (task == "classification") or task == "regression"
    from sklearn.model_selection import train_test_split

    seed = integer_seed(stream(5, 0, 0))
    expected = train_test_split(
        np.arange(16), test_size=0.25, stratify=y if task == "classification" else None, random_state=seed
    )
    assert [train.tolist(), test.tolist()] == [part.tolist() for part in expected]
    whole = made._split(None)
    assert [part.tolist() for part in whole] == [list(range(16))] * 2


def test_groups_are_divided_with_a_seed():
    made = ShuffledScores.__new__(ShuffledScores)
    made._table = Of(n_rows=12, groups=np.arange(12) // 2, y=np.zeros(12), task="regression")
    made._entropy = 5
    train, test = made._split(0.5)
    from sklearn.model_selection import GroupShuffleSplit

    divider = GroupShuffleSplit(1, test_size=0.5, random_state=integer_seed(stream(5, 0, 0)))
    expected = next(divider.split(np.zeros(12), groups=np.arange(12) // 2))
    assert [train.tolist(), test.tolist()] == [part.tolist() for part in expected]


@pytest.fixture(scope="module")
def machine():
    X = np.random.default_rng(0).normal(size=(30, 3))
    return SVC(random_state=0).fit(X, X[:, 0] > 0), X


def test_machines_that_are_taken_apart(machine):
    fitted, X = machine
    y = X[:, 0]
    found = machines.ShuffledMachine.of(fitted, X)
    assert found.distances.shape == (30, len(fitted.support_vectors_))
    assert found.predicted.tolist() == fitted.predict(X).tolist()
    for model in (
        SVC(kernel="linear", random_state=0).fit(X, y > 0),
        SVC(random_state=0).fit(X, np.arange(30) % 3),
        LinearSVC(random_state=0).fit(X, y > 0),
        make_pipeline(FunctionTransformer(), SVC(random_state=0)).fit(X, y > 0),
    ):
        assert machines.ShuffledMachine.of(model, X) is None
    scaled = make_pipeline(StandardScaler(), SVC(random_state=0)).fit(X, y > 0)
    assert machines.ShuffledMachine.of(scaled, X) is not None


@pytest.mark.parametrize(("n_more", "is_taken"), [(0, True), (-1, False)])
def test_no_more_distances_are_kept_than_there_is_room_for(machine, monkeypatch, n_more, is_taken):
    fitted, X = machine
    monkeypatch.setattr(machines, "_MAX_DISTANCES", 30 * len(fitted.support_vectors_) + n_more)
    assert (machines.ShuffledMachine.of(fitted, X) is not None) == is_taken


@pytest.mark.parametrize("at_once", [1, 50, 2**16])
def test_outputs_of_shuffled_rows_are_those_of_the_machine(machine, monkeypatch, at_once):
    fitted, X = machine
    monkeypatch.setattr(machines, "_MAX_AT_ONCE", at_once)
    orders = np.array([np.arange(30), np.roll(np.arange(30), 1), np.arange(30)[::-1]])
    models = list(machines.ShuffledMachine.of(fitted, X).shuffled(slice(0, 2), orders))
    assert models[0] is None
    for model, order in zip(models[1:], orders[1:], strict=True):
        changed = X.copy()
        changed[:, :2] = X[order, :2]
        assert model.predict("anything").tolist() == fitted.predict(changed).tolist()


def test_defaults_of_all_wrappers():
    usual = {
        "estimator": None,
        "cv": 5,
        "scoring": None,
        "impute": None,
        "always_keep": (),
        "min_features": 0,
        "feature_groups": None,
        "categorical_features": "auto",
        "random_state": None,
        "n_jobs": None,
    }
    own = {
        Stepwise: {"tol": 1e-3},
        SubsetSearch: {"strategy": "beam", "max_subsets": 500},
        PermutationImportance: {
            "select": "threshold",
            "threshold": 0.0,
            "n_features": None,
            "n_nulls": 50,
            "alpha": 0.05,
            "n_repeats": 10,
            "test_size": 0.25,
        },
    }
    for kind, more in own.items():
        assert kind().get_params() == usual | more
        assert {name: getattr(kind, name) for name in more} == more
    assert {name: getattr(BaseWrapper, name) for name in usual if name != "estimator"} == {
        name: value for name, value in usual.items() if name != "estimator"
    }


@pytest.mark.parametrize(
    ("selector", "name", "wrong", "right"),
    [
        (Stepwise, "tol", -0.1, 0.0),
        (Stepwise, "cv", 1, 2),
        (Stepwise, "min_features", -1, 0),
        (Stepwise, "n_jobs", 0, -1),
        (SubsetSearch, "max_subsets", 0, 1),
        (PermutationImportance, "n_features", 0, 1),
        (PermutationImportance, "n_nulls", 0, 1),
        (PermutationImportance, "n_repeats", 0, 1),
        (PermutationImportance, "alpha", 0.0, 0.5),
        (PermutationImportance, "alpha", 1.0, 0.99),
        (PermutationImportance, "test_size", 0.0, 0.01),
        (PermutationImportance, "test_size", 1.0, None),
        (PermutationImportance, "threshold", np.inf, -5.0),
    ],
)
def test_limits_of_parameters(selector, name, wrong, right):
    from ppfs._conventions import refuse_wrong_parameters

    refuse_wrong_parameters(selector(**{name: right}))
    with pytest.raises(ValueError, match=f"The '{name}' parameter of {selector.__name__} must be"):
        refuse_wrong_parameters(selector(**{name: wrong}))
