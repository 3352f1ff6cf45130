"""SGAI: groups of columns that stand for each other, and alpha-investing."""

import numpy as np
from checks.graphs import empty_table

from ppfs._trace import Trace
from ppfs.blanket import SGAI
from ppfs.blanket._sgai import _invest
from ppfs.blanket._steps.questions import Inquiry
from ppfs.independence import BoundTest, IndependenceResult
from ppfs.independence._answers import CANNOT_TELL


def test_copies_form_a_group_and_the_strongest_represents_it():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 500))
    X = np.column_stack([a + 0.3 * rng.normal(size=500), a, -a, b])
    fitted = SGAI(alpha=0.01).fit(X, a + b + rng.normal(size=500))
    assert sorted(fitted.groups_[0]) == [1, 2] or sorted(fitted.groups_[1]) == [1, 2]
    assert len({1, 2} & set(fitted.blanket_)) == 1
    assert 3 in fitted.blanket_


class Scripted(BoundTest):
    """Answers with a p-value that is given in advance for each column."""

    def __init__(self, table, pvalues):
        super().__init__(table)
        self._pvalues = pvalues

    def _answers(self, xs, target, given):
        return (IndependenceResult(self._pvalues[x], 1.0, 1.0) for x in xs)


def test_alpha_investing_earns_and_pays():
    # Levels by hand, wealth 0.5: 0.5/2 = 0.25, found, wealth 0.5 + 0.5 - 0.25 = 0.75; 0.75/4 = 0.1875, not found,
    # wealth 0.5625; 0.5625/6 = 0.09375.
    table = empty_table(4)

    def chosen(*pvalues):
        return _invest(
            Inquiry(Scripted(table, pvalues), 3, 0.05, Trace(table.names), 0), [0, 1, 2], wealth=0.5
        )

    assert chosen(0.24, 0.19, 0.093) == [0, 2]
    assert chosen(0.24, 0.18, 0.3) == [0, 1]
    assert chosen(0.26, 0.19, 0.094) == []


def test_an_answer_that_cannot_be_given_costs_nothing():
    table = empty_table(4)

    class Doubtful(Scripted):
        def _answers(self, xs, target, given):
            told = super()._answers(xs, target, given)
            return (CANNOT_TELL if x == 1 else answer for x, answer in zip(xs, told, strict=True))

    # Levels as above, but nothing is paid for the second: the third's is 0.75 / 6 = 0.125.
    inquiry = Inquiry(Doubtful(table, (0.24, 1.0, 0.12)), 3, 0.05, Trace(table.names), 0)
    assert _invest(inquiry, [0, 1, 2], wealth=0.5) == [0, 2]
