"""The paper's two shrink phases."""

import numpy as np
import pytest
from checks.graphs import empty_table
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

from ppfs import PPFS
from ppfs._data.reading import read_table
from ppfs._trace import Trace
from ppfs.blanket._steps.correction import adjust, adjust_among, level_of
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.shrink import shrink, shrink_until_stable, shrink_weakest_first
from ppfs.independence import PPI, BoundTest, DSeparation, IndependenceResult
from ppfs.independence._answers import CANNOT_TELL


def inquiry(test, X, y, alpha=0.05):
    table = read_table(X, y, task="auto", owner="test")
    return Inquiry(test.bind(table), table.target, alpha, Trace(table.names), fold=0)


def test_one_ordered_pass_needs_fewer_fits_than_restarting():
    X, y = load_breast_cancer(return_X_y=True)
    test = PPI(GaussianNB(), n_splits=10, random_state=0)
    ordered, restarted = (inquiry(test, X[:, :10], y) for _ in range(2))
    shrink(ordered, range(10))
    shrink(restarted, range(10), restart=True)
    assert ordered.test.n_fits < restarted.test.n_fits
    assert len(ordered.trace) == 10 < len(restarted.trace)


def test_restarting_drops_what_one_pass_can_no_longer_reach():
    """T -> 0 <- 1: given its child 0, the spouse 1 matters; without it, no more.

    Asked in the order 1, 0 with 0 made independent afterwards, only a restart comes back to 1.
    """
    edges = [(0, 1), (2, 1)]
    X, y = np.zeros((4, 2)), np.arange(4)

    class Forgetful(DSeparation):
        """The oracle of the graph above, except that it calls the child independent."""

        def bind(self, table, **keywords):
            bound = super().bind(table, **keywords)
            truth = bound._answers

            def answers(xs, target, given):
                for x, result in zip(xs, truth(xs, target, given), strict=True):
                    yield bound.query(0, target, ()) if x == 1 else result

            bound._answers = answers
            return bound

    assert shrink(inquiry(Forgetful(edges), X, y), [0, 1]) == [0]
    assert shrink(inquiry(Forgetful(edges), X, y), [0, 1], restart=True) == []
    assert shrink_until_stable(inquiry(Forgetful(edges), X, y), [0, 1]) == []


def test_members_are_not_asked_about_again_if_none_was_dropped_after_them():
    X, y = np.zeros((4, 3)), np.arange(4)
    # T -> 1 and T -> 2; column 0 is dropped first, so the answers about the others are given those that are left.
    asked = inquiry(DSeparation([(3, 1), (3, 2)]), X, y)
    assert shrink_until_stable(asked, [0, 1, 2]) == [1, 2]
    assert [step.feature for step in asked.trace] == [0, 1, 2]
    # In another order column 1 was kept beside column 0.
    asked = inquiry(DSeparation([(3, 1), (3, 2)]), X, y)
    assert sorted(shrink_until_stable(asked, [1, 0, 2])) == [1, 2]
    assert [step.feature for step in asked.trace][:3] == [1, 0, 2]
    assert sorted(step.feature for step in list(asked.trace)[3:]) == [1, 2]


def test_the_preset_keeps_members_given_the_others_that_it_keeps():
    X, y = load_breast_cancer(return_X_y=True)
    X, y = X[::2, ::2], y[::2]
    fitted = PPFS.calibrated(growth="marginal", random_state=0).fit(X, y)
    blanket = set(fitted.blanket_.tolist())
    last = {
        step.feature: step for step in fitted.trace_ if step.phase == "shrink" and step.feature in blanket
    }
    assert len(blanket) > 1
    assert all(set(step.given) - {x} == blanket - {x} for x, step in last.items())
    assert max(step.pvalue for step in last.values()) <= 0.05
    once = PPFS.calibrated(growth="marginal", second_look=False, random_state=0).fit(X, y)
    assert blanket <= set(once.blanket_.tolist())


@pytest.mark.parametrize(
    ("correction", "expected"),
    [
        (None, [0.01, 0.02, 0.03, 0.5]),
        # By hand: p * 4; p * 4 / rank, made monotone; the same times 1 + 1/2 + 1/3 + 1/4.
        ("bonferroni", [0.04, 0.08, 0.12, 1.0]),
        ("bh", [0.04, 0.04, 0.04, 0.5]),
        ("by", [0.04 * 25 / 12, 0.04 * 25 / 12, 0.04 * 25 / 12, 1.0]),
    ],
)
def test_adjusted_pvalues_by_hand(correction, expected):
    np.testing.assert_allclose(adjust(np.array([0.01, 0.02, 0.03, 0.5]), correction), expected)


def test_nothing_to_adjust():
    assert adjust(np.empty(0), "bh").size == 0


class Patchy(BoundTest):
    """With two columns given it can tell of the first column only; with fewer, of all."""

    def _answers(self, xs, target, given):
        for x in xs:
            n_given = len(set(given) - {x})
            if n_given >= 2 and x != 0:
                yield CANNOT_TELL
            else:
                yield IndependenceResult(0.5 if x in (0, 1) else 1e-6, 1.0, 1.0)


def test_members_that_cannot_be_judged_are_asked_about_last():
    # Column 0 is independent given all others. Once it has gone, column 1 can be judged, and goes too. Asked
    # first, it would have stayed on an answer that could not be given.
    table = empty_table(4)
    trace = Trace(table.names)
    assert shrink_weakest_first(Inquiry(Patchy(table), 3, 0.05, trace, 0), [1, 2, 0]) == [2]
    assert (trace[0].feature, trace[0].decision) == (0, "dropped")


def test_the_weakest_of_growth_is_asked_about_first():
    """False positives go before they can displace a strong column."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(120, 5))
    y = X @ np.array([2.0, 1.0, 0.6, 0.4, 0.0]) + rng.normal(size=120)
    trace = PPFS(Ridge(), n_splits=12, alpha=0.3, random_state=0).fit(X, y).trace_
    grown = {step.feature: (step.pvalue, -step.effect) for step in trace if step.phase == "growth"}
    asked = [step.feature for step in trace if step.phase == "shrink"]
    assert len(asked) >= 4
    assert len({pvalue for pvalue, _ in grown.values()}) >= 3
    assert asked == sorted(asked, key=grown.__getitem__, reverse=True)


@pytest.mark.parametrize("n_folds", [0, 2])
def test_fits_and_questions_of_all_folds_are_counted(n_folds):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    fitted = PPFS(GaussianNB(), n_splits=6, n_folds=n_folds, alpha=0.02, random_state=0).fit(X, y > 0)
    assert fitted.n_tests_ == len(fitted.trace_) >= 3 * max(1, n_folds)
    # A question about one column alone, in growth or at the end of shrink, needs the same models.
    alone = {(step.fold, step.feature) for step in fitted.trace_ if not set(step.given) - {step.feature}}
    several = {
        (step.fold, frozenset(step.given)) for step in fitted.trace_ if set(step.given) - {step.feature}
    }
    assert fitted.n_fits_ == 6 * (len(alone) + len(several))


@pytest.mark.parametrize("correction", ["bh", "by", "bonferroni"])
@pytest.mark.parametrize("n_all", [3, 4, 5, 12])
def test_pvalues_that_were_not_computed_count_as_1(correction, n_all):
    some = np.array([0.02, 0.001, 0.3])
    full = adjust(np.append(some, np.ones(n_all - 3)), correction)[:3]
    np.testing.assert_allclose(adjust_among(some, correction, n_all), full, rtol=1e-12)
    assert (adjust_among(np.array([0.9, 0.8]), correction, 40) == 1.0).all()
    assert adjust_among(some, None, n_all) is some


@pytest.mark.parametrize(
    ("correction", "expected"),
    [(None, 0.06), ("bonferroni", 0.015), ("bh", 0.03), ("by", 0.03 * 12 / 25)],
)
def test_the_level_of_two_calls_among_four(correction, expected):
    assert level_of(0.06, correction, n_asked=4, n_called=2) == pytest.approx(expected, rel=1e-12)
