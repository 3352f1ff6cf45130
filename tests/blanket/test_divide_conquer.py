"""MMMB and HITON-MB: neighbors, the check from the other side, spouses, the wrapper pass."""

import numpy as np
import pytest
from checks.graphs import empty_table
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor

from ppfs._data.reading import read_table
from ppfs._trace import Trace
from ppfs.blanket import HITONMB, MMMB
from ppfs.blanket._steps.neighbors import hiton_neighbors, max_min_neighbors
from ppfs.blanket._steps.questions import Inquiry
from ppfs.blanket._steps.separation import subsets, subsets_with
from ppfs.blanket._steps.spouses import Neighborhoods
from ppfs.datasets import make_blanket_problem
from ppfs.independence import PPI, BoundTest, DSeparation, IndependenceResult, IndependenceTest

both = pytest.mark.parametrize("find", [max_min_neighbors, hiton_neighbors])


def inquiry_about(edges, n_nodes, **parameters):
    table = empty_table(n_nodes)
    return Inquiry(DSeparation(edges).bind(table), n_nodes - 1, 0.05, Trace(table.names), 0, **parameters)


def test_subsets_grow_from_the_empty_one_to_the_largest_allowed():
    assert list(subsets([1, 2, 3], max_k=2)) == [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3)]
    assert list(subsets_with(9, [1, 2], max_k=2)) == [(9,), (1, 9), (2, 9)]
    assert list(subsets_with(9, [1, 2], max_k=1)) == [(9,)]
    assert list(subsets_with(9, [1, 2], max_k=0)) == []


@both
def test_separating_sets_are_remembered(find):
    # 0 -> 1 -> target: 1 separates 0 from the target. Column 2 has nothing to do with them.
    found = find(inquiry_about([(0, 1), (1, 3)], 4), None)
    assert found.members == [1]
    assert found.separators == {0: (1,), 2: ()}


@both
def test_a_descendant_that_passes_for_a_child_is_seen_through_from_the_other_side(find):
    # target -> 0 -> 1, 2 -> 0, 2 -> 1: column 1 is a grandchild. Given its neighbor 0 the path through the
    # spouse 2 opens, and 2 is not a neighbor of the target, so no set of neighbors separates the two.
    edges = [(3, 0), (0, 1), (2, 0), (2, 1)]
    inquiry = inquiry_about(edges, 4)
    assert 1 in find(inquiry, None).members
    assert Neighborhoods(inquiry, find, None).confirmed(3) == [0]


@pytest.mark.parametrize("search", [MMMB(max_k=None), HITONMB(max_k=None)], ids=repr)
def test_all_spouses_of_all_children_are_found(search):
    # Two children with two other parents each.
    edges = [(6, 0), (6, 1), (2, 0), (3, 0), (4, 1), (5, 1)]
    assert set(search._search(inquiry_about(edges, 7))) == {0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize("search", [MMMB(max_k=1), HITONMB(max_k=1)], ids=repr)
def test_no_conditioning_set_is_larger_than_allowed(search):
    X, y, _ = make_blanket_problem(500, random_state=0)
    steps = [step for step in search.fit(X, y).trace_ if step.phase == "parents and children"]
    assert max(len(step.given) for step in steps) == 1


@pytest.mark.parametrize("search", [MMMB(), HITONMB()], ids=repr)
def test_questions_about_other_targets_are_marked_and_do_not_decide_pvalues(search):
    X, y, _ = make_blanket_problem(500, random_state=0)
    fitted = search.fit(X, y)
    asides = [step for step in fitted.trace_ if step.target is not None]
    assert any(step.feature == 20 for step in asides)
    assert "target" in set(fitted.trace_.to_frame()["feature"])
    for column in range(20):
        own = [step.pvalue for step in fitted.trace_.of(column) if step.is_main]
        assert fitted.pvalues_[column] in own


def test_wrapper_drops_what_the_model_does_not_miss():
    rng = np.random.default_rng(0)
    cause = rng.normal(size=300)
    X = np.column_stack([cause, cause**3])
    y = cause + 0.5 * cause**3 + 0.1 * rng.normal(size=300)
    # A line needs both columns; a tree splits either of them in the same places.
    assert set(HITONMB(wrapper=LinearRegression(), random_state=0).fit(X, y).blanket_) == {0, 1}
    fitted = HITONMB(wrapper=DecisionTreeRegressor(max_depth=3), random_state=0).fit(X, y)
    assert fitted.blanket_.size == 1
    assert "wrapper dropped" in fitted.trace_.notes[-1]


class Dependent(IndependenceTest):
    """Says of every column that the target depends on it."""

    def _bind(self, table, binding):
        return Scripted(table, {x: {} for x in range(table.n_features + 1)})


@pytest.mark.parametrize("signal", [0, 1])
def test_wrapper_drops_the_member_without_which_the_score_is_best(signal):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X[:, signal] + 0.1 * rng.normal(size=60)
    fitted = HITONMB(independence=Dependent(), wrapper=LinearRegression(), random_state=0).fit(X, y)
    assert fitted.blanket_.tolist() == [signal]


def test_wrapper_never_drops_what_is_always_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + rng.normal(size=200)
    fitted = HITONMB(wrapper=LinearRegression(), always_keep=[2], random_state=0).fit(X, y)
    assert 2 in fitted.blanket_


class Scripted(BoundTest):
    """Answers with p-values that are given in advance by column and conditioning set."""

    def __init__(self, table, pvalues):
        super().__init__(table)
        self._pvalues = pvalues

    def _answers(self, xs, target, given):
        for x in xs:
            pvalue = self._pvalues[x].get(frozenset(given) - {x}, 1e-12)
            yield IndependenceResult(pvalue, 1.0, 1.0 - pvalue)


def test_the_column_whose_weakest_link_is_strongest_enters_first():
    # Column 1 is strong alone and weak given column 0; column 2 is in between in both.
    pvalues = {
        0: {frozenset(): 1e-9},
        1: {frozenset(): 1e-8, frozenset({0}): 1e-2},
        2: {frozenset(): 1e-4, frozenset({0}): 1e-5},
    }
    table = empty_table(4)
    inquiry = Inquiry(Scripted(table, pvalues), 3, 0.05, Trace(table.names), 0)
    assert max_min_neighbors(inquiry, None).members == [0, 2, 1]


def test_of_equal_weakest_links_the_larger_effect_enters_first():
    class Equal(BoundTest):
        def _answers(self, xs, target, given):
            return (IndependenceResult(1e-3, 1.0, (0.1, 0.3, 0.2)[x]) for x in xs)

    table = empty_table(4)
    inquiry = Inquiry(Equal(table), 3, 0.05, Trace(table.names), 0)
    assert max_min_neighbors(inquiry, None).members == [1, 2, 0]


@both
def test_a_column_that_is_always_kept_is_a_neighbor_that_others_are_asked_given(find):
    # 0 -> 1 -> target: column 1, kept from the start, separates column 0, and is never asked about. Column 2 is
    # kept although it has nothing to do with the target, and nothing separates it.
    inquiry = inquiry_about([(0, 1), (1, 3)], 4, always_keep=(1, 2))
    found = find(inquiry, None)
    assert found.members == [1, 2]
    assert found.separators == {0: (1,)}
    assert {step.feature for step in inquiry.trace} == {0}


@both
def test_a_kept_column_is_confirmed_without_a_question_and_the_others_are_not(find):
    # The graph of the grandchild above, with a column 4 that is kept: it is in the blanket though its own
    # neighbors do not include the target; the grandchild 1 still is not.
    edges = [(5, 0), (0, 1), (2, 0), (2, 1)]
    inquiry = inquiry_about(edges, 6, always_keep=(4,))
    assert sorted(Neighborhoods(inquiry, find, None).confirmed(5)) == [0, 4]
    assert not any(step.feature == 4 and step.target is None for step in inquiry.trace)
    # To other variables the column is one like others.
    assert 4 not in inquiry.about(0).always_keep


def test_models_of_other_targets_do_not_pile_up():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 14))
    table = read_table(X, X.sum(axis=1), task="auto", owner="a test")
    test = PPI(DecisionTreeRegressor(max_depth=2), n_splits=5, random_state=0).bind(table)
    for target in (*range(12), 14):
        test.query_many([x for x in range(15) if x != target], target)
    answers = [test.query(x, 0, [13]) for x in (1, 2)]
    assert len({target for target, _ in test._risks}) <= 9
    n_fits = test.n_fits
    fresh = PPI(DecisionTreeRegressor(max_depth=2), n_splits=5, random_state=0).bind(table)
    assert answers == [fresh.query(x, 0, [13]) for x in (1, 2)]
    # What was let go is counted all the same.
    assert n_fits >= 5 * 14 * 12
