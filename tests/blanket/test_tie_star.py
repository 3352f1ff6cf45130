"""TIE*: every blanket of a target whose information sits in more than one place."""

import numpy as np
import pytest
from checks.graphs import empty_table
from sklearn.linear_model import LinearRegression

from ppfs._trace import Trace
from ppfs.blanket import FBED, IAMB, SGAI, GrowShrink, TIEStar
from ppfs.blanket._steps.questions import Inquiry
from ppfs.independence import BoundTest, DSeparation
from ppfs.independence._answers import INDEPENDENT


class Copies(BoundTest):
    """d-separation with columns that are exact copies of others.

    d-separation alone cannot express determinism. Here a copy stands for its original: a column is
    independent of everything once it, or another copy of the same original, is given.
    """

    def __init__(self, table, edges, originals):
        super().__init__(table)
        self._graph = DSeparation(edges).bind(table)
        self._originals = originals

    def _original(self, variable):
        return self._originals.get(variable, variable)

    def _answers(self, xs, target, given):
        for x in xs:
            known = {self._original(variable) for variable in given if variable != x}
            if self._original(x) in known or self._original(target) in known:
                yield INDEPENDENT
            else:
                yield self._graph.query(self._original(x), self._original(target), tuple(known))


def blankets(search, edges, originals, n_nodes):
    table = empty_table(n_nodes)
    inquiry = Inquiry(Copies(table, edges, originals), n_nodes - 1, 0.05, Trace(table.names), 0)
    result = search._find(inquiry)
    first, found = result.blanket, [set(blanket) for blanket in result.blankets]
    assert set(first) == found[0]
    return found


BASES = [None, IAMB(), GrowShrink(), FBED()]


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_a_copy_gives_two_blankets(base):
    # 0 -> target <- 1, and column 2 copies column 0.
    found = blankets(TIEStar(search=base), [(0, 3), (1, 3)], {2: 0}, 4)
    assert sorted(map(sorted, found)) == [[0, 1], [1, 2]]


@pytest.mark.parametrize("base", BASES, ids=repr)
def test_two_copied_columns_give_four_blankets(base):
    # Columns 3 and 4 copy the parents 0 and 1; column 2 is a child.
    found = blankets(TIEStar(search=base), [(0, 5), (1, 5), (5, 2)], {3: 0, 4: 1}, 6)
    assert sorted(map(sorted, found)) == [[0, 1, 2], [0, 2, 4], [1, 2, 3], [2, 3, 4]]


def test_three_copies_of_one_column():
    found = blankets(TIEStar(), [(0, 4), (1, 4)], {2: 0, 3: 0}, 5)
    assert sorted(map(sorted, found)) == [[0, 1], [1, 2], [1, 3]]


def test_a_faithful_graph_has_one_blanket():
    assert blankets(TIEStar(), [(0, 3), (1, 3), (3, 2)], {}, 4) == [{0, 1, 2}]


def test_max_blankets_and_max_withheld_limit_the_search():
    arguments = [(0, 4), (1, 4)], {2: 0, 3: 0}, 5
    assert len(blankets(TIEStar(max_blankets=2), *arguments)) == 2
    # The third copy shows only when the other two are withheld together.
    assert len(blankets(TIEStar(max_withheld=1), *arguments)) == 2


@pytest.fixture
def temperatures():
    rng = np.random.default_rng(0)
    celsius, wind = rng.normal(size=(2, 400))
    X = np.column_stack([celsius, 1.8 * celsius + 32, wind, rng.normal(size=400)])
    return X, celsius - wind + rng.normal(size=400)


def test_data_with_a_copy_in_other_units(temperatures):
    fitted = TIEStar(alpha=0.01).fit(*temperatures)
    assert sorted(blanket.tolist() for blanket in fitted.blankets_) == [[0, 2], [1, 2]]
    assert set(fitted.blanket_) == set(fitted.blankets_[0])
    assert (fitted.pvalues_[fitted.support_] <= 0.01).all()


def test_acceptance_by_prediction(temperatures):
    fitted = TIEStar(alpha=0.01, estimator=LinearRegression(), tol=1e-6, random_state=0).fit(*temperatures)
    assert sorted(blanket.tolist() for blanket in fitted.blankets_) == [[0, 2], [1, 2]]


def test_the_given_search_is_not_modified_and_decides_how_is_searched(temperatures):
    base = FBED(n_runs=2, alpha=0.2)
    before = dict(vars(base))
    fitted = TIEStar(search=base, alpha=0.01).fit(*temperatures)
    assert vars(base) == before
    assert fitted.search is base
    # What the search itself leaves beside a blanket, for one blanket of several, is no attribute of the fit of all.
    plain = SGAI(alpha=0.01).fit(*temperatures)
    searched = TIEStar(search=SGAI(), alpha=0.01).fit(*temperatures)
    assert not hasattr(searched, "groups_")
    assert {step.phase for step in searched.trace_ if step.is_main} == {step.phase for step in plain.trace_}


def test_a_column_that_is_always_kept_is_in_every_blanket_and_is_never_withheld(temperatures):
    X, y = temperatures
    # The kept column tells all that its copy in other units tells: there is one blanket, not twenty times the same.
    fitted = TIEStar(alpha=0.01, always_keep=[0]).fit(X, y)
    assert [blanket.tolist() for blanket in fitted.blankets_] == [[0, 2]]
    # Kept noise stands in both blankets.
    fitted = TIEStar(alpha=0.01, always_keep=[3]).fit(X, y)
    assert sorted(blanket.tolist() for blanket in fitted.blankets_) == [[0, 2, 3], [1, 2, 3]]
    assert not any(set(step.withheld) & {3} for step in fitted.trace_)


def test_withheld_columns_are_named_in_the_trace(temperatures):
    trace = TIEStar(alpha=0.01).fit(*temperatures).trace_
    assert any(step.withheld for step in trace)
    assert "without" in trace.explain(2)
