"""What questions about one target share, and how draws are made, one step at a time, by hand."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from ppfs._fitting import Design
from ppfs._rows import RowWeights, Split
from ppfs.exceptions import InvalidInputError
from ppfs.independence._predictive.drawing import over_draws
from ppfs.independence._predictive.draws import PermutationKnockoff
from ppfs.independence._predictive.losses import Loss, choose_loss
from ppfs.independence._predictive.problem import Problem
from ppfs.independence._predictive.risks.libraries import LibraryProblem
from ppfs.independence._predictive.risks.paired import PairedRisks
from ppfs.independence._predictive.risks.planned_removals import PlannedRemovals

ORDERS = np.array([[1, 0, 2], [2, 1, 0]])
SPLITS = [
    Split(np.arange(3, 8), np.array([0, 1, 2]), ORDERS, 5),
    Split(np.array([0, 1, 2, 6, 7]), np.array([5, 3, 4]), ORDERS, 6),
]


def problem_of(y, model, *, loss="auto", **more):
    y = np.asarray(y)
    is_class = not isinstance(model, LinearRegression)
    classes = np.unique(y) if is_class else np.empty(0)
    chosen = choose_loss(loss, "classification" if is_class else "regression", model)
    return Problem(model, y, classes, chosen, PermutationKnockoff(), SPLITS, **more)


LETTERS = np.array(["c", "a", "b", "a", "c", "b", "a", "c"])
NUMBERS = np.array([1.0, 2.0, 4.0, 0.0, -1.0, 3.0, 2.0, 5.0])


def test_defaults_of_a_problem():
    problem = problem_of(NUMBERS, LinearRegression())
    assert (problem.is_by_row, problem.stop_after, problem.impute, problem.groups) == (False, 0, None, None)
    assert (problem.frame, problem.loss_unit, problem.is_counted, problem.is_ranked) == (
        None,
        1.0,
        True,
        False,
    )
    assert (problem.weights.fit, problem.weights.loss, problem.prefers, problem.n_draws) == (
        None,
        None,
        None,
        2,
    )


def test_the_truth_is_numbers_of_classes_unless_a_loss_wants_labels():
    assert problem_of(NUMBERS, LinearRegression()).truth is not None
    coded = problem_of(LETTERS, LogisticRegression())
    assert coded.truth.tolist() == [2, 0, 1, 0, 2, 1, 0, 2]
    assert problem_of(LETTERS, LogisticRegression(), loss=lambda y, p: p).truth.tolist() == LETTERS.tolist()


def test_groups_of_tested_rows_are_numbered_in_their_order():
    assert problem_of(NUMBERS, LinearRegression()).pair_groups is None
    problem = problem_of(NUMBERS, LinearRegression(), groups=np.array([4, 4, 1, 7, 1, 7, 9, 9]))
    assert problem.pair_groups.tolist() == [1, 1, 0, 2, 2, 0]


def test_splits_are_found_by_their_seed_and_pairs_by_their_split():
    problem = problem_of(NUMBERS, LinearRegression())
    assert [problem.number_of(split) for split in SPLITS] == [0, 1]
    assert [problem.split_of_pair(pair) for pair in (0, 1)] == [0, 1]
    by_row = replace(problem, is_by_row=True)
    assert [by_row.split_of_pair(pair) for pair in range(6)] == [0, 0, 0, 1, 1, 1]


def losses_by_hand(problem, predicted, rows):
    return (problem.y[rows] - predicted) ** 2


@pytest.mark.parametrize("is_by_row", [False, True])
@pytest.mark.parametrize("weights", [None, np.array([1.0, 2.0, 0.5, 3.0, 1.0, 2.0, 1.0, 1.0])])
def test_losses_of_several_copies_come_from_one_prediction(is_by_row, weights):
    own = RowWeights() if weights is None else RowWeights(loss=weights)
    problem = problem_of(NUMBERS, LinearRegression(), is_by_row=is_by_row, weights=own)
    answer = np.array([1.0, 1.0, 1.0, 4.0, 3.0, 2.0])
    found = problem.losses_of(answer, SPLITS[1], 2)
    rows = SPLITS[1].test
    expected = np.array(
        [losses_by_hand(problem, answer[:3], rows), losses_by_hand(problem, answer[3:], rows)]
    )
    np.testing.assert_allclose(found, own.weighed(expected, rows, is_by_row), rtol=1e-14)
    assert found.shape == ((2, 3) if is_by_row else (2, 1))
    if not is_by_row:
        np.testing.assert_allclose(
            found[:, 0], np.average(expected, axis=1, weights=None if weights is None else weights[rows])
        )
    one = problem.losses_of(answer[:3], SPLITS[1], 1)
    np.testing.assert_array_equal(one, found[:1])


def test_a_callers_function_is_called_with_one_test_part_at_a_time():
    asked = []

    def own(truth, prediction):
        asked.append((truth.tolist(), prediction.shape))
        return np.abs(prediction[:, 0])

    problem = problem_of(LETTERS, LogisticRegression(), loss=own, is_by_row=True)
    answer = np.arange(18.0).reshape(6, 3)
    assert problem.losses_of(answer, SPLITS[0], 2).tolist() == [[0.0, 3.0, 6.0], [9.0, 12.0, 15.0]]
    assert asked == [(["c", "a", "b"], (3, 3))] * 2
    wrong = replace(problem, loss=Loss("callable", "probabilities", lambda y, p: p.mean(), True))
    with pytest.raises(InvalidInputError, match=r"one loss per row, shape \(3,\), but returned shape \(\)"):
        wrong.losses_of(answer, SPLITS[0], 2)


def test_predictions_become_numbers():
    problem = problem_of(LETTERS, LogisticRegression(), loss="zero-one")
    indicators = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    assert problem.scores_of(np.array([2, 0])).tolist() == indicators
    labeled = replace(problem, loss=Loss("callable", "labels", lambda y, p: p, True))
    assert labeled.scores_of(np.array(["c", "a"])).tolist() == indicators
    of_numbers = problem_of(NUMBERS, LinearRegression())
    assert of_numbers.scores_of(np.array([1.0, 2.0])).tolist() == [[1.0], [2.0]]
    assert of_numbers.scores_of(np.ones((2, 3))).shape == (2, 3)


def test_probabilities_are_seen_where_a_loss_needs_labels_only():
    X = np.arange(8.0)[:, np.newaxis]
    model = DecisionTreeClassifier(max_depth=1, random_state=0).fit(X, LETTERS)
    problem = problem_of(LETTERS, model, loss="zero-one")
    np.testing.assert_array_equal(problem.viewed(model, X), model.predict_proba(X))
    assert problem.predicted(model, X).tolist() == np.searchsorted(["a", "b", "c"], model.predict(X)).tolist()
    labels = replace(problem, loss=Loss("callable", "labels", lambda y, p: p, True))
    assert labels.predicted(model, X).tolist() == model.predict(X).tolist()
    brier = problem_of(LETTERS, model, loss="brier")
    known = np.full((8, 3), 0.25)
    assert brier.viewed(model, X, known).tolist() == known.tolist()
    np.testing.assert_array_equal(brier.viewed(model, X), model.predict_proba(X))


def test_a_train_part_of_one_class_is_not_fitted():
    X = np.arange(8.0)[:, np.newaxis]
    design = Design(X, {0: slice(0, 1)}, np.zeros(1, dtype=np.intp), np.zeros(1, dtype=bool), ("x",), ("x",))
    one = problem_of(["a", "a", "b", "a", "a", "a", "a", "a"], LogisticRegression())
    assert type(one.fit(design, SPLITS[0])) is DummyClassifier
    assert one.fit(design, SPLITS[0]).predict_proba(X[:1]).tolist() == [[1.0]]
    assert type(one.fit(design, SPLITS[1])) is LogisticRegression
    flat = problem_of(np.ones(8), LinearRegression())
    assert type(flat.fit(design, SPLITS[0])) is LinearRegression


def test_a_library_problem_is_the_same_problem():
    problem = problem_of(LETTERS, LogisticRegression(), is_by_row=True, stop_after=3, loss_unit=2.0)
    made = LibraryProblem.of(problem)
    assert {name: getattr(made, name) for name in vars(problem)} == vars(problem)
    assert made.prefers == "threads"


def test_all_draws_are_made_where_nothing_ends_them():
    problem = problem_of(NUMBERS, LinearRegression(), is_by_row=True)
    base = np.array([1.0, 2.0, 3.0, 4.0])
    risks = np.arange(16.0).reshape(2, 2, 4)
    asked = []
    drawn = over_draws(problem, base, lambda first, end: asked.append((first, end)) or risks)
    assert asked == [(0, 2)]
    np.testing.assert_allclose(drawn.replaced, risks.mean(axis=1))
    np.testing.assert_allclose(drawn.by_draw, risks.mean(axis=2))
    assert over_draws(replace(problem, is_by_row=False), base, lambda first, end: risks).by_draw is None


@pytest.mark.parametrize(
    ("n_draws", "stop_after", "n_made"),
    [(50, 3, 20), (50, 5, 40), (50, 9, 50), (15, 1, 15), (50, 4, 20), (20, 99, 20)],
)
def test_draws_end_when_enough_of_them_are_as_good(n_draws, stop_after, n_made):
    """Every fifth draw is exactly as good as the feature itself."""
    orders = np.tile(np.arange(3), (n_draws, 1))
    splits = [Split(one.train, one.test, orders, one.seed) for one in SPLITS]
    problem = replace(problem_of(NUMBERS, LinearRegression(), stop_after=stop_after), splits=splits)
    base = np.array([1.0, 2.0, 3.0])
    every = np.where(np.arange(n_draws) % 5 == 2, 6.0, 7.0)[np.newaxis, :, np.newaxis] / np.array(
        [2.0, 3.0, 6.0]
    )
    asked = []
    drawn = over_draws(problem, base, lambda first, end: asked.append((first, end)) or every[:, first:end])
    assert asked[-1][1] == n_made
    assert [end - first for first, end in asked[:-1]] == [20] * (len(asked) - 1)
    np.testing.assert_allclose(drawn.replaced, every[:, :n_made].mean(axis=1))
    np.testing.assert_allclose(drawn.by_draw[0, :n_made], every[0, :n_made].sum(axis=1) / 3.0)
    assert np.isnan(drawn.by_draw[0, n_made:]).all()


def risks(values, n_coefficients=None, by_draw=True):
    values = np.asarray(values, dtype=float)
    return PairedRisks(
        values[:, np.newaxis],
        values[:, np.newaxis] + 1.0,
        values > 2.0,
        values[:, np.newaxis] * 2.0 if by_draw else None,
        None if n_coefficients is None else np.array(n_coefficients),
    )


def test_risks_are_joined_and_taken_apart():
    alone = risks([1.0])
    assert PairedRisks.joined([alone]) is alone
    joined = PairedRisks.joined([risks([1.0, 3.0], [4, 5]), risks([2.0])])
    assert joined.base.ravel().tolist() == [1.0, 3.0, 2.0]
    assert joined.replaced.ravel().tolist() == [2.0, 4.0, 3.0]
    assert joined.unused.tolist() == [False, True, False]
    assert joined.by_draw.ravel().tolist() == [2.0, 6.0, 4.0]
    assert joined.n_coefficients.tolist() == [4.0, 5.0, np.inf]
    assert joined.moments is None
    some = joined.at_all(np.array([2, 0]))
    assert (some.base.ravel().tolist(), some.n_coefficients.tolist()) == ([2.0, 1.0], [np.inf, 4.0])
    assert joined.at(1).base.tolist() == [[3.0]]
    assert PairedRisks.joined([risks([1.0], by_draw=False), risks([2.0], by_draw=False)]).by_draw is None
    moments = PairedRisks.summed_up(np.ones((3, 5)), np.arange(3))
    assert (moments.base.shape, moments.unused.tolist(), moments.n_coefficients.tolist()) == (
        (3, 0),
        [False] * 3,
        [0, 1, 2],
    )


class Forest:
    """A forest that writes down which columns are removed, in which order."""

    def __init__(self, used, most_ahead=8, gone=()):
        self.used, self.most_ahead, self.gone = np.array(used, dtype=bool), most_ahead, gone
        self.asked = []

    def without_each(self, columns):
        self.asked.append(list(columns))
        gone = self.gone
        for column in columns:
            gone = (*gone, column)
            yield Forest(self.used, self.most_ahead, gone), 10 + column


PLACES = {x: slice(x, x + 1) for x in range(6)} | {6: slice(6, 8)}


@pytest.mark.parametrize(("is_ahead", "ahead"), [(False, []), (True, [3])])
def test_removals_are_planned_ahead_and_twice_as_far_where_they_come_true(is_ahead, ahead):
    plan, forest = PlannedRemovals(is_ahead=is_ahead), Forest(np.ones((2, 8)))
    left, n_refits = plan.apply(forest, {1}, PLACES, [1, 3, 4, 5, 6])
    assert (left.gone, n_refits) == ((1,), 11)
    assert forest.asked == [[1, *ahead]]
    left, n_refits = plan.apply(left, {3}, PLACES, [4, 5, 6])
    assert (left.gone[-1], n_refits) == (3, 13)
    if is_ahead:
        # Nothing is planned any more: the next plan is twice as long, and ends before a group of columns.
        last, _ = plan.apply(left, {4}, PLACES, [5, 0, 6, 2])
        assert left.asked == [[4, 5, 0]]
        assert last.gone == (1, 3, 4)


def test_a_removal_that_was_not_planned_shortens_the_plan():
    plan, forest = PlannedRemovals(is_ahead=True), Forest(np.ones((2, 8)))
    left, _ = plan.apply(forest, {1}, PLACES, [1, 3, 4, 5])
    other, _ = plan.apply(left, {5}, PLACES, [3, 4])
    assert left.asked == [[5]]
    assert other.gone == (1, 5)
    plan.forget()
    third, _ = plan.apply(other, {3}, PLACES, [4, 0, 2])
    assert other.asked == [[3, 4]]
    assert third.gone == (1, 5, 3)


def test_several_columns_go_at_once_the_least_used_first():
    used = np.zeros((3, 8))
    used[:2, 1] = used[:, 6] = used[0, 7] = 1
    plan, forest = PlannedRemovals(is_ahead=True), Forest(used)
    left, n_refits = plan.apply(forest, {6, 1}, PLACES, [0, 2])
    assert forest.asked == [[7, 1, 6]]
    assert (left.gone, n_refits) == ((7, 1, 6), 17 + 11 + 16)
